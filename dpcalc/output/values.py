"""Single numbers of an answer for people, rounded to the safe side, and the names of rows."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from dpcalc.core.numbers import FEW_ULPS, ROUNDED, human, human_probability, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row

_PROBABILITIES = ("tv", "tpr", "delta")


def shown_value(answer: Answer, name: str, row: Row) -> str:
    """One quantity of a row as a decimal, rounded to the safe side.

    Privacy losses are rounded up. Lower bounds, and a solved parameter that is safer when it is smaller, are rounded
    down. A row that lacks the quantity shows another one with its symbol, for example 'ε(α) = 0.5'.
    """
    if name not in row.result:
        companion = answer.question.asks if answer.question.asks in row.result else "rdp"
        return f"{symbol(companion)} = {shown_value(answer, companion, row)}"
    unknown = answer.question.unknown
    less_is_safer = unknown is not None and name == unknown.name and unknown.safe_direction < 0
    down = row.route.bound.is_from_below or less_is_safer
    if name == "delta" and not down:
        return human_probability(row.result["delta"], row.result.get("log_delta", -inf))
    return human(row.result[name], upward=not down, rounded=ROUNDED if name in _PROBABILITIES else FEW_ULPS)


def about_unsolved(answer: Answer) -> tuple[str, ...]:
    """A note where a table has rows without the parameter that is solved for."""
    if not answer.question.unknown or all(answer.quantity in row.result for row in answer.rows):
        return ()
    asks, unknown = symbol(answer.question.asks), symbol(answer.quantity)
    return (f"Note: a bound with {asks} in place of {unknown} misses the budget at the best {unknown}, where it gives "
            f"that {asks}; --bound NAME finds its own {unknown}.",)


def stated(answer: Answer, name: str, values: Mapping[str, Any]) -> str:
    """A parameter as it was given, or a solution rounded to the safe side."""
    unknown = answer.question.unknown
    if unknown and unknown.name == name:
        return shown_value(answer, name, answer.headline)
    return plain(float(values[name])) if isinstance(values[name], float) else str(values[name])


def in_full(cells: Iterable[Any]) -> tuple[str, ...]:
    """The cells of a row for programs: numbers with all their digits."""
    return tuple(x if isinstance(x, str) else repr(x) for x in cells)


def begun(name: str) -> str:
    """The name of a quantity at the beginning of a line: 'Noise multiplier', but 'v', a symbol, as it is."""
    return name.capitalize() if " " in name and name.isascii() else name


def row_label(row: Row) -> str:
    """The name of the bound, with its conversion where it has one: 'gaussian-rdp (rdp-optimal)'."""
    via = row.route.conversion
    return f"{row.route.label} ({via.name})" if via and not row.route.by_conversion else row.route.label
