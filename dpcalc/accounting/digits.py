"""--digits N: the answer recomputed from the published formula in N-digit arithmetic."""

from math import inf
from typing import Any

from dpcalc.accounting.by_bound import GUARD, NoDigits, how_to_answer
from dpcalc.core.bound import ProfileBound
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.results import Answer, Row
from dpcalc.numerics.mp.sums import TooRough

_LEAST_LOG_DELTA = -1e40  # a smaller log δ takes more digits than the arithmetic has
_OUTSIDE = "its numbers are outside the range of that arithmetic"


def with_digits(answer: Answer, digits: int) -> Answer:
    """The answer with the asked quantity of every row recomputed from the published formula, at the row's witness.

    A row without such a formula keeps its value, and a note says why.
    """
    from dpcalc.numerics.mp.context import context

    mp = context()
    # Digits of δ are lost to the size of its logarithm, as many as that has.
    logs = [log for row in answer.rows if (log := _log_delta(row, answer)) >= _LEAST_LOG_DELTA]
    mp.dps = digits + GUARD + max((len(f"{-log:.0f}") for log in logs), default=0)
    rows: list[Row] = []
    without: dict[str, list[str]] = {}  # why → the bounds
    for row in answer.rows:
        try:
            rows.append(row._replace(digits=_recomputed(mp, row, answer, digits)))
        except NoDigits as reason:
            rows.append(row)
            without.setdefault(str(reason), []).append(row.route.label)
    notes = tuple(f"no digits for {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in without.items())
    blocked = ", ".join(row.route.label for row in rows if row.digits and in_blocks(row))
    if blocked:
        notes += (f"the digits for {blocked} are of the sum in blocks from above (dpcalc explain NAME)",)
    return answer._replace(rows=tuple(rows), notes=answer.notes + notes)


def in_blocks(row: Row) -> bool:
    """Whether `exact` evaluates the published sum in blocks, from above."""
    bound, n = row.route.bound, row.params.get("n") or 0
    if not isinstance(bound, ProfileBound) or bound.blocks is None:
        return False
    return bool(n - (row.params["index"] - 1 if "index" in bound.params else 0) > bound.blocks.beyond)


def shown(row: Row) -> str:
    """The digits as they are printed, marked where they are not those of the published formula."""
    text = next(iter(row.digits.values()), "")
    return f"{text} (in blocks from above)" if text and in_blocks(row) else text


def _recomputed(mp: Any, row: Row, answer: Answer, digits: int) -> dict[str, str]:
    """The asked quantity of a row as a text of so many digits. Raises NoDigits."""
    asks, steps, bound = answer.question.asks, row.params.get("steps", 1), row.route.bound
    if isinstance(bound, ProfileBound) and steps > bound.exact_steps:
        raise DpcalcError("out-of-range", f"the formula has {steps} terms; at most {bound.exact_steps:g} steps are "
                          "allowed with --digits", "--digits")
    if "n" in bound.params and row.params["n"] == inf:
        raise NoDigits("the formula has infinitely many factors")
    if bound.is_numerical(row.params):
        raise NoDigits("it is composed numerically")
    if -inf < _log_delta(row, answer) < _LEAST_LOG_DELTA:
        raise NoDigits(_OUTSIDE)
    if asks == "epsilon" and not row.result["delta"]:
        raise NoDigits("at δ = 0 the number is a closed form, exact to a digit or two")
    how = how_to_answer(row.route, answer.question)
    try:
        value = how.exact(mp, row, answer.question) if how and how.exact else None
    except OutOfScope as reason:
        raise NoDigits(f"there is no closed form here ({reason.message})") from None
    except TooRough:
        raise NoDigits("the terms of its sum differ too much for a short sum") from None
    except OverflowError:
        raise NoDigits(_OUTSIDE) from None
    if value is None:
        raise NoDigits("there is no closed form")
    return {asks: mp.nstr(value, digits, strip_zeros=False)}


def _log_delta(row: Row, answer: Answer) -> float:
    return float(row.result.get("log_delta", answer.question.log_delta))
