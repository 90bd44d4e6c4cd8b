"""Dominating pairs: their masses add up, have the profiles of the theorems, and keep their digits."""

from math import exp, expm1, inf, log, log1p

import mpmath
import numpy as np
import pytest
from conftest import slow, spread
from pair_masses import delta_of_cells, masses

from dpcalc.bounds.mechanisms import (
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    k_randomized_response,
    laplace,
    shuffled_ldp_lower,
    unary,
)
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.bounds.sampling.poisson_replace_one_comonotone import of_discrete_laplace, of_laplace
from dpcalc.numerics.tails_array import log_tails
from dpcalc.pld.atoms import approximate_dp, outcomes, profile_at_points
from dpcalc.pld.mixtures import poisson_replaced
from dpcalc.pld.pair import BoundedRange, Gaussian, Laplace
from dpcalc.pld.renyi import divergence
from dpcalc.pld.sampled import poisson, without_replacement

PAIRS = {
    "gaussian": Gaussian(0.7), "little noise": Gaussian(30.0), "much noise": Gaussian(1e-6), "laplace": Laplace(1.3),
    "bounded range": BoundedRange(1.3), "wide range": BoundedRange(40.0),
    "response": approximate_dp(0.5), "approximate": approximate_dp(0.5, -20.0),
    "outcomes": outcomes([0.2, 0.3, 0.5], [0.3, 0.3, 0.4]),
    "discrete gaussian": discrete_gaussian.EXACT.pair(3.0, 2.0),
    "discrete gaussian far": discrete_gaussian.EXACT.pair(0.8, 100.0),
    "discrete laplace": discrete_laplace.EXACT.pair(3.0, 4.0), "categories": k_randomized_response.EXACT.pair(0.5, 7),
    "bits": unary.EXACT.pair(0.6, 0.3),
    "points": profile_at_points([0.0, 0.5, 1.0], [-1.0, -3.0, -9.0]),
    **{f"a {name} record replaced in {noise} noise": pair for rate, name in ((0.1, "sampled"), (1e-6, "rare"))
       for noise, pair in (("gaussian", poisson_replaced(0.7, rate, 1)), ("laplace", of_laplace(1.0, 1.3, rate).pair()),
                           ("integer", of_discrete_laplace(3.0, 4.0, rate).pair()))},
    **{f"{name} {base}": scheme(pair, rate) for base,
       pair in (("gaussian", Gaussian(1.0)), ("laplace", Laplace(1.3)), ("range", BoundedRange(1.3)), ("response", approximate_dp(0.5)),
                                                            ("approximate", approximate_dp(0.5, -9.0)))
       for rate, name, scheme in ((0.1, "poisson", poisson), (1e-6, "rare", poisson),
                                  (0.1, "added", lambda p, q: poisson(p, q).reverse),
                                  (0.1, "replaced", without_replacement),
                                  (1e-6, "rarely replaced", without_replacement))},
}
EDGES = np.concatenate(([-inf], np.linspace(-2.0, 2.0, 81), np.linspace(-3e-6, 3e-6, 31), [inf]))
EDGES = np.unique(EDGES)


def delta_of(pair, epsilon):
    return delta_of_cells(pair, EDGES, epsilon)


@pytest.mark.parametrize("name", PAIRS)
def test_masses_add_up_and_losses_are_inside_their_cells(name):
    pair = PAIRS[name]
    p, q, loss = masses(pair, EDGES)
    assert p.sum() + exp(pair.log_infinite) == pytest.approx(1, abs=4e-15)
    assert q.sum() <= 1 + 4e-15 and (name.endswith("approximate") or q.sum() == pytest.approx(1, abs=4e-15)
                                     or pair.log_infinite > -inf)
    held = p > 0
    assert (loss[held] >= EDGES[:-1][held] - 1e-15).all() and (loss[held] <= EDGES[1:][held] + 1e-15).all()


@pytest.mark.parametrize("name", PAIRS)
def test_cells_are_sums_of_finer_cells(name):
    coarse, fine = (masses(PAIRS[name], edges) for edges in (EDGES[::3], EDGES))
    for whole, parts in zip(coarse[:2], fine[:2], strict=True):
        sums = np.add.reduceat(parts[: 3 * (len(EDGES[::3]) - 1)], np.arange(0, 3 * (len(EDGES[::3]) - 1), 3))
        assert np.allclose(whole, sums, rtol=1e-10, atol=1e-16)


