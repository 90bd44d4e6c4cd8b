"""Plots by their structure: lines, scales, words, gaps; the picture's axes and legend; the terminal's characters."""

import importlib
import json
import math
import re
import struct
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcalc.cli import COMMANDS
from dpcalc.errors import DpcalcError
from dpcalc.plot import Plot, Scale, Series, of_sweep, of_tables
from dpcalc.plot_terminal import draw
from dpcalc.plot_ticks import Extent, ticks
from dpcalc.plot_words import axis_label, wrapped
from dpcalc.render_sweep import Point
from dpcalc.run import _one
from dpcalc.spec import Page
from dpcalc.sweep import axes, points

LAPLACE = "--noise laplace --lipschitz 10 --diameter 1 --smoothness .5 --learning-rate"
PNSGD = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


def swept(line):
    """The plot of a command line, and the answers it is made of."""
    name, *words = line.split()
    command = importlib.import_module("dpcalc.commands." + name.replace("-", "_")).COMMAND
    raw, several = {}, {o.name for o in command.all_options() if o.multiple}
    for option, text in zip(words[::2], words[1::2], strict=True):
        key = option[2:].replace("-", "_")
        raw[key] = (*raw.get(key, ()), text) if key in several else text
    found = axes(command, raw)
    if not found:
        return SimpleNamespace(plot=of_tables(command, raw, [("", _one(command, raw, ()))]))
    answers = []
    for at in points(found):
        try:
            answers.append(Point(at, _one(command, {**raw, **at}, ())))
        except DpcalcError as error:
            answers.append(Point(at, error=error))
    return SimpleNamespace(plot=of_sweep(command, raw, answers), points=answers)


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_a_line_a_bound_the_headline_first():
    found = swept("rdp --sigma 4,1,2 --delta 1e-5")
    labels = [s.label for s in found.plot.series]
    assert labels == ["gaussian-exact", "gaussian-rdp (rdp-optimal)", "gaussian-rdp (rdp-improved)"]
    at = {p.at["sigma"]: p.answer for p in found.points}
    for k, series in enumerate(found.plot.series):
        assert series.x == (1, 2, 4) and series.proven  # in order, however they were given
        assert series.y == tuple(at[x].rows[k].result["epsilon"] for x in "124")


@pytest.mark.parametrize("line, x, y", [
    ("rdp --sigma 1,2,31 --delta 1e-5", "linear", "log"),  # 1.49 decades; ε falls faster
    ("rdp --sigma 1,2,33 --delta 1e-5", "log", "log"),
    ("rdp --sigma 1:2:3:log --delta 1e-5", "log", "linear"),
    ("rdp --sigma 1:2:3 --delta 1e-5", "linear", "linear"),
    ("rdp --sigma 1,2 --epsilon 9", "linear", "log"),
    ("rdp --sigma 1,2 --epsilon 400", "linear", "powers")])
def test_axes_are_logarithmic_where_the_data_ask_for_it(line, x, y):
    plot = swept(line).plot
    assert (plot.x.kind, plot.y.kind) == (x, y)


def test_a_delta_that_underflows_is_drawn_by_its_logarithm():
    found = swept("rdp --sigma 1,2,3 --epsilon 400 --bound gaussian-exact")
    logs = [p.answer.rows[0].result["log_delta"] / math.log(10) for p in found.points]
    assert found.plot.series[0].y == tuple(logs) and max(logs) < -8000


def test_what_fails_is_a_gap_and_what_has_no_place_is_said():
    plot = swept("rdp --sigma 5 --delta 1e-5 --steps 1,1.5,9 --bound gaussian-exact").plot
    assert plot.series[0].y[1] is None and all(plot.series[0].y[i] for i in (0, 2)) and plot.notes == ()
    plot = swept("rdp --mechanism laplace --scale .1:3:9:log --epsilon 1 --bound laplace-exact").plot
    assert plot.y.kind == "linear" and None not in plot.series[0].y  # δ near 1, and 0: no logarithm is needed
    plot = swept("rdp --mechanism laplace --scale .9,.9999,2 --epsilon 1 --bound laplace-exact").plot
    assert plot.y.kind == "log" and plot.series[0].y[2] is None
    assert plot.notes == ("not drawn: 1 point of laplace-exact at 0 (a logarithmic axis has none)",)


