"""The output formats of --format: one function for each, which writes any document."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


def json_text(value: Any) -> str:
    """Indented JSON. Raises ValueError for infinities and NaN, which JSON does not have."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def json_line(value: Any) -> str:
    """JSON on one line. Raises ValueError for infinities and NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _json_lines(records: Any) -> str:
    """One line of JSON for each record."""
    return "\n".join(map(json_line, records if isinstance(records, list) else [records]))


def delimited(table: TextTable, delimiter: str) -> str:
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([table.header, *table.rows])
    return out.getvalue().rstrip("\n")


def markdown(written: TextTable | TitledTable) -> str:
    """A table of GitHub's Markdown, with its title above it and the words below it in paragraphs of their own."""
    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

    table = written if isinstance(written, TextTable) else written.labelled
    aligned = ["---" if name in table.left else "---:" for name in table.header]
    lines = "\n".join(map(line, (table.header, aligned, *table.rows)))
    return lines if isinstance(written, TextTable) else "\n\n".join((written.title, lines, " ".join(written.below)))


DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS: dict[str, Callable[[Document], str]] = {
    "table": lambda document: document.text(),
    "json": lambda document: json_text(document.records()),
    "jsonl": lambda document: _json_lines(document.records()),
    "csv": lambda document: delimited(document.full(), DELIMITERS["csv"]),
    "tsv": lambda document: delimited(document.full(), DELIMITERS["tsv"]),
    "markdown": lambda document: markdown(document.rounded()),
    "latex": lambda document: latex(document.rounded()),
    "statement": lambda document: document.statement(),
    "bibtex": lambda document: document.bibtex(),
}
