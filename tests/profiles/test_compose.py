"""Composition of profiles: against exact formulas, enumerations, the law of large losses, and other engines' figures."""

from math import exp, inf, log, log1p

import mpmath
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpcalc.bounds.conversions import composition_optimal, profile_composition
from dpcalc.bounds.mechanisms import gaussian_exact, laplace_exact
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.profiles import asked, compose, law, moments, pairs
from dpcalc.profiles.compose import epsilon_at, log_delta_at
from dpcalc.profiles.cut import cut

PRECISION = asked.PRECISION


def dp_sgd(rate, sigma, steps):
    return ((pairs.poisson(pairs.gaussian(1 / sigma), rate), steps),)


def wor(rate, sigma, steps):
    return ((pairs.without_replacement(pairs.gaussian(1 / sigma), rate), steps),)


@pytest.mark.parametrize("steps", [1, 10, 1000, 10**6, 10**9])
@pytest.mark.parametrize("log10_delta", [-2, -10, -30, -100])
@pytest.mark.parametrize("total", [0.3, 1.0, 8.0])
def test_gaussian_steps_have_their_closed_form(steps, log10_delta, total):
    log_delta = log10_delta * log(10)
    exact = gaussian_exact.inverse(log_delta, 1.0, total, 1)
    got = epsilon_at(((pairs.gaussian(total / steps**0.5), steps),), log_delta)
    assert got.lower <= exact * (1 + 1e-9) and exact * (1 - 1e-9) <= got.upper
    assert got.upper - got.lower <= 2.5 * PRECISION * got.upper


@pytest.mark.parametrize("steps", [1, 7, 100, 10**5])
@pytest.mark.parametrize("epsilon,log_delta_0", [(0.1, -inf), (1.0, -inf), (0.5, log(1e-9))])
def test_pure_steps_have_the_optimal_composition(steps, epsilon, log_delta_0):
    total = 0.6 * epsilon * steps if steps < 100 else 4 * epsilon * steps**0.5
    exact = composition_optimal.value(total, epsilon, exp(log_delta_0), steps)
    got = log_delta_at(((pairs.binary(epsilon, log_delta_0), steps),), total)
    assert got.lower <= exact + 1e-9 * (1 + abs(exact)) and exact - 1e-9 * (1 + abs(exact)) <= got.upper
    assert got.upper - got.lower <= PRECISION * max(1, abs(exact))


@pytest.mark.parametrize("ratio,epsilon", [(0.5, 0.1), (2.0, 1.0), (10.0, 0.0), (10.0, 9.5)])
def test_one_laplace_release(ratio, epsilon):
    exact = laplace_exact.value(epsilon, 1.0, ratio)
    got = log_delta_at(((pairs.laplace(ratio), 1),), epsilon)
    assert got.lower - 1e-9 <= exact <= got.upper + 1e-9 and got.upper - got.lower < 3 * PRECISION


@pytest.mark.parametrize("rate,sigma,steps,known", [(0.01, 2, 1000, 0.719), (0.01, 4, 10_000, 1.040), (0.001, 1, 10_000, 0.613)])
def test_without_replacement(rate, sigma, steps, known):
    got = epsilon_at(wor(rate, sigma, steps), log(1e-5))
    assert got.upper == pytest.approx(known, rel=0.01) and got.lower <= got.upper <= got.lower * (1 + PRECISION)


@pytest.mark.parametrize("rate,sigma,steps,log_delta,true", [
    (0.01, 1, 10_000, log(1e-6), 6.90738), (0.01, 4, 10_000, log(1e-12), 1.71115), (0.01, 4, 10_000, log(1e-60), 4.21843)])
def test_dp_sgd_against_values_of_a_finer_grid(rate, sigma, steps, log_delta, true):
    """The reference values are upper bounds themselves, 1e-5 or so above the truth."""
    got = epsilon_at(dp_sgd(rate, sigma, steps), log_delta)
    assert got.lower <= true and true * (1 - 2e-4) <= got.upper <= true * (1 + 5e-4)


@pytest.mark.parametrize("parts,log_delta", [
    (((pairs.gaussian(20.0), 1),), log(1e-6)), (((pairs.gaussian(100.0), 1),), log(1e-6)), (dp_sgd(0.01, 0.1, 1000), log(1e-6)),
    (dp_sgd(0.01, 0.05, 1), log(1e-6)), (dp_sgd(0.999, 0.3, 1000), log(1e-6)), (dp_sgd(0.01, 1, 10**9), log(1e-6)),
    (dp_sgd(0.01, 1, 10_000), log(1e-16)), (dp_sgd(0.01, 1, 10_000), log(1e-30)), (dp_sgd(1e-4, 1.5, 1000), log(1e-9))],
    ids=["σ=.05", "σ=.01", "(.01,.1)", "(.01,.05)", "(.999,.3)", "T=1e9", "δ=1e-16", "δ=1e-30", "small ε"])
def test_hard_questions_have_a_narrow_bracket(parts, log_delta):
    got = epsilon_at(parts, log_delta)
    assert 0 < got.lower <= got.upper <= got.lower * 1.002


