"""The functions of a Bound for a shuffled run whose record hides among the others, from one evaluation at many ε."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.pnsgd._engine.positions import FINE as FINE_WITHOUT_HIDING
from dpcalc.numerics.mp.memo import cached_by_precision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.bounds.hiding._engine.plan import Places, PlacesExact
    from dpcalc.core.bound import ProfileBound

    Array = NDArray[Any]

# The fineness of the blocks of places: a block holds at most 1/fineness of the places before it. The time grows with
# its square. With n = 1000 and log δ = −13.8, log δ is .4 too large for COARSE, .2 for MANY, .1 for FINE.
FINE = 16  # for one value
MANY = 8  # for many values at once, which are composed or integrated
COARSE = 4  # for the first steps of a search for ε

# What proves a value: the fineness of the blocks, and then Z of plan.py, or a and a + k of contracted.py, or nothing
# where every place is compared with itself only. `exact` takes it as `way`.
Witness = list[float]
Evaluate = Callable[..., "tuple[Array, list[Witness]]"]  # (epsilons, fine, *params) → bounds on log δ, and witnesses


class HidingProfile(NamedTuple):
    """The functions of a Bound whose profile is evaluated in blocks of places."""

    evaluate: Evaluate

    def _one(self, epsilon: float, fine: int, p: dict[str, Any]) -> tuple[float, Witness]:
        """An upper bound on log δ at one ε, and its witness."""
        from numpy import array

        bound, found = self.evaluate(array([epsilon]), fine, **p)
        return float(bound[0]), found[0]

    def value(self, epsilon: float, **p: Any) -> float:
        """An upper bound on log δ at ε."""
        return self._one(epsilon, FINE, p)[0]

    def coarse(self, epsilon: float, **p: Any) -> float:
        """A larger upper bound on log δ at ε, by larger blocks, which costs less."""
        return self._one(epsilon, COARSE, p)[0]

    def blocks(self, epsilon: Array, fine: int, ways: dict[float, Any] | None = None, **p: Any) -> Array:
        """Upper bounds on log δ at many ε, by larger blocks; the witness of every ε is added to `ways`."""
        bound, found = self.evaluate(epsilon, COARSE if fine <= COARSE else MANY, **p)
        if ways is not None:
            ways |= zip(epsilon.tolist(), found, strict=True)
        return bound

    def many(self, epsilons: Array, **p: Any) -> Array:
        """Upper bounds on log δ at many ε."""
        return self.evaluate(epsilons, MANY, **p)[0]

    def witness(self, epsilon: float, **p: Any) -> Witness:
        """The witness of the value at ε."""
        return self._one(epsilon, FINE, p)[1]

    def choices(self, epsilon: float, log_delta: float, **p: Any) -> dict[str, Any]:
        """The free choices of the value at ε."""
        return {"way": self.witness(epsilon, **p)}


def witnesses(fine: int, z: Array) -> list[Witness]:
    """The witness at every ε, from the Z of plan.py, which is NaN where every place is compared with itself only."""
    return [[fine] if isnan(x) else [fine, x] for x in z.tolist()]


def read_witness(way: Witness) -> tuple[int, list[float]]:
    """The fineness of the blocks, and the other numbers of a witness. Raises ValueError where it is malformed."""
    fine, *chosen = way
    rising = all(0 <= x < inf for x in chosen) and len(chosen) <= 2 and chosen == sorted(set(chosen))
    whole = len(chosen) < 2 or all(x == int(x) for x in chosen)
    if int(fine) != fine or not 1 <= fine <= 1000 or not rising or not whole:  # above 1000 it would take minutes
        raise ValueError(f"{str(way)[:40]} is no plan")
    return int(fine), chosen


def cached_places(make: Callable[..., PlacesExact]) -> Callable[..., PlacesExact]:
    """Decorates a function of a context and of numbers: its places are the same at every ε, and are cached with the μ
    that were computed."""

    @cached_by_precision()
    def places(mp: Any, *args: Any) -> PlacesExact:
        made = make(mp, *args)
        own = cached_by_precision(inf)(lambda mp, j: made.own(j))
        pair = cached_by_precision(inf)(lambda mp, i, j: made.pair(i, j))
        return made._replace(own=partial(own, mp), pair=partial(pair, mp))

    return places


class PlanOrAlone(NamedTuple):
    """The profile by the plan of plan.py, or by the bound without hiding where that is smaller."""

    places: Callable[..., Places]  # (fine, *params)
    places_exact: Callable[..., PlacesExact]  # (mp, fine, *params)
    alone: ProfileBound  # in which every place is compared with itself only

    def evaluate(self, epsilons: Array, fine: int, **p: Any) -> tuple[Array, list[Witness]]:
        """Upper bounds on log δ at many ε, and the witness of each."""
        from numpy import where

        from dpcalc.bounds.hiding._engine import plan

        in_blocks = self.alone.blocks
        assert in_blocks is not None and in_blocks.profile is not None
        alone_witness = dict[float, int]()
        alone = in_blocks.profile(epsilons, FINE_WITHOUT_HIDING, ways=alone_witness, **p)
        bound, z = plan.profile(self.places(fine, **p), epsilons)
        hides = (bound < alone) & (z == z)  # Z is NaN where the plan does not hide the record
        found: list[Witness] = [[fine, x] if h else [alone_witness[e]]
                                for e, x, h in zip(epsilons.tolist(), z.tolist(), hides.tolist(), strict=True)]
        return where(hides, bound, alone), found

    @property
    def profile(self) -> HidingProfile:
        return HidingProfile(self.evaluate)

    def exact(self, mp: Any, epsilon: Any, way: Witness | None = None, **p: Any) -> Any:
        """The bound δ at high precision, by the witness of the value or by a given one. Raises ValueError where that is
        malformed."""
        from dpcalc.bounds.hiding._engine import plan

        fine, chosen = read_witness(way or self.profile.witness(float(epsilon), **p))
        if not chosen:
            return self.alone.exact(mp, epsilon, **p, way=fine)
        if len(chosen) > 1:
            raise ValueError(f"{str(way)[:40]} is no plan without a set")
        return plan.exact(mp, self.places_exact(mp, fine, **p), epsilon, chosen[0])
