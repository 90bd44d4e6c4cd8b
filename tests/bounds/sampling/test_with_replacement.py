"""Batches drawn with replacement: small runs by enumeration, the formula by its definition, laws and known values."""

import random
from itertools import combinations_with_replacement, pairwise
from math import exp, inf, log

import mpmath
import numpy as np
import pytest
from conftest import slow, spread
from scipy.special import ndtr
from soundness.mechanisms import cells
from soundness.sampling import hockey_stick

from dpcalc.bounds.sampling import (
    with_replacement_lower,
    with_replacement_profile,
    wor_profile,
    wor_zero_out_profile,
)
from dpcalc.bounds.sampling.truncated_poisson_profile import gaussian_profile
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon

mp = mpmath.mp.clone()
mp.dps = 60
LOG_DELTA = log(1e-5)


def sums(values, draws):
    """The probability of every sum of some draws from whole numbers."""
    found = {0: 1.0}
    for _ in range(draws):
        longer = {}
        for total, share in found.items():
            for x in values:
                longer[total + x] = longer.get(total + x, 0.0) + share / len(values)
        found = longer
    return found


def law(own, others, draws, z, cuts):
    """The cells of the noisy sum, in units of noise for contributions of norm at most 1."""
    return sum(share * cells(ndtr, cuts, at / z) for at, share in sums((own, *others), draws).items())


def delta_of(atoms, gamma):
    """E_P[(1 − γe^{−ℓ})₊] by its definition."""
    loss, p = np.array(atoms.losses), np.exp(atoms.log_p)
    return float((p * np.maximum(-np.expm1(np.minimum(log(gamma) - loss, 50.0)), 0)).sum()) + exp(atoms.log_infinite)


# --- small runs ------------------------------------------------------------------------------------------------------


@spread("n, draws, z", [(3, 1, 0.7), (4, 2, 1.0), (3, 3, 1.5), slow(6, 2, 0.6), (2, 4, 3.0)])
@pytest.mark.parametrize("replaced", [True, False])
def test_the_pair_dominates_every_small_run_in_both_directions_at_every_gamma(n, draws, z, replaced):
    """All contributions in {−1, 0, 1}; γ below 1, too, which composition needs."""
    pair = with_replacement_profile.pair(n, draws, z / 2 if replaced else z, replaced)
    cuts, gammas, nearest = np.linspace(-5 - draws / z, 5 + draws / z, 300), np.exp(np.linspace(-3, 6, 25)), 0.0
    for others in combinations_with_replacement((-1, 0, 1), n - 1):
        for first, second in ((1, -1), (1, 0), (0, -1)) if replaced else ((1, 0),):
            p, q = (law(own, others, draws, z, cuts) for own in (first, second))
            for atoms, a, b in ((pair, p, q), (pair.reverse, q, p)):
                for gamma in gammas:
                    true, bound, sure = hockey_stick(a, b, gamma), delta_of(atoms, gamma), max(0.0, 1 - gamma)
                    assert true <= bound * (1 + 1e-9) + 1e-12, (others, first, second, gamma)
                    nearest = max(nearest, (true - sure) / (bound - sure + 1e-9))
    assert nearest > 0.97  # a bound a little lower would be broken


@pytest.mark.parametrize("replaced", [True, False])
def test_two_adaptive_steps_of_a_small_run(replaced):
    """The second step's contributions depend on the sign of the first output."""
    n, draws, z = 3, 2, 1.2
    pair = with_replacement_profile.pair(n, draws, z / 2 if replaced else z, replaced)
    cuts = np.linspace(-7, 7, 61)
    half, values = int(np.searchsorted(cuts, 0.0)) + 1, (1, -1) if replaced else (1, 0)
    for first, low, high in (((-1, -1), (-1, -1), (0, 0)), ((0, 1), (-1, 0), (-1, -1))):
        p, q = (law(own, first, draws, z, cuts) for own in values)
        after = [[law(own, others, draws, z, cuts) for own in values] for others in (low, high)]
        both = [np.concatenate([np.outer(one[:half], after[0][k]).ravel(), np.outer(one[half:], after[1][k]).ravel()])
                for k, one in enumerate((p, q))]
        for e in (0.0, 0.5, 1.5, 3.0):
            bound = exp(log_delta_at_epsilon([(pair, 2)], e).upper)
            assert max(hockey_stick(*both, exp(e)), hockey_stick(*both[::-1], exp(e))) <= bound


