"""A header and lines of text as CSV, TSV, Markdown, LaTeX or an aligned table."""

from __future__ import annotations

import io
from collections.abc import Sequence

Cells = tuple[tuple[str, ...], list[tuple[str, ...]]]


def delimited(table: Cells, delimiter: str) -> str:
    import csv

    out = io.StringIO()
    header, body = table
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([header, *body])
    return out.getvalue().rstrip("\n")


def markdown(table: Cells) -> str:
    header, body = table

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|") for c in row) + " |"

    return "\n".join([line(header), "| " + " | ".join("---" for _ in header) + " |", *(line(r) for r in body)])


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "ε": r"$\varepsilon$", "δ": r"$\delta$",
          "α": r"$\alpha$",
          "σ": r"$\sigma$", "μ": r"$\mu$", "ρ": r"$\rho$"}


def latex(table: Cells) -> str:
    header, body = table

    def line(row: Sequence[str]) -> str:
        return " & ".join("".join(_LATEX.get(c, c) for c in cell) for cell in row) + r" \\"

    return "\n".join([rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\hline", line(header), r"\hline",
                      *(line(r) for r in body), r"\hline", r"\end{tabular}"])


PIPE_WIDTH = 100  # columns, where there is no terminal: what an editor or a web page shows without scrolling
LEAST_WIDTH = 40  # columns: below it a line cannot hold a number with its name
LARGEST = 1000  # columns or lines: above it COLUMNS or LINES is a mistake, and a drawing would take seconds


def terminal_size(columns: int, lines: int = 24) -> tuple[int, int]:
    """Columns and lines: COLUMNS and LINES where they are set, else the terminal's, else these."""
    import shutil

    try:
        found = shutil.get_terminal_size((columns, lines))
    except ValueError:  # a COLUMNS of thousands of digits
        return LARGEST, lines
    return min(found.columns, LARGEST), min(found.lines, LARGEST)


def width() -> int:
    """Columns for tables and sentences."""
    return max(terminal_size(PIPE_WIDTH)[0], LEAST_WIDTH)


def _holds_lines() -> bool:
    """Whether the encoding of the output has the rule below a header."""
    import sys

    try:
        "─".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


_GAP, LEAST_WORDS = 3, 30  # columns between two columns; for a sentence, at least


def text(table: Cells, left: frozenset[str], words: frozenset[str]) -> str:
    """Aligned columns, those in `left` to the left. Where the width is too small, the columns in `words` are wrapped,
    then the headers, and at last every line becomes a block of `name: value` lines: a number or a name is never cut,
    wrapped or left out."""
    header, body = table
    for names in (header, _wrapped_names(table)):
        if _needed(names, table, words) <= width():
            return _drawn((names, body), [name in left for name in header], [name in words for name in header])
    return _blocks(table)


def _needed(names: Sequence[str], table: Cells, words: frozenset[str]) -> int:
    header, body = table
    least = [LEAST_WORDS if name in words else 10**9 for name in header]
    sizes = (max(len(line) for line in (*names[k].split("\n"), *(row[k] for row in body))) for k in range(len(header)))
    return sum(map(min, sizes, least)) + _GAP * (len(header) - 1)


def _wrapped_names(table: Cells) -> tuple[str, ...]:
    """Headers broken after spaces and hyphens, as narrow as their columns."""
    import re
    import textwrap

    header, body = table
    sizes = [max(len(part) for part in (*re.split(r"(?<=-)| ", name), *(row[k] for row in body))) for k,
             name in enumerate(header)]
    return tuple("\n".join(textwrap.wrap(name, size)) for name, size in zip(header, sizes, strict=True))


def _blocks(table: Cells) -> str:
    header, body = table
    lines = [[f"{name}: {cell}" for name, cell in zip(header, row, strict=True) if cell] for row in body]
    return "\n\n".join(paragraph(block, "  ") for block in lines) + "\n"


def _drawn(table: Cells, left: Sequence[bool], words: Sequence[bool]) -> str:
    from rich.box import SIMPLE_HEAD, Box
    from rich.console import Console
    from rich.table import Table

    header, body = table
    box = SIMPLE_HEAD if _holds_lines() else Box(str(SIMPLE_HEAD).replace("─", "-"), ascii=True)
    drawn = Table(box=box, pad_edge=False, show_edge=False)
    for name, to_left, wraps in zip(header, left, words, strict=True):
        drawn.add_column(name, justify="left" if to_left else "right", no_wrap=not wraps, overflow="fold")
    for line in body:
        drawn.add_row(*line)
    console = Console(file=io.StringIO(), width=width(), no_color=True, highlight=False, markup=False, emoji=False,
                      force_terminal=False, legacy_windows=False)
    console.print(drawn)
    return trimmed(console.file.getvalue())  # type: ignore[attr-defined]


def paragraph(lines: Sequence[str], indent: str = "") -> str:
    """Lines of words, wrapped to the width; continued with their own indent and `indent`."""
    columns = width()
    return "\n".join(part for line in lines for part in (_wrapped(line, columns, indent) or [""]))


def _wrapped(line: str, width: int, indent: str) -> list[str]:
    import textwrap

    own = line[: len(line) - len(line.lstrip(" "))]
    return textwrap.wrap(line, width, subsequent_indent=own + indent, break_on_hyphens=False,
                         break_long_words=False)


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))
