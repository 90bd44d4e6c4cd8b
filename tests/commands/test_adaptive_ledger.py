"""Adaptive ledgers: a filter that was fixed with the budget lets releases through, and the guarantee is the budget."""

import json
from functools import lru_cache
from math import exp, log, sqrt
from pathlib import Path

import pytest
from calling import call
from conftest import slow

from dpcalc import DpcalcError, answer
from dpcalc.bounds.conversions import filters
from dpcalc.bounds.conversions.gdp import value as gdp_log_delta
from dpcalc.core.errors import NoSolution
from dpcalc.verify.report import verify

CASES = json.loads((Path(__file__).parents[1] / "golden" / "adaptive.json").read_text(encoding="utf-8"))["cases"]
BUDGET = {"adaptive": True, "epsilon": 3, "delta": 1e-5}
LAPLACE = {"command": "rdp", "mechanism": "laplace", "scale": 20}
GAUSSIAN = {"command": "rdp", "sigma": 5}
TRAINING = {"command": "subsample", "sampling-rate": 0.02, "noise-multiplier": 2, "steps": 500}
POINT = {"kind": "dp", "epsilon": 0.1, "delta": 1e-7}
LINES = "adaptive = true\nepsilon = 3\ndelta = 1e-5\n[[release]]\nname = 'counts'\ncommand = 'rdp'\nmechanism = 'laplace'\nscale = 20\n"


def ledger(*releases, **header):
    return answer("ledger", file={**BUDGET, **header, "release": list(releases)})


def golden(capability):
    found = [case for case in CASES if case["capability"] == capability]
    return pytest.mark.parametrize("case", found, ids=[json.dumps(case["question"]) for case in found])


# --- independent values ----------------------------------------------------------------------------------------------


def test_every_capability_of_the_independent_values_is_tested():
    assert {case["capability"] for case in CASES} == {
        "filter-order", "filter-gdp", "filter-rdp", "filter-worst-case", "natural-filter-fails", "pure-as-gdp",
        "natural-filter-stopping"}


@golden("filter-order")
def test_the_order_and_the_budget_follow_from_epsilon_and_delta(case):
    found = ledger(LAPLACE, **case["question"]).record()["adaptive"]
    expected, rtol = case["value"], case["rel_tol"]
    assert found["order"] == pytest.approx(expected["alpha"], rel=rtol)
    assert found["budget"] == pytest.approx(expected["budget_rdp"], rel=rtol)


@golden("filter-gdp")
def test_gaussian_releases_cost_nothing_extra(case):
    """The same μ as that of a list fixed beforehand fills the filter of its own ε."""
    expected, delta = case["value"], case["question"]["delta"]
    releases = [{"command": "rdp", "sigma": sigma} for sigma in case["question"]["sigmas"]]
    fixed = answer("ledger", file={"release": releases}, delta=delta).value
    assert fixed == pytest.approx(expected["epsilon"], rel=case["rel_tol"])
    found = ledger(*releases, filter="gdp", epsilon=fixed * (1 + 1e-11), delta=delta).record()
    assert sqrt(found["adaptive"]["spent"]) == pytest.approx(expected["mu"], rel=case["rel_tol"])
    assert found["adaptive"]["left"] == pytest.approx(0, abs=1e-9) and found["guarantee"]["kind"] == "gdp"


@golden("filter-rdp")
def test_decimals_that_add_up_to_the_budget_fit(case):
    question = case["question"]
    alpha, delta = question["alpha"], question["delta"]
    epsilon = case["value"]["epsilon"]
    assert filters.budget(alpha, epsilon, log(delta)) == pytest.approx(sum(question["rdp"]), rel=1e-9)
    releases = [{"kind": "rdp", "alpha": [float(alpha)], "rdp": [rdp]} for rdp in question["rdp"]]
    found = ledger(*releases, order=alpha, epsilon=epsilon * (1 + 1e-9), delta=delta).record()["adaptive"]
    assert found["spent"] == pytest.approx(0.6, rel=1e-15) and found["spent"] >= 0.6
    with pytest.raises(NoSolution):
        ledger(*releases, order=alpha, epsilon=epsilon * (1 - 1e-9), delta=delta)