@pytest.mark.parametrize("bound, own", [(discrete_gaussian.EXACT, (3.0, 2.0)), (discrete_gaussian.EXACT, (0.8, 100.0)),
                                        (discrete_gaussian.EXACT, (0.05, 3.0)), (discrete_laplace.EXACT, (3.0, 4.0)),
                                        (discrete_laplace.EXACT, (0.3, 7.0)), (k_randomized_response.EXACT, (0.5, 7)),
                                        (k_randomized_response.EXACT, (9.0, 2)), (unary.EXACT, (0.6, 0.3))])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.99])
def test_pairs_of_finite_mechanisms_have_their_profiles(bound, own, share):
    """In both directions, as they are symmetric; and no δ is below the profile by more than rounding."""
    pair = bound.pair(*own)
    mean = float(np.exp(pair.log_p) @ np.maximum(pair.losses, 0.0))
    epsilon = share * min(pair.largest_loss[0], 5 * mean, 300.0)
    want = exp(bound.value(epsilon, *own))
    assert delta_of(pair, epsilon) == pytest.approx(want, rel=1e-11, abs=1e-300)
    assert delta_of(pair, -epsilon) == pytest.approx(1 - exp(-epsilon) * (1 - want), rel=1e-11)


@pytest.mark.parametrize("base, log_delta", [(Gaussian(0.8), lambda e: gaussian.value(e, 1.0, 0.8, 1)),
                                             (Laplace(1.3), lambda e: laplace.value(e, 1.0, 1.3)),
                                             (BoundedRange(1.3), lambda e: exponential.value(e, 1.3))])
@pytest.mark.parametrize("rate", [0.02, 0.4])
@pytest.mark.parametrize("epsilon", [0.01, 0.2, 0.5])
def test_sampled_pairs_have_their_profiles(base, log_delta, rate, epsilon):
    want = rate * exp(log_delta(log1p(expm1(epsilon) / rate)))
    assert delta_of(base, epsilon) == pytest.approx(exp(log_delta(epsilon)), rel=1e-12)
    assert delta_of(poisson(base, rate), epsilon) == pytest.approx(want, rel=1e-11, abs=1e-16)
    replaced = without_replacement(base, rate)
    assert delta_of(replaced, epsilon) == pytest.approx(want, rel=1e-11, abs=1e-16)
    # of a symmetric pair
    assert delta_of(replaced, -epsilon) == pytest.approx(1 - exp(-epsilon) * (1 - want), rel=1e-12)
    # E_γ(N‖mix) = 1 − γ + γ E_{1/γ}(mix‖N)
    turned = 1 - exp(epsilon) + exp(epsilon) * delta_of(poisson(base, rate), -epsilon)
    assert delta_of(poisson(base, rate).reverse, epsilon) == pytest.approx(turned, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("profile", [of_laplace(1.0, 1.3, 0.1), of_laplace(2.0, 1.0, 0.7),
                                     of_discrete_laplace(3.0, 4.0, 0.1)])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.15])
def test_pairs_of_a_replaced_record_have_their_profiles(profile, epsilon):
    want = float(profile.exact(mpmath.mp, epsilon))
    assert want > 0 and delta_of(profile.pair(), epsilon) == pytest.approx(want, rel=1e-11)
    # they are symmetric
    assert delta_of(profile.pair(), -epsilon) == pytest.approx(1 - exp(-epsilon) * (1 - want), rel=1e-12)


@pytest.mark.parametrize("rate", [1e-8, 1e-4])
def test_losses_of_rare_records_keep_their_digits(rate):
    """Of cells near 0 both masses are nearly equal: log(P/Q) against 40 digits."""
    mpmath.mp.dps = 40
    edges = rate * np.array([-0.9, -0.5, 0.0, 0.7, 3.0, 40.0])

    def tail(x):
        return mpmath.erfc(x / mpmath.sqrt(2)) / 2

    _, loss = poisson(Gaussian(1.0), rate).masses(edges)
    inner = [mpmath.log1p(mpmath.expm1(mpmath.mpf(float(x))) / mpmath.mpf(rate)) for x in edges]
    for k, found in enumerate(loss):
        p, q = (tail(inner[k] + h) - tail(inner[k + 1] + h) for h in (mpmath.mpf(-0.5), mpmath.mpf(0.5)))
        assert float(mpmath.log1p(rate * (p / q - 1))) == pytest.approx(found, rel=1e-10)


