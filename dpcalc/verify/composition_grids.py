"""δ of a composition on the grids that a row tells of, or that the calculator finds anew; both directions, and lower
ends."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, expm1, inf, log, log1p
from typing import Any

from dpcalc.core.errors import DpcalcError
from dpcalc.core.question import Question
from dpcalc.verify import composition, composition_plans, listed, loss_laws
from dpcalc.verify.loss_laws import Use
from dpcalc.verify.unchecked import Unchecked

Parts = tuple[tuple[Use, int], ...]
ROUNDING = 1e-14  # of the largest loss
FAR = 700.0  # a loss whose exponential is next to the largest double
CLOSER = 0.25  # times the precision of a record that does not say its grid


def found(pairs: Any, question: Question, epsilon: float | None = None, precision: float | None = None,
          one_sided: bool = False) -> Mapping[str, Any]:
    """The grids on which the calculator composes these pairs for a question, or for another ε. Raises Unchecked."""
    from dpcalc.pld.bracket import PRECISION, epsilon_at_delta, log_delta_at_epsilon

    precision = CLOSER * (precision or PRECISION)
    try:
        if epsilon is None and question.delta:
            return epsilon_at_delta(pairs, question.log_delta, precision, bracket=False, one_sided=one_sided).witness
        at = epsilon if epsilon is not None else question.epsilon or 0.0
        return log_delta_at_epsilon(pairs, at, precision, bracket=False, one_sided=one_sided).witness
    except DpcalcError as reason:
        raise Unchecked(reason.message) from None


def delta(mp: Any, parts: Parts, given: Mapping[str, Any], epsilon: float, log_delta: float, side: int = 0) -> Any:
    """The upper value of δ at ε, over both directions; of one with a side, +1 or −1."""
    own = _direction(parts, side < 0 if side else bool(given.get("reversed")))
    other = own if side else _direction(parts, not given.get("reversed"))
    if (epsilon == 0 and "grids" not in given and _all_below(own, 0.0)) or (_all_below(own, epsilon)
                                                                            and _all_below(other, epsilon)):
        return max(infinite(mp, own), infinite(mp, other), key=float)
    if "sums" in given:
        found = listed.delta(mp, own, epsilon)
        return found if side or all(use.symmetric for use, _ in parts) else max(found, listed.delta(mp, other, epsilon),
                                                                                key=float)
    if "grids" not in given:
        raise Unchecked("its number is a bound by moments, or its record has no grid")
    plan = composition_plans.plan(given)
    total = composition.delta(mp, own, plan, epsilon, log_delta)
    # δ(0) is the total variation, the same in both directions
    if side or epsilon == 0 or all(use.symmetric for use, _ in parts):
        return total
    claimed = mp.exp(mp.mpf(log_delta)) if log_delta > -inf else total
    if "other" in given:
        return max(total, composition.delta(mp, other, composition_plans.plan(given["other"]), epsilon, log_delta),
                   key=float)
    return total if composition.is_settled(mp, other, plan, epsilon, claimed) else max(total, claimed * 2, key=float)


def delta_from_below(mp: Any, parts: Parts, given: Mapping[str, Any], epsilon: float, claimed: float) -> Any:
    """Surely not above δ at ε: of the direction that the witness names, or of the other one."""
    if not hasattr(mp, "arb"):
        raise Unchecked("lower ends need python-flint: pip install python-flint")
    if "sums" in given:
        return delta(mp, parts, given, epsilon, -inf)
    best = mp.mpf(0)
    for is_other in (False, True):
        uses = _direction(parts, bool(given.get("reversed")) != is_other)
        told = given.get("other", {}) if is_other else given
        here = composition.delta_from_below(mp, uses, composition_plans.plan(told),
                                            epsilon) if "grids" in told else infinite(mp, uses)
        best = max(best, here, key=float)
        if best >= claimed or all(use.symmetric for use, _ in parts):
            break
    return max(best, _of_largest(mp, parts, epsilon), key=float)


def _of_largest(mp: Any, parts: Parts, epsilon: float) -> Any:
    """What the largest losses alone show: P(1 − e^{ε−ℓ}), of all at once."""
    best = mp.mpf(0)
    for added in (False, True):
        total, log_p = mp.mpf(0), mp.mpf(0)
        for use, count in _direction(parts, added):
            most = _largest(use)
            if abs(most) == inf:
                break
            loss = mp.mpf(most * (1 - 2 * ROUNDING))
            mass = loss_laws.above(use, mp, loss)[0]
            if not float(mass) > 0:
                break
            total, log_p = total + count * loss, log_p + count * mp.log(mass)
        else:
            if float(total) > epsilon:
                best = max(best, -mp.exp(log_p) * mp.expm1(mp.mpf(epsilon) - total), key=float)
    return best


def infinite(mp: Any, parts: Parts) -> Any:
    """1 − Π(1 − P(∞))^T, the probability of an infinite loss: δ where no finite loss is above ε."""
    infinite = [(loss_laws.infinite(use, mp), count) for use, count in parts]
    if not all(mass < 1 for mass, _ in infinite):
        return mp.mpf(1)
    return -mp.expm1(mp.fsum(count * mp.log1p(-mass) for mass, count in infinite))


def _direction(parts: Parts, added: bool) -> Parts:
    return tuple((use._replace(added=added and not use.symmetric), count) for use, count in parts)


def _all_below(parts: Parts, epsilon: float) -> bool:
    """Whether no finite loss is above ε."""
    return sum(count * _largest(use) for use, count in parts) <= epsilon


def _largest(use: Use) -> float:
    """Not less than any finite loss."""
    most, rate = (use.whole or use.base).most, use.rate if use.scheme else 1.0
    if abs(most) == inf or rate == 1:
        return most + abs(most) * ROUNDING
    if use.added and use.scheme == "poisson":
        return -log((1 - rate) + rate * exp(-most)) * (1 + ROUNDING)
    return log1p(rate * expm1(most)) * (1 + ROUNDING) if most < FAR else most
