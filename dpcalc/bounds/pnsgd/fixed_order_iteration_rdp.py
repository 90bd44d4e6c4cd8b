"""Projected noisy SGD in a fixed order, by amplification by iteration: Rényi DP of one position."""

from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd import fixed_order_iteration
from dpcalc.bounds.pnsgd.iteration import CONSTANT, FELDMAN
from dpcalc.bounds.pnsgd.step import SETTING
from dpcalc.numerics.rounding import up


def value(alpha: float, **p: Any) -> float:
    """αμ_m²/2."""
    mu = fixed_order_iteration.mu(**p)
    return up(alpha / 2 * mu * mu, 1e-15) if mu else 0.0


def exact(mp: Any, alpha: float, **p: Any) -> Any:
    return mp.mpf(alpha) * fixed_order_iteration.mu_exact(mp, **p) ** 2 / 2


BOUND = Bound(
    name="fixed-order-iteration-rdp",
    kind="rdp",
    statement="ε(α) = αμ²/2 for the record at position i, μ as in fixed-order-iteration",
    source=FELDMAN,
    assumptions=(*SETTING, "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-11,
)