def test_what_is_not_proven_is_marked_also_where_that_changes():
    plot = swept(f"shuffle-pnsgd --c1 1e5 --c2 2 {LAPLACE} .1 --n 1e3,1e4 --epsilon 1 --bound shuffled-contraction "
                 "--bound shuffled-limit").plot
    assert [(s.label, s.proven) for s in plot.series] == [("shuffled-contraction", True), ("shuffled-limit [limit]", False)]
    plot = swept(f"online-noise --c1 100 --c2 100 --decay 1.5 {LAPLACE} .01 --index 9 --n 1e3,1e4,inf --epsilon 1").plot
    assert [(s.label, s.x) for s in plot.series] == [("online-contraction", (1e3, 1e4)), ("online-contraction [limit]", (1e3, 1e4))]
    assert plot.series[0].y[1] and plot.series[1].y == (None, None) and "at infinity" in plot.notes[0]


def test_of_two_options_the_longer_one_runs_along_x():
    for line in ("rdp --sigma 1,2,4 --steps 1:64:7:log --delta 1e-5", "rdp --steps 1:64:7:log --sigma 1,2,4 --delta 1e-5"):
        found = swept(line)
        assert [s.label for s in found.plot.series] == ["σ = 1", "σ = 2", "σ = 4"]
        assert [s.value for s in found.plot.series] == [1, 2, 4]
        assert found.plot.series[0].x == (1, 2, 4, 8, 16, 32, 64)
        heads = {p.answer.parameters["steps"]: p.answer.value for p in found.points if p.answer.parameters["sigma"] == 2}
        assert found.plot.series[1].y == tuple(heads[t] for t in found.plot.series[1].x)
    assert [s.label for s in swept("rdp --sigma 1,2 --delta 1e-5,1e-6").plot.series] == ["δ = 1e-5", "δ = 1e-6"]


WORDS = [
    ("rdp --sigma 1,2 --delta 1e-5", "ε at δ = 1e-05", "rdp, gaussian", "noise σ [units of the sensitivity]", "privacy loss ε"),
    ("rdp --delta 1e-5,1e-6 --sigma 2", "ε", "rdp, gaussian: σ = 2", "failure probability δ", "privacy loss ε"),
    ("rdp --sigma 1,2 --alpha 8 --steps 1e2", "ε(α) at α = 8", "rdp, gaussian: T = 1e2", "noise σ [units of the sensitivity]", "Rényi divergence ε(α)"),
    ("rdp --epsilon 1,2 --delta 1e-5 --solve sigma", "σ for δ = 1e-05", "rdp, gaussian", "privacy loss ε", "noise σ [units of the sensitivity]"),
    ("rdp --sigma 9,10 --epsilon 2 --delta 1e-5 --solve steps", "T for ε <= 2, δ = 1e-05", "rdp, gaussian", "noise σ [units of the sensitivity]",
     "number of compositions T"),
    ("rdp --noise-multiplier 1,2 --delta 1e-5", "ε at δ = 1e-05", "rdp, gaussian", "noise over sensitivity σ/s", "privacy loss ε"),
    ("convert --from gdp --mu 1,2 --epsilon 1", "δ at ε = 1", "convert, from gdp", "parameter of Gaussian differential privacy μ", "failure probability δ"),
    ("convert --from dp --epsilon .1,.2 --delta 1e-6 --steps 20 --target-epsilon 1", "δ at ε = 1", "convert, from dp: T = 20, δ = 1e-6", "privacy loss ε",
     "failure probability δ"),
    ("convert --from dp --epsilon .1 --delta 1e-6 --steps 20 --target-epsilon 1,2", "δ", "convert, from dp: T = 20, ε = .1, δ = 1e-6", "privacy loss ε",
     "failure probability δ"),
    ("subsample --sampling-rate .01 --sigma 2 --steps 10,20 --alpha 4", "ε(α) at α = 4", "subsample, poisson, gaussian: q = .01, σ = 2",
     "number of compositions T", "Rényi divergence ε(α)"),
    (f"shuffle-pnsgd --sigma 1,2 {PNSGD} --n 9 --epsilon 1", "δ at ε = 1", "shuffle-pnsgd, gaussian: L = 1, β = .5, η = .01, D = 2, n = 9",
     "noise σ [units of the gradient]", "failure probability δ"),
    ("noise-feedback --curvature .7 --learning-rate .1,.2 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5", "ε at δ = 1e-05", None, "step size η", "privacy loss ε"),
    (f"burn-in --n 60 --batch-size 6 --steps 1e3,1e4 --order fixed {PNSGD} --sigma 1 --delta 1e-5", "ε at δ = 1e-05",
     "burn-in, fixed order: n = 60, b = 6, L = 1, β = .5, η = .01, D = 2, σ = 1", "number of iterations T", "privacy loss ε"),
    ("tv --sigma 1,2", "TV", "tv, gaussian", "noise σ [units of the sensitivity]", "total variation distance TV"),
    ("tv --tv .1,.2 --solve sigma", "σ", "tv, gaussian", "total variation distance TV", "noise σ [units of the sensitivity]"),
    ("tv --sigma 1 --fpr .1,.2", "Largest true-positive rate of any attack", "tv, gaussian: σ = 1", "false-positive rate f", "true-positive rate TPR"),
    ("online-noise --schedule 1:9 --c1 9 --c2 9 --decay 2 --diameter 2 --learning-rate .01 --smoothness .5", "σ of each step",
     "online-noise, gaussian: C1 = 9, C2 = 9, a = 2, β = .5, η = .01, D = 2", "step j", "noise σ [units of the gradient]"),
]


