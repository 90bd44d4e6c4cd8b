"""Lower values of concrete runs: after one step, and walks of many steps, whose bounds in ball arithmetic hold the
definition and prove the numbers of the fast path."""

import math
import sys
from itertools import pairwise

import pytest
from conftest import slow
from verifying import ask, better

from dpcalc.bounds.noisy_sgd._engine.one_step import Pair
from dpcalc.bounds.noisy_sgd._engine.walk import law
from dpcalc.bounds.noisy_sgd._engine.walk_step import places
from dpcalc.verify import lower_bound_rest, lower_bound_walks
from dpcalc.verify.arb.context import Context
from dpcalc.verify.report import verify

PAIRS = [Pair(3.0, 1.0, 0.0, 0.5, -0.5, 0.2, 0.0), Pair(2.0, 0.7, -0.4, 0.9, -0.4, 0.3, -2.0),
         Pair(4.0, -0.8, 0.0, 1.0, -1.0, 1.0, 0.0)]


@pytest.mark.parametrize("pair", PAIRS)
def test_two_steps_are_those_of_the_definition(pair):
    """By a Riemann sum over the place after the first step: between two sums that bound it."""
    c, cut = Context(128), pair.half / 3

    def tail(z):
        return math.erfc(z / math.sqrt(2)) / 2

    def above(kick, x, y):
        return sum(share * tail(x - pair.pull * y - m) for m, share in ((pair.drift, 1 - pair.rate), (kick, pair.rate)))

    def twice(kick):
        n = 4000
        cuts = [-pair.half + 2 * pair.half * k / n for k in range(n + 1)]
        first = [above(kick, x, pair.start) for x in cuts]
        total = (1 - first[0]) * above(kick, cut, -pair.half) + first[-1] * above(kick, cut, pair.half)
        ends = [above(kick, cut, x) for x in cuts]
        return total + sum((a - b) * (u + v) / 2 for (a, b),
                           (u, v) in zip(pairwise(first), pairwise(ends), strict=True))

    (most, lead), = lower_bound_walks.half_lines(c, pair, 2, [cut])
    p, q = twice(pair.up), twice(pair.down)
    assert float(most) == pytest.approx(q, rel=1e-6) and float(lead) == pytest.approx(p - q, rel=1e-6)
    assert most.rad() < 1e-30 and lead.rad() < 1e-30


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("steps", [5, slow(700)])
def test_they_are_within_the_bounds_of_the_fast_path(pair, steps):
    c, known, cuts = Context(128), law(pair, steps), places(pair)
    some = range(1, len(cuts), 7)
    for k, (most, lead) in zip(some, lower_bound_walks.half_lines(c, pair, steps, [float(cuts[k]) for k in some]),
                               strict=True):
        assert float(most) <= known.above[k] * (1 + 1e-15) and float(most) >= known.above[k] * (1 - 1e-6)
        assert known.lead[k] <= float(lead) * (1 + 1e-15) + 1e-18 and known.lead[k] >= float(lead) * (1 - 1e-5) - 1e-9
    total = sum(float(q) for q, _ in lower_bound_walks.cells(c, pair, steps, [float(x) for x in cuts]))
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("pair", [slow(PAIRS[0]._replace(at_rest=True)), PAIRS[1]._replace(at_rest=True)])
@pytest.mark.parametrize("steps", [60, 400, 10**9])
def test_walks_from_rest_are_within_the_bounds_of_the_fast_path(pair, steps):
    c, known, cuts = Context(128), law(pair, steps), places(pair)
    some = range(1, len(cuts), 7)
    for k, (most, lead) in zip(some, lower_bound_rest.half_lines(c, pair, steps, [float(cuts[k]) for k in some]),
                               strict=True):
        assert known.above[k] * (1 - 1e-6) <= float(most) <= known.above[k] * (1 + 1e-15)
        assert known.lead[k] * (1 - 1e-15) <= float(lead) <= known.lead[k] * (1 + 1e-4)
    cells = lower_bound_rest.cells(c, pair, steps, [float(x) for x in cuts])
    assert sum(float(q) for q, _ in cells) == pytest.approx(1, abs=1e-8)
    for gain, (_, d) in zip(known.gain, cells, strict=True):
        assert gain * float(d) >= 0 and abs(float(d)) >= abs(gain) * (1 - 1e-12)


# --- one step --------------------------------------------------------------------------------------------------------

RUN = "burn-in --lipschitz 1 --smoothness 1 --learning-rate .1 --bound lower-bound --steps 1"
LINES = [
    f"{RUN} --n 1000 --batch-size 50 --sigma .2 --diameter 1 --delta 1e-6",
    f"{RUN} --n 100 --batch-size 50 --sigma .002 --diameter 10 --strong-convexity .5 --delta 1e-30",
    f"{RUN} --n 1000 --batch-size 50 --sigma .0002 --diameter 1 --epsilon 10",
]


@pytest.mark.parametrize("line", [LINES[0], *map(slow, LINES[1:])])
def test_without_flint(line, monkeypatch):
    record = ask(line)
    monkeypatch.setitem(sys.modules, "flint", None)
    assert verify(record).holds and not verify(better(record)).holds


def test_a_lower_value_of_1_is_not_believed():
    record = ask(f"{RUN} --n 1000 --batch-size 50 --sigma .0002 --diameter 1 --epsilon 10")
    for row in (record["result"], record["bounds"][0]):
        row.update(delta=1.0, log_delta=0.0)
    verdict = verify(record)
    assert not verdict.holds and "a lower value of 1" in verdict.head[0].text
