"""Rényi DP of SGD without replacement in partial passes: the loss of one concrete run, a lower bound."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.without_replacement import ASSUMPTIONS, RUN, whole_passes
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.core.bound import RdpBound, Theorem

_ERROR = 5e-9  # relative; of the quadrature, with the rounding of 2L/σ and 1/n


def value(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float) -> float:
    """⌊E/τ⌋ times D_α((1−1/n)N(0,σ²) + (1/n)N(2L,σ²) ‖ N(0,σ²)), rounded down."""
    one = poisson_rdp.value(alpha, level / (2 * lipschitz), 1 / n)
    return whole_passes(passes, tau) * one * (1 - _ERROR)


def exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float) -> Any:
    z = mp.mpf(level) / (2 * mp.mpf(lipschitz))
    return whole_passes(passes, tau) * poisson_rdp.exact(mp, alpha, z, mp.mpf(1) / n)


BOUND = RdpBound(
    Theorem(
        name="without-replacement-lower",
        example="shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
                "without-replacement-conjecture",
        statement="linear losses with gradients {+L, −L, …, −L} against {−L, …, −L}: the first step of each pass "
                  "alone loses D_α((1−1/n)N(0,σ²) + (1/n)N(2L,σ²) ‖ N(0,σ²)), and the passes are independent",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition itself, for one pair of data sets)",
        assumptions=(*ASSUMPTIONS, "a lower bound: the loss of one instance, not a guarantee"),
        released="every iterate",
        status="lower",
    ),
    params=RUN,
    value=value,
    exact=exact,
    rtol=_ERROR,
)
