"""The privacy loss distribution of disjoint parts of the data: the largest profile of all cases, in closed form."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from dpcalc.accounting.disjoint_parts import Case, cases
from dpcalc.accounting.guarantee import Parallel
from dpcalc.accounting.guarantee_pld import dominating_pairs
from dpcalc.core.relations import RELATIONS
from dpcalc.pld.atoms import Atoms
from dpcalc.verify import composition, composition_atoms, composition_grids, loss_distributions
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.unchecked import Unchecked


def uses(g: Mapping[str, Any], of_guarantee: Callable[[Mapping[str, Any]], Parts],
         in_either_order: Callable[[Sequence[float], Sequence[float]], LossPair]) -> Parts:
    """Return the uses of the only case, or one of a pair whose profile is the largest one of all cases, linear in e^ε
    between the losses of the calculator's pair; any choice of these is valid. Raises Unchecked where a case composes
    several mechanisms of which no closed form is known."""
    guarantee = Parallel(**g)
    all_cases = cases(guarantee)

    def of_members(members: Sequence[Any]) -> Parts:
        return tuple(part for one in members for part in (
            ((Use(in_either_order(one.p, one.q)), one.count),) if one.kind == "outcomes"
            else of_guarantee(one.model_dump())))

    def directed(case: Case, added: bool) -> Parts:
        both = (*composition_grids.in_direction(of_members(case.members), added),
                *composition_grids.in_direction(of_members(case.entered), not added))
        return tuple(composition.merge_gaussians(both))

    if len(all_cases) == 1 and not all_cases[0].entered:
        return of_members(all_cases[0].members)
    sides = [[directed(case, added) for case in all_cases] for added in (False, True)]
    if RELATIONS[str(guarantee.adjacency)].sensitivity > 1:  # which data set is which is unknown
        sides = [[*sides[0], *sides[1]]] * 2
    ((pair, _), *_) = dominating_pairs(guarantee)
    if not isinstance(pair, Atoms):
        return ((Use(loss_distributions.gaussian(lambda mp: max((_mu(mp, one) for one in sides[0]), key=float))), 1),)

    @cache
    def delta(mp: Any, epsilon: float, side: int) -> Any:
        return max((_delta(mp, one, epsilon) for one in sides[side < 0]), key=float)

    return ((Use(composition_atoms.convex_minorant_pair(pair.losses, delta)), 1),)


def _mu(mp: Any, one: Parts) -> Any:
    """Return μ of a case that is Gaussian. Raises Unchecked for another one."""
    if len(one) != 1 or one[0][0].pair.mu is None or one[0][0].unsampled is None:
        raise Unchecked("disjoint parts compose several mechanisms, of which no closed form is known")
    return one[0][0].pair.mu(mp)


def _delta(mp: Any, one: Parts, epsilon: float) -> Any:
    """Return δ at ε >= 0 of one case, by the definition."""
    if all(use.pair.atoms is not None for use, _ in one):
        return composition_atoms.delta_of_sums(mp, one, epsilon)
    if len(one) != 1 or one[0][1] != 1:
        raise Unchecked("disjoint parts compose several mechanisms, of which no closed form is known")
    use = one[0][0]
    in_p, in_q = loss_distributions.masses_above(use, mp, mp.mpf(epsilon))
    return in_p - mp.exp(mp.mpf(epsilon)) * in_q + loss_distributions.infinite_mass(use, mp)
