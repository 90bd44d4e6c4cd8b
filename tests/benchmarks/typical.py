"""The distribution of processor time and peak memory over random typical questions, whole processes: median, 95 %, and
the dearest ones. Half of them are short questions to all commands, half are about whole training runs.

    python typical.py [COUNT]
"""

import random
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
from meter import dpcalc
from questions import log_uniform, questions

COUNT, SEED = 300, 71  # the same questions in every run
SHOWN = 10  # of the dearest questions


def _budget(rng):
    return f"--epsilon {rng.choice((0.5, 1, 2, 3, 4, 8))} --delta {rng.choice((1e-5, 1e-6))}"


def _noise_and_question(rng, low, high, option="noise-multiplier"):
    """The noise and δ, or a budget for which the noise is solved."""
    if rng.random() < 0.4:
        return f"{_budget(rng)} --solve {option}"
    return f"--{option} {log_uniform(rng, low, high)} --delta {rng.choice((1e-5, 1e-6, 1e-8))}"


def _size(rng, batches=(50, 100, 128, 250, 256, 500, 1000, 1024)):
    """Records, batch size and epochs, as of data sets that people train on."""
    n, batch = rng.choice((10**4, 50_000, 60_000, 10**6)), rng.choice(batches)
    return f"--n {n} --batch-size {batch} --epochs {rng.choice((1, 3, 5, 10, 20, 50, 100))}"


def _geometry(rng):
    return f"--lipschitz 1 --smoothness 1 --learning-rate {rng.choice((0.01, 0.05, 0.1))} --diameter {rng.choice((1, 2))}"


def run(rng):
    """A question about a whole training run."""
    kind = rng.choice(("dp-sgd", "dp-sgd", "dp-sgd", "compare", "allocation", "shuffle", "burn-in", "shuffle-pnsgd",
                       "correlated", "compare last"))
    if kind == "dp-sgd":
        scheme = rng.choice(("", "", " --scheme without-replacement", " --adjacency replace-one"))
        return f"subsample{scheme} {_size(rng)} {_noise_and_question(rng, 0.6, 4)}"
    if kind == "compare":
        batches = rng.choice(("poisson", "poisson", "without-replacement", "shuffled"))
        return f"compare --batches {batches} {_size(rng)} {_noise_and_question(rng, 0.6, 4)}"
    if kind == "compare last":
        return (f"compare --batches {rng.choice(('poisson', 'without-replacement', 'shuffled'))} {_size(rng)} "
                f"{_geometry(rng)} --loss convex --release last-iterate --sigma {log_uniform(rng, 0.02, 0.5)} --delta 1e-5")
    if kind == "allocation":  # of batches of one size
        size = _size(rng, (50, 100, 250, 500, 1000))
        return f"subsample --scheme random-allocation {size} {_noise_and_question(rng, 0.6, 4)}"
    if kind == "shuffle":
        return f"subsample --scheme shuffle {_size(rng)} {_noise_and_question(rng, 0.6, 4)}"
    if kind == "burn-in":
        return (f"burn-in --n {rng.choice((10**4, 60_000, 10**6))} --batch-size {rng.choice((64, 128, 256, 1024))} "
                f"--steps {rng.choice((200, 1000, 10**4, 10**6))} {_geometry(rng)} "
                f"{_noise_and_question(rng, 0.02, 0.5, 'sigma')}")
    if kind == "shuffle-pnsgd":
        return (f"shuffle-pnsgd --n {rng.choice((1000, 10**5, 10**6))} --epochs {rng.choice((1, 2, 5, 20, 100))} "
                f"{_geometry(rng)} {_noise_and_question(rng, 1, 20, 'sigma')}")
    strategy = rng.choice(("square-root", "banded-sqrt:100"))
    return f"correlated --strategy {strategy} --steps {rng.choice((1000, 10**4, 10**5))} {_noise_and_question(rng, 1, 20, 'sigma')}"


def typical(count, seed):
    """Different questions, always the same ones for a seed."""
    rng, found = random.Random(seed), questions(count // 2, seed)
    while len(found) < count:
        line = run(rng)
        found += [line] if line not in found else []
    return found


def main(count):
    found = []
    for line in typical(count, SEED):
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
