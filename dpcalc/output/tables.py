"""Tables of text, aligned to the width of the terminal, with or without a title, and paragraphs wrapped to it."""

import io
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dpcalc.core import style
from dpcalc.core.text import can_encode, printable, printable_line, spelled

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
    dim: frozenset[str] = frozenset()  # columns that a reader may skip
    doubtful: frozenset[int] = frozenset()  # rows that are no guarantee

    def column(self, index: int) -> list[str]:
        return [row[index] for row in self.rows]

    def room_for_last_column(self) -> int:
        """The number of characters that the other columns leave to the last one on the terminal."""
        widths = (max(map(len, (name, *self.column(k)))) for k, name in enumerate(self.header[:-1]))
        return width() - sum(w + _COLUMN_SPACE for w in widths)


def terminal_size(columns: int, lines: int = 24) -> tuple[int, int]:
    """(Columns, lines): the environment variables COLUMNS and LINES, or else the size of the terminal, or else the
    given numbers. With --output, which redirects standard output, the size of the terminal does not count."""
    if sys.stdout is not sys.__stdout__ and not os.environ.get("COLUMNS"):
        return columns, lines
    import shutil  # imports archivers, which takes longer than to print a short answer

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
    table = _spelled(table)
    if names := _fitting_header(table):
        return _drawn(table, names)
    blocks = [[f"{name}: {cell}" for name, cell in zip(table.header, row, strict=True) if cell] for row in table.rows]
    return "\n\n".join(paragraph(block, "  ") for block in blocks)


def is_aligned(table: TextTable) -> bool:
    """Whether the terminal is wide enough for aligned columns."""
    return _fitting_header(_spelled(table)) is not None


def _fitting_header(table: TextTable) -> Sequence[str] | None:
    """The names above the columns, wrapped at spaces and hyphens where that is needed: to the width of the cells below
    them, or of their longest word. None where the table is too wide all the same."""
    widths = [max(map(len, (*re.split(r"(?<=-)| ", name), *table.column(k)))) for k, name in enumerate(table.header)]
    wrapped = ["\n".join(textwrap.wrap(name, size)) for name, size in zip(table.header, widths, strict=True)]
    return next((names for names in (table.header, wrapped) if _least_width(table, names) <= width()), None)


def _spelled(table: TextTable) -> TextTable:
    """The table in printable letters that standard output has."""
    def line(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(spelled(printable(text), sys.stdout.encoding) for text in texts)

    return TextTable(line(table.header), [line(row) for row in table.rows], frozenset(line(table.left)),
                     frozenset(line(table.sentences)), frozenset(line(table.dim)), table.doubtful)


def _least_width(table: TextTable, names: Sequence[str]) -> int:
    """The least width in characters of the table with these headers, which may have several lines."""
    total = _COLUMN_SPACE * (len(names) - 1)
    for k, name in enumerate(names):
        widest = max(map(len, (*name.split("\n"), *table.column(k))))
        total += min(widest, LEAST_SENTENCE) if table.header[k] in table.sentences else widest
    return total


def _drawn(table: TextTable, names: Sequence[str]) -> str:
    from rich.box import SIMPLE_HEAD, Box
    from rich.console import Console
    from rich.table import Table

    box = SIMPLE_HEAD if can_encode("─", sys.stdout.encoding) else Box(str(SIMPLE_HEAD).replace("─", "-"), ascii=True)
    drawn = Table(box=box, pad_edge=False, show_edge=False)
    for column, name in zip(table.header, names, strict=True):
        drawn.add_column(name, justify="left" if column in table.left else "right",
                         no_wrap=column not in table.sentences, overflow="fold",
                         style="dim" if column in table.dim else None)
    for k, row in enumerate(table.rows):
        drawn.add_row(*row, style=f"color({style.YELLOW_NUMBER}) not dim" if k in table.doubtful else None)
    out, has_colours = io.StringIO(), style.is_coloured(sys.stdout)
    Console(file=out, width=width(), height=LARGEST_SIZE, no_color=not has_colours,
            color_system="256" if has_colours else None, force_terminal=has_colours, highlight=False,
            markup=False, emoji=False, legacy_windows=False).print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def paragraph(lines: Sequence[str], indent: str = "") -> str:
    """The lines, each wrapped to the width. Continuation lines have the indentation of their line, and `indent`
    more. A line may be styled, and is printable otherwise."""
    found = []
    for line in (spelled(printable_line(line), sys.stdout.encoding) for line in lines):
        own_indent = line[: len(line) - len(line.lstrip(" "))]
        found += textwrap.wrap(line, width(), subsequent_indent=own_indent + indent, break_on_hyphens=False,
                               break_long_words=False) or [""]
    return "\n".join(found)


def heading(text: str) -> str:
    """A title in bold, wrapped to the width."""
    return style.styled(paragraph([text]), style.BOLD, sys.stdout)


# --- with a title ----------------------------------------------------------------------------------------------------


class TitledTable(NamedTuple):
    """A table with its words. In a grid, `across` is the symbol of the option whose values head the columns; the first
    column has the values of the other option."""

    title: str
    table: TextTable
    below: tuple[str, ...] = ()
    across: str = ""

    @property
    def labelled(self) -> TextTable:
        """The table, with the symbol of the option before each value that heads a column of a grid."""
        if not self.across:
            return self.table
        down, *values = self.table.header
        return self.table._replace(header=(down, *(f"{self.across} = {value}" for value in values)))

    @property
    def text(self) -> str:
        """The title and the table, fitted to the width: a wide grid becomes several, each with some of the columns."""
        parts = _blocks(self.labelled) if self.across else [self.labelled]
        return "\n\n".join([heading(self.title), *(aligned(part).rstrip("\n") for part in parts)]) + "\n"


def _blocks(table: TextTable) -> Iterator[TextTable]:
    """The first column with as many of the next columns as fit into the width, again and again."""
    first = 1
    while first < len(table.header):
        block = _columns(table, first, first + 1)
        for end in range(first + 2, len(table.header) + 1):
            wider = _columns(table, first, end)
            if wider.room_for_last_column() < max(map(len, (wider.header[-1], *wider.column(-1)))):
                break
            block = wider
        yield block
        first += len(block.header) - 1


def _columns(table: TextTable, first: int, end: int) -> TextTable:
    """The first column and those from `first` to before `end`."""
    return table._replace(header=(table.header[0], *table.header[first:end]),
                          rows=[(row[0], *row[first:end]) for row in table.rows])
