"""ε and σ of a DP-SGD run in process, against dp-accounting where it is installed. Run: python accountant.py"""

import timeit

from dpcalc.commands.subsample import COMMAND
from dpcalc.params import validate

RUN = {"sampling_rate": "0.01", "steps": "10000", "delta": "1e-6"}


def best(call):
    call()
    return min(timeit.repeat(call, number=1, repeat=7)) * 1e3


epsilon = best(lambda: COMMAND.answer(validate(COMMAND, {**RUN, "sigma": "1"})))
sigma = best(lambda: COMMAND.answer(validate(COMMAND, {**RUN, "epsilon": "2", "solve": "sigma"})))
print(f"dpcalc          ε {epsilon:8.1f} ms   σ {sigma:8.1f} ms")
try:
    import dp_accounting
    from dp_accounting import rdp
except ImportError:
    print("dp-accounting is not installed")
else:
    def event(noise):
        step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(step, 10000)

    theirs = best(lambda: rdp.RdpAccountant().compose(event(1.0)).get_epsilon(1e-6))
    solved = best(lambda: dp_accounting.calibrate_dp_mechanism(rdp.RdpAccountant, event, 2.0, 1e-6))
    print(f"dp-accounting   ε {theirs:8.1f} ms   σ {solved:8.1f} ms   ratios {theirs / epsilon:.1f} {solved / sigma:.1f}")
