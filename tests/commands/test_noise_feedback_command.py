"""The command noise-feedback: both releases beside each other, warnings, other noise at equal privacy, and --solve
feedback."""

import json
import random

import pytest
from answers import answer, number, refusal
from calling import call
from paths import GOLDEN

import dpcalc as api

CASES = json.loads((GOLDEN / "feedback.json").read_text())["cases"]
RUN = "noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --lipschitz 1"
ANY = "noise-feedback --learning-rate .1 --sigma 2 --lipschitz 1"


def result(line):
    return answer(line)["result"]


def warnings(line):
    return [text for text in call(line.split()).stderr.splitlines() if "all iterates" in text]


# --- golden values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "feedback"], ids=lambda c: str(c["input"]))
def test_golden_runs(case):
    given, want = case["input"], case["expected"]
    found = result(f"noise-feedback --curvature {1 - given['r']!r} --learning-rate 1 --steps {given['T']} --index "
                   f"{given['index']} --lipschitz {given['shift'] / 2} --sigma {given['sigma']} --feedback "
                   f"{given['lam']} --delta 1e-5")
    assert {k: found[k] for k in ("variance", "mu", "mu_every_iterate", "feedback")} == pytest.approx(
        {"variance": want["variance"], "mu": want["mu_last"], "mu_every_iterate": want["mu_all"],
         "feedback": given["lam"]}, rel=1e-9)


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "feedback-optimum"], ids=lambda c: str(c["input"]))
def test_golden_optima(case):
    g, want = case["input"]["gamma_a"], case["expected"]
    solved = result(f"noise-feedback --solve feedback --curvature {g} --learning-rate 1")
    beside = result(f"noise-feedback --curvature {g} --learning-rate 1 --sigma 1 --lipschitz 1 --steps 9 --delta 1e-5")
    wanted = {"equal_privacy_variance_independent": want["independent"],
              "equal_privacy_variance_filter": want["all_filters"]}
    assert solved == pytest.approx({"feedback": want["lam"], "equal_privacy_variance": want["optimum"], **wanted},
                                   rel=1e-9)
    assert {k: beside[k] for k in wanted} == pytest.approx(wanted, rel=1e-9)
    assert beside["optimal_feedback"] == solved["feedback"]
    assert beside["equal_privacy_variance_optimal"] == solved["equal_privacy_variance"]
    assert beside["equal_privacy_variance"] == "inf"  # λ = 1


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "feedback-prefix"], ids=lambda c: str(c["input"]))
def test_golden_prefix_sums(case):
    found = result(f"noise-feedback --solve feedback --steps {case['input']['n']}")
    assert found["feedback"] == pytest.approx(case["expected"]["lam_max"], rel=1e-9)
    assert found["feedback_mean"] == pytest.approx(case["expected"]["lam_mean"], rel=1e-9)
    assert found["equal_privacy_variance_independent"] == case["input"]["n"]


# --- both releases ---------------------------------------------------------------------------------------------------


def test_the_warning_that_only_the_last_iterate_is_covered():
    found, line = result(f"{RUN} --steps 1000 --delta 1e-5"), f"{RUN} --steps 1000 --delta 1e-5 -q"
    assert found["epsilon"] == pytest.approx(0.334123, abs=1e-6) and found["mu"] == found["mu_last_iterate"]
    assert found["epsilon_every_iterate"] == pytest.approx(17.8566, abs=1e-4)
    assert warnings(line) == ["warning: only the last iterate is covered: an observer of all iterates gets ε = 17.8566 "
                              "(--release every-iterate)"]
    assert "gets ε = 0.905837 " in warnings(f"{RUN} --steps 6 --delta 1e-5")[0]
    assert warnings(f"{RUN} --steps 6 --feedback .93 --index 6 --delta 1e-5") == []  # μ is .1 for both
    assert warnings(f"{RUN} --steps 1000 --delta 1e-5 --release every-iterate") == []


@pytest.mark.parametrize("question, name", [("--delta 1e-5", "epsilon"), ("--epsilon .2", "delta"), ("--alpha 3", "rdp")])
@pytest.mark.parametrize("which", ["", "--index 2", "--used-at 1,4"])
def test_each_release_has_the_number_of_the_other(question, name, which):
    last, every = (result(f"{RUN} --steps 6 --feedback .6 --release {release} {which} {question}")
                   for release in ("last-iterate", "every-iterate"))
    for key in (f"{name}_last_iterate", f"{name}_every_iterate", "mu_last_iterate", "mu_every_iterate"):
        assert last[key] == every[key]
    assert last[name] == last[f"{name}_last_iterate"] < every[name] == every[f"{name}_every_iterate"]
    assert last["mu"] == last["mu_last_iterate"] and every["mu"] == every["mu_every_iterate"]


