"""Burn-in of noisy SGD: its pieces against their definitions, and proven bounds above computed losses."""

import json
import random
from math import exp, log
from statistics import median

import mpmath
import pytest
from burn_in_runs import RUN, answer, iteration_params, own, upper
from conftest import slow, spread
from paths import GOLDEN

from dpcalc.bounds.noisy_sgd import burn_in_profile, burn_in_rdp, composition, iteration, lower_bound
from dpcalc.bounds.noisy_sgd._engine import contraction, sampled_step, taut
from dpcalc.core.errors import OutOfScope

INSTANCES = json.loads((GOLDEN / "burn_in_instances.json").read_text())["instances"]
mp = mpmath.mp.clone()
mp.dps = 25


# --- one step -------------------------------------------------------------------------------------------------------


def theta(epsilon, r):
    return (mp.erfc((epsilon / r - r / 2) / mp.sqrt(2)) - mp.exp(epsilon)
            * mp.erfc((epsilon / r + r / 2) / mp.sqrt(2))) / 2


@spread("alpha, q, z", [(2, 0.01, 1.0), (8, 0.1, 2.0), slow(1.5, 0.5, 0.7), (1.1, 0.003, 3.0)])
def test_step_is_the_integral_of_its_profile(alpha, q, z):
    """The printed integral over γ = e^l, not the rearranged one that is evaluated."""
    a, q = mp.mpf(alpha), mp.mpf(q)
    total = mp.quad(lambda x: (mp.exp(x * (a - 1)) + mp.exp(-x * a)) * q
                    * theta(mp.log((mp.expm1(x) + q) / q), 1 / mp.mpf(z)),
                    [0, 0.01, 0.1, 0.5, 1, 2, 4, 8, 16, 30])
    want = float(mp.log1p(a * (a - 1) * total) / (a - 1))
    assert want <= sampled_step.value(alpha, float(q), z) <= want * (1 + 1e-9)


def test_step_laws():
    """Also at the ends of the domain: a larger order, rate or push never loses less."""
    rng = random.Random(5)
    drawn = [(1 + 10 ** rng.uniform(-3, 2.7), 10 ** rng.uniform(-12, 0), 10 ** rng.uniform(-2, 6)) for _ in range(100)]
    ends = [(9e9, 1e-6, 1e4), (1 + 1e-9, 0.3, 1e6), (1e4, 1e-12, 0.01), (1.0001, 1e-12, 0.01), (5.0, 1e-12, 1e6)]
    for alpha, q, z in drawn + ends:
        here, more = sampled_step.value(alpha, q, z), rng.uniform(1, 3)
        assert 0 < here <= alpha / (2 * z * z) * (1 + 1e-15)
        for worse in (sampled_step.value(alpha * more, q, z), sampled_step.value(alpha, min(1.0, q * more), z),
                      sampled_step.value(alpha, q, z / more)):
            assert here <= worse * (1 + 1e-10), (alpha, q, z, more)


@pytest.mark.parametrize("g, r", [(0.0, 7), (0.3, 5), (1e-3, 12)])
def test_weights_are_the_least_sum_of_squares(g, r):
    """Any a with Σ c^{R−k}a_k = c^R undoes a unit shift; none has a smaller Σ a_k² than w(R)."""
    rng, c = random.Random(1), 1 - g
    least = contraction.weight(g, r)
    for _ in range(200):
        a = [rng.gauss(c ** (r - k), 0.3) for k in range(1, r + 1)]
        scale = c**r / sum(x * c ** (r - k) for k, x in enumerate(a, 1))
        assert sum((x * scale) ** 2 for x in a) >= least * (1 - 1e-12)
    best = [c ** (r - k) for k in range(1, r + 1)]
    scale = c**r / sum(x * x for x in best)
    assert sum((x * scale) ** 2 for x in best) == pytest.approx(least, rel=1e-12)


# --- above every computed loss --------------------------------------------------------------------------------------


def run_of(argv):
    said = dict(zip(argv[1::2], argv[2::2], strict=True))
    names = {"iterations": "--steps", **{k: "--" + k.replace("_", "-") for k in RUN if k != "iterations"}}
    whole = {"n", "batch_size", "iterations"}
    return float(said["--alpha"]), {k: (int if k in whole else float)(said.get(o, 0)) for k, o in names.items()}


