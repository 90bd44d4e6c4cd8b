"""verify proves answers about random allocation by its own laws, and refuses numbers that are 1 % too good."""

import copy

import pytest
from calling import call
from conftest import slow
from verifying import ask

from dpcalc.verify.report import verify

RUN = "subsample --scheme random-allocation --noise-multiplier"
LINES = [f"{RUN} 1 --steps-per-epoch 30 --epochs 1 --delta 1e-6", f"{RUN} 0.5 --steps-per-epoch 20 --epochs 3 --delta 1e-5",
         f"{RUN} 2 --steps-per-epoch 17 --epochs 4 --participations 3 --delta 1e-6",
         f"{RUN} 0.8 --steps-per-epoch 25 --epochs 2 --epsilon 2", f"{RUN} 1 --steps-per-epoch 1 --epochs 1 --delta 1e-6"]


@pytest.mark.parametrize("line", [LINES[0], *map(slow, LINES[1:4]), LINES[4]])
def test_answers_are_verified(line):
    verdict = verify(ask(line))
    assert verdict.holds and all(f.verdict == "verified" for f in (*verdict.head, *verdict.others))


@pytest.mark.parametrize("line", LINES[:3])
def test_a_number_that_is_one_percent_too_good_is_refused(line):
    record = ask(line)
    better = copy.deepcopy(record)
    better["result"]["epsilon"] = better["bounds"][0]["epsilon"] = record["result"]["epsilon"] * 0.99
    assert not verify(better).holds
    if len(record["bounds"]) > 1:
        better = copy.deepcopy(record)
        above = record["result"]["epsilon_lower"] * 1.01
        better["result"]["epsilon_lower"] = better["bounds"][1]["epsilon"] = above
        assert not verify(better).holds


def test_the_composition_of_a_pipe_is_verified():
    run = call([*LINES[2].split(), "--json"])
    piped = call(["convert", "-", "--delta", "1e-6", "--json"], run.stdout)
    assert piped.returncode == 0
    assert "Verified: " in call(["verify", "-"], piped.stdout).stdout
