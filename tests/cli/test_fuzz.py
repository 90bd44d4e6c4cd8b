"""Whatever is said on the command line or on standard input: an answer or one line, in bounded time and memory.

Here with a fixed seed and a small budget; `pytest -m long tests/cli/test_fuzz.py -s -n 0` goes on for
DPCALC_FUZZ_SECONDS (1200 unless told) with DPCALC_FUZZ_SEED, and prints the counts. """

import collections
import os
import resource
import subprocess
import sys
import time

import fuzz
import fuzz_draws
import pytest
from conftest import SCRIPT, slow, spread
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

BUDGETED = {"database": None, "deadline": None, "phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}
CALL_SECONDS = 60.0
BUDGETS = [(12, 2.0), slow(150, 15.0)]  # calls, and seconds of processor time, for each of the three


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fuzz.in_a_new_folder(tmp_path)


class Run:
    """Calls until a budget of time is spent; counts exit codes, keeps faults."""

    def __init__(self, seconds, clock=time.process_time):
        self.end, self.clock = clock() + seconds, clock
        self.codes, self.faults, self.slowest = collections.Counter(), {}, (0.0, "")

    def call(self, args, stdin=b""):
        if self.clock() > self.end:
            return
        try:
            done = fuzz.call(args, stdin, CALL_SECONDS)
        except fuzz.OutOfTime:
            self.codes["out of time"] += 1
            self.faults.setdefault("out of time", fuzz.shown(args, stdin))
            return
        except Exception as error:
            self.faults.setdefault(f"raised {error!r}"[:80], fuzz.shown(args, stdin))
            return
        self.codes[done.code] += 1
        self.slowest = max(self.slowest, (round(done.seconds, 1), fuzz.shown(args, stdin)))
        for fault in fuzz.faults(args, done, stdin):
            self.faults.setdefault(fault[:80], fuzz.shown(args, stdin))

    def told(self):
        return "\n".join(f"{what}: {how}" for what, how in self.faults.items())


CALLS = fuzz_draws.calls().map(lambda args: (args, b""))
DRAWN = {"options": (CALLS, 20211, set()), "standard input": (fuzz_draws.pipes(), 20212, set()),
         "batches": (fuzz_draws.batches(), 20213, {0, 1})}


@pytest.mark.parametrize("examples, seconds", BUDGETS)
@pytest.mark.parametrize("drawn, number, codes", DRAWN.values(), ids=DRAWN)
def test_drawn(drawn, number, codes, examples, seconds, folder):
    run = Run(seconds)

    @seed(number)
    @settings(max_examples=examples, **BUDGETED)
    @given(drawn)
    def every(call):
        run.call(*call)

    every()
    assert not run.faults, run.told()
    assert len(run.codes) >= 2 and codes <= set(run.codes) and sum(run.codes.values()) >= 10


@pytest.mark.long
def test_for_long(folder):
    run = Run(float(os.environ.get("DPCALC_FUZZ_SECONDS", "1200")), time.monotonic)
    number = int(os.environ.get("DPCALC_FUZZ_SEED", "1"))
    both = st.one_of(CALLS, CALLS, fuzz_draws.pipes(), fuzz_draws.batches())
    while time.monotonic() < run.end:

        @seed(number)
        @settings(max_examples=200, **BUDGETED)
        @given(both)
        def every(drawn):
            run.call(*drawn)

        told = set(run.faults)
        every()
        print(*(f"seed {number}: {what}: {run.faults[what]}\n" for what in run.faults.keys() - told), sep="", end="",
              file=sys.stderr, flush=True)
        number += 1
    print(f"up to seed {number}, {sum(run.codes.values())} calls: {dict(run.codes)}; slowest {run.slowest}; "
          f"{fuzz.memory() >> 20} MB", file=sys.stderr)
    assert not run.faults, run.told()


# --- real processes --------------------------------------------------------------------------------------------------


def limited(*args, stdin=b"", seconds=60, megabytes=1024):
    """A process that may use so much memory; (exit code, stdout, stderr, its largest memory)."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen([SCRIPT, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=limit, env=environment) as process:
        out, err = process.communicate(stdin, timeout=seconds)
    return process.returncode, out.decode(), err.decode()


@spread(("stdin", "says"), [
    slow(b'{"kind":"dp","epsilon":' + b"1" * 100_000_000 + b',"delta":0}', "more than"),  # a line of 100 MB
    slow(b"[" * 20_000_000, "nested too deep"),
    (b"[" * 2_000_000, "nested too deep"),
    slow(b'{"a":' * 5_000_000, "nested too deep"),
    slow(b'{"a":' * 500_000, "nested too deep"),
    slow(b'{"kind":"gdp","mu":' + b"9" * 5_000_000 + b"}", ""),
    (b'{"kind":"gdp","mu":' + b"9" * 500_000 + b"}", ""),
    slow(b'{"kind":"rdp","alpha":[' + b"2," * 2_000_000 + b'2],"rdp":[0.1]}', "more than 100000 entries"),
    (b'{"kind":"rdp","alpha":[' + b"2," * 110_000 + b'2],"rdp":[0.1]}', "more than 100000 entries"),
    slow(b'{"kind":"' + b"x" * 40_000_000 + b'"}', ""),
    slow(b'{"kind":"' + b"x" * 400_000 + b'"}', ""),
    (b"\xff\xfe" * 1000, "not UTF-8"),
    slow(b"\x00" * 1000, "not one JSON object"),
    (b'{"schema":"dpcalc/v99","guarantee":{"kind":"gdp","mu":1}}', "not dpcalc/v1"),
    (b'{"kind":"gdp","mu":NaN}', "NaN"),
    slow(b'{"kind":"gdp","mu":1e999}', "finite"),
    slow(b'{"kind":"gdp","mu":"1"}', "not a number"),
    (b'{"kind":"gdp","mu":1,"mu":2', "not one JSON object"),
], ids=lambda x: repr(x[:24]) if isinstance(x, bytes) else None)
def test_input_of_any_size_and_kind_is_one_line(stdin, says):
    code, out, err = limited("convert", "-", "--delta", "1e-5", stdin=stdin)
    assert (code, out) == (2, "")
    assert says in err and err.count("\n") == 1 and len(err) < 500 and "Traceback" not in err and "a fault of dpcalc" not in err


@pytest.mark.parametrize("line", [
    "rdp --sigma 1 --steps 9007199254740991 --delta 1e-5",
    slow("rdp --mechanism laplace --scale 1 --steps 1e9 --delta 1e-5"),
    "subsample --sampling-rate 1e-9 --sigma 0.3 --steps 1e12 --delta 1e-6 --bound poisson-rdp",
    slow("shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --learning-rate 0.25 --smoothness 0.5 --n 1e15 --epsilon 1"),
    slow("burn-in --n 1e12 --batch-size 1 --steps 1e12 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter 2 "
         "--sigma 0.1 --alpha 4"),
    "noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 1e12 --lipschitz 1 --delta 1e-5",
])
def test_extreme_runs_fit_in_a_gigabyte(line):
    code, out, err = limited(*line.split(), "--json")
    assert code in (0, 2, 3) and "a fault of dpcalc" not in err, err
    assert code or not fuzz.numbers(fuzz.strict(out))
