"""The catalogue of bounds as a document, and the text of `dpcalc explain` about one bound, topic, command or option."""

import textwrap
from collections.abc import Sequence
from typing import Any

from dpcalc.commands.catalogue import Entry, answers, entries, record
from dpcalc.core.text import shell_lines
from dpcalc.output.formats import Document
from dpcalc.output.tables import PIPE_WIDTH, TextTable, aligned, heading, paragraph, width
from dpcalc.output.theorem import bibtex, lines, short_source


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
    examples = record["examples"] if record["kind"] == "command" else [record["example"]] if "example" in record else []
    if record["kind"] == "topic":
        return _topic(record)
    if record["kind"] == "command":
        said = [f"dpcalc {record['name']}: {record['help']}", f"  {record['asks']}",
                f"  Bounds: {', '.join(record['bounds'])}"]
    elif record["kind"] == "option":
        said = [_quantity(record), f"  Option of: {', '.join(record['commands'])}"]
    else:
        said = _bound_lines(record)
    shown = (part for line in examples for part in shell_lines(f"  Example: {line}", width()))
    return "\n".join([paragraph(said, "  "), *shown])


def _topic(record: dict[str, Any]) -> str:
    """The title, the paragraphs, and commands with the results that they print."""
    wide = min(width(), PIPE_WIDTH)  # longer lines of prose are hard to read
    text = [textwrap.fill(part, wide, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            for part in record["text"]]
    shown = [f"  {part}" for line, result in zip(record["examples"], record["results"], strict=True)
             for part in (*shell_lines(line, wide - 2), f"    → {result}")]
    return "\n\n".join([heading(f"{record['name']}: {record['title']}"), *text, "\n".join(shown)])


def _quantity(record: dict[str, Any]) -> str:
    """A parameter or option: its name, its symbol where that differs from the name, its meaning and its range."""
    name, symbol = record["name"], record["symbol"]
    named = f"{name} {symbol}" if symbol not in ("", name) else name
    limits = f" [{record['range']}]" if record["range"] else ""
    return f"{named}: {record['meaning']}{limits}"


def _bound_lines(record: dict[str, Any]) -> list[str]:
    found = [*lines(entries()[record["name"]].bound), f"  Answers: {record['answers']}",
             *(f"  Parameter: {_quantity(parameter)}" for parameter in record["parameters"])]
    for proof in record["proofs"]:
        found += [f"  Proof (with the statement), {proof['file']}:",
                  *(f"    {line}" if line else "" for line in _unwrapped(proof["text"]))]
    if not record["proofs"]:
        found.append(f"  Proof: {record['proof']}; computed in {record['file']}")
    found.append(f"  Accuracy: {record['accuracy']}")
    if measured := record["measured"]:
        allowed = "" if measured["claimed"] is None else f" ({measured['claimed']:g} allowed)"
        found.append(f"  Measured: at worst {measured['worst']:g}{allowed}, in the same units, over "
                     f"{measured['points']} points against the formula enclosed in ball arithmetic")
    return [*found, f"  Used by: {', '.join(record['commands'])}"]


def _unwrapped(docstring: str) -> list[str]:
    """The paragraphs of a docstring as one line each; displayed formulas as they are."""
    found: list[str] = []
    for part in docstring.split("\n\n"):
        found += ["", *(part.split("\n") if part.startswith(" ") else [part.replace("\n", " ")])]
    return found[1:]
