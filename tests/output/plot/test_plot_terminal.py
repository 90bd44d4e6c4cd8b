"""Plots made of characters, and the ticks of their axes."""

import math
import os
import re
from itertools import pairwise

import pytest
from answers import printed
from hypothesis import given, settings
from hypothesis import strategies as st
from plotted import swept

from dpcalc.output.plot.records import Plot, Scale, Series
from dpcalc.output.plot.terminal import draw
from dpcalc.output.plot.ticks import Extent, ticks

DIAGONAL = Plot("t", "s", Scale("x", "log"), Scale("y", "log"),
                (Series("up", tuple(10.0**k for k in range(9)), tuple(10.0**k for k in range(9))),))
CONJECTURE = "shuffle-pnsgd --lipschitz 1 --bound without-replacement-conjecture"


def test_the_terminal_shows_points_where_they_are():
    lines = draw(DIAGONAL, 80, 24).splitlines()
    assert len(lines) == 23 and lines[:3] == ["t", "s", "y"] and lines[-1] == "● up" and lines[-2].strip() == "x"
    marks = [(line.index("●"), row) for row, line in enumerate(lines[3:-4]) if "●" in line]
    assert len(marks) == 9
    ahead, down = zip(*sorted(marks), strict=True)
    assert all(abs((b - a) - (ahead[-1] - ahead[0]) / 8) <= 1 for a, b in pairwise(ahead))
    assert list(down) == sorted(down, reverse=True) and down[0] == len(lines) - 8 and down[-1] == 0
    foot = lines[-3]
    for at, text in ((ahead[0], "10⁰"), (ahead[4], "10⁴"), (ahead[-1], "10⁸")):  # the number below its mark
        assert foot.index(text) <= at <= foot.index(text) + len(text)
    heights = {line.split("┤")[0].strip(): row for row, line in enumerate(lines[3:-4]) if "┤" in line}
    assert heights["10⁰"] == down[0] and heights["10⁸"] == down[-1] and heights["10⁴"] == pytest.approx(down[4], abs=1)


def test_the_terminal_has_other_characters_without_utf_8():
    plot = swept("rdp --epsilon .1:9:12:log --delta 1e-5 --solve sigma").plot
    for encoding in ("ascii", "latin-1", "cp1252", "no-such"):
        text = draw(plot, 60, 24, encoding)
        assert text.isascii() and "sigma for each eps at delta = 1e-05" in text and "* gaussian-exact" in text and "noise sigma [" in text
        assert max(map(len, text.splitlines())) < 60
    assert "⠒" in draw(plot, 60, 24, "utf-8") and "\x1b" not in draw(plot, 60, 24, "utf-8")
    plain = re.sub(r"\x1b\[[\d;]*m", "", draw(plot, 60, 24, "utf-8", coloured=True))
    assert plain == draw(plot, 60, 24, "utf-8") and re.search(r"\x1b\[38;5;172m[\u2800-\u28ff○]+\x1b\[0m",
                                                              draw(plot, 60, 24, "utf-8", coloured=True))


def test_lines_that_coincide_take_turns_and_too_many_are_told():
    same = tuple(float(k) for k in range(9))
    text = draw(Plot("t", "", Scale("x"), Scale("y"), tuple(Series(f"s{k}", same, same) for k in range(3))), 80, 24)
    assert [text.count(mark) for mark in "●○■"] == [4, 4, 4]  # three of nine points each, and the legend
    text = draw(Plot("t", "", Scale("x"), Scale("y"), tuple(Series(f"s{k}", same, same) for k in range(20))), 80, 24)
    assert "8 of 20 lines" in text and "s0" in text and "s19" in text and len(text.splitlines()) == 23


def test_a_dashed_line_has_holes():
    long = (0.0, 1.0)
    text = [draw(Plot("t", "", Scale("x"), Scale("y"), (Series("s", long, long, proven),)), 80, 24)
            for proven in (True, False)]
    dots = [sum(bin(ord(c) - 0x2800).count("1") for c in t if "\u2800" <= c <= "\u28ff") for t in text]
    assert 0.4 * dots[0] < dots[1] < 0.6 * dots[0]


NUMBERS = st.floats(1e-200, 1e200)
HEIGHTS = st.lists(st.none() | NUMBERS, min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(HEIGHTS, min_size=1, max_size=10), st.sampled_from(["linear", "log"]), st.integers(20, 150),
       st.integers(3, 60), st.booleans())
def test_any_plot_fits_the_terminal(heights, kind, columns, lines, ascii_only):
    series = tuple(Series(f"line {k}", tuple(float(i + 1) for i in range(len(ys))), tuple(ys), k % 2 == 0) for k,
                   ys in enumerate(heights))
    text = draw(Plot("title " * 9, "words " * 20, Scale("x" * 50), Scale("y" * 50, kind), series), columns, lines,
                "ascii" if ascii_only else "utf-8")
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
    assert all(a < b for (a, _),
               (b, _) in pairwise(found)) and low - room <= found[0][0] and found[-1][0] <= high + room
    for at, text in found:
        said = float(text[2:]) if kind == "powers" else math.log10(float(text)) if kind == "log" else float(text)
        assert said == pytest.approx(at, abs=1e-5 * size + 1e-9)


def test_ticks_are_the_few_values_that_were_swept():
    said = [text for _, text in ticks(Extent(math.log10(64), math.log10(256)), "log", 6, (64, 128, 256))]
    assert said == ["64", "128", "256"]
    odd = (1, 2.1147425, 20)
    assert [text for _, text in ticks(Extent(0, math.log10(20)), "log", 6, odd)] == ["1", "2", "5", "10", "20"]


@pytest.mark.parametrize("low, high, most, says", [(0.3, 8.9, 4, "2 4 6 8"), (0, 4, 4, "0 1 2 3 4"),
                                                   (1, 9, 3, "2 4 6 8"), (-1, 1, 9, "-1 -0.5 0 0.5 1"),
                                                   (1e6, 4e6, 3, "1e6 2e6 3e6 4e6"),
                                                   (0.1, 0.2, 5, "0.1 0.12 0.14 0.16 0.18 0.2")])
def test_ticks_of_a_linear_axis(low, high, most, says):
    assert " ".join(text for _, text in ticks(Extent(low, high), "linear", most)) == says


def test_the_terminal_gets_a_plot_instead_of_the_table(cli):
    done = cli("rdp", "--sigma", "1,0,40", "--delta", "1e-5", "--plot", "-",
               env={**os.environ, "COLUMNS": "60", "LINES": "24", "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 1 and done.stdout.startswith("rdp, gaussian\nprivacy loss ε at δ = 10⁻⁵\n")
    assert done.stderr.startswith("warning: No answer at σ = 0: ") and "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 23 and max(map(len, done.stdout.splitlines())) < 60


def test_a_terminal_that_has_ascii_alone_gets_a_plot_in_it(cli):
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot=-", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and done.stdout.isascii() and "* gaussian-exact" in done.stdout


def test_a_bound_without_points_has_no_place_in_a_legend():
    _, text = printed(f"{CONJECTURE} --tau .5 --n 1000 --delta 1e-4 --sigma 2,3,4 --plot -")
    assert "without-replacement-unamplified" in text and "without-replacement-lower" not in text
