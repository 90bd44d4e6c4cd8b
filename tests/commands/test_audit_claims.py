"""An audit beside a claim: whether the attack refutes what a program promises."""

import json

import pytest
from calling import call

import dpcalc
from dpcalc.core.errors import DpcalcError

COUNTS = "audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5"
GAUSSIAN = dpcalc.answer("rdp", sigma=2, delta=1e-5)


def found(line, stdin=""):
    """(exit code, record) of a line."""
    done = call([*line.split(), "--json"], stdin)
    return done.returncode, json.loads(done.stdout)


def test_a_claim_is_refuted_by_epsilon():
    done = call([*f"{COUNTS} -".split()], GAUSSIAN.json())
    assert done.returncode == 3 and "\nRefuted: the claim is ε = 1.9931 at δ = 1e-05, and the attack shows more.\n" in (
        done.stdout)
    code, record = found(f"{COUNTS} -", GAUSSIAN.json())
    assert code == 3 and record["refuted"] is True and record["adjacency"] == "the data sets of the attack"
    assert record["result"]["claimed_epsilon"] == GAUSSIAN.value


def test_a_claim_is_refuted_by_its_trade_off_curve_where_epsilon_is_not_exceeded():
    answer = dpcalc.answer("audit", true_positives="150/1000", false_positives="10/1000", inputs=[GAUSSIAN])
    tpr = dpcalc.answer("tv", inputs=[GAUSSIAN], fpr=[answer.result["fpr_high"]]).result["tpr"]
    assert answer.value < GAUSSIAN.value and answer.result["claimed_tpr"] == tpr < answer.result["tpr_low"]
    assert answer.refuted is True and answer.notes[0].startswith("refuted: no attack on a program that keeps the claim")


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
