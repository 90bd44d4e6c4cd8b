"""dpcalc's bounds on the best of several runs against exact output laws of small candidates.

`bound_delta`, `bound_rdp` and `bound_pure` are dpcalc's; everything else follows from the definition of selection."""

from dataclasses import replace
from itertools import product
from math import exp, expm1, inf, log, log1p

import mpmath
import numpy as np
import pytest
from conftest import slow
from one_run import in_both_directions, law_of, randomized_response
from scipy.special import log_ndtr, ndtr
from selection_candidates import KINDS, random_laws, random_response, rounded_gaussian, split_response
from selection_laws import (
    Candidate,
    NegativeBinomial,
    Poisson,
    delta,
    largest_slope_ratio,
    max_log_ratio,
    renyi,
    selected,
    selected_exact,
    selected_pair,
)

from dpcalc.bounds.conversions import selection

ROUNDING = 1e-9  # relative; sums of doubles near the bound
LEAST = 1e-14  # absolute; differences of probabilities near 1
SHAPES = (-0.9, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0)


def slope_log_ratio(reverse, law):
    """c: the least number, from above, with φ′(1 − Q(E)) ≤ e^c φ′(1 − Q′(E)) for all events E."""
    if isinstance(law, Poisson):
        return law.mean * reverse(0.0)
    low, high = 0.0, -log(law.g)
    for _ in range(60):
        middle = (low + high) / 2
        fits = (1 - law.g) * reverse(middle) <= law.g * expm1(middle)
        low, high = (low, middle) if fits else (middle, high)
    return (1 + law.shape) * high


def bounds_of_delta(profile, reverse, law, epsilons):
    """δ of the published outcome at each ε, in both directions. `profile` and `reverse` are the privacy profiles of one
    run at ε ≥ 0 in this direction and in the other one."""
    run, law = in_both_directions(profile, reverse), law_of(law)
    c_from = selection.search(run, law)
    return [exp(selection.value(epsilon, run, law, **c_from)) for epsilon in epsilons]


def bound_delta(profile, reverse, law, epsilon):
    return bounds_of_delta(profile, reverse, law, [epsilon])[0]


def delta_with(c, profile, reverse, law, epsilon):
    """The same bound with any c, as the theorem prints it for one direction."""
    x = epsilon - c
    at = profile(x) if x >= 0 else -expm1(x) + exp(x) * reverse(-x)
    return min(1.0, law.mean * at)


def bound_rdp(candidate, law, alpha):
    """The Rényi divergence of order α of the published outcome, in both directions."""
    run = in_both_directions(profile_of(candidate), profile_of(candidate.reversed),
                             lambda a: renyi(candidate.q, candidate.other, a),
                             lambda a: renyi(candidate.other, candidate.q, a))
    return selection.rdp(alpha, run, law_of(law), **selection.search_at_order(alpha, run, law_of(law)))


def bound_pure(epsilon, law):
    """ε of the published outcome where one run is pure."""
    return selection.of_pure(randomized_response(epsilon), law_of(law))["epsilon"]


def profile_of(candidate):
    return lambda epsilon: float(np.maximum(candidate.q - exp(epsilon) * candidate.other, 0.0).sum())


def gaussian_profile(mu):
    def profile(epsilon):
        a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(ndtr(a) * -np.expm1(epsilon + log_ndtr(b) - log_ndtr(a)))

    return profile


def random_law(rng):
    if rng.random() < 0.25:
        return Poisson(exp(rng.uniform(-1.5, 4)))
    return NegativeBinomial(float(rng.choice(SHAPES)), 10 ** rng.uniform(-3, -0.05))


def ratios_of(candidate, law, profiles, epsilons):
    """Exact δ divided by its bound at random ε, also below c and (where nothing is published with probability 0) below
    zero. A value above the bound by more than rounding is an error."""
    profile, reverse = profiles
    c = slope_log_ratio(reverse, law)
    at = [0.0, *(x * (c + 0.1) for x in epsilons), *(c + 2 * x for x in epsilons[:2])]
    at += [-epsilons[0]] * isinstance(law, NegativeBinomial)
    exact = delta(*selected_pair(law, candidate), at)
    bounds = np.array(bounds_of_delta(profile, reverse, law, at))
    wrong = exact > bounds * (1 + ROUNDING) + LEAST
    assert not wrong.any(), (
        candidate,
        law,
        [(e, x, b) for e, x, b, w in zip(at, exact, bounds, wrong, strict=True) if w],
    )
    large = bounds > 1e-12
    return exact[large] / bounds[large]


@pytest.mark.parametrize("seed, candidates", [(1, 70), slow(2, 2000)])
def test_no_exact_value_is_above_the_bound(seed, candidates):
    rng, ratios = np.random.default_rng(seed), []
    for _ in range(candidates):
        candidate, law = rng.choice(KINDS)(rng), random_law(rng)
        for one in (candidate, candidate.reversed):
            ratios += [*ratios_of(one, law, (profile_of(one), profile_of(one.reversed)), rng.random(4))]
    assert len(ratios) > 10 * candidates and max(ratios) > 0.97


