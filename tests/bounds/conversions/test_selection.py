"""The best of a random number of runs: values known from elsewhere, the printed formulas in many digits, and laws."""

import json
from functools import partial
from math import exp, inf, log

import mpmath
import pytest
from conftest import spread
from one_run import OneRun, randomized_response
from paths import GOLDEN
from selection_formulas import (
    gaussian_poisson_epsilon,
    gaussian_profile_epsilon,
    papernot_steinke_c,
    selection_rdp,
)

from dpcalc.bounds.conversions import gdp, selection
from dpcalc.bounds.conversions.selection_laws import (
    LOGARITHMIC,
    added_loss,
    log_r,
    poisson,
    truncated,
    truncated_with_mean,
)
from dpcalc.core.errors import OutOfScope

mp = mpmath.mp.clone()
mp.dps = 40
CASES = json.loads((GOLDEN / "tuning.json").read_text())["cases"]


def gaussian(mu):
    """A μ-GDP run."""
    return OneRun(lambda epsilon: exp(gdp.value(epsilon, mu, 1)), lambda alpha: gdp.rdp(alpha, mu),
                  exact=lambda mp, epsilon: gdp.exact(mp, epsilon, mu, 1),
                  exact_curve=lambda mp, alpha: mp.mpf(alpha) * mp.mpf(mu) ** 2 / 2)


def law_of(question):
    if question.get("law") == "poisson":
        return poisson(question["mean_tries"])
    return truncated_with_mean(question["mean_tries"], question["shape"])


def epsilon_of(run, law, delta):
    return selection.inverse(log(delta), run, law, **selection.search(run, law))


@pytest.mark.parametrize("case", [c for c in CASES if c["capability"] == "tuning-profile"])
def test_the_profile_gives_known_values(case):
    question, value = case["question"], case["value"]
    run, law = gaussian(question["mu"]), law_of(question)
    assert law.gamma == pytest.approx(value["gamma"], rel=1e-13)
    assert log_r(run, law) == pytest.approx(value["log_r"], rel=1e-9)
    found = epsilon_of(run, law, question["delta"])
    assert value["epsilon"] * (1 - 1e-13) < found < value["epsilon"] * (1 + case["rel_tol"])


@pytest.mark.parametrize("case", [c for c in CASES if c["capability"] == "tuning-poisson"])
def test_a_poisson_number_of_runs_gives_known_values(case):
    question, value = case["question"], case["value"]
    found = epsilon_of(gaussian(question["mu"]), law_of(question), question["delta"])
    assert found == pytest.approx(value["epsilon_profile"], rel=1e-9)


@pytest.mark.parametrize("case", [c for c in CASES if c["capability"].startswith("tuning-pure")])
def test_pure_runs_give_known_values(case):
    question, value = case["question"], case["value"]
    run = randomized_response(question["epsilon"])
    known = {question["mean_tries"]: value["epsilon"]} if "mean_tries" in question else {
        int(name.rpartition("_")[2]): x for name, x in value.items() if name.startswith("epsilon_mean")}
    for mean, epsilon in known.items():
        law = truncated_with_mean(mean, question["shape"])
        assert selection.of_pure(run, law)["epsilon"] == pytest.approx(epsilon, rel=1e-12)
        assert selection.pure(run, law) == pytest.approx(epsilon, rel=1e-11)
    for mean in (1e3, 1e9):
        law = truncated_with_mean(mean, question["shape"])
        limit = (2 + question["shape"]) * question["epsilon"]
        assert selection.of_pure(run, law)["epsilon"] < limit


RUNS = [(mu, mean, shape) for mu in (1e-3, 0.3, 2.0, 10.0) for mean in (1.5, 30, 1e4) for shape in (-0.9, 0, 0.5, 1, 3)]


@spread("mu, mean, shape", RUNS)
def test_values_are_the_printed_formula_rounded_up(mu, mean, shape):
    run, law = gaussian(mu), truncated_with_mean(mean, shape)
    c_from = selection.search(run, law)
    c = added_loss(law, **c_from)
    for epsilon in (c / 2, c + 0.1 * mu, c + mu, c + mu * mu + 4 * mu):
        found, exact = selection.value(epsilon, run, law, **c_from), selection.exact(mp, epsilon, run, law, **c_from)
        assert mp.log(exact) <= found <= mp.log(exact) + selection.PROFILE.rtol * max(1, -mp.log(exact)) + 1e-9 * mu
    for alpha in (1.01, 2.0, 50.0):
        found, exact = selection.rdp(alpha, run, law, **c_from), selection.exact_rdp(mp, alpha, run, law, **c_from)
        assert exact <= found <= exact * (1 + selection.RDP.rtol)
    found, exact = selection.of_tv(run, law)["tv"], selection.exact_of_tv(mp, run, law)["tv"]
    assert exact <= found <= min(1, exact * (1 + 1e-10))


