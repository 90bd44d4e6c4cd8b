"""An interrupt (Ctrl-C) at any time after dpcalc's first line ends it in silence, with exit code 130."""

import subprocess
import sys

import pytest
from conftest import SCRIPT, spread

# The command, interrupted where it imports a module for the first time, or as the interpreter ends.
INTERRUPTED = """
import atexit, os, runpy, signal, sys
at, entry, *args = sys.argv[1:]
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == at:
            interrupt()
sys.meta_path.insert(0, Finder())
if at == "the end":
    atexit.register(interrupt)
sys.argv = [entry, *args]
if entry == "dpcalc":
    runpy.run_module("dpcalc", run_name="__main__", alter_sys=True)
runpy.run_path(entry, run_name="__main__")
"""
SUBSAMPLE = ("subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1", "--delta", "1e-5")
CASES = [
    *((at, SUBSAMPLE) for at in ("dpcalc.cli.app", "dpcalc.cli.command_line", "dpcalc.core.command", "dpcalc.commands.subsample",
                                 "dpcalc.core.validate", "dpcalc.accounting.answer", "numpy", "dpcalc.output.answer",
                                 "the end")),
    ("dpcalc.cli.standard_streams", ("--version",)), ("the end", ("--version",)), ("typer", ("--help",)),
    ("dpcalc.cli.usage", ("rdp", "--sgma", "1")),
    ("dpcalc.cli.batch", ("rdp", "--batch")),
]


@pytest.mark.parametrize("entry", [pytest.param(str(SCRIPT), id="script"),
                                   pytest.param("dpcalc", id="module", marks=pytest.mark.slow)])
@spread("at, args", CASES, ids=lambda x: x if isinstance(x, str) else x[0])
def test_an_interrupt_is_silent(at, args, entry):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, at, entry, *args], input="", capture_output=True,
                          text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")
    assert at == "the end" or not done.stdout


def test_a_program_that_imports_the_entry_keeps_its_own_way_with_interrupts():
    code = "import signal, dpcalc.__main__; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_interrupts_are_ignored_they_stay_so():
    """As in a job that a shell starts in the background, or under nohup."""
    code = INTERRUPTED.replace("at, entry", "signal.signal(signal.SIGINT, signal.SIG_IGN)\nat, entry", 1)
    done = subprocess.run([sys.executable, "-c", code, "numpy", str(SCRIPT), *SUBSAMPLE, "-q"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and float(done.stdout) > 0 and done.stderr == ""
