"""Processor time and memory of whole processes, for the benchmarks beside this file."""

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PYTHON = sys.executable
DPCALC = str(Path(PYTHON).with_name("dpcalc"))


class Cost(NamedTuple):
    """What one process used: seconds of processor time of all its threads, and its peak memory in MB."""

    seconds: float
    megabytes: float


def cost(command, text=None):
    """The cost of a command, which reads the text on standard input. Raises RuntimeError where the command fails."""
    # Compiled modules must be written, as in an installed package: else each process compiles them again.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, text=True, env=environment)
    with process.stdin as pipe:
        pipe.write(text or "")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(command)}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def dpcalc(line, text=None):
    """The cost of one dpcalc command."""
    return cost([DPCALC, *line.split()], text)


def output(line):
    """What one dpcalc command prints."""
    return subprocess.run([DPCALC, *line.split()], capture_output=True, text=True, check=True).stdout


def interleaved(commands, runs):
    """For each command the median seconds and the largest memory; the commands take turns, as the load may change."""
    for command in commands:
        cost(command)  # compiles the modules and fills the file cache
    rounds = [[cost(command) for command in commands] for _ in range(runs)]
    return [Cost(statistics.median(c.seconds for c in column), max(c.megabytes for c in column))
            for column in zip(*rounds, strict=True)]
