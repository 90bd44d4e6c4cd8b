"""dpcalc audit: from the counts of an attack to a lower bound on ε, and beside a claim whether the attack refutes it."""

import csv
import json
from itertools import product
from math import log
from pathlib import Path

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


def test_what_makes_a_bound_smaller():
    """More doubt, more tests, fewer hits, more false alarms, a larger δ, fewer runs."""
    def value(tp=500, fp=10, n=1000, **more):
        return dpcalc.answer("audit", true_positives=(tp, n), false_positives=(fp, n),
                             **{"delta": 1e-5, "confidence": 0.95, **more}).value

    assert value() > value(confidence=0.99) > value(confidence=0.999)
    assert value() > value(tests=2) > value(tests=10) == pytest.approx(value(confidence=0.995), rel=1e-9)
    assert value() > value(tp=490) and value() > value(fp=11) and value() > value(delta=1e-3)
    assert value(5000, 100, 10_000) > value() > value(50, 1, 100)

    def one_run(**more):
        return dpcalc.answer("audit", **{"canaries": 1000, "guesses": 200, "right": 180, "delta": 1e-5, **more}).value

    assert one_run() > one_run(right=179) and one_run() > one_run(canaries=1001) and one_run() > one_run(delta=2e-5)
    assert one_run() > one_run(guesses=201) and one_run() > one_run(confidence=0.99)


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


# --- beside a claim --------------------------------------------------------------------------------------------------


def test_a_claim_is_refuted_by_epsilon():
    done = call([*f"{COUNTS} -".split()], GAUSSIAN.json())
    assert done.returncode == 3 and "\nRefuted: the claim is ε = 1.9931 at δ = 1e-05, and the attack shows more.\n" in (
        done.stdout)
    code, record = found(f"{COUNTS} -", GAUSSIAN.json())
    assert code == 3 and record["refuted"] is True and record["adjacency"] == "those that the attack told apart"
    assert record["result"]["claimed_epsilon"] == GAUSSIAN.value


def test_a_claim_is_refuted_by_its_trade_off_curve_where_epsilon_is_not_exceeded():
    answer = dpcalc.answer("audit", true_positives="150/1000", false_positives="10/1000", inputs=[GAUSSIAN])
    tpr = dpcalc.answer("tv", inputs=[GAUSSIAN], fpr=[answer.result["fpr_high"]]).result["tpr"]
    assert answer.value < GAUSSIAN.value and answer.result["claimed_tpr"] == tpr < answer.result["tpr_low"]
    assert answer.refuted is True and answer.notes[0].startswith("refuted: no attack on a program with")


def test_the_delta_of_the_claim_is_that_of_the_audit():
    own = dpcalc.answer("audit", true_positives="500/1000", false_positives="10/1000", inputs=[GAUSSIAN])
    assert own.result["delta"] == 1e-5 and "delta" in own.record()["options"]
    other = dpcalc.answer("audit", true_positives="500/1000", false_positives="10/1000", inputs=[GAUSSIAN], delta=1e-6)
    assert other.result["claimed_epsilon"] == dpcalc.answer("convert", inputs=[GAUSSIAN], delta=1e-6).value
    solved = dpcalc.answer("rdp", epsilon=1, delta=1e-7, solve="sigma")
    assert dpcalc.answer("audit", true_positives="5/10", false_positives="1/10", inputs=[solved]).result["delta"] == 1e-7
    point = dpcalc.answer("audit", true_positives="5/10", false_positives="1/10",
                          inputs=[{"kind": "dp", "epsilon": 1.0, "delta": 1e-4}])
    assert (point.result["delta"], point.result["claimed_epsilon"]) == (1e-4, 1.0)


def test_the_delta_of_an_answer_is_no_key_of_a_guarantee():
    with pytest.raises(DpcalcError, match="at_delta: there is no such key here"):
        dpcalc.answer("convert", inputs=[{"kind": "dp", "epsilon": 1.0, "delta": 1e-4, "at_delta": 0.3}], delta=1e-3)
    assert "at_delta" not in call(["schema", "audit"]).stdout


def test_epsilon_claims_without_a_file():
    for claimed, refuted in ((1, True), (3.24, True), (3.25, False), (20, False)):
        assert dpcalc.answer("audit", true_positives="500/1000", false_positives="10/1000", epsilon=claimed,
                             delta=1e-5).refuted is refuted
    for claimed, refuted in ((1.79, True), (1.8, False)):
        answer = dpcalc.answer("audit", canaries=1000, guesses=200, right=180, delta=1e-5, epsilon=claimed)
        assert answer.refuted is refuted and answer.result["claimed_epsilon"] == claimed


def test_a_consistent_claim_says_what_so_many_runs_could_show():
    within = dpcalc.answer("audit", true_positives="50/100", false_positives="10/100", delta=1e-5, epsilon=2)
    assert within.notes[0] == ("consistent with the claim, ε = 2 at δ = 1e-05, which does not confirm it: with so many runs "
                               "an attack that is always right shows ε ≥ 3.28133, and refutes it")
    beyond = dpcalc.answer("audit", true_positives="50/100", false_positives="10/100", delta=1e-5, epsilon=5)
    assert beyond.notes[0].endswith("shows ε ≥ 3.28133, and does not refute it either")


