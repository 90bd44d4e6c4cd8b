"""ε, δ and total variation by the numerical composition of privacy loss distributions. Needs numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.accounting.guarantee_words import delta_result, no_pure_epsilon
from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Params, ProfileBound
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human_claimed, plain
from dpcalc.core.results import Row
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import ULP, quotient_up, up
from dpcalc.pld.bracket import PRECISION, Bracket, epsilon_at_delta, log_delta_at_epsilon, log_infinite
from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.pair import ROUNDING

if TYPE_CHECKING:
    from dpcalc.core.results import Question, Route
    from dpcalc.pld.pilot import Parts

_BY_VARIATION = {"variation": 1}  # a witness: the value follows from the total variation of one step
_BY_ALL_LOSSES = {"all_losses": 1}  # a witness: no finite loss is larger than this ε
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "tv": "TV"}
# Absolute, of log δ: a composition this near to a closed form is answered by the closed form, which `verify`
# recomputes.
_CLOSED_FORM_NEAR = 4e-10
_MOST_FACTORS = 1000  # factors 1 − δ_i of 53 bits or more whose exact product takes milliseconds; more are not taken
_USELESS = -0.1  # log δ: where no grid fits into memory, a closed form above this value is refused, not reported


def parts(route: Route, params: Params, side: int = 0) -> Parts:
    """The pairs that a route composes, with their counts; with side −1, the reversed pairs. Raises OutOfScope where a
    bound from below would compose a pair that is itself an upper bound, as pairs for hardly any noise are."""
    bound, own = route.bound, own_params(route.bound, params)
    steps = int(params.get("steps", 1))
    of_one = bound.pair if isinstance(bound, ProfileBound) else None
    once: Parts = ((of_one(**own), 1),) if of_one is not None else bound.value(**own)
    if bound.status == "lower" and not all(pair.attained for pair, _ in once):
        raise OutOfScope("out-of-range", "no lower bound is computed for so little noise", "--noise-multiplier")
    return tuple(((pair.reverse or pair) if side < 0 else pair, count * steps) for pair, count in once)


def to_epsilon(route: Route, params: Params, question: Question) -> Row:
    """The row that answers ε at δ, with a lower end unless the question is about the upper one only. A bound from below
    gives the lower end alone.

    Raises OutOfScope where no finite ε holds, and TooLarge where the grids do not fit into memory.
    """
    if _is_variation(params, question.delta or 0.0):
        return Row(route, {"epsilon": 0.0, "delta": question.delta or 0.0}, _BY_VARIATION)
    point_sum, bracket = _point_sum(params), _is_bracketed(route, question)
    if question.delta == 0 and point_sum is None:
        raise no_pure_epsilon(params)
    composed = parts(route, params)
    _refuse_infinite(composed, question, point_sum)
    if question.delta == 0:
        raise OutOfScope("no-solution", "0 is not possible for a numerical composition; use --bound composition-basic, "
                         "or a positive δ", "--delta")
    if _log_variation(route, params) <= question.log_delta:
        return Row(route, {"epsilon": 0.0, "delta": question.delta or 0.0}, _BY_VARIATION)
    try:
        found = epsilon_at_delta(composed, question.log_delta, _precision(params), bracket)
    except TooLarge:
        if point_sum is None or not point_sum.delta:
            raise
        found = Bracket(inf, 0.0, {})
    # An infinite loss has probability at most δ, and every finite loss is at most this ε.
    if point_sum and point_sum.delta and point_sum.epsilon < found.upper:
        found = Bracket(point_sum.epsilon, min(found.lower, point_sum.epsilon), _BY_ALL_LOSSES)
    if route.bound.status == "lower":
        return Row(route, {"epsilon": max(0.0, found.lower), "delta": question.delta or 0.0}, found.witness)
    if found.upper == inf:
        raise _no_epsilon(composed, question, None)
    lower = _lower_end(route, params, "epsilon", max(0.0, found.lower))
    notes = _missed_precision(found, found.upper, params, "epsilon") if bracket else ()
    return Row(route, {"epsilon": found.upper, **lower, "delta": question.delta or 0.0}, found.witness, notes=notes)


def to_delta(route: Route, params: Params, question: Question, side: int = 0) -> Row:
    """The row that answers δ at ε; with a side, δ of that direction alone."""
    epsilon, most, point_sum = question.epsilon or 0.0, _log_variation(route, params), _point_sum(params)
    bracket = _is_bracketed(route, question)
    log_point_sum = point_sum.log_delta if point_sum and point_sum.delta and epsilon >= point_sum.least else 0.0
    try:
        found = log_delta_at_epsilon(parts(route, params, side), epsilon, _precision(params), bracket,
                                     one_sided=bool(side))
    except TooLarge:
        if min(most, log_point_sum) > _USELESS:
            raise
        found = Bracket(0.0, -inf, {})
    if route.bound.status == "lower":
        return Row(route, {"delta": exp(found.lower) * (1 - ULP), "log_delta": found.lower, "epsilon": epsilon},
                   found.witness)
    if found.upper > most - _CLOSED_FORM_NEAR:
        found = Bracket(most, min(found.lower, most), _BY_VARIATION)
    if log_point_sum < found.upper:
        found = Bracket(log_point_sum, min(found.lower, log_point_sum), _BY_ALL_LOSSES)
    result = delta_result(found.upper, epsilon)
    lower = _lower_end(route, params, "delta", min(exp(found.lower) * (1 - ULP), result["delta"]))
    notes = _missed_precision(found, 1.0, params, "delta") if bracket else ()
    return Row(route, {**result, **lower}, found.witness, notes=notes)


class _PointSum(NamedTuple):
    """The guarantee (Σε_i, 1 − Π(1 − δ_i)) of a composition of (ε_i, δ_i): no finite loss is larger than the sum of the
    ε_i, and 1 − Π(1 − δ_i) is the probability of an infinite loss (Kairouz, Oh & Viswanath 2015, Theorem 3.5)."""

    least: Fraction  # Σε_i
    delta: Fraction  # 1 − Π(1 − δ_i)

    @property
    def epsilon(self) -> float:
        return quotient_up(self.least.numerator, self.least.denominator)

    @property
    def log_delta(self) -> float:
        """log δ, rounded up."""
        delta = quotient_up(self.delta.numerator, self.delta.denominator)
        return log(delta) + 1e-15 * (1 + abs(log(delta))) if delta else -inf


def _point_sum(params: Params) -> _PointSum | None:
    """The guarantee that all (ε_i, δ_i) of the parts add up to; None where not every part has one, or the product would
    have too many digits."""
    points = params.get("points")
    if not points or sum(count for _, delta, count in points if delta) > _MOST_FACTORS:
        return None
    finite = Fraction(1)
    for _, delta, count in points:
        finite *= (1 - Fraction(delta)) ** (count if delta else 0)
    return _PointSum(sum((Fraction(epsilon) * count for epsilon, _, count in points), Fraction(0)), 1 - finite)


def _refuse_infinite(composed: Parts, question: Question, point_sum: _PointSum | None) -> None:
    """Raises OutOfScope where an infinite loss has a probability above δ, which is known without a grid."""
    if point_sum:
        above = point_sum.delta > Fraction(question.delta or 0)
    else:
        infinite = max(map(log_infinite, _directions(composed)))
        above = infinite - ROUNDING * (1 + abs(infinite)) > question.log_delta
    if above:
        raise _no_epsilon(composed, question, point_sum)


def _directions(composed: Parts) -> tuple[Parts, Parts]:
    """The pairs as they are, and reversed."""
    return composed, tuple((pair.reverse or pair, count) for pair, count in composed)


def _no_epsilon(composed: Parts, question: Question, point_sum: _PointSum | None) -> OutOfScope:
    """The error that no ε holds at this δ, with the probability of an infinite loss."""
    worse = max(_directions(composed), key=log_infinite)
    infinite = float(point_sum.delta) if point_sum else exp(log_infinite(worse))
    delta, least = plain(question.delta or 0.0), human_claimed(infinite, 1e-12)
    return OutOfScope("no-solution",
                      f"no ε exists at δ = {delta}: the δs of the releases alone compose to "
                      f"{least if least != delta else repr(infinite)}", "--delta")


def to_tv(route: Route, params: Params, question: Question) -> Row:
    """The row that answers the total variation, which is δ at ε = 0."""
    row = to_delta(route, params, question._replace(epsilon=0.0))
    tv = row.result["delta"]
    if route.bound.status == "lower":
        return Row(route, {"tv": tv}, row.witness)
    lower = _lower_end(route, params, "tv", row.result.get("delta_lower", 0.0))
    return Row(route, {"tv": tv, **lower}, row.witness)


def _is_variation(params: Params, delta: float) -> bool:
    """Whether the only part is a total variation of at most δ, so that ε = 0."""
    described: Sequence[Mapping[str, Any]] = params.get("described") or ()
    if len(described) != 1 or int(params.get("steps", 1)) != 1:
        return False
    return bool(described[0]["kind"] == "tv" and described[0]["tv"] <= delta)


def _log_variation(route: Route, params: Params) -> float:
    """log of an upper bound on δ(0), and so on δ at every ε.

    With δ₁ = δ(0) of one step it is 1 − (1 − δ₁)^T, since Σ min(pp′, qq′) >= Σ min(p, q)·Σ min(p′, q′).
    """
    bound = route.bound
    if bound.kind != "profile":
        return 0.0
    one = float(bound.value(0.0, **own_params(bound, params)))
    return up(log1mexp(int(params.get("steps", 1)) * log1mexp(one)), 1e-11) if -inf < one < 0 else one


ANSWERS = {"epsilon": to_epsilon, "delta": to_delta, "tv": to_tv}


def _is_bracketed(route: Route, question: Question) -> bool:
    """Whether the lower end is composed, too: unless the question is about the upper end only. For a bound from below
    the lower end is the value."""
    return route.bound.status == "lower" or not question.upper_only


def _precision(params: Params) -> float:
    return float(params.get("precision") or PRECISION)


def _missed_precision(found: Bracket, size: float, params: Params, quantity: str) -> tuple[str, ...]:
    """A note where the bracket is wider than the precision asked for; `size` is the unit of its width."""
    width, symbol, precision = found.upper - found.lower, _SYMBOLS[quantity], _precision(params)
    if found.upper == found.lower or width <= precision * size * (1 + _CLOSED_FORM_NEAR):
        return ()
    if found.lower == (0.0 if quantity == "epsilon" else -inf):
        return (f"the numerical composition gives no lower bound here: this {symbol} may be too large by an unknown "
                "amount",)
    part = f"{100 * width / size:.2g} %" if quantity == "epsilon" else f"a factor of {exp(min(width, 700.0)):.4g}"
    return (f"--precision {precision:g} was not reached: this {symbol} may be too large by {part}",)


def _lower_end(route: Route, params: Params, quantity: str, lower: float) -> dict[str, float]:
    """The lower end as a result, where every dominating pair is attained: then the mechanism itself loses that much."""
    attained = params.get("attained", True) and all(pair.attained for pair, _ in parts(route, params))
    return {f"{quantity}_lower": lower} if attained else {}