@pytest.mark.parametrize("line, title, subtitle, x, y", WORDS, ids=[w[0][:40] for w in WORDS])
def test_words(line, title, subtitle, x, y):
    plot = swept(line).plot
    assert (plot.title, plot.x.label, plot.y.label) == (title, x, y)
    if subtitle:
        assert plot.subtitle == subtitle


def test_every_option_that_can_be_swept_has_a_short_name():
    for name in COMMANDS:
        command = importlib.import_module("dpcalc.commands." + name.replace("-", "_")).COMMAND
        for option in () if isinstance(command, Page) else command.all_options():
            if option.quantity.kind in ("number", "count", "horizon"):
                label = axis_label(command, option.name)
                assert 0 < len(label) <= 64 and option.quantity.symbol in label


def test_the_roc_curve_is_drawn_beside_a_blind_guess():
    plot = swept("tv --sigma 1 --fpr .01,.1,.5").plot
    attack, blind = plot.series
    assert blind.x == blind.y == attack.x == (0.01, 0.1, 0.5) and all(t > f for f, t in zip(attack.x, attack.y, strict=True))


def test_a_sweep_of_roc_curves_is_a_curve_a_value():
    plot = swept("tv --sigma 1,1/2 --fpr .01,.1,.5").plot
    assert [s.label for s in plot.series] == ["σ = 1", "σ = 1/2", "blind guess"] and plot.subtitle == "tv, gaussian"
    assert plot.series[0].y == swept("tv --sigma 1 --fpr .01,.1,.5").plot.series[0].y


# --- the picture -----------------------------------------------------------------------------------------------------


def made(line):
    from dpcalc.plot_figure import figure

    return figure(swept(line).plot)


def test_figure_axes_lines_and_legend():
    picture = made(f"shuffle-pnsgd --c1 1e5 --c2 2 {LAPLACE} .1 --n 1e3:1e9:4:log --epsilon 1 --bound shuffled-contraction --bound shuffled-limit")
    axes, = picture.axes
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "number of records n")
    first, second = axes.lines
    assert list(first.get_xdata()) == pytest.approx([1e3, 1e5, 1e7, 1e9])
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--")
    assert first.get_color() != second.get_color() and first.get_marker() != second.get_marker() and first.get_zorder() > second.get_zorder()
    assert [t.get_text() for t in picture.legends[0].get_texts()] == ["shuffled-contraction", "shuffled-limit [limit]"]


