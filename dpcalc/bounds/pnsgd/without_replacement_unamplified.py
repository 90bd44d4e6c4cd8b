"""Rényi DP of SGD without replacement in partial passes, each of which uses a record at most once."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.without_replacement import ASSUMPTIONS, RUN, passes_begun
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float) -> float:
    """⌈E/τ⌉·2αL²/σ², rounded up."""
    return up(2 * alpha * passes_begun(passes, tau) * (lipschitz / level) ** 2, 4e-15)


def exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float) -> Any:
    return 2 * mp.mpf(alpha) * passes_begun(passes, tau) * (mp.mpf(lipschitz) / mp.mpf(level)) ** 2


BOUND = RdpBound(
    Theorem(
        name="without-replacement-unamplified",
        example="shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
                "without-replacement-conjecture",
        statement="ε(α) = ⌈E/τ⌉·2αL²/σ²: each of E/τ passes, the last maybe only begun, is one Gaussian release of "
                  "sensitivity 2L for the record",
        source="Mironov 2017, Propositions 1 and 7, arXiv:1702.07476v3",
        assumptions=ASSUMPTIONS,
        released="every iterate",
    ),
    params=RUN,
    value=value,
    exact=exact,
    rtol=1e-14,
)