def test_rare_events_for_a_billion_steps():
    """The lower value is lost here (the density ends sharply), the upper one is not."""
    got = epsilon_at(dp_sgd(1e-8, 1, 10**9), log(1e-6), bracket=False)
    assert 0.00098 < got.upper < 0.00103


def test_the_added_direction_counts_too():
    """At one step and small ε on Laplace noise the two directions differ; the answer is the larger."""
    pair = pairs.poisson(pairs.gaussian(1.0), 0.3)
    both = log_delta_at(((pair, 3),), 0.4)
    one = [log_delta_at(((p, 3),), 0.4).upper for p in (pair._replace(twin=None), pair.twin)]
    assert both.upper == max(one)


def test_infinite_loss_where_delta_is_too_small():
    assert epsilon_at(((pairs.binary(0.5, log(1e-6)), 10),), log(1e-6)).upper == inf
    assert epsilon_at(((pairs.binary(0.5, log(1e-6)), 10),), log(0.9)).upper == 0


# --- pairs -----------------------------------------------------------------------------------------------------------


def delta_of(pair, epsilon):
    """By the definition, over a fine law: Σ (p − e^ε q)₊."""
    x = law.law(pair, 0.0, 60.0, law.grid_edges(pair, 0.0, 60.0, 1e-3, 0.0))
    p = x.weight * exp(x.log_total)
    return float((p * -np.expm1(np.minimum(epsilon - x.loss, 0.0))).sum()) + exp(pair.log_infinite)


BASES = {"gaussian": (pairs.gaussian(0.8), lambda e: gaussian_exact.value(e, 1.0, 0.8, 1)),
         "laplace": (pairs.laplace(1.3), lambda e: laplace_exact.value(e, 1.0, 1.3))}


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("rate", [0.02, 0.4])
@pytest.mark.parametrize("epsilon", [0.01, 0.2, 0.5])
def test_sampled_pairs_have_their_profiles(name, rate, epsilon):
    base, log_delta = BASES[name]
    inner = log1p((exp(epsilon) - 1) / rate)
    want = rate * exp(log_delta(inner))
    assert delta_of(base, epsilon) == pytest.approx(exp(log_delta(epsilon)), rel=2e-4, abs=1e-12)
    assert delta_of(pairs.poisson(base, rate), epsilon) == pytest.approx(want, rel=2e-3, abs=1e-9)
    assert delta_of(pairs.without_replacement(base, rate), epsilon) == pytest.approx(want, rel=2e-3, abs=1e-9)
    below = 1 - exp(-epsilon) * (1 - want)  # δ(−ε) of the symmetric pair
    assert delta_of(pairs.without_replacement(base, rate), -epsilon) == pytest.approx(below, rel=1e-4)
    twin = pairs.poisson(base, rate).twin  # E_γ(N‖mix) = 1 − γ + γ E_{1/γ}(mix‖N)
    turned = 1 - exp(epsilon) + exp(epsilon) * delta_of(pairs.poisson(base, rate), -epsilon)
    assert delta_of(twin, epsilon) == pytest.approx(turned, rel=1e-3, abs=1e-9)


def test_masses_of_a_pair_add_up():
    for pair in (pairs.gaussian(0.01), pairs.gaussian(30.0), pairs.laplace(3.0), pairs.binary(1.0, log(1e-3)),
                 pairs.poisson(pairs.gaussian(2.0), 1e-6), pairs.poisson(pairs.gaussian(2.0), 1e-6).twin,
                 pairs.without_replacement(pairs.gaussian(0.5), 0.3), pairs.sampled([0.0, 0.5, 1.0], [log(0.3), log(0.05), log(0.001)])):
        x = law.law(pair, 0.0, 60.0)
        assert exp(x.log_total) + exp(pair.log_infinite) == pytest.approx(1, abs=1e-13)


def test_a_sampled_profile_is_its_hull():
    """On and between corners the hull of points and mirror images; above the truth, and below the points left out."""
    epsilons = [0.0, 0.3, 0.6, 1.0, 2.0]
    truth = [log(laplaced) for laplaced in (exp(laplace_exact.value(e, 1.0, 3.0)) for e in epsilons)]
    loose = list(truth)
    loose[2] = log(exp(truth[2]) * 1.5)  # not on the hull
    pair = pairs.sampled(epsilons, loose)
    for e, d in zip((0.0, 0.3, 1.0, 2.0), (truth[0], truth[1], truth[3], truth[4]), strict=True):
        assert delta_of(pair, e) == pytest.approx(exp(d), rel=1e-9)
    for e in np.linspace(0, 2, 41):
        assert delta_of(pair, float(e)) >= exp(laplace_exact.value(float(e), 1.0, 3.0)) * (1 - 1e-9)
    assert delta_of(pair, 0.6) < exp(loose[2])


