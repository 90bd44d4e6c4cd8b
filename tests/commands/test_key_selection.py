"""Optimal selection of keys by the commands: known values, solved numbers of people, the privacy of a selection, pipes,
ledgers, statements, and what is refused."""

import json
from math import expm1

import pytest
from answers import answer, number, printed, refusal
from calling import call
from paths import GOLDEN
from verifying import REFUTED

from dpcalc.verify.report import VERIFIED, verify

CASES = [c for c in json.loads((GOLDEN / "counts.json").read_text())["cases"] if c["capability"] == "keep-probability"]
KEYS = "rdp --mechanism key-selection --step-epsilon 1 --step-delta 1e-5"


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["question"]))
def test_known_probabilities(case):
    asked, known = case["question"], case["value"]["probability"]
    found = answer(f"rdp --mechanism key-selection --step-epsilon {asked['epsilon']} --step-delta {asked['delta']} "
                   f"--max-keys {asked['groups']} --people {asked['people']}")
    assert found["bound"] == "key-selection" and found["status"] == "proven"
    # the known value was computed in doubles
    assert known * (1 - 1e-12) <= found["result"]["keep_probability"] <= known * (1 + case["rel_tol"])


def test_the_probability_is_the_headline_of_a_question_about_people():
    code, text = printed(f"{KEYS} --people 12")
    assert code == 0 and text.startswith("Keep probability = 0.760311 for a key of 12 people (key-selection)\n")
    assert "a key of 14 or more people is kept with a probability of 95 % or more" in text
    assert "for a key of 1 person (" in printed(f"{KEYS} --people 1")[1]
    assert number(f"{KEYS} --people 1") == pytest.approx(1e-5, rel=1e-15)


@pytest.mark.parametrize("name", ["partition-selection", "optimal-partition-selection", "truncated-geometric"])
def test_names_of_other_tools(name):
    other = KEYS.replace("key-selection", name)
    assert answer(f"{other} --people 12")["result"] == answer(f"{KEYS} --people 12")["result"]
    assert answer(f"{other} --l0 2 --people 12")["result"] == answer(f"{KEYS} --max-keys 2 --people 12")["result"]


@pytest.mark.parametrize("least", ["0.5", "0.95", "0.999999", "0.99999999999", "1e-5", "1e-6"])
def test_the_least_number_of_people(least):
    found = answer(f"{KEYS} --max-keys 2 --keep-probability {least} --solve people")
    n = found["result"]["people"]
    assert found["solved"] == "people" and found["parameters"]["keep_probability"] == float(least)
    assert found["result"]["keep_probability"] >= float(least)
    assert n == 1 or number(f"{KEYS} --max-keys 2 --people {n - 1}") < float(least)


def test_solved_people_in_words():
    assert printed(f"{KEYS} --keep-probability .95 --solve people")[1].startswith(
        "people = 14 gives keep probability ≥ 0.95 (key-selection)\n")
    assert "no number of people gives keep probability ≥ 0.5: even --people 9.0072e+15 has drop probability = 1" in refusal(
        "rdp --mechanism key-selection --step-epsilon 1e-300 --step-delta 1e-300 --keep-probability .5 --solve people", 3)


def test_sweeps_and_batches():
    text = printed(f"{KEYS} --people 2,12,20")[1]
    assert text.startswith("Keep probability\n") and [line.split() for line in text.splitlines()[4:7]] == [
        ["2", "3.71829e-05"], ["12", "0.760311"], ["20", "0.999926"]]
    text = printed(f"{KEYS} --keep-probability .5,.95 --solve people")[1]
    assert text.startswith("people for each keep probability\n") and text.splitlines()[4].split() == [".5", "12"]
    assert printed(f"{KEYS} --max-keys 1,2 --keep-probability .95 --solve people")[1].startswith(
        "people for keep probability ≥ 0.95\n")
    code, out, _ = call(["rdp", "--batch", "-", "--format", "csv"], "mechanism,step-epsilon,step-delta,max-keys,people\n"
                        "key-selection,1,1e-5,1,12\nkey-selection,1,1e-5,3,40\n")
    assert code == 0 and [line.split(",")[5] for line in out.splitlines()[1:]] == ["0.7603109969226273", repr(
        number(f"{KEYS} --max-keys 3 --people 40"))]


# --- the privacy of a selection --------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [1, 2, 3, 7, 10, 1000])
def test_one_selection_has_the_epsilon_and_delta_that_it_is_given(keys):
    found = answer(f"{KEYS} --max-keys {keys} --delta 1e-5")
    basic = next(row for row in found["bounds"] if row["name"] == "composition-basic")
    assert basic["epsilon"] == 1 and (0.99 if keys < 10 else 0.1) < found["result"]["epsilon"] <= 1
    assert found["guarantee"]["mechanisms"] == [{
        "name": "key-selection", "step_epsilon": pytest.approx(1 / keys, rel=1e-15),
        "step_delta": pytest.approx(1e-5 / keys, rel=1e-15), "sampling": None, "count": keys}]
    # the δ of k independent keys, which is what a split by 1 − (1−δ)^(1/k) in place of δ/k uses up
    at = answer(f"{KEYS} --max-keys {keys} --epsilon 1")["result"]["delta"]
    assert at == pytest.approx(1e-5 * (1 - (keys - 1) / keys * 1e-5 / 2), rel=1e-9) and at <= 1e-5