def test_a_profile_at_points_is_its_hull():
    """On and between corners the hull of points and mirror images; above the truth, and below the points left out."""
    epsilons = [0.0, 0.3, 0.6, 1.0, 2.0]
    truth = [laplace.value(e, 1.0, 3.0) for e in epsilons]
    pair = profile_at_points(epsilons,
                             [x + (log(1.5) if e == 0.6 else 0.0) for e, x in zip(epsilons, truth, strict=True)])
    for e, x in zip(epsilons, truth, strict=True):
        if e != 0.6:
            assert delta_of(pair, e) == pytest.approx(exp(x), rel=1e-9)
    for e in np.linspace(0, 2, 41).tolist():
        assert delta_of(pair, e) >= exp(laplace.value(e, 1.0, 3.0)) * (1 - 1e-9)
    assert delta_of(pair, 0.6) < 1.5 * exp(truth[2])


@pytest.mark.parametrize("x", [-38.0, -5.0, -1.0, -1e-9, 0.0, 0.3, 1.0, 2.9, 3.1, 8.0, 37.0, 300.0])
def test_tails_of_the_normal_distribution(x):
    mpmath.mp.dps = 40
    below, above = (mpmath.log(mpmath.erfc(s * mpmath.mpf(x) / mpmath.sqrt(2)) / 2) for s in (-1, 1))
    found = [float(y[0]) for y in log_tails(np.array([x]))]
    for true, y in zip((below, above), found, strict=True):
        assert abs(float(mpmath.expm1(y - true))) <= 4e-15 + 3e-16 * x * x


def test_tails_at_both_ends():
    below, above = log_tails(np.array([-inf, inf, -1e200]))
    assert np.exp(below).tolist() == [0.0, 1.0, 0.0] and np.exp(above).tolist() == [1.0, 0.0, 1.0]


@spread("rate, sigma, alpha", [(0.01, 1.0, 1.5), (0.01, 1.0, 8.0), (1e-5, 2.0, 2.0), (0.5, 0.5, 3.3),
                                                (0.01, 5.0, 32.0), (0.5, 10.0, 1000.0)])
def test_renyi_divergence_of_a_pair(rate, sigma, alpha):
    """Not below, and 1e-5 of it above at most; a little more at large orders."""
    for found, true in ((divergence(poisson(Gaussian(1 / sigma), rate), alpha), poisson_rdp.value(alpha, sigma, rate)),
                        (divergence(Gaussian(1 / sigma), alpha), alpha / (2 * sigma**2))):
        assert true * (1 - 1e-12) <= found <= true * (1 + 1e-5 * max(1.0, alpha / 100))


@pytest.mark.parametrize("sigma, rate, alpha",
                         [(2.5, 1e-8, 400), (4.0, 1e-4, 400), slow(8.0, 0.01, 800), slow(10.0, 0.03, 1500), (1.0, 0.01, 10)])
def test_a_divergence_of_two_modes(sigma, rate, alpha):
    """Where a record is hardly ever in the batch, all that counts may be far above the losses that are likely."""
    with mpmath.workdps(60):
        q, s = mpmath.mpf(rate), mpmath.mpf(sigma)
        moment = mpmath.fsum(mpmath.binomial(alpha, j) * (1 - q) ** (alpha - j) * q**j
                             * mpmath.expm1(mpmath.mpf(j * (j - 1)) / (2 * s * s))
                             for j in range(2, alpha + 1))
        removed = mpmath.log1p(moment) / (alpha - 1)
    assert removed <= divergence(poisson(Gaussian(1 / sigma), rate), alpha) <= removed * (1 + 1e-5)
    assert removed <= divergence(without_replacement(Gaussian(1 / sigma), rate), alpha)


@pytest.mark.parametrize("alpha", [1 + 1e-9, 1 + 1e-6, 1.5, 1e3, 1e7])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 9.0])
def test_the_divergence_of_finitely_many_losses(ratio, alpha):
    pair = without_replacement(approximate_dp(ratio), 0.5)
    with mpmath.workdps(60):
        a = mpmath.mpf(alpha)
        terms = [(mpmath.exp(mpmath.mpf(p)), mpmath.mpf(x)) for x, p in zip(pair.losses, pair.log_p, strict=True)]
        total = mpmath.fsum(p for p, _ in terms)
        exact = mpmath.log(mpmath.fsum(p / total * mpmath.exp((a - 1) * x) for p, x in terms)) / (a - 1)
    assert exact * (1 - 1e-6) <= divergence(pair, alpha) <= exact * (1 + 1e-5)


