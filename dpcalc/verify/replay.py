"""From a record back to the answer it tells of: the command asks its question again, and the rows are the recorded
ones.

The parameters pass the same models and the same checks as on the command line; only the search for numbers is left out.
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
from dpcalc.verify.records import Record, is_number

if TYPE_CHECKING:
    from dpcalc.core.command import Command

_WORDS = frozenset({"name", "curve", "conversion", "status", "witness", "digits", "source", "assumptions", "errata"})


def replay(record: Record) -> Answer:
    """The answer with the recorded rows. Raises DpcalcError where the parameters do not ask such a question."""
    from dpcalc.core.validate import validate

    command = command_of(record)
    given = validate(command, {**record["options"], "format": "json"}, given_inputs(record))
    given.recorded = partial(_rows, record)
    return with_cautions(command.answer(given), given.inputs)._replace(options=record["options"],
                                                                       inputs=tuple(record["inputs"]))


def command_of(record: Record) -> Command:
    """The calculator that was asked. Raises DpcalcError where there is none, or where it has no such options."""
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


def given_inputs(record: Record) -> tuple[Any, ...]:
    """The guarantees that were read."""
    return tuple(_guarantee(g) for g in record["inputs"])


def _guarantee(data: Any) -> Any:
    import json

    from dpcalc.accounting.guarantee import parse

    return parse(json.dumps(data), "an input of the result")


def _rows(record: Record, routes: tuple[Route, ...], given: Params, derive: Callable[[Params], Params],
          question: Question, beginning: str = "") -> tuple[Row, ...]:
    """The recorded rows of these routes that answer this question, in their order; of a comparison, those whose command
    begins so."""
    asked = question.unknown.name if question.unknown else question.asks
    found = []
    for k, data in enumerate(record["bounds"]):
        route = next((r for r in routes if _fits(r, data, question)), None)
        if not str(data.get("command", "")).startswith(beginning) and "command" in data:
            continue  # the same bound by another reading of the run
        if question.asks == "delta" and "command" in data and "--epsilon" not in str(data["command"]).split():
            continue  # a comparison asks for the total variation, too: δ at ε = 0
        if route is None or not is_number(data.get(question.asks)) or not _of_question(data, question):
            continue
        result = {name: number(x) for name, x in data.items() if name not in _WORDS and is_number(x)}
        witness = {name: number(x) if is_number(x) else x for name, x in data["witness"].items()}
        if k == 0 and is_number(record["result"].get(asked)):
            result[asked] = number(record["result"][asked])  # the headline is what counts
        if question.unknown and question.unknown.name not in result:
            continue
        solved = {question.unknown.name: _solved(question, result)} if question.unknown else {}
        bare = Route(route.bound) if question.asks == "rdp" and route.bound.kind == "rdp" else route
        found.append(Row(bare, result, witness, derive({**given, **solved})))
    return tuple(found)


def _of_question(data: Mapping[str, Any], question: Question) -> bool:
    """Whether a δ is at the ε that is asked about: a command may ask several questions (compare asks for the TV
    too)."""
    if question.asks != "delta" or question.unknown or not is_number(data.get("epsilon")):
        return True
    return number(data["epsilon"]) == question.epsilon


def _solved(question: Question, result: Mapping[str, float]) -> float:
    assert question.unknown is not None
    x = result[question.unknown.name]
    if not question.unknown.search[0] <= x <= question.unknown.search[1] and not x > 0:
        raise DpcalcError("bad-json", f"{question.unknown.option[2:]} = {x:g} is no solution")
    return int(x) if question.unknown.kind == "count" else x


def _fits(route: Route, data: Mapping[str, Any], question: Question) -> bool:
    conversion = route.conversion.name if route.conversion and question.asks != "rdp" else None
    return route.bound.name == data.get("curve", data["name"]) and conversion == data.get("conversion")


def number(x: Any) -> float:
    return float(x) if isinstance(x, str) else x
