"""Colours: on a terminal, as --color, NO_COLOR, FORCE_COLOR and TERM say, and never in the text itself."""

import re

import pytest
from calling import call
from conftest import SCRIPT, slow, spread
from terminals import on_terminal

import dpcalc

BURN_IN = ("burn-in --n 60 --batch-size 12 --steps 2 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
           "--diameter 2 --sigma 0.1 --delta 1e-5")
RDP = "rdp --sigma 1 --delta 1e-5"


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def terminal(line, stream="stdout", **variables):
    shown = on_terminal([SCRIPT, *line.split()], 80, streams=[stream], **({"NO_COLOR": None} | variables))
    assert shown.code in (0, 2)
    return shown.screen


@spread("variables, option, coloured", [
    ({}, "", True), ({"NO_COLOR": "1"}, "", False), ({"TERM": "dumb"}, "", False), ({}, "--color never", False),
    ({"NO_COLOR": "1"}, "--color always", True), ({"TERM": "dumb", "FORCE_COLOR": "1"}, "", True),
    ({"NO_COLOR": "", "FORCE_COLOR": ""}, "", True)])
def test_a_terminal_has_colours_unless_somebody_says_no(variables, option, coloured):
    text = terminal(f"{RDP} {option}", **variables)
    assert ("\x1b[" in text) == coloured


@pytest.mark.parametrize("option, variables, coloured", [
    ("", {}, False), ("--color always", {}, True), ("", {"FORCE_COLOR": "1"}, True),
    ("--color always", {"NO_COLOR": "1"}, True)])
def test_a_pipe_has_colours_only_on_request(option, variables, coloured, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in call(f"{RDP} {option}".split()).stdout) == coloured


def test_the_headline_is_bold_sources_are_dim_and_what_is_not_proven_is_yellow():
    text = terminal(BURN_IN)
    headline = text.splitlines()[0]
    assert headline.startswith("\x1b[1mε = ") and headline.endswith("\x1b[0m")
    unproven = next(line for line in text.splitlines() if "lower-bound" in line)
    assert "\x1b[38;5;136mlower-bound" in unproven
    assert re.search(r"\x1b\[2m[^\x1b]*Balle et al. 2018", text)


def test_colours_do_not_move_the_text(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for line in plain(terminal(BURN_IN)).splitlines()]
    assert lines == call(BURN_IN.split()).stdout.splitlines()


def test_warnings_are_yellow():
    warned = terminal("subsample --n 100 --batch-size 10 --epochs 1 --noise-multiplier 1 --delta .1 --bound poisson-rdp",
                      "stderr")
    assert "\x1b[38;5;136mwarning: \x1b[0m" in warned


def test_errors_are_red():
    assert terminal("rdp --sigma -1 --delta 1e-5", "stderr").startswith("\x1b[1;31mdpcalc rdp: \x1b[0m--sigma")


def test_a_long_error_is_broken_between_words_on_a_terminal():
    line = "compare --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5"
    lines = plain(terminal(line, "stderr")).splitlines()
    assert len(lines) > 2 and max(map(len, lines)) <= 80
    assert [" ".join(lines)] == call(line.split()).stderr.splitlines()


@pytest.mark.parametrize("line", ["explain headline", "help delta", slow(
    "compare --n 600 --batches shuffled --batch-size 60 --epochs 2 --noise-multiplier 2 --delta 1e-5")])
def test_titles_are_bold(line):
    bold = re.findall(r"^\x1b\[1m(.*)\x1b\[0m$", terminal(line), re.MULTILINE)
    assert bold[0] and (not line.startswith("compare") or bold[-1] == "What would lower ε:")


@pytest.mark.parametrize("form", ["--json", "--format markdown", *map(slow, ("-q", "--format csv", "--format latex"))])
def test_what_programs_read_has_none(form):
    assert "\x1b" not in terminal(f"{RDP} {form} --color always")


@pytest.mark.parametrize("form", ["", "--plot -", "--explain"])
def test_a_file_has_none(form, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = tmp_path / "answer.txt"
    done = call(["rdp", "--sigma", "1,2" if form == "--plot -" else "1", "--delta", "1e-5", "--color", "always",
                 "--output", str(file), *form.split()])
    assert done.returncode == 0 and file.read_text() and "\x1b" not in file.read_text()


def test_an_unknown_word_is_refused():
    done = call([*RDP.split(), "--color", "blue"])
    assert done.returncode == 2 and done.stderr == "dpcalc rdp: --color: 'blue' is not one of auto, always, never\n"


def test_the_python_api_gives_plain_text(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    call([*RDP.split(), "--color", "always"])
    assert "\x1b" not in str(dpcalc.answer("rdp", sigma=1, delta=1e-5))
