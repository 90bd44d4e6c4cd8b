"""A plot in characters: lines of braille dots with marks, or plain ASCII where the encoding has no more."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from math import ceil
from typing import Any, NamedTuple

from dpcalc.core.text import can_encode, spelled
from dpcalc.output.plot.labels import in_powers, wrapped
from dpcalc.output.plot.records import Plot, Series
from dpcalc.output.plot.ticks import Extent, coordinate, extent, ticks


class Style(NamedTuple):
    """The characters of a plot; a character cell holds `dots` (across, down)."""

    marks: str
    dots: tuple[int, int]
    corner: str
    across: str
    upright: str
    tick: str
    foot: str


BRAILLE = Style("●○■□▲△◆◇", (2, 4), "└", "─", "│", "┤", "┬")
ASCII = Style("*o#+x@%&", (1, 1), "+", "-", "|", "+", "+")
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of the dots of a braille character, by column and row
# Colours close to those of Okabe & Ito among the 256 colours of terminals, with a darker orange and yellow, which can
# be read on white. The first line has the colour of the text.
_COLOURS = ("", "38;5;172", "38;5;74", "38;5;36", "38;5;166", "38;5;175", "38;5;32", "38;5;100")


def draw(plot: Plot, columns: int, lines: int, encoding: str = "utf-8", coloured: bool = False) -> str:
    """The picture, `columns` wide and, with a prompt below it, `lines` high.

    It is at least 40 by 12 characters, and higher where the legend needs it.
    """
    try:
        style = BRAILLE if can_encode("●⣿└─│┤┬ε⁻⁵", encoding) else ASCII
    except LookupError:  # an encoding that Python does not know
        style = ASCII
    plot = plot.written(in_powers if style is BRAILLE else _in_ascii)
    series, left_out, most = plot.series, "", len(style.marks)
    if len(series) > most:  # each line needs a mark of its own
        series = tuple(series[round(k * (len(series) - 1) / (most - 1))] for k in range(most))
        left_out = f"{most} of {len(plot.series)} lines are drawn here; --plot FILE.svg draws all."
    width = max(columns, 40) - 1  # the last column would wrap in some terminals
    title = "" if plot.y.label.endswith(plot.title) else plot.title  # the axis says the same
    head = [*wrapped(title, width), *wrapped(plot.subtitle, width)]
    legend = _legend(series, style, width, coloured)
    foot = [*legend, *wrapped(left_out, width)]
    height = max(6, max(lines, 12) - 1 - len(head) - len(foot) - 4)
    drawn = [*head, *_panel(plot, series, style, width, height, coloured), *foot]
    return "\n".join(line.rstrip() for line in drawn)


def _in_ascii(text: str) -> str:
    """The text with words in place of symbols."""
    return spelled(text, "ascii").encode("ascii", "replace").decode("ascii")


def _ticks(style: Style, *where: Any) -> list[tuple[float, str]]:
    """Round numbers along an axis, with their texts."""
    return [(at, in_powers(text) if style is BRAILLE else text) for at, text in ticks(*where)]


# --- the panel -------------------------------------------------------------------------------------------------------


Line = Sequence[tuple[float, float | None]]  # coordinates; None is a gap


class Grid(NamedTuple):
    """The panel: the ranges of its axes, and its characters by column and row, each with the index of the line it
    belongs to."""

    style: Style
    across: Extent
    up: Extent
    columns: int
    rows: int
    cells: dict[tuple[int, int], tuple[str, int]]

    def column(self, x: float) -> int:
        return self.across.dot(x) // self.style.dots[0]

    def row(self, y: float) -> int:
        """The row from above."""
        return self.rows - 1 - self.up.dot(y) // self.style.dots[1]


def _panel(plot: Plot, series: Sequence[Series], style: Style, width: int, height: int, coloured: bool) -> list[str]:
    """The lines of text with the axes and everything between them."""
    lines: list[Line] = [[(coordinate(x, plot.x.kind), None if y is None else coordinate(y, plot.y.kind))
                          for x, y in zip(s.x, s.y, strict=True)] for s in series]
    ys = [y for line in lines for _, y in line if y is not None]
    if not ys:
        return ["(no point has a place on these axes)"]
    up = extent(ys, height * style.dots[1])
    levels = {height - 1 - up.dot(at) // style.dots[1]: text
              for at, text in _ticks(style, up, plot.y.kind, max(3, height // 3))}
    gutter = max(map(len, levels.values()), default=0) + 1
    columns = width - gutter - 1
    across = extent([x for line in lines for x, y in line if y is not None], columns * style.dots[0])
    grid = Grid(style, across, up, columns, height, {})
    for k in reversed(range(len(series))):  # the headline on top
        _line(grid, lines[k], k, series[k].proven)
    _marks(grid, [[] if s.is_outline else line for s, line in zip(series, lines, strict=True)])
    for k in reversed(range(len(series))):
        for i in series[k].isolated:
            x, y = lines[k][i]
            grid.cells.setdefault((grid.column(x), grid.row(y or 0.0)), (style.marks[k], k))
    rows = [levels.get(row, "").rjust(gutter - 1) + " " + (style.tick if row in levels else style.upright)
            + _row(grid, row, coloured) for row in range(height)]
    return [_shortened(plot.y.label, width), *rows, *_axis_below(plot, grid, gutter)]


def _row(grid: Grid, row: int, coloured: bool) -> str:
    cells = [grid.cells.get((column, row), (" ", 0)) for column in range(grid.columns)]
    runs = groupby(cells, lambda cell: cell[1])
    return "".join(_paint("".join(char for char, _ in run), k, coloured) for k, run in runs).rstrip()


def _paint(text: str, k: int, coloured: bool) -> str:
    colour = _COLOURS[k % len(_COLOURS)]
    return f"\x1b[{colour}m{text}\x1b[0m" if coloured and colour else text


def _line(grid: Grid, line: Line, k: int, solid: bool) -> None:
    """Draws a line straight from point to point, with a gap where a point has no value, and dashed unless `solid`."""
    wide, high = grid.style.dots
    drawn = 0
    for (x0, y0), (x1, y1) in pairwise(line):
        if y0 is None or y1 is None:
            continue
        for x, y in _dots_between((grid.across.dot(x0), grid.up.dot(y0)), (grid.across.dot(x1), grid.up.dot(y1))):
            drawn += 1
            if not solid and drawn // (2 * wide) % 2:
                continue
            at = (x // wide, grid.rows - 1 - y // high)
            if grid.style is BRAILLE:
                known, owner = grid.cells.get(at, ("\u2800", k))
                grid.cells[at] = (chr(ord(known) | _BITS[x % 2][3 - y % 4]), k if owner >= k else owner)
            else:
                grid.cells[at] = (".", k)


def _dots_between(a: tuple[int, int], b: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The dots of a straight line."""
    steps = max(abs(b[0] - a[0]), abs(b[1] - a[1]), 1)
    for i in range(steps + 1):
        yield a[0] + round((b[0] - a[0]) * i / steps), a[1] + round((b[1] - a[1]) * i / steps)


