"""What stands beside a solution is what the same question says with the solution put in; the worst index and the limit
are those at the ε of the budget."""

import json

import pytest
from answers import answer
from conftest import slow, spread
from verifying import texts

from dpcalc.core.numbers import human
from dpcalc.verify.report import verify

RUN = "--lipschitz 10 --diameter 1 --learning-rate .1 --smoothness .5 --n 1e4 --epsilon 1"


@pytest.mark.parametrize("line", [
    f"shuffle-pnsgd --noise laplace {RUN} --c2 2 --delta 1e-4 --solve c1",
    slow(f"shuffle-pnsgd --noise gaussian {RUN} --c2 2 --delta 1e-3 --solve c1"),
    f"shuffle-pnsgd {RUN} --index 9 --delta 1e-4 --solve sigma",
])
def test_what_is_said_beside_a_solution_is_at_the_budget(line, cli):
    """As the same question asks it back, with the solution in place."""
    solved = json.loads(cli(*line.split(), "--json").stdout)
    name, words = solved["solved"], line.split()
    del words[words.index("--delta"):]
    back = json.loads(cli(*words, f"--{name}", repr(solved["result"][name]), "--json").stdout)
    assert back["result"]["epsilon"] == 1
    keys = {"delta_limit", "limit_factor", "worst_index", "worst_delta"} & solved["result"].keys()
    assert keys and {k: solved["result"][k] for k in keys} == pytest.approx({k: back["result"][k] for k in keys},
                                                                            rel=1e-9)
    for note in solved["notes"]:
        assert "at ε = " not in note or note.endswith("at ε = 1")


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_the_limit_of_a_stream_is_said_to_be_what_it_is(noise, cli):
    """eq. 13 and 15 have an integral where the limit has a sum: they lie above the δ of --n inf, the finite δ above
    that."""
    line = (f"online-noise --noise {noise} --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 "
            f"--c1 100 --c2 100 "
            "--index 100 --epsilon 1 --bound online-contraction --json --n")
    later, ever = (json.loads(cli(*line.split(), n).stdout) for n in ("1e7", "inf"))
    limit = later["result"]["delta_limit"]
    assert ever["result"]["delta"] < 0.999 * limit and ever["result"]["delta"] <= later["result"]["delta"]
    note = next(n for n in later["notes"] if "δ*" in n)
    assert note.startswith(f"δ* = {human(limit)} is an upper bound on the limit of δ as n → ∞") and "is the limit" not in note


def test_of_a_shuffled_run_it_is_the_limit(cli):
    line = f"shuffle-pnsgd --noise laplace {RUN} --c1 1e3 --c2 2 --json".replace("--n 1e4", "--n 1e12")
    found = json.loads(cli(*line.split()).stdout)
    delta = next(row["delta"] for row in found["bounds"] if row["name"] == "shuffled-contraction")
    assert delta == pytest.approx(found["result"]["delta_limit"], rel=1e-4) and found["result"]["delta"] < delta / 10
    assert any("is the limit as n → ∞" in note for note in found["notes"])


@pytest.mark.parametrize("line", [
    slow("shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 1000 --epsilon 1 --delta 1e-5 "
         "--solve sigma"),
    "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --sigma 3 --index 40 --epsilon 1 "
    "--delta 1e-5 --solve n",
    "rdp --mechanism gaussian --epsilon 1 --delta 1e-5 --solve sigma",
    slow("subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve sigma"),
])
def test_digits_beside_a_solution_are_those_of_its_own_question(line, cli):
    """They ended in a fault."""
    solved = json.loads(cli(*line.split(), "--digits", "25", "--json").stdout)
    row = next(b for b in solved["bounds"] if "digits" in b)
    words = line.split()
    words = [*words[: words.index("--epsilon")], *words[words.index("--delta") : words.index("--solve")]]
    back = json.loads(cli(*words, f"--{solved['solved']}", repr(row[solved["solved"]]), "--digits", "25",
                          "--json").stdout)
    again = next(b for b in back["bounds"] if b["name"] == row["name"])
    told = float(row["digits"]["epsilon"])
    assert told == pytest.approx(float(again["digits"]["epsilon"]), rel=1e-9) and told <= again["epsilon"] * (1 + 1e-12)


def test_a_solution_without_digits_says_why(cli):
    line = "tv --fpr .1 --tpr .4 --solve mu --digits 20 --json"
    notes = json.loads(cli(*line.split()).stdout)["notes"]
    assert any(note.startswith("no digits for") and "no closed form" in note for note in notes)


