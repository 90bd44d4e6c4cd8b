"""What takes over a second shows a bar on a terminal's stderr, and nowhere else."""

import os
import pty
import subprocess

from conftest import SCRIPT

SLOW = [SCRIPT, "subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1e9", "--delta", "1e-6", "--precision", "3e-4", "-q"]


def run_on_a_terminal(command):
    main, side = pty.openpty()
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=side, env={**os.environ, "TERM": "xterm", "COLUMNS": "80"})
    os.close(side)
    seen = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # the terminal's other side is closed
            break
        if not part:
            break
        seen += part
    os.close(main)
    return done.communicate()[0].decode(), seen.decode(errors="replace"), done.returncode


def test_a_bar_on_the_terminal_only():
    out, err, code = run_on_a_terminal(SLOW)
    assert code == 0 and 80_000 < float(out) < 90_000
    assert "dpcalc subsample" in err and "0:00:0" in err
    quiet = subprocess.run(SLOW, capture_output=True, text=True)
    assert quiet.stderr == "" and quiet.stdout == out


def test_quick_answers_show_nothing():
    out, err, code = run_on_a_terminal([SCRIPT, "rdp", "--sigma", "1", "--delta", "1e-5", "-q"])
    assert (code, err) == (0, "") and float(out) > 4