def test_figure_of_underflowing_values_and_of_less_than_two_decades():
    axes, = made("rdp --sigma 1,2,3 --epsilon 400").axes
    assert axes.get_yscale() == "linear" and axes.yaxis.get_major_formatter()(-9000, 0) == "$10^{-9000}$"
    axes, = made("rdp --sigma 1:2:3:log --delta 1e-5").axes
    axes.figure.draw_without_rendering()
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2"] and axes.get_yscale() == "linear"


def test_figure_of_many_values_has_a_colour_bar():
    picture = made("rdp --sigma 1:20:9:log --steps 1:99:11 --delta 1e-5")
    axes, bar = picture.axes
    assert len(axes.lines) == 9 and len({line.get_color() for line in axes.lines}) == 9 and not picture.legends
    assert bar.get_ylabel() == "noise σ [units of the sensitivity]" and bar.get_yscale() == "log"


def test_no_two_lines_look_alike():
    from dpcalc.plot_figure import figure

    lines = tuple(Series(f"s{k}", (1.0, 2.0), (k, 1.0)) for k in range(20))
    drawn = figure(Plot("t", "", Scale("x"), Scale("y"), lines)).axes[0].lines
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 20


@pytest.mark.parametrize("series", [
    Series("gaps", (1.0, 2.0, 3.0), (None, 2.0, None)), Series("none", (1.0,), (None,)), Series("empty", (), ()), Series("one", (1.0,), (1.0,))])
@pytest.mark.parametrize("kind", ["linear", "log", "powers"])
def test_odd_lines_are_drawn(series, kind):
    from dpcalc.plot_figure import figure

    plot = Plot("$t$", "s_{$", Scale("x$", kind), Scale("y$", kind), (series,))
    figure(plot).draw_without_rendering()  # and dollars are no formulas
    text = draw(plot, 60, 20)
    assert len(text.splitlines()) < 20 and ("●" in text.rsplit("\n", 1)[0]) == any(series.y)
    lines = figure(plot).axes[0].lines[0]
    assert lines.get_markevery() == list(range(len(series.y)))


def test_svg_is_text_and_the_same_every_time():
    from dpcalc.plot_figure import draw as picture

    plot = swept("rdp --sigma 1,2,40 --delta 1e-5").plot
    text = picture(plot, "svg").decode()
    assert picture(plot, "svg").decode() == text
    assert "<title>ε at δ = 1e-05: rdp, gaussian</title>" in text and "<dc:date>" not in text
    for words in ("gaussian-rdp (rdp-improved)", "noise σ [units of the sensitivity]", "ε at δ = 1e-05"):
        assert re.search(rf"<text[^>]*>\s*{re.escape(words)}\s*</text>", text)


def test_png_has_its_size():
    from dpcalc.plot_figure import draw as picture

    data = picture(swept("rdp --sigma 1,2 --delta 1e-5").plot, "png")
    wide, high = struct.unpack(">II", data[16:24])
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and wide == 960 and 600 <= high <= 720


# --- the terminal ----------------------------------------------------------------------------------------------------

DIAGONAL = Plot("t", "s", Scale("x", "log"), Scale("y", "log"), (Series("up", tuple(10.0**k for k in range(9)), tuple(10.0**k for k in range(9))),))


def test_the_terminal_shows_points_where_they_are():
    lines = draw(DIAGONAL, 80, 24).splitlines()
    assert len(lines) == 23 and lines[:3] == ["t", "s", "y"] and lines[-1] == "● up" and lines[-2].strip() == "x"
    marks = [(line.index("●"), row) for row, line in enumerate(lines[3:-4]) if "●" in line]
    assert len(marks) == 9
    ahead, down = zip(*sorted(marks), strict=True)
    assert all(abs((b - a) - (ahead[-1] - ahead[0]) / 8) <= 1 for a, b in pairwise(ahead))
    assert list(down) == sorted(down, reverse=True) and down[0] == len(lines) - 8 and down[-1] == 0
    foot = lines[-3]
    for at, text in ((ahead[0], "1"), (ahead[4], "1e4"), (ahead[-1], "1e8")):  # the number below its mark
        assert foot.index(text) <= at <= foot.index(text) + len(text)
    heights = {line.split("┤")[0].strip(): row for row, line in enumerate(lines[3:-4]) if "┤" in line}
    assert heights["1"] == down[0] and heights["1e8"] == down[-1] and heights["1e4"] == pytest.approx(down[4], abs=1)


