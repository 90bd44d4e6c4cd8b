"""Very many epochs: verify composes them with whole numbers, on the grids that the witness tells."""

import copy
import functools
import json
from math import exp

import pytest
from calling import call
from conftest import slow
from verifying import ask, better, refuted, texts

from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.verify.report import verify

LINES = [
    slow("shuffle-pnsgd --lipschitz 1 --smoothness 1 --learning-rate .3 --diameter 2 --epochs 100000 --sigma .191 "
         "--n 5e9 "
         "--delta 7.65e-27 "
         "--bound shuffled-iteration"),
    "shuffle-pnsgd --lipschitz .1 --smoothness 1 --learning-rate .01 --diameter 10 --epochs 1000000 --noise laplace "
    "--scale 5869 --n 7 "
    "--delta 1.8e-10 --bound shuffled-contraction",
    slow("shuffle-pnsgd --lipschitz 5 --smoothness .1 --learning-rate .01 --diameter .5 --epochs 20000 "
         "--sigma .206 --n "
         "8.2e9 --epsilon 3 "
         "--bound shuffled-iteration"),
]


@functools.cache
def _text(line):
    record = ask(line)
    record["bounds"] = record["bounds"][:1]
    return json.dumps(record)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_it_holds_and_less_does_not(line):
    record = json.loads(_text(line))
    assert record["bounds"][0]["witness"]["grids"]
    assert verify(record).holds, texts(verify(record))
    assert refuted(better(record))


VERY_MANY = [
    "shuffle-pnsgd --lipschitz 5 --smoothness .1 --learning-rate .1 --diameter .5 --index 1 --n 22019 --epochs "
    "5000000000 --sigma .0961 "
    "--delta 1.09e-23",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", VERY_MANY)
def test_very_many_epochs(line):
    """What rounding adds to log δ, up to 2e-13 an epoch, is more than a millionth of ε; 1 % less does not hold."""
    record = json.loads(_text(line))
    assert verify(record).holds, texts(verify(record))
    record["result"]["epsilon"] = record["bounds"][0]["epsilon"] = 0.99 * record["result"]["epsilon"]
    assert refuted(record)


@pytest.mark.filterwarnings("ignore")
def test_other_choices_prove_no_less():
    """The tilt, and what sums are cut to, are free choices."""
    for tilt, cut in ((0.7, 0.0), (1.3, 0.0), (1.0, 0.2)):
        record = json.loads(_text(LINES[1]))
        low = better(copy.deepcopy(record))
        for r in (record, low):
            witness = r["bounds"][0]["witness"]
            witness["tilt"] *= tilt
            witness["windows"] = [[a + cut * (b - a) if cut else a, b] for a, b in witness["windows"]]
        assert not verify(low).holds


@pytest.mark.filterwarnings("ignore")
def test_a_record_without_a_grid_is_composed_as_a_whole(tmp_path):
    epsilons = [9e-3 * k / 60 for k in range(61)] + [0.01 * 1.12**k for k in range(70)]
    deltas = [1e-4 * exp(log_gaussian(e, 3.0)) + (1 - 1e-4) * exp(log_gaussian(e, 5e-4)) for e in epsilons]
    profile = json.dumps({"kind": "profile", "epsilon": epsilons, "delta": deltas})
    record = json.loads(call(["convert", "-", "--steps", "5000", "--epsilon", "1", "--json"], profile).stdout)
    for row in record["bounds"]:
        row["witness"] = {}
    finding = verify(record).head[0]
    assert finding.verdict == "verified" or "points" in finding.text, finding.text
