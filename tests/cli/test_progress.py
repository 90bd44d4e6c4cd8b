"""What takes over two seconds shows a bar on a terminal's stderr, and nowhere else."""

import json
import subprocess
import sys

import pytest
from calling import call
from conftest import SCRIPT, slow
from terminals import on_terminal

from dpcalc.cli import progress

WAITING = [sys.executable, "-c",
           "import time\nfrom dpcalc.cli import progress\nprogress.DELAY = 0.1\n"
           "with progress.waiting('dpcalc subsample') as work:\n"
           "    for k in range(4):\n        work.show((k + 1) / 5, f'{k + 1} of 5 points')\n        time.sleep(0.3)\n"
           "print(1)"]
IMPATIENT = [sys.executable, "-c",
             "import sys\nfrom dpcalc.cli import app, progress\nprogress.DELAY = 0.01\n"
             "sys.exit(app.main(sys.argv[1:]))"]
SUBSAMPLE = ["subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1000", "--delta", "1e-6", "-q"]


def test_it_waits_for_two_seconds():
    assert progress.DELAY == 2


def test_a_bar_on_the_terminal_only():
    code, screen, out = on_terminal(WAITING, streams=["stderr"])
    assert (code, out) == (0, "1\n")
    assert "dpcalc subsample" in screen and "0:00:0" in screen and "4 of 5 points" in screen
    assert screen.rstrip("\r").endswith("\x1b[2K")  # the line of the bar is erased
    quiet = subprocess.run(WAITING, capture_output=True, text=True)
    assert quiet.stderr == "" and quiet.stdout == out


def test_none_on_a_dumb_terminal():
    code, screen, out = on_terminal(["env", "TERM=dumb", *WAITING], streams=["stderr"])
    assert (code, screen, out) == (0, "", "1\n")


@pytest.mark.parametrize("more, least", [(["--bound", "poisson-rdp"], 2.4), slow([], 2.1)])
def test_a_command_that_computes_shows_it(more, least):
    code, screen, out = on_terminal([*IMPATIENT, *SUBSAMPLE, *more], streams=["stderr"])
    assert code == 0 and least < float(out) < least + 0.1 and "dpcalc subsample" in screen
    if not more:
        quiet = subprocess.run([*IMPATIENT, *SUBSAMPLE], capture_output=True, text=True)
        assert quiet.stderr == "" and quiet.stdout == out


@pytest.mark.parametrize("bound", [["--bound", "poisson-rdp"], slow([])])
def test_a_sweep_counts_its_points(bound):
    args = ["subsample", "--sampling-rate", ".01", "--sigma", "1,2,3,4", "--steps", "1000", "--delta", "1e-6", "-q",
            *bound]
    code, screen, out = on_terminal([*IMPATIENT, *args], streams=["stderr"])
    assert code == 0 and len(out.split()) == 4 and " of 4 points" in screen


@pytest.mark.parametrize("streams", [["stderr"], ["stdout", "stderr"]])
@pytest.mark.parametrize(("count", "bound"), [(2, {"bound": "poisson-rdp"}), slow(20, {})])
def test_a_batch_counts_its_lines_but_not_among_the_answers_on_the_same_terminal(tmp_path, count, bound, streams):
    question = {"sampling_rate": 0.01, "steps": 1000, "delta": 1e-6, **bound}
    lines = [json.dumps({"sigma": 1 + k / 100, **question}) for k in range(count)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    args = ["subsample", "--batch", str(tmp_path / "a.jsonl"), "-q"]
    code, screen, out = on_terminal([*IMPATIENT, *args], streams=streams)
    if "stdout" in streams:
        assert code == 0 and [float(x) for x in screen.split()] == [float(x) for x in call(args).stdout.split()]
    else:
        assert code == 0 and len(out.split()) == count and " lines" in screen


def test_quick_answers_show_nothing():
    code, screen, out = on_terminal([SCRIPT, "rdp", "--sigma", "1", "--delta", "1e-5", "-q"], streams=["stderr"])
    assert (code, screen) == (0, "") and float(out) > 4
