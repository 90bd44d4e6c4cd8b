"""What takes over a second shows a bar on a terminal's stderr, and nowhere else."""

import subprocess
import sys

from conftest import SCRIPT
from terminals import on_terminal

WAITING = [sys.executable, "-c",
           "import time\nfrom dpcalc.cli.progress import waiting\nwith waiting('dpcalc subsample'):\n    "
           "time.sleep(1.5)\nprint(1)"]
IMPATIENT = [sys.executable, "-c",
             "import sys\nfrom dpcalc.cli import app, progress\nprogress.DELAY = 0.01\nsys.exit(app.main(sys.argv[1:]))",
             "subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1000", "--delta", "1e-6", "-q"]


def test_a_bar_on_the_terminal_only():
    code, screen, out = on_terminal(WAITING, streams=["stderr"])
    assert (code, out) == (0, "1\n")
    assert "dpcalc subsample" in screen and "0:00:0" in screen
    quiet = subprocess.run(WAITING, capture_output=True, text=True)
    assert quiet.stderr == "" and quiet.stdout == out


def test_a_command_that_computes_shows_it():
    code, screen, out = on_terminal(IMPATIENT, streams=["stderr"])
    assert code == 0 and 2.1 < float(out) < 2.2 and "dpcalc subsample" in screen
    quiet = subprocess.run(IMPATIENT, capture_output=True, text=True)
    assert quiet.stderr == "" and quiet.stdout == out


def test_quick_answers_show_nothing():
    code, screen, out = on_terminal([SCRIPT, "rdp", "--sigma", "1", "--delta", "1e-5", "-q"], streams=["stderr"])
    assert (code, screen) == (0, "") and float(out) > 4
