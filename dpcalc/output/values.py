"""Single numbers of an answer for people: rounded to their safe side, and the names of rows."""

from __future__ import annotations

from math import inf

from dpcalc.core.numbers import human, human_probability
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row


def shown(answer: Answer, name: str, row: Row) -> str:
    """One quantity of a row, rounded to its safe side; what it says instead, where it stands beside a solution only."""
    if name not in row.result:
        other = answer.question.asks if answer.question.asks in row.result else "rdp"
        return f"{symbol(other)} = {shown(answer, other, row)}"
    unknown = answer.question.unknown
    down = row.route.bound.status == "lower" or (unknown is not None and name == unknown.name and unknown.safer < 0)
    if name == "delta" and not down:
        return human_probability(row.result["delta"], row.result.get("log_delta", -inf))
    return human(row.result[name], upward=not down)


def row_label(row: Row) -> str:
    via = row.route.conversion
    return f"{row.route.label} ({via.name})" if via and not row.route.by_conversion else row.route.label


