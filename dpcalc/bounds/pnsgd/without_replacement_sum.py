"""Rényi DP of SGD without replacement in partial passes: the sum behind the conjectured amplification."""

from math import fsum
from typing import Any

from dpcalc.bounds.pnsgd._engine.without_replacement import ASSUMPTIONS, RUN, WITHDRAWN, steps
from dpcalc.bounds.pnsgd.without_replacement_conjecture import check_noise
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up


def inverse_squares(low: int, high: int) -> float:
    """Σ_{x=low}^{high} 1/x², rounded up, to 1e-13 relative.

    Beyond x = 256 by Euler–Maclaurin around midpoints, which is an upper bound, as 1/x² is completely monotone.
    """
    first = min(high, max(low - 1, 256))
    head = fsum(1 / (x * x) for x in range(low, first + 1))
    if first == high:
        return head * (1 + 1e-15)
    a, b = first + 0.5, high + 0.5
    tail = (b - a) / (a * b) - (a**-3 - b**-3) / 12 + 7 * (a**-5 - b**-5) / 240
    return (head + tail) * (1 + 4e-15)


def value(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float, constant: float) -> float:
    """(E/τ)Σ_{j<=τn} CαL²/((n−j+1)²σ²), rounded up."""
    check_noise(level, lipschitz)
    sums = inverse_squares(n - steps(n, tau) + 1, n)
    return up(constant * passes / tau * alpha * (lipschitz / level) ** 2 * sums, 4e-15)


def exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
          constant: float) -> Any:
    sums = smooth_sum(mp, lambda x: 1 / mp.mpf(x) ** 2, n - steps(n, tau) + 1, n)
    square = (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    return mp.mpf(constant) * mp.mpf(passes) / mp.mpf(tau) * mp.mpf(alpha) * square * sums


BOUND = RdpBound(
    Theorem(
        name="without-replacement-conjecture-sum",
        example="shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
                "without-replacement-conjecture",
        statement="ε(α) = (E/τ)Σ_{j≤τn} CαL²/((n−j+1)²σ²), C ≥ 16",
        source="Berthier 2019, Conjecture 1; Berthier & Karimireddy (withdrawn), Theorem 2.1",
        assumptions=(*ASSUMPTIONS, "σ² ≥ 4L²", "unproven"),
        released="every iterate",
        status="conjecture",
        errata=WITHDRAWN,
    ),
    params=(*RUN, "constant"),
    value=value,
    exact=exact,
    rtol=2e-11,
)
