"""The bound of a shuffled run whose record hides among the others, from one evaluation at many ε."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.pnsgd._engine import positions
from dpcalc.bounds.pnsgd._engine.family import Family
from dpcalc.core.bound import Blocks, Choices, ProfileBound, RdpBound, Theorem

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

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
    """A profile that is evaluated in blocks of places."""

    evaluate: Evaluate
    exact_at: Callable[..., Any]  # (mp, ε, fine, chosen, *params) → δ by a witness
    first: Callable[..., float]  # (*params) → the largest μ of one place
    without: RdpBound | None = None  # a curve that holds without hiding

    def bound(self, theorem: Theorem, params: tuple[str, ...], composed: bool = True) -> ProfileBound:
        """The bound of a theorem; `composed` says that the profile over epochs is composed from it."""
        return ProfileBound(theorem, params, self.value, self.exact, rtol=2e-9, inverse=self.inverse, rdp=self.rdp,
                            blocks=Blocks(FINE, self.blocks if composed else None),
                            choices=Choices(witness=self.choices))

    def _one(self, epsilon: float, fine: int, p: dict[str, Any]) -> tuple[float, Witness]:
        """An upper bound on log δ at one ε, and its witness."""
        from numpy import array

        bound, found = self.evaluate(array([epsilon]), fine, **p)
        return float(bound[0]), found[0]

    def value(self, epsilon: float, **p: Any) -> float:
        """An upper bound on log δ at ε."""
        return self._one(epsilon, FINE, p)[0]

    def inverse(self, log_delta: float, start: float | None = None, **p: Any) -> float:
        """The least ε with value(ε) <= log δ, never less; without a `start` the search begins with larger blocks, which
        cost less."""
        return positions.invert(lambda epsilon, fine: self._one(epsilon, min(fine, FINE), p)[0], log_delta, start)

    def blocks(self, epsilon: Array, fine: int, ways: dict[float, Any] | None = None, **p: Any) -> Array:
        """Upper bounds on log δ at many ε, by larger blocks; the witness of every ε is added to `ways`."""
        bound, found = self.evaluate(epsilon, COARSE if fine <= COARSE else MANY, **p)
        if ways is not None:
            ways |= zip(epsilon.tolist(), found, strict=True)
        return bound

    def many(self, epsilons: Array, **p: Any) -> Array:
        """Upper bounds on log δ at many ε."""
        return self.evaluate(epsilons, MANY, **p)[0]

    def choices(self, epsilon: float, log_delta: float, **p: Any) -> dict[str, Any]:
        """The free choices of the value at ε."""
        return {"way": self._one(epsilon, FINE, p)[1]}

    def exact(self, mp: Any, epsilon: Any, way: Witness | None = None, **p: Any) -> Any:
        """δ at high precision, by the witness of the value or by a given one. Raises ValueError where that is
        malformed."""
        return self.exact_at(mp, epsilon, *_read(way or self._one(float(epsilon), FINE, p)[1]), **p)

    def rdp(self, alpha: float, **p: Any) -> float:
        """ε(α) by the integral of the profile, or the one without hiding if that is less."""
        from dpcalc.numerics import renyi_of_profile

        own = renyi_of_profile.value(alpha, self.many, self.first(**p), tuple(p.items()))
        return min(own, self.without.value(alpha, **{k: p[k] for k in self.without.params})) if self.without else own


def witnesses(fine: int, z: Array) -> list[Witness]:
    """The witness at every ε, from the Z of plan.py, which is NaN where every place is compared with itself only."""
    return [[fine] if isnan(x) else [fine, x] for x in z.tolist()]


def _read(way: Witness) -> tuple[int, list[float]]:
    """The fineness of the blocks, and the other numbers of a witness. Raises ValueError where it is malformed."""
    fine, *chosen = way
    rising = all(0 <= x < inf for x in chosen) and len(chosen) <= 2 and chosen == sorted(set(chosen))
    whole = len(chosen) < 2 or all(x == int(x) for x in chosen)
    if int(fine) != fine or not 1 <= fine <= 1000 or not rising or not whole:  # above 1000 it would take minutes
        raise ValueError(f"{str(way)[:40]} is no plan")
    return int(fine), chosen


def plan_or_alone(theorem: Theorem, family: Family, alone: ProfileBound, without: RdpBound) -> ProfileBound:
    """The bound by the plan of plan.py, or by `alone`, in which every place is compared with itself only, where that is
    smaller; `without` is the Rényi curve of that bound."""

    def evaluate(epsilons: Array, fine: int, n: int, **p: float) -> tuple[Array, list[Witness]]:
        from numpy import where

        from dpcalc.bounds.hiding._engine import plan, pushes

        assert alone.blocks is not None and alone.blocks.profile is not None
        ways = dict[float, int]()
        unhidden = alone.blocks.profile(epsilons, positions.FINE, ways=ways, n=n, **p)
        bound, z = plan.profile(pushes.places(family.ratios(**p), n, fine), epsilons)
        hides = (bound < unhidden) & (z == z)  # Z is NaN where the plan does not hide the record
        found: list[Witness] = [[fine, x] if h else [ways[e]]
                                for e, x, h in zip(epsilons.tolist(), z.tolist(), hides.tolist(), strict=True)]
        return where(hides, bound, unhidden), found

    def exact_at(mp: Any, epsilon: Any, fine: int, chosen: list[float], n: int, **p: float) -> Any:
        from dpcalc.bounds.hiding._engine import plan, pushes

        if not chosen:
            return alone.exact(mp, epsilon, n=n, **p, way=fine)
        if len(chosen) > 1:
            raise ValueError(f"{str(chosen)[:40]} is no plan without a set")
        return plan.exact(mp, pushes.places_exact(mp, family, n, fine, **p), epsilon, chosen[0])

    profile = HidingProfile(evaluate, exact_at, lambda n, **p: family.ratios(**p)(0), without)
    return profile.bound(theorem, (*family.params, "n"))
