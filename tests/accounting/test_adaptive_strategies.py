"""The worst adaptive strategies against budgets: what a fixed list would have left is no valid budget; filters are.

The budgets are dpcalc's; the strategies are exact dynamic programmes."""

from math import log, nextafter, sqrt

import numpy as np
import pytest
from adversaries import (
    Release,
    binary,
    chosen_by_output,
    gaussian,
    nothing,
    randomised_response,
    stopping_delta,
    two_plans,
    worst_delta,
)
from conftest import slow
from privacy_filters import (
    budget_at_order,
    concentrated_filter,
    delta_at_order,
    gaussian_filter,
    order_of_budget,
    pure_as_gaussian,
    renyi_filter,
)
from selection_candidates import normal_cells

from dpcalc.bounds.conversions import filters

ROUNDING = 1e-9


def renyi_budget(epsilon, delta):
    """The order and the budget of dpcalc's Rényi filter for (ε, δ)."""
    log_delta = nextafter(log(delta), -1e3)
    alpha = filters.best_order(epsilon, log_delta)
    return alpha, filters.budget(alpha, epsilon, log_delta)


def gaussian_mu(epsilon, delta):
    """The budget of dpcalc's filter for Gaussian guarantees at (ε, δ)."""
    return filters.largest_mu(epsilon, nextafter(log(delta), -1e3))


@pytest.mark.parametrize(
    "epsilon, delta, step_epsilon, true_delta",
    [
        (3, 1e-5, 0.2, 1.4289514437378646e-05),
        (1, 1e-5, 0.1, 1.134429550533166e-05),
        (8, 1e-5, 0.4, 1.497949757228632e-05),
        slow(3, 1e-9, 0.1, 1.5837746424913e-09),
    ],
)
def test_what_a_fixed_list_has_left_is_no_budget_for_stopping(epsilon, delta, step_epsilon, true_delta):
    assert stopping_delta(epsilon, delta, step_epsilon) == pytest.approx(true_delta, rel=1e-9)


def test_nor_is_it_for_the_choice_between_two_mechanisms():
    sigma, scale, true_delta = two_plans(3, 1e-5, 0.1)
    assert (sigma, scale) == pytest.approx((1.4035441394772046, 0.34482305628885435), rel=1e-12)
    assert true_delta == pytest.approx(1.2143015294758136e-05, rel=1e-8)


@pytest.mark.parametrize(
    "epsilon, delta, alpha, budget",
    [
        (1, 1e-5, 17.80870958957204, 0.5441735299208746),
        (8, 1e-5, 3.874184030932789, 4.764140378311024),
        (0.5, 1e-6, 40.0457785060076, 0.26596501332908107),
        (3, 1e-5, 7.5077027, 1.6835961),
    ],
)
def test_the_order_at_which_most_concentrated_privacy_fits(epsilon, delta, alpha, budget):
    order, found = renyi_budget(epsilon, delta)
    assert (order, found) == pytest.approx((alpha, budget), rel=2e-6)
    assert delta_at_order(order, found, epsilon) == pytest.approx(delta, rel=1e-12)
    assert all(budget_at_order(order * x, epsilon, delta) / (order * x) < found / order for x in (0.99, 1.01))


@pytest.mark.parametrize(
    "epsilon, step_epsilon, alpha, true_delta",
    [(1, 0.2, 17.80870958957204, 2.3655218859390073e-06), (8, 0.5, 3.874184030932789, 2.0108613494120353e-06)],
)
def test_the_worst_strategy_of_responses_and_a_gaussian_within_the_filter(epsilon, step_epsilon, alpha, true_delta):
    release = randomised_response(step_epsilon)
    allowed = renyi_filter([release], alpha, budget_at_order(alpha, epsilon, 1e-5))
    found = worst_delta(
        epsilon, [release], allowed.fits, lambda counts: [gaussian(sqrt(2 * allowed.left(counts) / alpha))]
    )
    assert found == pytest.approx(true_delta, rel=1e-9)


RENYI = [
    (1, 1e-5, [(0.1,)]),
    slow(1, 1e-5, [(0.05,), (0.2,)]),
    (3, 1e-5, [(0.2,), (0.6,)]),
    slow(8, 1e-5, [(0.5,), (1.0,)]),
    (3, 1e-9, [(0.2,)]),
    (0.1, 1e-7, [(0.01,)]),
    slow(8, 1e-5, [(0.2,)]),
    slow(1, 1e-5, [(0.02,)]),
    slow(3, 1e-5, [(0.1,), (0.3,)]),
    slow(0.3, 1e-3, [(0.02,), (0.05,)]),
]


@pytest.mark.parametrize("epsilon, delta, steps", RENYI)
def test_no_strategy_within_the_renyi_filter_is_above_delta(epsilon, delta, steps):
    """The last release may be a Gaussian, Laplace noise, a randomised response or a rare event. With rare events the
    filter is nearly attained."""
    releases = [randomised_response(*x) for x in steps]
    allowed = renyi_filter(releases, *renyi_budget(epsilon, delta))
    assert 0.98 * delta < worst_delta(epsilon, releases, allowed.fits, allowed.endings) <= delta * (1 + ROUNDING)


