"""What stands beside a solution is about the budget: the worst index and the limit at its ε."""

import json

import pytest

from dpcalc.core.numbers import human

RUN = "--lipschitz 10 --diameter 1 --learning-rate .1 --smoothness .5 --n 1e4 --epsilon 1"


@pytest.mark.parametrize("line", [
    f"shuffle-pnsgd --noise laplace {RUN} --c2 2 --delta 1e-4 --solve c1",
    f"shuffle-pnsgd --noise gaussian {RUN} --c2 2 --delta 1e-3 --solve c1",
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
    "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 1000 --epsilon 1 --delta 1e-5 "
    "--solve sigma",
    "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --sigma 3 --index 40 --epsilon 1 "
    "--delta 1e-5 --solve n",
    "rdp --mechanism gaussian --epsilon 1 --delta 1e-5 --solve sigma",
    "subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve sigma",
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
