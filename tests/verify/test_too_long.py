"""What takes minutes is left open, and said so, instead of being waited for."""

from math import exp, inf, log

import pytest
from test_verify import ask, texts

from dpcalc.verify import composition, convolution, laws, plans
from dpcalc.verify.cells import Grid
from dpcalc.verify.context import Context
from dpcalc.verify.convolution import Sum, power, times
from dpcalc.verify.report import OPEN, verify
from dpcalc.verify.unchecked import TooLong


def test_a_product_of_millions_of_points():
    half = Sum(0, [1] * 1_300_000, 0.0, 70)
    with pytest.raises(TooLong, match="2600000 points"):
        times(half, half, 2)
    assert times(half._replace(weights=[1 << 70]), half._replace(weights=[1 << 70]), 2).weights == [1 << 70]


def test_the_message_says_how_long_and_how_long_it_may_be(monkeypatch):
    record = ask("subsample --sampling-rate .05 --sigma 2 --steps 5 --delta 1e-5 --bound poisson-profile")
    monkeypatch.setattr(convolution, "_LONGEST", 900)
    finding = verify(record).head[0]
    assert finding.verdict == OPEN and "points, and sums of at most 900 are checked" in finding.text and "witness" not in finding.text
    monkeypatch.setattr(plans, "MOST_CELLS", 100)
    finding = verify(record).head[0]
    assert finding.verdict == OPEN and "points, and grids of at most 100 are checked" in finding.text


@pytest.mark.slow
def test_rare_losses_of_many_points():
    """Minutes, before the masses above were told from tilted weights."""
    verdict = verify(ask("subsample --scheme without-replacement --sampling-rate 1e-4 --sigma .7 --steps 100 --delta 1e-7 --bound wor-profile"))
    assert verdict.head[0].verdict == "verified", texts(verdict)


@pytest.mark.parametrize("tilt, grid", [(3.0, Grid(0.0, -200, 700, inf)), (12.0, Grid(0.013, -150, 600, 2.0))])
def test_what_is_cut_off_above_is_added(tilt, grid, monkeypatch):
    """To δ, which is hardly changed; and the mass of what was cut off is no less than it was."""
    c, parts = Context(128), ((laws.Use(laws.gaussian(lambda mp: mp.mpf(1)), "poisson", 0.01), 40),)
    plan = plans.Plan(tilt, (grid,), (0.01,), ((),))
    for epsilon in (0.3, 1.0):
        monkeypatch.setattr(convolution, "_SHORT", 10**6)
        whole = composition.delta(c, parts, plan, epsilon)
        monkeypatch.setattr(convolution, "_SHORT", 50)
        for loss in (1e-11, 1e-3):
            monkeypatch.setattr(composition, "LOST", loss)
            cut = composition.delta(c, parts, plan, epsilon, log(float(whole)))
            assert whole * (1 - 1e-15) <= cut <= whole * (1 + 30 * loss + 1e-6), (float(whole), float(cut))
            assert cut > whole or loss < 1e-6


def test_the_mass_that_is_lost():
    weights = [1 << 70] * 30_000
    one = Sum(-10_000, weights, 0.0, 80, 0.5, 1e-3)
    found = power(one, 1, 1e-5)
    gone = len(weights) - len(found.weights)
    mass = sum(2.0**-10 * exp(0.5 - 1e-3 * (-10_000 + k)) for k in range(len(weights) - gone, len(weights)))
    assert gone > 1000 and mass <= found.lost <= 1e-5 and found.lost < mass * (1 + 1e-6)
