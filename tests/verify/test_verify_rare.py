"""Rare large losses: bends of a profile far below all doubles are known as well as others."""

import pytest
from conftest import slow
from verifying import check

from dpcalc.verify import composition_atoms, loss_distributions
from dpcalc.verify.arb.context import Context

LINES = [
    "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .05 --diameter 2 --sigma .03 --n 1000 --epochs 3 "
    "--delta 1e-3 --bound shuffled-iteration",
    "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .05 --diameter 2 --sigma .03 --n 1000 --index 900 "
    "--epochs 2 --epsilon 900",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", [slow(LINES[0]), LINES[1]])
def test_rare_losses_are_decided(line):
    check(line)


def test_bends_far_out_are_no_balls_around_zero():
    c = Context(128)
    deltas = {0.0: 0.5, 1.0: 0.1, 800.0: 0.05, 900.0: 0.01}
    base = composition_atoms.profile_pair(list(deltas), lambda mp, e: mp.mpf(deltas[e]))
    p, q = loss_distributions.masses_above(loss_distributions.Use(base), c, c.mpf(799))
    assert p.x.rel_accuracy_bits() > 90 and q.x.rel_accuracy_bits() > 90 and float(p) == pytest.approx(0.09) and 0 < q < 1e-300
