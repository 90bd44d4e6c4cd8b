"""Noisy SGD on smooth losses that need not be convex: the last iterate of many passes; and runs without a constraint
set."""

import random
from functools import partial
from math import exp, sqrt

import numpy as np
import pytest
from burn_in_runs import answer
from calling import call
from conftest import slow, spread
from scipy.optimize import minimize

from dpcalc.bounds import all_bounds
from dpcalc.bounds.noisy_sgd import nonconvex
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.core.errors import DpcalcError

PASSES = {"n": "1e4", "batch_size": "100", "steps": "1e4", "lipschitz": "1", "smoothness": "1", "learning_rate": ".001",
          "sigma": "1", "delta": "1e-5"}
LONG = {"n": "60000", "batch_size": "128", "steps": "1e7", "lipschitz": "1", "smoothness": "1e-5",
        "learning_rate": ".05", "diameter": "2", "sigma": ".1",
        "delta": "1e-5"}
BOUNDS = all_bounds()


def a_run(rng, steps):
    period = rng.choice((1, 2, 7))
    return {"batch_size": rng.randint(1, 5), "iterations": steps, "lipschitz": exp(rng.uniform(-1, 1)),
            "smoothness": exp(rng.uniform(-4, 1)),
            "learning_rate": exp(rng.uniform(-4, 0)), "diameter": exp(rng.uniform(-3, 3)),
            "sigma": exp(rng.uniform(-1, 2)), "period": period,
            "last": rng.randint(1, period)}


def distances(pushes, c, z, a):
    """After each step that undoes a part of what is pushed."""
    found = []
    for push, undone in zip(pushes, a, strict=True):
        z = c * z + push - undone
        found.append(z)
    return np.array(found)


def best(run):
    bound = nonconvex.ITERATION
    return bound.mu.mu(**run, **bound.choices.search(**run))


def test_a_hundred_passes():
    """Every use composed is ε = .7255; convex losses have .0856."""
    assert answer(**PASSES, order="fixed", loss="any", diameter="1").value == pytest.approx(0.0879376, rel=1e-6)
    assert answer(**PASSES, order="fixed", diameter="1").value == pytest.approx(0.085579, rel=1e-5)


def test_no_shifts_beat_the_hull():
    """A general solver over all a >= 0, without taut.py: Σ a² with every z >= 0, from every start."""
    rng = random.Random(5)
    for _ in range(12):
        run = a_run(rng, rng.randint(2, 7))
        c, push = 1 + run["learning_rate"] * run["smoothness"], 2 * run["lipschitz"] / run["batch_size"] / run["sigma"]
        wide, steps = run["diameter"] / run["learning_rate"] / run["sigma"], run["iterations"]
        pushes = [push * ((steps - k) % run["period"] == run["last"] - 1) for k in range(1, steps + 1)]
        found, z = [], 0.0
        for first in range(steps):
            after = partial(distances, pushes[first:], c, z)
            guess = [c * (z if k == first else 0.0) + pushes[k] for k in range(first, steps)]
            solved = minimize(lambda a: a @ a, guess, jac=lambda a: 2 * a, method="SLSQP",
                              options={"maxiter": 300, "ftol": 1e-14}, constraints=(
                {"type": "ineq", "fun": lambda a, after=after: after(a)[:-1]},
                {"type": "eq", "fun": lambda a, after=after: after(a)[-1]}))
            if solved.success:
                found.append(sqrt(solved.fun))
            z = min(wide, c * z + pushes[first])
        assert best(run) == pytest.approx(min(found), rel=1e-5)


