"""The catalogue as a table, JSON, CSV, …, and one bound as text: pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from dpcalc.catalogue import Entry, answers, measured, record
from dpcalc.help import shell_lines
from dpcalc.tables import Cells, delimited, latex, markdown, paragraph, text, width
from dpcalc.theorem import lines

Entries = Sequence[Entry]


def columns(found: Entries) -> Cells:
    """For people: what to choose by."""
    header = ("bound", "status", "answers", "commands", "source")
    return header, [(e.bound.name, e.bound.status, answers(e.bound), ", ".join(e.commands), e.bound.source) for e in found]


def cells(found: Entries) -> Cells:
    """For programs and documents: the accuracy too."""
    header = ("bound", "status", "answers", "commands", "rtol", "source")
    return header, [(name, status, gives, commands, f"{e.bound.rtol:g}", source)
                    for e, (name, status, gives, commands, source) in zip(found, columns(found)[1], strict=True)]


def as_table(found: Entries) -> str:
    """A table, or a list where the terminal is too narrow for one."""
    header, rows = columns(found)
    others = sum(max(len(row[k]) for row in (header, *rows)) + 3 for k in range(len(header) - 1))
    if others + _SOURCE > width():
        return "\n".join(_listed(row) for row in rows)
    return text((header, rows), frozenset(header), frozenset(header[:-1]))


_SOURCE = 40  # columns for the sources, at least


def _listed(row: Sequence[str]) -> str:
    name, status, gives, commands, source = row
    return paragraph([f"{name} [{status}]: {gives}", f"  {commands}", f"  {source}"], "  ")


def as_json(found: Entries) -> str:
    return json.dumps([record(e) for e in found], indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(found: Entries) -> str:
    return "\n".join(json.dumps(record(e), ensure_ascii=False, allow_nan=False) for e in found)


FORMATS: dict[str, Callable[[Entries], str]] = {
    "table": as_table,
    "json": as_json,
    "jsonl": as_jsonl,
    "csv": lambda found: delimited(cells(found), ","),
    "tsv": lambda found: delimited(cells(found), "\t"),
    "markdown": lambda found: markdown(cells(found)),
    "latex": lambda found: latex(cells(found)),
}


# --- one bound -------------------------------------------------------------------------------------------------------


def explained(entry: Entry) -> str:
    """Everything about a bound, for a person."""
    known = record(entry)
    said = [*lines(entry.bound), f"  Answers: {known['answers']}", *_parameters(known["parameters"]), *_proof(known),
             f"  Accuracy: {known['accuracy']}", *_measured(measured(entry.bound.name)),
             f"  Used by: {', '.join(known['commands'])}"]
    example = shell_lines(f"  Example: {known['example']}", width())
    return "\n".join([paragraph(said, "  "), *example])


def _parameters(rows: list[dict[str, str]]) -> list[str]:
    return [f"  Parameter: {row['name']}{' ' + row['symbol'] if row['symbol'] else ''}: {row['meaning']}"
            f"{' [' + row['range'] + ']' if row['range'] else ''}" for row in rows]


def _proof(known: dict[str, Any]) -> list[str]:
    if not known["proofs"]:
        return [f"  Proof: in the source; computed in {known['file']}"]
    return [line for proof in known["proofs"] for line in
            (f"  Proof (with the statement), {proof['file']}:", *(f"    {line}" if line else "" for line in _flowing(proof["text"])))]


def _flowing(text: str) -> list[str]:
    """The paragraphs of a docstring as one line each; displayed formulas as they are."""
    found: list[str] = []
    for part in text.split("\n\n"):
        found += ["", *(part.split("\n") if part.startswith(" ") else [" ".join(part.split("\n"))])]
    return found[1:]


def _measured(row: dict[str, Any] | None) -> list[str]:
    """The measured accuracy, key by key, as its table has it."""
    return [f"  Measured: {', '.join(f'{key} {value}' for key, value in row.items())}"] if row else []
