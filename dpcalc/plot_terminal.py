"""A plot in characters: braille lines and marks, or plain ASCII. Pure: a plot and a size in, text out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple

from dpcalc.plot import Plot, Scale, Series


class Style(NamedTuple):
    """The characters of a plot. A cell holds `dots` (across, down)."""

    marks: str
    dots: tuple[int, int]
    corner: str
    across: str
    upright: str
    tick: str
    foot: str


BRAILLE = Style("●○■□▲△◆◇", (2, 4), "└", "─", "│", "┤", "┬")
ASCII = Style("*o#+x@%&", (1, 1), "+", "-", "|", "+", "+")
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of the braille block, by column and row
# The colours of Okabe & Ito in the 256 of terminals; the first is that of the text.
_COLOURS = ("", "38;5;214", "38;5;74", "38;5;36", "38;5;166", "38;5;175", "38;5;32", "38;5;220")
_MOST = len(BRAILLE.marks)  # lines that can be told apart
_SPELLED = {"ε": "epsilon", "δ": "delta", "σ": "sigma", "α": "alpha", "μ": "mu", "ρ": "rho", "β": "beta", "η": "eta", "τ": "tau", "π": "pi",
            "′": "'", "−": "-", "–": "-", "…": ".", "ℓ": "l", "é": "e"}


def draw(plot: Plot, columns: int, lines: int, encoding: str = "utf-8", coloured: bool = False) -> str:
    """The picture, `columns` wide and with the prompt `lines` high (at least 40 by 12, and higher where the legend needs it)."""
    style = BRAILLE if _holds(encoding, BRAILLE.marks + "⣿└─│┤┬") else ASCII
    series, left_out = _few(plot.series)
    width = max(columns, 40) - 1  # the last column would wrap in some terminals
    head = [*_wrap(plot.title, width), *_wrap(plot.subtitle, width)]
    legend = _legend(series, style, width, coloured)
    foot = [*legend, *_wrap(left_out, width)]
    height = max(6, max(lines, 12) - 1 - len(head) - len(foot) - 4)
    drawn = [*head, *_panel(plot, series, style, width, height, coloured), *foot]
    text = "\n".join(line.rstrip() for line in drawn)
    return text if _holds(encoding, text) else _spelled(text, encoding)


def _holds(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _spelled(text: str, encoding: str) -> str:
    for symbol, word in _SPELLED.items():
        text = text.replace(symbol, word)
    return text.encode("ascii", "replace").decode("ascii")


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width) if text else []


def _few(series: Sequence[Series]) -> tuple[Sequence[Series], str]:
    """As many lines as there are marks, evenly chosen, and the words for what is left out."""
    if len(series) <= _MOST:
        return series, ""
    kept = [series[round(k * (len(series) - 1) / (_MOST - 1))] for k in range(_MOST)]
    return kept, f"{_MOST} of {len(series)} lines are drawn here; --plot FILE.svg draws all."


# --- the panel -------------------------------------------------------------------------------------------------------


class Grid(NamedTuple):
    """Cells of characters, each with the line it belongs to (or None)."""

    cells: dict[tuple[int, int], tuple[str, int]]
    columns: int
    rows: int


class Extent(NamedTuple):
    """Coordinates (decimal logarithms on a logarithmic axis) from `low` to `high`, over so many dots."""

    low: float
    high: float
    dots: int

    def dot(self, x: float) -> int:
        return round((x - self.low) / (self.high - self.low) * (self.dots - 1))


Line = Sequence[tuple[float, float | None]]


def _coordinates(series: Series, plot: Plot) -> Line:
    pairs = zip(series.x, series.y, strict=True)
    return [(_coordinate(x, plot.x), None if y is None else _coordinate(y, plot.y)) for x, y in pairs]


def _coordinate(x: float, scale: Scale) -> float:
    return log10(x) if scale.kind == "log" else x


def _extent(values: Sequence[float], dots: int) -> Extent:
    low, high = min(values), max(values)
    if high - low <= 1e-12 * max(abs(low), abs(high)):  # one point, or a constant
        room = abs(low) / 2 or 1.0
        low, high = low - room, high + room
    return Extent(low, high, dots)


def _panel(plot: Plot, series: Sequence[Series], style: Style, width: int, height: int, coloured: bool) -> list[str]:
    lines = [_coordinates(s, plot) for s in series]
    xs = [x for line in lines for x, _ in line]
    ys = [y for line in lines for _, y in line if y is not None]
    if not ys:
        return ["(no point has a place on these axes)"]
    up = _extent(ys, height * style.dots[1])
    levels = {height - 1 - up.dot(at) // style.dots[1]: text for at, text in ticks(up, plot.y.kind, max(2, height // 3))}
    gutter = max(map(len, levels.values()), default=0) + 1
    across = _extent(xs, (width - gutter - 1) * style.dots[0])
    grid = Grid({}, width - gutter - 1, height)
    for k in reversed(range(len(series))):  # the headline on top
        _line(grid, lines[k], across, up, style, k, series[k].proven)
    _marks(grid, lines, across, up, style)
    for k in reversed(range(len(series))):
        for i in series[k].alone:
            x, y = lines[k][i]
            grid.cells.setdefault((across.dot(x) // style.dots[0], height - 1 - up.dot(y or 0.0) // style.dots[1]), (style.marks[k], k))
    rows = [levels.get(row, "").rjust(gutter - 1) + " " + (style.tick if row in levels else style.upright) + _row(grid, row, coloured)
            for row in range(height)]
    return [_fit(plot.y.label, width), *rows, *_feet(plot, across, style, gutter, grid.columns)]


def _row(grid: Grid, row: int, coloured: bool) -> str:
    def cell(column: int) -> str:
        char, k = grid.cells.get((column, row), (" ", 0))
        return _paint(char, k, coloured)

    return "".join(cell(column) for column in range(grid.columns)).rstrip()


def _paint(char: str, k: int, coloured: bool) -> str:
    colour = _COLOURS[k % len(_COLOURS)]
    return f"\x1b[{colour}m{char}\x1b[0m" if coloured and colour else char


def _line(grid: Grid, line: Line, across: Extent, up: Extent, style: Style, k: int, solid: bool) -> None:
    """Straight between neighbouring points; a gap where one has no value."""
    wide, high = style.dots
    drawn = 0
    for (x0, y0), (x1, y1) in pairwise(line):
        if y0 is None or y1 is None:
            continue
        for x, y in _between((across.dot(x0), up.dot(y0)), (across.dot(x1), up.dot(y1))):
            drawn += 1
            if not solid and drawn // (2 * wide) % 2:
                continue
            at = (x // wide, grid.rows - 1 - y // high)
            if style is BRAILLE:
                known, owner = grid.cells.get(at, ("\u2800", k))
                grid.cells[at] = (chr(ord(known) | _BITS[x % 2][3 - y % 4]), k if owner >= k else owner)
            else:
                grid.cells[at] = (".", k)


def _between(a: tuple[int, int], b: tuple[int, int]) -> Iterator[tuple[int, int]]:
    steps = max(abs(b[0] - a[0]), abs(b[1] - a[1]), 1)
    for i in range(steps + 1):
        yield a[0] + round((b[0] - a[0]) * i / steps), a[1] + round((b[1] - a[1]) * i / steps)


def _marks(grid: Grid, lines: Sequence[Line], across: Extent, up: Extent, style: Style) -> None:
    """At the points, not nearer than a few columns; where lines coincide they take turns."""
    wide, high = style.dots
    last, turn = -99, 0
    kept: dict[int, int] = {}
    for x in sorted({across.dot(x) // wide for line in lines for x, _ in line}):
        if x - last >= 4:
            kept[x], last, turn = turn, x, turn + 1
    taken: set[tuple[int, int]] = set()
    for x, turn in kept.items():
        for i in range(len(lines)):
            k = (i + turn) % len(lines)
            here = [py for px, py in lines[k] if py is not None and across.dot(px) // wide == x]
            at = (x, grid.rows - 1 - up.dot(here[0]) // high) if here else None
            if at is not None and at not in taken:
                taken.add(at)
                grid.cells[at] = (style.marks[k], k)


def _feet(plot: Plot, across: Extent, style: Style, gutter: int, columns: int) -> list[str]:
    """The axis below, its numbers, and what it is."""
    axis, numbers = list(style.across * columns), [" "] * (gutter + 1 + columns)
    free = 0
    for at, text in ticks(across, plot.x.kind, max(2, columns // 10)):
        column = across.dot(at) // style.dots[0]
        start = min(max(gutter + 1 + column - len(text) // 2, 0), len(numbers) - len(text))
        axis[column] = style.foot
        if start >= free:
            numbers[start:start + len(text)] = text
            free = start + len(text) + 1
    label = _fit(plot.x.label, gutter + 1 + columns)
    middle = min(gutter + 1 + (columns + len(label)) // 2, gutter + 1 + columns)
    return [" " * gutter + style.corner + "".join(axis), "".join(numbers), label.rjust(middle)]


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[:width - 1] + "…"


def _legend(series: Sequence[Series], style: Style, width: int, coloured: bool) -> list[str]:
    """The marks and their names, in as many columns as fit."""
    texts = [f"{style.marks[k]} {s.label}" for k, s in enumerate(series)]
    cell = max(map(len, texts)) + 3
    per = max(1, min(len(texts), (width + 3) // cell))
    rows = ceil(len(texts) / per)
    lines = []
    for row in range(rows):
        line = ""
        for k in range(row, len(texts), rows):
            text = _fit(texts[k], width).ljust(cell if k + rows < len(texts) else 0)
            line += _paint(text[0], k, coloured) + text[1:]
        lines.append(line)
    return lines


# --- ticks -----------------------------------------------------------------------------------------------------------


def ticks(extent: Extent, kind: str, most: int) -> list[tuple[float, str]]:
    """(coordinate, text) of about `most` round numbers."""
    if kind == "linear":
        return _round(extent.low, extent.high, most)
    low, high = ceil(extent.low - 1e-9), floor(extent.high + 1e-9)
    if high - low >= 2 or kind == "powers":
        step = max(1, ceil((high - low) / most))
        start = low + (-low) % step
        whole = [(float(e), _power(e)) for e in range(start, high + 1, step)]
        return whole if len(whole) > 1 or kind == "log" else [(at, f"1e{text}") for at, text in _round(extent.low, extent.high, most)]
    inner = [(log10(m) + e, _short(m * 10.0**e)) for e in range(floor(extent.low), ceil(extent.high) + 1) for m in (1, 2, 5)]
    found = [(at, text) for at, text in inner if extent.low - 1e-9 <= at <= extent.high + 1e-9]
    if len(found) >= 2:
        return found
    return [(log10(at), text) for at, text in _round(10**extent.low, 10**extent.high, most) if at > 0]


def _round(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / max(1, most)
    size = 10.0 ** floor(log10(raw))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= raw * (1 - 1e-9))
    return [(k * step, _short(k * step)) for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"


def _short(x: float) -> str:
    """1e6 and not 1e+06."""
    text = f"{x:.6g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text