def test_never_above_composition_nor_below_convex_losses():
    rng = random.Random(6)
    for _ in range(300):
        run = a_run(rng, rng.choice((1, 10, 1000, 10**6, 10**12)))
        uses = max(0, (run["iterations"] - run["last"]) // run["period"] + 1)
        push = 2 * run["lipschitz"] / run["batch_size"] / run["sigma"]
        assert best(run) <= push * sqrt(uses) * (1 + 1e-12)
        if run["learning_rate"] * run["smoothness"] <= 2:
            convex = {**run, "strong_convexity": 0.0}
            assert best(run) >= BOUNDS["iteration"].mu.mu(**convex,
                                                          **BOUNDS["iteration"].choices.search(**convex)) * (1 - 1e-12)


@pytest.mark.parametrize("runs", [100, slow(300)])
def test_numbers_of_every_size(runs):
    """Never above composition, for random batches too, and always a number."""
    rng = random.Random(12)
    for _ in range(runs):
        b, period = round(10 ** rng.uniform(0, 9)), round(10 ** rng.uniform(0, 6))
        sizes = {k: 10 ** rng.uniform(-12, 12) for k in ("lipschitz", "learning_rate", "diameter", "sigma")}
        run = {**sizes, "n": b * period, "batch_size": b, "iterations": round(10 ** rng.uniform(0, 15)),
               "period": period, "last": rng.randint(1, period),
               "smoothness": rng.choice((0.0, 10 ** rng.uniform(-300, 12), 10 ** rng.uniform(-6, 2)))}
        uses = max(0, (run["iterations"] - run["last"]) // period + 1)
        composed = 2 * run["lipschitz"] / b / run["sigma"] * sqrt(uses)
        assert 0 <= best({k: run[k] for k in nonconvex.ITERATION.params}) <= composed * (1 + 1e-12)
        own, alpha = {k: run[k] for k in nonconvex.BURN_IN_RDP.params}, 1 + 10 ** rng.uniform(-3, 4)
        value = nonconvex.BURN_IN_RDP.value(alpha, **own, **nonconvex.BURN_IN_RDP.choices.search(alpha=alpha, **own))
        assert 0 <= value <= BOUNDS["composition"].value(alpha, **{k: run[k]
                                                                   for k in BOUNDS["composition"].params}) * (1 + 1e-9)


def test_one_use_is_the_theorem_of_one_pass():
    """Berthier 2019, Theorem 3.6."""
    rng = random.Random(7)
    for _ in range(100):
        n = rng.randint(1, 1000)
        run = {**a_run(rng, n), "batch_size": 1, "period": n, "last": rng.randint(1, n), "diameter": 1e300}
        own = {"level": run["sigma"], "n": n, "index": n - run["last"] + 1,
               **{k: run[k] for k in ("lipschitz", "learning_rate", "smoothness")}}
        assert best(run) == pytest.approx(BOUNDS["smooth-nonconvex-exact"].mu.mu(**own), rel=1e-11)


def test_linear_losses_neither_expand_nor_contract():
    rng = random.Random(8)
    for _ in range(100):
        run = {**a_run(rng, rng.choice((3, 1000))), "smoothness": 0.0}
        convex = {**run, "strong_convexity": 0.0}
        assert best(run) == pytest.approx(BOUNDS["iteration"].mu.mu(**convex,
                                                                    **BOUNDS["iteration"].choices.search(**convex)),
                                          rel=1e-11)


def test_a_schedule_that_is_constant_is_the_closed_form():
    """Where the steps expand beyond every double, too: composition is what is left there."""
    rng = random.Random(9)
    for _ in range(40):
        run = a_run(rng, rng.choice((5, 300)))
        schedule = tuple((run["learning_rate"], run["sigma"],
                          (run["iterations"] - k) % run["period"] == run["last"] - 1)
                         for k in range(1, run["iterations"] + 1))
        own = {**{k: run[k] for k in ("batch_size", "lipschitz", "smoothness", "diameter")}, "schedule": schedule}
        mu = nonconvex.SCHEDULE.mu.mu(**own, **nonconvex.SCHEDULE.choices.search(**own))
        assert mu == pytest.approx(best(run), rel=1e-9)


def test_steps_that_expand_beyond_every_double():
    """c = 3 for 3000 steps. Every use but the last one is undone in the five steps to the next one."""
    steps, gaps = tuple((1.0, 1.0, k % 5 == 4) for k in range(3000)), 1 / sum(9.0**-j for j in range(5))
    own = {"batch_size": 1, "lipschitz": 0.5, "smoothness": 2.0, "diameter": 1e9, "schedule": steps}
    mu = nonconvex.SCHEDULE.mu.mu(**own, **nonconvex.SCHEDULE.choices.search(**own))
    assert mu == pytest.approx(sqrt(1 + 599 * gaps), rel=1e-3)
    assert mu >= sqrt(1 + 599 * gaps) * (1 - 1e-12)
    assert nonconvex.SCHEDULE.mu.mu(**own, r=1) == pytest.approx(sqrt(9) * 1e9, rel=1e-6)


@pytest.mark.slow
def test_random_batches_with_a_small_expansion():
    """Composition has ε = 5.0187; what is not convex by little has nearly what convex losses have."""
    rows = {row.route.bound.name: row.result["epsilon"] for row in answer(**LONG, loss="any").rows
            if not row.route.conversion}
    assert rows["composition-profile"] == pytest.approx(5.01874, rel=2e-3)
    assert rows["burn-in-profile-nonconvex"] == pytest.approx(3.72795, rel=2e-3)
    assert rows["burn-in-profile-nonconvex"] > answer(**LONG, bound=("burn-in-profile",)).value * (1 - 2e-3)
    steep = answer(**{**LONG, "smoothness": "1"}, loss="any")
    assert steep.value <= rows["composition-profile"] * (1 + 2e-3)
    assert {row.route.bound.name for row in steep.rows} >= {"burn-in-profile-nonconvex", "burn-in-rdp-nonconvex",
                                                            "lower-bound"}


def test_steps_of_any_size():
    """A convex loss needs η <= 2/β; without convexity there is no such limit."""
    assert answer(**{**PASSES, "learning_rate": "3"}, order="fixed", loss="any").value > 0
    with pytest.raises(DpcalcError, match=">"):
        answer(**{**PASSES, "learning_rate": "3"}, order="fixed")
    with pytest.raises(DpcalcError, match="no unique solution with --loss any"):
        answer(**{k: v for k, v in PASSES.items() if k != "learning_rate"}, epsilon="1", loss="any",
               solve="learning-rate")


@pytest.mark.parametrize(("order", "budget"), [("fixed", "0.5"), slow("random", "0.5")])
def test_the_noise_of_a_budget(order, budget):
    said = {k: v for k, v in PASSES.items() if k != "sigma"} | {"order": order, "loss": "any"}
    sigma = answer(**said, epsilon=budget, solve="sigma").value
    assert answer(**said, sigma=repr(sigma)).value == pytest.approx(float(budget), rel=2e-3)
    assert answer(**said, sigma=repr(sigma)).value <= float(budget)


@spread("line", [
    "--order fixed --n 60 --batch-size 6 --steps 300 --delta 1e-5",
    "--order fixed --n 60 --batch-size 6 --steps 300 --alpha 4 --index 3",
    "--n 600 --batch-size 6 --steps 300 --delta 1e-5", "--n 6 --batch-size 6 --steps 300 --epsilon 1",
    '--n 6 --batch-size 6 --schedule {"sigma":[2,1,3]} --delta 1e-5'])
def test_verified(line):
    noise = [] if "--schedule" in line else ["--sigma", "2"]
    made = call(["burn-in", *line.split(), *noise, "--lipschitz", "1", "--smoothness", ".5", "--learning-rate", ".1",
                 "--loss", "any", "--json"])
    done = call(["verify", "-"], made.stdout)
    assert made.returncode == done.returncode == 0, made.stderr + done.stderr
    assert "nonconvex" in done.stdout and "not verified" not in done.stdout


# --- no constraint set ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{"order": "fixed"}, slow({}), slow({"strong_convexity": ".5", "steps": "1e6"}),
                                  {"loss": "any", "order": "fixed"}], ids=str)
