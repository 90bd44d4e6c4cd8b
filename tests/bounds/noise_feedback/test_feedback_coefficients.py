"""Noise feedback with any coefficient, several curvatures and records used at several steps: everything against the
covariance of a short run, whose noise matrix is written out."""

import json
import random
from itertools import combinations
from math import inf, sqrt

import mpmath
import numpy as np
import pytest
from paths import GOLDEN

from dpcalc.bounds import all_bounds
from dpcalc.bounds.noise_feedback import every_iterate, optimum, optimum_finite
from dpcalc.bounds.noise_feedback.affine import WITH as with_feedback
from dpcalc.bounds.noise_feedback.affine import WITHOUT as without_feedback
from dpcalc.core.errors import OutOfScope

BOUNDS = all_bounds()
CASES = json.loads((GOLDEN / "feedback.json").read_text())["cases"]
FINE = 1e-9  # relative: what the golden values are good for


def cases(kind):
    return [(case["input"], case["expected"]) for case in CASES if case["kind"] == kind]


# --- golden values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given, want", cases("feedback"), ids=str)
def test_golden_runs(given, want):
    a, steps, lam = 1 - given["r"], given["T"], given["lam"]
    run = {"learning_rate": 1.0, "sigma": given["sigma"], "iterations": steps, "lipschitz": given["shift"] / 2,
           "uses": (given["index"],), "feedback": lam}
    assert with_feedback.variance(a, 1.0, given["sigma"], steps, lam) == pytest.approx(want["variance"], rel=FINE)
    assert with_feedback.mu(curvatures=(a,), **run) == pytest.approx(want["mu_last"], rel=FINE)
    assert every_iterate.mu(**run) == pytest.approx(want["mu_all"], rel=FINE)


@pytest.mark.parametrize("given, want", cases("feedback-optimum"), ids=str)
def test_golden_optima(given, want):
    g = given["gamma_a"]
    best = optimum.value((g,), 1.0)
    assert best["feedback"] == pytest.approx(want["lam"], rel=FINE)
    assert best["equal_privacy_variance"] == pytest.approx(want["optimum"], rel=FINE)
    assert optimum.variance_at_equal_privacy((g,), 1.0, 0.0) == pytest.approx(want["independent"], rel=FINE)
    assert optimum.variance_at_equal_privacy((g,), 1.0, 1 - g) == pytest.approx(want["full_cancel_r"], rel=FINE)
    assert optimum.least_of_all_filters(g, 1.0) == pytest.approx(want["all_filters"], rel=FINE)


@pytest.mark.parametrize("given, want", cases("feedback-prefix"), ids=str)
def test_golden_prefix_sums(given, want):
    assert optimum_finite.value((0.0,), 1.0, given["n"])["feedback"] == pytest.approx(want["lam_max"], rel=FINE)
    assert optimum_finite.mean_coefficient(given["n"]) == pytest.approx(want["lam_mean"], rel=FINE)


def test_a_spectrum():
    """Over γa = .1, .01, .001, .0001 the best one leaves 150.14 where independent noise leaves 5556."""
    spectrum = (0.1, 0.01, 0.001, 0.0001)
    best = optimum.value(spectrum, 1.0)
    assert (round(best["feedback"], 6), round(best["equal_privacy_variance"], 2)) == (0.973332, 150.14)
    assert round(optimum.variance_at_equal_privacy(spectrum, 1.0, 0.0), 1) == 5556.0


# --- a short run, written out ----------------------------------------------------------------------------------------


def drawn(rng):
    """r = 1 − γa of a few modes, λ, T, and the steps that use the record."""
    steps = rng.randint(1, 9)
    modes = [rng.choice((1.0, 0.0, rng.uniform(-0.95, 1))) for _ in range(rng.choice((1, 1, 2, 3)))]
    lam = rng.choice((0.0, 1.0, rng.random()))
    return modes, lam, steps, tuple(sorted(rng.sample(range(1, steps + 1), rng.randint(1, steps))))


def noise_matrix(lam, steps):
    """Row t is the noise that step t adds, η_t − λη_{t−1}."""
    return np.eye(steps) - lam * np.eye(steps, k=-1)


def run_of(modes, lam, steps, uses):
    return {"curvatures": tuple(1 - r for r in modes), "feedback": lam, "learning_rate": 1.0, "sigma": 1.0,
            "iterations": steps, "lipschitz": 0.5, "uses": uses}


