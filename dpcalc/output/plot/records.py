"""What is drawn: lines, the scales of their axes, and the words around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

MOST_LINES = 7  # of a grid, as many as there are colours


class Scale(NamedTuple):
    """An axis. `kind` is linear, log, or powers: its coordinates are log10 of values that doubles may not hold. It is
    whole for whole numbers, and dates for the numbers of days."""

    label: str
    kind: str = "linear"


class Series(NamedTuple):
    """A line, with a gap where y is None. In a grid, `value` is that of the second option. An outline has marks at
    isolated points alone."""

    label: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    proven: bool = True
    value: float | None = None
    is_outline: bool = False

    @property
    def isolated(self) -> list[int]:
        """The indices of points between two gaps, which need a mark because no line leads to them."""
        present = [y is not None for y in (None, *self.y, None)]
        return [i for i in range(len(self.y)) if present[i + 1] and not present[i] and not present[i + 2]]


class Plot(NamedTuple):
    """What is drawn, the headline first.

    `lines` is the scale of the second option of a grid; `notes` name the points that have no place on the axes.
    `strong` is the index of the line that is the answer, and drawn thick; where no bound is the best at all points,
    `best` is a line through the headlines.
    """

    title: str
    subtitle: str
    x: Scale
    y: Scale
    series: tuple[Series, ...]
    lines: Scale | None = None
    notes: tuple[str, ...] = ()
    strong: int | None = None
    best: Series | None = None

    @property
    def curves(self) -> tuple[Series, ...]:
        """All lines, in the order of the legend."""
        return (*self.series, self.best) if self.best else self.series

    @property
    def is_map(self) -> bool:
        """Whether a grid has too many lines for the colours, so that its answers are the colours."""
        return len(self.series) > MOST_LINES and len(self.series[0].x) > 1 and all(
            s.proven and s.value is not None and s.y.count(None) < len(s.y) for s in self.series)

    def written(self, change: Callable[[str], str]) -> Plot:
        """The plot with every text changed."""
        scales = {name: old._replace(label=change(old.label)) for name in ("x", "y", "lines")
                  if (old := getattr(self, name))}
        return self._replace(title=change(self.title), subtitle=change(self.subtitle), **scales).named(
            [change(s.label) for s in self.curves])

    def named(self, names: Sequence[str]) -> Plot:
        """The plot with these names of its curves."""
        series = tuple(s._replace(label=name) for s, name in zip(self.curves, names, strict=True))
        return self._replace(series=series[:len(self.series)], best=series[-1] if self.best else None)
