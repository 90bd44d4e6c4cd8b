"""Brackets of composed pairs: around exact values, enumerations and other engines' figures, narrow, and true to the
laws of privacy loss."""

import json
import random
from functools import reduce
from itertools import pairwise
from math import exp, expm1, inf, log, log1p

import mpmath
import numpy as np
import pytest
from calling import call
from conftest import slow, spread
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpcalc.bounds.conversions import composition_optimal, profile_composition
from dpcalc.bounds.mechanisms import gaussian, laplace
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.pld.atoms import approximate_dp, outcomes, profile_at_points
from dpcalc.pld.bracket import PRECISION, epsilon_at_delta, log_delta_at_epsilon
from dpcalc.pld.pair import Gaussian, Laplace
from dpcalc.pld.sampled import poisson, without_replacement


def dp_sgd(rate, sigma, steps):
    return ((poisson(Gaussian(1 / sigma), rate), steps),)


def replaced(rate, sigma, steps):
    return ((without_replacement(Gaussian(1 / sigma), rate), steps),)


def is_around(bracket, exact, room=1e-9):
    return bracket.lower <= exact + room * (1 + abs(exact)) and exact - room * (1 + abs(exact)) <= bracket.upper


# --- known values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log10_delta", [-2, -10, -30, -100])
@pytest.mark.parametrize("total", [0.01, 0.3, 1.0, 8.0, 100.0])
def test_gaussian_noise_has_its_closed_form(log10_delta, total):
    log_delta = log10_delta * log(10)
    exact = gaussian.inverse(log_delta, 1.0, total, 1)
    for parts in (((Gaussian(total), 1),), ((Gaussian(total / 10), 99), (Gaussian(total / 20), 4))):
        found = epsilon_at_delta(parts, log_delta)
        assert is_around(found, exact) and found.upper - found.lower <= PRECISION * found.upper


@spread("steps", [1, 7, 100, 10**5, 10**8])
@pytest.mark.parametrize("epsilon, log_delta", [(0.1, -inf), (1.0, -inf), (0.5, log(1e-9)), (0.001, log(1e-14))])
def test_pure_and_approximate_steps_have_the_optimal_composition(steps, epsilon, log_delta):
    if steps == 10**8 and (epsilon > 0.01 or log_delta == -inf):
        pytest.skip("the sum of the theorem has too many terms")
    total = 0.6 * epsilon * steps if steps < 100 else 4 * epsilon * steps**0.5
    exact = composition_optimal.value(total, epsilon, exp(log_delta), steps) if steps <= 10**5 else None
    found = log_delta_at_epsilon(((approximate_dp(epsilon, log_delta), steps),), total)
    assert exact is None or is_around(found, exact)
    assert found.upper - found.lower <= PRECISION * max(1, abs(found.upper))


@pytest.mark.parametrize("ratio, epsilon", [(0.5, 0.1), (2.0, 1.0), (10.0, 0.0), (10.0, 9.5), (1e-4, 5e-5)])
def test_one_laplace_release(ratio, epsilon):
    exact = laplace.value(epsilon, 1.0, ratio)
    found = log_delta_at_epsilon(((Laplace(ratio), 1),), epsilon)
    assert is_around(found, exact) and found.upper - found.lower <= PRECISION


@pytest.mark.parametrize("rate, sigma, epsilon",
                         [(0.3, 1.0, 0.4), (1e-3, 0.5, 0.05), (1e-6, 0.6, 1.0), (0.01, 20.0, 1e-4)])
def test_one_sampled_step(rate, sigma, epsilon):
    exact = log(rate) + gaussian.value(log1p((exp(epsilon) - 1) / rate), 1.0, 1 / sigma, 1)
    for parts in (dp_sgd(rate, sigma, 1), replaced(rate, sigma, 1)):
        found = log_delta_at_epsilon(parts, epsilon)
        assert is_around(found, exact) and found.upper - found.lower <= PRECISION * max(1, abs(exact))


