"""Burn-in of noisy SGD: its pieces against their definitions, proven bounds above computed losses, errata, and the command."""

import json
import random
from functools import cache
from math import exp, log
from pathlib import Path
from statistics import median
from time import perf_counter

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcalc.bounds.noisy_sgd import (
    as_published,
    burn_in_profile,
    burn_in_rdp,
    composition,
    contraction,
    iteration,
    lower_bound,
    sampled_step,
    taut,
)
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.commands.burn_in import COMMAND
from dpcalc.errors import DpcalcError, OutOfScope
from dpcalc.params import validate

GOLDEN = Path(__file__).parent / "golden"
INSTANCES = json.loads((GOLDEN / "burn_in_instances.json").read_text())["instances"]
MUST_FAIL = json.loads((GOLDEN / "burn_in_must_fail.json").read_text())["cases"]
RUN = {"n": 60000, "batch_size": 128, "iterations": 10**7, "lipschitz": 1.0, "smoothness": 1.0, "strong_convexity": 0.0, "learning_rate": 0.05,
       "diameter": 2.0, "sigma": 0.1}
LINE = {"n": "60000", "batch_size": "128", "steps": "1e7", "lipschitz": "1", "smoothness": "1", "learning_rate": "0.05", "diameter": "2", "sigma": "0.1"}
mp = mpmath.mp.clone()
mp.dps = 25


def answer(**said):
    return COMMAND.answer(validate(COMMAND, {k: v for k, v in said.items() if v is not None}))


def upper(alpha, run):
    return burn_in_rdp.value(alpha, **run, **burn_in_rdp.search(alpha, **run))


def own(bound, run):
    return {k: run[k] for k in bound.params}


# --- one step -------------------------------------------------------------------------------------------------------


def theta(epsilon, r):
    return (mp.erfc((epsilon / r - r / 2) / mp.sqrt(2)) - mp.exp(epsilon) * mp.erfc((epsilon / r + r / 2) / mp.sqrt(2))) / 2


@pytest.mark.parametrize("alpha, q, z", [(2, 0.01, 1.0), (8, 0.1, 2.0), (1.5, 0.5, 0.7), (1.1, 0.003, 3.0)])
def test_step_is_the_integral_of_its_profile(alpha, q, z):
    """The printed integral over γ = e^l, not the rearranged one that is evaluated."""
    a, q = mp.mpf(alpha), mp.mpf(q)
    total = mp.quad(lambda x: (mp.exp(x * (a - 1)) + mp.exp(-x * a)) * q * theta(mp.log((mp.expm1(x) + q) / q), 1 / mp.mpf(z)),
                    [0, 0.01, 0.1, 0.5, 1, 2, 4, 8, 16, 30])
    want = float(mp.log1p(a * (a - 1) * total) / (a - 1))
    assert want <= sampled_step.value(alpha, float(q), z) <= want * (1 + 1e-9)


@given(st.floats(1.001, 500), st.floats(1e-12, 1), st.floats(0.01, 1e6), st.floats(1, 3))
@settings(max_examples=150, deadline=None)
def test_step_laws(alpha, q, z, more):
    here = sampled_step.value(alpha, q, z)
    assert 0 < here <= alpha / (2 * z * z) * (1 + 1e-15)
    for worse in (sampled_step.value(alpha * more, q, z), sampled_step.value(alpha, min(1.0, q * more), z), sampled_step.value(alpha, q, z / more)):
        assert here <= worse * (1 + 1e-10)


@pytest.mark.parametrize("alpha, q, z", [(9e9, 1e-6, 1e4), (1 + 1e-9, 0.3, 1e6), (1e4, 1e-12, 0.01), (1.0001, 1e-12, 0.01), (5.0, 1e-12, 1e6)])
def test_step_at_the_ends_of_its_domain(alpha, q, z):
    start = perf_counter()
    assert 0 < sampled_step.value(alpha, q, z) <= alpha / (2 * z * z) * (1 + 1e-15)
    assert perf_counter() - start < 1


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


@pytest.mark.parametrize("case", INSTANCES, ids=lambda c: c["id"])
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
    return {"n": n, "batch_size": b, "iterations": rng.choice((1, 2, 5, 30, 300, 10**4, 10**7)), "lipschitz": 1.0, "smoothness": beta,
            "strong_convexity": rho, "learning_rate": eta, "diameter": diameter, "sigma": sigma}