@spread("sigma, rate, alpha",
                         [(1.0, 0.5, 1e7), (0.3, 0.9, 1e6), (30.0, 1e-4, 1e5), (0.05, 0.01, 1e8)])
def test_the_divergence_at_very_large_orders(sigma, rate, alpha):
    """It is about that of the term in which the record is always in the batch."""
    least = alpha / (2 * sigma**2) + alpha / (alpha - 1) * log(rate)
    assert least <= divergence(without_replacement(Gaussian(1 / sigma), rate), alpha) <= least * 1.01 + 5 / sigma


@pytest.mark.parametrize("exponent", [20, 40, 47, 53])
def test_a_rate_next_to_one(exponent):
    """log(1 − q + q e^w) keeps its digits where 1 − q is all that is left."""
    rate, ratio = 1 - 2.0**-exponent, 36.0
    with mpmath.workdps(40):
        q = mpmath.mpf(rate)
        exact = -mpmath.log(1 - q + q * mpmath.exp(-mpmath.mpf(ratio)))
    assert poisson(Laplace(ratio), rate).reverse.largest_loss[0] == pytest.approx(float(exact), rel=1e-14)
    assert max(poisson(approximate_dp(ratio), rate).reverse.losses) == pytest.approx(float(exact), rel=1e-14)
    for log_delta in (-inf, -40.0):
        pair = without_replacement(approximate_dp(0.1, log_delta), rate)
        assert sum(map(exp, pair.log_p)) + exp(pair.log_infinite) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("p, q", [(0.75, 0.25), (0.999999, 1e-6), (1e-9, 5e-10), (0.5, 1e-12)])
@mpmath.workdps(60)
def test_the_logs_of_the_masses_of_reports_are_accurate(p, q):
    """Also where a report is nearly certain, and its log is tiny: it is multiplied by the number of reports."""
    pair, x, y = unary.EXACT.pair(p, q), mpmath.mpf(p), mpmath.mpf(q)
    for found, mass in zip(pair.log_p, (x * (1 - y), x * y + (1 - x) * (1 - y), y * (1 - x)), strict=True):
        assert found == pytest.approx(float(mpmath.log(mass)), rel=2e-14, abs=0)


@pytest.mark.parametrize("epsilon, categories", [(20.0, 10), (1e-3, 10**9), (1.0, 5)])
@mpmath.workdps(60)
def test_so_are_those_of_reports_about_many_categories(epsilon, categories):
    pair, total = k_randomized_response.EXACT.pair(epsilon, categories), mpmath.exp(epsilon) + categories - 1
    for found, share in zip(pair.log_p, (mpmath.exp(epsilon), mpmath.mpf(categories - 2), mpmath.mpf(1)), strict=True):
        assert found == pytest.approx(float(mpmath.log(share / total)), rel=2e-14, abs=0)


@pytest.mark.parametrize("eta, steps", [(1e-10, 2), (1e-3, 20), (0.5, 1), (30.0, 9), (700.0, 2)])
@mpmath.workdps(60)
def test_the_two_outcomes_of_a_selection_are_accurate(eta, steps):
    """To a few ulp of the logs of their masses and of the range, in both directions."""
    (pair, _), = exponential.two_outcomes(eta, steps)
    t = mpmath.mpf(exponential.largest_loss(eta, steps))
    p = mpmath.expm1(t - eta) / mpmath.expm1(-eta)
    for one, known in ((pair, (p, 1 - p)), (pair.reverse, (p * mpmath.exp(-t), (1 - p) * mpmath.exp(eta - t)))):
        for found, mass in zip(one.log_p, known, strict=True):
            assert abs(found - mpmath.log(mass)) <= 2e-15 * (eta - mpmath.log(mass))


@pytest.mark.parametrize("n", [1, 3, 10])
@spread("local", [1e-6, 3.0, 368.0, 368.9, 369.9, 371.3, 699.0, 750.0])
@mpmath.workdps(700)
def test_what_reports_can_lose_at_least_is_not_above_their_law(n, local):
    """Also where the second number of ones has probabilities near the least positive double."""
    (pair, _), = shuffled_ldp_lower.value(n, local)
    for near in pair.losses:
        for share in (0.01, 1e-6):
            epsilon = near - share * abs(near)
            found = max(sum(mpmath.exp(y) * max(0, 1 - mpmath.exp(epsilon - mpmath.mpf(x)))
                            for x, y in zip(one.losses, one.log_p, strict=True)) for one in (pair, pair.reverse))
            assert found <= shuffled_ldp_lower.exact(mpmath.mp, epsilon, n, local)
