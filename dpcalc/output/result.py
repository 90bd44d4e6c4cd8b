"""The answers of the Python API: the record that --json prints, and its table for a notebook."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from html import escape
from typing import Any

from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Answer
from dpcalc.output.answer import document, headline, holds_for, main_table, notes_beside_headline, record
from dpcalc.output.formats import FORMATS, render


class Result:
    """An answer: `value` is the number asked for, which holds by the theorem `bound`.

    Every other attribute is a key of the JSON envelope dpcalc/v1. `inputs=[result, …]` passes its guarantee to the next
    question.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    @property
    def value(self) -> float:
        """The number asked for, in full: ε, δ, the RDP, …, or the parameter solved for. Raises DpcalcError where the
        call only describes a mechanism."""
        if self._answer.table or not self._answer.rows:
            name = self._answer.command
            raise DpcalcError("missing", "this answer is a table, which text() prints" if self._answer.table else
                              "this answer describes a mechanism and has no number; ask for one with delta=…, "
                              f"epsilon=… or alpha=…, as in answer({name!r}, …, delta=1e-5), or pass it on, as in "
                              "answer('convert', inputs=[it], delta=1e-5)")
        return self._answer.value

    @property
    def result(self) -> dict[str, float]:
        """The number asked for and its companions, by name."""
        rows = self._answer.rows
        return {**self._answer.extra, **(rows[0].result if rows else {})}

    @property
    def bound(self) -> str | None:
        """The name of the sharpest proven bound, whose number `value` is."""
        return self._answer.rows[0].route.label if self._answer.rows else None

    @property
    def status(self) -> str | None:
        """`proven`, or as-published, conjecture, limit, lower, model; with those the number is not a guarantee."""
        return self._answer.rows[0].status if self._answer.rows else None

    @property
    def bounds(self) -> tuple[dict[str, Any], ...]:
        """Every bound that applies, the sharpest first: its numbers, the free choices that prove them, source,
        assumptions, errata."""
        pairs = zip(self._record["bounds"], self._answer.rows, strict=True)
        return tuple({**record, **row.result, "witness": {**record["witness"], **row.witness}} for record, row in pairs)

    @property
    def guarantee(self) -> dict[str, Any]:
        """The guarantee that the next question reads as its input."""
        return self._answer.piped_guarantee

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter after validation, with defaults."""
        return dict(self._answer.parameters)

    @property
    def solved(self) -> str | None:
        """The parameter that was solved for, under the name of its option."""
        solved: str | None = self._record["solved"]
        return solved

    @property
    def adjacency(self) -> str:
        """Which data sets are neighbours."""
        return self._answer.adjacency

    @property
    def released(self) -> str:
        """What the adversary sees."""
        return self._answer.released

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know to use the number."""
        return self._answer.all_notes

    @property
    def refuted(self) -> bool | None:
        """Whether an audit refutes the claim at its confidence; None where there is no claim, or no audit."""
        return self._answer.refuted

    @property
    def promises(self) -> tuple[str, ...]:
        """What must hold for the number, as its question does not settle it."""
        return self._answer.promises

    def record(self) -> dict[str, Any]:
        """The JSON envelope as a dict; infinities are the text "inf"."""
        return dict(self._record)

    def json(self) -> str:
        """The same text as --json."""
        return self.text("json")

    def text(self, format: str = "table", explain: bool = False, every_row: bool = False) -> str:
        """The text that --format prints: table, json, jsonl, csv, tsv, markdown, latex, statement, bibtex.

        `explain` adds the theorems, as --explain does; `every_row` shows all rows of a table, as --all does.
        """
        if format not in FORMATS:
            raise DpcalcError("unknown-value", f"{format!r} is not one of {', '.join(FORMATS)}", "--format")
        answer = self._answer._replace(every_row=every_row or self._answer.every_row)
        return render(document(answer, explain), format)

    @cached_property
    def _record(self) -> Mapping[str, Any]:
        return record(self._answer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy and pickle ask for these before the answer is set
            raise AttributeError(name)
        raise AttributeError(f"an answer has no {name!r}; {self._keys()}")

    def __getitem__(self, key: Any) -> Any:
        raise TypeError(f"an answer is no dict; {self._keys()}")

    def _keys(self) -> str:
        """Where the numbers of the answer stand."""
        value = ".value is the number asked for, " if self._answer.rows else ""
        return f"{value}.result has {', '.join(self.result)}, and .record() is the whole JSON"

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return self.text() if self._answer.rows or self._answer.table else self.json()

    def __repr__(self) -> str:
        answer = self._answer
        return f"<{headline(answer) if answer.rows else f'{answer.command}: a description, no number'}>"

    def _repr_html_(self) -> str:
        if not self._answer.rows and not self._answer.table:
            return f"<pre>{escape(self.json())}</pre>"
        shown = self._answer.with_best_rows
        table = main_table(shown)
        title = f"<p><b>{escape(headline(shown))}</b></p>" if shown.rows else ""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
        notes = " ".join(f"{note}." for note in notes_beside_headline(shown))
        below = f"{holds_for(self._answer)} {notes}"
        html = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f"{title}{html}<p><small>{escape(below)}</small></p>"


Input = Result | Mapping[str, Any]


def given_inputs(command: Command, inputs: Iterable[Input]) -> tuple[Any, ...]:
    """The guarantees in `inputs`, earlier answers or objects as in JSON, validated."""
    items = [inputs] if isinstance(inputs, Result | Mapping) else list(inputs)
    if items and not command.inputs:
        raise DpcalcError("unneeded", f"dpcalc {command.name} reads no guarantee", "--input")
    from dpcalc.accounting.guarantee import read

    return tuple(read(_read_of(x) if isinstance(x, Result) else x, f"input {k}") for k, x in enumerate(items, 1))


def _read_of(x: Result) -> dict[str, Any]:
    """What the next command reads of a result: its guarantee and its adjacency, the δ of its question, and whether it
    is an audit."""
    delta = x.result.get("delta", x.parameters.get("delta"))
    return {"schema": "dpcalc/v1", "command": x._answer.command, "adjacency": x.adjacency, "guarantee": x.guarantee,
            "result": {"delta": delta}}
