"""dpcalc audit: from the counts of an attack to a lower bound on ε, and beside a claim whether the attack refutes it."""

import csv
import json
from math import log
from pathlib import Path
from random import Random

import pytest
from calling import call

import dpcalc
from dpcalc.core.errors import DpcalcError

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = json.loads((GOLDEN / "attack_audit.json").read_text(encoding="utf-8"))["cases"]
PEERS = json.loads((GOLDEN / "audit_peers.json").read_text(encoding="utf-8"))["cases"]
COUNTS = "audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5"
ONE_RUN = "audit --canaries 1000 --guesses 200 --right 180 --delta 1e-5"
GAUSSIAN = dpcalc.answer("rdp", sigma=2, delta=1e-5)


def found(line, stdin=""):
    """(exit code, record) of a line."""
    done = call([*line.split(), "--json"], stdin)
    return done.returncode, json.loads(done.stdout)


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['capability']}-{case['value']['epsilon_low']:.3f}")
def test_golden_values(case):
    asked = dict(case["question"])
    if "members" in asked:
        asked["true_positives"] = f"{asked['true_positives']}/{asked.pop('members')}"
        asked["false_positives"] = f"{asked['false_positives']}/{asked.pop('non_members')}"
    answer = dpcalc.answer("audit", **asked)
    row = next(row for row in answer.bounds if row["name"] == case["capability"].replace("-cp", "-counts"))
    for name, want in case["value"].items():
        name = {"epsilon_low": "epsilon_lower", "mu_low": "mu_lower"}.get(name, name)
        got = row.get(name, answer.result.get(name))
        assert got == pytest.approx(want, rel=case["rel_tol"], abs=1e-11)
        assert got <= want * (1 + 1e-9) or name == "fpr_high"


@pytest.mark.parametrize("kind", ["true_positives", "canaries"])
def test_another_library_gives_the_same(kind):
    cases = [dict(case) for case in PEERS if kind in case]
    assert len(cases) >= 100
    for case in cases:
        want = case.pop("epsilon_lower")
        assert dpcalc.answer("audit", **case).value == pytest.approx(want, abs=1e-6), case


def test_the_result_has_the_keys_that_programs_rely_on():
    code, record = found(COUNTS)
    assert code == 0 and record["refuted"] is None and record["status"] == "lower"
    assert {"epsilon_lower", "tpr_low", "fpr_high", "mu_lower", "confidence", "delta"} <= record["result"].keys()
    assert "epsilon" not in record["result"] and not any("epsilon" in row for row in record["bounds"])
    assert [row["status"] for row in record["bounds"]] == ["lower", "model"]
    assert found(f"{ONE_RUN} --epsilon 1")[1]["refuted"] is True


def of_counts(members, hits, non_members, alarms, **more):
    return dpcalc.answer("audit", true_positives=(hits, members), false_positives=(alarms, non_members), **more).value


def of_one_run(canaries, guesses, right, **more):
    return dpcalc.answer("audit", canaries=canaries, guesses=guesses, right=right, **more).value