def test_without_a_set_the_distance_that_runs_can_reach_takes_its_place(more):
    """More of a diameter than that changes nothing; less of it may."""
    said = {**PASSES, **more}
    got = answer(**said)
    distance = got.extra["distance"]
    name = got.rows[0].route.bound.name  # burn-in-contraction needs a set
    with_set = next(row for row in answer(**said, diameter=repr(distance)).rows if row.route.bound.name == name)
    assert got.value == pytest.approx(with_set.result["epsilon"], rel=1e-9)
    assert got.value <= answer(**said, diameter=repr(1e3 * distance)).value * (1 + 1e-9)
    assert "without --diameter" in " ".join(got.notes)
    assert "lower-bound" not in {row.route.bound.name for row in got.rows}


def test_strongly_convex_losses_need_no_set():
    """Altschuler & Talwar 2022, Remark 5.2: a bound that stays where it is however long the run is."""
    said = {**PASSES, "strong_convexity": "1", "learning_rate": ".5"}
    values = [answer(**{**said, "steps": steps}).value for steps in ("1e4", "1e6", "1e12")]
    assert values[2] == pytest.approx(values[1], rel=1e-9) and values[2] < 0.2


def test_the_distance():
    reached = contraction.largest_distance(100, 1.0, 1.0, 0.0, 0.001, 10_000, 100)
    assert 0.002 <= reached <= 0.002 * (1 + 1e-12)
    assert contraction.largest_distance(100, 1.0, 1.0, 1.0, 0.1, 10**9, 10**9) == pytest.approx(0.002 / 0.1)  # 2ηL/b over 1 − c = ηρ
    assert contraction.largest_distance(1, 1.0, 1.0, -1.0, 0.1, 10**6, 10**6) == pytest.approx(2e5)  # 2ηLT
    assert contraction.largest_distance(10, 1.0, 1.0, -1.0, 0.1, 3, 3) == pytest.approx(0.02 * (1 + 1.1 + 1.21))
    schedule = ((0.1, 1.0, True), (0.1, 1.0, False), (0.1, 1.0, True))
    assert contraction.largest_distance_along(schedule, 2, 1.0, 1.0, -1.0) == pytest.approx(0.1 * 1.21 + 0.1)
    assert contraction.largest_distance_along(schedule, 2, 1.0, 1.0, 0.0) == pytest.approx(0.2)