def test_the_terminal_has_other_characters_without_utf_8():
    plot = swept("rdp --epsilon .1:9:12:log --delta 1e-5 --solve sigma").plot
    for encoding in ("ascii", "latin-1", "cp1252", "no-such"):
        text = draw(plot, 60, 24, encoding)
        assert text.isascii() and "sigma for delta = 1e-05" in text and "* gaussian-exact" in text and "noise sigma [" in text
        assert max(map(len, text.splitlines())) < 60
    assert "⠒" in draw(plot, 60, 24, "utf-8") and "\x1b" not in draw(plot, 60, 24, "utf-8")
    plain = re.sub(r"\x1b\[[\d;]*m", "", draw(plot, 60, 24, "utf-8", coloured=True))
    assert plain == draw(plot, 60, 24, "utf-8") and re.search(r"\x1b\[38;5;214m[\u2800-\u28ff○]+\x1b\[0m", draw(plot, 60, 24, "utf-8", coloured=True))


def test_lines_that_coincide_take_turns_and_too_many_are_told():
    same = tuple(float(k) for k in range(9))
    text = draw(Plot("t", "", Scale("x"), Scale("y"), tuple(Series(f"s{k}", same, same) for k in range(3))), 80, 24)
    assert [text.count(mark) for mark in "●○■"] == [4, 4, 4]  # three of nine points each, and the legend
    text = draw(Plot("t", "", Scale("x"), Scale("y"), tuple(Series(f"s{k}", same, same) for k in range(20))), 80, 24)
    assert "8 of 20 lines" in text and "s0" in text and "s19" in text and len(text.splitlines()) == 23


def test_a_dashed_line_has_holes():
    long = (0.0, 1.0)
    text = [draw(Plot("t", "", Scale("x"), Scale("y"), (Series("s", long, long, proven),)), 80, 24) for proven in (True, False)]
    dots = [sum(bin(ord(c) - 0x2800).count("1") for c in t if "\u2800" <= c <= "\u28ff") for t in text]
    assert 0.4 * dots[0] < dots[1] < 0.6 * dots[0]


NUMBERS = st.floats(1e-200, 1e200)
HEIGHTS = st.lists(st.none() | NUMBERS, min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(HEIGHTS, min_size=1, max_size=10), st.sampled_from(["linear", "log"]), st.integers(20, 150), st.integers(3, 60), st.booleans())
def test_any_plot_fits_the_terminal(heights, kind, columns, lines, ascii_only):
    series = tuple(Series(f"line {k}", tuple(float(i + 1) for i in range(len(ys))), tuple(ys), k % 2 == 0) for k, ys in enumerate(heights))
    text = draw(Plot("title " * 9, "words " * 20, Scale("x" * 50), Scale("y" * 50, kind), series), columns, lines, "ascii" if ascii_only else "utf-8")
    assert max(map(len, text.splitlines())) <= max(columns, 40) - 1
    shown = text.splitlines()
    assert len(shown) <= max(lines - 1, 40) and all(f"line {k}" in text for k in (0, len(heights) - 1))


@settings(max_examples=200, deadline=None)
@given(st.floats(-300, 300), st.floats(1e-6, 300), st.sampled_from(["linear", "log", "powers"]), st.integers(2, 12))
def test_ticks_are_round_numbers_in_their_place(low, size, kind, most):
    high = low + size
    if kind == "log" and (size < 1e-4 or not -290 < low <= high < 290):
        return
    found = ticks(Extent(low, high), kind, most)
    assert 1 <= len(found) <= 2.5 * most + 4 and len({text for _, text in found}) == len(found)
    room = 1e-6 * size + 1e-9
    assert all(a < b for (a, _), (b, _) in pairwise(found)) and low - room <= found[0][0] and found[-1][0] <= high + room
    for at, text in found:
        said = float(text[2:]) if kind == "powers" else math.log10(float(text)) if kind == "log" else float(text)
        assert said == pytest.approx(at, abs=1e-5 * size + 1e-9)