def test_finite_laws_by_enumeration():
    """Two kinds of outcomes, a few uses of each, both directions."""
    rng = random.Random(1)
    for _ in range(12):
        laws = []
        for _ in range(2):
            p = [rng.random() ** 4 + 1e-6 for _ in range(3)]
            q = [x * exp(rng.gauss(0, 0.7)) for x in p]
            laws.append(outcomes([x / sum(p) for x in p], [x / sum(q) for x in q]))
        parts, epsilon = ((laws[0], rng.randint(1, 5)), (laws[1], rng.randint(1, 4))), rng.uniform(0.0, 1.5)
        exact = float(profile_composition.exact(mpmath.mp, epsilon, parts))
        found = log_delta_at_epsilon(parts, epsilon)
        assert is_around(found, log(exact)) if exact > 0 else found.lower == -inf
        assert found.upper - found.lower <= PRECISION or found.upper == found.lower


def test_binomial_sums_of_very_many_steps():
    """Randomised response a billion times, by the normal law of its losses: 1e-4 of it is what that is off."""
    epsilon, steps = 1e-6, 10**9
    found = epsilon_at_delta(((approximate_dp(epsilon), steps),), log(1e-6))
    assert found.upper == pytest.approx(gaussian.inverse(log(1e-6), 1.0, epsilon * steps**0.5, 1), rel=1e-3)
    assert found.upper - found.lower <= 2 * PRECISION * found.upper


@pytest.mark.parametrize("rate, sigma, steps, log_delta, low, high", [
    # dp-accounting 0.6.0, pessimistic and optimistic, with finer grids until both agree to the digits given
    (0.01, 1, 10_000, log(1e-6), 6.9062, 6.9074), (0.01, 4, 10_000, log(1e-12), 1.7110, 1.7112),
    (0.00426667, 1.1, 3516, log(1e-5), 1.1338, 1.1339),
    (0.001, 0.7, 100_000, log(1e-8), 5.0490, 5.0505), (0.1, 2.0, 1000, log(1e-5), 8.278, 8.2793),
    # a record in a million, little noise, a million steps: .0617 by its usual grid
    (1e-6, 0.6, 10**6, log(1e-9), 0.0566, 0.0617)])
def test_dp_sgd_as_other_engines_have_it(rate, sigma, steps, log_delta, low, high):
    found = epsilon_at_delta(dp_sgd(rate, sigma, steps), log_delta)
    assert found.lower <= high and low <= found.upper <= high * (1
                                                                 + PRECISION) and found.upper - found.lower <= PRECISION * found.upper


# --- narrow brackets -------------------------------------------------------------------------------------------------


@spread("parts, log_delta", [
    (dp_sgd(0.01, 0.1, 1000), log(1e-6)), (dp_sgd(0.01, 0.05, 1), log(1e-6)), (dp_sgd(0.999, 0.3, 1000), log(1e-6)),
    (dp_sgd(0.01, 1, 10**9), log(1e-6)), (dp_sgd(0.001, 1.2, 10**6), log(1e-5)),
    (dp_sgd(0.01, 1, 10_000), log(1e-16)), (dp_sgd(0.01, 1, 10_000), log(1e-30)), (dp_sgd(1e-4, 1.5, 1000), log(1e-9)),
    (dp_sgd(1e-8, 1, 10**9), log(1e-6)), (dp_sgd(1e-4, 0.5, 10**6), log(1e-6)),
    (dp_sgd(2.27e-7, 0.672, 2748650), -30.2), (replaced(7.8e-5, 0.6, 10**6), -21.0),
    (((poisson(Laplace(1.3), 0.02), 700),), log(1e-6)), (((Laplace(1.3), 7),), log(1e-6)),
    (((approximate_dp(0.5), 100),), log(1e-6)),
    ((*dp_sgd(0.01, 1.0, 1000), *replaced(0.001, 2.0, 500), (Gaussian(0.3), 2), (Laplace(0.2), 3),
      (approximate_dp(0.1, -25.0), 4)), log(1e-7)),
])
def test_hard_questions_have_a_narrow_bracket(parts, log_delta):
    found = epsilon_at_delta(parts, log_delta)
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1.01 * PRECISION)


