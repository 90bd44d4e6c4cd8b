"""The optimal conversion of an RDP value: its condition, tiny divergences, orders next to 1."""

import math
import random

import mpmath
import pytest
from answers import answer
from conftest import spread

from dpcalc.bounds import all_bounds
from dpcalc.bounds.conversions import rdp_optimal

mp = mpmath.mp.clone()
mp.dps = 60
BOUNDS = all_bounds()


@pytest.mark.parametrize("alpha, delta, epsilon", [(2, 1e-3, 1.0), (1.05, 0.9, 0.5), (1.5, 0.6, 0.1), (30, 1e-9, 2.0),
                                                   (8, 0.1, 3.0)])
def test_the_condition_of_the_optimal_conversion_is_the_printed_minimum(alpha, delta, epsilon):
    """The minimum over p is found here by thirds, as the printed function of p is convex."""
    a, d, grown = mp.mpf(alpha), mp.mpf(delta), mp.exp(mp.mpf(epsilon))
    low, high = d, mp.mpf(1)

    def printed(p):
        return p**a * (p - d) ** (1 - a) + (1 - p) ** a * (grown - p + d) ** (1 - a)

    for _ in range(230):
        third = (high - low) / 3
        low, high = (low + third, high) if printed(low + third) > printed(high - third) else (low, high - third)
    found = rdp_optimal.condition(mp, alpha, mp.mpf(0.7), d, epsilon) - (a - 1) * (mp.mpf(epsilon) - mp.mpf(0.7))
    assert abs(found - mp.log(printed((low + high) / 2))) < mp.mpf(10) ** -25


@spread("alpha, rdp, delta", [(55.67, 1.139e-9, 3.03e-13), (6.84, 1.9916e-12, 1e-12),
                                               (4.106, 5.8e-6, 5.83e-6), (101.2, 0.041, 4.93e-14)])
def test_a_tiny_divergence_keeps_its_digits(alpha, rdp, delta):
    """Twelve digits of ε, where H − 1 is as small as the divergence."""
    context = mpmath.mp.clone()
    context.dps = 30
    bound = BOUNDS["rdp-optimal"]
    got, want = bound.value(alpha, rdp, float(mpmath.log(delta))), bound.exact(context, alpha, rdp, delta)
    assert want <= got <= want * (1 + mpmath.mpf("1e-12"))


@pytest.mark.parametrize("alpha, rdp, log_delta", [
    (12.006544400042538, 3.2016302735008167e-15, -674.7638736541248),
    (13.432076478506469, 1.2992503094082768e-22, -688.2362614090977)])
def test_epsilon_at_a_tiny_divergence_and_a_tiny_delta(alpha, rdp, log_delta):
    """The minimum is at a likelihood ratio that doubles hardly hold."""
    near, bound = mpmath.mp.clone(), BOUNDS["rdp-optimal"]
    near.dps = 80
    epsilon, delta = bound.value(alpha, rdp, log_delta), near.exp(near.mpf(log_delta))
    assert rdp_optimal.condition(near, alpha, rdp, delta, epsilon) >= 0
    assert rdp_optimal.condition(near, alpha, rdp, delta, epsilon * (1 - bound.rtol)) < 0


@pytest.mark.parametrize("alpha, rdp, epsilon, largest", [
    (1.0002722206679995, 1.2513836078768641e-195, 0.004076195442179347, 1.5357e-193),
    (155679665.3036725, 27955932.542498227, 27955932.542498227, 1 / 155679665)])
def test_delta_at_the_limits_of_doubles(alpha, rdp, epsilon, largest):
    near = mpmath.mp.clone()
    near.dps = 320
    delta = near.exp(near.mpf(rdp_optimal.log_delta(alpha, rdp, epsilon)))
    assert rdp_optimal.condition(near, alpha, rdp, delta, epsilon) >= 0 and delta <= largest


@pytest.mark.slow
def test_an_enormous_noise_is_answered():
    line = "subsample --sigma 1.25e159 --scheme without-replacement --sampling-rate 1 --steps 7 --epsilon 1"
    assert 0 <= answer(line)["result"]["delta"] < 1e-300


