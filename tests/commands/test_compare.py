"""dpcalc compare: its numbers against the commands it asks and against small computations of its own; units;
solving."""

import json
import shlex
from math import comb, erf, expm1, log1p, pi, sqrt

import mpmath
import pytest
from compare_runs import RUNS, compare, full
from conftest import slow
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcalc.commands.compare import COMMAND
from dpcalc.commands.interpretations import INTERPRETATIONS
from dpcalc.commands.training_run import describe
from dpcalc.core.errors import NoSolution
from dpcalc.core.validate import validate


def theta(epsilon, mu):
    """δ of μ-GDP, at 40 digits."""
    with mpmath.workdps(40):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


# --- the numbers are those of the commands ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name if name == "full" else slow(name) for name in RUNS])
def test_every_row_is_what_its_command_line_prints(name):
    """Run in this process by the same parser of options as a shell's call."""
    from dpcalc.cli.app import load

    answer = full(**RUNS[name])
    assert answer["bounds"] and answer["result"]["epsilon"] == answer["bounds"][0]["epsilon"]
    for row in answer["bounds"]:
        _, command, *words = shlex.split(row["command"])
        text, code = load(command).run([*words, "--json"])
        alone = json.loads(text)
        assert code == 0 and alone["bound"] == row["name"]
        assert alone["result"]["epsilon"] == row["epsilon"]
        assert (alone["adjacency"] == row["adjacency"]) or alone["command"] == "rdp"
        assert 0 <= row["tv"] <= 1 and row["status"] == "proven"


def test_through_the_shell(ask):
    line = "--n 1000 --batches full --steps 500 --sigma .02 --clipping-norm 1 --delta 1e-5"
    answer = ask("compare", *line.split())
    for row in answer["bounds"][:1]:
        assert ask(*shlex.split(row["command"])[1:])["result"]["epsilon"] == row["epsilon"]


@pytest.mark.parametrize("name", [name if name in ("poisson", "full") else slow(name) for name in RUNS])
def test_the_headline_is_the_least_of_its_neighbours(name):
    answer = full(**RUNS[name])
    own = [row["epsilon"] for row in answer["bounds"] if row["adjacency"] == answer["adjacency"]]
    assert answer["bounds"][0]["adjacency"] == answer["adjacency"]
    assert answer["result"]["epsilon"] == min(own) == own[0]
    assert own == sorted(own)
    listed = {row["name"] for row in answer["bounds"]} | {x["name"] for x in answer["not_applicable"]}
    assert listed == {b for r in INTERPRETATIONS for b in r.bounds}


@pytest.mark.slow
def test_total_variation_is_delta_at_zero():
    for name in ("without-replacement", "shuffled", "full"):
        at_zero = {(row.route.bound.name, row.context["adjacency"]): row.result["delta"]
                   for row in compare(**RUNS[name], epsilon="0").rows}
        for row in full(**RUNS[name])["bounds"]:
            assert row["tv"] == pytest.approx(at_zero[row["name"], row["adjacency"]], rel=1e-5)


# --- units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency, factor", [("replace-one", 2), ("add-remove", 1)])
def test_full_batch_from_the_closed_form(adjacency, factor):
    """T steps of noise σ on a mean of n gradients below L, one of them replaced (2L/n) or removed (L/n): μ =
    √T·2L/(nσ)."""
    n, steps, sigma, lipschitz = 1000, 37, 0.03, 1.7
    said = {"n": n, "batches": "full", "steps": steps, "sigma": sigma, "lipschitz": lipschitz, "adjacency": adjacency}
    mu = sqrt(steps) * factor * lipschitz / (n * sigma)
    found = compare(**said, epsilon="1")
    assert found.headline.result["delta"] == pytest.approx(float(theta(1, mu)), rel=1e-12)
    assert found.headline.result["tv"] == pytest.approx(erf(mu / (2 * sqrt(2))), rel=1e-12)


@pytest.mark.parametrize("batches, uses", [("shuffled", 3), ("fixed-order", 3), ("stream", 1)])
def test_ordered_batches_count_their_uses(batches, uses):
    """A record is in one batch of a pass: μ = √E·2L/(bσ), whatever the order."""
    said = {"n": "105", "batches": batches, "batch_size": "10", "sigma": ".5", "clipping_norm": "2",
            "epochs": None if uses == 1 else uses,
            "adjacency": "replace-one", **({"reshuffle": "once"} if batches == "shuffled" else {})}
    found = compare(**said, epsilon=".5")
    assert found.headline.result["delta"] == pytest.approx(float(theta(0.5, sqrt(uses) * 4 / 5)), rel=1e-12)
    assert found.extra["steps"] == (11 if batches == "shuffled" else 10) * uses  # where all 105 records are used


def test_one_batch_of_each_kind_from_the_definition():
    """One step: θ with its batch amplified, δ(ε) = q·θ(log(1 + (e^ε − 1)/q), s/σ), with s = L/b, or 2L/b where a batch
    of fixed size has a record replaced."""
    n, b, sigma, epsilon = 40, 10, 0.3, 0.7
    q = b / n
    said = {"n": n, "batch_size": b, "steps": 1, "sigma": sigma, "clipping_norm": "1", "epsilon": str(epsilon)}
    amplified = log1p(expm1(epsilon) / q)
    for batches, s in (("poisson", 1 / b), ("without-replacement", 2 / b)):
        found = compare(**said, batches=batches).headline.result["delta"]
        assert found == pytest.approx(q * float(theta(amplified, s / sigma)), rel=1e-10)


