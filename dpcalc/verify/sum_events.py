"""The pair that a mechanism dominates, from events of its outputs: sums of labels of independent variables.

An event R bounds the profile by P(R) − γQ(R) at every γ > 0. With a lower bound v of P(R) − γ_kQ(R) and an interval
[q_low, q_high] that contains Q(R), the profile is at least v − q_high·(γ − γ_k)₊ + q_low·(γ_k − γ)₊, a concave function
of γ. Chords between points below two neighbouring functions are below one of them, so the polyline through one point
between each two γ_k is below the profile. Events for (Q, P) do the same for γ < 1. Every line below this polyline is
P − γQ for a point (Q, P) below the trade-off curve of the mechanism, and the concave hull of these points is that of a
pair.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, log
from typing import Any, NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.pld.positive_sums import Question, choose_grid
from dpcalc.verify import tilted_powers
from dpcalc.verify.composition_atoms import Atoms, two_way_pair
from dpcalc.verify.loss_distributions import LossPair
from dpcalc.verify.tilted_powers import ROUNDING, Law


class Bound(NamedTuple):
    """v <= P(R) − γQ(R), and an interval that contains Q(R)."""

    gamma: float
    advantage: float
    q_low: float
    q_high: float


def polyline_pair(bounds: Callable[[Any], tuple[Sequence[Bound], Sequence[Bound]]]) -> LossPair:
    """Return the pair, with its reverse, of events for (P, Q) and of events for (Q, P) at increasing γ from 1 on."""

    def atoms(mp: Any) -> Atoms:
        own, reverse = ([x for x in side if x.advantage > 0 and x.q_high > 0] for side in bounds(mp))
        corners = _trade_off(own, reverse) if own and reverse else [(0.0, 0.0), (1.0, 1.0)]
        return [(log((p1 - p0) / (q1 - q0)), mp.mpf(p1) - mp.mpf(p0), mp.mpf(q1) - mp.mpf(q0))
                for (q0, p0), (q1, p1) in pairwise(corners)]

    return two_way_pair(atoms, limit=inf)


def _polyline(bounds: Sequence[Bound]) -> tuple[Array, Array]:
    """Return the corners for γ > 1, the last one at the value 0."""
    places, values = list[float](), list[float]()
    for a, b in pairwise(bounds):
        slope = a.q_high - b.q_low
        x = a.gamma + (a.advantage - b.advantage - b.q_low * (b.gamma - a.gamma)) / slope if slope > 0 else a.gamma
        x = min(max(x, a.gamma), b.gamma)
        values.append(min(a.advantage - a.q_high * (x - a.gamma), b.advantage + b.q_low * (b.gamma - x)))
        places.append(x)
    last = bounds[-1]
    places.append(last.gamma + last.advantage / last.q_high)
    values.append(0.0)
    return np.array(places), np.maximum(np.array(values) * (1 - 10 * ROUNDING), 0.0)


def _trade_off(bounds: Sequence[Bound], reverse: Sequence[Bound]) -> list[tuple[float, float]]:
    """Return the corners (Q, P) of the concave hull of the lines through two neighbouring corners of the polyline,
    moved down to be below all corners. The complement of the first event is the first one for (Q, P)."""
    first = bounds[0]
    if not first.gamma == reverse[0].gamma == 1:
        raise ValueError("the first event is not that at γ = 1")
    complement = Bound(1.0, first.advantage, 0.0, (1 - first.advantage - first.q_low) * (1 + 8 * UNIT))
    (x, g), (y, h) = _polyline(bounds), _polyline([complement, *reverse[1:]])
    all_x, all_g = np.concatenate(([0.0], 1 / y[::-1], x)), np.concatenate(([1.0], ((h + (y - 1)) / y)[::-1], g))
    slopes = (all_g[:-1] - all_g[1:]) / np.maximum(np.diff(all_x), 1e-300)
    corners = [(0.0, 0.0)]
    for q in [*(x for x in slopes[::-1].tolist() if x < 1), 1.0]:
        if not q > corners[-1][0]:
            continue
        new = q, float((all_g + all_x * q).min()) * (1 - 8 * UNIT) if q < 1 else 1.0
        while len(corners) > 1 and _slope(corners[-1], new) >= _slope(corners[-2], corners[-1]):
            corners.pop()
        if new[1] > corners[-1][1]:
            corners.append(new)
    return corners


def _slope(a: tuple[float, float], b: tuple[float, float]) -> Fraction:
    return (Fraction(b[1]) - Fraction(a[1])) / (Fraction(b[0]) - Fraction(a[0]))


def bound_of_event(x: Array, masses: tuple[Array, Array, Array], gamma: float, question: Question,
                   step: float) -> Bound:
    """Return what the event that the sum of labels, which are about x/step, is not small shows at γ. All labels have
    the first law, except for one of them, drawn uniformly, which has the second law under P and the third one under Q.
    The masses are rounded up, by a few units. The question only helps to choose a window."""
    count = question.count
    order = np.argsort(x, kind="stable")
    x, base = x[order], masses[0][order]
    grid = choose_grid(x, base, question)
    a, first = grid.tilt * step, floor(grid.low / step)
    exact = x.clip(grid.low, grid.high) / step
    labels = np.rint(exact).astype(np.intp) - first
    size = ceil(grid.high / step) - first + 2
    one, p, q = (tilted_powers.tilted(first, np.bincount(labels, law[order], size), a, (len(x) + 8) * UNIT)
                 for law in masses)
    rest = tilted_powers.power([(one, count - 1)], grid.window, step)
    threshold = round(count * float((base * (labels + first - exact)).sum()))
    return _bound_of_masses(_Tails(rest, a), p, q, gamma, threshold)


class _Tails:
    """The computed probabilities that a sum is at least each point of its window, and bounds of their errors.

    The difference of the tails at x < y is that of the computed ones up to `error` times the norm of the factors in
    between, a relative error, and the mass outside of the window times the factor at x."""

    def __init__(self, law: Law, a: float) -> None:
        factors = law.factors(a)
        self.law, self.a, self.relative = law, a, law.rounding(a)
        self.tails = np.cumsum((law.weight * factors)[::-1])[::-1]
        self.energy, self.outside = np.cumsum((factors * factors)[::-1])[::-1], law.outside * factors
        error = (law.error * np.sqrt(self.energy) + self.outside) * (1 + 1e-9)
        self.low = np.clip(self.tails * (1 - self.relative) - error, 0.0, 1.0)
        self.high = np.clip(self.tails * (1 + self.relative) + error, 0.0, 1.0)

    def at(self, values: Array, places: Array, before: float, after: float) -> Array:
        inside = values[np.clip(places, 0, len(values) - 1)]
        return np.asarray(np.where(places < 0, before, np.where(places < len(values), inside, after)))


def _bound_of_masses(tails: _Tails, p: Law, q: Law, gamma: float, threshold: int) -> Bound:
    """Return the bound of the event that a label and a sum of others are at least a threshold."""
    p_mass, q_mass = p.weight * p.factors(tails.a), q.weight * q.factors(tails.a)
    places = threshold - (q.first + np.arange(len(q_mass))) - tails.law.first
    low = tails.at(tails.low, places, float(tails.low[0]), 0.0)
    high = tails.at(tails.high, places, 1.0, float(tails.high[-1]))
    relative = p.rounding(tails.a) + q.rounding(tails.a) + ROUNDING
    advantage = _least_mean(tails, p_mass - gamma * q_mass, places, low, high)
    advantage -= relative * float(((p_mass + gamma * q_mass) * high).sum())
    q_low, q_high = float((q_mass * low).sum()) * (1 - relative), float((q_mass * high).sum()) * (1 + relative)
    return Bound(gamma, advantage, q_low, min(q_high, 1.0))


def _least_mean(tails: _Tails, weights: Array, places: Array, low: Array, high: Array) -> float:
    """Return a lower bound of the sum of weights times the true tails at these places: where it is sharper, the tail is
    taken to be the computed one plus one unknown number, up to the errors in between."""
    count = len(tails.tails)
    center = min(max(int(places[np.argmax(np.abs(weights))]), 0), count - 1)
    inside = np.clip(places, 0, count - 1)
    energy, computed = tails.energy[inside], tails.tails[inside]
    apart = tails.law.error * np.sqrt(np.abs(energy - tails.energy[center]) + 1e-9 * np.maximum(
        energy, tails.energy[center]))
    apart += np.maximum(tails.outside[inside], tails.outside[center])
    apart += tails.relative * np.abs(computed - tails.tails[center])
    near = (places == inside) & (apart < (high - low) / 2)
    with_shared, alone = np.where(near, weights, 0.0), np.where(near, 0.0, weights)
    shared = float(with_shared.sum())
    unknown = [shared * float(x[center] - tails.tails[center]) for x in (tails.low, tails.high)]
    total = float((with_shared * computed).sum() + (alone * np.where(alone > 0, low, high)).sum()) + min(unknown)
    rounding = 4 * len(weights) * UNIT * float((np.abs(weights) * high).sum())
    return total - float((np.abs(with_shared) * apart).sum()) * (1 + 1e-9) - rounding
