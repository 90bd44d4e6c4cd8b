"""Every guarantee that applies to a run, by asking the calculators themselves; and why the others do not apply. No
I/O."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from dpcalc.commands import calculator
from dpcalc.commands.interpretations import READINGS, Reading
from dpcalc.commands.training_run import Run
from dpcalc.core import noise_multiplier
from dpcalc.core.command import Recorded
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import plain
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Row, guarantee_of
from dpcalc.numerics.root import Unreachable


class Asked(NamedTuple):
    """The answers of a comparison so far, by command line; `recorded` gives the rows of a record that is verified."""

    answers: dict[str, DpcalcError | Answer]
    recorded: Recorded | None


class Found(NamedTuple):
    """The rows, sharpest first, those of the run's own neighbours before others; the guarantee of the first for a pipe;
    why other bounds do not apply; and the first error of those that should have."""

    rows: tuple[Row, ...]
    guarantee: dict[str, Any]
    reasons: dict[str, str]
    error: DpcalcError | None


def guarantees(run: Run, question: Question, named: tuple[str, ...], asked: Asked, with_tv: bool = True) -> Found:
    """`asked` holds the answers there are already."""
    rows: list[tuple[Row, Answer]] = []
    failed: list[tuple[int, str, str]] = []
    error: DpcalcError | None = None
    for reading in READINGS:
        bounds, why = _bounds(reading, run, named)
        if bounds and question.unknown and reading.adjacency != run.adjacency:
            why, bounds = dict.fromkeys(bounds, _other(reading.adjacency)), ()
        failed += [(_met(reading, run), name, reason) for name, reason in why.items()]
        if not bounds:
            continue
        answer = _ask(reading, run, bounds, _question(question, run), asked)
        if isinstance(answer, EveryValueMeets) and reading.adjacency == run.adjacency:
            raise answer
        if isinstance(answer, DpcalcError):
            failed += [(99, name, answer.message) for name in bounds]
            error = error or (answer if reading.adjacency == run.adjacency else None)
            continue
        tv = _tv(reading, run, bounds, question, asked) if with_tv and not question.unknown else {}
        rows += [(_told(row, reading, run, question, tv), answer) for row in _best(answer, bounds)]
    ranked = sorted(rows, key=lambda x: (x[0].said["adjacency"] != run.adjacency, _rank(x[0], question)))
    shown = {row.route.bound.name for row, _ in ranked}
    reasons = {name: reason for _, name, reason in sorted(failed, key=lambda x: x[0]) if name not in shown}
    reasons |= {} if any(row.said["adjacency"] == run.adjacency for row, _ in ranked) else {
        row.route.bound.name: _other(row.said["adjacency"]) for row, _ in ranked}
    own = [x for x in ranked if x[0].said["adjacency"] == run.adjacency]
    return Found(tuple(row for row, _ in ranked) if own else (), _guarantee(*own[0], question) if own else {}, reasons,
                 error)


def headline(run: Run, question: Question, named: tuple[str, ...], asked: Asked) -> Row | None:
    """The sharpest row for the run's own neighbours."""
    found = guarantees(run, question, named, asked, with_tv=False).rows
    return found[0] if found else None


def _other(adjacency: str) -> str:
    return f"is for {adjacency} neighbours (--adjacency {adjacency})"


# --- asking ----------------------------------------------------------------------------------------------------------