def test_upper_is_above_lower_on_200_random_runs():
    rng, ratios = random.Random(2022), []
    for _ in range(200):
        run, alpha = random_run(rng), 1 + exp(rng.uniform(-2, 3))
        low, high = lower_bound.rdp(alpha, **run), upper(alpha, run)
        assert low <= high * (1 + 1e-9), (alpha, run)
        if run["n"] == run["batch_size"]:
            full = iteration_params(run)
            assert low <= iteration.rdp(alpha, **full, **iteration.search(**full)) * (1 + 1e-9), (alpha, run)
        if low > 0:
            ratios.append(high / low)
    print(f"upper/lower: median {median(ratios):.3g} of {len(ratios)} runs, least {min(ratios):.6f}")
    assert len(ratios) > 190 and min(ratios) >= 1 and median(ratios) < 20


def test_epsilon_and_delta_are_above_the_computed_ones():
    rng = random.Random(7)
    for _ in range(12):
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


@pytest.mark.parametrize("change", [{}, {"iterations": 10**6}, {"iterations": 10**12}, {"batch_size": 60000},
                                    {"n": 1000, "batch_size": 10, "learning_rate": 0.5, "diameter": 1.0, "sigma": 1.0, "strong_convexity": 0.1},
                                    {"n": 1000, "batch_size": 10, "sigma": 1.0, "learning_rate": 0.2, "diameter": 1.0}], ids=str)
def test_profile_is_below_rdp(change):
    said = {k.replace("iterations", "steps"): repr(v) for k, v in {**RUN, **change}.items()}
    rows = {(row.route.bound.name, row.route.conversion and row.route.conversion.name): row.result["epsilon"]
            for row in answer(**said, delta="1e-5").rows}
    assert rows["lower-bound", None] <= rows["burn-in-profile", None] <= min(v for (name, _), v in rows.items() if name == "burn-in-rdp")
    if ("composition-profile", None) in rows:
        assert rows["composition-profile", None] <= rows["composition", "rdp-optimal"]
        assert rows["burn-in-profile", None] <= rows["composition-profile", None] * (1 + 2e-3)


def test_optimum_is_not_missed():
    """The searched R and split against a dense grid."""
    for change in ({}, {"strong_convexity": 0.02}, {"sigma": 0.02}, {"iterations": 3000, "n": 1000, "batch_size": 10, "diameter": 0.02}):
        run = {**RUN, **change}
        grid = min(burn_in_rdp.value(6.0, **run, r=r, sigma1=run["sigma"] * share) for share in (0.1 * k for k in range(1, 10))
                   for r in {max(1, min(run["iterations"], round(10 ** (k / 10)))) for k in range(120)})
        assert upper(6.0, run) <= grid * (1 + 1e-6)


# --- amplification by iteration -------------------------------------------------------------------------------------


def iteration_params(run, **more):
    return {**{k: run[k] for k in iteration.BOUND.params if k not in ("period", "last")}, "period": 1, "last": 1, **more}


@pytest.mark.parametrize("gap", [0.5, 0.1, 1e-3, 1e-9])
@pytest.mark.parametrize("steps", [1, 2, 37, 10**4, 10**12])
def test_iteration_is_the_closed_form_on_full_batches(gap, steps):
    n, sigma = 1000, 0.5
    p = iteration_params({"batch_size": n, "iterations": steps, "lipschitz": 1.0, "smoothness": 1.0, "strong_convexity": gap, "learning_rate": 1.0,
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


@given(st.lists(st.tuples(st.floats(0.1, 3), st.floats(0, 2), st.floats(0.5, 1)), min_size=1, max_size=12), st.randoms())
@settings(max_examples=100, deadline=None)
def test_no_shift_schedule_beats_the_hull(steps, rng):
    """Random feasible a_k (each step absorbs a share of the shift, the last one all of it) cost at least the hull."""
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


def test_a_schedule_that_is_constant_is_iteration(tmp_path):
    common = {k: v for k, v in LINE.items() if k not in ("steps", "learning_rate", "sigma", "batch_size", "n")} | {"n": "50", "batch_size": "50", "delta": "1e-5"}
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps({"sigma": [0.1] * 300, "learning_rate": [0.05] * 300}))
    by_schedule = answer(**common, schedule=str(file))
    plain = answer(**common, steps="300", learning_rate="0.05", sigma="0.1", bound=("iteration",))
    assert by_schedule.value == pytest.approx(plain.value, rel=1e-9)
    assert by_schedule.extra["burn_in_steps"] == plain.extra["burn_in_steps"]
    file.write_text(json.dumps({"sigma": [0.1] * 300, "uses": [int(k % 10 == 9) for k in range(300)]}))
    uses = answer(**{**common, "n": "500"}, schedule=str(file), learning_rate="0.05", order="fixed")
    fixed = answer(**{**common, "n": "500"}, steps="300", learning_rate="0.05", sigma="0.1", order="fixed")
    assert uses.value == pytest.approx(fixed.value, rel=1e-9)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sigma": []}', '{"sigma": [1, 0]}', '{"sigma": [1], "uses": [1, 1]}', '{"sigma": [1], "uses": [2]}',
                                  '{"sigma": ["1"]}', '{"sigma": [NaN]}', '{"noise": [1]}', '{"sigma": 1}', "\x00"])
