"""A pair that one epoch of shuffled batches dominates: the likelihood ratio of a run whose other gradients point away
from that of the record.

In standard deviations of the noise the sum of a full batch is N(−m, 1), and N(m, 1) or N(0, 1) if the record is in it
(see dpcalc/bounds/sampling/shuffle_lower.py). The record is in each of the t batches with the same probability, and in
none of them with probability ρ. So of t variables, all have the law N(−m, 1) except for one, drawn uniformly, whose law
is (1−ρ)N(m, 1) + ρN(−m, 1), or (1−ρ)N(0, 1) + ρN(−m, 1). """

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_down
from dpcalc.pld.allocation_replaced import LARGEST_LOG_RATIO, Mesh, has_large_ratios
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.event_pairs import EventAt, pair_of_events
from dpcalc.pld.positive_sums import Question
from dpcalc.pld.profile_points import walk
from dpcalc.pld.sum_events import event_of_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.sum_events import Laws

    Array = NDArray[Any]

UNIT = 2.0**-53
GAPS = 3.0  # between the ε of events: chords change ε by less than 2e-3 of it
LOG_OF_NOTHING = -690.0  # log of an advantage that is not positive


@lru_cache(maxsize=64)
def dominated_pair(sigma: float, batches: int, unused: float, tail: float) -> Atoms:
    """A pair, with its reverse, that is dominated by one epoch; `unused` is ρ."""
    m = ratio_down((1.0,), (sigma,))
    if has_large_ratios(2 * m, tail):
        raise OutOfScope("out-of-range", f"σ = {sigma:g} is so small that likelihood ratios exceed "
                                         f"e^{LARGEST_LOG_RATIO:.0f}; the lower bound is computed up to there",
                         "--noise-multiplier")
    mesh, own = Mesh.of(m, tail), 1 - unused
    base, with_record, without = mesh.laws[2], mesh.laws[1], mesh.laws[0]
    laws = base, own * with_record + unused * base, own * without + unused * base
    ratios = own * np.exp(2 * m * mesh.z) + unused, own * np.exp(m * mesh.z + m * m / 2) + unused
    events = [_events(mesh, (laws[0], laws[i], laws[3 - i]), (ratios[i - 1], ratios[2 - i]), batches, tail)
              for i in (1, 2)]
    return pair_of_events(*events) if events[0] and events[1] else Atoms((0.0,), (0.0,), attained=True)


def _events(mesh: Mesh, laws: Laws, ratios: tuple[Array, Array], batches: int, tail: float) -> list[EventAt]:
    """Events with a positive advantage of the first special law against the second one."""
    found, step = list[EventAt](), inf

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        nonlocal step
        gamma = exp(epsilon)
        values = ratios[0] - gamma * ratios[1]
        if values.max() <= 0:
            return LOG_OF_NOTHING
        question = Question(batches, 0.0, precision, batches * expected, batches * (1 + gamma), 1.02 * step)
        event, step = event_of_sum(values, laws, mesh.relative, gamma, question)
        event = event._replace(advantage=event.advantage - 4 * UNIT * gamma * event.q_high)  # of the rounding of γ
        if event.advantage > 0:
            found.append(EventAt(epsilon, event, step))
        return log(event.advantage) if event.advantage > 0 else LOG_OF_NOTHING

    guess = exp(log_theta(0.0, mesh.m)) / sqrt(batches)
    walk(log_delta, guess, tail, 2 * mesh.last_epsilon, GAPS)
    return found
