"""Bounds on δ of a composition, over both directions of the adjacency, on the grids of a witness or on new ones."""

from collections.abc import Mapping
from math import exp, expm1, inf, log, log1p
from typing import Any

from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Question
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.pld.bracket import PRECISION, epsilon_at_delta, log_delta_at_epsilon
from dpcalc.verify import composition, composition_plans, loss_distributions
from dpcalc.verify.arb.context import is_ball_context
from dpcalc.verify.composition_atoms import delta_of_sums
from dpcalc.verify.loss_distributions import Use
from dpcalc.verify.unchecked import Unchecked

Parts = tuple[tuple[Use, int], ...]
_LOSS_ERROR = 1e-14  # relative error allowed for a largest loss computed in doubles: 45 units in the last place


def compute_grids(pairs: Any, question: Question, epsilon: float | None = None, precision: float | None = None,
                  one_sided: bool = False) -> Mapping[str, Any]:
    """Return the witness of the calculator's own composition of these dominating pairs, at the ε or δ of the question,
    or at another ε. Raises Unchecked where the calculator finds none."""
    precision = (precision or PRECISION) / 4  # finer, as a grid as coarse as the record's might just miss its number
    try:
        if epsilon is None and question.delta:
            return epsilon_at_delta(pairs, question.log_delta, precision, bracket=False, one_sided=one_sided).witness
        at = epsilon if epsilon is not None else question.epsilon or 0.0
        return log_delta_at_epsilon(pairs, at, precision, bracket=False, one_sided=one_sided).witness
    except DpcalcError as reason:
        raise Unchecked(reason.message) from None


def delta_from_above(mp: Any, parts: Parts, witness: Mapping[str, Any], epsilon: float, log_delta: float,
                     side: int = 0) -> Any:
    """Return an upper bound of δ at ε: in one direction of the adjacency where `side` is +1 (record removed) or −1
    (record added), and over both where it is 0."""
    own = in_direction(parts, side < 0 if side else bool(witness.get("reversed")))
    other = own if side else in_direction(parts, not witness.get("reversed"))
    symmetric = all(use.symmetric for use, _ in parts)
    if (epsilon == 0 and "grids" not in witness and _all_losses_at_most(mp, own, 0.0)) or (
            _all_losses_at_most(mp, own, epsilon) and _all_losses_at_most(mp, other, epsilon)):
        return max(infinite_mass(mp, own), infinite_mass(mp, other), key=float)
    if "sums" in witness:
        found = delta_of_sums(mp, own, epsilon)
        return found if side or symmetric else max(found, delta_of_sums(mp, other, epsilon), key=float)
    if "grids" not in witness:
        raise Unchecked("its number is a bound by moments, or its witness has no grid")
    plan = composition_plans.read_plan(witness)
    found = composition.delta_from_above(mp, own, plan, epsilon, log_delta)
    # δ(0) is the total variation distance, which is equal in both directions.
    if side or epsilon == 0 or symmetric:
        return found
    claimed = mp.exp(mp.mpf(log_delta)) if log_delta > -inf else found
    if "grids" in witness.get("other", {}):
        other_plan = composition_plans.read_plan(witness["other"])
        return max(found, composition.delta_from_above(mp, other, other_plan, epsilon, log_delta), key=float)
    if composition.is_below_by_chernoff(mp, other, plan, epsilon, claimed):
        return found
    return max(found, claimed * 2, key=float)  # the other direction is not known to be below the claim


def delta_from_below(mp: Any, parts: Parts, witness: Mapping[str, Any], epsilon: float, claimed: float) -> Any:
    """Return a lower bound of δ at ε: by the direction of the witness, and if that is below `claimed`, the larger one
    of both directions."""
    if not is_ball_context(mp):
        raise Unchecked("lower ends need python-flint: pip install python-flint")
    if "sums" in witness:
        return delta_from_above(mp, parts, witness, epsilon, -inf)  # exact, so also a lower bound
    best, log_claimed = _from_largest_losses(mp, parts, epsilon), log(claimed) if claimed > 0 else -inf
    for is_other in (False, True):
        uses = in_direction(parts, bool(witness.get("reversed")) != is_other)
        grids = witness.get("other", {}) if is_other else witness
        if "grids" in grids:
            found = composition.delta_from_below(mp, uses, composition_plans.read_plan(grids), epsilon, log_claimed)
        else:
            found = infinite_mass(mp, uses)
        best = max(best, found, key=float)
        if best >= claimed or all(use.symmetric for use, _ in parts):
            break
    return best


def _from_largest_losses(mp: Any, parts: Parts, epsilon: float) -> Any:
    """Return the lower bound P(A)·(1 − e^{ε−ℓ}) of δ, where A is the event that every use has its largest loss, and ℓ
    is the sum of these losses; the larger one of both directions."""
    best = mp.mpf(0)
    for added in (False, True):
        total, log_p = mp.mpf(0), mp.mpf(0)
        for use, count in in_direction(parts, added):
            largest = _largest_loss(mp, use)
            if abs(largest) == inf:
                break
            loss = mp.mpf(largest * (1 - 2 * _LOSS_ERROR))
            mass = loss_distributions.masses_above(use, mp, loss)[0]
            if not float(mass) > 0:
                break
            total, log_p = total + count * loss, log_p + count * mp.log(mass)
        else:
            if float(total) > epsilon:
                best = max(best, -mp.exp(log_p) * mp.expm1(mp.mpf(epsilon) - total), key=float)
    return best


def infinite_mass(mp: Any, parts: Parts) -> Any:
    """Return 1 − Π(1 − P(∞))^T, the probability of an infinite loss: δ where no finite loss is above ε."""
    masses = [(loss_distributions.infinite_mass(use, mp), count) for use, count in parts]
    if not all(mass < 1 for mass, _ in masses):
        return mp.mpf(1)
    return -mp.expm1(mp.fsum(count * mp.log1p(-mass) for mass, count in masses))


def in_direction(parts: Parts, added: bool) -> Parts:
    """Return the parts in the other direction where a record is added: what is removed is added then."""
    return tuple((use._replace(added=added != use.added and not use.symmetric), count) for use, count in parts)


def _all_losses_at_most(mp: Any, parts: Parts, epsilon: float) -> bool:
    """Whether no finite loss is above ε."""
    return sum(count * _largest_loss(mp, use) for use, count in parts) <= epsilon


def _largest_loss(mp: Any, use: Use) -> float:
    """Return an upper bound of all finite losses of one use."""
    largest, rate = (use.unsampled or use.pair).largest_loss(mp), use.rate if use.scheme else 1.0
    if abs(largest) == inf or rate == 1:
        return largest + abs(largest) * _LOSS_ERROR
    if use.added and use.scheme == "poisson":
        return -log((1 - rate) + rate * exp(-largest)) * (1 + _LOSS_ERROR)
    return log1p(rate * expm1(largest)) * (1 + _LOSS_ERROR) if largest < LARGEST_EXPONENT else largest