def test_every_iterate_of_any_loss_needs_no_curvature():
    with_curvature, without = (result(f"{line} --steps 50 --delta 1e-5 --release every-iterate") for line in (RUN, ANY))
    assert without["epsilon"] == with_curvature["epsilon"] and "variance" not in without
    record = answer(f"{ANY} --steps 50 --delta 1e-5 --release every-iterate")
    assert (record["bound"], record["released"]) == ("feedback-every-iterate", "every step's output")
    assert "--curvature" in refusal(f"{ANY} --steps 50 --delta 1e-5", 2)


def test_independent_noise_loses_the_same_at_every_length():
    """μ = s/σ: each step is one Gaussian mechanism, and a record is in one step only."""
    found = {number(f"{ANY} --steps {steps} --feedback 0 --delta 1e-5 --release every-iterate") for steps in (1, 9, 10**9)}
    assert len(found) == 1 and found.pop() == pytest.approx(number("rdp --sigma 10 --delta 1e-5"), rel=1e-12)


def test_full_feedback_loses_what_repeated_releases_do():
    """μ = (s/σ)√T."""
    assert number(f"{ANY} --steps 64 --delta 1e-5 --release every-iterate") == pytest.approx(
        number("rdp --sigma 10 --steps 64 --delta 1e-5"), rel=1e-12)


def test_laws_of_every_iterate():
    rng = random.Random(1)
    for _ in range(6):
        lam, steps = round(rng.random(), 3), rng.randint(2, 500)

        def loss(lam=lam, steps=steps, more="", line=ANY):
            return number(f"{line} --steps {steps} --feedback {lam} --delta 1e-5 --release every-iterate {more}")

        base = loss()
        assert loss(lam=min(1.0, lam + 0.01)) > base and loss(steps=steps + 50) >= base
        assert loss(line=ANY.replace("sigma 2", "sigma 2.02")) < base
        assert loss(more="--index 2") <= base == loss(more="--index 1") < loss(more=f"--used-at 1,{steps}")


def test_more_uses_lose_more_of_the_last_iterate():
    losses = [number(f"{RUN} --steps 90 --feedback .5 --delta 1e-5 --used-at {uses}") for uses in ("90", "60,90", "30,60,90")]
    assert losses == sorted(losses) and losses[0] == number(f"{RUN} --steps 90 --feedback .5 --delta 1e-5") < losses[2]
    found = answer(f"{RUN} --steps 90 --feedback .5 --delta 1e-5 --used-at 30,60,90")
    assert found["guarantee"]["index"] == [30, 60, 90]
    assert "for records that are used at steps 30, 60 and 90 only" in found["notes"]


# --- variances -------------------------------------------------------------------------------------------------------


def test_at_equal_privacy_of_the_last_iterate_every_coefficient_leaves_the_same_variance():
    """Noise for the same ε, and the variance that it leaves."""
    left = []
    for lam in (0, 0.3, 0.93, 1):
        line = f"noise-feedback --curvature .7 --learning-rate .1 --lipschitz 1 --steps 6 --feedback {lam}"
        left.append(result(f"{line} --epsilon 1 --delta 1e-5 --solve sigma")["variance"])
    assert left == pytest.approx([left[0]] * 4, rel=1e-9)
    assert any("neither gain nor loss" in note for note in answer(f"{RUN} --steps 6 --delta 1e-5")["notes"])


def test_several_curvatures():
    line = "noise-feedback --learning-rate 1 --steps 1e7 --sigma 1 --lipschitz .5 --delta 1e-5 --curvature"
    found = result(f"{line} .1,.01,.001,.0001")
    assert found["equal_privacy_variance_last_iterate"] == pytest.approx(4.058, abs=1e-3)
    assert found["equal_privacy_variance_last_iterate_independent"] == pytest.approx(1055.6, abs=0.1)
    assert found["equal_privacy_variance_optimal"] == pytest.approx(150.14, abs=0.01)
    assert found["equal_privacy_variance_independent"] == pytest.approx(5556, abs=0.1)
    assert "equal_privacy_variance_filter" not in found
    # the mode with the least variance is the one that limits privacy
    assert found["mu"] == max(result(f"{line} {a}")["mu"] for a in (0.1, 0.0001)) == result(f"{line} 1e-4")["mu"]