@pytest.mark.parametrize("seed, candidates", [(1, 12), slow(2, 300)])
def test_rounded_gaussians_are_within_the_bound_of_the_gaussian(seed, candidates):
    rng, ratios = np.random.default_rng(seed), []
    for _ in range(candidates):
        mu, law = exp(rng.uniform(-2, 1)), random_law(rng)
        candidate = rounded_gaussian(mu, score=str(rng.choice(["rising", "falling", "random"])), rng=rng)
        for one in (candidate, candidate.reversed):
            ratios += [*ratios_of(one, law, (gaussian_profile(mu),) * 2, rng.random(4))]
    assert len(ratios) > 6 * candidates and 0.2 < max(ratios) <= 1


@pytest.mark.parametrize("law", [NegativeBinomial(1, 0.1), NegativeBinomial(0, 0.01), NegativeBinomial(-0.9, 0.3)])
def test_the_bound_is_attained(law):
    """All mass that tells the data sets apart has the largest score, and is small."""
    q, other = np.array([1e-7, 0.6, 0.4 - 1e-7]), np.array([0.0, 0.6, 0.4])
    candidate = Candidate("small reveal", q, other, np.array([2.0, 1.0, 1.0]))
    exact = delta(*selected_pair(law, candidate), 0.5)
    assert exact == pytest.approx(
        bound_delta(profile_of(candidate), profile_of(candidate.reversed), law, 0.5), rel=1e-4
    )


@pytest.mark.parametrize(
    "law, epsilon",
    [
        (NegativeBinomial(1, 0.1), 1.0),
        (NegativeBinomial(0, 0.01), 0.5),
        (NegativeBinomial(-0.5, 0.05), 2.0),
        (Poisson(4.0), 0.3),
    ],
)
def test_pure_candidates_reach_the_pure_bound(law, epsilon):
    """Where δ of the bound vanishes, at ε + c, the split response has a loss within 0.2 % of it, and no more. A c that is
    0.5 % too small gives δ = 0 where δ is positive."""

    def profile(x):
        return max(0.0, (exp(epsilon) - exp(x)) / (1 + exp(epsilon)))

    candidate, c = split_response(epsilon, 2000), slope_log_ratio(profile, law)
    if isinstance(law, NegativeBinomial):
        assert c == pytest.approx((1 + law.shape) * log((exp(epsilon) + law.g) / (1 + law.g * exp(epsilon))), rel=1e-12)
    output = selected_pair(law, candidate)
    loss = max_log_ratio(*output)
    assert 0.998 * (epsilon + c) < loss <= bound_pure(epsilon, law) <= (epsilon + c) * (1 + 1e-12)
    assert 1e-10 < delta(*output, 0.999 * loss) <= bound_delta(profile, profile, law, 0.999 * loss)


@pytest.mark.parametrize("seed, candidates", [(1, 40), slow(2, 2000)])
def test_random_pure_candidates_are_within_the_pure_bound(seed, candidates):
    rng = np.random.default_rng(seed)
    for _ in range(candidates):
        candidate, law = random_response(rng), random_law(rng)
        for one in (candidate, candidate.reversed):
            epsilon = max(max_log_ratio(one.q, one.other), max_log_ratio(one.other, one.q))
            assert max_log_ratio(*selected_pair(law, one)) <= bound_pure(epsilon, law) + 1e-11


@pytest.mark.parametrize("seed, candidates", [(1, 40), slow(2, 2000)])
def test_renyi_divergences_are_within_their_bound(seed, candidates):
    rng = np.random.default_rng(seed)
    for _ in range(candidates):
        candidate, law = rng.choice(KINDS)(rng), random_law(rng)
        for one in (candidate, candidate.reversed):
            for alpha in 1 + np.exp(rng.uniform(-3, 3, 4)):
                exact, bound = renyi(*selected_pair(law, one), alpha), bound_rdp(one, law, alpha)
                assert exact == bound == inf or exact <= bound + 1e-10 / (alpha - 1) + 1e-10, (one, law, alpha)


def test_the_usual_poisson_formula_without_the_empty_run_is_false_below_one_run():
    """ε_Q(α) + m δ′ + log(m)/(α − 1) is below the exact divergence, so the term e^{−m} of the bound is needed."""
    candidate, law, alpha = rounded_gaussian(0.5, 40), Poisson(0.5), 2.0
    usual = (
        renyi(candidate.q, candidate.other, alpha)
        + law.mean * profile_of(candidate.reversed)(log(alpha / (alpha - 1)))
        + log(law.mean) / (alpha - 1)
    )
    exact = renyi(*selected_pair(law, candidate), alpha)
    assert usual < 0.0 < exact <= bound_rdp(candidate, law, alpha)


@pytest.mark.parametrize("seed", range(8))
def test_c_is_the_supremum_over_events(seed):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        candidate, law = random_laws(rng), random_law(rng)
        least = largest_slope_ratio(law, candidate)
        found = slope_log_ratio(profile_of(candidate.reversed), law)
        assert least - 1e-12 <= found <= least + 1e-9


