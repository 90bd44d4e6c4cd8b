"""Mixtures of normal distributions in cells of their outcomes: the pairs that batches of fixed size, or drawn with
replacement, are shown to attain (see bounds/sampling/with_replacement_lower.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from typing import Any

from dpcalc.verify.arb.context import compute_once, is_ball_context
from dpcalc.verify.composition_atoms import Atoms, atomic_pair
from dpcalc.verify.loss_distributions import LossPair, normal_tail

Weights = Sequence[tuple[int, Any]]  # pairs (k, probability of k draws)


def with_draws(z: float, factors: tuple[int, int], weights: Callable[[Any], tuple[Weights, Any]],
               cuts: Sequence[float]) -> LossPair:
    """Return the pair of Σ π_k N(ak/z, 1) for the two factors a, and its reverse, in the cells between these cuts. Any
    cuts are valid. `weights` gives the (k, π_k), and the probability of other k, which may be in any cell."""

    @compute_once
    def masses(mp: Any) -> list[tuple[Any, Any]]:
        of_each, other = weights(mp)
        rest = mp.between(0, other) if is_ball_context(mp) else mp.mpf(0)
        columns = []
        for a in factors:
            shifted = [(p, a * k / mp.mpf(z)) for k, p in of_each]
            columns.append([cell + rest for cell in _cells(mp, cuts, shifted)])
        return list(zip(*columns, strict=True))

    def atoms(mp: Any, is_reversed: bool) -> Atoms:
        pairs = [(q, p) for p, q in masses(mp)] if is_reversed else masses(mp)
        return [(float(mp.log(p / q)), p, q) for p, q in pairs if float(p) > 0 and float(q) > 0]

    pair, reverse = (atomic_pair(lambda mp, side=side: atoms(mp, side), lambda mp: mp.mpf(0), inf)  # type: ignore[misc]
                     for side in (False, True))
    return pair._replace(reverse=reverse)


def _cells(mp: Any, cuts: Sequence[float], parts: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return the masses below, between and above the cuts under a mixture of pairs (weight, mean)."""
    total = [mp.mpf(0)] * (len(cuts) + 1)
    for weight, mean in parts:
        # Of the tail on either side of an end, the one that does not contain the mean keeps its relative accuracy.
        tails = [(mp.mpf(0), True), *(_outer_tail(mp, mp.mpf(cut) - mean) for cut in cuts), (mp.mpf(0), False)]
        for i, ((a, a_below), (b, b_below)) in enumerate(pairwise(tails)):
            mass = b - a if b_below else a - b if not a_below else 1 - a - b
            total[i] += weight * mass
    return total


def _outer_tail(mp: Any, x: Any) -> tuple[Any, bool]:
    """Return the mass beyond x of the standard normal distribution on the side away from 0, and whether it is below."""
    is_below = float(x) < 0
    return normal_tail(mp, -x if is_below else x), is_below
