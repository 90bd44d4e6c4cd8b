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
    assert sigma < 0.004585
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