def _bounds(reading: Reading, run: Run, named: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The bounds of a reading to ask for, and why not the others."""
    reason = reading.fails(run)
    mine = tuple(name for name in reading.bounds if not named or name in named)
    if reason:
        return (), dict.fromkeys(mine, reason)
    return mine, {}


def _met(reading: Reading, run: Run) -> int:
    """How many of its conditions hold before the first that does not: the reason worth telling is that of the nearest
    reading."""
    return next((k for k, c in enumerate(reading.conditions) if not c.holds(run)), len(reading.conditions))


def _question(question: Question, run: Run) -> dict[str, Any]:
    """The question as options."""
    if question.unknown:
        return {"epsilon": question.epsilon, "delta": question.delta, "solve": "sigma"}
    return {"sigma": run.sigma,
            **({"delta": question.delta} if question.asks == "epsilon" else {"epsilon": question.epsilon})}


def _ask(reading: Reading, run: Run, bounds: tuple[str, ...], question: Mapping[str, Any],
         asked: Asked) -> Answer | DpcalcError:
    """The command's own answer, or why it has none."""
    from dpcalc.core.validate import validate

    said = {**reading.parameters(run), **question,
            "bound": (*bounds, *_CONVERSION[any(b.endswith("-rdp") for b in bounds)])}
    line = command_line(reading.command, said)
    if line not in asked.answers:
        # of the recorded rows that are this reading's
        beginning = command_line(reading.command, reading.parameters(run)) + " "
        given = validate(calculator(reading.command), said)
        given.recorded = asked.recorded and partial(asked.recorded, beginning=beginning)
        try:
            asked.answers[line] = calculator(reading.command).answer(given)
        except (OutOfScope, NoSolution) as reason:
            asked.answers[line] = reason
        except (OverflowError, ZeroDivisionError, Unreachable):
            asked.answers[line] = NoSolution("no-solution", "leads outside the range of double precision")
    return asked.answers[line]


_CONVERSION = {True: ("rdp-optimal",), False: ()}


def command_line(command: str, said: Mapping[str, Any]) -> str:
    """The call that a person would type. Every number is read back as it was."""
    words = [f"dpcalc {command}"]
    for name, value in said.items():
        for one in value if isinstance(value, tuple) else (value,):
            words.append(f"{flag(name)} {plain(float(one)) if isinstance(one, float) else one}")
    return " ".join(words)


def _best(answer: Answer, bounds: tuple[str, ...]) -> list[Row]:
    """The sharpest proven row of each of the bounds."""
    first: dict[str, Row] = {}
    for row in answer.rows:
        if row.route.bound.status == "proven" and row.route.bound.name in bounds:
            first.setdefault(row.route.bound.name, row)
    return list(first.values())


def _tv(reading: Reading, run: Run, bounds: tuple[str, ...], question: Question, asked: Asked) -> dict[str, float]:
    """δ at ε = 0 by every bound that gives it."""
    answer = _ask(reading, run, bounds, {"sigma": run.sigma, "epsilon": 0.0}, asked)
    return {row.route.bound.name: row.result["delta"] for row in _best(answer, bounds)} if isinstance(answer,
                                                                                                      Answer) else {}


def _told(row: Row, reading: Reading, run: Run, question: Question, tv: Mapping[str, float]) -> Row:
    """A row with its total variation, its neighbours, what it assumes, and the command that gives it alone."""
    name = row.route.bound.name
    via = (row.route.conversion.name,) if row.route.conversion else ()
    line = command_line(reading.command, {**reading.parameters(run), **_question(question, run), "bound": (name, *via)})
    if question.unknown and question.unknown.name == noise_multiplier.NAME:
        row = row._replace(result={**row.result, noise_multiplier.NAME: run.multiplier(row.result["sigma"])})
    if not question.unknown:
        row = row._replace(result={**row.result, "tv": tv.get(name, _tv_of_point(row))})
    return row._replace(said={"adjacency": reading.adjacency, "assumes": reading.assumes(run), "command": line},
                        notes=tuple(f"{name}: {note}" for note in row.notes))


def _tv_of_point(row: Row) -> float:
    """TV from the row's own (ε, δ)."""
    from dpcalc.bounds.conversions import dp_tv

    return dp_tv.value(row.result["epsilon"], row.result["delta"])["tv"]


def _rank(row: Row, question: Question) -> float:
    asked = question.unknown.name if question.unknown else "log_delta" if question.asks == "delta" else question.asks
    return row.result[asked]


def _guarantee(row: Row, answer: Answer, question: Question) -> dict[str, Any]:
    """That of the command where its headline is ours, else the point."""
    first = answer.rows[0]
    if first.route == row.route and answer.guarantee["kind"] != "dp":
        return answer.guarantee
    epsilon = question.epsilon if question.asks == "delta" else row.result["epsilon"]
    return guarantee_of(epsilon, row.result["delta"])


def known() -> tuple[str, ...]:
    """The bounds that --bound can name."""
    return tuple(sorted({name for reading in READINGS for name in reading.bounds}))
