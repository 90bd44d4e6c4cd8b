"""RDP of Poisson batches: both directions, next to no noise, and at orders whose integral would take too many nodes."""

import random
from math import log, log1p

import domains
import flint
import integrals
import mpmath
import pytest

from dpcalc.bounds import all_bounds
from dpcalc.bounds.sampling import poisson_rdp, poisson_rdp_closed
from dpcalc.core.errors import OutOfScope

BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60


def test_the_closed_form_is_above_both_directions_and_ends_at_its_largest_order():
    rng = random.Random(5)
    for _ in range(200):
        p = domains.covered_by_the_closed_form(rng)
        alpha, z, q = p.values()
        closed, truth = poisson_rdp_closed.value(**p), max(f(alpha, z, q) for f in (poisson_rdp.value,
                                                                                    poisson_rdp.reverse))
        assert closed == pytest.approx(2 * alpha * q**2 / z**2, rel=1e-14) and truth <= 0.27 * closed
        m, last = log1p(1 / (q * (alpha - 1))), poisson_rdp_closed.largest_order(z, q)
        assert alpha <= m * z**2 / 2 - log(z**2)  # both conditions as printed
        assert alpha <= (m**2 * z**2 / 2 - log(5 * z**2)) / (m + log(q * alpha) + 1 / (2 * z**2))
        for function in (poisson_rdp_closed.value, lambda *p: poisson_rdp_closed.exact(mp, *p)):
            with pytest.raises(OutOfScope, match="above α"):
                function(last * (1 + 1e-9), z, q)


@pytest.mark.parametrize("change, says", [({"noise_multiplier": 3.99}, "≥ 4"), ({"sampling_rate": 0.2}, "< 1/5")])
def test_the_closed_form_needs_much_noise_and_a_small_rate(change, says):
    with pytest.raises(OutOfScope, match=says):
        poisson_rdp_closed.value(**{"alpha": 1.5, "noise_multiplier": 8.0, "sampling_rate": 0.1, **change})


def test_a_record_added_with_hardly_any_noise_loses_what_its_absence_says():
    """D_α(N‖mix) tends to −log(1−q) as the noise falls, though e^w passes e^600 where the integrand still counts."""
    for alpha, z, q in ((2.0, 0.0177, 0.02), (3.5, 0.02, 0.3), (2.0, 0.05, 0.02)):
        assert poisson_rdp.reverse(alpha, z, q) == pytest.approx(-log1p(-q), rel=1e-9)


@pytest.mark.parametrize("count", [50, pytest.param(150, marks=pytest.mark.slow)])
def test_the_divergence_of_a_record_added_at_every_order(count):
    """Against an enclosure of the integral, whose mass is narrow at large α."""
    rng = random.Random(3)
    for _ in range(count):
        alpha, z = 1 + domains.log_uniform(rng, 1e-3, 1e3), domains.log_uniform(rng, 0.1, 300)
        q = rng.choice((1 - domains.log_uniform(rng, 1e-9, 0.5), domains.log_uniform(rng, 1e-9, 0.5)))
        want = integrals.reverse(*map(flint.arb, (alpha, q, z)), 256)
        excess = (poisson_rdp.reverse(alpha, z, q) - want) / want
        assert want.rel_accuracy_bits() > 50 and excess > -1e-15 and excess < 1e-10, (alpha, z, q)


@pytest.mark.parametrize("alpha, z, q", [(1 + 1e-12, 1e-6, 0.5), (5.5e9, 1e4, 1e-12)])
def test_an_integral_of_very_many_nodes_is_bounded_by_minkowskis_inequality(alpha, z, q):
    """log(1 − q + q·e^((α−1)/2z²))·α/(α−1) is above it."""
    growth = (mp.mpf(alpha) - 1) / (2 * mp.mpf(z) ** 2)
    want = mp.log1p(q * mp.expm1(growth)) * alpha / (mp.mpf(alpha) - 1)
    assert 1 <= BOUNDS["poisson-rdp"].value(alpha, z, q) / want < 1 + 1e-12
