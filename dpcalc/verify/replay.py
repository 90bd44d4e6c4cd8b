"""Reconstruction of the answer that a record describes: the command asks its question again, and the recorded numbers
become the rows.

The parameters pass the same models and checks as on the command line; only the search for numbers is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.cautions import with_cautions
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Route, Row
from dpcalc.verify.records import Record, is_number, to_float

if TYPE_CHECKING:
    from dpcalc.core.command import Command

# the keys of a bound in a record that are no results
_NO_RESULTS = frozenset({"name", "curve", "conversion", "status", "witness", "digits", "source", "assumptions",
                         "errata"})


def replay(record: Record) -> Answer:
    """Return the answer with the recorded rows. Raises DpcalcError where the parameters ask no such question."""
    from dpcalc.core.validate import validate

    command = command_of(record)
    given = validate(command, {**record["options"], "format": "json"}, inputs_of(record))
    given.recorded = partial(_rows_of_record, record)
    answer = with_cautions(command.answer(given), given.inputs)
    return answer._replace(options=record["options"], inputs=tuple(record["inputs"]))


def command_of(record: Record) -> Command:
    """Return the record's calculator. Raises DpcalcError where there is none, or where it has not all the options."""
    from dpcalc.commands import COMMANDS, PAGES, calculator
    name = record["command"]
    if name not in COMMANDS or name in PAGES:
        raise DpcalcError("bad-json", f"{name!r} is no command of dpcalc that answers questions")
    command = calculator(name)
    known = {o.name for o in command.all_options()}
    for option in record["options"]:
        if option not in known:
            raise DpcalcError("bad-json", f"{option!r} is no option of dpcalc {name}")
    return command


def inputs_of(record: Record) -> tuple[Any, ...]:
    """Return the guarantees that the command read."""
    import json

    from dpcalc.accounting.guarantee import parse

    return tuple(parse(json.dumps(data), "an input of the result") for data in record["inputs"])


def _rows_of_record(record: Record, routes: tuple[Route, ...], given: Params, derive: Callable[[Params], Params],
                    question: Question, beginning: str = "") -> tuple[Row, ...]:
    """Return the recorded rows of these routes that answer this question, in their order; of a comparison, those whose
    command begins so (`beginning`)."""
    asked = question.unknown.name if question.unknown else question.asks
    rows = []
    for k, data in enumerate(record["bounds"]):
        route = next((r for r in routes if _is_of_route(r, data, question)), None)
        if route is None or not _answers(data, question, beginning):
            continue
        result = {name: to_float(x) for name, x in data.items() if name not in _NO_RESULTS and is_number(x)}
        witness = {name: to_float(x) if is_number(x) else x for name, x in data["witness"].items()}
        if k == 0 and is_number(record["result"].get(asked)):
            result[asked] = to_float(record["result"][asked])  # the headline is what is verified
        if question.unknown and question.unknown.name not in result:
            continue
        solved = {question.unknown.name: _solution(question, result)} if question.unknown else {}
        row_route = Route(route.bound) if question.asks == "rdp" and route.bound.kind == "rdp" else route
        rows.append(Row(row_route, result, witness, derive({**given, **solved})))
    return tuple(rows)


def _answers(data: Mapping[str, Any], question: Question, command_prefix: str) -> bool:
    """Whether a recorded bound answers this question. A command may ask several of them: `compare` runs several
    commands, and asks for the total variation, which is δ at ε = 0, besides δ."""
    if "command" in data:
        command = str(data["command"])
        if not command.startswith(command_prefix) or (question.asks == "delta" and "--epsilon" not in command.split()):
            return False
    if not is_number(data.get(question.asks)):
        return False
    if question.asks != "delta" or question.unknown or not is_number(data.get("epsilon")):
        return True
    return to_float(data["epsilon"]) == question.epsilon


def _solution(question: Question, result: Mapping[str, float]) -> float:
    assert question.unknown is not None
    x = result[question.unknown.name]
    if not question.unknown.search[0] <= x <= question.unknown.search[1] and not x > 0:
        raise DpcalcError("bad-json", f"{question.unknown.option[2:]} = {x:g} is no solution")
    return int(x) if question.unknown.kind == "count" else x


def _is_of_route(route: Route, data: Mapping[str, Any], question: Question) -> bool:
    conversion = route.conversion.name if route.conversion and question.asks != "rdp" else None
    return route.bound.name == data.get("curve", data["name"]) and conversion == data.get("conversion")
