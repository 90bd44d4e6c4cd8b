"""A profile by the plan of plan.py, from the places of a run: what the bounds share that differ in these only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.hiding.shuffled_hiding import COARSE, FINE, MANY, Way, read
from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd._engine.positions import FINE as CLOSE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.bounds.hiding._engine.plan import Places, PlacesExact
    from dpcalc.core.bound import Bound

    Array = NDArray[Any]

class Planned(NamedTuple):
    """The functions of a Bound."""

    places: Callable[..., Places]  # (fine, *params)
    places_exact: Callable[..., PlacesExact]  # (mp, fine, *params)
    alone: Bound  # that in which every place keeps to itself, which is taken where it is less

    def many(self, epsilons: Array, fine: int, p: dict[str, Any]) -> tuple[Array, list[Way]]:
        """log δ at many ε, from above, and what proves each: how fine the blocks are, and Z; no Z where every place
        keeps to itself."""
        from numpy import isnan, where

        from dpcalc.bounds.hiding._engine import plan

        assert self.alone.blocks is not None
        own = dict[float, int]()
        alone = self.alone.blocks(epsilons, CLOSE, ways=own, **p)
        bound, z = plan.profile(self.places(fine, **p), epsilons)
        hides = (bound < alone) & ~isnan(z)
        ways: list[Way] = [[fine, x] if h else [own[e]] for e, x,
                           h in zip(epsilons.tolist(), z.tolist(), hides.tolist(), strict=True)]
        return where(hides, bound, alone), ways

    def _one(self, epsilon: float, fine: int, p: dict[str, Any]) -> tuple[float, Way]:
        from numpy import array

        bound, ways = self.many(array([epsilon]), fine, p)
        return float(bound[0]), ways[0]

    def value(self, epsilon: float, **p: Any) -> float:
        """log δ at ε, from above."""
        return self._one(epsilon, FINE, p)[0]

    def coarse(self, epsilon: float, **p: Any) -> float:
        """`value` in larger blocks, near it."""
        return self._one(epsilon, COARSE, p)[0]

    def blocks(self, epsilon: Array, fine: int, ways: dict[float, Any] | None = None, **p: Any) -> Array:
        """`value` for many ε, in larger blocks, from above."""
        bound, found = self.many(epsilon, COARSE if fine <= COARSE else MANY, p)
        if ways is not None:
            ways |= zip(epsilon.tolist(), found, strict=True)
        return bound

    def profile(self, epsilons: Array, **p: Any) -> Array:
        return self.many(epsilons, MANY, p)[0]

    def choices(self, epsilon: float, log_delta: float, **p: Any) -> dict[str, Any]:
        """The free choices of the value."""
        return {"way": self._one(epsilon, FINE, p)[1]}

    def exact(self, mp: Any, epsilon: Any, way: Way | None = None, **p: Any) -> Any:
        """δ by the plan of the value, or by a given one. Raises ValueError where that is none."""
        from dpcalc.bounds.hiding._engine import plan

        fine, chosen = read(way or self._one(float(epsilon), FINE, p)[1])
        if not chosen:
            return self.alone.exact(mp, epsilon, **p, way=fine)
        if len(chosen) > 1:
            raise ValueError(f"{str(way)[:40]} is no plan without a set")
        return plan.exact(mp, self.places_exact(mp, fine, **p), epsilon, chosen[0], theta)