def test_wrapped_words_keep_their_numbers():
    assert wrapped("a: n = 60000, b = 1", 10) == ["a:", "n = 60000,", "b = 1"] and wrapped("", 9) == []


# --- the command line ------------------------------------------------------------------------------------------------


def test_a_file_is_written_beside_the_table(cli, tmp_path):
    line = ("rdp", "--sigma", "1,2,40", "--delta", "1e-5")
    for name, start in (("a.svg", b"<?xml"), ("b.PNG", b"\x89PNG")):
        path = tmp_path / name
        done = cli(*line, "--plot", path, "--format", "csv")
        assert done.returncode == 0 and done.stdout == cli(*line, "--format", "csv").stdout
        assert done.stderr.endswith(f"plot: {path}\n") and path.read_bytes().startswith(start)


def test_the_terminal_gets_a_plot_instead_of_the_table(cli):
    import os

    done = cli("rdp", "--sigma", "1,0,40", "--delta", "1e-5", "--plot", "-", env={**os.environ, "COLUMNS": "60", "LINES": "24", "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 1 and done.stdout.startswith("ε at δ = 1e-05\nrdp, gaussian\nprivacy loss ε\n")
    assert done.stderr.startswith("warning: No answer at σ = 0: ") and "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 23 and max(map(len, done.stdout.splitlines())) < 60
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot=-", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and done.stdout.isascii() and "* gaussian-exact" in done.stdout


@pytest.mark.parametrize("line, says", [
    ("--sigma 1 --delta 1e-5 --plot a.svg", "give one or two options several values, as in --sigma A,B,C"),
    ("--sigma 1 --delta 1e-5 --plot -", "as in"),
    ("--sigma 1,2 --delta 1e-5 --plot a.pdf", "'a.pdf' is neither FILE.svg, FILE.png nor -"),
    ("--sigma 1,2 --delta 1e-5 --plot svg", "neither"),
    ("--sigma 1,2 --delta 2 --plot a.pdf", "neither"),  # before anything is computed
    ("--sigma 1,2 --delta 2 --plot /no/such/a.svg", "cannot write '/no/such/a.svg': no directory '/no/such'"),
    ("--sigma 1,2 --delta 1e-5 --plot - -q", "--quiet goes with a file"),
    ("--sigma 1,2 --delta 1e-5 --plot - --format csv", "--format goes with a file"),
    ("--sigma 1,2 --plot -", "nothing to compute"),
])
def test_errors(cli, tmp_path, line, says):
    done = cli("rdp", *line.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and says in done.stderr and not list(tmp_path.iterdir())


def test_a_directory_is_no_file_and_json_says_so_too(cli, tmp_path):
    (tmp_path / "d.svg").mkdir()
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", tmp_path / "d.svg", "--json")
    assert json.loads(done.stderr)["error"]["option"] == "--plot" and "is a directory" in done.stderr and done.stdout == ""


def test_without_matplotlib_the_extra_is_named(cli, tmp_path):
    import os

    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('no matplotlib here')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", tmp_path / "a.svg", env=env)
    assert done.returncode == 2 and "pip install 'dpcalc[plot]'" in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""
    assert cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", "-", env=env).returncode == 0


@pytest.mark.parametrize("low, high, most, says", [(0.3, 8.9, 4, "2 4 6 8"), (0, 4, 4, "0 1 2 3 4"), (1, 9, 3, "2 4 6 8"), (-1, 1, 9, "-1 -0.5 0 0.5 1"),
                                                   (1e6, 4e6, 3, "1e6 2e6 3e6 4e6"), (0.1, 0.2, 5, "0.1 0.12 0.14 0.16 0.18 0.2")])
def test_ticks_of_a_linear_axis(low, high, most, says):
    assert " ".join(text for _, text in ticks(Extent(low, high), "linear", most)) == says
