"""Chernoff's bound in place of a composition: where ε is so large that it is as close as ε is told."""

from math import inf, log, sqrt

import numpy as np
import pytest
from last_iterate_lines import answer

from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.profiles import compose, deep, pairs, tilt
from dpcalc.verify.report import verify

MOST = "shuffle-pnsgd --lipschitz 5 --smoothness .1 --diameter 10 --learning-rate .3 --sigma .00434 --n 1e6 --delta 1.05e-26 --epochs 1e11"


def samples_of(mu):
    """Of a μ-GDP step, by samples: losses are as if drawn from N(μ²/2, μ²)."""
    epsilons = [0.0, *(e for e in (mu * mu / 2 + mu * np.linspace(-9, 35, 1500)).tolist() if e > 0)]
    return pairs.sampled(epsilons, [log_gaussian(e, mu) for e in epsilons])


@pytest.mark.parametrize("steps", (200, 10**7, 10**12))
@pytest.mark.parametrize("mu", (3e3, 1e6))
@pytest.mark.parametrize("log_delta", (-3.0, -30.0, -300.0))
def test_an_epsilon_without_a_sense_is_not_below_and_close(mu, steps, log_delta):
    found = compose.epsilon_at(((samples_of(mu / sqrt(steps)), steps),), log_delta, bracket=False)
    assert found.witness["chernoff"] == 1
    assert log_gaussian(found.upper, mu) <= log_delta < log_gaussian(found.upper * 0.99, mu)


def test_elsewhere_and_where_a_lower_end_is_asked_for_steps_are_composed():
    parts = ((samples_of(3e3 / sqrt(200)), 200),)
    assert "chernoff" not in compose.epsilon_at(parts, -30.0).witness
    assert "chernoff" not in compose.epsilon_at(((samples_of(0.1), 200),), -30.0, bracket=False).witness


@pytest.mark.parametrize("share", (0.0, 0.5, 0.999, 1.0, 2.0))
def test_what_is_infinite_counts(share):
    """Of δ it leaves the rest; nothing where it is all of it."""
    pair = samples_of(3e3)._replace(log_infinite=-30.0 + log(share) if share else -inf)
    parts = ((pair, 1),)
    found = deep.epsilon(parts, tilt.for_delta(parts, -30.0), -30.0, 14.0, 1e4)
    if share >= 1:
        assert found is None
    else:
        assert found is not None
        assert log_gaussian(found.upper, 3e3) <= -30.0 + log(1 - share) < log_gaussian(found.upper * 0.99, 3e3)


@pytest.mark.parametrize("budget", (0.0, 1.0, 3.5))
def test_within_a_small_budget_it_is_none(budget):
    parts = ((samples_of(30.0), 100),)
    c = tilt.for_delta(parts, -30.0)
    assert c.prefactor > 2.9 and deep.close_epsilon(parts, c, -30.0, 14.0, budget) is None
    assert deep.close_epsilon(parts, c, -30.0, 14.0, 10.0) is not None


def test_a_tilt_too_steep_for_its_grid():
    """Its weights overflowed."""
    sizes = [10.0 * 3**k for k in range(12)]
    pair = pairs.sampled([0.0, *sizes], [-30.0 - x for x in range(13)])
    parts = ((pair, 10**4),)
    with np.errstate(over="raise"):
        found = deep.epsilon(parts, tilt.cumulants(parts, 10.0), -50.0, 14.0, 1e9)
    assert found is None or found.upper > 0


def test_it_takes_next_to_no_transforms_and_verify_agrees(monkeypatch):
    points, rfft = [0], np.fft.rfft
    monkeypatch.setattr(np.fft, "rfft", lambda x, *more: points.__setitem__(0, points[0] + len(x)) or rfft(x, *more))
    record, _ = answer(MOST)
    assert points[0] < 100_000  # it was 8,219,112, for four times the ε
    assert record["result"]["epsilon"] == pytest.approx(4.1034e12, rel=1e-3)
    assert verify(record).holds
    record["result"]["epsilon"] = record["bounds"][0]["epsilon"] = record["result"]["epsilon"] * 0.99
    assert not verify(record).holds


def test_a_grid_that_would_move_it_too_far_is_not_taken():
    """Its losses are of very different sizes: on the grid that there is memory for the row came out as 3.66e7."""
    line = ("shuffle-pnsgd --lipschitz 5 --smoothness 1 --diameter .5 --learning-rate .001 --epochs 1e12 --sigma .00994 --n 1e12 "
            "--delta 2.87e-17 --bound shuffled-iteration")
    assert answer(line)[0]["result"]["epsilon"] < 2.7e7
