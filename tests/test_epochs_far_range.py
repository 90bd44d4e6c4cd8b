"""One epoch whose losses reach far beyond the ε asked about is still followed closely next to that ε."""

import json
from itertools import pairwise
from math import inf, log

import pytest

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd.samples import _extent
from dpcalc.cli import load

RUN = "--lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1e12 --epochs 20 --bound shuffled-hybrid"


def ask(line):
    name, *args = line.split()
    return json.loads(load(name).main([*args, "--json"], standalone_mode=False).text)["result"]


@pytest.mark.filterwarnings("ignore")
def test_delta_falls_steadily_in_the_noise():
    """Below σ = .00597 an epoch loses more than ε = 1.5^27: log δ was -8.4 there, and -14.35 above."""
    logs = [ask(f"shuffle-pnsgd {RUN} --sigma {sigma} --epsilon 2")["log_delta"] for sigma in (0.0055, 0.00585, 0.0060)]
    assert all(0.05 < a - b < 0.4 for a, b in pairwise(logs))
    assert logs[0] < -14.1


@pytest.mark.filterwarnings("ignore")
def test_a_solution_beyond_that():
    """It was .00598, where ε is 1.177."""
    sigma = ask(f"shuffle-pnsgd {RUN} --epsilon 2 --delta 1e-6 --solve sigma")["sigma"]
    assert sigma < 0.00459
    assert 1.98 < ask(f"shuffle-pnsgd {RUN} --sigma {sigma!r} --delta 1e-6")["epsilon"] <= 2


@pytest.mark.parametrize("level", [1e-9, 1e-4, 1.0, 1e4, 1e12])
def test_the_look_at_powers_keeps_all_it_saw(level):
    params = {"level": level, "lipschitz": 1.0, "diameter": 2.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0, "n": 1000}
    last, seen = _extent(all_bounds()["shuffled-hybrid"], -40.0, tuple(params.items()), inf)
    at, logs = list(seen), list(seen.values())
    assert at == sorted(at) and at[0] == 0.0
    assert all(b / a == pytest.approx(1.5) for a, b in pairwise(at[1:]))
    assert all(x >= y for x, y in pairwise(logs))
    k = next(k for k, x in enumerate(logs) if x <= -40)
    assert k == 0 or at[k - 1] <= last <= at[k]
    assert k < 2 or abs(log(last / at[k])) <= log(1.5) + 1e-9


@pytest.mark.filterwarnings("ignore")
def test_a_profile_that_falls_at_once():
    """δ of one epoch of shuffled-contraction is 1 up to ε = 1e7, where it falls to e^-1400: this was a fault, "math domain error"."""
    line = "--lipschitz 5 --smoothness .1 --learning-rate .1 --diameter 10 --epochs 10 --n 1e12 --delta .000627 --sigma .002150892805364954"
    answer = json.loads(load("shuffle-pnsgd").main([*line.split(), "--json"], standalone_mode=False).text)
    found = {row["name"]: row["epsilon"] for row in answer["bounds"]}
    assert found["shuffled-hybrid"] == pytest.approx(0.159615, rel=1e-3)
    assert 1e8 < found["shuffled-contraction"] < 1.1e8
