"""Conversions of pure guarantees, and of mechanisms with finitely many outcomes."""

from math import log1p

import mpmath
import pytest
from answers import answer

from dpcalc.bounds import all_bounds
from dpcalc.bounds.conversions import outcomes

BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60


def test_the_mu_of_pure_steps_grows_with_the_root_of_their_number():
    value = BOUNDS["pure-gdp"].value
    assert value(1.0, 4)["mu"] == pytest.approx(2 * value(1.0, 1)["mu"], rel=1e-14)


def test_equal_outcomes_lose_nothing_and_nearly_equal_ones_keep_15_digits():
    assert answer("convert --from outcomes --p .5,.5 --q .5,.5 --delta 0")["result"]["epsilon"] == 0
    p, q = (0.5, 0.5), (0.5 + 2**-40, 0.5 - 2**-40)
    loss = -log1p(-(2**-39))
    assert loss <= outcomes.pure(p, q) <= loss * (1 + 3e-15)


def test_the_least_positive_kl_divergence_has_a_positive_total_variation():
    assert answer("tv --kl 5e-324")["result"]["tv"] >= float(mp.sqrt(mp.mpf(5e-324) / 2))