@pytest.mark.parametrize("rest", ["--sigma 1000 --n 5 --index 5 --delta .5",
                                  "--sigma 1000 --n 5 --index 5 --delta .5 --epochs 3",
                                  "--sigma 20 --index 1 --epsilon .4 --delta 1e-2 --solve n"])
def test_the_worst_delta_is_at_the_epsilon_beside_it_though_its_position_is_the_one_asked_for(rest, cli):
    line = f"shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 {rest}"
    found = json.loads(cli(*line.split(), "--json").stdout)["result"]
    words = line.split()
    del words[words.index("--delta"):]
    at = [] if "--epsilon" in words else ["--epsilon", repr(found["epsilon"])]
    fixed = ["--n", str(found["n"])] if "n" in found else ["--epochs", "3"] if "--epochs" in rest else []
    there = json.loads(cli(*words, *at, *fixed, "--json").stdout)["result"]
    assert found["worst_delta"] == pytest.approx(there["worst_delta"], rel=5e-4) and found["worst_delta"] < 1e-2


# --- the law over all commands ---------------------------------------------------------------------------------------

CONVEX = "--lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1"
BATCHES = "burn-in --n 1000 --batch-size 50 --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 2"
PARTIAL = "shuffle-pnsgd --sigma 20 --lipschitz 1 --n 1000 --tau .1 --bound without-replacement-conjecture"
# A question up to its budget, the budget, and the rest of the question.
SOLVES = [
    ("rdp --sigma 30", "--epsilon 2", "--delta 1e-5 --solve steps"),
    ("rdp --sigma 5", "--epsilon 2", "--delta 1e-5 --solve sensitivity"),
    ("rdp --steps 3", "--epsilon 1", "--delta 1e-5 --solve noise-multiplier"),
    ("rdp --mechanism laplace --scale 10", "--epsilon 1", "--delta 1e-5 --solve steps"),
    ("rdp --sigma 3", "--rdp 1", "--alpha 4 --solve steps"),
    ("rdp --mechanism shuffled-ldp --step-epsilon 1", "--epsilon .5", "--delta 1e-6 --solve n"),
    ("subsample --n 60000 --batch-size 256 --noise-multiplier 1.1", "--epsilon 1", "--delta 1e-5 --solve epochs"),
    ("subsample --n 60000 --steps 100 --noise-multiplier 1", "--epsilon 1", "--delta 1e-5 --solve batch-size"),
    ("subsample --scheme without-replacement --sampling-rate .01 --sigma 4", "--epsilon 1", "--delta 1e-5 --solve steps"),
    ("subsample --scheme weighted --max-weight .01 --sigma 3", "--epsilon 1", "--delta 1e-5 --solve steps"),
    ("subsample --scheme shuffle --n 10050 --batch-size 100 --drop-last --noise-multiplier 1.3", "--epsilon 4",
     "--delta 1e-5 --solve epochs"),
    ("subsample --scheme random-allocation --n 10000 --batch-size 100 --noise-multiplier 2", "--epsilon 2",
     "--delta 1e-5 --solve epochs"),
    ("tv --sigma 50", "--tv .1", "--solve steps"),
    ("tv --sampling-rate .01 --sigma 2", "--tv .1", "--solve steps"),
    ("tv --epsilon .05 --delta 0", "--tv .3", "--solve steps"),
    (f"shuffle-pnsgd {CONVEX} --n 1000 --sigma 3", "--epsilon 1", "--delta 1e-5 --solve epochs"),
    (f"shuffle-pnsgd {CONVEX} --n 100 --index 90 --sigma 3", "--epsilon 1", "--delta 1e-5 --solve epochs"),
    (f"shuffle-pnsgd {CONVEX} --n 1000 --sigma 5", "--rdp .1", "--alpha 4 --solve epochs"),
    (PARTIAL, "--epsilon 2", "--delta 1e-5 --solve epochs"),
    (PARTIAL, "--rdp .1", "--alpha 3 --solve epochs"),
    (f"online-noise {CONVEX} --c1 50 --c2 50 --decay 1.5 --index 10", "--epsilon 1", "--delta .01 --solve n"),
    (f"{BATCHES} --sigma .3 --order fixed", "--epsilon 1", "--delta 1e-5 --solve steps"),
    (f"{BATCHES} --steps 100 --order fixed --index 3", "--epsilon 1", "--delta 1e-5 --solve sigma"),
    ("noise-feedback --curvature .7 --learning-rate .1 --lipschitz 1 --steps 20", "--epsilon 1",
     "--delta 1e-5 --solve sigma"),
    ("correlated --strategy square-root --steps 100", "--epsilon 1", "--delta 1e-5 --solve sigma"),
    ("correlated --strategy banded-sqrt:4 --steps 40 --sampling-rate .01", "--epsilon 1", "--delta 1e-5 --solve sigma"),
    ("convert --from gdp --mu .1", "--epsilon 1", "--delta 1e-5 --solve steps"),
    ("convert --from dp --epsilon .01 --delta 1e-8", "--target-epsilon 1", "--target-delta 1e-5 --solve steps"),
    ("convert --from outcomes --p .3,.5,.2 --q .25,.45,.3", "--epsilon 1", "--delta .01 --solve steps"),
    ("compare --n 60000 --batches shuffled --batch-size 256 --drop-last --epochs 3", "--epsilon 8",
     "--delta 1e-5 --solve noise-multiplier"),
]
_AT_BUDGET = ("worst_delta", "worst_log_delta", "delta_limit", "log_delta_limit", "limit_factor")  # fields at the ε of the budget
_QUESTION = {"epsilon", "delta", "alpha", "rdp", "tv", "target_epsilon", "target_delta"}


