"""A recorded answer is proven anew, and a better one than the theorem gives is not."""

import copy
import json
import sys

import pytest
from conftest import slow
from questions import questions
from verifying import ask, better, refuted, texts

from dpcalc.cli.app import load
from dpcalc.verify.in_words import verdict_sentence
from dpcalc.verify.records import read
from dpcalc.verify.report import verify

COUNT, SEED, CHUNKS = 200, 20261121, 20
LONG = (5, 43, 55, 67, 69, 102, 114, 115, 124, 127, 129, 138, 149, 150, 151, 173, 175, 197, 198, 199)  # .4 s and more
SLOW = (0, 1, 2, 4, 5, 8, 10, 13, 16, 17, 18, 19)  # chunks; the others ask all commands, too


def chunks():
    """Numbers of questions."""
    for k in range(CHUNKS):
        found = [j for j in range(k, COUNT, CHUNKS) if j not in LONG]
        yield slow(found) if k in SLOW else found
    yield from (slow([j]) for j in LONG)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("numbers", list(chunks()), ids=lambda x: f"{x[0]}-{len(x)}")
def test_every_answer_is_verified_and_no_better_one(numbers):
    lines = questions(COUNT, SEED)
    for line in (lines[k] for k in numbers):
        record = ask(line)
        verdict = verify(record)
        if "hiding" in record["bound"] and any(f.verdict == "unchecked" for f in verdict.head):
            continue  # its Rényi divergence rests on hundreds of plans, and some compositions take too long
        assert verdict.holds, (line, texts(verdict))
        low = better(record)
        if low is not None:
            assert refuted(low), (line, texts(verify(low)))


def test_few_of_the_questions_have_an_answer_that_cannot_be_better():
    lines = questions(COUNT, SEED)
    assert len(lines) == len(set(lines)) == COUNT
    assert len({line.split()[0] for line in lines}) == 8
    assert sum("--solve" in line for line in lines) > 20


@pytest.mark.parametrize("line", [
    "rdp --sigma 1 --delta 1e-5",
    "rdp --sigma 2 --steps 3 --epsilon 1",
    slow("subsample --sampling-rate 0.05 --sigma 2 --steps 5 --delta 1e-5"),
    "subsample --mechanism discrete-laplace --scale 2.4663034623764326 --sampling-rate .3 --steps 3 --delta 1e-3",
    "convert --from dp --epsilon 1 --delta 0 --to gdp",
    slow("shuffle-pnsgd --sigma 2 --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 50 --epsilon .3"),
    "burn-in --order fixed --n 100 --batch-size 10 --steps 30 --lipschitz 1 --smoothness 1 --learning-rate .1 "
    "--diameter 1 --sigma .2 --delta 1e-5",
])
def test_without_flint_the_same_verdicts_in_50_digits(line, monkeypatch):
    record = ask(line)
    monkeypatch.setitem(sys.modules, "flint", None)
    verdict = verify(record)
    assert verdict.holds, texts(verdict)
    assert all("50-digit arithmetic, margin 1e-20, not certified" in f.text for f in verdict.head if f.decision)
    assert not verify(better(record)).holds


