"""Rényi DP of SGD without replacement in partial passes: the conjectured amplification."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.without_replacement import ASSUMPTIONS, RUN, WITHDRAWN
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import plain
from dpcalc.numerics.rounding import up


def check_noise(level: float, lipschitz: float) -> None:
    """Raise OutOfScope where σ² < 4L²."""
    if level < 2 * lipschitz:
        raise OutOfScope("out-of-range",
                         f"{plain(level)} < 2L = {plain(2 * lipschitz)}; Conjecture 1 (Berthier 2019) assumes "
                         "σ² ≥ 4L²", "--sigma")


def value(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float, constant: float) -> float:
    """C·E·αL²/(n(1−τ)σ²), rounded up."""
    check_noise(level, lipschitz)
    return up(constant * passes * alpha * (lipschitz / level) ** 2 / (n * (1 - tau)), 4e-15)


def exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
          constant: float) -> Any:
    square = (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    return mp.mpf(constant) * mp.mpf(passes) * mp.mpf(alpha) * square / (n * (1 - mp.mpf(tau)))


BOUND = RdpBound(
    Theorem(
        name="without-replacement-conjecture",
        example="shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
                "without-replacement-conjecture",
        statement="ε(α) = C·E·αL²/(n(1−τ)σ²), C ≥ 16",
        source="Berthier 2019, Conjecture 2; Berthier & Karimireddy (withdrawn), Theorem 2.2",
        assumptions=(*ASSUMPTIONS, "σ² ≥ 4L²", "unproven"),
        released="every iterate",
        status="conjecture",
        errata=WITHDRAWN,
    ),
    params=(*RUN, "constant"),
    value=value,
    exact=exact,
    rtol=1e-14,
)