@golden("pure-as-gdp")
def test_pure_releases_have_a_mu_and_a_rho(case):
    epsilon, expected = case["question"]["epsilon"], case["value"]
    pure = {"kind": "dp", "epsilon": float(epsilon), "delta": 0.0}
    found = ledger(pure, filter="gdp", epsilon=50).record()["adaptive"]
    assert expected["mu"] ** 2 * (1 - 1e-14) <= found["spent"] <= expected["mu"] ** 2 * (1 + 1e-11)
    assert ledger(pure, epsilon=50).record()["adaptive"]["spent"] <= expected["rho"] * filters.best_order(50, log(1e-5))


def worst_delta(epsilon, alpha, budget, base):
    """The largest δ of any plan that a Rényi filter lets run: randomised responses of `base` each, then one Gaussian
    with what is left; by an exact dynamic programme over their outcomes."""
    p = 1 / (1 + exp(-base))
    cost = log(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)) / (alpha - 1)

    def last(loss, mu):
        if mu <= 0:
            return max(0.0, 1 - exp(epsilon - loss))
        from dpcalc.numerics.normal import log_tail

        e = epsilon - loss
        return exp(log_tail(e / mu - mu / 2)) - exp(e + log_tail(e / mu + mu / 2))

    @lru_cache(None)
    def value(level, number):
        left = budget - number * cost
        best = last(level * base, sqrt(max(2 * left / alpha, 0.0)))
        if cost > left:
            return best
        return max(best, p * value(level + 1, number + 1) + (1 - p) * value(level - 1, number + 1))

    return value(0, 0)


@golden("filter-worst-case")
def test_the_worst_plan_that_the_filter_lets_run_stays_below_delta(case):
    question = case["question"]
    found = ledger({"kind": "dp", "epsilon": question["release_epsilon"], "delta": 0.0}, epsilon=question["epsilon"],
                   delta=question["delta"]).record()["adaptive"]
    worst = worst_delta(question["epsilon"], found["order"], found["budget"], question["release_epsilon"])
    assert worst == pytest.approx(case["value"]["delta_of_worst_strategy"], rel=1e-4) and worst <= question["delta"]


@golden("natural-filter-fails")
def test_the_total_of_a_fixed_list_is_no_filter(case):
    """Both plans meet the budget as fixed lists; the one that is chosen by the first output has a larger δ. The filter
    refuses both."""
    question = case["question"]
    epsilon, delta, first = question["epsilon"], question["delta"], question["first_release_epsilon"]
    before = {"kind": "dp", "epsilon": first, "delta": 0.0}
    plans = ({"command": "rdp", "sigma": question["sigma"]},
             {"command": "rdp", "mechanism": "laplace", "scale": question["scale"]})
    for plan in plans:
        fixed = answer("ledger", file={"release": [before, plan]}, delta=delta)
        assert fixed.value <= epsilon * (1 + 1e-3)
        with pytest.raises(NoSolution):
            ledger(before, plan, epsilon=epsilon, delta=delta)
    p = 1 / (1 + exp(-first))
    gaussian = answer("rdp", sigma=question["sigma"], epsilon=epsilon - first).value
    laplace = answer("rdp", mechanism="laplace", scale=question["scale"], epsilon=epsilon + first).value
    other_way = (1 - p) * exp(gdp_log_delta(epsilon + first, 1 / question["sigma"], 1))
    by_gaussian, by_laplace = p * gaussian + (1 - p) * laplace, other_way
    better = p * answer("rdp", mechanism="laplace", scale=question["scale"], epsilon=epsilon - first).value + by_laplace
    assert max(by_gaussian, better) == pytest.approx(case["value"]["true_delta"], rel=1e-7)
    assert case["value"]["true_delta"] > delta


@golden("natural-filter-stopping")
def test_stopping_in_view_of_outputs_exceeds_the_total_of_a_fixed_list_and_not_the_filter(case):
    """The best stopping rule against the total has a δ above the budget (`true_delta`); against the filter it has not."""
    question = case["question"]
    epsilon, delta = float(question["epsilon"]), question["delta"]
    found = ledger({"kind": "dp", "epsilon": question["release_epsilon"], "delta": 0.0}, epsilon=epsilon,
                   delta=delta).record()["adaptive"]
    worst = worst_delta(epsilon, found["order"], found["budget"], question["release_epsilon"])
    assert worst <= delta < case["value"]["true_delta"]