@pytest.mark.parametrize("parts, epsilon",
                         [slow(dp_sgd(2.3e-8, 0.59, 7120978), 0.3532), slow(replaced(5.6e-8, 1.698, 102510692), 0.002),
                          (dp_sgd(0.01, 1.0, 100), 1.2),
                          slow(dp_sgd(0.0015, 1.69, 22839), 1.46)])
def test_delta_where_one_rare_loss_decides(parts, epsilon):
    found = log_delta_at_epsilon(parts, epsilon)
    assert found.lower <= found.upper <= found.lower + 1.1 * PRECISION


@pytest.mark.parametrize("parts, log_delta",
                         [slow(dp_sgd(0.01, 1.0, 1000), log(1e-6)), slow(replaced(1e-4, 0.7, 10**5), log(1e-7)),
                          (((Laplace(0.5), 40),), log(1e-5))])
def test_more_precision_is_never_worse(parts, log_delta):
    """And the bracket is as narrow as was asked for."""
    found = [epsilon_at_delta(parts, log_delta, precision) for precision in (1e-2, 1e-3, 3e-4, 1e-4)]
    for rough, fine in pairwise(found):
        assert rough.lower <= fine.lower <= fine.upper <= rough.upper
    for precision, x in zip((1e-2, 1e-3, 3e-4, 1e-4), found, strict=True):
        assert x.upper - x.lower <= precision * x.upper
    x = log_delta_at_epsilon(parts, found[0].upper)
    assert x.upper - x.lower <= PRECISION


@pytest.mark.slow
def test_a_thousand_different_mechanisms():
    rng = random.Random(3)
    parts = [(poisson(Gaussian(exp(-rng.uniform(-0.5, 1.6))), exp(rng.uniform(-9, -3))), 1) for _ in range(1000)]
    found = epsilon_at_delta(parts, log(1e-6))
    assert found.lower <= found.upper <= found.lower * (1 + PRECISION)


@pytest.mark.slow
def test_a_hundred_different_mechanisms_of_a_thousand_uses():
    """Which would take long to compose to the precision."""
    parts = [(poisson(Gaussian(1 / (0.6 + k / 100)), 0.001), 1000) for k in range(100)]
    found = epsilon_at_delta(parts, log(1e-5))
    assert found.lower <= found.upper <= found.lower * 1.005


# --- directions, and losses that are infinite -------------------------------------------------------------------------


def test_the_worse_direction_is_the_answer():
    pair = poisson(Gaussian(1.0), 0.3)
    both = log_delta_at_epsilon(((pair, 3),), 0.4)
    one = [log_delta_at_epsilon(((p, 3),), 0.4, one_sided=True).upper for p in (pair, pair.reverse)]
    assert both.upper == max(one)


def test_delta_below_what_is_infinite_has_no_epsilon():
    parts = ((approximate_dp(0.5, log(1e-6)), 10),)
    assert epsilon_at_delta(parts, log(1e-6)).upper == inf and epsilon_at_delta(parts, log(0.9)).upper == 0
    found = log_delta_at_epsilon(((approximate_dp(0.6), 1), (approximate_dp(0.3, log(3e-5)), 1)), 0.95)
    assert found.lower <= log(3e-5) <= found.upper <= log(3e-5) + 1e-9


@pytest.mark.parametrize("p, count", [(1e-13, 1), (1e-13, 7), (1e-9, 1000), (1e-3, 100)])
def test_rare_losses_keep_their_digits(p, count):
    """An outcome that P has with a tiny probability, and Q with a far smaller one."""
    pair = outcomes([p, 1 - p], [p / 100, 1 - p / 100])
    found, exact = log_delta_at_epsilon(((pair, count),),
                                        1.0), float(profile_composition.exact(mpmath.mp, 1.0, ((pair, min(count, 7)),)))
    if count <= 7:
        assert is_around(found, log(exact))
    assert found.upper - found.lower <= PRECISION


# --- laws -------------------------------------------------------------------------------------------------------------

