"""Start-up is part of the design: which modules a command imports, not how long it takes."""

import re
import subprocess
import sys

import pytest
from conftest import slow

HEAVY = {"pydantic", "pydantic_core", "scipy", "mpmath", "matplotlib", "pandas", "numpy.ma"}  # np.unique imports numpy.ma
PROBE = """
import sys
from dpcalc.__main__ import main
import io, contextlib
for line in {lines!r}:
    sys.argv = ["dpcalc", *line.split()]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            assert not end.code, line
    print(line, "|", " ".join(sorted({{m.split(".")[0] for m in sys.modules}} | {{m for m in sys.modules if m.startswith(("scipy.", "dpcalc.")) or m == "numpy.ma"}})))
"""
CASES = [
    ("--version", {"typer", "typing", "numpy", "rich"}),
    ("--help", {"numpy", "rich"}),
    ("rdp --help", {"numpy", "rich"}),
    ("subsample --help", {"numpy", "rich"}),
    ("subsample -h", {"numpy", "rich"}),
    ("help", {"numpy", "rich"}),
    ("help neighbours", {"typer", "numpy", "rich"}),
    ("completion bash", {"typer", "numpy", "rich"}),
    ("convert --help", {"numpy", "rich"}),
    ("burn-in --help", {"numpy", "rich"}),
    ("noise-feedback --help", {"numpy", "rich"}),
    ("correlated --help", {"numpy", "rich"}),
    ("correlated --steps 99 --strategy square-root --sigma 2 --delta 1e-5 --json", {"typer", "rich"}),
    ("noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5 --json",
     {"typer", "numpy", "rich"}),
    ("burn-in --order fixed --n 60 --batch-size 6 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate .1 "
     "--diameter 2 --sigma 1 "
     "--delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("burn-in --n 60 --batch-size 6 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 2 --sigma 1 "
     "--delta 1e-5 --json",
     {"typer", "rich"}),
    ("rdp --sigma 1 --delta 1e-5 --json",
     {"typer", "numpy", "rich", "dpcalc.bounds.mechanisms.exponential", "dpcalc.bounds.sampling"}),
    ("rdp --sigma 1 --delta 1e-5", {"typer", "numpy"}),
    ("rdp --epsilon 1 --delta 1e-5 --solve sigma --json", {"typer", "numpy", "rich"}),
    ("rdp --mechanism laplace --scale 2 --delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("rdp --sigma 1,2 --delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("rdp --sigma 1,2 --delta 1e-5 --plot -", {"typer", "numpy", "rich"}),
    ("tv --help", {"numpy", "rich"}),
    ("bounds --help", {"numpy", "rich"}),
    ("bounds", {"typer", "numpy"}),
    ("bounds --command tv --json", {"typer", "numpy", "rich"}),
    ("explain burn-in-profile", {"typer", "numpy", "rich", "dpcalc.bounds.mechanisms.exponential"}),
    ("explain sampling", {"typer", "numpy", "rich", "dpcalc.bounds.mechanisms"}),
    ("help headline", {"typer", "numpy", "rich", "dpcalc.bounds.mechanisms"}),
    ("tv --sigma 1 --fpr .1 --json", {"typer", "numpy", "rich"}),
    ("tv --mechanism laplace --tv .01 --solve scale --json", {"typer", "numpy", "rich"}),
    ("convert --from gdp --mu 1 --delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("convert --from rdp --alpha 8 --rdp .5 --delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("subsample --scheme without-replacement --sampling-rate .01 --steps 1 --sigma 2 --delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("subsample --sampling-rate .01 --steps 1 --sigma 1 --delta 1e-5 --json",
     {"typer", "rich", "dpcalc.bounds.sampling.shuffle_profile", "dpcalc.accounting.schemes.without_replacement"}),
    ("shuffle-pnsgd --help", {"numpy", "rich"}),
    ("shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n 1e12 --delta 1e-5 --json", {"typer", "rich"}),
    ("shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n 9 --index 2 --epsilon 1 "
     "--json", {"typer", "numpy", "rich", "dpcalc.bounds.mechanisms.exponential", "dpcalc.bounds.sampling"}),
    ("shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n 1e6 --epochs 20 --delta "
     "1e-5 --json", {"typer", "rich"}),
    ("subsample --n 60000 --batch-size 256 --epochs 15 --sigma 1 --delta 1e-5 --json", {"typer", "rich"}),
    ("compare --help", {"numpy", "rich"}),
    ("compare --n 9 --batches full --steps 3 --sigma 1 --clipping-norm 1 --delta 1e-5 --json", {"typer", "numpy", "rich"}),
    ("compare --n 9 --batches shuffled --batch-size 2 --drop-last --epochs 1 --sigma 1 --lipschitz 1 --loss convex "
     "--smoothness 1 --learning-rate .1 "
     "--release last-iterate --epsilon 1 --json", {"typer", "rich"}),
    ("online-noise --decay 2 --c1 9 --c2 9 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n inf "
     "--index 2 --epsilon 1 --json",
     {"typer", "numpy", "rich"}),
    ("online-noise --sigmas 1,2,3 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --index 2 --epsilon 1 "
     "--json", {"typer", "rich", "flint"}),
]


# Command lines that compute for long, all without rich.
LONG = re.compile(r"--steps 1e6 .*--json|--n 1e12|--epochs|--n 60 ")


def processes():
    """(What must not be imported, the lines of one process): few lines each, as a process ends after half a second."""
    for absent in sorted({tuple(sorted(absent)) for _, absent in CASES}):
        lines = [line for line, those in CASES if those == set(absent)]
        quick = [line for line in lines if absent != ("rich", "typer") or not LONG.search(line)]
        size = 5 if "rich" in absent else 1  # tables take the time of ten answers
        yield from ((absent, quick[k:k + size]) for k in range(0, len(quick), size))
        if long := [line for line in lines if line not in quick]:
            yield slow(absent, long)


@pytest.mark.parametrize("absent, lines", list(processes()), ids=lambda x: " ".join(x) if isinstance(x, tuple) else x[0])
def test_not_imported(absent, lines):
    """Command lines that must not import the same, in one process: each reports what is there after it."""
    done = subprocess.run([sys.executable, "-c", PROBE.format(lines=lines)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    reports = [report.split(" | ") for report in done.stdout.splitlines()]
    assert [line for line, _ in reports] == lines
    for line, modules in reports:
        assert "dpcalc" in modules.split() and not set(modules.split()) & {*absent, *HEAVY}, line


GARBAGE = """
import gc, io, sys, contextlib
from dpcalc.__main__ import main
looks = []
gc.callbacks.append(lambda phase, info: looks.append(info["generation"]))
sys.argv = ["dpcalc", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(max(looks, default=-1))
"""


@pytest.mark.parametrize("line", [
    "rdp --epsilon 1 --delta 1e-5 --solve sigma", slow("shuffle-pnsgd --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n 1e6 --epochs 20 --epsilon 1 --delta 1e-5 --solve sigma")])
def test_no_time_is_spent_on_looking_for_garbage(line):
    done = subprocess.run([sys.executable, "-c", GARBAGE, *line.split()], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1  # the youngest objects at most
