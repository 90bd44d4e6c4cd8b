"""Random allocation: lower ends and pipes."""

import copy

import pytest
from calling import call
from verifying import ask

from dpcalc.verify.report import verify

RUN = "subsample --scheme random-allocation --noise-multiplier"
LINES = [f"{RUN} 1 --steps-per-epoch 30 --epochs 1 --delta 1e-6", f"{RUN} 0.5 --steps-per-epoch 20 --epochs 3 --delta 1e-5",
         f"{RUN} 2 --steps-per-epoch 17 --epochs 4 --participations 3 --delta 1e-6"]


@pytest.mark.parametrize("line", LINES[:2])
def test_a_lower_end_that_is_one_percent_too_high_is_refused(line):
    higher = copy.deepcopy(ask(line))
    higher["result"]["epsilon_lower"] *= 1.01
    higher["bounds"][1]["epsilon"] = higher["result"]["epsilon_lower"]
    assert not verify(higher).holds


def test_the_composition_of_a_pipe_is_verified():
    run = call([*LINES[2].split(), "--json"])
    piped = call(["convert", "-", "--delta", "1e-6", "--json"], run.stdout)
    assert piped.returncode == 0
    assert "Verified: " in call(["verify", "-"], piped.stdout).stdout
