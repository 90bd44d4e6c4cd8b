"""The distribution of processor time and peak memory over random typical questions, whole processes: median, 95 %, and
the dearest ones.

    python typical.py [COUNT]
"""

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
from meter import dpcalc
from questions import questions

COUNT, SEED = 300, 71  # the same questions in every run
SHOWN = 10  # of the dearest questions


def main(count):
    found = []
    for line in questions(count, SEED):
        try:
            found.append((dpcalc(line), line))
        except RuntimeError:  # no answer, as where no noise meets the budget
            print(f"refused   dpcalc {line}")
    seconds = sorted(cost.seconds for cost, _ in found)
    twentieth = statistics.quantiles(seconds, n=20)[-1]
    print(f"{len(found)} of {count} answered; seconds: median {statistics.median(seconds):.2f}, 95 % {twentieth:.2f}, "
          f"worst {seconds[-1]:.2f}; more than a second: {sum(s > 1 for s in seconds)}; MB: at most "
          f"{max(cost.megabytes for cost, _ in found):.0f}")
    print("seconds   MB")
    for cost, line in sorted(found, reverse=True)[:SHOWN]:
        print(f"{cost.seconds:7.2f} {cost.megabytes:4.0f}   dpcalc {line}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