def test_a_cut_is_worse_and_costs_what_it_says():
    pair = pairs.gaussian(1.0)
    near = cut(pair, log(1e-6)).pair
    assert log(0.5e-6) < near.log_infinite <= log(1e-6) * (1 - 1e-9) + 0.2
    for epsilon in (0.0, 2.0, 4.0):
        assert delta_of(pair, epsilon) <= delta_of(near, epsilon) * (1 + 1e-9) <= delta_of(pair, epsilon) + 2e-6


def test_a_rare_atom_is_cut_without_its_neighbour():
    """Atoms 4e-6 and 1 - 4e-6 beside an ordinary pair: what is cut off is the rare one only. Against all sequences of atoms."""
    common = pairs.outcomes([0.8411504601953017, 0.15884953980469824], [0.6979361352821649, 0.30206386471783503])
    rare = pairs.outcomes([4.126446576804815e-06, 0.9999958735534231], [4.975578242539104e-06, 0.9999950244217575])
    parts = ((common, 2), (rare, 1))
    for epsilon in (0.0, 0.05, 0.2, 0.9):
        true = log(profile_composition.exact(mpmath.mp, epsilon, parts))
        found = compose.log_delta_at(parts, epsilon)
        assert found.lower <= true + 1e-12 and true - 1e-12 <= found.upper <= true + 2e-3
    assert cut(rare.twin, -12.0).pair.log_infinite == pytest.approx(log(4.975578242539104e-06), rel=1e-9)


@pytest.mark.parametrize("rate,sigma,alpha", [(0.01, 1.0, 1.5), (0.01, 1.0, 8.0), (1e-5, 2.0, 2.0), (0.5, 0.5, 3.3), (0.01, 5.0, 32.0)])
def test_renyi_divergence_of_a_pair(rate, sigma, alpha):
    pair = pairs.poisson(pairs.gaussian(1 / sigma), rate)
    assert moments.rdp(pair, alpha) == pytest.approx(poisson_rdp.value(alpha, sigma, rate), rel=1e-9)
    assert moments.rdp(pairs.gaussian(1 / sigma), alpha) == pytest.approx(alpha / (2 * sigma**2), rel=1e-9)


# --- laws ------------------------------------------------------------------------------------------------------------

rates, sigmas = st.floats(2e-3, 1.0), st.floats(0.6, 8.0)
counts, deltas = st.integers(1, 3000), st.floats(-25.0, -1.0)
LAWS = settings(max_examples=15, deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate))


@pytest.mark.slow
@LAWS
@given(rates, sigmas, counts, deltas)
def test_law_bracket_and_direction_of_every_parameter(rate, sigma, steps, log_delta):
    got = epsilon_at(dp_sgd(rate, sigma, steps), log_delta)
    assert 0 <= got.lower <= got.upper < inf
    slack = 1 + 2 * PRECISION
    for parts, target in ((dp_sgd(rate, 1.2 * sigma, steps), log_delta), (dp_sgd(0.8 * rate, sigma, steps), log_delta),
                          (dp_sgd(rate, sigma, max(1, steps // 2)), log_delta), (dp_sgd(rate, sigma, steps), 0.8 * log_delta)):
        less = epsilon_at(parts, target)
        assert less.lower <= got.upper * (1 + 1e-12) and less.upper <= got.upper * slack + 1e-9


@LAWS
@given(rates, sigmas, counts, deltas)
def test_law_never_above_renyi(rate, sigma, steps, log_delta):
    upper = epsilon_at(dp_sgd(rate, sigma, steps), log_delta, bracket=False).upper
    renyi = min(steps * poisson_rdp.value(a, sigma, rate) + log1p(-1 / a) - (log_delta + log(a)) / (a - 1) for a in (1.3, 2.0, 4.0, 9.0, 30.0))
    assert upper <= max(renyi, 0.0) + 1e-3 * abs(renyi)


@LAWS
@given(rates, sigmas, st.integers(1, 200), st.floats(0.1, 2.0), deltas)
def test_law_composition_commutes_and_never_helps(rate, sigma, steps, mu, log_delta):
    a, b = dp_sgd(rate, sigma, steps)[0], (pairs.gaussian(mu), 1)
    ab, ba, alone = (epsilon_at(parts, log_delta) for parts in ((a, b), (b, a), (b,)))
    assert ab.upper == pytest.approx(ba.upper, rel=1e-9)
    assert alone.lower <= ab.upper * (1 + 1e-12)
    split = epsilon_at(((a[0], 1), *(((a[0], steps - 1),) if steps > 1 else ()), b), log_delta)
    assert split.lower <= ab.upper and ab.lower <= split.upper


@pytest.mark.slow
@LAWS
@given(rates, sigmas, counts, st.floats(0.0, 4.0))
def test_law_delta_and_epsilon_agree(rate, sigma, steps, epsilon):
    log_delta = log_delta_at(dp_sgd(rate, sigma, steps), epsilon)
    assert log_delta.lower <= log_delta.upper <= 0
    if -80 < log_delta.upper < -0.1:
        back = epsilon_at(dp_sgd(rate, sigma, steps), log_delta.upper)
        assert back.lower <= epsilon * (1 + 1e-9) and epsilon <= back.upper + 3 * PRECISION * (epsilon + 1)
