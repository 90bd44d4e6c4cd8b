"""Truncated Poisson batches: small runs by enumeration, the printed formulas, their laws, and published values."""

import json
import random
from itertools import pairwise, product
from math import exp, fsum, inf, log

import mpmath
import numpy as np
import pytest
from conftest import spread
from paths import GOLDEN
from scipy.special import ndtr
from soundness.mechanisms import cells
from soundness.sampling import batch_sums

from dpcalc.bounds.sampling import poisson_profile, truncated_poisson_lower, truncated_poisson_profile
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.sampled import poisson

mp = mpmath.mp.clone()
mp.dps = 60
N, RATE, STEPS, LOG_DELTA = 60_000, 256 / 60_000, 3516, log(1e-5)


def epsilon(pair, steps=STEPS, log_delta=LOG_DELTA):
    return epsilon_at_delta([(pair, steps)], log_delta)


def composed(most, z=1.1, n=N, rate=RATE):
    return epsilon(truncated_poisson_profile.pair(n, rate, most, z, False)).upper


def hockey_stick(p, q, gamma):
    return float(np.maximum(p - gamma * q, 0).sum())


# --- small runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replaced", [False, True])
@spread("n, most, rate, z", [(4, 1, 0.4, 0.7), (4, 2, 0.8, 0.4), (5, 2, 1.0, 1.0), (3, 2, 0.2, 0.3)])
def test_the_pair_dominates_every_small_run_in_both_directions_at_every_gamma(n, most, rate, z, replaced):
    """All gradients in {−1, 0, 1}; γ below 1, too, which composition needs."""
    found = truncated_poisson_profile.pair(n, rate, most, z, replaced)
    cuts = np.linspace(-3 - 6 * z, 3 + 6 * z, 400)
    gammas, nearest = np.exp(np.linspace(-3, 6, 37)), 0.0

    def law(own, others):
        return sum(share * cells(ndtr, cuts / z, at / z) for at, share in batch_sums((own, *others), rate, most).items())

    bounds = {}
    for side, atoms in ((1, found), (-1, found.reverse)):
        loss, p = np.array(atoms.losses), np.exp(atoms.log_p)
        bounds[side] = [float((p * np.maximum(-np.expm1(np.minimum(log(g) - loss, 50.0)), 0)).sum())
                        + exp(atoms.log_infinite) for g in gammas]
    for others in product((-1, 0, 1), repeat=n - 1):
        if list(others) == sorted(others):
            p, q = law(1, others), law(-1 if replaced else 0, others)
            for side, (a, b) in ((1, (p, q)), (-1, (q, p))):
                for bound, gamma in zip(bounds[side], gammas, strict=True):
                    true = hockey_stick(a, b, gamma)
                    assert true <= bound * (1 + 1e-9) + 1e-12, (others, side, gamma)
                    nearest = max(nearest, (true - max(0, 1 - gamma)) / (bound - max(0, 1 - gamma) + 1e-9))
    assert nearest > 0.9  # a bound a little lower would be broken


def test_two_adaptive_steps_of_a_small_run():
    """The second step's gradients depend on the sign of the first output, at most as the worst of them."""
    n, most, rate, z = 4, 2, 0.7, 0.8
    found = truncated_poisson_profile.pair(n, rate, most, z, False)
    cuts = np.linspace(-6, 6, 60)

    def law(own, others):
        return sum(share * cells(ndtr, cuts / z, at / z) for at, share in batch_sums((own, *others), rate, most).items())

    for first, low, high in (((-1, -1, -1), (-1, -1, -1), (0, 0, 0)), ((0, 0, 0), (-1, -1, 0), (-1, -1, -1))):
        p, q = law(1, first), law(0, first)
        second = [(law(1, others), law(0, others)) for others in (low, high)]
        half = len(p) // 2
        both_p, both_q = (np.concatenate([np.outer(one[:half], second[0][k]).ravel(),
                                          np.outer(one[half:], second[1][k]).ravel()]) for k, one in enumerate((p, q)))
        for e in (0.0, 0.5, 1.5, 3.0):
            bound = exp(two_steps(found, e))
            assert max(hockey_stick(both_p, both_q, exp(e)), hockey_stick(both_q, both_p, exp(e))) <= bound