def numbers(found):
    return {name: x for name, x in found.items() if isinstance(x, int | float)}


def agree(beside, there):
    """Whether every number that both have is the same, up to the rounding of a search."""
    both = numbers(beside).keys() & there.keys()
    return {name: beside[name] for name in both} == pytest.approx({name: there[name] for name in both}, rel=1e-6)


@spread("before, budget, after", [slow(*asked) if k in (6, 10, 11, 15, 16, 17, 25, 29) or "tv --sampling-rate" in asked[0] else asked
                                  for k, asked in enumerate(SOLVES)])
def test_rows_and_fields_beside_a_solution_are_those_with_the_solution_put_in(before, budget, after):
    solved = answer(f"{before} {budget} {after}")
    question, _, option = after.rpartition("--solve ")
    name = option.replace("-", "_")

    def put_in(value, asked=question):
        return answer(f"{before} --{option} {value!r} {asked}".strip())

    solution = solved["result"][name]
    back = put_in(solution)
    fields = {k: x for k, x in solved["result"].items() if not k.startswith(_AT_BUDGET)}
    assert agree(fields, back["result"]) and fields.keys() - back["result"].keys() <= {name, "sigma"}
    if (others := solved["result"].keys() - fields) and "--delta" in question:
        at_budget = put_in(solution, budget)["result"]
        assert agree({k: solved["result"][k] for k in others}, at_budget) and others <= at_budget.keys()
    assert solved["parameters"][name] == solution
    given, there = (found["parameters"].items() for found in (solved, back))
    assert {k: x for k, x in given if k not in _QUESTION} == {k: x for k, x in there if k not in _QUESTION}
    for row in solved["bounds"]:
        key = [row.get(k) for k in ("name", "curve", "conversion", "adjacency")]
        rows = put_in(row.get(name, solution))["bounds"]
        [same] = [r for r in rows if [r.get(k) for k in ("name", "curve", "conversion", "adjacency")] == key]
        assert agree(row, same), row["name"]


@pytest.mark.parametrize("line", [" ".join(SOLVES[k]) for k in (0, 12, 18, 19, 21)])
def test_a_record_with_its_solution_is_verified(line):
    verdict = verify(answer(line))
    assert verdict.holds, texts(verdict)


def test_a_conjecture_stands_beside_what_is_proven_of_the_same_run():
    """The proven row was that of one pass, 1.30812."""
    found = answer(f"{PARTIAL} --epsilon 2 --delta 1e-5 --solve epochs")
    assert found["result"]["epochs"] == 2435
    [proven] = [row for row in found["bounds"] if row["status"] == "proven"]
    assert proven["epsilon"] == pytest.approx(187.418095, rel=1e-6)


def test_of_the_same_number_of_steps_the_smaller_loss_is_the_headline():
    line = "rdp --mechanism laplace --scale 10 --delta 1e-5"
    found = answer(f"{line} --epsilon 1 --solve steps")["result"]
    assert found["steps"] == 10 and found["epsilon"] == answer(f"{line} --steps 10")["result"]["epsilon"]


def test_a_ledger_with_its_solution_has_the_same_releases():
    ledger = ('{"delta":1e-5,"epsilon":3,"release":[{"command":"subsample","sampling-rate":0.1,"steps":2,'
              '"noise-multiplier":%s},{"command":"rdp","mechanism":"laplace","scale":20}]}')
    solved = answer("ledger " + ledger % '"?"')
    back = answer("ledger " + ledger % solved["result"]["noise_multiplier"])
    assert agree(solved["result"], back["result"])
    for one, other in zip(solved["releases"], back["releases"], strict=True):
        assert agree(one, other)
