"""The picture: its axes, lines and legend, and the files that --plot writes."""

import contextlib
import json
import os
import re
import resource
import struct
import subprocess
import sys
from unittest import mock

import pytest
from conftest import slow, spread
from plotted import LAPLACE, swept

from dpcalc.output.plot.figure import draw as drawn
from dpcalc.output.plot.figure import figure
from dpcalc.output.plot.records import Plot, Scale, Series
from dpcalc.output.plot.terminal import draw


def made(line):
    return figure(swept(line).plot)


def test_figure_axes_lines_and_legend():
    picture = made(f"shuffle-pnsgd --c1 1e5 --c2 2 {LAPLACE} .1 --n 1e3:1e9:4:log --epsilon 1 --bound "
                   f"shuffled-contraction --bound shuffled-limit")
    axes, = picture.axes
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "number of records n")
    first, second = axes.lines
    assert list(first.get_xdata()) == pytest.approx([1e3, 1e5, 1e7, 1e9])
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--")
    assert first.get_color() != second.get_color() and first.get_marker() != second.get_marker() and first.get_zorder() > second.get_zorder()
    assert [t.get_text() for t in picture.legends[0].get_texts()] == ["shuffled-contraction", "shuffled-limit [limit]"]


def test_figure_of_underflowing_values_and_of_less_than_two_decades():
    axes, = made("rdp --sigma 1,2,3 --epsilon 400").axes
    assert axes.get_yscale() == "linear" and "10⁻⁵⁰⁰⁰⁰" in [t.get_text() for t in axes.get_yticklabels()]
    axes, = made("rdp --sigma 1:2:3:log --delta 1e-5").axes
    axes.figure.draw_without_rendering()
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2"] and axes.get_yscale() == "linear"


def test_no_two_lines_look_alike():
    lines = tuple(Series(f"s{k}", (1.0, 2.0), (k, 1.0)) for k in range(20))
    drawn = figure(Plot("t", "", Scale("x"), Scale("y"), lines)).axes[0].lines
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 20


@spread("series", [
    Series("gaps", (1.0, 2.0, 3.0), (None, 2.0, None)), Series("none", (1.0,), (None,)), Series("empty", (), ()),
    Series("one", (1.0,), (1.0,))])
@pytest.mark.parametrize("kind", ["linear", "log", "powers"])
def test_odd_lines_are_drawn(series, kind):
    plot = Plot("$t$", "s_{$", Scale("x$", kind), Scale("y$", kind), (series,))
    figure(plot).draw_without_rendering()  # and dollars are no formulas
    text = draw(plot, 60, 20)
    assert len(text.splitlines()) < 20 and ("●" in text.rsplit("\n", 1)[0]) == any(series.y)
    lines = figure(plot).axes[0].lines[0]
    assert lines.get_markevery() == list(range(len(series.y)))


def test_svg_is_text_and_the_same_every_time():
    plot = swept("rdp --sigma 1,2,40 --delta 1e-5").plot
    text = drawn(plot, "svg").decode()
    assert drawn(plot, "svg").decode() == text
    assert "<title>ε at δ = 10⁻⁵: rdp, gaussian</title>" in text and "<dc:date>" not in text
    for words in ("gaussian-rdp (rdp-optimal)", "noise σ [units of the sensitivity]", "ε at δ = 10⁻⁵"):
        assert re.search(rf"<text[^>]*>\s*{re.escape(words)}\s*</text>", text)


def test_png_has_its_size():
    data = drawn(swept("rdp --sigma 1,2 --delta 1e-5").plot, "png")
    wide, high = struct.unpack(">II", data[16:24])
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and wide == 960 and 600 <= high <= 720


def test_pdf_embeds_its_fonts():
    data = drawn(swept("rdp --sigma 1,2,40 --delta 1e-5").plot, "pdf")
    assert b"/FontFile2" in data and b"/Type3" not in data


@pytest.mark.slow
def test_pdf_is_the_same_every_time():
    plot = swept("rdp --sigma 1,2,40 --delta 1e-5").plot
    assert drawn(plot, "pdf") == drawn(plot, "pdf")


