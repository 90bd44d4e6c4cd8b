"""The catalogue of bounds as a document, and the text of `dpcalc explain` about one bound, topic, command or option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcalc.commands.catalogue import Entry, answers, entries, record
from dpcalc.core.text import shell_lines
from dpcalc.output.bibtex import bibtex
from dpcalc.output.formats import Document
from dpcalc.output.tables import PIPE_WIDTH, TextTable, aligned, heading, paragraph, width
from dpcalc.output.theorem import lines, short_source


def document(found: Sequence[Entry]) -> Document:
    """The entries of the catalogue as a document. Only the page for people lacks the accuracy, and shortens the
    source."""
    return Document(lambda: _page(found), lambda: [record(entry) for entry in found], lambda: _table(found, full=True),
                    lambda: _table(found, full=True), bibtex=lambda: bibtex(entry.bound for entry in found))


def _table(found: Sequence[Entry], full: bool) -> TextTable:
    header = ("bound", "status", "answers", "commands", *(("rtol",) if full else ()), "source")
    rows = [(e.bound.name, e.bound.status, answers(e.bound), ", ".join(e.commands),
             *((f"{e.bound.rtol:g}", e.bound.source) if full else (short_source(e.bound.source),))) for e in found]
    return TextTable(header, rows, left=frozenset(header), sentences=frozenset({"source"}))


def _page(found: Sequence[Entry]) -> str:
    """A table, or a list where the terminal is too narrow for one."""
    table = _table(found, full=False)
    if table.room_for_last_column() >= 40:  # columns: most of the shortened sources fit into 40
        return aligned(table)
    return "\n".join(paragraph([f"{name} [{status}]: {gives}", f"  {commands}", f"  {source}"], "  ")
                     for name, status, gives, commands, source in table.rows)


# --- one name --------------------------------------------------------------------------------------------------------


def explained(record: dict[str, Any]) -> str:
    """The text about a bound, a topic, a command or an option, from its JSON record."""
    if record["kind"] == "topic":
        return _topic(record)
    describe = {"command": _command_lines, "option": _option_lines}.get(record["kind"], _bound_lines)
    examples = record["examples"] if record["kind"] == "command" else [record["example"]] if "example" in record else []
    shown = (part for line in examples for part in shell_lines(f"  Example: {line}", width()))
    return "\n".join([paragraph(describe(record), "  "), *shown])


def _topic(record: dict[str, Any]) -> str:
    """The title, the paragraphs, and commands with the results that they print."""
    import textwrap

    wide = min(width(), PIPE_WIDTH)  # longer lines of prose are hard to read
    text = [textwrap.fill(part, wide, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            for part in record["text"]]
    shown = [f"  {part}" for line, result in zip(record["examples"], record["results"], strict=True)
             for part in (*shell_lines(line, wide - 2), f"    → {result}")]
    return "\n\n".join([heading(f"{record['name']}: {record['title']}"), *text, "\n".join(shown)])


def _bound_lines(record: dict[str, Any]) -> list[str]:
    return [*lines(entries()[record["name"]].bound), f"  Answers: {record['answers']}",
            *map(_parameter_line, record["parameters"]), *_proof_lines(record), f"  Accuracy: {record['accuracy']}",
            *_measured_lines(record["measured"]), f"  Used by: {', '.join(record['commands'])}"]


def _command_lines(record: dict[str, Any]) -> list[str]:
    return [f"dpcalc {record['name']}: {record['help']}", f"  {record['asks']}",
            f"  Bounds: {', '.join(record['bounds'])}"]


def _option_lines(record: dict[str, Any]) -> list[str]:
    return [f"{_with_symbol(record)}: {record['meaning']}{_in_brackets(record['range'])}",
            f"  Option of: {', '.join(record['commands'])}"]


def _parameter_line(record: dict[str, str]) -> str:
    return f"  Parameter: {_with_symbol(record)}: {record['meaning']}{_in_brackets(record['range'])}"


def _with_symbol(record: dict[str, Any]) -> str:
    """The name of a parameter or option, with its symbol where that differs from the name."""
    name, symbol = record["name"], record["symbol"]
    return f"{name} {symbol}" if symbol not in ("", name) else str(name)


def _in_brackets(text: str) -> str:
    return f" [{text}]" if text else ""


def _proof_lines(record: dict[str, Any]) -> list[str]:
    if not record["proofs"]:
        return [f"  Proof: {record['proof']}; computed in {record['file']}"]
    found = []
    for proof in record["proofs"]:
        found += [f"  Proof (with the statement), {proof['file']}:",
                  *(f"    {line}" if line else "" for line in _unwrapped(proof["text"]))]
    return found


def _unwrapped(docstring: str) -> list[str]:
    """The paragraphs of a docstring as one line each; displayed formulas as they are."""
    found: list[str] = []
    for part in docstring.split("\n\n"):
        found += ["", *(part.split("\n") if part.startswith(" ") else [part.replace("\n", " ")])]
    return found[1:]


def _measured_lines(accuracy: dict[str, Any] | None) -> list[str]:
    if not accuracy:
        return []
    allowed = "" if accuracy["claimed"] is None else f" ({accuracy['claimed']:g} allowed)"
    return [f"  Measured: at worst {accuracy['worst']:g}{allowed}, in the same units, over {accuracy['points']} points "
            "against the formula enclosed in ball arithmetic"]
