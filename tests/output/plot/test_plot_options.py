"""What --plot-size, --plot-title and --plot-names do, which curve is drawn thick, and grids of many values."""

import re
import struct
from contextlib import chdir
from itertools import pairwise

import pytest
from calling import call
from conftest import spread
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from plotted import LAPLACE, swept

from dpcalc import DpcalcError, answer
from dpcalc.commands.catalogue import calculators
from dpcalc.output.plot.figure import draw, figure
from dpcalc.output.plot.labels import in_powers

BURN_IN = ("burn-in --n 60000 --batch-size 128 --steps 1e3:1e9:7:log --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
           "--diameter 2 --sigma 0.1 --alpha 6")
TWO_BOUNDS = "rdp --sigma 1,2,4 --delta 1e-5"
GRID = "rdp --sigma 1:20:9:log --steps 1:99:11 --delta 1e-5 --bound gaussian-exact"


def picture(tmp_path, line, *more, name="a.svg"):
    done = call([*line.split(), "--plot", str(tmp_path / name), *more])
    assert done.returncode == 0, done.stderr
    return (tmp_path / name).read_bytes()


def texts(svg):
    return [" ".join(text.split()) for text in re.findall(r"<text[^>]*>\s*(.*?)\s*</text>", svg.decode())]


# --- the options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, wide, high", [("3.3x2.5", 3.3, 2.5), ("6x4", 6, 4), (" 5 × 3 ", 5, 3)])
def test_the_file_has_its_size(size, wide, high, tmp_path):
    svg = picture(tmp_path, TWO_BOUNDS, "--plot-size", size).decode()
    points = [float(re.search(rf'<svg[^>]* {side}="([\d.]+)pt"', svg)[1]) / 72 for side in ("width", "height")]
    assert points == pytest.approx([wide, high])
    png = picture(tmp_path, TWO_BOUNDS, "--plot-size", size, name="a.png")
    assert [x / 150 for x in struct.unpack(">II", png[16:24])] == pytest.approx([wide, high], abs=0.01)


@pytest.mark.parametrize("line", [TWO_BOUNDS, GRID, BURN_IN, "tv --sigma 1,2,3 --roc 11"])
@pytest.mark.parametrize("size", [(3.3, 2.5), (3.3, 4), (6.4, 4.2)])
def test_no_text_leaves_the_picture(line, size):
    plot = swept(line).plot
    made = figure(plot._replace(title="", subtitle="") if size[1] < 3 else plot, size)
    made.draw_without_rendering()
    boxes = [text.get_window_extent() for text in made.findobj(Text) if text.get_visible() and text.get_text().strip()]
    assert len(boxes) > 8 and all(box.x0 >= -1 and box.y0 >= -1 for box in boxes)
    assert all(box.x1 <= made.bbox.width + 1 and box.y1 <= made.bbox.height + 1 for box in boxes)


def test_a_title_is_replaced_or_left_out(tmp_path):
    whole = texts(picture(tmp_path, TWO_BOUNDS))
    assert "ε at δ = 10⁻⁵" in whole and "rdp, gaussian" in whole
    other = texts(picture(tmp_path, TWO_BOUNDS, "--plot-title", "Loss & noise"))
    assert "Loss &amp; noise" in other and "ε at δ = 10⁻⁵" not in other and "rdp, gaussian" in other
    none = picture(tmp_path, TWO_BOUNDS, "--plot-title", "none")
    assert set(whole) - set(texts(none)) == {"ε at δ = 10⁻⁵", "rdp, gaussian"} and b"<title>" not in none


def test_curves_have_the_names_that_are_given(tmp_path):
    svg = texts(picture(tmp_path, TWO_BOUNDS, "--plot-names", "exact, _RDP $x$"))
    assert "exact" in svg and "_RDP $x$" in svg and not any("gaussian-" in text for text in svg)
    shown = call([*TWO_BOUNDS.split(), "--plot", "-", "--plot-names", "exact,RDP", "--plot-title", "My noise"]).stdout
    assert "● exact" in shown and "○ RDP" in shown and shown.startswith("My noise\n")