@spread("mu, mean, shape", RUNS)
def test_log_r_meets_its_condition_and_hardly_less_does(mu, mean, shape):
    run, law = gaussian(mu), truncated_with_mean(mean, shape)
    x = log_r(run, law)

    def excess(x):
        return (1 - mp.mpf(law.gamma)) * gdp.exact(mp, x, mu, 1) - mp.mpf(law.gamma) * mp.expm1(x)

    assert excess(x) <= 0 < excess(x * (1 - 1e-9))


@spread("mean, shape", [(mean, shape) for mean in (1.0, 1.0001, 7, 1e6) for shape in (-0.9, -0.5, 0, 1e-9, 1, 30)])
def test_a_law_has_the_mean_that_is_asked_for(mean, shape):
    law = truncated_with_mean(mean, shape)
    assert law.exact_mean(mp) <= law.mean <= mean * (1 + 1e-10)
    assert law.mean == pytest.approx(mean, rel=1e-10)


def test_a_mean_that_no_double_reaches_is_refused():
    with pytest.raises(OutOfScope, match="at most"):
        truncated_with_mean(1e6, -0.99)


@spread("mu, mean", [(mu, mean) for mu in (0.1, 1.0) for mean in (0.5, 3, 100)])
def test_the_renyi_form_of_a_poisson_number_is_the_printed_one(mu, mean):
    run, law = gaussian(mu), poisson(mean)
    for alpha in (1.1, 3.0, 40.0):
        found = selection.rdp(alpha, run, law, **selection.search_at_order(alpha, run, law))
        exact = selection.exact_rdp(mp, alpha, run, law, **selection.search_at_order(alpha, run, law))
        assert exact <= found <= exact * (1 + 1e-12) + 1e-12 / (alpha - 1)


@spread("mu, mean, shape, delta", [(mu, mean, shape, delta) for mu in (0.05, 0.7, 3.0) for mean in (2, 50)
                                   for shape in (0, 1, 2.5) for delta in ("1e-3", "1e-9")])
def test_epsilon_is_that_of_the_formula_in_many_digits(mu, mean, shape, delta):
    law = truncated_with_mean(mean, shape)
    exact = gaussian_profile_epsilon(mp, mp.mpf(mu), mp.mpf(shape), mp.mpf(law.gamma), mp.mpf(delta))[0]
    found = epsilon_of(gaussian(mu), law, float(delta))
    assert exact * (1 - 1e-14) <= found <= exact * (1 + 1e-9) or found <= added_loss(law, log_r(gaussian(mu), law))


def test_a_poisson_epsilon_is_that_of_the_formula_in_many_digits():
    exact = gaussian_poisson_epsilon(mp, mp.mpf("0.3"), 20, mp.mpf("1e-6"))
    assert epsilon_of(gaussian(0.3), poisson(20), 1e-6) == pytest.approx(float(exact), rel=1e-9)


@spread("mu, mean, shape", RUNS)
def test_the_renyi_form_is_never_above_the_published_one(mu, mean, shape):
    run, law, low = gaussian(mu), truncated_with_mean(mean, shape), mpmath.mp.clone()
    low.dps = 15
    c = papernot_steinke_c(low, lambda alpha: alpha * mu * mu / 2, shape, low.mpf(law.gamma))
    for alpha in (2.0, 20.0):
        published = selection_rdp(low, lambda a: a * mu * mu / 2, c, low.mpf(law.mean))(alpha)
        assert selection.rdp(alpha, run, law, **selection.search(run, law)) <= published * (1 + 1e-9)


def test_more_runs_cost_more_and_one_run_costs_itself():
    run = gaussian(0.5)
    for shape in (-0.5, LOGARITHMIC, 1, 2):
        values = [epsilon_of(run, truncated_with_mean(mean, shape), 1e-5) for mean in (1, 1.01, 2, 10, 1e3, 1e6)]
        assert values == sorted(values)
        assert values[0] == pytest.approx(run.epsilon(log(1e-5)), rel=1e-12)


def test_a_run_that_loses_nothing_is_selected_for_nothing():
    nothing = OneRun(lambda epsilon: 0.0, lambda alpha: 0.0, most=0.0)
    for law in (truncated(1, 0.1), truncated(0, 0.001), poisson(5)):
        assert epsilon_of(nothing, law, 1e-9) < 1e-50
        assert selection.value(0.5, nothing, law, **selection.search(nothing, law)) == -inf
        assert selection.pure(nothing, law) == selection.of_tv(nothing, law)["tv"] == 0


def test_nothing_is_promised_of_a_run_that_reveals_everything():
    everything = OneRun(lambda epsilon: 1.0, lambda alpha: inf)
    for law in (truncated(1, 0.1), truncated(-0.5, 0.3), poisson(3)):
        assert selection.value(100.0, everything, law, **selection.search(everything, law)) == 0
        assert selection.rdp(2.0, everything, law, **selection.search_at_order(2.0, everything, law)) == inf
        assert selection.of_tv(everything, law)["tv"] <= 1


def test_the_profile_never_rises_and_stays_below_one():
    run, law = gaussian(1.0), truncated(1, 0.05)
    value = partial(selection.value, candidate=run, runs=law, **selection.search(run, law))
    values = [value(k / 20) for k in range(200)]
    assert values == sorted(values, reverse=True) and values[0] <= 0
