"""One step of the pair that repeated draws attain, in cells of outcomes, at high precision."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dpcalc.bounds.sampling._engine.repeated_draws import ExactDraws


def delta(mp: Any, epsilon: float, cuts: Sequence[float], mu: Any, draws: ExactDraws, reach: int) -> Any:
    """The larger sum of (P − e^ε Q)₊ over the cells, of both directions. More draws than are listed are left out."""
    in_p, in_q = cells(mp, cuts, mu, draws, reach)
    factor = mp.exp(mp.mpf(epsilon))
    gains = ([p - factor * q for p, q in zip(*pair, strict=True)] for pair in ((in_p, in_q), (in_q, in_p)))
    return max(mp.fsum(x for x in each if x > 0) for each in gains)


def cells(mp: Any, cuts: Sequence[float], mu: Any, draws: ExactDraws, reach: int) -> tuple[list[Any], list[Any]]:
    """The masses under P and under Q of the cells below, between and above the cuts."""
    in_p, in_q = ([mp.fsum(x) for x in zip(*columns, strict=True)] for columns in (
        [normal_cells(mp, cuts, w, (reach - back) * k * mu) for k, w in ((0, draws.none), *draws.weights)]
        for back in (0, 1)))
    return in_p, in_q


def normal_cells(mp: Any, cuts: Sequence[float], weight: Any, mean: Any) -> list[Any]:
    """The masses of all cells under a normal distribution with variance 1, times its weight, from the smaller tails of
    their ends."""
    distances = [mp.mpf(cut) - mean for cut in cuts]
    tails = [mp.mpf(0), *(mp.erfc(abs(x) / mp.sqrt(mp.mpf(2))) / 2 for x in distances), mp.mpf(0)]
    is_right = [False, *(float(x) > 0 for x in distances), True]
    masses = []
    for (a, a_right), (b, b_right) in pairwise(zip(tails, is_right, strict=True)):
        masses.append(weight * (a - b if a_right else 1 - a - b if b_right else b - a))
    return masses
