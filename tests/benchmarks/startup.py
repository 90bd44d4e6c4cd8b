"""Start-up of commands as multiples of a bare `python -c pass`: medians of one interleaved run. Run: python
startup.py"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

DPCALC = str(Path(sys.executable).with_name("dpcalc"))
LINES = ["--version", "--help", "rdp --help", "rdp --sigma 1 --delta 1e-5 --json", "rdp --sigma 1 --delta 1e-5",
         "subsample --sampling-rate .01 --sigma 1 --steps 10000 --delta 1e-6 --json",
         "subsample --sampling-rate .01 --steps 10000 --delta 1e-6 --epsilon 2 --solve sigma --json"]
RUNS = 15


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


commands = [[sys.executable, "-c", "pass"], *([DPCALC, *line.split()] for line in LINES)]
times = [[] for _ in commands]
for _ in range(RUNS):
    for row, command in zip(times, commands, strict=True):
        row.append(seconds(command))
bare, *rest = (statistics.median(row) for row in times)
for line, median in zip(LINES, rest, strict=True):
    print(f"{median / bare:6.1f}  dpcalc {line}")