@spread("case", INSTANCES, ids=lambda c: c["id"])
def test_instances_lie_below_the_bound(case):
    alpha, run = run_of(case["argv"])
    assert upper(alpha, run) >= case["true"] * (1 - 1e-9)
    assert composition.value(alpha, **own(composition.BOUND, run)) >= case["true"] * (1 - 1e-9)
    assert 0.7 * case["true"] <= lower_bound.rdp(alpha, **run) <= upper(alpha, run) * (1 + 1e-9)


def random_run(rng):
    n = rng.choice((1, 2, 10, 100, 10**4, 10**6))
    b = max(1, min(n, round(exp(rng.uniform(0, log(n) + 0.1)))))
    width, beta = exp(rng.uniform(log(0.3), log(40))), exp(rng.uniform(-4, 1))
    sigma, eta = exp(rng.uniform(log(0.1), log(10))) / b, rng.uniform(0.05, 1) * 2 / beta
    diameter = width * eta * sigma
    rho = rng.choice((0.0, 0.0, min(beta, 2 / diameter) * rng.random()))
    return {"n": n, "batch_size": b, "iterations": rng.choice((1, 2, 5, 30, 300, 10**4, 10**7)), "lipschitz": 1.0,
            "smoothness": beta,
            "strong_convexity": rho, "learning_rate": eta, "diameter": diameter, "sigma": sigma}


@pytest.mark.parametrize("runs", [8, slow(200)])
def test_upper_is_above_lower_on_random_runs(runs):
    rng, ratios = random.Random(2022), []
    for _ in range(runs):
        run, alpha = random_run(rng), 1 + exp(rng.uniform(-2, 3))
        low, high = lower_bound.rdp(alpha, **run), upper(alpha, run)
        assert low <= high * (1 + 1e-9), (alpha, run)
        if run["n"] == run["batch_size"]:
            full = iteration_params(run)
            assert low <= iteration.BOUND.rdp(alpha, **full, **iteration.search(**full)) * (1 + 1e-9), (alpha, run)
        if low > 0:
            ratios.append(high / low)
    assert len(ratios) > 0.95 * runs and min(ratios) >= 1 and (runs < 200 or median(ratios) < 20)


@pytest.mark.parametrize("runs", [5, slow(12)])
def test_epsilon_and_delta_are_above_the_computed_ones(runs):
    rng = random.Random(7)
    for _ in range(runs):
        run = random_run(rng)
        run["iterations"] = min(run["iterations"], 300)
        try:
            witness = burn_in_profile.search(log_delta=log(1e-4), **run)
            high = burn_in_profile.inverse(log(1e-4), **run, **witness)
        except OutOfScope:
            continue
        assert lower_bound.inverse(log(1e-4), **run) <= high * (1 + 1e-9)
        if 0.01 < high < 50:
            assert lower_bound.value(high / 2, **run) <= burn_in_profile.value(high / 2, **run, **witness)


@pytest.mark.parametrize("change", [*map(slow, ({}, {"iterations": 10**6}, {"iterations": 10**12}, {"batch_size": 60000})),
                                    slow({"n": 1000, "batch_size": 10, "learning_rate": 0.5, "diameter": 1.0, "sigma": 1.0,
                                          "strong_convexity": 0.1}),
                                    {"n": 1000, "batch_size": 10, "sigma": 1.0, "learning_rate": 0.2, "diameter": 1.0}],
                         ids=str)
def test_profile_is_below_rdp(change):
    said = {k.replace("iterations", "steps"): repr(v) for k, v in {**RUN, **change}.items()}
    rows = {(row.route.bound.name, row.route.conversion and row.route.conversion.name): row.result["epsilon"]
            for row in answer(**said, delta="1e-5").rows}
    assert rows["lower-bound", None] <= rows["burn-in-profile", None] <= min(v for (name, _),
                                                                             v in rows.items() if name == "burn-in-rdp")
    if ("composition-profile", None) in rows:
        assert rows["composition-profile", None] <= rows["composition", "rdp-optimal"]
        assert rows["burn-in-profile", None] <= rows["composition-profile", None] * (1 + 2e-3)


