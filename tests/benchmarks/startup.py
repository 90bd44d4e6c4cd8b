"""Processor time of commands as multiples of a bare `python -c pass`, with their peak memory.

    python startup.py [RUNS]

Medians of RUNS interleaved runs (default 15).
"""

import sys

from meter import DPCALC, PYTHON, interleaved

LAST_ITERATE = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
BARS = {  # the command, and the multiple that it should not exceed
    "--version": 2,
    "--help": 6.3,
    "rdp --sigma 1 --delta 1e-5 --json": 7,
    "rdp --sigma 1 --delta 1e-5": 13.5,
    "subsample --sampling-rate .01 --sigma 1 --steps 10000 --delta 1e-6 --json": 14,
    "subsample --sampling-rate .01 --steps 10000 --delta 1e-6 --epsilon 2 --solve sigma --json": 24,
    f"shuffle-pnsgd --sigma .5 {LAST_ITERATE} --n 1000 --epsilon 1 --json": 15,
    "compare --n 60000 --batches poisson --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --json": 42,
    "explain sampling": 10,
    "explain rdp-optimal": 8,
}

if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    bare, *rest = interleaved([[PYTHON, "-c", "pass"], *([DPCALC, *line.split()] for line in BARS)], runs)
    print(f"bare Python: {1e3 * bare.seconds:.1f} ms, {bare.megabytes:.0f} MB")
    print(" ratio   bar    MB")
    for (line, bar), found in zip(BARS.items(), rest, strict=True):
        print(f"{found.seconds / bare.seconds:6.1f} {bar:5g} {found.megabytes:5.0f}   dpcalc {line}")
