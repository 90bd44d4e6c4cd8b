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


def test_a_smaller_epsilon_is_refuted():
    """Below the composition of the pair by more than the bracket is wide, 3e-4 of it."""
    record = ask(f"{SMALL} 22 --delta 1e-5")
    epsilon = record["result"]["epsilon"]
    assert not verify(with_epsilon(record, 0, epsilon * 0.998)).holds
    assert verify(with_epsilon(record, 0, epsilon * 1.001)).holds


@pytest.mark.parametrize(("line", "larger"), [
    (f"{SMALL} 22 --delta 1e-5", 3.2),
    slow(f"{RUN} 256 --delta 1e-5", 5.047)])  # the loss of a run whose batch sizes are released
def test_a_larger_lower_end_is_not_proven(line, larger):
    record = with_epsilon(ask(line), 1, larger)
    record["result"]["epsilon_lower"] = larger
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