def test_ticks_of_powers_of_ten_near_1_are_plain_numbers():
    axes, = made("rdp --epsilon .1:10:9:log --delta 1e-5 --solve sigma").axes
    axes.figure.draw_without_rendering()
    assert {"0.1", "1", "10"} <= {t.get_text() for t in axes.get_xticklabels()}


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, start", [("a.svg", b"<?xml"), ("b.PNG", b"\x89PNG"), slow("c.pdf", b"%PDF")])
def test_a_file_is_written_beside_the_table(name, start, cli, tmp_path):
    line, path = ("rdp", "--sigma", "1,2,40", "--delta", "1e-5"), tmp_path / name
    done = cli(*line, "--plot", path, "--format", "csv")
    assert done.returncode == 0 and done.stdout == cli(*line, "--format", "csv").stdout
    assert done.stderr.endswith(f"plot: {path}\n") and path.read_bytes().startswith(start)


@spread("line, says", [
    ("--sigma 1 --delta 1e-5 --plot a.svg", "give one or two options several values, as in --sigma A,B,C"),
    ("--sigma 1 --delta 1e-5 --plot -", "as in"),
    ("--sigma 1,2 --delta 1e-5 --plot a.eps", "'a.eps' is not FILE.svg, FILE.png, FILE.pdf or - (the terminal)"),
    ("--sigma 1,2 --delta 1e-5 --plot svg", "is not FILE.svg"),
    ("--sigma 1,2 --delta 2 --plot a.eps", "is not FILE.svg"),  # before anything is computed
    ("--sigma 1,2 --delta 2 --plot /no/such/a.svg", "cannot write '/no/such/a.svg': no directory '/no/such'"),
    ("--sigma 1,2 --delta 1e-5 --plot - -q", "--quiet goes with FILE.svg"),
    ("--sigma 1,2 --delta 1e-5 --plot - --format csv", "--format goes with FILE.svg"),
    ("--sigma 1,2 --plot -", "nothing to compute"),
])
def test_errors(cli, tmp_path, line, says):
    done = cli("rdp", *line.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout,
            done.stderr.count("\n")) == (2, "", 1) and says in done.stderr and not list(tmp_path.iterdir())


def test_a_directory_is_no_file_and_json_says_so_too(cli, tmp_path):
    (tmp_path / "d.svg").mkdir()
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", tmp_path / "d.svg", "--json")
    assert json.loads(done.stderr)["error"]["option"] == "--plot" and "is a directory" in done.stderr and done.stdout == ""


def test_a_matplotlib_that_does_not_work_is_named(cli, tmp_path):
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('no matplotlib here')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", tmp_path / "a.svg", env=env)
    assert done.returncode == 2 and "--plot needs matplotlib that works (no matplotlib here): pip install matplotlib" in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""
    assert cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", "-", env=env).returncode == 0


def test_without_matplotlib_it_is_named(tmp_path):
    code = "import sys; sys.modules['matplotlib'] = None; from dpcalc.cli.app import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot",
                           str(tmp_path / "a.svg")],
                          capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("dpcalc rdp: --plot needs matplotlib: pip install "
                                                           "matplotlib (--plot - draws in the terminal")


# --- the old picture -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def full():
    """No file may have more than 1000 bytes: as on a disk that is full, the rest is not written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def interrupted():
    return mock.patch("os.replace", side_effect=KeyboardInterrupt)


def undrawn():
    return mock.patch("dpcalc.output.plot.figure.draw", side_effect=OSError("no fonts"))


@pytest.mark.parametrize("failing, code", [(full, 2), (interrupted, 130), (undrawn, 2)])
@pytest.mark.parametrize("old", [b"the old picture", None])
def test_a_plot_that_fails_leaves_the_folder_as_it_was(failing, code, old, cli, tmp_path):
    path = tmp_path / "a.svg"
    if old:
        path.write_bytes(old)
    # what is printed here is no file whose rest could be dropped
    with failing(), mock.patch("dpcalc.cli.standard_streams._drop_output"):
        done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", path)
    assert (done.returncode,
            done.stdout) == (code, "") and done.stderr.count("\n") == (code == 2) and "fault" not in done.stderr
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == ({"a.svg": old} if old else {})


def test_a_new_picture_has_the_rights_and_the_place_of_the_old_one(cli, tmp_path):
    real, link = tmp_path / "real.svg", tmp_path / "link.svg"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", link).returncode == 0
    assert link.is_symlink() and real.read_bytes().startswith(b"<?xml") and real.stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 2
