"""The pair that an epoch of shuffled batches dominates: the slices of the largest batch sum, of which the record's has
mean 2 or 1 (see bounds/sampling/shuffle_lower.py)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import inf
from typing import Any

from dpcalc.verify.composition_atoms import Atoms, atomic_pair
from dpcalc.verify.loss_distributions import LossPair

_MEANS = (2, 1)


def largest_sum_pair(p: Mapping[str, Any]) -> LossPair:
    """Return the pair of one epoch with its reverse, from the parameters of the bound. Its cuts are those of the
    calculator; any cuts are valid."""
    from dpcalc.pld import largest_sum

    cuts = largest_sum.cuts(p["sigma"] / p["sensitivity"], p["steps_per_epoch"]).tolist()

    def atoms(mp: Any, is_reversed: bool) -> Atoms:
        z = mp.mpf(p["sigma"]) / mp.mpf(p["sensitivity"])
        columns = [_masses(mp, cuts, z, p["steps_per_epoch"], mp.mpf(p["dropped"]), mean) for mean in _MEANS]
        pairs = zip(*(reversed(columns) if is_reversed else columns), strict=True)
        return [(float(mp.log(a / b)), a, b) for a, b in pairs if float(a) > 0 and float(b) > 0]

    pair, reverse = (atomic_pair(lambda mp, side=side: atoms(mp, side), lambda mp: mp.mpf(0), inf)  # type: ignore[misc]
                     for side in (False, True))
    return pair._replace(reverse=reverse)


def _masses(mp: Any, cuts: list[float], z: Any, batches: int, dropped: Any, mean: int) -> list[Any]:
    """Return the masses of the largest sum below, between and above the cuts."""
    above = [1, *((1 - dropped) * _above(mp, c, z, batches - 1, mean) + dropped * _above(mp, c, z, batches, None)
                  for c in cuts), 0]
    return [mp.mpf(a) - b for a, b in pairwise(above)]


def _above(mp: Any, c: float, z: Any, others: int, mean: int | None) -> Any:
    """Return the probability that one of the sums is above c, without loss of relative accuracy where it is small."""
    log_none = others * mp.log1p(-_tail(mp, c / z))
    if mean is not None:
        log_none = log_none + mp.log1p(-_tail(mp, (c - mean) / z))
    return -mp.expm1(log_none)


def _tail(mp: Any, x: Any) -> Any:
    return mp.erfc(x / mp.sqrt(mp.mpf(2))) / 2
