"""The output formats of --format: one function for each, which writes any document."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dpcalc.output.tables import TextTable


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
    records: Callable[[], Any]  # for JSON: one object, or a list of them
    full: Callable[[], TextTable] = _no_table  # for programs: all rows, numbers in full
    rounded: Callable[[], TextTable] = _no_table  # for papers: the rows of the page for people, rounded
    statement: Callable[[], str] = _no_text("statement")  # for papers: the paragraphs about the guarantee
    bibtex: Callable[[], str] = _no_text("bibtex")  # for papers: the sources of the bounds


def render(document: Document, format: str) -> str:
    """The text of a document in the given format, a key of FORMATS, without a newline at its end."""
    return FORMATS[format](document)


def json_text(value: Any) -> str:
    """Indented JSON. Raises ValueError for infinities and NaN, which JSON does not have."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def _json_lines(records: Any) -> str:
    """One line of JSON for each record."""
    lines = records if isinstance(records, list) else [records]
    return "\n".join(json.dumps(line, ensure_ascii=False, allow_nan=False) for line in lines)


def _delimited(table: TextTable, delimiter: str) -> str:
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([table.header, *table.rows])
    return out.getvalue().rstrip("\n")


def markdown(table: TextTable) -> str:
    """A table of GitHub's Markdown."""
    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

    return "\n".join(map(line, (table.header, ["---"] * len(table.header), *table.rows)))


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "ε": r"$\varepsilon$", "δ": r"$\delta$",
          "α": r"$\alpha$", "σ": r"$\sigma$", "μ": r"$\mu$", "ρ": r"$\rho$"}


def _latex(table: TextTable) -> str:
    """A tabular environment that needs no package."""
    def line(row: Sequence[str]) -> str:
        return " & ".join("".join(_LATEX.get(c, c) for c in cell) for cell in row) + r" \\"

    return "\n".join([rf"\begin{{tabular}}{{{'l' * len(table.header)}}}", r"\hline", line(table.header), r"\hline",
                      *map(line, table.rows), r"\hline", r"\end{tabular}"])


FORMATS: dict[str, Callable[[Document], str]] = {
    "table": lambda document: document.text(),
    "json": lambda document: json_text(document.records()),
    "jsonl": lambda document: _json_lines(document.records()),
    "csv": lambda document: _delimited(document.full(), ","),
    "tsv": lambda document: _delimited(document.full(), "\t"),
    "markdown": lambda document: markdown(document.rounded()),
    "latex": lambda document: _latex(document.rounded()),
    "statement": lambda document: document.statement(),
    "bibtex": lambda document: document.bibtex(),
}
