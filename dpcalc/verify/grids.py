"""δ of a composition on a grid: the grid that a row tells of, or one that the fast path finds anew, and both directions."""

from __future__ import annotations

from collections.abc import Mapping
from math import expm1, inf, log1p
from typing import Any

from dpcalc.errors import DpcalcError
from dpcalc.question import Question
from dpcalc.verify import composition, laws, plans
from dpcalc.verify.laws import Use
from dpcalc.verify.unchecked import Unchecked

Parts = tuple[tuple[Use, int], ...]
_ROUNDING = 1e-14
_CLOSER = 0.25  # times the precision of a record whose grid is not told
_ROUGH = 8  # points of the grid in one of a Chernoff bound's


def found(pairs: Any, question: Question, epsilon: float | None = None, precision: float | None = None) -> Mapping[str, Any]:
    """The grid on which the fast path composes these pairs for a question, or for another ε. Raises Unchecked."""
    from dpcalc.profiles import asked, compose

    precision = _CLOSER * (precision or asked.PRECISION)
    try:
        if epsilon is None and question.delta:
            return compose.epsilon_at(pairs, question.log_delta, precision, bracket=False, whole=True).witness
        at = epsilon if epsilon is not None else question.epsilon or 0.0
        return compose.log_delta_at(pairs, at, precision, bracket=False, whole=True).witness
    except DpcalcError as reason:
        raise Unchecked(reason.message) from None


def delta(mp: Any, parts: Parts, given: Mapping[str, Any], epsilon: float, log_delta: float, side: int = 0) -> Any:
    """The upper value of δ at ε, over both directions; of one with a side, +1 or −1."""
    added = side < 0 if side else bool(given.get("reversed"))
    own = tuple((use._replace(added=added and not use.symmetric), count) for use, count in parts)
    other = own if side else tuple((use._replace(added=not added and not use.symmetric), count) for use, count in parts)
    if epsilon == 0 and "grids" not in given and _all_below(own, 0.0):
        return _infinite(mp, own, 0.0)  # the total variation, the same in both directions
    if "grids" not in given or (_all_below(own, epsilon) and _all_below(other, epsilon)):
        return max(_infinite(mp, own, epsilon), _infinite(mp, other, epsilon))
    plan = plans.plan(given)
    if given.get("chernoff"):
        return composition.chernoff(mp, own, plan, epsilon) if side else _deep(mp, own, other, plan, epsilon)
    total = composition.delta(mp, own, plan, epsilon, log_delta)
    if side or epsilon == 0 or all(use.symmetric for use, _ in parts):  # δ(0) is the total variation, the same in both directions
        return total
    claimed = mp.mpf(log_delta) if log_delta > -inf else mp.log(total)
    rough = composition.mirrored(mp, other, plan, mp.exp(claimed), _ROUGH)
    if composition.settled(mp, other, rough, epsilon, claimed):
        return total
    # Fewer points give a larger number, which may be small enough already.
    if composition.delta(mp, other, rough, epsilon, log_delta) <= mp.exp(claimed):
        return total
    return max(total, composition.delta(mp, other, composition.mirrored(mp, other, plan, mp.exp(claimed)), epsilon, log_delta))


def _deep(mp: Any, parts: Parts, other: Parts, plan: plans.Plan, epsilon: float) -> Any:
    """By Chernoff's bound alone."""
    found = composition.chernoff(mp, parts, plan, epsilon)
    if all(use.symmetric for use, _ in parts):
        return found
    return max(found, composition.chernoff(mp, other, composition.mirrored(mp, other, plan, found), epsilon))


def _infinite(mp: Any, parts: Parts, epsilon: float) -> Any:
    """The same where no finite loss is above ε, or the probability is 1."""
    found = infinite(mp, parts)
    if not 1 - found > 0 or _all_below(parts, epsilon):
        return found
    raise Unchecked("its record has no grid")


def infinite(mp: Any, parts: Parts) -> Any:
    """1 − Π(1 − P(∞))^T, the probability of an infinite loss: δ where no finite loss is above ε."""
    finite = mp.mpf(1)
    for use, count in parts:
        finite = finite * (1 - laws.infinite(use, mp)) ** count
    return 1 - finite


def _all_below(parts: Parts, epsilon: float) -> bool:
    """Whether no finite loss is above ε."""
    return sum(count * _largest(use) for use, count in parts) <= epsilon


def _largest(use: Use) -> float:
    """Not less than any finite loss."""
    most, rate = (use.whole or use.base).most, use.rate if use.scheme else 1.0
    if abs(most) == inf or rate == 1:
        return most + abs(most) * _ROUNDING
    added = use.added and use.scheme == "poisson"
    return (-log1p(rate * expm1(-most)) if added else log1p(rate * expm1(most))) * (1 + _ROUNDING)