def test_without_feedback_speaks_of_the_run_without():
    found = result(f"{RUN} --steps 6 --delta 1e-5 --bound without-feedback")
    same = result(f"{RUN} --steps 6 --delta 1e-5 --feedback 0")
    assert found["feedback"] == 0 and found == pytest.approx(same, rel=1e-12)


# --- the best coefficient --------------------------------------------------------------------------------------------


def test_solved_feedback_is_given_back_as_the_best():
    for g in (0.001, 0.07, 0.4):
        best = result(f"noise-feedback --solve feedback --curvature {g} --learning-rate 1")
        line = f"noise-feedback --curvature {g} --learning-rate 1 --sigma 1 --lipschitz 1 --steps 9 --delta 1e-5"
        at = result(f"{line} --feedback {best['feedback']!r}")
        assert at["equal_privacy_variance"] == pytest.approx(best["equal_privacy_variance"], rel=1e-12)
        assert result(f"{line} --feedback {best['feedback'] * 0.99}")["equal_privacy_variance"] > at["equal_privacy_variance"]


def test_solved_feedback_is_about_every_iterate():
    line = "noise-feedback --solve feedback --curvature .1 --learning-rate .1"
    assert result(f"{line} --release every-iterate") == result(line)
    assert "neither" not in refusal(f"{line} --release last-iterate", 2) and "--release" in refusal(
        f"{line} --release last-iterate", 2)
    assert "--feedback is given" in refusal(f"{line} --feedback .5", 2)


def test_curvature_so_small_that_the_best_feedback_is_one_in_double_precision():
    """λ = 1 has no bounded loss in a long run, so that it is no answer; other questions are answered."""
    assert "--learning-rate" in refusal("noise-feedback --solve feedback --curvature 1e-33 --learning-rate .1", 2)
    for tiny in ("1e-33", "1e-310"):
        found = result(f"{ANY} --curvature {tiny} --steps 6 --delta 1e-5")
        assert found["epsilon"] == pytest.approx(result(f"{ANY} --curvature 0 --steps 6 --delta 1e-5")["epsilon"], rel=1e-12)
        assert "optimal_feedback" not in found


def test_the_record_of_a_solved_feedback():
    found = answer("noise-feedback --solve feedback --curvature 1e-4 --learning-rate 1 --steps 1000")
    assert (found["solved"], found["options"]["solve"], found["released"]) == ("feedback", "feedback", "every step's output")
    assert found["guarantee"] == {"kind": "feedback", "feedback": found["result"]["feedback"]}
    after = result("noise-feedback --solve feedback --curvature 1e-4 --learning-rate 1 --steps 1000 --bound "
                   "feedback-optimum-finite")
    assert found["result"]["feedback_after_steps"] == after["feedback"] < found["result"]["feedback"]
    done = call(["convert", "-", "--delta", "1e-5"], json.dumps(found))
    assert done.returncode == 2 and "not one of" in done.stderr  # it is no guarantee


@pytest.mark.parametrize("line, option", [
    ("--solve feedback", "--steps"), ("--solve feedback --curvature 1", "--learning-rate"),
    ("--solve feedback --curvature 0 --learning-rate .1", "--steps"),
    ("--solve feedback --steps 9 --epsilon 1 --delta 1e-5", "--delta"),
    ("--solve feedback --steps 9 --sigma 2", "--sigma"), ("--solve feedback --steps 9 --learning-rate 1", "--learning-rate"),
    ("--solve feedback --curvature 30 --learning-rate .1", "--learning-rate"),
    ("--solve feedback --steps 9 --format statement", "--format"),
    (f"{RUN[15:]} --steps 6 --delta 1e-5 --index 2 --used-at 1", "--used-at"),
    (f"{RUN[15:]} --steps 6 --delta 1e-5 --used-at 2,7", "--used-at"),
    (f"{RUN[15:]} --steps 6 --delta 1e-5 --used-at 2,2", "--used-at"),
    (f"{RUN[15:]} --steps 6 --delta 1e-5 --used-at 2.5", "--used-at"),
    (f"{RUN[15:]} --steps 6 --delta 1e-5 --feedback 1.01", "--feedback"),
    (f"{RUN[15:]} --steps 6 --delta 1e-5 --feedback .5 --bound without-feedback", "--feedback"),
    (f"{ANY[15:]} --steps 6 --delta 1e-5 --curvature 1,30", "--learning-rate"),
])
def test_what_is_refused_names_the_option(line, option):
    assert refusal(f"noise-feedback {line}", 2).startswith(f"dpcalc noise-feedback: {option}: ")


