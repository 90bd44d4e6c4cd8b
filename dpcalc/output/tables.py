"""A table of text, aligned to the width of the terminal, and paragraphs wrapped to that width."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

PIPE_WIDTH = 100  # columns where there is no terminal: what an editor or a web page shows without scrolling
LEAST_WIDTH = 40  # columns: on a narrower line a number does not fit beside its name
LARGEST_SIZE = 1000  # columns or lines: a larger COLUMNS or LINES is a mistake, and drawing it would take seconds
LEAST_SENTENCE = 30  # columns: a sentence wrapped to fewer is hard to read
_COLUMN_SPACE = 3  # between two columns


class TextTable(NamedTuple):
    """A header and rows of text. Columns are named by their header."""

    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: frozenset[str] = frozenset()  # columns aligned to the left; the others, numbers, to the right
    sentences: frozenset[str] = frozenset()  # columns that may be wrapped

    def column(self, index: int) -> list[str]:
        return [row[index] for row in self.rows]

    def room_for_last_column(self) -> int:
        """The number of characters that the other columns leave to the last one on the terminal."""
        widths = (max(map(len, (name, *self.column(k)))) for k, name in enumerate(self.header[:-1]))
        return width() - sum(w + _COLUMN_SPACE for w in widths)


def terminal_size(columns: int, lines: int = 24) -> tuple[int, int]:
    """(Columns, lines): the environment variables COLUMNS and LINES, or else the size of the terminal, or else the
    given numbers."""
    import shutil

    try:
        found = shutil.get_terminal_size((columns, lines))
    except ValueError:  # COLUMNS has thousands of digits
        return LARGEST_SIZE, lines
    return min(found.columns, LARGEST_SIZE), min(found.lines, LARGEST_SIZE)


def width() -> int:
    """The number of columns for tables and paragraphs."""
    return max(terminal_size(PIPE_WIDTH)[0], LEAST_WIDTH)


def aligned(table: TextTable) -> str:
    """The table in aligned columns.

    Where the terminal is too narrow, the columns of sentences are wrapped; if that does not suffice, the headers, too;
    and if that does not suffice, each row becomes a block of `name: value` lines. Numbers and names are always whole.
    """
    for names in (table.header, _wrapped_header(table)):
        if _least_width(table, names) <= width():
            return _drawn(table, names)
    blocks = [[f"{name}: {cell}" for name, cell in zip(table.header, row, strict=True) if cell] for row in table.rows]
    return "\n\n".join(paragraph(block, "  ") for block in blocks) + "\n"


def _least_width(table: TextTable, names: Sequence[str]) -> int:
    """The least width in characters of the table with these headers, which may have several lines."""
    total = _COLUMN_SPACE * (len(names) - 1)
    for k, name in enumerate(names):
        widest = max(map(len, (*name.split("\n"), *table.column(k))))
        total += min(widest, LEAST_SENTENCE) if table.header[k] in table.sentences else widest
    return total


def _wrapped_header(table: TextTable) -> tuple[str, ...]:
    """The headers, wrapped at spaces and hyphens to the width of the cells below them, or of their longest word."""
    import textwrap

    widths = [max(map(len, (*re.split(r"(?<=-)| ", name), *table.column(k)))) for k, name in enumerate(table.header)]
    return tuple("\n".join(textwrap.wrap(name, size)) for name, size in zip(table.header, widths, strict=True))


def _drawn(table: TextTable, names: Sequence[str]) -> str:
    from rich.box import SIMPLE_HEAD, Box
    from rich.console import Console
    from rich.table import Table

    box = SIMPLE_HEAD if _can_encode("─") else Box(str(SIMPLE_HEAD).replace("─", "-"), ascii=True)
    drawn = Table(box=box, pad_edge=False, show_edge=False)
    for column, name in zip(table.header, names, strict=True):
        drawn.add_column(name, justify="left" if column in table.left else "right",
                         no_wrap=column not in table.sentences, overflow="fold")
    for row in table.rows:
        drawn.add_row(*row)
    out = io.StringIO()
    Console(file=out, width=width(), no_color=True, highlight=False, markup=False, emoji=False, force_terminal=False,
            legacy_windows=False).print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def _can_encode(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def paragraph(lines: Sequence[str], indent: str = "") -> str:
    """The lines, each wrapped to the width. Continuation lines have the indentation of their line, and `indent`
    more."""
    return "\n".join(part for line in lines for part in (_wrapped(line, indent) or [""]))


def _wrapped(line: str, indent: str) -> list[str]:
    import textwrap

    own_indent = line[: len(line) - len(line.lstrip(" "))]
    return textwrap.wrap(line, width(), subsequent_indent=own_indent + indent, break_on_hyphens=False,
                         break_long_words=False)