@pytest.mark.parametrize("seed", range(40))
def test_what_makes_a_bound_smaller(seed):
    """Fewer hits, more false alarms or wrong guesses, more canaries, a larger δ, more tests, and more confidence."""
    rng = Random(seed)
    n1, n0, m = (round(10 ** rng.uniform(1, 5)) for _ in range(3))
    r = rng.randint(1, m)
    question = {"delta": rng.choice((0, 1e-6, 1e-4)), "confidence": rng.choice((0.5, 0.9, 0.95, 0.99)),
                "tests": rng.choice((1, 2, 20))}
    counted = n1, rng.randint(n1 // 4 + 1, n1), n0, rng.randint(0, n0 // 2)
    guessed = m, r, rng.randint(r // 2 + 1, r)
    worse = [{"delta": 2 * question["delta"] + 1e-5}, {"confidence": 1 - (1 - question["confidence"]) / 3},
             {"tests": 2 * question["tests"]}]
    for bound, own, others in (
            (of_counts, counted, [(n1, counted[1] - 1, *counted[2:]), (*counted[:3], counted[3] + 1)]),
            (of_one_run, guessed, [(m, r, guessed[2] - 1), (m + 1, r, guessed[2]), (m + 1, r + 1, guessed[2])])):
        value = bound(*own, **question)
        for other in [(own, question | more) for more in worse] + [(other, question) for other in others]:
            assert bound(*other[0], **other[1]) <= value + 1e-9, (own, question, other)


def test_tests_share_the_probability_of_an_error():
    asked = {"true_positives": "500/1000", "false_positives": "10/1000", "delta": 1e-5}
    ten = dpcalc.answer("audit", **asked, tests=10)
    assert ten.value == pytest.approx(dpcalc.answer("audit", **asked, confidence=0.995).value, rel=1e-9)
    assert ten.value < dpcalc.answer("audit", **asked).value - 0.1


def test_an_attack_that_is_always_wrong_shows_as_much_by_its_noes():
    """1 − FPR <= e^ε(1 − TPR) + δ: few misses show as much as few false alarms."""
    few_alarms = dpcalc.answer("audit", true_positives="500/1000", false_positives="10/1000", delta=0)
    few_misses = dpcalc.answer("audit", true_positives="990/1000", false_positives="500/1000", delta=0)
    assert few_alarms.value == pytest.approx(few_misses.value, rel=1e-11) and few_alarms.value > 3


def test_an_attack_that_fails_shows_nothing_and_is_no_error():
    assert dpcalc.answer("audit", true_positives="0/1000", false_positives="0/1000", delta=1e-5).value == 0
    swapped = dpcalc.answer("audit", true_positives="10/1000", false_positives="500/1000", delta=1e-5)
    assert swapped.value == 0 and "says yes less often with the record" in " ".join(swapped.notes)
    assert dpcalc.answer("audit", canaries=100, guesses=100, right=50, delta=0).value == 0


def test_what_so_many_runs_can_show_is_shown_by_an_attack_that_is_always_right():
    most = dpcalc.answer("audit", true_positives="500/1000", false_positives="10/1000", delta=1e-5).result
    best = dpcalc.answer("audit", true_positives="1000/1000", false_positives="0/1000", delta=1e-5)
    assert most["largest_epsilon_lower"] == best.value == pytest.approx(5.60058, abs=1e-5)
    guesses = dpcalc.answer("audit", canaries=100, guesses=100, right=60, delta=0).result["largest_epsilon_lower"]
    s = 0.05 ** (1 / 100)  # of s^r = 5 %
    assert guesses == pytest.approx(log(s / (1 - s)), rel=1e-9)


# --- output ----------------------------------------------------------------------------------------------------------


def test_the_page():
    text = call(COUNTS.split()).stdout
    assert text.startswith("ε ≥ 3.24199 at δ = 1e-05, with confidence 95 % (audit-counts)\n")
    assert "A lower bound for the program that was attacked, and no guarantee." in text
    assert call([*COUNTS.split(), "-q"]).stdout.startswith("3.2419952494")
    assert "proves nothing about privacy" in call([*COUNTS.split(), "--all"]).stdout


def test_what_shows_nothing_says_so():
    """Also beside a claim, which it does not confirm."""
    nothing = call(["audit", "--canaries", "100", "--guesses", "100", "--right", "40", "--delta", "0", "--epsilon", "1"]).stdout
    assert "This audit shows nothing; that does not mean that the program is private." in nothing
    assert "which does not confirm it" in nothing and "fewer than half of the guesses are right" in nothing


def test_no_confidence_is_rounded_up_to_certainty():
    """Nor the probability of an error down to 0."""
    line = f"{COUNTS} --confidence 0.99999999"
    text = " ".join(call([*line.split(), "--all"]).stdout.split())
    assert "with confidence 99.999999 % (" in text and "exceeds its true ε in at most 1e-06 % of such audits" in text
    assert "with confidence 99.999999 %," in " ".join(call([*line.split(), "--format", "statement"]).stdout.split())


def test_a_confidence_below_a_half_gives_a_warning():
    done = call([*COUNTS.split(), "--confidence", "0.05"])
    assert done.returncode == 0 and "is below 1/2" in done.stderr and "is below" not in call(COUNTS.split()).stderr


def test_the_statement():
    text = " ".join(call([*COUNTS.split(), "--format", "statement"]).stdout.split())
    assert ("An attack with 500 true positives in 1000 runs and 10 false positives in 1000 runs refutes, with confidence "
            "95 %, that the program is (ε, 1e-05)-differentially private with any ε below 3.24199.") in text
    assert "no privacy guarantee" in text and "dpcalc audit --delta 1e-05" in text and "Released" not in text
    refuted = call([*COUNTS.split(), "--epsilon", "1", "--format", "statement"])
    assert refuted.returncode == 3 and "It refutes the claim of ε = 1." in refuted.stdout
    claim = call(["subsample", "--sampling-rate", ".01", "--noise-multiplier", "1", "--steps", "9", "--delta", "1e-5", "--json"]).stdout
    beside = " ".join(call([*f"{COUNTS} - --format statement".split()], claim).stdout.split())
    assert "The attack must tell apart data sets that differ as the claim says (neighbours: add-remove)" in beside
    assert "The claim has conditions: batches must be Poisson samples" in beside
    failed = call(["audit", "--canaries", "10", "--guesses", "10", "--right", "5", "--delta", "0", "--tests", "3", "--format", "statement"]).stdout
    assert "refutes no ε" in " ".join(failed.split()) and "shared among 3 tests" in " ".join(failed.split())


def test_curves_lie_between_a_blind_guess_and_the_claim():
    answer = dpcalc.answer("audit", true_positives="50/1000", false_positives="20/1000", inputs=[GAUSSIAN], roc=40)
    rows = answer.record()["roc"]
    assert len(rows) == 40
    for row in rows:
        assert row["fpr"] <= row["tpr_lower"] <= row["tpr_lower_gaussian"] + 1e-9 <= row["tpr_claimed"] + 1e-9 <= 1 + 1e-9
    at = min(rows, key=lambda row: abs(row["fpr"] - answer.result["fpr_high"]))
    assert at["tpr_lower"] == pytest.approx(answer.result["tpr_low"], rel=0.1)


@pytest.mark.parametrize("more", ["", " --epsilon 2", " --epsilon 9"])
def test_the_picture_shows_the_attack_and_the_curves(more, tmp_path):
    path = tmp_path / "a.svg"
    line = f"audit --true-positives 60/100 --false-positives 0/100 --delta 1e-5{more}"
    done = call([*line.split(), "--plot", str(path)])
    assert done.returncode in (0, 3) and done.stdout.startswith("ε ≥ ")
    text = path.read_text(encoding="utf-8")
    for name in ("seen: 60/100 and 0/100, with intervals of 95 %", "shown: some attack is on or above",
                 "shown, if the noise is Gaussian", *(["claim: no attack is above"] if more else [])):
        assert name in text
    assert ("the claim is refuted" in text) is (done.returncode == 3)
    assert "false-positive rate FPR" in call([*line.split(), "--plot", "-"]).stdout


def test_a_batch_says_of_each_line_whether_it_refutes():
    lines = ["true_positives,false_positives,epsilon,delta", "500/1000,10/1000,1,1e-5", "500/1000,10/1000,9,1e-5",
             "500/1000,10/1000,,1e-5", "5000/1000,10/1000,,1e-5"]
    done = call(["audit", "--batch"], "\n".join(lines))
    header, *rows = csv.reader(done.stdout.splitlines())
    place = header.index("refuted")
    assert done.returncode == 1 and [row[place] for row in rows] == ["true", "false", "", ""]
    assert "more hits than runs" in rows[-1][-1]
    in_json = call(["audit", "--batch"], json.dumps({"canaries": 1000, "guesses": 200, "right": 180, "delta": 0.0}))
    assert json.loads(in_json.stdout)["result"]["epsilon_lower"] > 1.7


def test_a_sweep_has_the_verdict_beside_the_bound():
    done = call(f"{ONE_RUN} --epsilon 1".replace("180", "120,180").split())
    assert done.returncode == 3
    text = done.stdout
    rows = [line.split() for line in text.splitlines() if line.split()[:1] in (["120"], ["180"])]
    assert rows == [["120", "0.157879", "1", "no"], ["180", "1.79628", "1", "yes"]]
    assert "lower bound on ε at δ = 1e-05" in text and "count them in --tests" in text and "Neighbours" not in text
    assert "confidence 95 %: whatever the program is" in text and "each canary was put in by its own fair coin" in " ".join(text.split())
    in_csv = call([*f"{ONE_RUN} --epsilon 1".replace("180", "120,180").split(), "--format", "csv"]).stdout
    assert [row["refuted"] for row in csv.DictReader(in_csv.splitlines())] == ["false", "true"]
    grid = call(f"{ONE_RUN} --epsilon 1 --confidence 0.9,0.95".replace("180", "120,180").split()).stdout
    assert "1.79628 (refuted)" in grid
    assert call(f"{ONE_RUN} --epsilon 2".replace("180", "120,180").split()).returncode == 0


def test_the_exit_code_of_a_batch_says_that_some_claim_is_refuted():
    lines = [{"canaries": 100, "guesses": 50, "right": right, "delta": 0, "epsilon": 1} for right in (30, 49)]
    assert call(["audit", "--batch"], json.dumps(lines[0])).returncode == 0
    assert call(["audit", "--batch"], "\n".join(map(json.dumps, lines))).returncode == 3


# --- what is no guarantee --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", ["convert - --delta 1e-5", "tv -", "ledger - --delta 1e-5",
                                    "audit - --true-positives 5/10 --false-positives 1/10 --delta 0"])