@spread("more, option, says", [
    ("--plot a.svg --plot-size 3", "--plot-size", "from 1.5 to 20; write 3.3x2.5"),
    ("--plot a.svg --plot-size 0x4", "--plot-size", "'0x4' is not a width and height in inches"),
    ("--plot a.svg --plot-size 300x200", "--plot-size", "from 1.5 to 20"),
    ("--plot a.svg --plot-size 3.3x1.5", "--plot-size", "inches for the curves; give a greater height, or --plot-title"),
    ("--plot - --plot-size 3x2", "--plot-size", "is for a file, as --plot FILE.svg"),
    ("--plot-size 3x2", "--plot-size", "goes with --plot FILE.svg"),
    ("--plot-title none", "--plot-title", "goes with --plot"), ("--plot-names a,b", "--plot-names", "goes with --plot"),
    ("--plot a.svg --plot-names a", "--plot-names", "1 names for 2 curves; give one for each of these, in this order: "
     "gaussian-exact, gaussian-rdp (rdp-optimal)"),
    ("--plot a.svg --plot-names a,b,c", "--plot-names", "3 names for 2 curves"),
    ("--steps 1:99:11 --sigma 1:9:9 --bound gaussian-exact --plot a.svg --plot-names a,b", "--plot-names",
     "a map of colours has no curves to name"),
    ("--batch --plot-size 3x2", "--plot-size", "--batch prints lines")])
def test_mistakes(more, option, says, tmp_path):
    sigma = () if "--sigma" in more else ("--sigma", "1,2")
    with chdir(tmp_path):
        done = call(["rdp", "--delta", "1e-5", *sigma, *more.split()])
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith(f"dpcalc rdp: {option}: ")
    assert says in done.stderr and done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(calculators()))
def test_the_help_lists_them_together_under_output(name):
    output = call([name, "--help"]).stdout.partition("\nOutput:\n")[2]
    assert re.findall(r"^  (--plot[a-z-]*)", output, re.M) == ["--plot", "--plot-size", "--plot-title", "--plot-names"]


@pytest.mark.parametrize("name", ["plot", "plot_size", "plot_title", "plot_names"])
def test_python_and_batches_refuse_them(name):
    with pytest.raises(DpcalcError, match="has no such option"):
        answer("rdp", sigma=1, delta=1e-5, **{name: "a"})
    assert '"code": "unknown-option"' in call(["rdp", "--batch"], stdin=f'{{"sigma": 1, "{name}": "a"}}').stdout


# --- the curve that is drawn thick -----------------------------------------------------------------------------------


@pytest.mark.parametrize("line, single", [
    (TWO_BOUNDS, True), (BURN_IN, False), (f"{BURN_IN} --bound burn-in-rdp --bound composition", True),
    ("rdp --mechanism laplace --scale 1:9:5 --steps 20 --delta 1e-5", True)])
def test_the_thick_curve_has_the_number_of_every_point(line, single):
    found = swept(line)
    axes, = figure(found.plot).axes
    *others, thickest = sorted(axes.lines, key=lambda drawn: drawn.get_linewidth())
    assert all(drawn.get_linewidth() < thickest.get_linewidth() for drawn in others)
    assert list(thickest.get_ydata()) == [p.answer.value for p in found.points]
    names = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert len(names) == len(axes.lines) and (names[-1] == "best") == (not single)
    if not single:
        assert all(thickest.get_zorder() < drawn.get_zorder() for drawn in others)


def test_what_is_not_proven_is_never_the_best():
    plot = swept(f"online-noise --c1 100 --c2 100 --decay 1.5 {LAPLACE} .01 --index 9 --n 1e3,1e4,inf --epsilon 1").plot
    assert plot.series[plot.strong].proven
    plot = swept("shuffle-pnsgd --lipschitz 1 --bound without-replacement-conjecture --tau .5 --n 1000 --delta 1e-4 "
                 "--sigma 2,3,4").plot
    assert plot.strong is None and plot.best is None and [s.proven for s in plot.series].count(False) == 2


