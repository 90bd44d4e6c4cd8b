"""Compositions with disjoint parts of the data: the largest δ over the cases of the theorem about them.

In each case the record changes what some parts release, and all else that is composed. So the composition loses the
largest of what these and all other releases lose together, over all cases. (The calculator composes the other releases
with the largest profile of all cases, which is never less.)"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from math import inf
from typing import Any, NamedTuple

from dpcalc.accounting.disjoint_parts import cases
from dpcalc.accounting.guarantee import Guarantee, Outcomes, Parallel, Selected, read
from dpcalc.accounting.guarantee_pld import dominating_pairs, pairs_in_either_order
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Question, Row
from dpcalc.pld import largest_profile, pilot
from dpcalc.verify import composition, composition_grids, composition_plans
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.described_pairs import uses_of
from dpcalc.verify.epochs import Delta
from dpcalc.verify.unchecked import TooLong, Unchecked

_MOST_CHOICES = 64  # of a case of each block of disjoint parts: each is composed in up to a second


class _Side(NamedTuple):
    """Guarantees in one direction of the neighbours (`lost`), and others in the other one."""

    lost: tuple[Guarantee, ...]
    gained: tuple[Guarantee, ...] = ()


def composed_delta(row: Row, side: int) -> Delta:
    """Return the function that bounds δ of a composition with disjoint parts from above: in one direction of the
    adjacency where `side` is +1 or −1, and over both where it is 0."""
    steps = int(row.params.get("steps", 1))
    given = [read(g, "the input") for g in row.params["described"] for _ in range(steps if g["kind"] == "parallel"
                                                                                  else 1)]
    others = tuple(g for g in given if not isinstance(g, Parallel))
    if any(isinstance(g, Selected) for g in others):
        raise Unchecked("the best of several runs beside disjoint parts has too many cases to prove")
    blocks = [g for g in given if isinstance(g, Parallel)]
    if len(blocks) > _MOST_CHOICES:
        raise TooLong(f"disjoint parts are composed {len(blocks)} times")
    either_order = any(pair.reverse for g in given if not isinstance(g, Outcomes) for pair, _ in dominating_pairs(g))
    is_one = len(blocks) == 1 and all(use.symmetric for g in others for use, _ in uses_of(g.model_dump(), either_order))
    choices = _choices(blocks, not is_one)

    @cache
    def composed(epsilon: float) -> list[tuple[Parts, Any]]:
        """The uses of every choice, with the grids of the calculator at this ε, of which any are valid."""
        question = Question("delta", epsilon=epsilon)
        return [(_uses(choice, others, steps, either_order),
                 composition_grids.compute_grids(_pairs(choice, others, steps), question, epsilon))
                for choice in choices]

    def delta(mp: Any, epsilon: float, log_delta: float) -> Any:
        return max((_delta(mp, *case, epsilon, log_delta, side) for case in composed(epsilon)), key=float)

    return delta


def _delta(mp: Any, uses: Parts, witness: Mapping[str, Any], epsilon: float, log_delta: float, side: int) -> Any:
    """Return an upper bound of δ of a choice: half of what is claimed, where a Chernoff bound proves that."""
    if log_delta > -inf and "grids" in witness:
        half, plan = mp.exp(mp.mpf(log_delta)) / 2, composition_plans.read_plan(witness)
        if all(composition.is_below_by_chernoff(mp, composition_grids.in_direction(uses, added), plan, epsilon, half)
               for added in ((False, True) if side == 0 else (side < 0,))):
            return half
    return composition_grids.delta_from_above(mp, uses, witness, epsilon, log_delta, side)


def _choices(blocks: Sequence[Parallel], either_order: bool) -> list[_Side]:
    """Return every choice of a case of each block, where records are replaced in either order if it matters: if
    something else is asymmetric, too. Raises TooLong where there are too many."""
    found = [_Side(())]
    for block in blocks:
        sides = [_Side(case.members, case.entered) for case in cases(block)]
        sides = [sides[k] for k in largest_profile.largest([
            largest_profile.directions(pairs_in_either_order(a), pairs_in_either_order(b)) for a, b in sides])]
        if either_order and RELATIONS[str(block.adjacency)].sensitivity > 1:
            sides += [_Side(b, a) for a, b in sides]
        found = [_Side((*lost, *a), (*gained, *b)) for (lost, gained), (a, b) in product(found, sides)]
        if len(found) > _MOST_CHOICES:
            raise TooLong(f"disjoint parts have {len(found)} cases, and at most {_MOST_CHOICES} are composed")
    return found


def _uses(choice: _Side, others: Sequence[Guarantee], steps: int, either_order: bool) -> Parts:
    """Return the uses of all other releases and of a choice."""
    found = [(use, count * steps) for g in others for use, count in uses_of(g.model_dump(), either_order)]
    for members, added in ((choice.lost, False), (choice.gained, True)):
        uses = tuple(part for g in members for part in uses_of(g.model_dump(), True))
        found += composition_grids.in_direction(uses, added)
    return tuple(found)


def _pairs(choice: _Side, others: Sequence[Guarantee], steps: int) -> pilot.Parts:
    """Return the pairs of the same, for which the calculator finds grids."""
    of_others = tuple((pair, count * steps) for pair, count in pairs_in_either_order(others))
    return largest_profile.directions((*of_others, *pairs_in_either_order(choice.lost)),
                                      pairs_in_either_order(choice.gained))[0]