def test_the_variance_of_the_last_iterate():
    rng = random.Random(1)
    for _ in range(300):
        (r, *_), lam, steps, _ = drawn(rng)
        decay = r ** np.arange(steps - 1, -1, -1.0)
        want = float(((noise_matrix(lam, steps).T @ decay) ** 2).sum())
        assert with_feedback.variance(1 - r, 1.0, 1.5, steps, lam) == pytest.approx(1.5**2 * want, rel=1e-12)
        plain = float((decay**2).sum())
        assert without_feedback.variance(1 - r, 1.0, 1.5, steps) == pytest.approx(1.5**2 * plain, rel=1e-12)


def test_no_changes_of_the_gradients_move_the_last_iterate_further():
    """The largest distance over many changes of norm 1 is at most μ, and it is μ for one use, or one mode."""
    rng, directions = random.Random(2), np.random.default_rng(2)
    for _ in range(150):
        modes, lam, steps, uses = drawn(rng)
        mu = with_feedback.mu(**run_of(modes, lam, steps, uses))
        spreads = [sqrt(with_feedback.variance(1 - r, 1.0, 1.0, steps, lam)) for r in modes]
        scaled = np.array([[r ** (steps - i) / s for r, s in zip(modes, spreads, strict=True)] for i in uses])
        changes = directions.standard_normal((200, *scaled.shape))
        changes /= np.linalg.norm(changes, axis=2, keepdims=True)
        aligned = np.array([np.sign(scaled) * np.eye(len(modes))[j] for j in range(len(modes))])
        moved = np.linalg.norm((scaled * np.concatenate([changes, aligned])).sum(axis=1), axis=1).max()
        assert moved <= mu * (1 + 1e-12)
        if len(uses) == 1 or len(modes) == 1:
            assert moved == pytest.approx(mu, rel=1e-12)


def test_every_iterate_is_the_length_of_the_columns():
    """C = (1 − λz)^{−1} is the inverse of the noise matrix; the columns of the uses add up."""
    rng = random.Random(3)
    for _ in range(300):
        _, lam, steps, uses = drawn(rng)
        column = np.linalg.inv(noise_matrix(lam, steps))[:, [i - 1 for i in uses]].sum(axis=1)
        run = run_of([1.0], lam, steps, uses)
        del run["curvatures"]
        assert every_iterate.mu(**run) == pytest.approx(float(np.linalg.norm(column)), rel=1e-12)


def test_the_first_step_is_the_worst_of_every_iterate_and_the_last_of_the_last_one():
    rng = random.Random(4)
    for _ in range(50):
        modes, lam, steps, _ = drawn(rng)
        run = run_of(modes, lam, steps, ())
        last = [with_feedback.mu(**{**run, "uses": (i,)}) for i in range(1, steps + 1)]
        del run["curvatures"]
        every = [every_iterate.mu(**{**run, "uses": (i,)}) for i in range(1, steps + 1)]
        assert last[-1] == max(last) and every[0] == max(every)
        assert all(a <= b * (1 + 1e-15) for a, b in zip(last, every, strict=True))  # the last one is among them


def test_every_subset_of_the_uses_loses_less():
    rng = random.Random(5)
    for _ in range(20):
        modes, lam, steps, uses = drawn(rng)
        run = run_of(modes, lam, steps, uses)
        whole = {f: f(**own(f, run)) for f in (with_feedback.mu, every_iterate.mu)}
        for k in range(1, len(uses)):
            for some in combinations(uses, k):
                assert all(f(**own(f, {**run, "uses": some})) <= mu * (1 + 1e-14) for f, mu in whole.items())


def own(function, run):
    return run if function == with_feedback.mu else {k: v for k, v in run.items() if k != "curvatures"}


# --- digits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 1000, 10**12])
def test_the_variance_keeps_its_digits(steps, mp):
    """Where r is near the coefficient, near 0 and near −1, too; and without feedback."""
    for g in (0.0, 1e-15, 1e-12, 1e-9, 1e-6, 0.07, 0.25, 0.3, 1.0, 1.999999, 2 - 1e-12):
        want = without_feedback.exact_variance(mp, g, 1.0, 2.0, steps)
        assert abs(without_feedback.variance(g, 1.0, 2.0, steps) / want - 1) < 2e-15
        for lam in (0.0, 1e-9, 0.75, 1 - 1e-9, 1 - 1e-15, 1.0):
            want = with_feedback.exact_variance(mp, g, 1.0, 2.0, steps, lam)
            assert abs(with_feedback.variance(g, 1.0, 2.0, steps, lam) / want - 1) < 2e-15, (g, lam)


@pytest.mark.parametrize("lam", [0.0, 5e-324, 0.5, 1 - 1e-15, 1.0])
def test_a_trillion_steps_of_every_iterate(lam, mp):
    steps, uses = 10**12, (1, 2, 10**6, 10**12)
    exact = mp.mpf(lam)

    def product(i, j):
        """Of two columns of C."""
        left = steps - max(i, j) + 1
        return exact ** abs(i - j) * (left if lam == 1 else (1 - exact ** (2 * left)) / (1 - exact**2))

    want = sum(product(i, j) for i in uses for j in uses)
    assert abs(every_iterate.square_sum(lam, steps, uses) / want - 1) < 1e-15