def test_bad_schedules_are_one_sentence(text, tmp_path):
    (tmp_path / "s").write_text(text)
    said = {k: v for k, v in LINE.items() if k not in ("steps", "sigma")} | {"batch_size": "60000"}
    with pytest.raises(DpcalcError) as error:
        answer(**said, schedule=str(tmp_path / "s"), delta="1e-5")
    assert error.value.option == "--schedule" and error.value.exit_code == 2


# --- errata: the printed form fails ---------------------------------------------------------------------------------


def test_erratum_printed_divergence_is_below_the_truth():
    """n = 1e6, b = 1, σ = .1L, α = 2, linear losses, K = [0, ηL]: the true loss is at least 170.98, (3.6) says at most .030."""
    run = {"n": 10**6, "batch_size": 1, "iterations": 10**4, "lipschitz": 1.0, "smoothness": 0.0, "strong_convexity": 0.0, "learning_rate": 1.0,
           "diameter": 1.0, "sigma": 0.1}
    true = lower_bound.rdp(2.0, **run)
    for steps in (10**4, 10**9):
        printed = as_published.value(2.0, **{**run, "iterations": steps}, **as_published.search(2.0, **{**run, "iterations": steps}))
        assert printed <= 0.030 < 170.98 <= true
    assert true <= upper(2.0, run)


@pytest.mark.parametrize("case", [c for c in MUST_FAIL if "L" in c["parameters"]], ids=lambda c: f"sigma {c['parameters']['sigma']}")
def test_errata_of_whole_runs(case):
    p = case["parameters"]
    run = {"n": p["n"], "batch_size": p["b"], "iterations": p["T"], "lipschitz": p["L"], "smoothness": p["beta"], "strong_convexity": p["rho"],
           "learning_rate": p["eta"], "diameter": p["D"], "sigma": p["sigma"]}
    true = lower_bound.rdp(case["alpha"], **run)
    printed = as_published.value(case["alpha"], **run, **as_published.search(case["alpha"], **run))
    assert printed == pytest.approx(case["printed_value"], rel=0.02)
    assert printed < 0.97 * case["true_value"] <= 1.03 * true
    assert upper(case["alpha"], run) >= max(true, case["true_value"])


@pytest.mark.parametrize("case", [c for c in MUST_FAIL if "L" not in c["parameters"]], ids=lambda c: f"{c['id']} {c['parameters']} {c['alpha']}")
def test_errata_of_single_steps(case):
    """D(N‖mix), and D(mix‖N) for three means pairwise within 1, are below the truth; S_r is not."""
    q, z = case["parameters"]["q"], case["parameters"]["s"]
    printed = poisson_rdp.reverse if case["id"] == "MF-printedS-T1" else poisson_rdp.value
    assert printed(case["alpha"], z, q) == pytest.approx(case["printed_value"], rel=1e-6)
    assert case["printed_value"] < case["true_value"] <= sampled_step.value(case["alpha"], q, z)


def test_erratum_last_step_weight():
    """(5.2) at κ = 1000, R = 100 is 82.6 times the optimum."""
    kappa = 1000
    g = 2 / (kappa + 1)
    assert as_published.last_step_weight(g, 100) / contraction.weight(g, 100) == pytest.approx(82.6, abs=0.05)


@pytest.mark.parametrize("alpha, q, z", [(2.0, 0.2, 10.0), (2.0, 0.01, 3.9), (1e4, 0.01, 4.0), (500.0, 0.1, 5.0)])
def test_closed_form_of_a_step_is_refused_outside_its_lemma(alpha, q, z):
    with pytest.raises(OutOfScope, match=r"Lemma 2\.12"):
        as_published.closed_form(alpha, q, z)


