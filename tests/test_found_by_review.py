"""Points at which an earlier version was wrong."""

from math import log1p

import mpmath
import pytest

from dpcalc.bounds import all_bounds, curve
from dpcalc.bounds.sampling import poisson_rdp

BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60


@pytest.mark.parametrize("alpha, z, q", [(155.0, 6, 0.1), (154.0, 6, 0.1), (69.0, 4, 0.1), (39.0, 3, 0.1), (267.0, 8.295697757737065, 0.10844547852039839)])
def test_poisson_rdp_keeps_the_shoulder_of_its_integral(alpha, z, q):
    bound = BOUNDS["poisson-rdp"]
    want = bound.exact(mp, alpha, z, q)
    assert want <= bound.value(alpha, z, q) <= want * (1 + bound.rtol)


@pytest.mark.parametrize("args", [(0.2872385320032528, 0.0957461773913486, 0.0, 3), (9.965496087471212, 0.9965496377138113, 0.0, 10)])
def test_composition_near_the_last_step_of_its_profile(args):
    bound = BOUNDS["composition-optimal"]
    want = mp.log(bound.exact(mp, *args))
    assert want <= bound.value(*args) <= want * (1 - bound.rtol)


def test_composition_of_huge_losses_is_not_zero():
    assert BOUNDS["composition-optimal"].value(100.0, 720.0, 0.0, 1000) > -1e-9


def test_gdp_of_pure_steps_grows_with_their_root():
    value = BOUNDS["pure-gdp"].value
    assert value(1.0, 4)["mu"] == pytest.approx(2 * value(1.0, 1)["mu"], rel=1e-14)


def test_amplification_never_underflows_to_nothing():
    assert BOUNDS["amplification"].value(1e3, 0.1, 5e-324)["epsilon"] > 0


@pytest.mark.parametrize("alpha, q, sigma", [(3000.0, 0.001, 100.0), (3000.0, 0.3, 100.0), (4000.0, 0.5, 2.0), (1234.0, 0.01, 20.0), (49.0, 0.1, 3.0), (7.0, 0.1, 3.0)])
def test_sampling_without_replacement_sums_every_order(alpha, q, sigma):
    """Blocks of summands that are bounded, not computed, stay above the sum and within its accuracy."""
    bound = BOUNDS["wor-rdp"]
    base = curve.of(BOUNDS["gaussian-rdp"], sigma=sigma, sensitivity=1.0)
    want = bound.exact(mp, alpha, q, base)
    assert want <= bound.value(alpha, q, base) <= want * (1 + bound.rtol)


def test_the_best_whole_order_may_be_large(ask):
    got = ask("subsample", "--scheme", "without-replacement", "--sampling-rate", "1e-4", "--sigma", "2000", "--delta", "1e-9", "--bound", "rdp-improved")
    assert got["bounds"][0]["witness"]["alpha"] > 1500


@pytest.mark.parametrize("alpha, rdp, delta", [(55.67, 1.139e-9, 3.03e-13), (6.84, 1.9916e-12, 1e-12), (4.106, 5.8e-6, 5.83e-6), (101.2, 0.041, 4.93e-14)])
def test_optimal_conversion_of_a_tiny_divergence(alpha, rdp, delta):
    """H − 1 is computed as it is, not as H minus one."""
    context = mpmath.mp.clone()
    context.dps = 30
    bound = BOUNDS["rdp-optimal"]
    got, want = bound.value(alpha, rdp, float(mpmath.log(delta))), bound.exact(context, alpha, rdp, delta)
    assert want <= got <= want * (1 + mpmath.mpf("1e-12"))


def test_the_added_direction_of_poisson_sampling_at_little_noise():
    """Below z = .029 e^w passes e^600 where the integrand still counts: D_α(N‖mix) must reach −log(1−q)."""
    for alpha, z, q in ((2.0, 0.0177, 0.02), (3.5, 0.02, 0.3), (2.0, 0.05, 0.02)):
        assert poisson_rdp.reverse(alpha, z, q) == pytest.approx(-log1p(-q), rel=1e-9)


@pytest.mark.parametrize("mu", [1e-3, 1e-6, 1e-7, 1e-9, 1e-11, 7.2924294176026e-15])
def test_rdp_optimal_near_equal_distributions_is_not_below_the_exact_total_variation(mu):
    """The slope of H was lost to cancellation there, and the minimum sought at a wrong point: up to 750 times too small."""
    from dpcalc import answer

    exact = mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))
    for row in answer("convert", from_="gdp", mu=mu, to="tv").record()["bounds"]:
        assert row["tv"] >= exact, row["name"]


@pytest.mark.parametrize(("alpha", "rdp"), [(1.0000000059294196, 65.39326974144319), (1.000000001, 0.5729078500215663), (1.0000000021923, 6.1e-21),
                                            (1.0001, 5e-19), (1.5, 1e-20), (40.0, 1e-13), (2000.0, 1e-12), (1.0000000341178048, 6.769e-05)])
@pytest.mark.parametrize("epsilon", [0.0, 1.5e-5, 0.45])
def test_rdp_optimal_meets_its_condition_near_order_1_and_for_tiny_divergences(alpha, rdp, epsilon):
    from dpcalc.bounds.conversions import rdp_optimal

    log_delta = rdp_optimal.log_delta(alpha, rdp, epsilon)
    if log_delta == 0:
        return
    near = mpmath.mp.clone()
    near.dps = 80
    slack = rdp_optimal.condition(near, alpha, rdp, near.exp(near.mpf(log_delta)), epsilon)
    assert slack >= -1e-20 * (alpha - 1) * rdp
