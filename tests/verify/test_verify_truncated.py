"""Records about truncated and cyclic Poisson batches are proven, and better numbers are refuted."""

import copy
import json

import pytest
from calling import call
from conftest import slow
from verifying import ask, texts

from dpcalc.verify.report import verify

RUN = "subsample --n 60000 --batch-size 256 --steps 3516 --noise-multiplier 1.1 --max-batch-size"
SMALL = "subsample --n 500 --batch-size 20 --steps 30 --noise-multiplier .8 --max-batch-size"
OF_500 = "subsample --n 500 --batch-size 20"
LINES = [f"{RUN} 280 --delta 1e-5", f"{SMALL} 22 --epsilon 2", f"{SMALL} 5 --delta 1e-8", f"{SMALL} 600 --delta 1e-5",
         f"{SMALL} 25 --epsilon 0", f"{SMALL} 22 --delta 1e-5 --bound truncated-poisson-lower",
         "subsample --n 9 --sampling-rate 1 --max-batch-size 4 --noise-multiplier 3 --steps 2 --delta 1e-5",
         f"{OF_500} --steps 1 --noise-multiplier .8 --max-batch-size 22 --delta 1e-5",
         f"{OF_500} --scheme cyclic-poisson --bands 4 --steps 30 --noise-multiplier .8 --delta 1e-5",
         f"{OF_500} --steps 30 --max-batch-size 22 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
         f"tv {SMALL.partition(' ')[2]} 22"]
LONG = (0, 1, 2, 4, 9)


@pytest.mark.parametrize("line", [slow(LINES[k]) if k in LONG else LINES[k] for k in range(len(LINES))])
def test_its_record_is_proven(line):
    verdict = verify(ask(line))
    assert verdict.holds and all(f.verdict == "verified" for f in (*verdict.head, *verdict.others)), texts(verdict)


def test_a_smaller_epsilon_is_refuted():
    """Below the composition of the pair by more than the bracket is wide, 3e-4 of it."""
    record = ask(f"{SMALL} 22 --delta 1e-5")
    epsilon = record["result"]["epsilon"]
    assert not verify(with_epsilon(record, 0, epsilon * 0.998)).holds
    assert verify(with_epsilon(record, 0, epsilon * 1.001)).holds


@pytest.mark.slow
def test_a_larger_lower_end_is_not_proven():
    """5.047 is the loss of a run whose batch sizes are released."""
    record = with_epsilon(ask(f"{RUN} 256 --delta 1e-5"), 1, 5.047)
    record["result"]["epsilon_lower"] = 5.047
    verdict = verify(record)
    assert not any(f.verdict == "verified" and "≥" in f.text for f in (*verdict.head, *verdict.others)), texts(verdict)


def test_a_pipe_is_proven_too():
    piped = call(["convert", "-", "--steps", "2", "--delta", "1e-5", "--json"], json.dumps(ask(f"{SMALL} 22 --delta 1e-5"))).stdout
    verdict = verify(json.loads(piped))
    assert verdict.holds and all(f.verdict == "verified" for f in verdict.head), texts(verdict)


def with_epsilon(record, row, epsilon):
    found = copy.deepcopy(record)
    found["bounds"][row]["epsilon"] = epsilon
    if row == 0:
        found["result"]["epsilon"] = epsilon
    return found