@pytest.mark.slow
def test_shuffled_batches_are_records_of_a_smaller_set():
    """δ <= (1/N) Σ_m θ(ε, (2L/(bσ))/√(m+1)) over the N batches of a pass, by hand; the rest of the records is not
    used."""
    run = {**RUNS["shuffled"], "n": "31", "diameter": None, "delta": None, "epsilon": "1"}
    by_hand = sum(theta(1, 2 / 3 / 0.5 / sqrt(m + 1)) for m in range(10)) / 10
    rows = {row["name"]: row["delta"] for row in full(**run)["bounds"]}
    assert rows["shuffled-iteration"] == pytest.approx(float(by_hand), rel=1e-9)


def linear_loss(run, epsilon):
    """δ of one concrete run: linear losses on the line, the record's of slope +L or −L, the others' 0; the last iterate
    alone."""
    import numpy as np

    b, t, sigma = int(run.batch_size), run.steps, float(run.sigma)
    used = [1.0 if k == run.uses else 0.0 for k in range(t + 1)]
    if run.batches == "without-replacement":
        q = b / run.n
        used = [comb(t, k) * q**k * (1 - q) ** (t - k) for k in range(t + 1)]
    x, width = np.linspace(-30, 30, 200_001, retstep=True)
    shift = run.lipschitz / (b * sigma * sqrt(t))  # in standard deviations of the noise in the iterate
    p, r = (sum(w * np.exp(-((x - sign * k * shift) ** 2) / 2) for k, w in enumerate(used) if w > 1e-15)
            for sign in (1, -1))
    return float(np.maximum(p - np.exp(epsilon) * r, 0).sum() * width / sqrt(2 * pi))


@pytest.mark.parametrize("batches", ["without-replacement", slow("shuffled"), "fixed-order", "stream", "full"])
def test_no_guarantee_is_below_a_concrete_run(batches):
    said = {"n": "40", "batches": batches, "batch_size": "40" if batches == "full" else "4", "sigma": ".6",
            "lipschitz": "1.5",
            "loss": "convex", "smoothness": "0", "learning_rate": ".3", "release": "last-iterate", "epsilon": ".4",
            "epochs": None if batches == "stream" else "2" if batches != "full" else "20"}
    answer = compare(**said)
    run = describe({**validate(COMMAND, {k: v for k, v in said.items() if v is not None}).values})
    least = linear_loss(run, 0.4)
    assert least > 1e-6
    for row in answer.rows:
        if row.context["adjacency"] == "replace-one":
            assert row.result["delta"] >= least * (1 - 1e-6), row.route.bound.name
    if batches == "full":  # composition is exact there
        assert answer.value == pytest.approx(least, rel=1e-6)


def test_noise_multiplier_is_noise_on_the_sum_over_the_norm():
    run = {**RUNS["poisson"], "bound": ("poisson-rdp",)}
    by_sigma = {**run, "noise_multiplier": None, "sigma": repr(1.1 * 3 / 256), "clipping_norm": "3"}
    one = compare(**run)
    assert one.extra["noise_multiplier"] == pytest.approx(1.1, rel=1e-15)
    assert compare(**by_sigma).value == pytest.approx(one.value, rel=1e-12)
    assert compare(**{**run, "clipping_norm": "7"}).value == pytest.approx(one.value, rel=1e-12)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(scale=st.floats(1e-3, 1e3), name=st.sampled_from(["full", "shuffled", "stream"]))
def test_units_of_the_gradient_do_not_matter(scale, name):
    """Gradients, noise and curvature in other units, distances in those of the learning rate: the same ε."""
    run = RUNS[name]
    other = {**run, "sigma": repr(float(run["sigma"]) * scale), "lipschitz": repr(scale),
             "learning_rate": repr(0.05 / scale),
             "smoothness": repr(scale)}
    assert compare(**other).value == pytest.approx(compare(**run).value, rel=1e-6)


def test_without_a_set_the_distance_two_runs_reach_takes_its_place():
    """Strongly convex, full batches: the closed form of Bok, Su & Altschuler 2024 needs no diameter."""
    n, steps, sigma, c = 1000, 200, 0.02, 1 - 0.5 * 0.1
    run = {"n": n, "batches": "full", "steps": steps, "sigma": sigma, "lipschitz": 1, "smoothness": 1,
           "strong_convexity": ".1",
           "learning_rate": ".5", "release": "last-iterate", "epsilon": "1"}
    mu = 2 / (n * sigma) * sqrt((1 - c**steps) / (1 + c**steps) * (1 + c) / (1 - c))
    assert compare(**run).headline.result["delta"] == pytest.approx(float(theta(1, mu)), rel=1e-4)
    assert compare(**run).headline.result["delta"] >= float(theta(1, mu))
    assert compare(**run, diameter="1e9").value <= compare(**run).value * (1 + 1e-12)


# --- solving ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, budget",
                         [slow("shuffled", 1), slow("fixed order", 2), ("stream", 1), slow("full", 3), slow("poisson", 1)])
def test_the_least_noise(name, budget):
    run = {k: v for k, v in RUNS[name].items() if k not in ("sigma", "noise_multiplier")}
    solved = compare(**run, epsilon=str(budget), delta="1e-5", solve="sigma")
    rows = {row.route.bound.name: row.result["sigma"] for row in solved.rows}
    assert solved.value == min(rows.values())
    again = compare(**run, sigma=repr(solved.value), bound=(solved.headline.route.bound.name,))
    assert again.value <= budget
    assert compare(**run, sigma=repr(solved.value * (1 - 1e-6))).value > budget * (1 - 3e-3)
    assert solved.extra["tv"] == pytest.approx(again.headline.result["tv"], rel=1e-9)


def test_a_budget_that_no_noise_meets():
    with pytest.raises(NoSolution):
        compare(**{**RUNS["full"], "sigma": None}, epsilon="1", delta="0", solve="sigma")
