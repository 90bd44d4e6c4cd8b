"""A table that can be read alone: with a title above it, and the bounds and the adjacency below it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from dpcalc.core import style
from dpcalc.output.tables import TextTable, aligned, paragraph


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
        title = style.styled(paragraph([self.title]), style.BOLD, sys.stdout)
        return "\n\n".join([title, *(aligned(part).rstrip("\n") for part in parts)]) + "\n"


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