def _marks(grid: Grid, lines: Sequence[Line]) -> None:
    """Draws marks at points, not in neighbouring columns; where lines coincide, their marks alternate."""
    distance = 4  # columns from mark to mark, at least: with fewer, marks hide the lines
    rows = [{grid.column(x): grid.row(y) for x, y in reversed(line) if y is not None} for line in lines]
    turn, last = 0, -distance
    for column in sorted(set().union(*rows)):
        if column - last < distance:
            continue
        taken: set[int] = set()
        for i in range(len(lines)):
            k = (i + turn) % len(lines)
            row = rows[k].get(column)
            if row is not None and row not in taken:
                taken.add(row)
                grid.cells[column, row] = (grid.style.marks[k], k)
        turn, last = turn + 1, column


def _axis_below(plot: Plot, grid: Grid, gutter: int) -> list[str]:
    """The horizontal axis, its numbers, and its label."""
    width = gutter + 1 + grid.columns
    axis, numbers = list(grid.style.across * grid.columns), [" "] * width
    free = 0
    swept = sorted({x for s in plot.series for x in s.x})
    for at, text in _ticks(grid.style, grid.across, plot.x.kind, max(2, grid.columns // 10), swept):
        column = grid.column(at)
        start = min(max(gutter + 1 + column - len(text) // 2, 0), width - len(text))
        axis[column] = grid.style.foot
        if start >= free:
            numbers[start:start + len(text)] = text
            free = start + len(text) + 1
    label = _shortened(plot.x.label, width)
    middle = min(gutter + 1 + (grid.columns + len(label)) // 2, width)
    return [" " * gutter + grid.style.corner + "".join(axis), "".join(numbers), label.rjust(middle)]


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[:width - 2] + ".."


def _legend(series: Sequence[Series], style: Style, width: int, coloured: bool) -> list[str]:
    """The marks and their names, in as many columns as fit."""
    texts = [f"{style.marks[k]} {s.label}" for k, s in enumerate(series)]
    cell = max(map(len, texts)) + 3
    columns = max(1, min(len(texts), (width + 3) // cell))
    rows = ceil(len(texts) / columns)
    lines = []
    for row in range(rows):
        line = ""
        for k in range(row, len(texts), rows):
            text = _shortened(texts[k], width).ljust(cell if k + rows < len(texts) else 0)
            line += _paint(text[0], k, coloured) + text[1:]
        lines.append(line)
    return lines
