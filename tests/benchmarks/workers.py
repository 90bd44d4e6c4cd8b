"""Two workers against one: seconds of the Dask example of docs/python.md by the clock, and of processor time.

    python workers.py [QUESTIONS] [RUNS]

By the clock, two workers take half the time only where two cores are free: the best of several runs counts. The ratio
of processor time depends less on that; above 1 it is what starting and feeding a second worker costs.
"""

import sys
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import dask.bag

from dpcalc import answer_lines

QUESTIONS, RUNS = 500, 3
BLOCKS = 20  # so that the last one, for which one worker waits, is a small part


class Seconds(NamedTuple):
    clock: float
    processor: float


def seconds(questions, folder, workers):
    """To answer the questions in so many new processes, which write files into the folder."""
    def used():
        return sum(getrusage(RUSAGE_CHILDREN)[:2])

    clock, processor = perf_counter(), used()
    answers = dask.bag.from_sequence(questions, npartitions=BLOCKS).map_partitions(
        answer_lines, "subsample", sampling_rate=0.01, steps=1000, delta=1e-5)
    answers.to_textfiles(f"{folder}/answers-*.jsonl", last_endline=True, scheduler="processes", num_workers=workers)
    return Seconds(perf_counter() - clock, used() - processor)


if __name__ == "__main__":
    given = [int(x) for x in sys.argv[1:]]
    count, runs = given + [QUESTIONS, RUNS][len(given):]
    lines = [f'{{"noise_multiplier": {1 + k / count}, "id": {k}}}' for k in range(count)]
    for _ in range(runs):
        with TemporaryDirectory() as folder:
            one, two = (seconds(lines, folder, workers) for workers in (1, 2))
        print(f"{count} questions: one worker {one.clock:.1f} s, two {two.clock:.1f} s, {one.clock / two.clock:.2f} times "
              f"as fast; processor time {one.processor:.1f} s and {two.processor:.1f} s, ratio "
              f"{two.processor / one.processor:.2f}", flush=True)
