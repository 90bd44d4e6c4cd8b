"""How options and words are read from a command line."""

import shlex

import pytest

from dpcalc.cli.app import main

ANSWER = "4.377178095681245\n"  # ε of Gaussian noise with σ = 1 at δ = 1e-5


@pytest.mark.parametrize("line", [
    "rdp --sigma 1 --delta 1e-5 -q", "rdp --sigma=1 --delta=1e-5 --quiet", "rdp -d 1e-5 --sigma 1 -q", "rdp -d1e-5 -q --sigma 1",
    "rdp -qd1e-5 --sigma 1", "rdp -qd 1e-5 --sigma 1", "rdp --sigma 1 --delta 1e-5 -q --", "--color never rdp -qd1e-5 --sigma 1",
    "-- rdp -qd1e-5 --sigma 1", "rdp -q -q --sigma 1 --delta 1e-5",
])
def test_every_form_of_an_option_is_read(line, capsys):
    assert main(shlex.split(line)) == 0
    assert capsys.readouterr().out == ANSWER


@pytest.mark.parametrize("line, says", [
    ("rdp --sigma -1 --delta 1e-5", "--sigma: -1 is not > 0"),  # a value may begin with a dash
    ("rdp --sigma --delta 1e-5", "unexpected '1e-5'"), ("rdp --sigma= --delta 1e-5", "--sigma: "),
    ("rdp -d", "-d: needs a value"), ("rdp -qx", "-x: no such option"), ("rdp -- --sigma 1", "unexpected '--sigma'"),
    ("rdp --quiet=1", "--quiet: takes no value"), ("rdp ---sigma 1", "did you mean --sigma?"), ("rdp ''", "unexpected ''"),
    ("rdp --color bad", "'bad' is not one of auto, always, never"), ("convert -- -x", "'-x': No such file"),
    ("--foo rdp", "--foo: no such option; dpcalc --help"), ("- rdp", "no command '-'"),
])
def test_what_is_not_understood_is_said(line, says, capsys):
    assert main(shlex.split(line)) == 2
    text = capsys.readouterr()
    assert text.out == "" and says in text.err and text.err.count("\n") == 1


def test_help_goes_before_words_and_after_unknown_options(capsys):
    assert main(["rdp", "x", "--help"]) == 0 and capsys.readouterr().out.startswith("Usage: dpcalc rdp [OPTIONS]\n")
    assert main(["rdp", "--help", "--foo"]) == 2 and "--foo: no such option" in capsys.readouterr().err
    assert main(["--color", "never"]) == 0 and capsys.readouterr().out.startswith("Usage: dpcalc [OPTIONS] COMMAND")


def test_the_first_of_two_swept_options_is_that_of_the_rows(capsys):
    both = ["--sigma 1,2", "--delta 1e-5,1e-6,1e-7"]
    for line, head in ((both, "σ   δ = 1e-5   δ = 1e-6   δ = 1e-7"), (both[::-1], "   δ     σ = 1     σ = 2")):
        assert main(shlex.split(f"rdp {' '.join(line)}")) == 0
        assert capsys.readouterr().out.splitlines()[2] == head
