"""A terminal is kept to, and holds every digit, name and theorem that a pipe holds."""

import re

import pytest
from calling import call
from conftest import SCRIPT, slow, spread
from terminals import on_terminal

from dpcalc.bounds import all_bounds


def terminal(line, columns):
    shown = on_terminal([SCRIPT, *line.split()], columns, streams=["stdout"])  # not the bar of a slow machine
    assert shown.code == 0 and max(map(len, shown.screen.splitlines())) <= columns
    return shown.screen


def pipe(line):
    return call(line.split()).stdout


def test_a_narrow_terminal_keeps_the_numbers():
    text = terminal("rdp --sigma 1 --delta 1e-5", 45)
    assert "4.37718" in text and "4.72839" in text
    assert "gaussian-exact: Balle & Wang 2018, Thm 8" in text  # below the table, where beside it there is no room


def test_sixty_columns_and_a_pipe_hold_all_digits_of_a_composition():
    line = "convert --from dp --epsilon 0.005 --delta 1e-5 --steps 1000 --target-epsilon 0.15"
    digits = [row.split()[1] for row in pipe(line).splitlines()[5:8]]
    assert digits == ["0.0253927", "0.741845", "1"] and set(digits) <= set(terminal(line, 60).split())


def test_sixty_columns_hold_all_digits_of_a_sweep():
    swept = terminal("rdp --sigma 1,2 --delta 1e-5", 60)
    assert all(x in swept for x in ("4.37718", "4.72839", "1.9931"))


RUN = "burn-in --n 600 --batch-size 12 --steps 9 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter 2 --sigma 0.1 --delta 1e-5"
COMPARISON = "compare --n 60000 --batch-size 100 --epochs 1 --noise-multiplier 3 --clipping-norm 1 --learning-rate .1 --delta 1e-5"


@pytest.mark.parametrize("columns", [None, 60, 80, 100, 200])
@spread("line", [
    RUN, f"{RUN} --all --explain", "rdp --sigma 1 --delta 1e-5", "bounds", "explain gaussian-exact",
    f"{COMPARISON} --batches poisson", slow(f"{COMPARISON} --batches shuffled")])
def test_a_pipe_is_as_wide_as_COLUMNS_says_or_100(line, columns, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
    text = pipe(line)
    assert max(map(len, text.splitlines())) <= (columns or 100) and "…" not in text.replace(",…", "")
    if columns == 200 and line != "rdp --sigma 1 --delta 1e-5":
        assert max(map(len, text.splitlines())) > 100


@pytest.mark.parametrize("columns, widest", [("0", 100), ("abc", 100), ("", 100), ("-5", 100), ("1", 60),
                                             ("9" * 5000, 1000), ("1000000", 1000)])
def test_what_is_no_width_is_none(columns, widest, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    for form in ("", " --plot -"):
        assert max(map(len, pipe(f"rdp --sigma 1,2 --delta 1e-5{form}").splitlines())) <= widest


@pytest.mark.slow  # quick: a broken example of the help
def test_commands_below_a_comparison_can_be_pasted(monkeypatch):
    """A command that is broken over lines is the same command."""
    line = ("compare --n 60000 --batches without-replacement --batch-size 128 --steps 1e5 --sigma .1 --lipschitz 1 "
            "--loss convex --smoothness 1 "
            "--learning-rate .05 --diameter 2 --release last-iterate --delta 1e-5")
    monkeypatch.setenv("COLUMNS", "60")
    text = pipe(f"{line} --all")
    start = text.index("dpcalc burn-in")
    command = re.match(r"(?:.*\\\n)*.*", text[start:]).group(0)
    assert command.count("\n") >= 3
    value = re.search(r"^burn-in-profile +(\S+)", text, re.M).group(1)
    assert call(re.sub(r"\\\n *", "", command).split()[1:]).stdout.startswith(f"ε = {value} at")


@pytest.mark.parametrize("line, columns, names", [
    ("bounds", 60, list(all_bounds())), slow("bounds", 200, list(all_bounds())),
    ("explain burn-in-profile", 60, ["burn-in-profile"])])
def test_nothing_is_cut_from_the_catalogue(line, columns, names):
    text = terminal(line, columns)
    assert all(name in text for name in names) and "…" not in text.replace(",…", "")