def test_neighbours_are_stated_and_two_people_are_replaced():
    assert answer(f"{KEYS} --delta 1e-5")["adjacency"] == answer(f"{KEYS} --people 12")["adjacency"] == "add-remove"
    zero, two = (answer(f"{KEYS} --max-keys 3 --adjacency {a} --delta 2e-5") for a in ("zero-out", "replace-one"))
    assert zero["result"]["epsilon"] == answer(f"{KEYS} --max-keys 3 --delta 2e-5")["result"]["epsilon"] <= 1
    assert two["guarantee"]["mechanisms"][0]["count"] == 6 and 1.9 < two["result"]["epsilon"] <= 2
    assert {row["name"]: row["epsilon"] for row in two["bounds"]}["composition-basic"] == 2


def test_steps_are_selections():
    found = answer(f"{KEYS} --max-keys 3 --steps 4 --delta 1e-4")
    assert found["guarantee"]["mechanisms"][0]["count"] == 12 and found["result"]["steps"] == 4
    solved = answer(f"{KEYS} --max-keys 3 --epsilon 10 --delta 1e-4 --solve steps")["result"]
    assert solved["steps"] == 10 and number(f"{KEYS} --max-keys 3 --steps 11 --delta 1.1e-4") > 10


def test_the_probability_stands_beside_a_privacy_loss():
    found = answer(f"{KEYS} --people 12 --delta 1e-5")
    assert found["bound"].startswith("composition") and found["result"]["epsilon"] == 1
    assert found["result"]["keep_probability"] == number(f"{KEYS} --people 12")
    assert "a key of 12 people is kept with probability 0.760311; a key of 14 or more people" in found["notes"][0]
    solved = answer("rdp --mechanism key-selection --step-delta 1e-5 --people 12 --epsilon 2 --delta 1e-5 --solve "
                    "step-epsilon")["result"]
    again = f"rdp --mechanism key-selection --step-delta 1e-5 --step-epsilon {solved['step_epsilon']!r} --people 12"
    assert solved["step_epsilon"] == 2 and solved["keep_probability"] == number(again)


def test_many_keys_lose_less_than_their_sum():
    """By optimal composition a selection of 1000 keys may have seven times the ε in each of them."""
    line = "rdp --mechanism key-selection --max-keys 1000 --epsilon 1 --delta 1e-5 --solve step-epsilon --step-delta"
    assert 7.4 < number(f"{line} 9e-6") < 7.6 and 5.2 < number(f"{line} 1e-5") < 5.4
    assert number(f"{line} 1e-5".replace("1000", "1")) == 1
    hint = "--solve step-epsilon give the largest one that meets it"
    assert any(note.endswith(hint) for note in answer(f"{KEYS} --max-keys 1000 --delta 1e-5")["notes"])
    assert not any(note.endswith(hint) for note in answer(f"{KEYS} --max-keys 3 --delta 1e-5")["notes"])


def test_total_variation():
    one, three = (json.loads(call(["tv", "-", "--json"], json.dumps(answer(f"{KEYS}{keys}")))[1])
                  for keys in ("", " --max-keys 3"))
    assert one["result"]["tv"] == pytest.approx((expm1(1) + 2e-5) / (expm1(1) + 2), rel=1e-9)
    assert three["result"]["tv"] == pytest.approx(answer(f"{KEYS} --max-keys 3 --epsilon 0")["result"]["delta"], rel=1e-8)
    assert three["adjacency"] == "add-remove"
    assert answer(f"{KEYS} --max-keys 3 --epsilon 0")["guarantee"]["mechanisms"][0]["count"] == 3


@pytest.mark.parametrize("line", [
    f"{KEYS} --people 12", f"{KEYS} --max-keys 3 --people 40 --delta 1e-5", f"{KEYS} --max-keys 3 --epsilon .5",
    f"{KEYS} --max-keys 2 --keep-probability .95 --solve people", f"{KEYS} --max-keys 2 --adjacency replace-one --delta 1e-4",
    "rdp --mechanism key-selection --step-delta 1e-6 --steps 3 --epsilon 2 --delta 1e-5 --people 9 --solve step-epsilon"])
def test_verify_proves_every_number(line):
    record = answer(line)
    assert verify(record).word == VERIFIED
    name = "keep_probability" if "keep_probability" in record["result"] else "tv" if "tv" in record["result"] else "delta"
    record["result"][name] *= 1 - 1e-6
    record["bounds"][0] |= {name: record["result"][name]} if name in record["bounds"][0] else {}
    assert verify(record).word == REFUTED


# --- what reads a selection ------------------------------------------------------------------------------------------


