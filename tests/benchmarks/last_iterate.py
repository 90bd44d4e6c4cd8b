"""What a call of shuffle-pnsgd or online-noise costs as n grows: processor time over that of the same question at n =
1000. And what the longest searches cost that random questions led to, over 1e7 additions: .8 is .3 s where these take
.4.

    python tests/benchmarks/last_iterate.py

Every call runs in a forked child of a process that has imported everything: work without start-up, and nothing
remembered. The best of five, so that a busy machine changes the ratios little. Unix only. """

import contextlib
import importlib
import io
import json
import os
import pkgutil
import sys
import time

# first: linear algebra by one thread, as in a command; processor time counts every thread, also one that waits
import dpcalc.__main__
from dpcalc.cli.app import main

RUN = "--lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2"
SCHEDULE = "--decay 1.5 --c1 100 --c2 100"
QUESTIONS = {
    "ε": f"shuffle-pnsgd {RUN} --sigma 4 --delta 1e-5",
    "δ": f"shuffle-pnsgd {RUN} --sigma 4 --epsilon 1",
    "ε, strongly convex": f"shuffle-pnsgd {RUN} --strong-convexity .1 --sigma .5 --delta 1e-5",
    "ε, Laplace": f"shuffle-pnsgd {RUN} --noise laplace --scale 4 --delta 1e-5",
    "σ": f"shuffle-pnsgd {RUN} --epsilon 2 --delta 1e-6 --solve sigma",
    "η": f"shuffle-pnsgd {RUN.replace('--learning-rate .01 ', '')} --sigma 4 --epsilon 2 --delta 1e-6 --solve "
         f"learning-rate",
    "ε(α)": f"shuffle-pnsgd {RUN} --sigma 4 --alpha 4",
    "ε of one position": f"shuffle-pnsgd {RUN} --sigma 4 --index 1 --delta 1e-5",
    "σ of one position": f"shuffle-pnsgd {RUN} --index 1 --epsilon 2 --delta 1e-6 --solve sigma",
    "ε, 20 epochs": f"shuffle-pnsgd {RUN} --sigma 4 --epochs 20 --delta 1e-5",
    "σ, 20 epochs": f"shuffle-pnsgd {RUN} --epochs 20 --epsilon 2 --delta 1e-6 --solve sigma",
    "ε of one position, 20 epochs": f"shuffle-pnsgd {RUN} --sigma 4 --index 1 --epochs 20 --delta 1e-5",
    "ε of a stream": f"online-noise {RUN} {SCHEDULE} --index 100 --delta 1e-6",
    "ε of a stream, Laplace": f"online-noise {RUN} {SCHEDULE} --noise laplace --index 100 --delta 1e-6",
    "C1 of a stream": f"online-noise {RUN} --decay 1.5 --c2 100 --index 100 --epsilon 1 --delta 1e-4 --solve c1",
}
LONGEST = (
    "shuffle-pnsgd --lipschitz .1 --smoothness .1 --diameter 2 --learning-rate .001 --n 1e12 --sigma .0211 --epsilon "
    ".0413 --delta .000134 "
    "--solve epochs",
    "shuffle-pnsgd --lipschitz 1 --smoothness .1 --diameter .5 --learning-rate .001 --epochs 29333 --sigma 2.43 "
    "--epsilon 7.92 "
    "--delta 6.09e-8 --solve n",
    "shuffle-pnsgd --lipschitz 17400 --smoothness 2.34e-5 --diameter 384 --learning-rate 2.34935 --n 5e9 --epochs 20 "
    "--epsilon 3440 "
    "--delta .0389 --solve sigma",
    "shuffle-pnsgd --lipschitz 8.55 --smoothness 4.02 --diameter 3340 --learning-rate 7.70383e-5 --n 1e12 --epochs 100 "
    "--epsilon .000113 "
    "--delta .00063 --solve sigma",
)
SIZES = (10**3, 10**6, 10**9, 10**12)


def everything():
    for module in pkgutil.walk_packages(dpcalc.__path__, "dpcalc."):
        if "plot" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def seconds(line, runs=5):
    """Processor seconds of one call, the least of some."""
    return min(_once(line) for _ in range(runs))


def _once(line):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            start = time.process_time()
            code = main([*line.split(), "--json"])
            taken = time.process_time() - start
        os.write(write, json.dumps([taken, code]).encode())
        os._exit(0)
    os.close(write)
    taken, code = json.loads(os.read(read, 4096))
    os.close(read)
    os.waitpid(child, 0)
    assert code == 0, line
    return taken


def _additions():
    """Seconds of 1e7 of them."""
    start = time.process_time()
    exec("total = 0\nfor k in range(10**7): total += k", {})
    return time.process_time() - start


if __name__ == "__main__":
    everything()
    print(f"{'question':30} {'s at 1000':>9}  " + "  ".join(f"n={n:.0e}" for n in SIZES[1:]))
    for name, line in QUESTIONS.items():
        times = [seconds(f"{line} --n {n}") for n in SIZES]
        print(f"{name:30} {times[0]:9.3f}  " + "  ".join(f"{t / times[0]:7.2f}" for t in times[1:]), flush=True)
    for line in LONGEST:
        ratios = [_once(line) / _additions() for _ in range(9)]
        print(f"{min(ratios):.2f} times 1e7 additions: {line}", flush=True)
    sys.exit(0)
