"""Very many epochs: large and small losses apart, blocks of blocks; verify composes them with whole numbers, on the grids that the witness tells."""

import copy
import functools
import json
import random

import pytest
from test_verify import ask, better, refuted, texts

from dpcalc.verify import composition, lumps, report
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
    grid = composition.Grid(0.0, -5, 11, float("inf"))
    plain = composition.Plan(0.5, (grid,), (0.25,), ((),))
    levels = (composition.Level(3, 0.75, (0.0, 0.0)), composition.Level(4, 2.25, (0.75, 0.75)))
    wide = composition.Plan(0.5, (grid,), (0.25,), (levels,))
    for epsilon in (0.5, 3.0, 11.0):
        exact, above = (float(composition.delta(mp, ((use, steps),), p, epsilon)) for p in (plain, wide))
        assert exact <= above <= 3 * exact
