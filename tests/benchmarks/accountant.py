"""ε and σ of a DP-SGD run by RDP in process, against dp-accounting where it is installed. Run: python accountant.py"""

import time

from dpcalc.commands.subsample import COMMAND
from dpcalc.core.validate import validate

RUN = {"sampling_rate": "0.01", "steps": "10000", "delta": "1e-6", "bound": ("poisson-rdp",)}
REPEATS = 9


def best(call):
    """The least of some runs in ms; each run has its own parameter, so that nothing remembered is measured."""
    times = []
    for k in range(REPEATS):
        start = time.perf_counter()
        call(1 + (k + 1) * 1e-9)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


epsilon = best(lambda x: COMMAND.answer(validate(COMMAND, {**RUN, "sigma": repr(x)})))
sigma = best(lambda x: COMMAND.answer(validate(COMMAND, {**RUN, "epsilon": repr(2 * x), "solve": "sigma"})))
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

    theirs = best(lambda x: rdp.RdpAccountant().compose(event(x)).get_epsilon(1e-6))
    solved = best(lambda x: dp_accounting.calibrate_dp_mechanism(rdp.RdpAccountant, event, 2 * x, 1e-6))
    print(f"dp-accounting   ε {theirs:8.1f} ms   σ {solved:8.1f} ms   ratios {theirs / epsilon:.1f} "
          f"{solved / sigma:.1f}")
