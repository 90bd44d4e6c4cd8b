"""Very many epochs: large and small losses apart, blocks of blocks; verify composes them with whole numbers, on the grids that the witness tells."""

import copy
import functools
import json
import random
from fractions import Fraction
from math import exp

import pytest
from calling import call
from test_verify import ask, better, refuted, texts

from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.verify import composition, convolution, lumps, plans, report
from dpcalc.verify.cells import Grid
from dpcalc.verify.context import Context
from dpcalc.verify.laws import Use
from dpcalc.verify.report import verify

LINES = [
    ("shuffle-pnsgd --lipschitz 1 --smoothness 1 --learning-rate .3 --diameter 2 --epochs 100000 --sigma .191 --n 5e9 --delta 7.65e-27 "
     "--bound shuffled-iteration", 2),
    ("shuffle-pnsgd --lipschitz .1 --smoothness 1 --learning-rate .01 --diameter 10 --epochs 1000000 --noise laplace --scale 5869 --n 7 "
     "--delta 1.8e-10 --bound shuffled-contraction", 1),
    ("shuffle-pnsgd --lipschitz 5 --smoothness .1 --learning-rate .01 --diameter .5 --epochs 20000 --sigma .206 --n 8.2e9 --epsilon 3 "
     "--bound shuffled-iteration", 2),
]


@functools.cache
def _text(line):
    record = ask(line)
    record["bounds"] = record["bounds"][:1]
    return json.dumps(record)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line, parts", LINES)
def test_it_holds_and_less_does_not(line, parts):
    record = json.loads(_text(line))
    witness = record["bounds"][0]["witness"]
    assert len(witness["grids"]) == parts == len(witness["levels"]) and ("apart" in witness) == (parts == 2)
    assert any(witness["levels"])
    assert verify(record).holds, texts(verify(record))
    assert refuted(better(record))


VERY_MANY = [
    "shuffle-pnsgd --lipschitz 5 --smoothness .1 --learning-rate .1 --diameter .5 --index 1 --n 22019 --epochs 5000000000 --sigma .0961 "
    "--delta 1.09e-23",
    "shuffle-pnsgd --lipschitz 1 --smoothness .1 --learning-rate .01 --diameter 1 --strong-convexity .1 --epochs 1000000000000 --n 1e6 "
    "--bound smooth-nonconvex --sigma 21410.934 --delta 5.58e-6",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", VERY_MANY)
def test_very_many_epochs(line):
    """What rounding adds to log δ, up to 2e-13 an epoch, is more than a millionth of ε; 1 % less does not hold."""
    record = json.loads(_text(line))
    assert any(record["bounds"][0]["witness"]["levels"])
    assert verify(record).holds, texts(verify(record))
    record["result"]["epsilon"] = record["bounds"][0]["epsilon"] = 0.99 * record["result"]["epsilon"]
    assert refuted(record)


def _changed(change):
    record = json.loads(_text(LINES[0][0]))
    change(record["bounds"][0]["witness"])
    return verify(record).head[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", [
    lambda w: w.update(apart=-1.0), lambda w: w.update(apart=1e9), lambda w: w.update(apart="x"),
    lambda w: w["levels"].pop(), lambda w: w["levels"][1].clear(), lambda w: w["levels"][1][0].__setitem__(0, 0),
    lambda w: w["levels"][1][0].__setitem__(1, w["levels"][1][0][1] * 1.01), lambda w: w["grids"].pop(),
    lambda w: w["grids"][0].__setitem__(3, w["grids"][0][3] * 2), lambda w: w["grids"][0].__setitem__(3, 0.0),
    lambda w: w["levels"][1][0].__delitem__(slice(2, None)),
])
def test_what_is_no_plan_is_refused(change):
    finding = _changed(change)
    assert finding.verdict == report.OPEN, finding.text


