"""The pair that an epoch of shuffled batches dominates, by events of a run whose other gradients point away.

Of t numbers all are N(−m, 1), except for one, drawn uniformly, which is (1 − ρ)N(m, 1) + ρN(−m, 1) with the record, and
(1 − ρ)N(0, 1) + ρN(−m, 1) without it (see bounds/sampling/shuffle_lower.py). The ε are found by the walk of the
calculator, of which any choice is valid, with events that are computed here.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from dpcalc.core.bound import Params
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld.atoms import SMALLEST_LOG_DELTA
from dpcalc.pld.positive_sums import Question
from dpcalc.pld.profile_pairs import walk
from dpcalc.pld.shuffled_epoch import GAPS_OF_EVENTS
from dpcalc.pld.sum_events import event_of_sum
from dpcalc.verify.allocation_replaced import FINER, Epoch, cells_of
from dpcalc.verify.directed_array import Array
from dpcalc.verify.loss_distributions import LossPair
from dpcalc.verify.sum_events import Bound, bound_of_event, polyline_pair
from dpcalc.verify.tilted_powers import ROUNDING

Side = tuple["Array", "Array"]  # likelihood ratios to the base law, and masses of cells


def dominated_pair(p: Params) -> LossPair:
    """Return the pair of one epoch with its reverse, from the parameters of the bound."""
    z, batches, unused = ratio_up((p["sigma"],), (p["sensitivity"],)), p["steps_per_epoch"], p["dropped"]

    def bounds(mp: Any) -> tuple[list[Bound], list[Bound]]:
        cells, own, m = cells_of(Epoch(z, batches, p["tail"], mp)), 1 - unused, 1 / z
        without, with_record, base = cells.masses
        sides = [(own * np.exp(rate * cells.middles + shift) + unused, own * masses + unused * base)
                 for rate, shift, masses in ((2 * m, 0.0, with_record), (m, m * m / 2, without))]
        last = 4 * m * float(cells.edges[-1])
        return _events(base, sides[0], sides[1], batches, p["tail"], m, last), _events(
            base, sides[1], sides[0], batches, p["tail"], m, last)

    return polyline_pair(bounds)


def _events(base: Array, p: Side, q: Side, batches: int, tail: float, m: float, last: float) -> list[Bound]:
    """Return what events show of P against Q, at γ from 1 on."""
    found = list[Bound]()

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        gamma = exp(epsilon)
        values, masses = p[0] - gamma * q[0], (base, p[1], q[1])
        if values.max() <= 0:
            return SMALLEST_LOG_DELTA
        question = Question(batches, 0.0, precision, batches * expected, batches * (1 + gamma))
        _, step = event_of_sum(values, masses, ROUNDING, gamma, question)
        bound = bound_of_event(values, masses, gamma, question, FINER * step)
        if bound.advantage <= 0:
            return SMALLEST_LOG_DELTA
        found.append(bound)
        return log(bound.advantage)

    # chords between narrower gaps than those of the calculator change the result by half as much
    walk(log_delta, exp(log_theta(0.0, m)) / sqrt(batches), tail, last, FINER * GAPS_OF_EVENTS)
    return found