@spread("n, draws, z, e", [(4, 2, 1.5, 0.4), (3, 3, 2.0, 1.5), (40, 10, 3.0, 0.2), (2, 6, 6.0, 0.0)])
@pytest.mark.parametrize("replaced", [True, False])
def test_the_lower_end_is_the_loss_of_a_run(n, draws, z, e, replaced):
    """One step of the run with opposite contributions, in finer cells than those of the bound."""
    cuts = np.linspace(-6 - draws / z, 6 + draws / z, 20_000)
    p, q = (law(own, (-1,) * (n - 1), draws, z, cuts) for own in (1, -1 if replaced else 0))
    true = max(hockey_stick(p, q, exp(e)), hockey_stick(q, p, exp(e)))
    parts = with_replacement_lower.value(n, draws, z / 2 if replaced else z, replaced)
    shown = exp(log_delta_at_epsilon(parts, e).lower)
    assert true * (1 - 3e-4) <= shown <= true * (1 + 1e-7)


# --- the formula -----------------------------------------------------------------------------------------------------


def by_definition(e, n, draws, z, reach, c=None):
    """Σ π_k ∫(N(ar) − γN((a−1)r) − c_k N(0))₊ with c_k as given, or those of the best common half-line, by bisection and
    the tails of normal distributions."""
    fine = mpmath.mp.clone()
    fine.dps = 40
    gamma, rate, m = fine.exp(fine.mpf(e)), 1 / fine.mpf(n), 1 / fine.mpf(z)
    weights = [fine.binomial(draws, k) * rate**k * (1 - rate) ** (draws - k) for k in range(draws + 1)]

    def ratio(k, x):
        return fine.exp(reach * k * m * (x - reach * k * m / 2)) - gamma * fine.exp(
            (reach - 1) * k * m * (x - (reach - 1) * k * m / 2))

    def root(rises, low, high):
        for _ in range(140):
            middle = (low + high) / 2
            low, high = (low, middle) if rises(middle) > 0 else (middle, high)
        return high

    if c is None:
        t = root(lambda x: fine.fsum(w * max(ratio(k, x), 0) for k, w in enumerate(weights) if k)
                 - (gamma - 1) * weights[0], fine.mpf(-1), fine.mpf(60 * z + 5 * draws / z))
        c = [max(ratio(k, t), 0) for k in range(draws + 1)]
    total = fine.mpf(0)
    for k in range(1, draws + 1):
        # the integrand is positive beyond its last sign change, and negative for small ratios
        x = root(lambda x, k=k: ratio(k, x) - c[k], (reach - fine.mpf(0.5)) * k * m, fine.mpf(60 * z + 5 * draws / z))
        tails = [fine.erfc((x - d * k * m) / fine.sqrt(2)) / 2 for d in (reach, reach - 1, 0)]
        total += weights[k] * max(tails[0] - gamma * tails[1] - c[k] * tails[2], 0)
    return total


CASES = [(0.0, 50, 5, 0.7), (1.0, 1000, 10, 1.0), (0.5, 300, 8, 1.1), (2.0, 6, 5, 2.0), (0.01, 2, 3, 4.0), (6.0, 40, 6, 0.4)]