def two_steps(pair, e):
    return log_delta_at_epsilon([(pair, 2)], e).upper


def test_the_run_with_zero_gradients_is_the_lower_end():
    for n, most, rate in ((5, 2, 0.6), (8, 1, 0.3), (6, 5, 0.9), (4, 3, 1.0)):
        included = batch_sums((1, *(0,) * (n - 1)), rate, most)[1]
        assert truncated_poisson_lower.kept_rate(n, rate, most) == pytest.approx(included, rel=1e-12)
        assert truncated_poisson_lower.kept_rate(n, rate, most) <= truncated_poisson_lower.exact_rate(mp, n, rate, most)


# --- the formulas ----------------------------------------------------------------------------------------------------


def printed(e, side, n, rate, most, z):
    """The bound term by term, with binomial probabilities one by one and the Gaussian divergences by their formula."""
    gamma, q = mp.exp(mp.mpf(e)), mp.mpf(rate)

    def probability(m, k):
        return mp.binomial(m, k) * q**k * (1 - q) ** (m - k)

    def theta(distance, g):
        mu = mp.mpf(distance) / z
        return mp.ncdf(mu / 2 - mp.log(g) / mu) - g * mp.ncdf(-mu / 2 - mp.log(g) / mu)

    tau = mp.fsum(probability(n - 1, k) for k in range(most, n))
    kappa = mp.mpf(most) / n * mp.fsum(probability(n, k) for k in range(most + 1, n + 1))
    mean = mp.fsum(probability(n - 1, k) * q * most / (k + 1) for k in range(most, n))
    assert abs(mean - kappa) < mp.mpf(10) ** -50  # the two ways to say how often the record is in a truncated batch
    r = kappa / tau
    inner = 1 + (gamma - 1) / r
    beta = gamma / inner
    if side > 0:
        poisson_delta = q * theta(1, 1 + (gamma - 1) / q)
        return (1 - tau) * poisson_delta + kappa * ((1 - beta) * theta(2, inner) + beta * theta(1, inner))
    left = 1 / gamma - 1 + q
    poisson_delta = 1 - gamma + gamma * q * theta(1, left / q) if left > 0 else 0
    if left > 0:  # E_γ(N‖mix) = 1 − γ + γ·q·θ(1 + (1/γ − 1)/q) for the argument below 1
        poisson_delta = 1 - gamma + gamma * (1 - 1 / gamma) + gamma * q * (theta(1, left / q) - (1 - left / q))
    return (1 - tau) * max(poisson_delta, 0) + kappa * theta(1, inner)


@pytest.mark.slow
def test_the_formula_as_printed():
    rng = random.Random(8)
    for _ in range(60):
        n, z = rng.randint(2, 60), 10 ** rng.uniform(-0.5, 1)
        rate, most = rng.uniform(0.01, 0.99), rng.randint(1, n - 1)
        e = rng.choice((0.0, rng.uniform(0, 2), 10 ** rng.uniform(-6, 0)))
        for side in (1, -1):
            want = printed(e, side, n, rate, most, z)
            exact = truncated_poisson_profile.sided_exact(mp, e, side, n, rate, most, z, False)
            assert abs(exact - want) <= mp.mpf(10) ** -40 + want * mp.mpf(10) ** -20, (e, side, n, rate, most, z)
            stated = truncated_poisson_profile.sided(e, side, n, rate, most, z, False)
            if want > mp.mpf(10) ** -35:
                assert 0 <= stated - mp.log(want) <= 1e-9


