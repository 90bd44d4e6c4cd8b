"""Guarantees of a δ or a total variation of 1, δ at every ε, and divergences next to 0."""

import pytest
from answers import answer
from calling import call
from conftest import slow
from fuzz import answered

from dpcalc.verify.report import verify


@pytest.mark.parametrize("question", [["--delta", "1e-5"], ["--alpha", "4"], ["--steps", "10", "--delta", "1e-5"]])
def test_a_total_variation_of_1_promises_nothing(question):
    done = answered(["convert", "-", *question], b'{"kind":"tv","tv":1}')
    assert done.code in (2, 3) and done.err.count("\n") == 1


def test_a_profile_of_delta_1_promises_nothing():
    profile = b'{"kind":"profile","epsilon":[0,1],"delta":[1,1]}'
    assert answered(["convert", "-", "--delta", "1e-5"], profile).code in (2, 3)
    assert float(answered(["convert", "-", "--to", "tv", "-q"], profile).out) == 1


def test_a_delta_of_1_is_handed_on():
    record = answer("shuffle-pnsgd --lipschitz 4 --diameter 3 --n 1 --smoothness 0 --learning-rate .01 --sigma .1 "
                    "--epsilon .04")
    assert record["result"]["delta"] == 1 and {**record["guarantee"], "promises": []} == {
        "kind": "tv", "tv": 1.0, "adjacency": "replace-one", "promises": []}


@pytest.mark.parametrize("line", ["--tv .3 --delta .3", "--tv 0 --delta 0", "--tv .3 --delta .5"])
def test_a_total_variation_is_a_delta_at_every_epsilon(line):
    record = answer(f"convert --from tv {line}")
    assert record["result"]["epsilon"] == 0 and verify(record).holds
    name = "tv" if record["parameters"]["tv"] else None
    assert name is None or not verify({**record, "parameters": {**record["parameters"], "tv": 0.51}}).holds
    code, _, err = call(["convert", "--from", "tv", "--tv", "0.30000000000000004", "--delta", "0.3"])
    assert code == 3 and "compose to 0.30000000000000004" in err


@pytest.mark.parametrize("line", [
    "rdp --mechanism laplace --scale 1e170", "rdp --mechanism laplace --scale 1e300",
    "subsample --scheme without-replacement --sampling-rate 1e-170 --steps 1 --sigma 1",
    "subsample --scheme weighted --max-weight 1e-300 --steps 1 --sigma 1",
    "convert --from dp --epsilon 1e-200 --delta 0",
])
def test_a_divergence_below_the_doubles_is_not_0(line):
    assert answer(f"{line} --alpha 2")["result"]["rdp"] > 0


@pytest.mark.parametrize("line", [slow("rdp --mechanism laplace --scale 1e170 --steps 1e12"),
                                  "rdp --mechanism laplace --scale 1e170"])
def test_a_total_variation_next_to_0_is_not_below_it(line):
    found = answer(f"{line} --epsilon 0")
    assert all(row["delta"] >= 5e-171 for row in found["bounds"])
