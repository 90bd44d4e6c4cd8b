"""A terminal is kept to, and holds every digit, name and theorem that a pipe holds."""

import pytest
from calling import call
from conftest import SCRIPT
from terminals import on_terminal

from dpcalc.bounds import all_bounds


def terminal(line, columns):
    shown = on_terminal([SCRIPT, *line.split()], columns, streams=["stdout"])  # not the bar of a slow machine
    assert shown.code == 0 and max(map(len, shown.screen.splitlines())) <= columns
    return shown.screen


def pipe(line):
    return call(line.split()).stdout


def test_a_narrow_terminal_keeps_the_numbers():
    text = terminal("rdp --sigma 1 --delta 1e-5", 60)
    assert "4.37718" in text and "4.72839" in text
    assert "gaussian-exact: Balle & Wang 2018, Theorem 8," in text  # below the table, where beside it there is no room


def test_sixty_columns_and_a_pipe_hold_all_digits():
    line = "convert --from dp --epsilon 0.005 --delta 1e-5 --steps 1000 --target-epsilon 0.15"
    digits = [row.split()[2] for row in pipe(line).splitlines()[4:7]]
    assert digits == ["0.0253927", "0.741845", "1"] and set(digits) <= set(terminal(line, 60).split())
    assert max(map(len, pipe(line).splitlines())) > 60 and "…" not in pipe(line)  # a pipe is as wide as the text
    swept = terminal("rdp --sigma 1,2 --delta 1e-5", 60)
    assert all(x in swept for x in ("4.37718", "4.72839", "1.9931"))


@pytest.mark.parametrize("line, columns, names", [
    ("bounds", 60, list(all_bounds())), ("bounds", 200, list(all_bounds())), ("explain burn-in-profile", 60, ["burn-in-profile"])])
def test_nothing_is_cut_from_the_catalogue(line, columns, names):
    text = terminal(line, columns)
    assert all(name in text for name in names) and "…" not in text.replace(",…", "")
