"""A plot as SVG, PNG or PDF, drawn by matplotlib without its global state."""

import io
from collections.abc import Sequence
from math import nan
from typing import Any

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullFormatter

from dpcalc.core.errors import DpcalcError
from dpcalc.output.plot.labels import in_powers, wrapped
from dpcalc.output.plot.records import Plot, Scale, Series
from dpcalc.output.plot.ticks import Extent, coordinate, extent, ticks

# The colour-blind-safe palette of Okabe & Ito, without its yellow, which is too pale on white.
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more, so that the eighth line differs from the first
_SIZE = (6.4, 4.0)  # inches, without the legend
_MARGIN = 0.03  # of an axis, on either side of the curves
_LEAST_HEIGHT = 0.8  # inches of the axes, below which curves are not readable
# Text stays text in SVG. In PDF, fonts are embedded as TrueType (42), which journals accept.
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "dpcalc", "pdf.fonttype": 42, "font.size": 9.0}
# suffix → (canvas, metadata without the time, the key of the description in the metadata)
_FORMATS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "svg": (FigureCanvasSVG, {"Date": None, "Creator": "dpcalc"}, "Description"),
    "png": (FigureCanvasAgg, {"Software": "dpcalc"}, "Description"),
    "pdf": (FigureCanvasPdf, {"CreationDate": None, "Creator": "dpcalc"}, "Subject"),
}


def draw(plot: Plot, suffix: str, size: tuple[float, float] | None = None) -> bytes:
    """The bytes of the file, the same ones for the same plot and version of matplotlib."""
    canvas, metadata, description = _FORMATS[suffix]
    with style.context(["default", _SETTINGS]):  # not the settings of the user
        made = figure(plot, size)
        canvas(made)
        out = io.BytesIO()
        about = {"Title": ": ".join(filter(None, (plot.title, plot.subtitle))), description: words(plot)}
        texts = {key: in_powers(text) for key, text in about.items() if text}
        made.savefig(out, format=suffix, dpi=150, metadata={**metadata, **texts})
    return out.getvalue()


def words(plot: Plot) -> str:
    """A description of the picture, for those who cannot see it."""
    if plot.is_map and plot.lines:
        return f"{plot.y.label} as colours over {plot.x.label} and {plot.lines.label}"
    return f"{plot.y.label} over {plot.x.label}; lines: {', '.join(s.label for s in plot.curves)}"


