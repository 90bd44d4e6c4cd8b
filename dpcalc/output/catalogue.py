"""The catalogue as a table, JSON, CSV, …, and one bound as text: pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from dpcalc.commands.catalogue import Entry, answers, entries, record
from dpcalc.core.text import shell_lines
from dpcalc.output.tables import Cells, delimited, latex, markdown, paragraph, text, width
from dpcalc.output.theorem import lines, short_source

Entries = Sequence[Entry]


def columns(found: Entries) -> Cells:
    """For people: what to choose by."""
    header = ("bound", "status", "answers", "commands", "source")
    return header, [(e.bound.name, e.bound.status, answers(e.bound), ", ".join(e.commands),
                     short_source(e.bound.source)) for e in found]


def cells(found: Entries) -> Cells:
    """For programs and documents: the accuracy and the whole source too."""
    header = ("bound", "status", "answers", "commands", "rtol", "source")
    return header, [(e.bound.name, e.bound.status, answers(e.bound), ", ".join(e.commands), f"{e.bound.rtol:g}",
                     e.bound.source)
                    for e in found]


def as_table(found: Entries) -> str:
    """A table, or a list where the terminal is too narrow for one."""
    header, rows = columns(found)
    others = sum(max(len(row[k]) for row in (header, *rows)) + 3 for k in range(len(header) - 1))
    if others + _SOURCE > width():
        return "\n".join(_listed(row) for row in rows)
    return text((header, rows), frozenset(header), frozenset(header[-1:]))


_SOURCE = 40  # columns for the sources, at least


def _listed(row: Sequence[str]) -> str:
    name, status, gives, commands, source = row
    return paragraph([f"{name} [{status}]: {gives}", f"  {commands}", f"  {source}"], "  ")


def json_of(records: Sequence[dict[str, Any]]) -> str:
    return json.dumps(records, indent=2, ensure_ascii=False, allow_nan=False)


def jsonl_of(records: Sequence[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(r, ensure_ascii=False, allow_nan=False) for r in records)


FORMATS: dict[str, Callable[[Entries], str]] = {
    "table": as_table,
    "json": lambda found: json_of([record(e) for e in found]),
    "jsonl": lambda found: jsonl_of([record(e) for e in found]),
    "csv": lambda found: delimited(cells(found), ","),
    "tsv": lambda found: delimited(cells(found), "\t"),
    "markdown": lambda found: markdown(cells(found)),
    "latex": lambda found: latex(cells(found)),
}


# --- one name --------------------------------------------------------------------------------------------------------


def explained(known: dict[str, Any]) -> str:
    """Everything about a bound, or in short a command or an option, for a person."""
    said, example = _LINES.get(known["kind"], _bound)(known)
    return "\n".join([paragraph(said, "  "),
                      *(part for line in example for part in shell_lines(f"  Example: {line}", width()))])


def _bound(known: dict[str, Any]) -> tuple[list[str], list[str]]:
    return ([*lines(entries()[known["name"]].bound), f"  Answers: {known['answers']}",
             *_parameters(known["parameters"]), *_proof(known),
             f"  Accuracy: {known['accuracy']}", *_measured(known["measured"]),
             f"  Used by: {', '.join(known['commands'])}"],
            [known["example"]])


def _command(known: dict[str, Any]) -> tuple[list[str], list[str]]:
    return [f"dpcalc {known['name']}: {known['help']}", f"  {known['asks']}",
            f"  Bounds: {', '.join(known['bounds'])}"], known["examples"]


def _option(known: dict[str, Any]) -> tuple[list[str], list[str]]:
    symbol, limits = f" {known['symbol']}" if known["symbol"] else "", f" [{known['range']}]" if known["range"] else ""
    return [f"{known['name']}{symbol}: {known['meaning']}{limits}", f"  Option of: {', '.join(known['commands'])}"], []


_LINES: dict[str, Callable[[dict[str, Any]], tuple[list[str], list[str]]]] = {"command": _command, "option": _option}


def _parameters(rows: list[dict[str, str]]) -> list[str]:
    return [f"  Parameter: {row['name']}{' ' + row['symbol'] if row['symbol'] not in ('', row['name']) else ''}: "
            f"{row['meaning']}"
            f"{' [' + row['range'] + ']' if row['range'] else ''}" for row in rows]


def _proof(known: dict[str, Any]) -> list[str]:
    if not known["proofs"]:
        return [f"  Proof: {known['proof']}; computed in {known['file']}"]
    return [line for proof in known["proofs"] for line in
            (f"  Proof (with the statement), {proof['file']}:",
             *(f"    {line}" if line else "" for line in _flowing(proof["text"])))]


def _flowing(text: str) -> list[str]:
    """The paragraphs of a docstring as one line each; displayed formulas as they are."""
    found: list[str] = []
    for part in text.split("\n\n"):
        found += ["", *(part.split("\n") if part.startswith(" ") else [" ".join(part.split("\n"))])]
    return found[1:]


def _measured(row: dict[str, Any] | None) -> list[str]:
    if not row:
        return []
    allowed = "" if row["claimed"] is None else f" ({row['claimed']:g} allowed)"
    return [f"  Measured: at worst {row['worst']:g}{allowed}, in the same units, over {row['points']} points against "
            f"the formula "
            "enclosed in ball arithmetic"]
