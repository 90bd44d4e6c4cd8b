"""A plot as SVG, PNG or PDF, drawn by matplotlib without its global state."""

import io
from collections.abc import Sequence
from math import isfinite, nan
from typing import Any

from matplotlib import colormaps, style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from dpcalc.output.plot.data import Plot, Scale, Series
from dpcalc.output.plot.labels import wrapped
from dpcalc.output.plot.ticks import coordinate, extent, ticks

# The colour-blind-safe palette of Okabe & Ito, without its yellow, which is too pale on white.
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more, so that the eighth line differs from the first
# Text stays text in SVG. In PDF, fonts are embedded as TrueType (42), which journals accept.
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "dpcalc", "pdf.fonttype": 42, "font.size": 9.0,
                  "axes.formatter.useoffset": False}
# suffix → (canvas, metadata without the time, the key of the description in the metadata)
_FORMATS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "svg": (FigureCanvasSVG, {"Date": None, "Creator": "dpcalc"}, "Description"),
    "png": (FigureCanvasAgg, {"Software": "dpcalc"}, "Description"),
    "pdf": (FigureCanvasPdf, {"CreationDate": None, "Creator": "dpcalc"}, "Subject"),
}


def draw(plot: Plot, suffix: str) -> bytes:
    """The bytes of the file, the same ones for the same plot and version of matplotlib."""
    canvas, metadata, description = _FORMATS[suffix]
    with style.context(["default", _SETTINGS]):  # not the settings of the user
        made = figure(plot)
        canvas(made)
        out = io.BytesIO()
        about = {"Title": f"{plot.title}: {plot.subtitle}", description: words(plot)}
        made.savefig(out, format=suffix, dpi=150, metadata={**metadata, **about})
    return out.getvalue()


def words(plot: Plot) -> str:
    """A description of the picture, for those who cannot see it."""
    return f"{plot.y.label} over {plot.x.label}; lines: {', '.join(s.label for s in plot.series)}"


def figure(plot: Plot) -> Figure:
    """The figure of matplotlib; many lines of a grid are told apart by a colour bar in place of a legend."""
    many = plot.lines is not None and len(plot.series) > len(COLOURS)
    by_colour = many and all(isfinite(_value(s)) for s in plot.series)
    rows = 0 if by_colour else -(-len(plot.series) // _columns(plot))
    made = Figure(figsize=(6.4, 4.0 + 0.18 * rows), layout="constrained")
    axes = made.add_subplot()
    colours = (_colour_bar(made, axes, plot) if by_colour
               else [COLOURS[k % len(COLOURS)] for k in range(len(plot.series))])
    for k, series in enumerate(plot.series):
        _line(axes, series, k, len(plot.series), colours[k], plain=by_colour)
    for which, scale in (("x", plot.x), ("y", plot.y)):
        _scale(axes, which, scale, [v for s in plot.series for v in getattr(s, which) if v is not None])
    axes.set_xlabel(plot.x.label, parse_math=False)
    axes.set_ylabel("\n".join(wrapped(plot.y.label, 45)), parse_math=False)
    axes.margins(0.03)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    below = wrapped(plot.subtitle, 95)
    axes.set_title(plot.title, fontsize=11, pad=6 + 10 * len(below), parse_math=False)
    axes.annotate("\n".join(below), (0.5, 1), xytext=(0, 4), xycoords="axes fraction", textcoords="offset points",
                  ha="center", va="bottom", fontsize=7.5, color="#444444", parse_math=False)
    if not by_colour:
        made.legend(loc="outside lower center", ncols=_columns(plot), fontsize=8, frameon=False)
    return made


def _value(series: Series) -> float:
    return nan if series.value is None else series.value


def _columns(plot: Plot) -> int:
    """The columns of the legend that fit into the width of 6.4 inches."""
    longest = max(len(s.label) for s in plot.series)
    return max(1, min(len(plot.series), 100 // (longest + 9)))


def _line(axes: Any, series: Series, k: int, count: int, colour: Any, plain: bool) -> None:
    y = [nan if v is None else v for v in series.y]
    style: dict[str, Any] = {"linewidth": 1.3, "zorder": 3 + (count - k) / count, "marker": ".",
                             "markevery": series.isolated}
    # Lines that coincide are told apart by hollow marks that are larger for lines further below the headline.
    if not plain:
        along = range(0) if series.is_outline else range(0, len(y), max(1, len(y) // 12))
        marked = sorted({*along, *series.isolated})
        style |= {"marker": MARKERS[k % len(MARKERS)], "markersize": 3.5 + 1.1 * min(k, 6),
                  "markerfacecolor": "none" if k else colour,
                  "markevery": marked, "linewidth": 1.3 if k else 1.8}
    axes.plot(series.x, y, color=colour, linestyle="-" if series.proven else "--", label=series.label, **style)


def _scale(axes: Any, which: str, scale: Scale, values: Sequence[float]) -> None:
    axis = getattr(axes, f"{which}axis")
    if scale.kind == "log" and values:
        getattr(axes, f"set_{which}scale")("log")
        _set_ticks_of_log_axis(axis, values, sorted(set(values)) if which == "x" else ())
    elif scale.kind in ("whole", "dates") and values:
        found = ticks(extent(values), scale.kind, 7)
        axis.set_major_locator(FixedLocator([at for at, _ in found]))
        axis.set_major_formatter(FixedFormatter([text for _, text in found]))
    elif scale.kind == "powers":
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"$10^{{{x:.10g}}}$"))


def _set_ticks_of_log_axis(axis: Any, values: Sequence[float], swept: Sequence[float] = ()) -> None:
    """Sets ticks at the few values that were swept, or at 1, 2 and 5 times powers of ten, where the axis spans fewer
    than two decades. Numbers near 1 are written as 0.01 and 100, not as powers."""
    span = extent([coordinate(v, "log") for v in values])
    if span.high - span.low < 2:
        found = ticks(span, "log", 6, swept)
        axis.set_major_locator(FixedLocator([10**at for at, _ in found]))
        axis.set_major_formatter(FixedFormatter([text for _, text in found]))
        axis.set_minor_formatter(NullFormatter())
    elif span.low >= -3 and span.high <= 3:
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def _colour_bar(made: Figure, axes: Any, plot: Plot) -> list[Any]:
    """The colours of the lines by their values, after adding a bar that shows the values."""
    assert plot.lines is not None
    values = [_value(s) for s in plot.series]
    norm: Any = (LogNorm if plot.lines.kind == "log" else Normalize)(min(values), max(values))
    mapped = ScalarMappable(norm, colormaps["cividis"])
    bar = made.colorbar(mapped, ax=axes, label="\n".join(wrapped(plot.lines.label, 45)))
    if plot.lines.kind == "log":
        _set_ticks_of_log_axis(bar.ax.yaxis, values)
    return [mapped.cmap(norm(value)) for value in values]
