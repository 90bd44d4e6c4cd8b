"""One epoch whose losses reach beyond ten times the ε in question is still known closely next to that ε."""

import json
from itertools import pairwise

import pytest
from fuzz import answered

from dpcalc.cli.app import load

RUN = "--lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1e12 --epochs 20 --bound shuffled-iteration"


def ask(line):
    name, *args = line.split()
    return json.loads(load(name).main([*args, "--json"], standalone_mode=False).text)["result"]


@pytest.mark.filterwarnings("ignore")
def test_delta_falls_steadily_in_the_noise():
    """One epoch may lose ε = 60,000, and ten times more with a third of the noise."""
    logs = [ask(f"shuffle-pnsgd {RUN} --sigma {sigma} --epsilon 2")["log_delta"] for sigma in (0.0055, 0.00585, 0.0060)]
    assert all(0.05 < a - b < 0.4 for a, b in pairwise(logs))
    assert logs[0] < -14.2


@pytest.mark.filterwarnings("ignore")
def test_a_solution_beyond_that():
    sigma = ask(f"shuffle-pnsgd {RUN} --epsilon 2 --delta 1e-6 --solve sigma")["sigma"]
    assert sigma < 0.0046
    assert 1.98 < ask(f"shuffle-pnsgd {RUN} --sigma {sigma!r} --delta 1e-6")["epsilon"] <= 2


@pytest.mark.filterwarnings("ignore")
def test_a_profile_that_falls_at_once():
    """δ of one epoch of shuffled-contraction is 1 up to ε = 1e7, where it falls to e^-1400."""
    line = "--lipschitz 5 --smoothness .1 --learning-rate .1 --diameter 10 --epochs 10 --n 1e12 --delta .000627 --sigma .002150892805364954"
    answer = json.loads(load("shuffle-pnsgd").main([*line.split(), "--json"], standalone_mode=False).text)
    found = {row["name"]: row["epsilon"] for row in answer["bounds"]}
    assert found["shuffled-iteration"] == pytest.approx(0.18094, rel=5e-3)
    assert 1e8 < found["shuffled-contraction"] < 1.1e8


def test_losses_up_to_2e30_at_a_large_delta_have_an_epsilon_of_0():
    line = ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --strong-convexity .5 --learning-rate .001 --diameter .5 "
            "--epochs 10 --n 133000000000")
    done = answered([*line.split(), "--sigma", "1e-15", "--delta", "2.87e-05", "--json"])
    assert json.loads(done.out)["result"]["epsilon"] == 0