def test_a_claim_without_epsilon_at_this_delta_is_refuted_by_its_curve_alone():
    tight = dpcalc.answer("audit", true_positives="500/1000", false_positives="1/1000", inputs=[GAUSSIAN], delta=0)
    assert "claimed_epsilon" not in tight.result and tight.refuted is True
    loose = dpcalc.answer("audit", true_positives="50/1000", false_positives="20/1000", inputs=[GAUSSIAN], delta=0)
    assert loose.refuted is False and "no ε at this δ" in loose.notes[0]


@pytest.mark.parametrize("line", [
    "subsample --n 60000 --batch-size 256 --epochs 3 --noise-multiplier 1.1 --delta 1e-5",
    "rdp --mechanism laplace --scale 2 --delta 0",
    "rdp --sigma 8 --max-keys 3 --group-size 2 --adjacency add-remove --delta 1e-5",
    "subsample --n 60000 --batch-size 256 --epochs 3 --noise-multiplier 1.1 --tries 10 --delta 1e-5",
    "convert --from zcdp --rho 0.1 --delta 1e-6",
    "shuffle-pnsgd --n 1000 --sigma 4 --lipschitz 1 --learning-rate 0.1 --smoothness 1 --diameter 1 --delta 1e-5",
])
def test_any_guarantee_can_be_audited(line):
    claim = call([*line.split(), "--json"]).stdout
    code, record = found("audit - --true-positives 990/1000 --false-positives 0/1000", claim)
    assert record["result"]["claimed_epsilon"] == pytest.approx(json.loads(claim)["result"]["epsilon"], rel=1e-6)
    assert code == 3 and record["refuted"] is True
    code, record = found("audit - --true-positives 15/1000 --false-positives 14/1000", claim)
    assert code == 0 and record["refuted"] is False


def test_a_claim_about_groups_says_so():
    for more, who in (("", "groups of 3 records; for one record those of the input"),
                      (" --adjacency replace-one", "groups of 3 records replaced")):
        claim = call([*f"rdp --sigma 2 --group-size 3 --delta 1e-5{more}".split(), "--json"]).stdout
        notes = found(f"{COUNTS} -", claim)[1]["notes"]
        assert any(f"differ as the claim says (neighbours: {who})" in note for note in notes)


def test_adjacency_converts_the_claim_to_the_neighbours_of_the_attack():
    of_batches = dpcalc.answer("subsample", sampling_rate=0.01, noise_multiplier=1, steps=100, delta=1e-5)
    of_steps = dpcalc.answer("correlated", steps=100, order="once", strategy="square-root", sigma=5, delta=1e-5)
    own = {"true_positives": "100/1000", "false_positives": "10/1000"}
    for claim in ([of_batches], [of_batches, of_steps]):
        found = dpcalc.answer("audit", **own, inputs=claim, adjacency="replace-one", roc=5)
        wanted = dpcalc.answer("convert", inputs=claim, delta=1e-5, adjacency="replace-one")
        rate = dpcalc.answer("tv", inputs=claim, fpr=[found.result["fpr_high"]], adjacency="replace-one").result["tpr"]
        assert found.result["claimed_epsilon"] == wanted.value
        assert found.result["claimed_tpr"] == pytest.approx(rate, rel=1e-7)
        assert found.adjacency == "replace-one" and call(["verify", "-"], found.json()).returncode == 0
    with pytest.raises(DpcalcError, match="add --adjacency replace-one"):
        dpcalc.answer("audit", **own, inputs=[of_batches, of_steps])
    with pytest.raises(DpcalcError, match="is about the claim"):
        dpcalc.answer("audit", **own, delta=1e-5, adjacency="replace-one")


def test_a_model_refutes_nothing():
    """The headline of --bound audit-gdp is under an assumption; the verdict is that of the counts."""
    done = call([*COUNTS.split(), "--epsilon", "5", "--bound", "audit-gdp", "--json"])
    assert done.returncode == 0 and json.loads(done.stdout)["refuted"] is False
    assert "audit-gdp is a lower bound that assumes a Gaussian trade-off curve, not a guarantee" in done.stderr
    assert json.loads(done.stdout)["result"]["epsilon_lower"] > 10
    assert json.loads(done.stdout)["notes"][0].startswith(
        "consistent with the claim, ε = 5 at δ = 1e-05, by the counts alone, which does not confirm it: ")
    text = call([*COUNTS.split(), "--epsilon", "5", "--bound", "audit-gdp", "--format", "statement"]).stdout
    assert "By the counts alone it does not refute the claim of ε = 5." in " ".join(text.split())


# --- the file of scores ----------------------------------------------------------------------------------------------


def scores(tmp_path, lines, header="member,score\n"):
    path = tmp_path / "scores.csv"
    path.write_text(header + "".join(f"{member},{score}\n" for member, score in lines))
    return str(path)


