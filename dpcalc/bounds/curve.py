"""An RDP curve as a value, from which the RDP of a sampled batch or of a composition is computed."""

from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any, NamedTuple

from dpcalc.core.bound import RdpBound


class Curve(NamedTuple):
    """ε(α) of one use of a mechanism, its printed formula at high precision, and ε(∞) (inf where there is no pure ε).

    `orders` limits the curve to a list of orders (from JSON), `whole` to whole orders >= 2. `coarse` is a faster form
    of ε(α) that need not be an upper bound, where there is one. """

    rdp: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    pure: float = inf
    source: str = ""
    orders: tuple[float, ...] = ()
    whole: bool = False
    coarse: Callable[[float], float] | None = None

    def approximate_rdp(self, alpha: float) -> float:
        """ε(α) for the search over orders, which need not be an upper bound."""
        return (self.coarse or self.rdp)(alpha)


def of_bound(bound: RdpBound, pure: float = inf, **params: Any) -> Curve:
    """The curve of an RDP bound at fixed parameters; each order is evaluated once."""

    def exact(mp: Any, alpha: Any) -> Any:
        return bound.exact(mp, alpha, **params)

    coarse = bound.coarse if bound.kind == "rdp" else None
    return Curve(_at_params(bound.value, params), exact, pure, bound.source, params.get("alphas", ()),
                 bound.integer_orders, _at_params(coarse, params) if coarse else None)


def _at_params(value: Callable[..., float], params: dict[str, Any]) -> Callable[[float], float]:
    return cache(lambda alpha: value(alpha, **params))