def figure(plot: Plot, size: tuple[float, float] | None = None) -> Figure:
    """The figure of matplotlib, of a width and height in inches; many lines of a grid become a map of colours."""
    plot = plot.written(in_powers)
    wide, high = size or _SIZE
    names = [] if plot.is_map else ["\n".join(wrapped(s.label, _fitting(wide, 8) - 9)) for s in plot.curves]
    columns = max(1, min(len(names), _fitting(wide, 8) // (max(len(s.label) for s in plot.curves) + 9)))
    rows = -(-sum(name.count("\n") + 1 for name in names) // columns)
    across = wide - 0.8  # inches without the numbers and the label of an axis
    title, below = wrapped(plot.title, _fitting(across, 11)), wrapped(plot.subtitle, _fitting(across, 7.5))
    room = high - 0.6 - 0.2 * len(title) - 0.15 * len(below) - (0.18 * rows if size else 0)
    if room < _LEAST_HEIGHT:
        raise DpcalcError("out-of-range", f"leaves {max(room, 0):.1f} of {high:g} inches for the curves; give a "
                          "greater height, or --plot-title none", "--plot-size" if size else "--plot-title")
    made = Figure(figsize=size or (wide, high + 0.18 * rows), layout="constrained")
    axes = made.add_subplot()
    (_map if plot.is_map else _curves)(axes, plot, int(1.3 * wide), room)
    axes.set_xlabel("\n".join(wrapped(plot.x.label, _fitting(across, 9))), parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("\n".join(title), fontsize=11, pad=6 + 10 * len(below), parse_math=False)
    axes.annotate("\n".join(below), (0.5, 1), xytext=(0, 4), xycoords="axes fraction", textcoords="offset points",
                  ha="center", va="bottom", fontsize=7.5, color="#444444", parse_math=False)
    if names:
        legend = made.legend(loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set(text=name, parse_math=False)
    return made


def _fitting(inches: float, points: float) -> int:
    """How many characters of a font size fit into a width: one is 0.53 of the size wide, or less on average."""
    return max(12, int(inches * 72 / (0.53 * points)))


# --- curves ----------------------------------------------------------------------------------------------------------


def _curves(axes: Any, plot: Plot, most: int, room: float) -> None:
    for k, series in enumerate(plot.series):
        _line(axes, series, k, len(plot.series), k == plot.strong)
    if plot.best:  # wide and pale, under the curves
        y = [nan if v is None else v for v in plot.best.y]
        axes.plot(plot.best.x, y, color="#c8c8c8", linewidth=6, solid_capstyle="round", label="best", zorder=2.5,
                  marker="o", markersize=6, markevery=plot.best.isolated)
    for which, scale, count in (("x", plot.x, most), ("y", plot.y, max(3, int(2.5 * room)))):
        _scale(axes, which, scale, [v for s in plot.series for v in getattr(s, which) if v is not None], count)
    axes.set_ylabel("\n".join(wrapped(plot.y.label, _fitting(room, 9))), parse_math=False)
    axes.margins(_MARGIN)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _line(axes: Any, series: Series, k: int, count: int, strong: bool) -> None:
    """Draws a line. Lines that coincide are distinguished by hollow marks that are larger for later lines."""
    y = [nan if v is None else v for v in series.y]
    colour = COLOURS[k % len(COLOURS)]
    along = range(0) if series.is_outline else range(0, len(y), max(1, len(y) // 12))
    axes.plot(series.x, y, color=colour, linestyle="-" if series.proven else "--", label=f"curve {k}",
              linewidth=2.4 if strong else 1.3, zorder=3 + (count - k) / count, marker=MARKERS[k % len(MARKERS)],
              markersize=3.5 + 1.1 * min(k, 6), markerfacecolor="none" if k else colour, markeredgewidth=1.0,
              markevery=sorted({*along, *series.isolated}))


def _scale(axes: Any, which: str, scale: Scale, values: Sequence[float], most: int) -> None:
    """Sets the scale of an axis, with texts at about `most` round numbers, or at the few values that were swept."""
    if not values:
        return
    is_log = scale.kind == "log"
    if is_log:
        getattr(axes, f"set_{which}scale")("log")
        getattr(axes, f"{which}axis").set_minor_formatter(NullFormatter())
    span = extent([coordinate(v, scale.kind) for v in values])
    if scale.kind in ("linear", "log"):
        margin = _MARGIN * (span.high - span.low)
        span = Extent(span.low - margin, span.high + margin)
    places, texts = _ticks(span, scale.kind, most, sorted(set(values)) if which == "x" else ())
    getattr(axes, f"set_{which}ticks")([10**at for at in places] if is_log else places, labels=texts)


def _ticks(span: Extent, kind: str, most: int, swept: Sequence[float] = ()) -> tuple[list[float], list[str]]:
    found = ticks(span, kind, most, swept)
    return [at for at, _ in found], [in_powers(text) for _, text in found]


# --- maps ------------------------------------------------------------------------------------------------------------


def _map(axes: Any, plot: Plot, most: int, room: float) -> None:
    """Draws the answers of a grid as colours, with contour lines at round values, in coordinates. A cell without an
    answer is blank."""
    assert plot.lines is not None
    rows = {coordinate(s.value or 0.0, plot.lines.kind): dict(zip(s.x, s.y, strict=True)) for s in plot.series}
    across, up = sorted({x for s in plot.series for x in s.x}), sorted(rows)
    cells = [[nan if (y := rows[at].get(x)) is None else coordinate(y, plot.y.kind) for x in across] for at in up]
    places = [coordinate(x, plot.x.kind) for x in across], up
    mesh = axes.pcolormesh(*places, cells, cmap="cividis_r", edgecolors="face", linewidth=0.2)
    bar = axes.figure.colorbar(mesh, ax=axes, label="\n".join(wrapped(plot.y.label, _fitting(room, 9))))
    known = [z for row in cells for z in row if z == z]
    levels, texts = _ticks(extent(known), plot.y.kind, 7)
    bar.set_ticks(levels, labels=texts)
    inner = [z for z in levels if min(known) < z < max(known)]
    if inner:
        lines = axes.contour(*places, cells, inner, colors="black", linewidths=0.8, linestyles="solid")
        for drawn in (lines, *axes.clabel(lines, fmt=dict(zip(levels, texts, strict=True)), fontsize=7.5)):
            drawn.set(path_effects=[withStroke(linewidth=2, foreground="white")])
    axes.set_xticks(*_ticks(extent(places[0]), plot.x.kind, max(3, most - 1), across))
    axes.set_yticks(*_ticks(extent(up), plot.lines.kind, max(3, int(2 * room))))
    axes.set_ylabel("\n".join(wrapped(plot.lines.label, _fitting(room, 9))), parse_math=False)
