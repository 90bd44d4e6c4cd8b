"""What takes over a second shows a bar on a terminal's stderr, and nowhere else."""

import subprocess

from conftest import SCRIPT
from terminals import on_terminal

SLOW = [SCRIPT, "subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1e9", "--delta", "1e-6", "--precision", "3e-4", "-q"]


def test_a_bar_on_the_terminal_only():
    code, err, out = on_terminal(SLOW, streams=["stderr"])
    assert code == 0 and 80_000 < float(out) < 90_000
    assert "dpcalc subsample" in err and "0:00:0" in err
    quiet = subprocess.run(SLOW, capture_output=True, text=True)
    assert quiet.stderr == "" and quiet.stdout == out


def test_quick_answers_show_nothing():
    code, err, out = on_terminal([SCRIPT, "rdp", "--sigma", "1", "--delta", "1e-5", "-q"], streams=["stderr"])
    assert (code, err) == (0, "") and float(out) > 4