@pytest.mark.slow
def test_a_replaced_record_in_a_full_batch_exchanges_two_gradients():
    """(1−τ)δ_Poisson + κθ_2(γ′), with the Poisson pair as an integral."""
    rng = random.Random(9)
    for _ in range(8):
        n, z, rate = rng.randint(2, 30), 10 ** rng.uniform(-0.3, 0.7), rng.uniform(0.05, 0.95)
        most, e = rng.randint(1, n - 1), mp.mpf(rng.choice((0.0, rng.uniform(0, 1))))
        ordinary, tau, kappa = truncated_poisson_profile.exact_weights(mp, n, rate, most)
        gamma, mu = mp.exp(e), 1 / mp.mpf(z)

        def gain(t, q=rate, mu=mu, gamma=gamma):
            with_it, with_other = (1 - q + q * mp.exp(side * mu * t - mu * mu / 2) for side in (1, -1))
            return max(with_it - gamma * with_other, 0) * mp.npdf(t)

        inner = mp.log1p((gamma - 1) * tau / kappa)
        two = mp.ncdf(mu - inner / (2 * mu)) - mp.exp(inner) * mp.ncdf(-mu - inner / (2 * mu))
        want = ordinary * mp.quad(gain, mp.linspace(-12, 12 + 2 * mu, 120)) + kappa * two
        stated = truncated_poisson_profile.value(float(e), n, rate, most, z, True)
        assert stated == pytest.approx(float(mp.log(want)), abs=1e-4)
        assert truncated_poisson_profile.exact(mp, float(e), n, rate, most, z, True) == pytest.approx(want, rel=1e-4)


def delta_of(atoms, epsilon):
    """E_P[(1 − e^{ε−ℓ})₊] by its definition."""
    loss, log_p = np.array(atoms.losses), np.array(atoms.log_p)
    above = loss > epsilon
    return float((np.exp(log_p[above]) * -np.expm1(epsilon - loss[above])).sum()) + exp(atoms.log_infinite)


@pytest.mark.parametrize("z, least", [(0.5, 0.15), (0.8, 0.08), (1.1, 0.005)])
def test_bounds_that_are_not_convex_are_lowered(z, least):
    """Batches that are nearly always full: next to γ = 1 the profile is 16 % too large at z = 0.5."""
    own = (N, RATE, 100, z, False)
    found = truncated_poisson_profile.pair(*own)
    excess = [exp(truncated_poisson_profile.sided(e, 1, *own)) / delta_of(found, e) - 1
              for e in found.losses if 0 <= e < 1]
    assert min(excess) > -2e-12  # at points the hull is nowhere above the bound
    assert max(exp(truncated_poisson_profile.sided(e, 1, *own)) / delta_of(found, e) - 1
               for e in (0.0025 * 1.1**k for k in range(30))) > least


# --- laws and values -------------------------------------------------------------------------------------------------

CASES = [case for case in json.loads((GOLDEN / "sampling.json").read_text())["cases"]
         if case["kind"] == "truncated-poisson"]
# Further values of B for the run of the case, from other grids than these, to 2e-3.
VALUES = [(case["B"], case["epsilon"]) for case in CASES] + [(400, 1.1342), (320, 1.1612), (300, 2.3826), (256, 5.890)]


@spread("most, value", VALUES)
def test_known_values(most, value):
    assert composed(most) == pytest.approx(value, rel=2e-3)
    assert all(composed(case["B"]) < case["peer_upper"] for case in CASES)


@pytest.mark.slow
def test_epsilon_falls_as_batches_may_be_larger_and_ends_at_poisson():
    found = [composed(most) for most in (256, 280, 300, 320, 340, 400)]
    assert all(a > b * (1 - 5e-4) for a, b in pairwise(found))
    plain = epsilon(poisson(Gaussian(1 / 1.1), RATE)).upper
    assert plain * (1 - 5e-4) <= found[-1] <= plain * 1.001
    assert composed(N) == composed(N + 5) == pytest.approx(plain, rel=1e-9)


@pytest.mark.slow
def test_epsilon_falls_with_noise_and_rises_with_steps():
    at = [composed(300, z) for z in (0.7, 1.0, 1.5, 3.0, 30.0)]
    assert at == sorted(at, reverse=True)
    pair = truncated_poisson_profile.pair(N, RATE, 300, 1.1, False)
    more = [epsilon(pair, steps).upper for steps in (1, 10, 1000, 10_000)]
    assert more == sorted(more)


