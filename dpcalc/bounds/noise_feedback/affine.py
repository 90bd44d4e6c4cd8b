"""θ_{t+1} = θ_t − γ(aθ_t + β_t) + noise: the law of the last iterate, from r = 1 − γa.

1 − r² = γa(2 − γa) is computed from exact products, so that |r| near 1 keeps its digits.
"""

from fractions import Fraction
from math import exp, expm1, fsum, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

_PLAIN = 140.0  # of logarithms of factors, whose product is a double


class Decay(NamedTuple):
    """γa and 2 − γa, each the nearest double, and log |r|."""

    g: float
    other: float
    log_r: float


def decay(curvature: float, learning_rate: float) -> Decay:
    """Raises OutOfScope where |r| >= 1 with a > 0: the iterates diverge."""
    g = Fraction(curvature) * Fraction(learning_rate)
    if g >= 2:
        raise OutOfScope("out-of-range",
                         f"{learning_rate:g} >= 2/a = {2 / curvature:g}: |1 − γa| < 1 is needed (Berthier 2019, §3.4)",
                         "--learning-rate")
    near = min(g, 2 - g)  # 1 − |r|
    log_r = log1p(-float(near)) if near < Fraction(1, 2) else (log(float(1 - near)) if near < 1 else -inf)
    return Decay(float(g), float(2 - g), log_r)


def geometric(d: Decay, terms: int) -> float:
    """Σ_{k<T} r^{2k}, to a few ulp."""
    if d.g == 0:
        return float(terms)
    return 1.0 if d.log_r == -inf and terms else -expm1(2 * terms * d.log_r) / (d.g * d.other) if terms else 0.0


def ratio(d: Decay, learning_rate: float, lipschitz: float, after: int, variance: float, sigma: float) -> float:
    """μ = γ·2L·|r|^{T−i}/√Σ_T, rounded up; the variance in units of σ². Raises OverflowError beyond the doubles."""
    x = after * d.log_r if after else 0.0
    if x == -inf:
        return 0.0
    logs = (log(2), log(learning_rate), log(lipschitz), -log(sigma), -log(variance) / 2, x)
    if max(map(abs, logs)) < _PLAIN:
        return up(2 * learning_rate * (lipschitz / sigma) * exp(x) / sqrt(variance), 8e-15 + 5e-16 * abs(x))
    return max(up(exp(fsum(logs) + 8e-15 + 5e-16 * fsum(map(abs, logs))), 4e-16), 5e-324)


def exact_ratio(mp: Any, curvature: float, learning_rate: float, lipschitz: float, after: int, variance: Any) -> Any:
    gamma = mp.mpf(learning_rate)
    return gamma * 2 * mp.mpf(lipschitz) * abs(1 - gamma * mp.mpf(curvature)) ** after / mp.sqrt(variance)
