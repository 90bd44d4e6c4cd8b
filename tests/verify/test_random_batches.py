"""Records about random batches are proven, and better numbers are refuted: truncated and cyclic Poisson batches, random
allocation, batches of fixed size with a zeroed record, and batches drawn with replacement."""

import copy
import json
from math import log

import pytest
from calling import call
from conftest import slow, spread
from verifying import ask, texts

from dpcalc.bounds import all_bounds
from dpcalc.pld.bracket import epsilon_at_delta
from dpcalc.verify import composition_grids, scheme_uses
from dpcalc.verify.arb.context import Context
from dpcalc.verify.report import verify

RUN = "subsample --n 60000 --batch-size 256 --steps 3516 --noise-multiplier 1.1 --max-batch-size"
SMALL = "subsample --n 500 --batch-size 20 --steps 30 --noise-multiplier .8 --max-batch-size"

TINY = "subsample --n 50 --batch-size 4 --steps 1 --noise-multiplier .8 --max-batch-size 5 --delta 1e-2"


def with_epsilon(record, row, epsilon):
    found = copy.deepcopy(record)
    found["bounds"][row]["epsilon"] = epsilon
    if row == 0:
        found["result"]["epsilon"] = epsilon
    return found


@pytest.mark.parametrize("line", [TINY, slow(f"{SMALL} 22 --delta 1e-5")])
def test_a_smaller_epsilon_is_refuted(line):
    """Below the composition of the pair by more than the bracket is wide, 3e-4 of it."""
    record = ask(line)
    epsilon = record["result"]["epsilon"]
    assert not verify(with_epsilon(record, 0, epsilon * 0.998)).holds
    assert verify(with_epsilon(record, 0, epsilon * 1.001)).holds


@pytest.mark.parametrize(("line", "larger"), [
    (TINY, 1.4), slow(f"{SMALL} 22 --delta 1e-5", 3.2),
    slow(f"{RUN} 256 --delta 1e-5", 5.047)])  # the loss of a run whose batch sizes are released
def test_a_larger_lower_end_is_not_proven(line, larger):
    record = with_epsilon(ask(line), 1, larger)
    record["result"]["epsilon_lower"] = larger
    verdict = verify(record)
    assert not any(f.verdict == "verified" and "≥" in f.text for f in (*verdict.head, *verdict.others)), texts(verdict)


@pytest.mark.slow
@pytest.mark.parametrize(("line", "delta"), [(TINY.replace(".8", "9"), "1e-2"), (f"{SMALL} 22 --delta 1e-5", "1e-5")])
def test_a_pipe_is_proven_too(line, delta):
    record = json.dumps(ask(line))
    verdict = verify(json.loads(call(["convert", "-", "--steps", "2", "--delta", delta, "--json"], record).stdout))
    assert verdict.holds and all(f.verdict == "verified" for f in verdict.head), texts(verdict)


ALLOCATION = "subsample --scheme random-allocation --noise-multiplier"
ALLOCATIONS = [f"{ALLOCATION} 1 --steps-per-epoch 30 --epochs 1 --delta 1e-6",
               f"{ALLOCATION} 0.5 --steps-per-epoch 20 --epochs 3 --delta 1e-5",
               f"{ALLOCATION} 2 --steps-per-epoch 17 --epochs 4 --participations 3 --delta 1e-6"]


@pytest.mark.slow
@pytest.mark.parametrize("line", [f"{ALLOCATION} 2 --steps-per-epoch 3 --epochs 1 --delta 1e-2", *ALLOCATIONS[:2]])
def test_a_lower_end_that_is_one_percent_too_high_is_refused(line):
    higher = copy.deepcopy(ask(line))
    higher["result"]["epsilon_lower"] *= 1.01
    higher["bounds"][1]["epsilon"] = higher["result"]["epsilon_lower"]
    assert not verify(higher).holds


@pytest.mark.parametrize("line", [
    f"{ALLOCATION} 2 --steps-per-epoch 4 --epochs 2 --participations 2 --delta 1e-2", slow(ALLOCATIONS[2])])
def test_a_pipe_of_random_allocation_is_verified(line):
    run = call([*line.split(), "--json"])
    piped = call(["convert", "-", "--delta", line.split()[-1], "--json"], run.stdout)
    assert piped.returncode == 0
    assert "Verified: " in call(["verify", "-"], piped.stdout).stdout


FIXED = "sampling_rate", "noise_multiplier"
DRAWN = "n", "batch_size", "noise_multiplier", "replaced"
RUNS = [slow("wor-zero-out", dict(zip(FIXED, (0.01, 1.0), strict=True)), 100, 1e-5),
        slow("wor-zero-out", dict(zip(FIXED, (0.3, 4.0), strict=True)), 1, 1e-3),
        ("wor-zero-out", dict(zip(FIXED, (1.0, 3.0), strict=True)), 2, 1e-3),
        ("with-replacement", dict(zip(DRAWN, (50, 2, 1.0, True), strict=True)), 1, 1e-3),
        slow("with-replacement", dict(zip(DRAWN, (50, 4, 1.0, True), strict=True)), 10, 1e-5),
        slow("with-replacement", dict(zip(DRAWN, (20, 2, 2.0, False), strict=True)), 2, 1e-3),
        ("with-replacement", dict(zip(DRAWN, (1, 3, 5.0, False), strict=True)), 2, 1e-5),
        slow("with-replacement", dict(zip(DRAWN, (1000, 10, 1.0, False), strict=True)), 100, 1e-5),
        slow("with-replacement", dict(zip(DRAWN, (60_000, 256, 0.55, True), strict=True)), 3516, 1e-5)]


@spread("name, own, steps, delta", RUNS)
def test_the_upper_end_is_proven(name, own, steps, delta):
    bound, mp = all_bounds()[f"{name}-profile"], Context()
    found = epsilon_at_delta([(bound.pair(*own.values()), steps)], log(delta))
    uses = scheme_uses.PARTS[bound.name]({**own, "steps": steps})
    shown = composition_grids.delta_from_above(mp, uses, found.witness, found.upper, log(delta))
    assert mp.mpf(delta).surely_at_least(shown)
    smaller = composition_grids.delta_from_above(mp, uses, found.witness, found.upper * 0.998, log(delta))
    assert not mp.mpf(delta).surely_at_least(smaller)


@spread("name, own, steps, delta", RUNS)
def test_the_lower_end_is_proven(name, own, steps, delta):
    bound, mp = all_bounds()[f"{name}-lower"], Context()
    ((pair, _),) = bound.value(**own)
    found = epsilon_at_delta([(pair, steps)], log(delta))
    uses = scheme_uses.PARTS[bound.name]({**own, "steps": steps})
    shown = composition_grids.delta_from_below(mp, uses, found.witness, found.lower, delta)
    assert shown.surely_at_least(delta)
    larger = composition_grids.delta_from_below(mp, uses, found.witness, found.upper * 1.002, delta)
    assert not larger.surely_at_least(delta)