@pytest.mark.filterwarnings("ignore")
def test_other_blocks_prove_no_less():
    """Where it is taken apart, and what blocks are composed first, are free choices."""
    witness = json.loads(_text(LINES[0][0]))["bounds"][0]["witness"]
    corners = witness["epoch"]["epsilon"]
    rng = random.Random(3)
    for _ in range(3):
        record, at = json.loads(_text(LINES[0][0])), rng.choice(corners[5:-5])
        low = better(copy.deepcopy(record))
        for r in (record, low):
            r["bounds"][0]["witness"]["apart"] = at
            for level in r["bounds"][0]["witness"]["levels"][1]:
                level[0] = max(1, level[0] // rng.randint(1, 3))
        assert not verify(low).holds


def test_blocks_of_blocks_are_not_less_than_the_sum():
    """Of a law of two losses: exactly, and in two levels with what is left over."""
    mp = Context(96)
    base = lumps.points((0.0, 1.0), lambda m, e: m.mpf("0.4") if e == 0 else m.mpf(0))
    use, steps = Use(base), 29
    grid = Grid(0.0, -5, 11, float("inf"))
    plain = plans.Plan(0.5, (grid,), (0.25,), ((),))
    levels = (plans.Level(3, 3, (0.0, 0.0)), plans.Level(4, 3, (0.75, 0.75)))
    wide = plans.Plan(0.5, (grid,), (0.25,), (levels,))
    for epsilon in (0.5, 3.0, 11.0):
        exact, above = (float(composition.delta(mp, ((use, steps),), p, epsilon)) for p in (plain, wide))
        assert exact <= above <= 3 * exact


def test_a_step_that_is_nearly_a_multiple_is_the_multiple():
    """Less by 4.9e-10 of itself, it lowered every loss: of a grid with a million points below 0, by 4e-8 a use."""
    told = {"tilt": 0.3, "grids": [[0.0, -900001, 900005, 1e-4, "inf"]], "levels": [[[1, 2e-4 * (1 - 4.9e-10), -1e-4]]]}
    plan = plans.plan(told)
    assert plan.last == 2 * Fraction(1e-4) and plan.levels[0][0].ratio == 2
    told["levels"][0][0][1] = 2e-4 * (1 + 1e-8)
    with pytest.raises(ValueError, match="multiple"):
        plans.plan(told)
    told = {"tilt": 0.3, "grids": [[0.0, -5, 10, 0.1, "inf"], [0.0, -5, 10, 0.1, "inf"]], "levels": [[[1, 0.3, 0.0]], []]}
    with pytest.raises(ValueError, match="different grids"):
        plans.plan(told)


def test_what_cancels_in_a_height_leaves_its_rounding():
    """It says how little mass weights have: what is cut off as nothing was all there was."""
    mp, steps = Context(96), Fraction(1, 4)
    fine = convolution.Sum(0, [1 << 60], 0.0, 60, -1.0898e16, 0.5)
    assert composition._coarser(mp, fine, steps, 3, 2.9, mp.mpf(1.0898e16 / 2.9), 0.0).height > 1000


@pytest.mark.filterwarnings("ignore")
def test_a_record_without_a_grid_is_composed_as_a_whole(tmp_path):
    """The fast path may take its steps apart, of which such a record does not tell."""
    epsilons = [9e-3 * k / 60 for k in range(61)] + [0.01 * 1.12**k for k in range(70)]
    deltas = [1e-4 * exp(log_gaussian(e, 3.0)) + (1 - 1e-4) * exp(log_gaussian(e, 5e-4)) for e in epsilons]
    profile = json.dumps({"kind": "profile", "epsilon": epsilons, "delta": deltas})
    record = json.loads(call(["convert", "-", "--steps", "5000", "--epsilon", "1", "--json"], profile).stdout)
    for row in record["bounds"]:
        row["witness"] = {}
    finding = verify(record).head[0]
    assert finding.verdict == "verified" or "points" in finding.text, finding.text
