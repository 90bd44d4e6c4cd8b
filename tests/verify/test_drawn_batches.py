"""Batches of fixed size with a zeroed record, and batches drawn with replacement: what the calculator states is proven
in ball arithmetic, and better numbers are not."""

from math import log

import pytest
from conftest import slow

from dpcalc.bounds import all_bounds
from dpcalc.pld.bracket import epsilon_at_delta
from dpcalc.verify import composition_grids, scheme_uses
from dpcalc.verify.arb.context import Context

FIXED = "sampling_rate", "noise_multiplier"
DRAWN = "n", "batch_size", "noise_multiplier", "replaced"
RUNS = [("wor-zero-out", dict(zip(FIXED, (0.01, 1.0), strict=True)), 100, 1e-5),
        ("wor-zero-out", dict(zip(FIXED, (0.3, 4.0), strict=True)), 1, 1e-3),
        ("wor-zero-out", dict(zip(FIXED, (1.0, 3.0), strict=True)), 2, 1e-3),
        ("with-replacement", dict(zip(DRAWN, (50, 4, 1.0, True), strict=True)), 10, 1e-5),
        ("with-replacement", dict(zip(DRAWN, (20, 2, 2.0, False), strict=True)), 2, 1e-3),
        ("with-replacement", dict(zip(DRAWN, (1, 3, 5.0, False), strict=True)), 2, 1e-5),
        slow("with-replacement", dict(zip(DRAWN, (1000, 10, 1.0, False), strict=True)), 100, 1e-5),
        slow("with-replacement", dict(zip(DRAWN, (60_000, 256, 0.55, True), strict=True)), 3516, 1e-5)]


@pytest.mark.parametrize("name, own, steps, delta", RUNS)
def test_the_upper_end_is_proven(name, own, steps, delta):
    bound, mp = all_bounds()[f"{name}-profile"], Context()
    found = epsilon_at_delta([(bound.pair(*own.values()), steps)], log(delta))
    uses = scheme_uses.PARTS[bound.name]({**own, "steps": steps})
    shown = composition_grids.delta_from_above(mp, uses, found.witness, found.upper, log(delta))
    assert mp.mpf(delta).surely_at_least(shown)
    smaller = composition_grids.delta_from_above(mp, uses, found.witness, found.upper * 0.998, log(delta))
    assert not mp.mpf(delta).surely_at_least(smaller)


@pytest.mark.parametrize("name, own, steps, delta", RUNS)
def test_the_lower_end_is_proven(name, own, steps, delta):
    bound, mp = all_bounds()[f"{name}-lower"], Context()
    ((pair, _),) = bound.value(**own)
    found = epsilon_at_delta([(pair, steps)], log(delta))
    uses = scheme_uses.PARTS[bound.name]({**own, "steps": steps})
    shown = composition_grids.delta_from_below(mp, uses, found.witness, found.lower, delta)
    assert shown.surely_at_least(delta)
    larger = composition_grids.delta_from_below(mp, uses, found.witness, found.upper * 1.002, delta)
    assert not larger.surely_at_least(delta)