def piped(command, line=f"{KEYS} --max-keys 3"):
    """A command that reads the guarantee of a selection."""
    return call([*command.split(), "--json"], json.dumps(answer(line)))


def test_pipes():
    code, out, err = piped("convert - --steps 2 --delta 1e-4")
    assert code == 0 and json.loads(out)["result"]["epsilon"] == pytest.approx(
        number(f"{KEYS} --max-keys 3 --steps 2 --delta 1e-4"), rel=2e-3), err
    for command, words in (
            ("convert - --adjacency replace-one --delta 1e-3", "compute it with --adjacency replace-one"),
            ("convert - --delta 0", "no ε exists at δ = 0"), ("convert - --alpha 3", "no RDP curve"),
            ("convert - --to zcdp", "no theorem in dpcalc turns all of these guarantees into zCDP"),
            ("subsample - --sampling-rate .1 --delta 1e-5", "for a Poisson sample of people")):
        code, out, err = piped(command)
        assert code in (2, 3) and not out and words in err, (command, err)


def statement(line):
    """A statement on one line."""
    return " ".join(printed(f"{line} --format statement")[1].split())


def test_ledgers_and_statements(tmp_path):
    ledger = tmp_path / "ledger.toml"
    ledger.write_text('[[release]]\ncommand = "rdp"\nmechanism = "key-selection"\nstep-epsilon = 1\nstep-delta = 1e-5\n'
                      'max-keys = 3\n[[release]]\ncommand = "rdp"\nmechanism = "laplace"\nscale = 3\n')
    found = answer(f"ledger {ledger} --delta 1e-4")
    assert found["adjacency"] == "add-remove" and 1.3 < found["result"]["epsilon"] < 4 / 3
    assert "access the data" not in statement(f"ledger {ledger} --delta 1e-4")
    said = statement(f"{KEYS} --max-keys 3 --delta 1e-5")
    assert "Keys are selected" in said and "Each person contributes to at most 3 keys, enforced before counting." in said
    assert "at most 1 key, enforced" in statement(f"{KEYS} --delta 1e-5")


@pytest.mark.parametrize("line, code, words", [
    (KEYS, 2, "nothing to compute: give --people (prints the probability that a key is kept)"),
    ("rdp --mechanism key-selection --step-epsilon 1 --people 3", 2, "--step-delta: needed with --mechanism key-selection"),
    ("rdp --mechanism key-selection --step-delta 1e-5 --people 3", 2, "--step-epsilon: needed with"),
    (f"{KEYS} --delta 0", 3, "the δ of each step is positive; give a positive δ"),
    (f"{KEYS} --alpha 3", 2, "no Rényi divergence, as a key that only one person has is published"),
    ("rdp --mechanism key-selection --step-delta 1e-5 --rho 1 --solve step-epsilon", 2, "no ρ of zCDP"),
    ("rdp --mechanism key-selection --step-delta 1e-5 --mu 1 --solve step-epsilon", 2, "no μ of Gaussian DP"),
    (f"{KEYS} --keep-probability .9", 2, "is a budget for --solve people"),
    (f"{KEYS} --solve people", 2, "add --keep-probability"),
    (f"{KEYS} --keep-probability .9 --solve people --delta 1e-5", 2, "--delta: does not go with --solve people"),
    (f"{KEYS} --keep-probability .9 --people 3 --solve people", 2, "--people is given"),
    (f"{KEYS} --keep-probability 95 --solve people", 2, "95 is not > 0 and < 1"),
    (f"{KEYS} --epsilon 1 --delta 1e-5 --solve max-keys", 2, "--max-keys changes how often keys are kept"),
    (f"{KEYS} --people 0", 2, "0 is not ≥ 1"), (f"{KEYS} --people 3 --tries 4", 2, "--tries: not used"),
    (f"{KEYS} --group-size 2 --delta 1e-5", 2, "no theorem for groups"),
    (f"{KEYS} --sensitivity 2 --people 3", 2, "each person counts once at a key"),
    (f"{KEYS} --people 3 --format statement", 2, "statement is about a guarantee"),
    ("rdp --sigma 1 --people 3", 2, "people is for --mechanism key-selection only, and not for gaussian"),
    ("rdp --sigma 1 --delta 1e-5 --keep-probability .9", 2, "--keep-probability: keep probability is for --mechanism key-selection"),
    ("rdp --sigma 1 --solve people", 2, "--solve: people is for --mechanism key-selection only"),
    ("rdp --sigma 1 --delta 1e-5 --step-delta 1e-5", 2, "it belongs to --mechanism key-selection"),
    ("subsample --mechanism key-selection --step-epsilon 1 --sampling-rate .1 --delta 1e-5", 2, "is not one of"),
    ("tv --mechanism key-selection --step-epsilon 1", 2, "is not one of"),
    ("tv --step-delta 1e-5", 2, "and pipe it into dpcalc tv -"),
    ("tv --sigma 1 --max-keys 3", 2, "--max-keys")])
def test_what_is_refused(line, code, words):
    assert words in refusal(line, code)