@pytest.mark.parametrize("mu", [1e-3, 1e-6, 1e-7, 1e-9, 1e-11, 7.2924294176026e-15])
def test_nearly_equal_distributions_have_at_least_their_exact_total_variation(mu):
    """Gaussian noise with a shift of μ has a total variation of erf(μ/√8)."""
    exact = mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))
    for row in answer(f"convert --from gdp --mu {mu!r} --to tv")["bounds"]:
        assert row["tv"] >= exact, row["name"]


@pytest.mark.parametrize(("alpha", "rdp"), [(1.0000000059294196, 65.39326974144319), (1.000000001, 0.5729078500215663),
                                            (1.0000000021923, 6.1e-21),
                                            (1.0001, 5e-19), (1.5, 1e-20), (40.0, 1e-13), (2000.0, 1e-12),
                                            (1.0000000341178048, 6.769e-05)])
@pytest.mark.parametrize("epsilon", [0.0, 1.5e-5, 0.45])
def test_delta_meets_the_condition_next_to_order_1_and_for_tiny_divergences(alpha, rdp, epsilon):
    log_delta = rdp_optimal.log_delta(alpha, rdp, epsilon)
    if log_delta == 0:
        return
    near = mpmath.mp.clone()
    near.dps = 80
    slack = rdp_optimal.condition(near, alpha, rdp, near.exp(near.mpf(log_delta)), epsilon)
    assert slack >= -1e-20 * (alpha - 1) * rdp


@pytest.mark.parametrize("rdp, epsilon", [(30.0, 700.0), (1.0, 3.0), (1e-3, 0.1)])
def test_delta_next_to_order_1_is_that_of_30_digits(rdp, epsilon):
    for alpha in (1 + 2.0**-52, 1 + 2.0**-51, 1 + 9e-16, 1 + 1e-14):
        delta = answer(f"convert --from rdp --alpha {alpha!r} --rdp {rdp} --epsilon {epsilon} --digits 30 "
                       "--bound rdp-optimal")["bounds"][0]
        assert float(delta["digits"]["delta"]) <= delta["delta"] <= float(delta["digits"]["delta"]) * (1 + 2e-8)


def drawn(rng):
    """An order and a divergence as they meet in the conversion of Gaussian noise, ε and log δ."""
    rho, log_delta = math.exp(rng.uniform(-9, 2)), -rng.uniform(1, 40)
    alpha = 1 + math.sqrt(-log_delta / rho) * math.exp(rng.uniform(-1, 1))
    return alpha, alpha * rho, log_delta


def test_estimates_for_the_search_over_orders_are_near_the_proven_values():
    rng, estimate = random.Random(50), rdp_optimal.BOUND.estimate
    for _ in range(200):
        alpha, rdp, log_delta = drawn(rng)
        epsilon = rdp_optimal.value(alpha, rdp, log_delta)
        assert estimate.value(alpha, rdp, log_delta) == pytest.approx(epsilon, rel=1e-9, abs=1e-12)
        if epsilon > 0:
            assert estimate.log_delta(alpha, rdp, epsilon) == pytest.approx(log_delta, rel=1e-9)


def test_epsilon_and_delta_are_inverse():
    """δ at the ε of a δ is at most that δ, and hardly less; a thousandth less of ε needs more."""
    rng = random.Random(51)
    for _ in range(100):
        alpha, rdp, log_delta = drawn(rng)
        epsilon = rdp_optimal.value(alpha, rdp, log_delta)
        if epsilon > 1e-3:
            assert rdp_optimal.log_delta(alpha, rdp, epsilon) == pytest.approx(log_delta, abs=1e-8)
            assert rdp_optimal.log_delta(alpha, rdp, epsilon * 0.999) > log_delta


def test_a_divergence_next_to_the_least_double():
    """(α−1)ε(α) is a subnormal double: the least δ of a test between the data sets is about its square root."""
    assert rdp_optimal.log_delta(1.8216877044228932, 5e-324, 0.0) > -373