def test_lines_of_odd_number_choose_the_threshold_and_the_others_test_it(tmp_path):
    """In the lines that choose, 5 separates best; in the others, 2 of 3 members and 1 of 3 others are above it."""
    choose = [(1, 9), (1, 8), (1, 7), (0, 1), (0, 2), (0, 5 - 1e-9), (1, 5), (0, 0)]
    test = [(1, 5), (1, 4.9), (0, 6), (0, 1), (1, 100), (0, -3), (1, -1), (0, 4)]
    lines = [line for pair in zip(choose, test, strict=True) for line in pair]
    for header in ("member,score\n", "Member, Score\r\n", ""):
        answer = dpcalc.answer("audit", scores=scores(tmp_path, lines, header), delta=0)
        assert answer.parameters["true_positives"] == "2/4" and answer.parameters["false_positives"] == "1/4"
        assert answer.result["score_threshold"] == 5
    every = dpcalc.answer("audit", scores=scores(tmp_path, lines), delta=0, score_threshold=5)
    assert (every.parameters["true_positives"], every.parameters["false_positives"]) == ("6/8", "1/8")


def test_a_record_of_scores_holds_their_counts(tmp_path):
    lines = [(member, member * 3 + k % 7) for k, member in product(range(60), (0, 1, 1, 0))]
    record = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0", "--json"]).stdout
    assert "scores" not in json.loads(record)["options"]
    assert call(["verify", "-"], record).returncode == 0
    statement = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0", "--format", "statement"]).stdout
    assert "or chosen on lines that do not test it" in " ".join(statement.split())


@pytest.mark.parametrize("text", [
    "member,score\n1,3\n0,1\n1,2\n0,0.5\n0,1\n1,2.5\n", "1,3\n0,1\n1,2\n0,0.5\n0,1\n1,2.5",
    "Score;other;MEMBER\n3;a;1\n1;b;0\n2;c;1\n0.5;d;0\n1;e;0\n2.5;f;1\n", "1\t3\r\n0\t1\r\n\r\n1\t2\r\n0\t0.5\r\n0\t1\r\n1\t2.5\r\n",
    "member,score\nTrue,3\nFalse,1\n1.0,2\n0.0,5e-1\nfalse,1\ntrue,2.5\n"])
def test_columns_in_other_forms(text, tmp_path):
    (tmp_path / "s.csv").write_text(text, newline="")
    own = dpcalc.answer("audit", scores=str(tmp_path / "s.csv"), delta=0, score_threshold=2).parameters
    assert (own["true_positives"], own["false_positives"]) == ("3/3", "0/3")


def test_scores_that_are_smaller_for_members_give_a_warning(tmp_path):
    lines = [(k % 2 if k % 4 < 2 else 1 - k % 2, (k * 7919) % 97 - 60 * (k % 2 if k % 4 < 2 else 1 - k % 2)) for k in range(400)]
    done = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0"])
    assert "negate scores such as a loss" in done.stderr and done.stdout.startswith("ε ≥ 0 ")
    turned = call(["audit", "--scores", scores(tmp_path, [(m, -s) for m, s in lines]), "--delta", "0"])
    assert turned.stderr == "" and not turned.stdout.startswith("ε ≥ 0 ")


def test_equal_scores_are_smaller_for_nobody(tmp_path):
    for first in (0, 1):
        lines = [(k // 2 % 2 ^ first, 0.5) for k in range(40)]
        done = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0"])
        assert done.stderr == "" and done.stdout.startswith("ε ≥ 0 ")


def test_a_file_that_is_sorted_by_score_is_refused(tmp_path):
    lines = [(k % 3 == 0, k) for k in range(40)]
    with pytest.raises(DpcalcError, match="is sorted by score"):
        dpcalc.answer("audit", scores=scores(tmp_path, [(int(m), s) for m, s in lines]), delta=0)
    fixed = dpcalc.answer("audit", scores=scores(tmp_path, [(int(m), s) for m, s in lines]), delta=0, score_threshold=20)
    assert fixed.parameters["true_positives"] == "7/14"


@pytest.mark.parametrize("text, says", [
    ("", "has no line member,score"), ("member,score\n", "has no line member,score"),
    ("2,1\n", "line 1: the member '2' is not 1"), ("1,x\n", "line 1: 'x' is no finite score"),
    ("1,nan\n", "no finite score"), ("1\n", "has no two columns"),
    ("1,1\n0,1\n" * 5, "has no non-members (0) in lines of odd number; shuffle its lines once"),
    ("1,1\n1,2\n0,1\n1,2\n", "has no non-members (0) in lines of even number"),
    ("1,1\n1,2\n", "has no non-members (0)")])
def test_a_file_that_holds_no_scores_says_what_is_wrong(text, says, tmp_path):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(DpcalcError, match="--scores") as error:
        dpcalc.answer("audit", scores=str(tmp_path / "s.csv"), delta=0)
    assert says in str(error.value)


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
    assert "confidence 95 %: whatever the program is" in text and "each canary was put in by a fair coin" in text
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
    ("--true-positives 5/10 --false-positives 1/10 --delta 0 --solve delta", "--solve: an audit finds no parameter"),
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
