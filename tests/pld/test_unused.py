"""A record that is used by chance: the mixture of a pair with the data set without the record."""

import mpmath
import pytest

from dpcalc.pld import allocation, sampled
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.unused import with_probability


@pytest.mark.parametrize("batches", [1, 2, 30])
def test_a_record_that_is_used_by_chance_is_one_that_is_sampled(batches):
    """(1−ρ)P + ρQ against Q: for one batch a Poisson-sampled Gaussian; no use at all loses less, and ρ = 0 nothing."""
    pair = allocation.dominated_pair(0.8, batches, 1e-20)
    for unused in (1e-9, 0.05, 0.45):
        mixed = with_probability(unused, pair)
        for epsilon in (0.0, 0.3, 2.0):
            found = log_delta_at_epsilon(((mixed, 2),), epsilon)
            bare = log_delta_at_epsilon(((pair, 2),), epsilon)
            assert found.lower < (bare.lower if unused > 1e-3 else bare.upper)
            if batches == 1:
                exact = log_delta_at_epsilon(((sampled.poisson(Gaussian(1 / 0.8), 1 - unused), 2),), epsilon)
                assert exact.lower - 1e-2 < found.lower <= exact.upper
    assert with_probability(0.0, pair) is pair


@pytest.mark.parametrize("sigma", [1.3, 0.07])
def test_the_masses_of_a_mixture_are_rounded_to_the_safe_side(sigma):
    pair = allocation.dominated_pair(sigma, 5, 1e-20)
    mixed, mp = with_probability(0.2, pair), mpmath.mp.clone()
    mp.dps = 40
    for k in range(0, len(pair.losses), 37):
        p, q = (mp.exp(mp.mpf(one.log_p[k])) for one in (pair, pair.reverse))  # each rounded down
        low = mp.mpf(0.8) * p + mp.mpf(0.2) * q
        assert mp.exp(mp.mpf(mixed.log_p[k])) <= low and mixed.log_p[k] == pytest.approx(float(mp.log(low)), rel=1e-13)
        q_high = mp.exp(mp.mpf(pair.log_p[k]) - mp.mpf(pair.losses[k]))
        assert mp.mpf(mixed.losses[k]) <= mp.log(low / q_high) + mp.mpf(10) ** -15