@spread("e, n, draws, z", CASES)
def test_the_formula_by_its_definition(e, n, draws, z):
    for side, replaced in ((1, True), (1, False), (-1, False)):
        want = by_definition(e, n, draws, z, 1 if replaced or side < 0 else 2)
        exact = with_replacement_profile.sided_exact(mp, e, side, n, draws, z, replaced)
        assert exact == pytest.approx(want, rel=1e-20), (side, replaced)


@spread("e, n, draws, z", CASES[1:])
def test_no_other_choice_of_c_gives_less(e, n, draws, z):
    """Any c_k >= 0 that use up the budget are valid; those of a common half-line are the best."""
    rng, p = random.Random(4), 1 / n
    weights = [float(mp.binomial(draws, k)) * p**k * (1 - p) ** (draws - k) for k in range(draws + 1)]
    for reach, replaced in ((1, True), (2, False)):
        best = with_replacement_profile.sided_exact(mp, e, 1, n, draws, z, replaced)
        for _ in range(3):
            shares = [rng.random() ** 4 for _ in range(draws)]
            c = [0.0, *(s / sum(shares) * (exp(e) - 1) * weights[0] / w for s, w in zip(shares, weights[1:], strict=True))]
            assert by_definition(e, n, draws, z, reach, c) >= best * (1 - mp.mpf(10) ** -12)