# --- what an adaptive ledger promises --------------------------------------------------------------------------------


def test_the_guarantee_is_the_budget_and_spent_is_under_a_key_of_its_own(tmp_path):
    found = ledger(TRAINING, LAPLACE)
    record = found.record()
    assert (found.value, record["result"]["delta"], record["bound"]) == (3, 1e-5, "adaptive-rdp-filter")
    kept = record["adaptive"]
    assert kept.keys() == {"filter", "order", "budget", "spent", "left", "delta_reserve"}
    assert record["result"]["left"] == kept["left"] == pytest.approx(kept["budget"] - kept["spent"], abs=1e-15)
    assert [r["total_spent"] for r in record["releases"]] == sorted(r["total_spent"] for r in record["releases"])
    assert not any("epsilon" in r for r in record["releases"])
    fixed = answer("ledger", file={"release": [TRAINING, LAPLACE]}, delta=1e-5).value
    text = " ".join(found.text().split())
    assert text.startswith("ε = 3 at δ = 1e-05 for everything within this budget, however it was chosen")
    assert f"had this list been fixed before the first output, ε = {fixed:.5f}" in text
    assert '"Spent" is no smaller guarantee: if you stop because of what you saw, ε = 3 is what' in text
    (tmp_path / "l.toml").write_text(LINES)
    assert call(["ledger", str(tmp_path / "l.toml"), "-q"]).stdout == "3.0\n"


def test_a_pipe_carries_the_order_and_its_budget_or_mu_or_the_point():
    found = ledger(GAUSSIAN, LAPLACE)
    kept = found.record()["adaptive"]
    assert found.guarantee["alpha"] == [kept["order"]] and found.guarantee["rdp"] == [kept["budget"]]
    back = answer("convert", inputs=[found], delta=1e-5, bound="rdp-improved").value
    assert 3 * (1 - 1e-9) <= back <= 3 * (1 + 1e-14) and answer("tv", inputs=[found]).value < 1
    gaussian = ledger(GAUSSIAN, filter="gdp")
    assert answer("convert", inputs=[gaussian], delta=1e-5).value == pytest.approx(3, rel=1e-9)
    assert ledger(GAUSSIAN, **{"delta-reserve": 1e-6}).guarantee["kind"] == "dp"
    assert any("must be fixed before the first release" in p for p in found.guarantee["promises"])


@pytest.mark.parametrize(("releases", "header"), [
    ((LAPLACE, GAUSSIAN, {"kind": "zcdp", "rho": 0.01}), {}), ((LAPLACE, POINT), {"delta-reserve": 1e-6}),
    ((GAUSSIAN, LAPLACE, {"kind": "gdp", "mu": 0.1}), {"filter": "gdp"}), ((LAPLACE, LAPLACE), {"delta": 0}),
    slow((TRAINING, LAPLACE), {"order": 5}), ((LAPLACE, {**GAUSSIAN, "sigma": "?"}), {}),
    ((GAUSSIAN, {"kind": "dp", "epsilon": "?", "delta": 0}), {"filter": "gdp"})])
def test_verify_proves_what_is_spent_and_refuses_other_numbers(releases, header):
    record = json.loads(ledger(*releases, **header).json())
    assert verify(record).holds
    for path, factor in (("spent", 0.9), ("budget", 1.1), ("left", 1.1)):
        changed = json.loads(json.dumps(record))
        changed["adaptive"][path] *= factor
        assert changed["adaptive"] == record["adaptive"] or not verify(changed).holds, path
    changed = json.loads(json.dumps(record))
    changed["result"]["epsilon"] = changed["bounds"][0]["epsilon"] = 2.9
    assert not verify(changed).holds
    if "spent" in record["bounds"][0]:
        changed = json.loads(json.dumps(record))
        changed["result"]["spent"] = changed["bounds"][0]["spent"] = 0.99 * record["bounds"][0]["spent"]
        assert not verify(changed).holds


