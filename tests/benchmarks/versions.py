"""What commands cost as multiples of a bare `python -c pass`, in this installation and in another one: processor time
of whole processes, which take turns.

    python tests/benchmarks/versions.py /path/to/other/bin/dpcalc [RUNS]

The other installation is one of an earlier version, in an environment of its own on the same machine.
"""

import sys

from meter import DPCALC, PYTHON, interleaved

GEOMETRY = "--lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2"
PASSES = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1e6 --epochs 20 --delta 1e-5"
ALLOCATION = "subsample --scheme random-allocation --epochs 1 --delta 1e-5"
SHUFFLED = "subsample --scheme shuffle --batch-size 100 --epochs 1 --delta 1e-5"
DPSGD = "subsample --sampling-rate .01 --steps 1000 --delta 1e-5"
SHORT = f"burn-in --n 1e6 --batch-size 64 --steps 1000 {GEOMETRY} --delta 1e-6"
LONG = f"burn-in --n 60000 --batch-size 128 --steps 1e7 {GEOMETRY} --delta 1e-5"
RUN = "--n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5"
QUESTIONS = (
    "rdp --sigma 1 --delta 1e-5 --json",
    "explain rdp-optimal",
    f"{DPSGD} --sigma 1 --json",
    f"{DPSGD} --epsilon 2 --solve sigma --json",
    f"{SHORT} --sigma .05",
    f"{SHORT} --epsilon 2 --solve sigma",
    f"{LONG} --sigma .1",
    f"{LONG} --epsilon 2 --solve sigma",
    f"compare --n 60000 --batches without-replacement --batch-size 128 --steps 1e7 --sigma .1 {GEOMETRY} --loss convex "
    "--release last-iterate --delta 1e-5",
    f"compare {RUN} --batches shuffled",
    f"{PASSES} --sigma 4",
    f"{PASSES} --epsilon 2 --solve sigma",
    f"{ALLOCATION} --steps-per-epoch 1000 --sigma 1",
    f"{ALLOCATION} --steps-per-epoch 1e4 --epsilon .5 --solve sigma",
    f"{SHUFFLED} --n 1e5 --noise-multiplier 1",
    f"{SHUFFLED} --n 1e6 --epsilon .5 --solve noise-multiplier",
    "correlated --strategy square-root --steps 1e7 --sigma 1 --delta 1e-6",
)

if __name__ == "__main__":
    other, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print("   ×  other   MB  other")
    for line in QUESTIONS:
        commands = [[PYTHON, "-c", "pass"], *([program, *line.split()] for program in (DPCALC, other))]
        bare, here, there = interleaved(commands, runs)
        print(f"{here.seconds / bare.seconds:6.1f} {there.seconds / bare.seconds:6.1f} {here.megabytes:4.0f} "
              f"{there.megabytes:5.0f}   dpcalc {line}", flush=True)
