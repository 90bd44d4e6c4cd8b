"""One epoch of shuffled batches that leaves out records, as a privacy loss distribution from above.

The profile is that of the theorem in bounds/sampling/shuffle_profile.py. The difference D* of likelihood ratios of a
step is put on points with its mean kept: its masses there are second differences of E(D* − k)₊, which has a closed
form, in balls. The points, the ε and the grids of sums are those of the calculator, of which any choice is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling._engine import swapped_exact
from dpcalc.pld import positive_sums, shuffled_epoch
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.profile_pairs import PRECISION
from dpcalc.pld.swapped_record import REPLACED, WITH, WITHOUT, Mesh
from dpcalc.verify.allocation import DIGITS, double_outwards
from dpcalc.verify.arb.context import compute_once
from dpcalc.verify.composition_atoms import convex_minorant_pair
from dpcalc.verify.directed_array import Array
from dpcalc.verify.loss_distributions import LossPair, gaussian
from dpcalc.verify.tilted_powers import Summand, mean_of_positive_part
from dpcalc.verify.unchecked import OtherQuestion

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair
    from dpcalc.pld.tilted_sums import Grid


FINER = 0.25  # the precision of sums over that of the calculator: steps are half as wide


@dataclass(frozen=True)
class Epoch:
    """An epoch of batches with `rest` other records, and its noise in clipping norms. The context `mp` is only what the
    law of D* is computed with: results are doubles."""

    sigma: float
    steps: int
    batch_size: int
    rest: int
    replaced: bool
    tail: float
    mp: Any = field(compare=False)

    @property
    def records(self) -> int:
        return self.steps * self.batch_size + self.rest

    @property
    def mu(self) -> Any:
        """That of one step on all records."""
        return (2 if self.replaced else 1) / self.mp.mpf(self.sigma)


DeltaAt = Callable[[Epoch, int, float, float, float], float]  # direction, ε, about δ, precision → δ


def left_out(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, tail: float) -> LossPair:
    """Return a pair that dominates an epoch that leaves out `rest` records."""
    if rest < 1:
        raise OtherQuestion("its epochs leave out no record")
    pair = shuffled_epoch.left_out(sigma, steps, batch_size, rest, replaced, tail)
    return pair_of_profile(pair, lambda mp: Epoch(sigma, steps, batch_size, rest, replaced, tail, mp), _delta_left_out,
                           shuffled_epoch.GAPS)


def pair_of_profile(pair: Pair, epoch_in: Callable[[Any], Epoch], delta_at: DeltaAt, gaps: float) -> LossPair:
    """Return the pair of upper bounds of the profile at the losses of the calculator's pair, which has such gaps."""
    if not isinstance(pair, Atoms) or pair.reverse is None:
        return gaussian(lambda mp: epoch_in(mp).mu)
    profiles, largest = {1: pair, -1: pair.reverse}, _delta_of(pair, 0.0)

    def delta(mp: Any, epsilon: float, side: int) -> Any:
        epoch, abouts = epoch_in(mp), {x: _delta_of(pair, epsilon) for x, pair in profiles.items()}
        directions = (REPLACED,) if epoch.replaced else (side,) if epsilon else (WITH, WITHOUT)
        precision = FINER * PRECISION * gaps * gaps * (1 + log(largest / max(abouts.values())))
        found = min(delta_at(epoch, direction, epsilon, abouts[side], precision) for direction in directions)
        return min(mp.mpf(found), theta(mp, mp.mpf(epsilon), epoch.mu), key=float)

    @compute_once  # from 0 on, as the calculator does, where searches of similar sums begin with the last one
    def deltas(mp: Any) -> dict[float, Any]:
        return {loss: delta(mp, abs(loss), 1 if loss >= 0 else -1) for loss in sorted(pair.losses, key=abs)}

    return convex_minorant_pair(pair.losses, lambda mp, epsilon, side: deltas(mp)[side * epsilon])