CHANGES = {
    "a parameter": lambda r: r["parameters"].update(steps=2),
    "an option": lambda r: r["options"].update(steps=4),
    "what the next command reads": lambda r: r["guarantee"]["mechanisms"][0].update(noise_multiplier=3.0),
    "a bound's status": lambda r: r["bounds"][0].update(status="lower"),
    "the headline alone": lambda r: r["result"].update(epsilon=r["result"]["epsilon"] * (1 - 1e-6)),
    "a bound alone": lambda r: r["bounds"][1].update(epsilon=r["bounds"][1]["epsilon"] * (1 - 1e-6)),
    "its witness": lambda r: r["bounds"][1]["witness"].update(rdp=r["bounds"][1]["witness"]["rdp"] * (1 - 1e-6)),
    "the order of a bound": lambda r: r["bounds"][1]["witness"].update(alpha=1.5),
    "the question": lambda r: r["options"].update(delta=1e-6),
    "the δ it is told for": lambda r: (r["result"].update(delta=1e-6), r["bounds"][0].update(delta=1e-6)),
    "the name of its bound": lambda r: r["bounds"][0].update(name="gaussian-classic"),
    "the adjacency": lambda r: r.update(adjacency="none"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_record_is_checked_as_a_whole(what):
    record = ask("rdp --sigma 2 --steps 3 --delta 1e-5")
    assert verify(record).holds
    CHANGES[what](record)
    assert not verify(record).holds


def test_orders_and_grids_are_free_choices():
    """Another witness proves another number, and a wider claim holds."""
    record = ask("subsample --sampling-rate 0.05 --sigma 2 --steps 5 --delta 1e-5")
    wide = copy.deepcopy(record)
    wide["result"]["epsilon"] = wide["bounds"][0]["epsilon"] = record["result"]["epsilon"] * 1.5
    assert verify(wide).head[0].verdict == "verified"
    coarse = copy.deepcopy(record)
    witness = coarse["bounds"][0]["witness"]  # fewer, wider cells: sound, and a larger δ
    witness["grids"] = [[[8 * step, first // 8, last // 8 + 1] for step, first, last in levels[-1:]]
                        for levels in witness["grids"]]
    witness["steps"] = [8 * step for step in witness["steps"]]
    assert verify(coarse).head[0].verdict == "not verified"


def test_the_command(cli, tmp_path):
    file = tmp_path / "a.json"
    file.write_text(cli("rdp", "--sigma", "1", "--delta", "1e-5", "--json").stdout)
    epsilon = json.loads(file.read_text())["result"]["epsilon"]
    done = cli("verify", file)
    assert done.returncode == 0 and done.stderr == ""
    first, second = done.stdout.splitlines()[:2]
    assert first == "Verified: 5 claims proven, the rest only computed again."
    assert second == f"  verified: ε ≤ {epsilon!r} (gaussian-exact)"
    file.write_text(file.read_text().replace("4.377178", "4.377177"))
    done = cli("verify", file)
    assert done.returncode == 3
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith("NOT verified: ") and second.startswith(f"  not verified: claimed ε = {epsilon - 1e-6:.12}")
    assert cli("verify", file, "-q").stdout == "not verified\n"
    told = json.loads(cli("verify", file, "--json").stdout)
    assert told["verified"] is False and told["headline"][0]["verdict"] == "not verified" and told["sentence"] == first


def test_several_records_have_a_total_and_a_verdict_each(cli):
    swept = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--format", "jsonl").stdout
    changed = swept.replace('"version": "', '"version": "0.0.', 1)
    total, *below = cli("verify", "-", stdin=changed).stdout.splitlines()
    assert total == "2 of 2 results are verified."
    assert below[0].startswith("Result 1: Partly verified: ") and below[0].endswith("not checked: version.")
    assert "Result 2: Verified: 5 claims proven, the rest only computed again." in below
    assert all(len(line) <= 100 for line in below)


def test_sweeps_and_lines(cli):
    for how in ("json", "jsonl"):
        swept = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--format", how).stdout
        assert cli("verify", "-", "-q", stdin=swept).stdout == "verified\nverified\n"


def test_pipes_carry_their_inputs(cli):
    first = cli("rdp", "--sigma", "2", "--json").stdout
    second = cli("subsample", "-", "--sampling-rate", "0.05", "--steps", "4", "--json", stdin=first).stdout
    third = cli("convert", "-", "--delta", "1e-5", "--json", stdin=second).stdout
    assert [len(json.loads(x)["inputs"]) for x in (first, second, third)] == [0, 1, 1]
    assert cli("verify", "-", "-q", stdin=third).stdout == "verified\n"
    assert cli("verify", "-", stdin=first).stdout.startswith("Nothing to verify: this result claims no number; make it with --delta, --epsilon or --alpha.\n")
    changed = json.loads(third)
    changed["inputs"][0]["mechanisms"][0]["count"] = 5
    assert cli("verify", "-", stdin=json.dumps(changed)).returncode == 3


def test_a_schedule_from_a_file_is_in_the_record(cli, tmp_path):
    file = tmp_path / "steps.json"
    file.write_text('{"sigma": [0.1, 0.2, 0.1], "learning_rate": [0.1, 0.1, 0.05]}')
    line = ["burn-in", "--n", "9", "--batch-size", "9", "--lipschitz", "1", "--smoothness", "1", "--diameter", "1",
            "--delta", "1e-5", "--json", "--schedule"]
    record = cli(*line, file).stdout
    file.unlink()
    assert cli("verify", "-", "-q", stdin=record).stdout == "verified\n"


BAD = {
    "": "is empty", "{": "is not JSON", "[]": "holds no result", "[1]": "is no dpcalc result",
    '{"schema": "dpcalc/v2"}': "has schema",
    "[" * 100_000: "nested too deep", '{"error": {"code": "x"}}': "is an error", '{"a": NaN}': "NaN is not a JSON number",
    '{"schema": "dpcalc/v1"}': "has no object", "1" * 5000: "a number with too many digits", "\x00": "is not JSON",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_no_result_is_told_in_a_line(text, cli):
    done = cli("verify", "-", stdin=text)
    assert done.returncode == 2 and done.stdout == ""
    assert BAD[text] in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize("change", [
    lambda r: r.update(command="schema"), lambda r: r.update(command="nothing"),
    lambda r: r["options"].update(sigma=-1.0),
    lambda r: r["options"].update(colour=1), lambda r: r.update(inputs=[{"kind": "x"}]),
    lambda r: r["options"].update(solve="nothing"),
    lambda r: r["result"].update(epsilon="many"), lambda r: r.update(bounds=[1]), lambda r: r["options"].pop("sigma"),
])
def test_records_that_ask_nothing_are_bad_input(change, cli):
    record = ask("rdp --sigma 1 --delta 1e-5")
    change(record)
    done = cli("verify", "-", stdin=json.dumps(record))
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_reading(tmp_path):
    file = tmp_path / "two.jsonl"
    record = ask("rdp --sigma 1 --delta 1e-5")
    file.write_text("\n".join(json.dumps(record) for _ in range(2)))
    assert len(read(str(file))) == 2


def test_certify(cli):
    record = json.loads(cli("rdp", "--sigma", "1", "--delta", "1e-5", "--certify", "--json").stdout)
    ends = record["certified"]
    assert ends["bits"] == 128 and ends["lower"] < 4.37717809568 < ends["upper"] == record["result"]["epsilon"]
    assert cli("verify", "-", "-q", stdin=json.dumps(record)).stdout == "verified\n"
    record["certified"]["upper"] = 4.0
    assert cli("verify", "-", stdin=json.dumps(record)).returncode == 3
    exact = json.loads(cli("rdp", "--sigma", "3", "--alpha", "7", "--certify", "--json").stdout)
    assert exact["certified"]["lower"] <= 7 / 18 <= exact["certified"]["upper"] <= exact["result"]["rdp"]
    solved = cli("rdp", "--epsilon", "1", "--delta", "1e-5", "--solve", "sigma", "--certify")
    assert solved.returncode == 0 and "certified: ε at the witness is between" in solved.stdout


def test_certify_without_flint(monkeypatch):
    from dpcalc.core.errors import DpcalcError

    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(DpcalcError, match="--certify needs python-flint: pip install python-flint"):
        load("rdp").run(["--sigma", "1", "--delta", "1e-5", "--certify"])


def test_what_cannot_be_checked_is_said(cli):
    line = ("burn-in --n 1000 --batch-size 50 --steps 1e7 --lipschitz 1 --smoothness 1 --strong-convexity 1 "
            "--learning-rate 2 --diameter 1 --sigma .003 --delta 1e-5 --bound lower-bound")
    record = cli(*line.split(), "--json").stdout
    done = cli("verify", "-", stdin=record)
    assert done.returncode == 3 and done.stdout.startswith("NOT verified: the number of the first line could not be checked; ")
    assert "minutes" in done.stdout


@pytest.mark.parametrize(("line", "said"), [
    ("tv --mechanism laplace --scale 10 --bound tv-laplace-as-published", "a formula as published: no guarantee"),
    ("shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 0.5 --alpha 8 --bound without-replacement-conjecture",
     "a conjecture: no guarantee")])
def test_what_is_no_guarantee_is_called_so(line, said):
    """A formula can be evaluated without an error and still be false."""
    verdict = verify(ask(line))
    assert " evaluated correctly, the rest only computed again. But " in verdict_sentence(verdict)
    assert said in verdict.head[0].text and verdict_sentence(verdict).endswith(f" But the number of the first line is {said}.")


def test_the_sentence_says_what_is_proven_and_what_is_only_computed_again():
    record = ask("rdp --mechanism laplace --steps 5 --epsilon .325761 --delta 1.75627e-7 --solve scale")
    verdict = verify(record)
    found = [f.verdict for f in (*verdict.head, *verdict.others)]
    assert (found.count("verified"), found.count("computed again, and equal")) == (8, 1)
    assert verdict_sentence(verdict) == "Verified: 8 claims proven, 1 claim and the rest only computed again."
    record["version"] = "0.0.9"
    assert verdict_sentence(verify(record)) == ("Partly verified: 8 claims proven, 1 claim and the rest only computed "
                                                "again; not checked: version.")


def test_a_lower_end_that_is_raised_is_not_proven_and_not_computed_again():
    record = ask("subsample --sampling-rate 0.05 --sigma 2 --steps 5 --delta 1e-5")
    row = record["bounds"][0]
    row["epsilon_lower"] = record["result"]["epsilon_lower"] = row["epsilon_lower"] * (1 + 1e-5)
    verdict = verify(record)
    assert not verdict.holds and verdict.unchecked == ("bounds[0].epsilon_lower",)
    assert [f.verdict for f in verdict.head] == ["verified", "unchecked"]


def test_a_row_with_a_wrong_value_is_not_computed_again_and_the_others_are():
    record = ask("rdp --mechanism laplace --steps 5 --epsilon .325761 --delta 1.75627e-7 --solve scale")
    for k, least in ((0, "computed again, and equal"), (4, "unchecked")):
        changed = copy.deepcopy(record)
        changed["bounds"][k]["status"] = "lower"
        verdict = verify(changed)
        assert verdict.word == "not verified" and verdict.others[-1].verdict == least, texts(verdict)
