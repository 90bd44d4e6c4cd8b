"""Total variation and attacks, from their definitions."""

import random
from math import exp, inf, log, sqrt
from statistics import NormalDist

import pytest
from conftest import slow
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from known import best_gaussian

from dpcalc.bounds.conversions import outcomes
from dpcalc.bounds.mechanisms import gaussian, laplace
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.bounds.total_variation import rdp as tv_rdp
from dpcalc.numerics.tradeoff import best_guess, true_positive
from dpcalc.pld import atoms
from dpcalc.pld.atoms import approximate_dp
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.pair import Laplace


def distributions(size):
    weights = st.lists(st.floats(1e-3, 1), min_size=size, max_size=size)
    return weights.map(lambda w: tuple(x / sum(w) for x in w))


PAIRS = st.integers(2, 5).flatmap(lambda n: st.tuples(distributions(n), distributions(n),
                                                      st.lists(st.floats(0, 1), min_size=n, max_size=n)))


def distance(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


# --- the bounds, from the definition
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism, log_density", [slow("gaussian", lambda x: -x * x / 2),
                                                    ("laplace", lambda x: -abs(x))])
def test_exact_is_the_integral_of_half_the_difference(mechanism, log_density, mp):
    for r in (0.01, 1.0, 5.0):
        def density(x):
            return mp.exp(log_density(x))

        def difference(x, r=r):
            return abs(density(x) - density(x - r)) / 2

        mass = mp.quad(density, [-mp.inf, 0, mp.inf])
        want = mp.quad(difference, [-mp.inf, 0, mp.mpf(r) / 2, r, mp.inf]) / mass
        got = closed_forms.of_mechanism(mechanism, r, 1)["tv"]
        assert want <= got <= want * (1 + 1e-13)


@given(st.floats(0.5, 0.999))
def test_exact_for_a_randomised_bit(p):
    got = closed_forms.of_mechanism("randomized-response", log(p / (1 - p)), 1)["tv"]
    assert got == pytest.approx(2 * p - 1, rel=1e-9, abs=1e-14)


def test_laplace_in_several_dimensions_loses_no_more_than_in_one():
    """ℓ1 sensitivity: the shift split over coordinates, composed, at ε = 0 and beyond."""
    for r in (0.5, 2.0, 6.0):
        one = closed_forms.of_mechanism("laplace", r, 1)["tv"]
        for split in ((0.5, 0.5), (0.9, 0.1), (0.2,) * 5):
            parts = tuple((Laplace(r * share), 1) for share in split)
            assert exp(log_delta_at_epsilon(parts, 0.0).lower) < one
            # why: 1 − TV of a product is at least the product
            assert 1 - exp(sum(-r * share / 2 for share in split)) <= one


def test_the_published_laplace_rule_is_false():
    """Berthier 2019, Prop. 2.4: at its own scale the exact total variation is 6.8 and 223 times the one promised."""
    for target, factor in ((0.01, 6.8), (1e-5, 223)):
        v = sqrt(1 / (2 * target))
        assert closed_forms.laplace_as_published(v, 1.0)["tv"] == pytest.approx(target, rel=1e-12)
        true = closed_forms.of_mechanism("laplace", 1 / v, 1)["tv"]
        assert true / target == pytest.approx(factor, rel=5e-3)


@given(st.floats(1e-6, 50), st.integers(1, 1000))
def test_pinsker_is_sound_and_at_most_a_quarter_more_where_noise_is_large(r, steps):
    got, want = closed_forms.pinsker(r, steps)["tv"], closed_forms.of_mechanism("gaussian", r, steps)["tv"]
    assert got >= want * (1 - 1e-14)
    if r * sqrt(steps) < 0.01:
        assert got / want == pytest.approx(sqrt(8 * 3.141592653589793) / 4, rel=1e-4)


@given(PAIRS)
def test_kl_bounds_the_distance(drawn):
    p, q, _ = drawn
    divergence = sum(a * log(a / b) for a, b in zip(p, q, strict=True))
    assert closed_forms.by_kl(max(0.0, divergence) + 1e-15, 1)["tv"] >= distance(p, q) - 1e-12


def renyi(p, q, alpha):
    return log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1)


@given(PAIRS, st.floats(1.001, 50))
def test_a_renyi_divergence_of_both_orders_bounds_the_distance(drawn, alpha):
    p, q, _ = drawn
    divergence = max(renyi(p, q, alpha), renyi(q, p, alpha), 0.0)
    assert tv_rdp.value(alpha, divergence * (1 + 1e-9) + 1e-12)["tv"] >= distance(p, q) - 1e-9


@given(st.floats(0.501, 0.999), st.floats(1.001, 50))
def test_randomised_response_has_all_that_its_divergence_allows(p, alpha):
    divergence = renyi((p, 1 - p), (1 - p, p), alpha)
    assert tv_rdp.value(alpha, divergence)["tv"] == pytest.approx(2 * p - 1, rel=1e-6)


def test_an_unbounded_divergence_allows_everything():
    assert tv_rdp.value(2.0, 1e15) == {"tv": 1.0}


