"""How a δ is reported, and why no guarantee holds at δ = 0."""

from math import exp, inf

from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.numerics.rounding import up


def no_pure_epsilon(params: Params) -> DpcalcError:
    """The error that says why these parameters have no guarantee with δ = 0."""
    if reason := params.get("no_pure"):
        return OutOfScope(reason.code, reason.message, reason.option)  # a copy: whoever answers may change its option
    why = next((words for names, words in _NO_PURE if names & params.keys()),
               "a bound on Rényi divergences gives no pure ε")
    return OutOfScope("no-solution", f"0 has no finite ε: {why}; give a positive δ", "--delta")


_NO_PURE = (
    (frozenset({"threshold"}), "a key that one person alone has is published with some probability"),
    (frozenset({"sigma", "noise_multiplier", "mu", "level", "levels"}), "Gaussian noise has no pure ε"),
    (frozenset({"rho"}), "zCDP gives no pure ε, as Gaussian noise is zCDP"),
    (frozenset({"alphas", "base"}), "an RDP curve gives no pure ε"),
)


def delta_result(log_delta: float, epsilon: float) -> dict[str, float]:
    """The result of a row that answers δ: rounded up, beside its logarithm, which does not underflow.

    A positive δ below the least double is reported as that double, never as 0.
    """
    delta = 0.0 if log_delta == -inf else max(exp(log_delta), 5e-324)
    rounding = 4e-16 * (1 + min(abs(log_delta), 1e3))  # relative: the error of an exponential
    return {"delta": min(1.0, up(delta, rounding)), "log_delta": log_delta, "epsilon": epsilon}