@pytest.mark.slow
def test_values_are_never_below_the_theorem_and_near_it():
    rng, rtol = random.Random(6), with_replacement_profile.BOUND.rtol
    for _ in range(150):
        b = rng.choice((1, 2, rng.randint(1, 12), round(10 ** rng.uniform(0, 6))))
        n = max(1, -(-b // 20), round(b * 10 ** rng.uniform(-1, 3)) if rng.random() < 0.8 else round(10 ** rng.uniform(0, 15)))
        z, e = 10 ** rng.uniform(-1.3, 3), rng.choice((0.0, 10 ** rng.uniform(-10, 1.7)))
        side, replaced = rng.choice(((1, True), (1, False), (-1, False)))
        log_exact = mp.log(with_replacement_profile.sided_exact(mp, e, side, n, b, z, replaced))
        excess = with_replacement_profile.sided(e, side, n, b, z, replaced) - log_exact
        assert 0 <= excess <= rtol * max(1, abs(log_exact)), (e, side, n, b, z, replaced)


def test_draws_add_up_to_one():
    for n, b in ((1, 3), (2, 5), (1000, 10), (60_000, 256), (7, 500), (10**6, 10**6), (10**15, 10**6)):
        draws = with_replacement_profile.draws(n, b)
        total = exp(draws.log_none) + sum(map(exp, draws.log_weights)) + exp(draws.log_more)
        assert total == pytest.approx(1, abs=1e-12) and draws.counts[-1] <= b
    with pytest.raises(OutOfScope, match="mean"):
        with_replacement_profile.draws(10, 1001)


# --- laws and values -------------------------------------------------------------------------------------------------


def composed(n, b, z, steps, replaced, log_delta=LOG_DELTA):
    """Both ends of the bracket: of the guarantee, and of the run that attains the least."""
    upper = epsilon_at_delta([(with_replacement_profile.pair(n, b, z, replaced), steps)], log_delta).upper
    ((pair, _),) = with_replacement_lower.value(n, b, z, replaced)
    lower = epsilon_at_delta([(pair, steps)], log_delta).lower
    assert pair.attained and lower <= upper
    return upper, lower


STEP = [(1000, 10, 1.0, 1.0, 0.00029826653105136536, 0.0001883729888250456),
        (60_000, 256, 1.1, 0.5, 6.128075493304195e-05, None),  # the other value is computed without the term of k = 4
        (50, 5, 0.7, 0.0, 0.08193911989460162, 0.05168309454702897)]


@pytest.mark.parametrize("n, b, sigma, e, replaced, zeroed", STEP)
def test_known_steps(n, b, sigma, e, replaced, zeroed):
    """σ is in units of the clipping norm, by twice which a replaced record changes a sum."""
    assert exp(with_replacement_profile.value(e, n, b, sigma / 2, True)) == pytest.approx(replaced, rel=1e-8)
    if zeroed:
        assert exp(with_replacement_profile.value(e, n, b, sigma, False)) == pytest.approx(zeroed, rel=1e-8)


@pytest.mark.parametrize("n, b, sigma, steps, delta, least, most", [
    (1000, 10, 1.0, 10, 1e-5, 6.1609, 6.24), (1000, 10, 1.0, 100, 1e-5, 9.58, 9.8),
    (100, 20, 4.0, 50, 1e-6, 4.3302408925793685, 4.6)])
def test_known_runs(n, b, sigma, steps, delta, least, most):
    upper, lower = composed(n, b, sigma / 2, steps, True, log(delta))
    assert least <= upper <= most and lower == pytest.approx(least, rel=1e-3)


def test_single_draws_are_batches_of_one_record():
    """At b = 1 a record is in the batch with probability 1/n, and another one is in its place otherwise."""
    for n, z, e in ((10, 1.0, 0.3), (3, 2.0, 0.0), (1000, 0.5, 2.0)):
        single = with_replacement_profile.value(e, n, 1, z, True)
        assert single == pytest.approx(wor_profile.value(e, 1 / n, gaussian_profile(z)), rel=1e-9)
        for side in (1, -1):
            zeroed = with_replacement_profile.sided(e, side, n, 1, z, False)
            assert zeroed == pytest.approx(wor_zero_out_profile.sided(e, side, 1 / n, z), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [True, False])
def test_epsilon_grows_with_draws_and_steps_and_falls_with_noise_and_records(replaced):
    for change in ([composed(1000, b, 1.0, 20, replaced)[0] for b in (1, 10, 100)],
                   [composed(200, 5, z, 20, replaced)[0] for z in (30.0, 3.0, 1.0, 0.5)],
                   [composed(200, 5, 1.0, steps, replaced)[0] for steps in (1, 10, 100, 1000)],
                   [composed(n, 5, 1.0, 20, replaced)[0] for n in (10**6, 1000, 50, 5, 1)]):
        assert all(a < b for a, b in pairwise(change))


def test_one_step_grows_with_draws_and_falls_with_records():
    rng = random.Random(9)
    for _ in range(100):
        n, b, z = rng.randint(2, 2000), rng.randint(1, 200), 10 ** rng.uniform(-0.7, 1.5)
        n, e, side = max(n, b // 20 + 1), rng.choice((0.0, rng.uniform(0, 3))), rng.choice((1, -1))
        for replaced in (True, False):
            found = with_replacement_profile.sided(e, side, n, b, z, replaced)
            assert found <= with_replacement_profile.sided(e, side, n, b + 1, z, replaced) * (1 - 4e-9)
            assert found >= with_replacement_profile.sided(e, side, n + 1, b, z, replaced) * (1 + 4e-9)


@pytest.mark.slow
@pytest.mark.parametrize("own, steps", [((60_000, 256, 1.1), 3516), ((10**15, 10**6, 0.1), 5), ((10**6, 10**6, 4.0), 3),
                                        ((10, 200, 300.0), 4), ((10, 1000, 100.0), 2)])
def test_large_numbers(own, steps):
    for replaced in (True, False):
        composed(*own, steps, replaced)


@spread("own", [(10**15, 1, 1.0), (3, 2, 1e-3), (3, 2, 1e6), slow((10**6, 1000, 1e-8)), (2, 3, 1e-120),
                                 (1, 5, 3.0), (2, 1, 0.05)])
def test_ends_of_the_range(own):
    for replaced in (True, False):
        for e in (0.0, 1e-9, 1.0, 50.0, 700.0):
            for side in (1, -1):
                stated = with_replacement_profile.sided(e, side, *own, replaced)
                assert stated == -inf or -1e300 < stated <= 0
        upper, lower = composed(*own, 3, replaced, log(1e-6))
        assert 0 <= lower <= upper