SAID = "--n 1e4 --batch-size 100 --learning-rate .001 --smoothness 1 --lipschitz 1 --sigma 1 --delta 1e-5"
LAST = f"{SAID} --epochs 100 --batches fixed-order --release last-iterate"


@pytest.mark.parametrize("loss", [slow("any"), "convex"])
def test_compare_and_burn_in_agree(loss):
    """One distance for both."""
    alone = call(["burn-in", *f"{SAID} --steps 1e4 --order fixed --loss {loss} -q".split()])
    among = call(["compare", *f"{LAST} --loss {loss} -q".split()])
    assert alone.stdout == among.stdout != "", alone.stderr + among.stderr


@pytest.mark.slow
def test_clipped_gradients_are_covered_by_the_bounds_of_smooth_losses():
    text = call(["compare", *f"{LAST} --clipping-norm .5 --all".split()]).stdout
    assert "iteration-nonconvex" in text and "two runs stay within 10)" in text


# --- the pieces -------------------------------------------------------------------------------------------------------


def test_weights_of_expanding_steps(mp):
    rng = random.Random(10)
    for _ in range(300):
        eta, beta, r = exp(rng.uniform(-40, 2)), exp(rng.uniform(-3, 3)), rng.choice((1, 2, 50, 10**6, 10**12))
        g, exact = contraction.gap(eta, beta, -beta), contraction.exact_gap(mp, eta, beta, -beta)
        assert g <= exact < 0 and g == pytest.approx(float(exact), rel=1e-15)
        for value, true in ((contraction.weight(g, r), contraction.exact_weight(mp, exact, r)),
                            (contraction.reached(g, r, 0.3), contraction.exact_reached(mp, exact, r, mp.mpf(0.3)))):
            assert value >= true and (value == float("inf") or value <= true * (1 + 1e-12))