def test_many_uses_of_the_last_iterate(mp):
    """The sum of a thousand decays, which runs over in logarithms."""
    run = {"curvatures": (0.01,), "feedback": 0.5, "learning_rate": 1.0, "sigma": 3.0, "iterations": 10**6,
           "lipschitz": 7.0, "uses": tuple(range(1, 10**6, 1000))}
    want = with_feedback.exact_mu(mp, **run)
    assert want <= with_feedback.mu(**run) <= want * (1 + 1e-13)


# --- the best coefficient --------------------------------------------------------------------------------------------


def test_no_other_coefficient_leaves_less():
    rng = random.Random(6)
    for _ in range(100):
        spectrum = tuple(rng.choice((rng.uniform(0.01, 1.9), 10 ** rng.uniform(-6, 0))) for _ in range(rng.randint(1, 3)))
        best = optimum.value(spectrum, 1.0)
        at = optimum.variance_at_equal_privacy(spectrum, 1.0, best["feedback"])
        assert at == pytest.approx(best["equal_privacy_variance"], rel=1e-12)
        others = [rng.random(), best["feedback"] * 0.999, best["feedback"] + 1e-3 * (1 - best["feedback"]), 0.0]
        assert all(optimum.variance_at_equal_privacy(spectrum, 1.0, lam) >= at * (1 - 1e-12) for lam in others)
        if len(spectrum) == 1:
            filtered = optimum.least_of_all_filters(spectrum[0], 1.0)
            assert 1 - 1e-12 <= filtered <= at * (1 + 1e-12)


def test_no_other_coefficient_leaves_less_after_some_steps():
    rng = random.Random(7)
    for _ in range(100):
        spectrum = tuple(rng.choice((0.0, rng.random(), 10 ** rng.uniform(-6, 0))) for _ in range(rng.randint(1, 3)))
        steps = rng.choice((1, 2, 50, 10**6))
        best = optimum_finite.value(spectrum, 1.0, steps)

        def left(lam, spectrum=spectrum, steps=steps):
            return sum(with_feedback.variance(a, 1.0, 1.0, steps, lam) for a in spectrum) / (1 - lam**2)

        assert left(best["feedback"]) == pytest.approx(best["equal_privacy_variance"], rel=1e-9)
        assert all(left(lam) >= best["equal_privacy_variance"] * (1 - 1e-12) for lam in (0.0, rng.random(), 0.999))


def test_a_long_run_is_the_limit():
    for spectrum in ((0.01,), (0.5, 0.02)):
        long, after = optimum.value(spectrum, 1.0), optimum_finite.value(spectrum, 1.0, 10**5)
        assert long == pytest.approx(after, rel=1e-13)


def test_curvatures_beyond_the_step_size_have_nothing_to_take_back():
    assert optimum.value((1.5,), 1.0) == {"feedback": 0.0, "equal_privacy_variance": pytest.approx(1 / 0.75)}
    with pytest.raises(OutOfScope):
        optimum.value((0.0,), 1.0)
    with pytest.raises(OutOfScope):
        optimum_finite.value((1.5,), 1.0, 10)


def test_without_bound_for_full_feedback():
    assert optimum.variance_at_equal_privacy((0.1,), 1.0, 1.0) == inf == optimum.least_of_all_filters(0.0, 1.0)


@pytest.mark.parametrize("r", [0.0, 0.5, 0.99, 0.999999])
def test_the_best_filter_is_the_elliptic_integral(r, mp):
    with mpmath.workdps(30):
        want = (2 * mpmath.ellipk(mpmath.mpf(1 - (1 - r)) ** 2) / mpmath.pi) ** 2
    assert optimum.least_of_all_filters(1 - r, 1.0) == pytest.approx(float(want), rel=1e-9)


# --- several curvatures of the last iterate --------------------------------------------------------------------------


def test_full_feedback_is_within_a_factor_of_two_and_independent_noise_is_not():
    spectrum, steps = (0.1, 0.01, 0.001, 0.0001), 10**7
    for lam, total in ((1.0, 4.058), (0.0, 1055.6)):
        modes = [with_feedback.variance(a, 1.0, 1.0, steps, lam) for a in spectrum]
        mu = with_feedback.mu(spectrum, 1.0, 1.0, steps, 0.5, (steps,), feedback=lam)
        assert sum(modes) * mu**2 == pytest.approx(total, rel=1e-4)
        assert (max(modes) * mu**2 <= 2) == (lam == 1)
