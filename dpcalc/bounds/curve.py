"""An RDP curve as a value: what a sampled batch or a composition is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import inf
from typing import Any, NamedTuple


class Curve(NamedTuple):
    """ε(α) of one use, the printed formula for it, and ε(∞) (inf where the mechanism has no pure ε).

    `orders` limits the curve to a list of orders (from JSON), `whole` to whole orders >= 2; `coarse` is a faster form,
    where there is one. """

    rdp: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    pure: float = inf
    source: str = ""
    orders: tuple[float, ...] = ()
    whole: bool = False
    coarse: Callable[[float], float] | None = None

    def about(self, alpha: float) -> float:
        """ε(α), or about it."""
        return (self.coarse or self.rdp)(alpha)


def of(bound: Any, pure: float = inf, **params: Any) -> Curve:
    """The curve of an RDP bound at fixed parameters."""

    def exact(mp: Any, alpha: Any) -> Any:
        return bound.exact(mp, alpha, **params)

    orders = params.get("alphas", ())
    coarse = cache(partial(_at, bound.coarse, params)) if bound.kind == "rdp" and bound.coarse else None
    return Curve(cache(partial(_at, bound.value, params)), exact, pure, bound.source, orders, bound.integer_orders,
                 coarse)


def _at(value: Callable[..., float], params: dict[str, Any], alpha: float) -> float:
    return value(alpha, **params)
