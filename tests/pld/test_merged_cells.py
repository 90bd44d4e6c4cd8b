"""Cells of two mixtures of normal distributions: their masses and losses are rounded to the safe side, and near."""

from itertools import pairwise
from math import exp, log

import mpmath
import numpy as np
import pytest

from dpcalc.pld.merged_cells import Mixture, cuts_with_mass, log_masses, pair_of_cells

mp = mpmath.mp.clone()
mp.dps = 60


def mixture(weights, means, rest=0.0):
    logs = np.log(np.array(weights))
    return Mixture(logs, 1e-15 * (1 + np.abs(logs)), np.array(means), log(rest) if rest else -np.inf)


def exact(cuts, weights, means):
    def mass(a, b, mean):
        a, b = a - mp.mpf(mean), b - mp.mpf(mean)
        return (mp.erfc(a / mp.sqrt(2)) - mp.erfc(b / mp.sqrt(2))) / 2 if a > 0 else (
            mp.erfc(-b / mp.sqrt(2)) - mp.erfc(-a / mp.sqrt(2))) / 2

    ends = [-mp.inf, *map(mp.mpf, cuts), mp.inf]
    return [mp.fsum(mp.mpf(w) * mass(a, b, m) for w, m in zip(weights, means, strict=True))
            for a, b in pairwise(ends)]


CUTS = np.array([-30.0, -9.0, -2.0, -0.013, 0.0, 0.02, 1.0, 1.7, 6.0, 20.0, 33.0])


@pytest.mark.parametrize("weights, means", [((0.5, 0.3, 0.2), (0.0, 1.0, 2.0)), ((1e-9, 0.1), (0.1, 25.0)),
                                            ((1.0,), (0.0,))])
def test_masses_are_between_their_bounds(weights, means):
    low, high = log_masses(CUTS, mixture(weights, means))
    for a, b, want in zip(low, high, exact(CUTS, weights, means), strict=True):
        assert a <= mp.log(want) <= b and b - a < 1e-8


def test_further_components_may_be_in_any_cell():
    weights, means, rest = (0.7, 0.2), (0.0, 1.0), 0.1
    low, high = log_masses(CUTS, mixture(weights, means, rest))
    for a, b, want in zip(low, high, exact(CUTS, weights, means), strict=True):
        assert a <= mp.log(want) and mp.log(want + rest) <= b < mp.log(want + rest) + 1e-10


@pytest.mark.parametrize("rate, mu", [(0.3, 1.0), (1e-12, 0.01), (0.9, 6.0)])
def test_losses_are_rounded_down_and_keep_their_relative_accuracy(rate, mu):
    """Also where the record is hardly ever drawn and all losses are tiny."""
    common, p, q = ((1 - rate,), (0.0,)), ((rate,), (2 * mu,)), ((rate,), (mu,))
    found = pair_of_cells(CUTS, *(mixture(*x) for x in (common, p, q)))
    in_common, in_p, in_q = (exact(CUTS, *x) for x in (common, p, q))
    for atoms, a, b in ((found, in_p, in_q), (found.reverse, in_q, in_p)):
        assert atoms.attained and len(atoms.losses) == len(CUTS) + 1
        for loss, log_mass, c, x, y in zip(atoms.losses, atoms.log_p, in_common, a, b, strict=True):
            want = mp.log((c + x) / (c + y))
            assert loss <= want + mp.mpf(10) ** -50 and want - loss <= 1e-9 * (abs(want) + (x + y) / (c + y)) + mp.mpf(10) ** -50
            assert log_mass <= mp.log(c + x) < log_mass + 1e-9


def test_cuts_without_mass_on_one_side_are_left_out():
    parts = (mixture((0.9,), (0.0,)), mixture((0.1,), (3.0,)))
    kept = cuts_with_mass(np.linspace(-60, 60, 121), parts)
    assert kept[0] == -37 and kept[-1] == 40
    assert exp(-700) > mp.ncdf(-38) and exp(-700) < mp.ncdf(-37)