rates, sigmas = st.floats(1e-6, 1.0), st.floats(0.5, 20.0)
counts, deltas = st.integers(1, 100_000), st.floats(-40.0, -2.0)
LAWS = settings(max_examples=15, deadline=None, derandomize=True, database=None,
                phases=(Phase.explicit, Phase.generate))


@pytest.mark.slow
@LAWS
@given(rates, sigmas, counts, deltas)
def test_law_less_exposure_is_less_loss(rate, sigma, steps, log_delta):
    found = epsilon_at_delta(dp_sgd(rate, sigma, steps), log_delta)
    assert 0 <= found.lower <= found.upper < inf
    for parts, target in ((dp_sgd(rate, 1.2 * sigma, steps), log_delta), (dp_sgd(0.8 * rate, sigma, steps), log_delta),
                          (dp_sgd(rate, sigma, max(1, steps // 2)), log_delta),
                          (dp_sgd(rate, sigma, steps), 0.8 * log_delta)):
        less = epsilon_at_delta(parts, target)
        assert less.lower <= found.upper * (1 + 1e-12) and less.upper <= found.upper * (1 + PRECISION) + 1e-12


@pytest.mark.slow
@LAWS
@given(rates, sigmas, counts, deltas)
def test_law_never_above_renyi(rate, sigma, steps, log_delta):
    upper = epsilon_at_delta(dp_sgd(rate, sigma, steps), log_delta, bracket=False).upper
    renyi = min(steps * poisson_rdp.value(a, sigma, rate) + log1p(-1 / a) - (log_delta + log(a)) / (a - 1)
                for a in (1.3, 2.0, 4.0, 9.0, 30.0))
    assert upper <= max(renyi, 0.0) + PRECISION * abs(renyi)


@pytest.mark.slow
@LAWS
@given(rates, sigmas, st.integers(1, 200), st.floats(0.1, 2.0), deltas)
def test_law_the_order_of_parts_does_not_matter_and_more_parts_lose_more(rate, sigma, steps, mu, log_delta):
    a, b = dp_sgd(rate, sigma, steps)[0], (Gaussian(mu), 1)
    ab, ba, alone = (epsilon_at_delta(parts, log_delta) for parts in ((a, b), (b, a), (b,)))
    assert ab.upper == pytest.approx(ba.upper, rel=1e-9) and alone.lower <= ab.upper * (1 + 1e-12)
    split = epsilon_at_delta(((a[0], 1), *(((a[0], steps - 1),) if steps > 1 else ()), b), log_delta)
    assert split.lower <= ab.upper and ab.lower <= split.upper


@pytest.mark.slow
@LAWS
@given(rates, sigmas, counts, st.floats(0.0, 4.0))
def test_law_delta_and_epsilon_agree(rate, sigma, steps, epsilon):
    delta = log_delta_at_epsilon(dp_sgd(rate, sigma, steps), epsilon)
    assert delta.lower <= delta.upper <= 0
    if -80 < delta.upper < -0.1:
        back = epsilon_at_delta(dp_sgd(rate, sigma, steps), delta.upper)
        assert back.lower <= epsilon * (1 + 1e-9) and epsilon <= back.upper * (1 + PRECISION) + PRECISION


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 8.0])
def test_more_sums_than_are_enumerated(epsilon):
    """Losses −x, 0 and x: their sums are on a lattice, where the law of 300 of them is a power of a polynomial."""
    x, a, count = 0.25, 0.2, 300
    p = [a * exp(-x), 1 - a - a * exp(-x), a]
    law = reduce(np.convolve, [p] * count)  # a sum of positive terms, to 1e-13
    exact = log(sum(w * -expm1(epsilon - x * (k - count)) for k, w in enumerate(law) if x * (k - count) > epsilon))
    pair = outcomes(p, p[::-1])
    found = log_delta_at_epsilon(((pair, count),), epsilon)
    assert found.lower <= exact + 1e-9 and exact - 1e-9 <= found.upper <= found.lower + 1.01 * PRECISION


def test_enumerated_sums_are_exact():
    """Two uses of (.1, .9) and (.5, .5), by hand: the total variation is .25 + .31."""
    assert log_delta_at_epsilon(((outcomes([0.1, 0.9], [0.5, 0.5]), 2),), 0.0).upper == pytest.approx(log(0.56),
                                                                                                      rel=1e-12)
    found = epsilon_at_delta(((outcomes([0.05, 0.95], [0.04, 0.96]), 3),), log(1e-18))
    assert 3 * log(1.25) - 1e-6 <= found.lower <= found.upper <= 3 * log(1.25) + 1e-12


def test_the_bound_by_the_largest_loss_is_rounded_to_the_safe_side():
    """ℓ + log(1 − δ/P), with a δ far below P and the unit in the last place."""
    found = epsilon_at_delta(((Laplace(1e-6), 1),), log(1e-18))
    assert found.lower <= 1e-6 - 2e-18 * (1 - 1e-6) <= found.upper <= 1e-6 * (1 + 1e-10)


@pytest.mark.parametrize("epsilon", [0.005, 4.0])
def test_delta_next_to_one(epsilon):
    assert log_delta_at_epsilon(((Gaussian(17.0), 1),), epsilon).upper == pytest.approx(0.0, abs=1e-9)


def test_all_mass_below_a_grid_is_kept():
    """Losses whose likely values are far below those that decide: δ is next to that of the rare ones alone."""
    pair = profile_at_points([0.0, 100.0, 200.0, 300.0], [-1e-9, -2.0, -150.0, -400.0])
    found = log_delta_at_epsilon(((pair, 300),), 20_000.0)
    assert found.lower <= found.upper <= found.lower + 0.05


@pytest.mark.parametrize("line, note", [
    ("subsample --sampling-rate 0.000936666 --sigma 0.350351 --steps 41314 --epsilon 0.378018",
     "this δ may be too large by a factor of 1.0"),
    ("subsample --sampling-rate .001 --sigma 46.9 --steps 14454 --epsilon 5.5", "gives no lower bound here"),
])
def test_a_bracket_that_is_wider_than_the_precision_has_a_note(line, note):
    code, out, err = call(line.split())
    assert code == 0 and note in " ".join(out.split()), err


def test_a_bracket_as_narrow_as_the_precision_has_no_note():
    line = "subsample --sampling-rate .01 --sigma 1 --steps 1000 --delta 1e-6 --precision 1e-4"
    record = json.loads(call([*line.split(), "--json"])[1])
    result = record["result"]
    assert 0 < result["epsilon"] - result["epsilon_lower"] <= 1e-4 * result["epsilon"]
    assert not any("precision" in note for note in record["notes"])


def test_a_lower_value_is_never_above_one():
    found = log_delta_at_epsilon(((poisson(approximate_dp(1e10), 0.3), 100), (approximate_dp(1e-5), 1)), 0.0)
    assert found.lower <= found.upper <= 0.0


@pytest.mark.parametrize("log_delta", [log(4.9e-13), -270.0, -1000.0])
def test_what_is_infinite_is_rounded_to_both_sides(log_delta):
    found = log_delta_at_epsilon(((approximate_dp(1.0, log_delta), 2),), 5.0)
    exact = mpmath.log(2 * mpmath.exp(mpmath.mpf(log_delta)) - mpmath.exp(2 * mpmath.mpf(log_delta)))
    assert found.lower <= exact <= found.upper <= found.lower + 1e-11


@pytest.mark.parametrize("epsilon", [30.0, 744.0, 9.64e9])
def test_sampled_responses_with_hardly_any_noise(epsilon):
    """The loss of the mixture is next to ε less log 1/q; P has it with probability about q."""
    rate = mpmath.mpf(0.74)
    found = log_delta_at_epsilon(((poisson(approximate_dp(epsilon), 0.74), 1),), 0.5)
    with mpmath.workdps(60):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        mixed = rate * p + (1 - rate) * (1 - p)
        exact = mpmath.log(mixed - mpmath.exp(mpmath.mpf(0.5)) * (1 - p))
    assert found.lower <= exact <= found.upper