@settings(max_examples=30, deadline=None)
@given(PAIRS, st.integers(2, 4))
def test_product_bounds_every_composition(drawn, steps):
    p, q, _ = drawn
    assume(distance(p, q) > 1e-3)
    upper = closed_forms.of_product(distance(p, q) * (1 + 1e-14), steps)["tv"]
    assert exp(log_delta_at_epsilon(((atoms.outcomes(p, q), steps),),
                                    0.0).lower) <= upper * (1 + 1e-9) <= steps * distance(p, q) * (1 + 1e-6) + 1e-9


def test_product_is_reached():
    got = log_delta_at_epsilon(((approximate_dp(0.0, log(0.05)), 50),), 0.0).upper
    assert exp(got) == pytest.approx(1 - 0.95**50, rel=1e-6) == pytest.approx(closed_forms.of_product(0.05, 50)["tv"], rel=1e-6)


# --- tests and guesses
# -------------------------------------------------------------------------------------------------


def gaussian_profile(mu):
    return lambda e: exp(gaussian.value(e, 1.0, mu, 1))


@pytest.mark.parametrize("mu", [1e-4, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("fpr", [1e-9, 0.001, 0.1, 0.5, 0.99])
def test_gaussian_rates_are_those_of_the_best_test(mu, fpr):
    want = best_gaussian(fpr, mu)
    got, _ = true_positive(gaussian_profile(mu), fpr, 1e-8)
    assert want * (1 - 1e-12) <= got <= want * (1 + 1e-9)


@pytest.mark.parametrize("r", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("fpr", [1e-5, 0.01, 0.3, 0.5, 0.9])
def test_laplace_rates_are_those_of_the_best_test(r, fpr):
    def delta(e):
        return exp(laplace.value(e, 1.0, r))

    cut = exp(-r) / 2
    want = exp(r) * fpr if fpr < cut else 1 - exp(-r) / (4 * fpr) if fpr < 0.5 else 1 - exp(-r) * (1 - fpr)
    got, _ = true_positive(delta, fpr, 1e-8, points=(r,))
    assert want * (1 - 1e-12) <= got <= want * (1 + 1e-7)


@settings(deadline=None)
@given(PAIRS, st.floats(0.01, 0.99))
def test_no_test_and_no_guess_does_better(drawn, prior):
    """Every randomised test, in both directions, and every guess, on every pair."""
    p, q, reject = drawn

    def delta(e):
        x = outcomes.value(e, p, q)
        return exp(x) if x > -inf else 0.0

    on_p, on_q = (sum(a * t for a, t in zip(v, reject, strict=True)) for v in (p, q))
    for fpr, tpr in ((on_q, on_p), (on_p, on_q)):
        if 1e-9 < fpr < 1 - 1e-9:
            assert true_positive(delta, fpr, 1e-3)[0] >= tpr - 1e-12
    best = max(sum(max(prior * a, (1 - prior) * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))
    assert best - 1e-12 <= best_guess(delta, prior) <= best + 1e-9


@pytest.mark.parametrize("prior", [1e-6, 0.1, 0.5, 0.8])
def test_gaussian_guess(prior):
    mu = 1.3
    cut = mu / 2 + log((1 - prior) / prior) / mu
    want = prior * (1 - NormalDist().cdf(cut - mu)) + (1 - prior) * NormalDist().cdf(cut)
    assert best_guess(gaussian_profile(mu), prior) == pytest.approx(want, rel=1e-11)


def test_laplace_by_composition_is_safe_and_near_a_closed_form():
    """One release through the numerical engine, against its closed form, at every ε that an attack may use."""
    parts = ((Laplace(1.0), 1),)
    rng = random.Random(3)

    def delta(e):
        return exp(log_delta_at_epsilon(parts, e, bracket=False).upper) if e < 1 else 0.0

    for fpr in (0.01, 0.4, *(rng.uniform(0.01, 0.99) for _ in range(3))):
        cut = exp(-1) / 2
        want = exp(1) * fpr if fpr < cut else 1 - exp(-1) / (4 * fpr) if fpr < 0.5 else 1 - exp(-1) * (1 - fpr)
        assert want <= true_positive(delta, fpr, 3e-3)[0] <= want * (1 + 4e-3)


@pytest.mark.parametrize("fpr, tpr", [(0.1, 0.35), (0.2, 0.7), (0.25, 0.75), (0.3, 0.8), (0.65, 0.9),
                                      (0.9, 0.8 + 0.2 * 6 / 7), (1.0, 1.0)])
def test_the_best_test_of_two_distributions(fpr, tpr):
    """Neyman and Pearson: outcomes by falling ratio, the last one as often as the rate allows; beyond ratio 1 by the
    other direction."""
    p, q = (0.7, 0.1, 0.2), (0.2, 0.1, 0.7)
    delta, other = (lambda e, a=a, b=b: sum(max(0.0, x - exp(e) * y) for x, y in zip(a, b, strict=True)) for a,
                    b in ((p, q), (q, p)))
    found, _ = true_positive(delta, fpr, 1e-9, 0.0, (log(3.5),), other)
    assert tpr * (1 - 1e-12) <= found <= tpr + 1e-6
