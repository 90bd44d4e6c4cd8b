"""What the tests share: command lines, by the installed console script or in this process, and mpmath contexts that
nobody else changes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import mpmath
import pytest
from calling import call

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is imported
os.environ["COLUMNS"] = "500"  # so that the sentences of a table stand on one line each; tests of widths set their own
os.environ["NO_COLOR"] = "1"  # also on a terminal; tests of colours set their own
os.environ.pop("FORCE_COLOR", None)
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    # as in a job in the background; commands that are interrupted would inherit that
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
SCRIPT = Path(sys.executable).with_name("dpcalc")
ROOT = Path(__file__).parents[1]


def needs(program):
    """Skips where a program that pip does not install is missing; where CI is set, as by .ci/run, the test fails there
    instead."""
    return pytest.mark.skipif(shutil.which(program) is None and not os.environ.get("CI"),
                              reason=f"{program} is not installed")


def slow(*values):
    """A case of a parametrised test for CI: the quick tests have cheaper ones of its kind."""
    return pytest.param(*values, marks=pytest.mark.slow)


def spread(names, cases, **more):
    """Cases that test the same thing, parametrised as by pytest: every second one is quick, the others are slow."""
    several, marked = "," in names if isinstance(names, str) else len(names) > 1, type(pytest.param())
    chosen = [case if k % 2 == 0 or isinstance(case, marked) else slow(*case) if several else slow(case)
              for k, case in enumerate(cases)]
    return pytest.mark.parametrize(names, chosen, **more)


def few_of_each(kind, cases, every=2):
    """The cases for pytest: of each kind the first and then every second or third one is quick, the others are slow."""
    marked, seen, chosen = type(pytest.param()), Counter(), []
    for case in cases:
        if isinstance(case, marked):
            chosen.append(case)
            continue
        seen[kind(case)] += 1
        quick = seen[kind(case)] % every == 1
        chosen.append(case if quick else slow(*case) if isinstance(case, tuple) else slow(case))
    return chosen


@pytest.fixture
def mp():
    context = mpmath.mp.clone()
    context.dps = 50
    return context


@pytest.fixture(scope="session")
def script():
    """Run the installed `dpcalc`: the finished process."""

    def run(*args, stdin="", **settings):
        return subprocess.run([SCRIPT, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=60,
                              **settings)

    return run


@pytest.fixture(scope="session")
def cli(script):
    """The same in this process, for what does not depend on start-up; a process of its own where settings of one are
    given."""

    def run(*args, stdin="", **settings):
        return script(*args, stdin=stdin, **settings) if settings else call(args, stdin)

    return run


@pytest.fixture(scope="session")
def ask(cli):
    """The JSON answer of a command line."""

    def run(*args, stdin=""):
        done = cli(*args, "--json", stdin=stdin)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)

    return run