@pytest.mark.parametrize("alpha, q, z", [(2.0, 0.1, 4.0), (8.0, 0.01, 10.0), (30.0, 1e-4, 5.0)])
def test_closed_form_of_a_step_bounds_the_printed_divergence(alpha, q, z):
    assert poisson_rdp.reverse(alpha, z, q) <= as_published.closed_form(alpha, q, z)


# --- the command ----------------------------------------------------------------------------------------------------


@cache
def rdp_after(steps):
    rows = {row.route.bound.name: row.result["rdp"] for row in answer(**{**LINE, "steps": repr(steps)}, alpha="4", bound=("burn-in-rdp", "composition")).rows}
    return rows["composition"], rows["burn-in-rdp"]


def test_figure_1_linear_then_flat():
    """Altschuler & Talwar, Figure 1: ε over T grows like T, then not at all; composition grows for ever."""
    early = [rdp_after(t) for t in (1e3, 1e4, 1e5)]
    assert [burn / early[0][1] for _, burn in early] == pytest.approx([1, 10, 100], rel=1e-9)
    assert [burn for _, burn in early] == [composed for composed, _ in early]
    late = [rdp_after(t) for t in (1e7, 1e9, 1e12)]
    assert len({burn for _, burn in late}) == 1
    assert [composed / late[0][0] for composed, _ in late] == pytest.approx([1, 1e2, 1e5], rel=1e-9)
    ladder = [rdp_after(round(10 ** (k / 4)))[1] for k in range(12, 33)]
    assert ladder == sorted(ladder)


def test_json_and_sentence(ask, cli):
    argv = ["burn-in", *(x for k, v in LINE.items() for x in ("--" + k.replace("_", "-"), v)), "--delta", "1e-5"]
    got = ask(*argv)
    r = got["result"]["burn_in_steps"]
    assert got["result"]["horizon"] == 2400000 and 1e6 < r < 2.4e6
    assert got["bounds"][0]["witness"]["r"] == r and 0 < got["bounds"][0]["witness"]["sigma1"] < 0.1
    assert 0 < got["result"]["epsilon_lower"] < got["result"]["epsilon"]
    assert (got["bound"], got["status"], got["released"], got["adjacency"]) == ("burn-in-profile", "proven", "last iterate", "replace-one")
    assert f"after R = {r} steps more training costs no privacy" in cli(*argv).stdout


def test_as_published_only_by_name_and_with_a_warning(cli):
    argv = ["burn-in", *(x for k, v in LINE.items() for x in ("--" + k.replace("_", "-"), v)), "--alpha", "2"]
    assert "as-published" not in cli(*argv).stdout
    done = cli(*argv, "--bound", "burn-in-as-published", "--json")
    assert "not a guarantee" in done.stderr and json.loads(done.stdout)["status"] == "as-published"


@pytest.mark.parametrize("change, option", [
    ({"learning_rate": "2.1"}, "--learning-rate"), ({"batch_size": "60001"}, "--batch-size"), ({"strong_convexity": "1.5"}, "--strong-convexity"),
    ({"diameter": None}, "--diameter"), ({"index": "3"}, "--index"),
    ({"order": "fixed", "batch_size": "7"}, "--batch-size"), ({"order": "fixed", "batch_size": "60", "index": "1001"}, "--index"),
    ({"delta": "0"}, "--delta"), ({"schedule": "nosuch"}, "--steps"), ({"schedule": "nosuch", "steps": None}, "--schedule")], ids=str)
def test_conditions_are_checked(change, option):
    with pytest.raises(DpcalcError) as error:
        answer(**{**LINE, "delta": "1e-5", **change})
    assert error.value.option == option


def test_the_boundary_step_size_is_allowed():
    assert answer(**{**LINE, "smoothness": "3", "learning_rate": "2/3"}, alpha="2").value > 0


def test_answers_are_quick_whatever_t_and_n():
    """0.1 s for an RDP value and 0.5 s for a profile on an idle machine; the limits leave room for a busy one."""
    answer(**LINE, delta="1e-3")
    for change in ({"steps": "1e12"}, {"steps": "1e12", "n": "1e12", "batch_size": "1e6", "sigma": "1e-6"}):
        start = perf_counter()
        answer(**{**LINE, **change}, alpha="5")
        assert perf_counter() - start < 1.5
    start = perf_counter()
    answer(**LINE, delta="1e-6")
    assert perf_counter() - start < 6