# --- what is assumed -------------------------------------------------------------------------------------------------


def test_projected_iterates_are_covered_where_all_are_released_and_only_there():
    """On K = [0, ∞), with β that drives an iterate to 0 before the last step, only the last noise hides the last record:
    μ is s/σ, and larger than without K."""
    s_over_sigma = 0.1
    for more in ("", "--bound without-feedback"):
        found = answer(f"{RUN} --steps 9 --delta 1e-5 {more}")
        assert found["result"]["mu"] < s_over_sigma
        assert any("no iterate is projected" in text for text in found["bounds"][0]["assumptions"])
        assert any("no iterate is projected" in note for note in found["notes"])
    every = answer(f"{RUN} --steps 9 --delta 1e-5 --release every-iterate")
    assert every["result"]["mu"] > s_over_sigma and "projected" not in json.dumps(every, ensure_ascii=False)


@pytest.mark.parametrize("release", ["last-iterate", "every-iterate"])
def test_that_a_record_is_used_once_is_written(release):
    line = f"{RUN} --steps 6 --delta 1e-5 --release {release}"
    for more, once in (("", True), ("--index 2", True), ("--used-at 1,4", False)):
        assert any("used at one step only" in note for note in answer(f"{line} {more}")["notes"]) == once
        assert ("A record is used at one step only." in call(
            f"{line} {more} --format statement".split()).stdout.replace("\n", " ")) == once


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more, words", [
    ("--curvature .7", "steps, and taken back at the next one."),
    ("--curvature .7 --feedback .25", "steps, and the part 0.25 of it is taken back at the next one."),
    ("--curvature .7 --feedback 0", "at each of 6 steps. A record"),
    ("--curvature .7,.1", "The curvatures are 0.7 and 0.1."),
    ("--release every-iterate", "The guarantee covers the release of every step's output and of anything computed from it."),
    ("--curvature .7", "Caution: only the last iterate is covered: an observer of all iterates gets ε = 0.905837"),
])
def test_statements(more, words):
    text = call([*f"{ANY} --steps 6 --delta 1e-5 --format statement {more}".split()]).stdout
    assert words in " ".join(text.split())


def test_steps_of_use_are_lists_and_ranges(tmp_path):
    (path := tmp_path / "steps.txt").write_text("2:4 7\n")
    line = f"{ANY} --steps 9 --delta 1e-5 --release every-iterate --feedback .5"
    found = [number(f"{line} --used-at {x}") for x in ("2,3,4,7", "2:4,7", f"@{path}", "2:4e0,7")]
    assert len(set(found)) == 1
    for wrong in ("4:2", "1:9:2", "1:3e9"):
        assert "is not FIRST:LAST with FIRST ≤ LAST" in refusal(f"{line} --used-at {wrong}", 2)
    with pytest.warns(UserWarning, match="used at steps 1, 2, 3 and 4 only"):
        used = api.answer("noise-feedback", learning_rate=0.1, sigma=2, lipschitz=1, steps=9, delta=1e-5, feedback=0.5,
                          release="all-iterates", used_at=range(1, 5))
    assert used.value == number(f"{line} --used-at 1:4")


def test_a_guarantee_for_many_steps_is_short_in_a_pipe():
    line = f"{ANY} --steps 100 --delta 1e-5 --release every-iterate --feedback .5 --used-at 1:100 --json"
    assert "at 100 places of its runs" in " ".join(call(["convert", "-", "--delta", "1e-5"],
                                                        call(line.split()).stdout).stdout.split())


def test_what_feedback_does_not_need_is_refused_at_once():
    said = refusal("noise-feedback --steps 60 --epsilon 1 --delta 1e-5 --solve feedback", 2)
    assert "--delta: not used with --solve feedback, nor --epsilon; first find λ" in said
    said = refusal("noise-feedback --curvature .7 --learning-rate .1 --used-at 1,2 --solve feedback", 2)
    assert "the best λ is that for records which are used at one step" in said
    assert "not used without --curvature" in refusal("noise-feedback --steps 9 --learning-rate .1 --solve feedback", 2)