# --- grids of many values --------------------------------------------------------------------------------------------


def test_a_map_has_a_cell_for_each_answer():
    found = swept(GRID)
    axes, bar = figure(found.plot).axes
    cells = axes.collections[0].get_array()
    assert cells.count() == cells.size == 99 == len(found.points)
    assert sorted(10**cells.ravel()) == pytest.approx(sorted(p.answer.value for p in found.points))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of releases T", "noise σ [units of the sensitivity]")
    assert bar.get_ylabel() == "privacy loss ε at δ = 10⁻⁵" and not axes.figure.legends
    assert [t.get_text() for t in axes.get_yticklabels()] == ["1", "2", "5", "10", "20"]


def test_cells_without_an_answer_are_blank():
    found = swept("rdp --sigma 1:9:9 --steps 1,1.5,2,3,4,5,6,7,8,9 --delta 1e-5 --bound gaussian-exact")
    cells = figure(found.plot).axes[0].collections[0].get_array()
    assert cells.count() == sum(p.answer is not None for p in found.points) == 9 * 9


def test_contour_lines_are_at_the_round_values_of_the_colour_bar():
    axes, bar = figure(swept(GRID).plot).axes
    levels = axes.collections[1].levels
    assert 10**levels == pytest.approx([0.2, 0.5, 1, 2, 5, 10, 20, 50])
    assert [float(t.get_text()) for t in bar.get_yticklabels()] == pytest.approx(10**levels)


def test_seven_values_are_lines_and_what_is_not_proven_is_not_a_map():
    axes, = figure(swept(GRID.replace("1:20:9:log", "1:20:7:log")).plot).axes
    assert len(axes.lines) == 7 and not axes.collections
    conjecture = swept("shuffle-pnsgd --lipschitz 1 --tau .5 --n 1000 --delta 1e-4 --sigma 2:9:8 --epochs 1:8:8 "
                       "--bound without-replacement-conjecture").plot
    assert len(figure(conjecture).axes[0].lines) == len(conjecture.series) >= 8


def test_a_map_is_drawn_into_an_svg(tmp_path):
    svg = draw(swept(GRID).plot, "svg")
    assert "ε at δ = 10⁻⁵" in texts(svg) and svg.count(b"QuadMesh") == 1


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, says", [
    ("ε at δ = 1e-05", "ε at δ = 10⁻⁵"), ("δ = 0.0001", "δ = 10⁻⁴"), ("n = 1e6, b = 2.5e+3", "n = 10⁶, b = 2.5·10³"),
    ("σ = 0.1, T = 1000", "σ = 0.1, T = 1000"), ("blend-1e5x, s1e-5", "blend-1e5x, s1e-5"), ("1e0", "10⁰")])
def test_numbers_in_powers_of_ten(text, says):
    assert in_powers(text) == says


@given(st.floats(1e-300, 1e300))
def test_a_number_in_powers_is_the_number(x):
    first, power, exponent = in_powers(f"{x:.3e}").rpartition("10")
    raised = "".join("-0123456789"["⁻⁰¹²³⁴⁵⁶⁷⁸⁹".index(c)] for c in exponent)
    assert power and float(f"{first.removesuffix('·') or 1}e{raised}") == float(f"{x:.3e}")


@pytest.mark.parametrize("line", ["rdp --sigma 9:40:9 --epsilon 1", "rdp --sigma 1:9:5 --epsilon 3",
                                  "rdp --sigma 20:30:5 --steps 1 --epsilon .1 --bound gaussian-exact"])
def test_an_axis_has_one_notation(line):
    axes, = figure(swept(line).plot).axes
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        shown = [t.get_text() for t in labels if t.get_text() != "0"]
        assert len(shown) >= 2 and len({"10" in t and set(t) & set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹") != set() for t in shown}) == 1
    assert all(a < b for a, b in pairwise(axes.get_xticks()))