def test_optimum_is_not_missed():
    """The searched R and split against a dense grid."""
    for change in ({}, {"strong_convexity": 0.02}, {"sigma": 0.02},
                   {"iterations": 3000, "n": 1000, "batch_size": 10, "diameter": 0.02}):
        run = {**RUN, **change}
        grid = min(burn_in_rdp.value(6.0, **run, r=r, sigma1=run["sigma"] * share)
                   for share in (0.1 * k for k in range(1, 10))
                   for r in {max(1, min(run["iterations"], round(10 ** (k / 10)))) for k in range(120)})
        assert upper(6.0, run) <= grid * (1 + 1e-6)


# --- amplification by iteration -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.5, 0.1, 1e-3, 1e-9])
@pytest.mark.parametrize("steps", [1, 2, 37, 10**4, 10**12])
def test_iteration_is_the_closed_form_on_full_batches(gap, steps):
    n, sigma = 1000, 0.5
    p = iteration_params({"batch_size": n, "iterations": steps, "lipschitz": 1.0, "smoothness": 1.0,
                          "strong_convexity": gap, "learning_rate": 1.0,
                          "diameter": 1e9, "sigma": sigma})
    c = 1 - mp.mpf(gap)
    want = 2 / (n * mp.mpf(sigma)) * mp.sqrt((1 - c**steps) / (1 + c**steps) * (1 + c) / (1 - c))
    got = iteration.mu(**p, **iteration.search(**p))
    assert want <= got <= want * (1 + 1e-11)


def test_iteration_stops_growing_after_the_horizon():
    """c = 1: μ = 2√(Ds)/(ησ), s = 2ηL/n, reached after D/s steps."""
    run = {**RUN, "batch_size": 60000, "sigma": 0.1}
    end = [iteration.search(**iteration_params({**run, "iterations": t}))["r"] for t in (10**6, 10**7, 10**12)]
    push = 2 * 0.05 / 60000
    assert end == [10**6, round(2 / push), round(2 / push)]
    p = iteration_params({**run, "iterations": 10**12})
    assert iteration.mu(**p, r=end[1]) == pytest.approx(2 * (2 * push) ** 0.5 / (0.05 * 0.1), rel=1e-11)


@pytest.mark.parametrize("runs", [20, slow(200)])
def test_no_shift_schedule_beats_the_hull(runs):
    """Random feasible a_k (each step absorbs a share of the shift, the last one all of it) cost at least the hull."""
    rng = random.Random(3)
    for _ in range(runs):
        steps = [(rng.uniform(0.1, 3), rng.choice((0.0, rng.uniform(0, 2))), rng.uniform(0.5, 1))
                 for _ in range(rng.randint(1, 12))]
        factor, backwards = 1.0, []
        for noise, push, c in reversed(steps):
            backwards.append((factor * noise**2 * factor, factor * push, 0.0, len(backwards) == len(steps) - 1))
            factor *= c
        least, _ = taut.least(backwards)
        for _ in range(30):
            z = cost = 0.0
            for k, (noise, push, c) in enumerate(steps):
                z = c * z + push
                a = z if k == len(steps) - 1 else z * rng.random()
                z -= a
                cost += (a / noise) ** 2
            assert cost >= least * (1 - 1e-9)


# --- the hull --------------------------------------------------------------------------------------------------------


def walked(steps, noise, push):
    """What the hull costs with such a step before it, merged segment by segment."""
    later = list(steps)
    while later and push * later[-1][0] >= later[-1][1] * noise:
        n, p, _ = later.pop()
        noise, push = noise + n, push + p
    return (later[-1][2] if later else 0) + push * push / noise


@pytest.mark.parametrize("seed", range(6))
def test_the_cost_of_a_hull_of_many_segments_is_that_of_merging_them_one_by_one(seed):
    """A long push before all of 5,000 falling ones."""
    draw, hull = random.Random(seed), taut.Hull()
    for k in range(5000):
        hull.put(*((draw.random() + 0.1, draw.random() * 0.99**k) if seed % 2 else (1.0, 1 / (k + 1))))
        if k % 100 == 99:
            noise, push = draw.random() + 0.1, draw.choice([0.0, 1e-9, 1.0, 100.0]) * draw.random()
            assert hull.cost(noise, push) == pytest.approx(walked(hull.segments, noise, push), rel=1e-12)
    assert seed % 2 or len(hull.segments) == 5000
