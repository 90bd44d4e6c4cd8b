"""Lines a second of `dpcalc … --batch` on one core, and its peak memory: python batch.py [LINES] [SECONDS].

Every line asks another question, so that nothing is answered from memory. Each case stops at LINES (default 1e6) or
after SECONDS (default 20) (0: never); the rates are per second of processor time, start-up left out. """

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

DPCALC = str(Path(sys.executable).with_name("dpcalc"))
CASES = [  # (arguments, the key that runs, its first value)
    ("rdp --alpha 8", "sigma", 1.0),
    ("rdp --epsilon 1 --bound gaussian-exact", "sigma", 1.0),
    ("rdp --delta 1e-5 --bound gaussian-exact", "sigma", 1.0),
    ("rdp --mechanism laplace --delta 1e-5 --bound laplace-exact", "scale", 1.0),
    ("convert --from rdp --alpha 8 --delta 1e-5 --bound rdp-improved", "rdp", 0.5),
    ("convert --from dp --delta 1e-6 --to tv", "epsilon", 0.5),
    ("convert --from gdp --delta 1e-5 --bound gdp-exact", "mu", 0.5),
    ("rdp --delta 1e-5", "sigma", 1.0),
    ("subsample --sampling-rate .01 --steps 1000 --alpha 8", "sigma", 1.0),
    ("subsample --sampling-rate .01 --steps 1000 --delta 1e-5 --bound poisson-rdp", "sigma", 1.0),
    ("subsample --sampling-rate .01 --steps 1000 --delta 1e-5 --bound poisson-rdp --bound rdp-optimal", "sigma", 1.0),
    ("subsample --sampling-rate .01 --steps 1000 --delta 1e-5", "sigma", 1.0),
]


def feed(pipe, key, first, lines, seconds):
    """Writes blocks of questions until there are enough or the time is over."""
    end, k = time.monotonic() + seconds if seconds else float("inf"), 0
    with pipe:
        while k < lines and time.monotonic() < end:
            block = min(100, lines - k)
            pipe.write("".join(json.dumps({key: first * (1 + (k + i) / lines)}) + "\n" for i in range(block)))
            k += block


def measure(arguments, key, first, lines, seconds):
    """(lines answered, lines a second of processor time, peak memory in MB)"""
    process = subprocess.Popen([DPCALC, *arguments.split(), "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    Thread(target=feed, args=(process.stdin, key, first, lines, seconds), daemon=True).start()
    answered = sum(1 for line in process.stdout if '"error"' not in line)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return answered, answered / (usage.ru_utime + usage.ru_stime - START), usage.ru_maxrss / 1024


def start():
    """Seconds of processor time before the first line."""
    process = subprocess.Popen([DPCALC, "rdp", "--batch"], stdin=subprocess.DEVNULL)
    usage = os.wait4(process.pid, 0)[2]
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    START = start()
    print("   lines   lines/s   peak MB")
    for case in CASES:
        done, rate, peak = measure(*case, count, limit)
        print(f"{done:8d} {rate:9.0f} {peak:9.0f}   dpcalc {case[0]} --batch", flush=True)