@spread("most", [320, 300, 280, 256, 100])
def test_the_lower_end_is_a_run_and_not_one_whose_batch_sizes_are_seen(most):
    """1.152, 2.109, 3.334 and 5.047 are the losses where the sizes of batches are released."""
    ((pair, _),) = truncated_poisson_lower.value(N, RATE, most, 1.1, False)
    assert epsilon(pair).lower < 1.1342 < composed(most) * 1.0001
    assert pair.attained and pair.rate <= RATE


def test_one_step_of_the_pair_is_the_formula():
    """One step from the pair is at most the formula, but for the chords between its points."""
    own = (1000, 0.05, 55, 0.8, False)
    found = truncated_poisson_profile.pair(*own)
    for side, atoms in ((1, found), (-1, found.reverse)):
        for e in (0.01, 0.1, 0.7, 2.0, 5.0):
            assert log(delta_of(atoms, e)) <= truncated_poisson_profile.sided(e, side, *own) + 3e-3


@spread("own", [(10**9, 1e-4, 100_500, 1.0), (2, 1.0, 1, 1.0), (10, 0.5, 3, 1e-3), (10, 0.5, 3, 1e6),
                (10**6, 1e-6, 1, 1.0), (60_000, 256 / 60_000, 900, 0.3)])
def test_ends_of_the_range(own):
    own = (*own, False)
    for e in (0.0, 1e-9, 1.0, 50.0, 700.0):
        for side in (1, -1):
            stated = truncated_poisson_profile.sided(e, side, *own)
            assert stated == -inf or -1e300 < stated <= 0
    found = truncated_poisson_profile.pair(*own)
    at = epsilon_at_delta([(found, 3)], log(1e-6)).upper
    assert at >= 0
    plain = epsilon_at_delta([(poisson(Gaussian(1 / own[3]), own[1]), 3)], log(1e-6)).upper
    assert at >= min(plain, 1e6) * (1 - 1e-3) or plain == inf


def test_no_noise_gives_the_probability_that_the_record_matters():
    """Almost no noise: δ is at most the chance that the record is in the batch, or it would be no bound at all."""
    n, rate, most = 50, 0.2, 8
    kept = truncated_poisson_lower.kept_rate(n, rate, most)
    assert exp(truncated_poisson_profile.value(1.0, n, rate, most, 1e-4, False)) == pytest.approx(kept, rel=1e-6)
    assert poisson_profile.value(1.0, rate, truncated_poisson_profile.gaussian_profile(1e-4)) == pytest.approx(log(rate))


def test_the_least_positive_epsilon():
    """Next to γ = 1 the weight 1 − β of a change by two records underflows; δ is that at ε = 0."""
    own = (4, 0.999, 3, 1.0, False)
    least = truncated_poisson_profile.value(5e-324, *own)
    assert truncated_poisson_profile.value(0.0, *own) == pytest.approx(least, abs=1e-12)
    assert mp.exp(mp.mpf(least)) >= truncated_poisson_profile.exact(mp, 5e-324, *own)


def test_a_rate_without_all_digits_is_refused():
    for rate in (5e-324, 1e-310, 2.2e-308):
        for call in (lambda r: truncated_poisson_profile.value(0.1, 5, r, 3, 1.0, False),
                     lambda r: truncated_poisson_profile.pair(5, r, 3, 1.0, False),
                     lambda r: truncated_poisson_lower.kept_rate(5, r, 3)):
            with pytest.raises(OutOfScope, match="below"):
                call(rate)
    rate = 2.3e-308
    found = truncated_poisson_profile.value(0.0, 5, rate, 3, 1.0, False)
    assert 0 <= found - mp.log(truncated_poisson_profile.exact(mp, 0.0, 5, rate, 3, 1.0, False)) < 1e-9
    assert 0 < truncated_poisson_lower.kept_rate(5, rate, 3) <= rate


@pytest.mark.parametrize("own", [(N, RATE, 300, 1.1), (1000, 0.05, 55, 0.8), (10, 0.5, 3, 1e6)])
def test_masses_add_up_to_one_within_the_rounding_scale(own):
    found = truncated_poisson_profile.pair(*own, False)
    for atoms in (found, found.reverse):
        total = fsum(map(exp, atoms.log_p)) + exp(atoms.log_infinite)
        assert atoms.rounding_scale == 1 and abs(total - 1) < 1e-14