def _delta_of(pair: Atoms, epsilon: float) -> float:
    """Return δ at ε of a pair, about."""
    losses, log_p = pair.sorted_atoms
    above = losses > epsilon
    return float(-(np.exp(log_p[above]) * np.expm1(epsilon - losses[above])).sum()) + exp(pair.log_infinite)


@lru_cache(maxsize=4096)
def _delta_left_out(epoch: Epoch, direction: int, epsilon: float, about: float, precision: float) -> float:
    """Return the δ of `delta_of_epoch` for the law of D*/γ."""
    difference = Mesh(1 / epoch.sigma, epoch.tail / 100).difference(epsilon, direction)

    def law(grid: Grid) -> Summand:
        begin, end = np.searchsorted(difference.points, (grid.low, grid.high))
        points = difference.points[max(begin - 1, 0) : end + 1]
        return Summand(points, *Difference.of(epoch, direction, epsilon).masses(points.tolist()), epoch.steps)

    pilot = positive_sums.Summand(difference.points, *positive_sums.spread(*difference))
    return delta_of_epoch(epoch, epsilon, about, precision, pilot, law)


def delta_of_epoch(epoch: Epoch, epsilon: float, about: float, precision: float, pilot: positive_sums.Summand,
                   law: Callable[[Grid], Summand]) -> float:
    """Return e^ε·E(w(e^−ε − 1) + ΣV)₊/(t + w), rounded up, for a V whose law is nearly that of the pilot, by which a
    grid is found."""
    mp, steps = epoch.mp, epoch.steps
    w, factor = mp.mpf(epoch.rest) / epoch.batch_size, mp.exp(mp.mpf(epsilon))
    constant = -double_outwards(mp, w * (1 - 1 / factor), -1)
    question = positive_sums.Question(steps, constant, precision, about * float((steps + w) / factor))
    _, grid = positive_sums.mean_of_sum(pilot, question)
    if grid is None:  # no sum is positive, but for what is above the last point
        return 1.0
    return double_outwards(mp, mp.mpf(mean_of_positive_part(grid, [law(grid)], constant)) * factor / (steps + w), 1)


class Difference(NamedTuple):
    """D*/γ in a direction."""

    mp: Any
    direction: int
    gamma: Any
    m: Any

    @classmethod
    def of(cls, epoch: Epoch, direction: int, epsilon: float) -> Difference:
        mp = epoch.mp
        with mp.workdps(DIGITS):
            return cls(mp, direction, mp.exp(mp.mpf(epsilon)), 1 / mp.mpf(epoch.sigma))

    def call(self, k: Any) -> Any:
        """Return E(D*/γ − k)₊. −D*/γ is the D* of the opposite direction at 1/γ."""
        mp, direction, gamma, m = self
        if k >= 0:
            return swapped_exact.call(mp, direction, gamma, m, gamma * k) / gamma
        return swapped_exact.call(mp, -direction, 1 / gamma, m, -k) + (1 / gamma - 1 - k)

    def masses(self, points: Sequence[float]) -> tuple[Array, float]:
        """Return masses at points to which D*/γ is moved, and E(D*/γ − last point)₊, rounded up."""
        with self.mp.workdps(DIGITS):
            return masses_of_calls(self.mp, points, [self.call(self.mp.mpf(k)) for k in points])


def masses_of_calls(mp: Any, points: Sequence[float], calls: Sequence[Any]) -> tuple[Array, float]:
    """Return masses at points to which a variable is moved, and E(X − last point)₊, rounded up, from E(X − k)₊ at the
    points. Values below the first point are raised to it."""
    corners = [(mp.mpf(k), c) for k, c in zip(points, calls, strict=True)]
    slopes = [mp.mpf(1), *((c - d) / (l - k) for (k, c), (l, d) in pairwise(corners)), mp.mpf(0)]
    masses = np.array([double_outwards(mp, a - b, 1) for a, b in pairwise(slopes)])
    return masses, double_outwards(mp, calls[-1], 1)