@pytest.mark.parametrize(("release", "name", "direction", "header"), [
    ({**GAUSSIAN, "sigma": "?"}, "sigma", +1, {}), ({**LAPLACE, "scale": "?"}, "scale", +1, {}),
    ({"kind": "zcdp", "rho": "?"}, "rho", -1, {}), ({"kind": "gdp", "mu": "?"}, "mu", -1, {"filter": "gdp"}),
    ({**POINT, "epsilon": "?"}, "epsilon", -1, {"delta-reserve": 1e-6}),
    ({"kind": "dp", "epsilon": "?", "delta": 0}, "epsilon", -1, {"delta": 0})])
def test_the_largest_release_that_fits_is_found(release, name, direction, header):
    found = ledger(LAPLACE, release, **header)
    assert 0 <= found.result["left"] < 1e-9
    assert ledger(LAPLACE, {**release, name: found.value}, **header).result["left"] == found.result["left"]
    with pytest.raises(NoSolution):
        ledger(LAPLACE, {**release, name: found.value * (1 - direction * 1e-6)}, **header)


def test_a_whole_number_of_steps_is_found():
    found = ledger(LAPLACE, {**TRAINING, "steps": "?"})
    assert ledger(LAPLACE, {**TRAINING, "steps": found.value}).result["left"] >= 0
    with pytest.raises(NoSolution):
        ledger(LAPLACE, {**TRAINING, "steps": found.value + 1})


def test_pure_releases_add_up_to_their_budget_as_decimals():
    tenth = {"kind": "dp", "epsilon": 0.1, "delta": 0}
    assert ledger(*[tenth] * 10, epsilon=1, delta=0).result["left"] == 0
    with pytest.raises(NoSolution, match="release 11"):
        ledger(*[tenth] * 11, epsilon=1, delta=0)


def test_an_order_between_whole_ones_follows_the_chord_of_a_curve_for_whole_orders():
    run = {"command": "subsample", "scheme": "without-replacement", "sampling-rate": 0.01, "noise-multiplier": 4, "steps": 10}
    spent = {order: ledger(run, order=order, epsilon=8).record()["adaptive"]["spent"] for order in (3, 3.5, 4)}
    chord = (2 * spent[3] + 3 * spent[4]) / 2 / 2.5
    assert spent[3] < spent[3.5] == pytest.approx(chord, rel=1e-9) and spent[3.5] < spent[4]


def test_a_release_that_does_not_fit_is_refused_without_a_guarantee(tmp_path):
    (tmp_path / "l.toml").write_text(LINES + "[[release]]\nname = 'model'\ncommand = 'rdp'\nsigma = 1\n")
    done = call(["ledger", str(tmp_path / "l.toml")])
    assert (done.returncode, done.stdout) == (3, "")
    assert "release 2 (model) would exceed the budget: it must not be made" in done.stderr
    done = call(["ledger", str(tmp_path / "l.toml"), "--json"])
    assert (done.returncode, done.stdout) == (3, "") and json.loads(done.stderr).keys() == {"error"}


@pytest.mark.slow
def test_a_release_without_an_rdp_curve_is_charged_whole_with_a_delta_of_its_own():
    run = {"command": "subsample", "scheme": "random-allocation", "n": 10_000, "batch-size": 100, "epochs": 1,
           "noise-multiplier": 2, "delta": 1e-7}
    found = ledger(run, **{"delta-reserve": 1e-7}).record()
    point = {"kind": "dp", "epsilon": by_itself(run), "delta": 1e-7}
    assert found["adaptive"]["spent"] == pytest.approx(
        ledger(point, **{"delta-reserve": 1e-7}).record()["adaptive"]["spent"], rel=1e-4)


def by_itself(run):
    return answer(run["command"], **{key.replace("-", "_"): x for key, x in run.items() if key != "command"}).value


def test_the_reserve_of_delta_is_a_budget_too():
    assert ledger(*[POINT] * 10, **{"delta-reserve": 1e-6}).value == 3
    with pytest.raises(NoSolution, match="δ-reserve"):
        ledger(*[POINT] * 11, **{"delta-reserve": 1e-6})


