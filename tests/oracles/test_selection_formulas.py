"""The formulas of private selection at 50 digits: values computed before, and exact laws of rounded candidates."""

import mpmath
import numpy as np
import pytest
from conftest import spread
from selection_candidates import rounded_gaussian
from selection_formulas import (
    epsilon_of_curve,
    g_of_mean,
    gaussian_delta,
    gaussian_poisson_epsilon,
    gaussian_profile_epsilon,
    least_log_ratio,
    mean_of,
    negative_binomial_rdp,
    papernot_steinke_c,
    poisson_rdp,
    pure_epsilon,
    selection_rdp,
)
from selection_laws import NegativeBinomial, Poisson, renyi, selected_pair

mp = mpmath.mp.clone()
mp.dps = 50
fewer = mpmath.mp.clone()
fewer.dps = 25

GAUSSIAN = [  # μ, mean, shape, δ, then ε of the profile form, g, log r
    (0.5, 10, 1, "1e-5", 3.146258629722971, 0.1, 0.4460869897516144),
    (0.5, 100, 0, "1e-5", 3.6330486834913964, 0.0015421150748896665, 1.1427101541509381),
    (1, 10, 0.5, "1e-5", 6.4377245767944995, 0.0625, 1.0341136395548591),
    (0.25, 20, 1, "1e-6", 1.794048158883323, 0.05, 0.2889781735967553),
    (0.1, 50, 0, "1e-7", 0.7283193455476342, 0.003529443987943675, 0.2055827766348422),
    (0.3, 5, 1, "1e-6", 1.7741414962995006, 0.2, 0.19009527700582238),
    (1.5, 2, 1, "1e-8", 10.067254834571116, 0.5, 0.37833422007801165),
]
CURVES = [  # μ, mean, shape, δ, then ε of Papernot & Steinke 2022 and that with c from the profile, on a grid of orders
    (0.5, 10, 1, "1e-5", 4.315148899155324, 3.3112925274461764),
    (0.5, 100, 0, "1e-5", 4.323221757964455, 3.7916719458573187),
    (1, 10, 0.5, "1e-5", 8.003871857842615, 6.772802821499514),
    (0.25, 20, 1, "1e-6", 2.4556982748702483, 1.8722796376970767),
    (0.1, 50, 0, "1e-7", 0.8838121940757875, 0.7583409392979872),
]
POISSON = [
    (0.2, 30, "1e-6", 3.3650080066549104, 2.814661636125842),
    (0.1, 100, "1e-7", 4.522909399227669, 2.7377477285796807),
]
PURE = [
    (0.5, 1, 3, 0.9923081758602899),
    (0.5, 1, 10, 1.3125469991270027),
    (0.5, 1, 100, 1.4793884247708786),
    (1, 0.5, 3, 1.854167794064264),
    (1, 0.5, 10, 2.298730239239415),
    (1, 0.5, 100, 2.4812357763360335),
    (1, 1, 2, 1.6211001802523999),
    (2, 0.5, 5, 3.978555764173649),
]


def gaussian_rdp(mu):
    return lambda alpha: alpha * mu * mu / 2


@spread("mu, mean, shape, delta, epsilon, g, log_r", GAUSSIAN)
def test_the_profile_form_with_a_gaussian_run(mu, mean, shape, delta, epsilon, g, log_r):
    mu, shape = mp.mpf(mu), mp.mpf(shape)
    found_g = g_of_mean(mp, shape, mp.mpf(mean))
    found = gaussian_profile_epsilon(mp, mu, shape, found_g, mp.mpf(delta))
    assert (float(found_g), *map(float, found)) == pytest.approx((g, epsilon, log_r), rel=2e-14)
    assert mean_of(mp, shape, found_g) == pytest.approx(mean, rel=1e-40)


def test_r_is_the_least_one():
    g, mu = mp.mpf("0.1"), mp.mpf("0.7")
    log_r = least_log_ratio(mp, lambda x: gaussian_delta(mp, x, mu), g)
    for change, fits in ((mp.mpf(10) ** -40, True), (-(mp.mpf(10) ** -40), False)):
        x = log_r + change
        assert ((1 - g) * gaussian_delta(mp, x, mu) <= g * mp.expm1(x)) is fits


@spread("mu, mean, shape, delta, published, with_profile", CURVES)
def test_the_forms_for_a_renyi_curve(mu, mean, shape, delta, published, with_profile):
    mu, shape, rdp = fewer.mpf(mu), fewer.mpf(shape), gaussian_rdp(fewer.mpf(mu))
    g = g_of_mean(fewer, shape, fewer.mpf(mean))
    c = (1 + shape) * least_log_ratio(fewer, lambda x: gaussian_delta(fewer, x, mu), g)
    assert c < papernot_steinke_c(fewer, rdp, shape, g)
    for curve, value in (
        (negative_binomial_rdp(fewer, rdp, shape, g), published),
        (selection_rdp(fewer, rdp, c, mean), with_profile),
    ):
        assert value * (1 - 1e-4) < epsilon_of_curve(fewer, curve, fewer.mpf(delta)) < value * (1 + 1e-12)


@pytest.mark.parametrize("mu, mean, delta, by_profile, by_rdp", POISSON)
def test_a_poisson_number_of_gaussian_runs(mu, mean, delta, by_profile, by_rdp):
    mu = fewer.mpf(mu)
    assert gaussian_poisson_epsilon(fewer, mu, mean, fewer.mpf(delta)) == pytest.approx(by_profile, rel=1e-13)
    curve = poisson_rdp(fewer, gaussian_rdp(mu), lambda x: gaussian_delta(fewer, x, mu), fewer.mpf(mean))
    assert by_rdp * (1 - 1e-4) < epsilon_of_curve(fewer, curve, fewer.mpf(delta)) < by_rdp * (1 + 1e-12)


@pytest.mark.parametrize("epsilon, shape, mean, value", PURE)
def test_the_pure_form(epsilon, shape, mean, value):
    g = g_of_mean(mp, mp.mpf(shape), mp.mpf(mean))
    assert pure_epsilon(mp, mp.mpf(epsilon), mp.mpf(shape), g) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("score", ["rising", "falling", "random"])
@pytest.mark.parametrize(
    "law", [NegativeBinomial(1, 0.1), NegativeBinomial(-0.5, 0.01), Poisson(0.5), Poisson(8.0)], ids=str
)
def test_rounded_gaussians_are_within_the_published_curves(law, score):
    mu = fewer.mpf("0.7")
    if isinstance(law, Poisson):
        curve = poisson_rdp(fewer, gaussian_rdp(mu), lambda x: gaussian_delta(fewer, x, mu), law.mean)
    else:
        curve = negative_binomial_rdp(fewer, gaussian_rdp(mu), fewer.mpf(law.shape), fewer.mpf(law.g))
    candidate = rounded_gaussian(0.7, score=score, rng=np.random.default_rng(1))
    for one in (candidate, candidate.reversed):
        exact = selected_pair(law, one)
        assert all(renyi(*exact, alpha) <= curve(fewer.mpf(alpha)) for alpha in (1.1, 2.0, 5.0, 20.0))
