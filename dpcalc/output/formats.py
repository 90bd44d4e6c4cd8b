"""The output formats of --format: a record for each, with the function that writes any document, and what goes with
it. What else prints, reads or names formats takes them from here."""

import io
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.core.strict_json import dumps, indented
from dpcalc.core.text import printable
from dpcalc.output.tables import TextTable, TitledTable


def _no_text(format: str) -> Callable[[], str]:
    """A form that a document lacks. Raises DpcalcError where it is printed."""
    def refuse() -> str:
        raise DpcalcError("unneeded", f"{format} is for the answer to one question", "--format")

    return refuse


class Document(NamedTuple):
    """The output of a command in every form. A form is computed only when a format prints it."""

    text: Callable[[], str]  # for people: --format table
    records: Callable[[], Any] = list  # for JSON: one object, or a list of them
    full: Callable[[], TextTable] = lambda: TextTable((), ())  # for programs: all rows, numbers in full
    # For papers: the rows of the page for people, rounded
    rounded: Callable[[], TextTable | TitledTable] = lambda: TextTable((), ())
    statement: Callable[[], str] = _no_text("statement")  # for papers: the paragraphs about the guarantee
    bibtex: Callable[[], str] = _no_text("bibtex")  # for papers: the sources of the bounds


class Format(NamedTuple):
    """A value of --format."""

    name: str
    write: Callable[[Document], str]  # the text, without a newline at its end
    suffixes: tuple[str, ...] = ()  # of files that hold it
    is_json: bool = False
    delimiter: str = ""  # of CSV and TSV
    selects_rows: bool = False  # whether only --all prints every row
    has_sentences: bool = False  # whether --explain adds to it, and it says why a point of a sweep has no answer
    has_digits: bool = False  # whether it shows --digits
    also_holds: tuple[str, ...] = ()  # other formats that its files may hold

    @property
    def is_of_lines(self) -> bool:
        """Whether a batch can be printed in it, line after line."""
        return self.is_json or bool(self.delimiter)


def render(document: Document, format: str) -> str:
    """The text of a document in the given format, a key of FORMATS, without a newline at its end."""
    return FORMATS[format].write(document)


def format_of(file: str) -> Format | None:
    """The format that the suffix of a file names, or None."""
    suffix = os.path.splitext(file)[1].lower()
    return next((format for format in FORMATS.values() if suffix in format.suffixes), None)


def _json_lines(records: Any) -> str:
    """One line of JSON for each record."""
    return "\n".join(map(dumps, records if isinstance(records, list) else [records]))


def _latex(written: TextTable | TitledTable) -> str:
    from dpcalc.output.latex import latex

    return latex(written)


def delimited(table: TextTable, delimiter: str) -> str:
    import csv

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


FORMATS = {format.name: format for format in (
    Format("table", lambda document: document.text(), selects_rows=True, has_sentences=True, has_digits=True),
    Format("json", lambda document: indented(document.records()), (".json",), is_json=True, has_sentences=True,
           has_digits=True),
    Format("jsonl", lambda document: _json_lines(document.records()), (".jsonl", ".ndjson"), is_json=True,
           has_sentences=True, has_digits=True),
    Format("csv", lambda document: delimited(document.full(), ","), (".csv",), delimiter=","),
    Format("tsv", lambda document: delimited(document.full(), "\t"), (".tsv",), delimiter="\t"),
    Format("markdown", lambda document: markdown(document.rounded()), (".md",), selects_rows=True, has_digits=True,
           also_holds=("statement",)),
    Format("latex", lambda document: _latex(document.rounded()), (".tex",), selects_rows=True, has_digits=True,
           also_holds=("statement",)),
    Format("statement", lambda document: document.statement()),
    Format("bibtex", lambda document: document.bibtex(), (".bib",), selects_rows=True),
)}
JSON_FORMATS = tuple(name for name, format in FORMATS.items() if format.is_json)