def test_c_comes_from_the_other_direction():
    """With c from the profile of the same direction the bound would vanish where the published outcome still loses."""
    candidate, law = (
        Candidate("rare", np.array([0.001, 0.999]), np.array([0.3, 0.7]), np.array([1.0, 0.0])),
        NegativeBinomial(1, 0.05),
    )
    profile, reverse = profile_of(candidate), profile_of(candidate.reversed)
    wrong, right = slope_log_ratio(profile, law), slope_log_ratio(reverse, law)
    exact = delta(*selected_pair(law, candidate), 1.1)
    assert (
        delta_with(wrong, profile, reverse, law, 1.1)
        == 0.0
        < 0.1
        < exact
        <= delta_with(right, profile, reverse, law, 1.1)
        <= bound_delta(profile, reverse, law, 1.1) * (1 + ROUNDING)
    )


def test_any_larger_c_is_valid_and_gives_a_larger_bound():
    profile = gaussian_profile(0.7)
    law = NegativeBinomial(1, 0.1)
    c = slope_log_ratio(profile, law)
    values = [delta_with(c + x, profile, profile, law, 2.0) for x in (0.0, 0.1, 1.0, 5.0)]
    assert values == sorted(values) and values[-1] == 1.0
    assert bound_delta(profile, profile, law, 2.0) == pytest.approx(values[0], rel=1e-9)


def enumerated(law, q, score, runs):
    """The output law by all outcomes of up to so many runs, with P(K = k) as it is usually defined."""
    found = np.zeros(len(q) + 1)
    found[-1] = law.probability(0)
    for k in range(1, runs + 1):
        for drawn in product(range(len(q)), repeat=k):
            best = [i for i in drawn if score[i] == max(score[j] for j in drawn)]
            for i in best:
                found[i] += law.probability(k) * np.prod(q[list(drawn)]) / len(best)
    return found


@pytest.mark.parametrize(
    "law",
    [
        NegativeBinomial(1, 0.95),
        NegativeBinomial(0, 0.97),
        NegativeBinomial(-0.5, 0.96),
        NegativeBinomial(2, 0.98),
        Poisson(0.1),
    ],
    ids=str,
)
def test_the_law_of_the_output_is_that_of_all_outcomes_of_the_runs(law):
    q, score = np.array([0.5, 0.2, 0.3]), np.array([1.0, 1.0, 2.0])
    assert selected(law, q, score) == pytest.approx(enumerated(law, q, score, 5), abs=1e-6)


@pytest.mark.parametrize("law", [*(NegativeBinomial(h, 0.01) for h in SHAPES), Poisson(30.0), Poisson(0.2)], ids=str)
def test_the_law_of_the_output_keeps_its_digits(law):
    mp = mpmath.mp.clone()
    mp.dps = 60
    q = np.array([1e-12, 0.3, 0.2, 1e-9, 0.5 - 1e-9 - 1e-12])
    score = np.array([5.0, 1.0, 1.0, 4.0, 3.0])
    exact = [float(x) for x in selected_exact(law, q, score, mp)]
    assert selected(law, q, score) == pytest.approx(exact, rel=1e-13)
    assert law.mean == pytest.approx(float(mp.diff(lambda z: law.generating(z, mp), 1)), rel=1e-12)


def majority(law, q, runs):
    """P(the first of two outcomes is published) where all scores are equal and, among the tied runs, the outcome is
    taken that occurs most often (either one at random where both do)."""
    counts, chance = np.array([1.0]), 0.0
    for k in range(1, runs + 1):
        counts = np.convolve(counts, [1 - q, q])
        chance += law.probability(k) * (counts[k // 2 + 1 :].sum() + (counts[k // 2] / 2 if k % 2 == 0 else 0.0))
    return chance


def test_ties_must_not_be_decided_by_comparing_the_tied_outputs_with_one_another():
    """A rule that publishes the most frequent of the tied outputs is no order of the outputs, and breaks the bound."""
    law, epsilon = NegativeBinomial(1, 0.01), 0.5
    likely = majority(law, 1 / (1 + exp(-epsilon)), 1200)
    pure = epsilon + 2 * log((exp(epsilon) + law.g) / (1 + law.g * exp(epsilon)))
    assert log(likely) - log1p(-likely) > 2.6 > 1.5 > pure


@pytest.mark.parametrize("seed", range(4))
def test_ties_may_be_decided_by_an_order_of_the_outputs(seed):
    """Any order that refines the scores is covered by the same bound."""
    rng, law = np.random.default_rng(seed), NegativeBinomial(1, 0.1)
    for _ in range(5):
        candidate = random_response(rng)
        refined = replace(candidate, score=candidate.score + rng.permutation(len(candidate.q)) / 100)
        for one in (candidate, candidate.reversed, refined, refined.reversed):
            ratios_of(one, law, (profile_of(one), profile_of(one.reversed)), rng.random(3))
