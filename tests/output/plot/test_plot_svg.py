"""An SVG shows the numbers: its paths, read back by its own ticks and their labels, are the curves."""

import re
import xml.etree.ElementTree as ET
from math import isclose, log10

import pytest
from conftest import slow
from plotted import LAPLACE, swept

from dpcalc.output.plot.figure import COLOURS, draw

SVG = "{http://www.w3.org/2000/svg}"
RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
PIXEL = 0.75  # a pixel in points, the unit of the file


def group(root, name):
    return root.find(f".//{SVG}g[@id='{name}']")


def number(label):
    """(what a tick's label says, its decimal logarithm): '2.5', '10⁻⁵' or '2.5·10⁶'."""
    text = "".join(label.itertext()).strip()
    first, power, exponent = text.partition("10") if set(text) & set(RAISED) else (text, "", "")
    if not power:
        return float(text), log10(float(text)) if float(text) > 0 else None
    log = log10(float(first.removesuffix("·") or 1)) + float("".join("-0123456789"[RAISED.index(c)] for c in exponent))
    return (10**log if abs(log) < 300 else None), log


def axis(root, which, logarithmic):
    """Pixel → coordinate (the logarithm, on a logarithmic axis), from the first and the last labelled tick; the others
    agree."""
    found = []
    for tick in (g for g in root.iter(SVG + "g") if re.fullmatch(which + r"tick_\d+", g.get("id", ""))):
        labels = [g for g in tick if g.get("id", "").startswith("text_")]
        if labels and any((part.text or "").strip() for part in labels[0].iter()):
            found.append((float(tick.find(f".//{SVG}use").get(which)), number(labels[0])[logarithmic]))
    assert len(found) >= 2
    (p, a), (q, b) = found[0], found[-1]

    def read(pixel):
        return a + (b - a) * (pixel - p) / (q - p)

    assert all(abs((pixel - p) * (b - a) - (value - a) * (q - p)) <= 0.01 * abs(b - a) * PIXEL for pixel,
               value in found)
    return read, abs((b - a) / (q - p)) * PIXEL


def curves(root):
    """Colour → the points of its path, and of its marks."""
    found = {}
    for g in group(root, "axes_1"):
        path = g.find(f"{SVG}path")
        style = path.get("style", "") if path is not None else ""
        if g.get("id", "").startswith("line2d") and path.get("clip-path"):
            colour = re.search(r"stroke: (#\w+)", style).group(1).upper()
            points = [tuple(map(float, xy)) for xy in re.findall(r"[ML] (\S+) (\S+)", path.get("d"))]
            marks = [(float(u.get("x")), float(u.get("y"))) for u in g.iter(SVG + "use")]
            found[colour] = points, marks, "dasharray" in style
    return found


@pytest.mark.parametrize("line, names", [
    ("rdp --sigma .5:10:20 --delta 1e-5", 3), slow("rdp --sigma 1,2,40 --delta 1e-5", 3),
    ("rdp --sigma 1:2:5:log --delta 1e-5", 2),
    ("rdp --sigma 1,2,3 --epsilon 400", 2), ("rdp --sigma 5 --delta 1e-5 --steps 1,1.5,9,11 --bound gaussian-exact", 1),
    slow("tv --sigma 1,2,4 --roc 21", 4),
    slow("convert --from dp --epsilon .01:.3:12 --delta 1e-6 --steps 100 --target-delta 1e-4", 2),
    slow(f"shuffle-pnsgd --c1 1e5 --c2 2 {LAPLACE} .1 --n 1e3:1e9:7:log --epsilon 1 --bound shuffled-contraction "
         f"--bound shuffled-limit", 2),
    slow("subsample --sampling-rate .01 --sigma 1.1 --steps 1,2,4 --delta 1e-5", 2),
    slow("subsample --sampling-rate .01 --sigma 1.1 --steps 10:1e4:4:log --delta 1e-5", 2)])
def test_curves_are_where_the_ticks_say(line, names):
    plot = swept(line).plot
    assert len(plot.series) == names
    root = ET.fromstring(draw(plot, "svg"))
    found = curves(root)
    assert set(found) == {c.upper() for c in COLOURS[:names]}
    axes = [axis(root, which, scale.kind != "linear") for which, scale in (("x", plot.x), ("y", plot.y))]
    for series, colour in zip(plot.series, COLOURS, strict=False):
        points, marks, dashed = found[colour.upper()]
        want = [tuple(log10(v) if scale.kind == "log" else v for v, scale in zip(at, (plot.x, plot.y), strict=True))
                for at in zip(series.x, series.y, strict=True) if at[1] is not None]
        assert dashed == (not series.proven)
        assert len(marks) == len(want) if len(series.x) <= 12 else len(marks) >= 10
        for place in points:
            assert any(near(place, at, axes) for at in want)
        for at in want:
            assert any(near(place, at, axes) for place in (*points, *marks)), (series.label, at)
        assert len(points) == len(want) or None in series.y or straight(want)


def near(place, at, axes):
    """Within half a pixel."""
    return all(abs(read(pixel) - value) <= pixel_size / 2 for pixel, value,
               (read, pixel_size) in zip(place, at, axes, strict=True))


def straight(points):
    """Whether some point lies on the line between its neighbours, where a path may leave it out."""
    return any(isclose((b[1] - a[1]) * (c[0] - a[0]), (c[1] - a[1]) * (b[0] - a[0]), rel_tol=1e-2) for a, b,
               c in zip(points, points[1:], points[2:], strict=False))