def test_statement_and_explain_name_the_filter():
    text = " ".join(ledger(GAUSSIAN, LAPLACE).text("statement").split())
    assert ("Later releases were chosen in view of earlier ones; a Rényi filter of order 7.5077 (Feldman & Zrnic 2021) "
            "with budget 1.6836 was kept.") in text.replace("\N{NO-BREAK SPACE}", " ")
    for word in ("adaptive-rdp-filter", "adaptive-gdp-filter", "filters", "adaptive-ledger"):
        assert call(["explain", word]).returncode == 0


def test_several_releases_with_a_budget_say_what_they_assume():
    says = "if the noise, length or number of releases are chosen by looking at outputs, use adaptive = true"
    fixed = {"release": [LAPLACE, GAUSSIAN]}
    assert any(says in note for note in answer("ledger", file=fixed, delta=1e-5, epsilon=3).notes)
    assert not any(says in note for note in answer("ledger", file=fixed, delta=1e-5).notes)
    assert not any(says in note for note in ledger(LAPLACE, GAUSSIAN).notes)
    assert "use adaptive = true" in " ".join(answer("ledger", file=fixed, delta=1e-5, epsilon=3).text().split())


# --- what can be wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("releases", "header", "says"), [
    ((GAUSSIAN,), {"epsilon": None}, "an adaptive ledger needs epsilon and delta: they must be fixed before the first"),
    ((GAUSSIAN, POINT), {}, "release 2 (dp): (ε, δ) counts against delta-reserve; add delta-reserve = 1e-06"),
    ((GAUSSIAN, {**LAPLACE, "command": "subsample", "sampling-rate": 0.1, "steps": 5}), {"filter": "gdp"},
     'release 2 (subsample) is not GDP; use filter = "rdp"'),
    ((GAUSSIAN, {"kind": "zcdp", "rho": 0.1}), {"filter": "gdp"}, 'is not GDP; use filter = "rdp"'),
    ((GAUSSIAN,), {"delta": 0}, "release 1 (rdp) has no pure ε"),
    ((LAPLACE,), {"delta": 0, "order": 3}, "--order: not used where delta = 0"),
    ((LAPLACE,), {"filter": "gdp", "order": 3}, '--order: not used with filter = "gdp"'),
    ((LAPLACE,), {"order": 1.01}, "3 at δ = 1e-05 is a budget too small for any release at order 1.01"),
    ((LAPLACE,), {"delta-reserve": 1e-5}, "--delta-reserve: 1e-05 is not below delta = 1e-05"),
    ((LAPLACE,), {"filter": "zcdp"}, "in the file: 'zcdp' is not one of rdp, gdp"),
    ((LAPLACE,), {"adaptive": False, "order": 3}, "--order: it is of an adaptive ledger; add adaptive = true"),
    ((LAPLACE,), {"adaptative": True}, "did you mean adaptive?"),
    (({"kind": "rdp", "alpha": [2.0], "rdp": [0.1]},), {}, "release 1 (rdp) has no Rényi divergence of order 7.5077"),
])
def test_errors_say_what_must_be_fixed_beforehand(releases, header, says):
    file = {key: x for key, x in {**BUDGET, **header}.items() if x is not None}
    with pytest.raises(DpcalcError) as error:
        answer("ledger", file={**file, "release": list(releases)})
    assert says in str(error.value)


@pytest.mark.parametrize(("options", "says"), [
    ({"orders": [2, 3]}, "one order, fixed in advance: write order = X in the file"),
    ({"delta": 1e-6}, "the budget of an adaptive ledger is fixed: change it in the file, before the first release"),
    ({"epsilon": 4}, "the budget of an adaptive ledger is fixed"), ({"order": 4}, "the budget of an adaptive ledger is fixed"),
    ({"filter": "gdp"}, "the budget of an adaptive ledger is fixed"), ({"bound": "rdp-curve"}, "the filter is the bound"),
    ({"delta_reserve": 1e-6}, "the budget of an adaptive ledger is fixed"), ({"alpha": 3}, "not for a ledger")])
def test_the_command_line_cannot_change_what_the_file_fixes(options, says):
    with pytest.raises(DpcalcError, match=says):
        answer("ledger", file={**BUDGET, "release": [LAPLACE]}, **options)
    assert answer("ledger", file={**BUDGET, "release": [LAPLACE]}, epsilon=3, delta=1e-5).value == 3