@pytest.mark.parametrize("p, q", [(1e-3, 1e-4), (1e-4, 1e-3), (0.9, 0.85), (1e-6, 1e-7)])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_nor_with_releases_that_are_not_symmetric(epsilon, p, q):
    releases = [Release(p, q), randomised_response(epsilon / 4)]
    alpha, budget = renyi_budget(epsilon, 1e-5)
    allowed = renyi_filter(releases, alpha, budget)

    def fits(counts):
        return allowed.fits(counts) and sum(counts) <= 8

    assert worst_delta(epsilon, releases, fits, allowed.endings) <= 1e-5 * (1 + ROUNDING)


@pytest.mark.parametrize("epsilon, step_epsilon", [(3, 0.1), (1, 0.1), (8, 0.4)])
def test_the_order_must_not_be_chosen_after_the_first_output(epsilon, step_epsilon):
    """After a randomised response, last releases that fill the budget of one order each: for every order alone (ε, δ)
    holds, and where the output decides which order is meant it does not."""
    release, endings = randomised_response(step_epsilon), []
    own = order_of_budget(epsilon, 1e-5)
    for alpha in 1 + (own - 1) * np.exp(np.linspace(-1, 1, 9)):
        budget = budget_at_order(alpha, epsilon, 1e-5)
        allowed = renyi_filter([release], alpha, budget)
        endings += allowed.endings((1,)) if budget > 0 and allowed.fits((1,)) else []
    p, q = np.array([release.p, 1 - release.p]), np.array([release.q, 1 - release.q])
    alone = max(chosen_by_output(epsilon, p, q, [x]) for x in endings)
    assert alone <= 1e-5 * (1 + ROUNDING) < 1.08e-5 < chosen_by_output(epsilon, p, q, endings)


@pytest.mark.parametrize("epsilon, step_epsilon, share", [(1, 0.1, 0.1), (1, 0.1, 0.5), slow(8, 0.25, 0.5)])
def test_releases_that_may_reveal_the_data_are_within_delta_if_the_reserve_is_taken_off(epsilon, step_epsilon, share):
    reserve = 1e-5 * share
    releases = [randomised_response(step_epsilon, reserve / 4), randomised_response(2 * step_epsilon)]

    def worst(delta):
        allowed = renyi_filter(releases, *renyi_budget(epsilon, delta), reserve)
        return worst_delta(epsilon, releases, allowed.fits, allowed.endings)

    assert 0.9e-5 < worst(1e-5 - reserve) <= 1e-5 * (1 + ROUNDING)
    assert worst(1e-5) > 1e-5 * (1 + 0.8 * share)


@pytest.mark.parametrize(
    "epsilon, delta, steps",
    [(1, 1e-5, [0.05]), (3, 1e-5, [0.1, 0.2]), (3, 1e-9, [0.1]), (8, 1e-5, [0.4, 0.8]), (0.1, 1e-7, [0.004])],
)
def test_the_filter_of_gaussian_guarantees_is_attained_and_never_exceeded(epsilon, delta, steps):
    releases, allowed = [randomised_response(x) for x in steps], gaussian_filter(steps, gaussian_mu(epsilon, delta))
    assert worst_delta(epsilon, releases, allowed.fits, allowed.endings) == pytest.approx(delta, rel=ROUNDING)

    def late(counts):
        return allowed.endings(counts) if sum(counts) >= 3 else []

    assert worst_delta(epsilon, releases, allowed.fits, late) < delta


@pytest.mark.parametrize("epsilon, delta", [(1, 1e-5), (3, 1e-9), (8, 1e-5)])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_gaussian_and_then_what_its_output_suggests_is_within_the_filter(epsilon, delta, share):
    """The first Gaussian is rounded to cells, which can only lose; then come more noise, a response, or nothing."""
    mu = gaussian_mu(epsilon, delta)
    first, last = mu * sqrt(share), mu * sqrt(1 - share)
    edges = np.linspace(-10, first + 10, 800)
    p, q = normal_cells(first, edges), normal_cells(0.0, edges)
    response = gaussian_filter([], last).endings(())
    found = chosen_by_output(epsilon, p, q, [nothing, *response])
    assert 0.99 * delta < found <= delta * (1 + ROUNDING)


@pytest.mark.parametrize("epsilon, delta, steps", [(1, 1e-5, [0.05]), (3, 1e-5, [0.1, 0.2]), (8, 1e-5, [0.4, 0.8])])
def test_concentrated_privacy_is_a_budget_at_all_orders(epsilon, delta, steps):
    alpha, budget = renyi_budget(epsilon, delta)
    releases, allowed = [randomised_response(x) for x in steps], concentrated_filter(steps, budget / alpha)
    others = min(delta_at_order(a, a * allowed.budget, epsilon) for a in 1 + np.exp(np.linspace(-3, 5, 300)))
    assert worst_delta(epsilon, releases, allowed.fits, allowed.endings) <= delta * (1 + ROUNDING)
    assert others >= delta * (1 - ROUNDING), "the order is the best one for this budget"


@pytest.mark.parametrize("epsilon, mu", [(0.1, 0.12530901221160773), (1, 1.232035385344901), (4, 4.19447808556034)])
def test_the_least_gaussian_guarantee_of_a_pure_one(epsilon, mu):
    assert pure_as_gaussian(epsilon) == pytest.approx(mu, rel=1e-12)
    response, at = randomised_response(epsilon), np.linspace(-epsilon, epsilon, 101)
    assert (binary(response.p, response.q)(at) <= gaussian(mu)(at) + 1e-15).all()
