"""The output formats of --format: one function for each, which writes any document."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dpcalc.core.strict_json import dumps, indented
from dpcalc.core.text import printable
from dpcalc.output.latex import latex
from dpcalc.output.tables import TextTable
from dpcalc.output.titled_table import TitledTable


def _no_table() -> TextTable:
    return TextTable((), ())


def _no_text(format: str) -> Callable[[], str]:
    """A form that a document lacks. Raises DpcalcError where it is printed."""
    def refuse() -> str:
        from dpcalc.core.errors import DpcalcError

        raise DpcalcError("unneeded", f"{format} is for the answer to one question", "--format")

    return refuse


class Document(NamedTuple):
    """The output of a command in every form. A form is computed only when a format prints it."""

    text: Callable[[], str]  # for people: --format table
    records: Callable[[], Any] = list  # for JSON: one object, or a list of them
    full: Callable[[], TextTable] = _no_table  # for programs: all rows, numbers in full
    rounded: Callable[[], TextTable | TitledTable] = _no_table  # for papers: the rows of the page for people, rounded
    statement: Callable[[], str] = _no_text("statement")  # for papers: the paragraphs about the guarantee
    bibtex: Callable[[], str] = _no_text("bibtex")  # for papers: the sources of the bounds


def render(document: Document, format: str) -> str:
    """The text of a document in the given format, a key of FORMATS, without a newline at its end."""
    return FORMATS[format](document)


# Suffix of a file → the format of its content.
_OF_SUFFIX = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".md": "markdown",
              ".tex": "latex", ".bib": "bibtex"}


def format_of(file: str) -> str | None:
    """The format that the suffix of a file names, or None."""
    return _OF_SUFFIX.get(os.path.splitext(file)[1].lower())


def _json_lines(records: Any) -> str:
    """One line of JSON for each record."""
    return "\n".join(map(dumps, records if isinstance(records, list) else [records]))


def delimited(table: TextTable, delimiter: str) -> str:
    import csv
    import io

    out = io.StringIO()
    rows = (map(spreadsheet_cell, row) for row in (table.header, *table.rows))
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().rstrip("\n")


def spreadsheet_cell(text: str) -> str:
    """A printable cell of CSV or TSV. A text that a spreadsheet would compute as a formula begins with an
    apostrophe."""
    return f"'{printable(text)}" if text[:1] in _FORMULAS and not _is_number(text) else printable(text)


_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what formulas begin with


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def markdown(written: TextTable | TitledTable) -> str:
    """A table of GitHub's Markdown, with its title above it and the words below it in paragraphs of their own."""
    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(printable(cell).replace("|", "\\|") for cell in row) + " |"

    table = written if isinstance(written, TextTable) else written.labelled
    aligned = ["---" if name in table.left else "---:" for name in table.header]
    lines = "\n".join(map(line, (table.header, aligned, *table.rows)))
    if isinstance(written, TextTable):
        return lines
    return "\n\n".join((printable(written.title), lines, printable(" ".join(written.below))))


DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS: dict[str, Callable[[Document], str]] = {
    "table": lambda document: document.text(),
    "json": lambda document: indented(document.records()),
    "jsonl": lambda document: _json_lines(document.records()),
    "csv": lambda document: delimited(document.full(), DELIMITERS["csv"]),
    "tsv": lambda document: delimited(document.full(), DELIMITERS["tsv"]),
    "markdown": lambda document: markdown(document.rounded()),
    "latex": lambda document: latex(document.rounded()),
    "statement": lambda document: document.statement(),
    "bibtex": lambda document: document.bibtex(),
}