def test_an_audit_is_read_by_no_command(reader):
    for line in (COUNTS, ONE_RUN, f"{COUNTS} --epsilon 9"):
        done = call(reader.split(), call([*line.split(), "--json"]).stdout)
        assert done.returncode == 2 and "is an audit: a lower bound on ε, which is no guarantee" in done.stderr
    with pytest.raises(DpcalcError, match="is an audit"):
        dpcalc.answer("convert", inputs=[dpcalc.answer("audit", canaries=9, guesses=5, right=5, delta=0)], delta=1e-5)


# --- mistakes --------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("", "--true-positives: needed: the counts of an attack"),
    ("--true-positives 1200/1000 --false-positives 10/1000 --delta 0", "1200/1000 has more hits than runs"),
    ("--true-positives 500 --false-positives 10/1000 --delta 0", "lacks the number of runs; give hits/runs, as 500/1000"),
    ("--true-positives .5 --false-positives 10/1000 --delta 0", "a rate is not enough, as the number of runs decides"),
    ("--true-positives 0.5/1 --false-positives 10/1000 --delta 0", "two whole numbers"),
    ("--true-positives 1/0 --false-positives 10/1000 --delta 0", "give hits/runs with 1 to 1e+09 runs"),
    ("--true-positives -1/9 --false-positives 10/1000 --delta 0", "give hits/runs"),
    ("--true-positives --5/9 --false-positives 10/1000 --delta 0", "two whole numbers"),
    ("--true-positives 1/2/3 --false-positives 10/1000 --delta 0", "is not hits/runs"),
    ("--score-threshold 1 --delta 0", "also add --false-positives, or --scores FILE"),
    ("--true-positives 500/1000 --delta 0", "an attack that always says yes has a true-positive rate of 1"),
    ("--true-positives 500/1000 --false-positives 10/1000", "--delta: needed: the δ of the bound"),
    ("--true-positives 5/1000 --false-positives 1/1000 --delta .01", "not below the observed true-positive rate 5/1000"),
    ("--true-positives 5/10 --false-positives 1/10 --delta 0 --confidence 95", "--confidence: 95 is not > 0 and < 1"),
    ("--canaries 1000 --guesses 200 --right 280 --delta 0", "--right: 280 is more than the 200 guesses"),
    ("--canaries 100 --guesses 200 --right 180 --delta 0", "--guesses: 200 is more than the 100 canaries"),
    ("--canaries 100 --guesses 20 --delta 0", "--right: needed in an audit by the canaries of one run"),
    ("--canaries 100 --true-positives 5/10 --delta 0", "--canaries: canaries are of one run"),
    ("--scores x.csv --true-positives 5/10 --delta 0", "--scores gives these counts"),
    ("--true-positives 94% --false-positives 1/10 --delta 0", "a rate is not enough"),
    ("--true-positives 4:9 --false-positives 1/10 --delta 0", "is not hits/runs"),
    ("--false-negatives 30/500 --false-positives 1/10", "30 misses in 500 runs are --true-positives 470/500"),
    ("--tpr .5 --fpr .01", "a rate says nothing about how sure it is"),
    ("--auc .9", "no bound follows from it alone"),
    ("--true-positives 5/10 --false-positives 1/10 --delta 0 --alpha .05", "the probability of an error is 1 − --confidence"),
    ("--true-positives 5/10 --false-positives 1/10 --delta 0 --solve delta", "--solve: no such option; an audit finds no parameter"),
    ("--canaries 100 --guesses 20 --right 20 --delta 0 --plot -", "--plot: draws the rates of independent runs"),
    ("--canaries 100 --guesses 20 --right 20 --delta 0 --roc 5", "canaries are of one run"),
    ("--true-positives 5/10 --false-positives 1/10 --delta 0 --bound audit-gdp", "Gaussian noise has no ε at δ = 0"),
    ("--true-positives 5/10 --false-positives 1/10 --delta 0 --bound audit-one-run", "is not a bound for this question"),
]


@pytest.mark.parametrize("line, says", MISTAKES, ids=[line or "nothing" for line, _ in MISTAKES])
def test_a_mistake_is_one_line_with_the_way_out(line, says):
    done = call(["audit", *line.split()])
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr


def test_a_claim_is_given_once():
    done = call([*f"{COUNTS} - --epsilon 1".split()], GAUSSIAN.json())
    assert done.returncode == 2 and "the claim is the input; drop one of them" in done.stderr
