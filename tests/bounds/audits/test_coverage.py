"""Audits of programs whose ε is known: in at most 5 % of them the lower bound exceeds it."""

from collections import Counter
from functools import cache
from math import exp, inf, sqrt

import numpy as np
import pytest
from scipy import stats

import dpcalc
from dpcalc.bounds.audits import counts, gaussian_counts, one_run

AUDITS, LEVEL = 10_000, 0.05
MOST = LEVEL + 3 * sqrt(LEVEL * (1 - LEVEL) / AUDITS)  # three standard errors above the level
RUNS = 200  # on each of two data sets


@cache
def by_counts(hits, alarms, delta):
    return counts.value(hits, RUNS, alarms, RUNS, delta, 1 - LEVEL, 1)["epsilon_lower"]


@cache
def by_model(hits, alarms, delta):
    return gaussian_counts.value(true_positives=hits, members=RUNS, false_positives=alarms, non_members=RUNS,
                                 delta=delta, confidence=1 - LEVEL, tests=1)["epsilon_lower"]


def wrong(truth, tpr, fpr, bound, *more):
    """The share of audits whose bound exceeds the truth."""
    rng = np.random.default_rng(69)
    drawn = Counter(zip(rng.binomial(RUNS, tpr, AUDITS).tolist(), rng.binomial(RUNS, fpr, AUDITS).tolist(), strict=True))
    return sum(count for seen, count in drawn.items() if bound(*seen, *more) > truth) / AUDITS


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0])
def test_randomised_response_where_the_bound_is_attained(epsilon):
    """Its best attack has TPR/FPR = e^ε, by its yes and by its no."""
    p = exp(epsilon) / (1 + exp(epsilon))
    assert wrong(epsilon, p, 1 - p, by_counts, 0.0) <= MOST


@pytest.mark.parametrize("epsilon, threshold", [(1.0, 0.0), (1.0, 1.0), (2.0, 0.5), (0.5, 4.0)])
def test_laplace_noise(epsilon, threshold):
    """A sum of sensitivity 1 with noise of scale 1/ε, and a test at a threshold beyond which the ratio is e^ε."""
    law = stats.laplace(scale=1 / epsilon)
    assert wrong(epsilon, law.sf(threshold - 1), law.sf(threshold), by_counts, 0.0) <= MOST


@pytest.mark.parametrize("sigma, threshold", [(1.0, 0.5), (1.0, 2.0), (0.5, 1.0), (2.0, 0.0)])
@pytest.mark.parametrize("bound", [by_counts, by_model], ids=["counts", "model"])
def test_gaussian_noise(sigma, threshold, bound):
    epsilon = dpcalc.answer("rdp", sigma=sigma, delta=1e-3).value
    law = stats.norm(scale=sigma)
    assert wrong(epsilon, law.sf(threshold - 1), law.sf(threshold), bound, 1e-3) <= MOST


@pytest.mark.parametrize("epsilon, delta", [(0.0, 0.1), (1.0, 0.05), (2.0, 0.2)])
def test_a_program_that_reveals_all_with_probability_delta(epsilon, delta):
    """Its test has TPR = e^ε·FPR + δ for a FPR of 1/(1 + e^ε) of what is not revealed."""
    fpr = (1 - delta) / (1 + exp(epsilon))
    assert wrong(epsilon, exp(epsilon) * fpr + delta, fpr, by_counts, delta) <= MOST


@pytest.mark.parametrize("canaries, guesses, epsilon, delta", [(100, 100, 1.0, 0.0), (1000, 100, 2.0, 0.0),
                                                               (100, 100, 1.0, 1e-3), (200, 50, 0.5, 2e-3)])
def test_one_run_of_a_program_that_reveals_all_with_probability_delta(canaries, guesses, epsilon, delta):
    """Otherwise every coin is answered by randomised response."""
    rng = np.random.default_rng(69)
    right = rng.binomial(guesses, exp(epsilon) / (1 + exp(epsilon)), AUDITS)
    right[rng.random(AUDITS) < delta] = guesses
    least = {v: one_run.value(canaries, guesses, v, delta, 1 - LEVEL, 1)["epsilon_lower"] for v in set(right.tolist())}
    assert sum(least[v] > epsilon for v in right.tolist()) / AUDITS <= MOST


def test_the_claim_of_a_run_is_refuted_too_seldom_to_matter():
    """By its whole trade-off curve, at the false-positive rate that is seen: in at most 5 % of audits by the best test."""
    claim = dpcalc.answer("rdp", sigma=1, delta=1e-5)

    @cache
    def refuted(hits, alarms):
        return inf if dpcalc.answer("audit", true_positives=(hits, RUNS), false_positives=(alarms, RUNS),
                                    inputs=[claim]).refuted else 0.0

    law = stats.norm()
    assert wrong(1.0, law.sf(0.5), law.sf(1.5), refuted) <= MOST


def test_a_bug_is_found():
    """Half of the noise that is claimed: most audits of 200 + 200 runs refute the claim."""
    claim = dpcalc.answer("rdp", sigma=1, delta=1e-5)
    rng, law = np.random.default_rng(1), stats.norm(scale=0.5)
    found = [dpcalc.answer("audit", true_positives=(int(hits), RUNS), false_positives=(int(alarms), RUNS),
                           inputs=[claim]).refuted
             for hits, alarms in zip(rng.binomial(RUNS, law.sf(0), 20), rng.binomial(RUNS, law.sf(1), 20), strict=True)]
    assert sum(found) >= 18
