"""The pair that dominates one epoch of shuffled batches, every step released, and a pair that it dominates.

Where r = wb >= 1 of the n records are left out of the t batches of b, the profile is at most E(w(1 − γ) + ΣD_j)₊/(t +
w) at γ = e^ε, for t independent copies D_j of D* (swapped_record.py), in both directions. Where all records are used it
is the bound of shuffled_used.py. The proofs are in dpcalc/bounds/sampling/shuffle_profile.py and
shuffle_profile_used.py.

Where all epochs have the same order, D_j is the difference of likelihood ratios of a batch in all of them: W(X − γ),
W(1 − γX), or W(X − γX′) with independent log-normal W, X and X′ of mean 1 (shuffle_profile_one_order.py). The mean of
the positive part of a sum of such variables is convex in each W, X and X′, the others being given. So it does not fall
where these are put on few points with their means kept; 0 is one of the points. Beyond the last point W and X are
capped. Where the mean falls in one of them, that raises it; where it rises, E(X − last)₊ is added, and E(W − last)₊
times the mean of the positive part of the other factor.

From below it is the likelihood ratio of a run whose other gradients point away from that of the record. In standard
deviations of the noise the sum of a full batch is N(−m, 1), and N(m, 1) or N(0, 1) if the record is in it (see
dpcalc/bounds/sampling/shuffle_lower.py). The record is in each of the t batches with the same probability, and in none
of them with probability ρ. So of t variables, all have the law N(−m, 1) except for one, drawn uniformly, whose law is
(1−ρ)N(m, 1) + ρN(−m, 1), or (1−ρ)N(0, 1) + ρN(−m, 1). """

from collections.abc import Callable
from functools import lru_cache
from math import exp, expm1, inf, log, sqrt

import numpy as np

from dpcalc.numerics import normal
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import UNIT, ratio_down, ratio_up, up
from dpcalc.pld import allocation_replaced
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.pair import LARGEST_LOG_RATIO, Gaussian, Pair, check_noise
from dpcalc.pld.positive_sums import Question, Summand, cell_excesses, mean_of_positive_part, mean_of_sum, spread
from dpcalc.pld.profile_pairs import LIGHT, STEP_GROWTH, EventAt, pair_of_directions, pair_of_events, walk_of_events
from dpcalc.pld.sum_events import Event, Laws, event_of_sum
from dpcalc.pld.swapped_record import REPLACED, WITH, WITHOUT, Mesh

ROUNDING = 1e-8  # relative, for each batch: more than the errors of masses, of 1e-10, may change δ by
GAPS_OF_EVENTS = 3.0  # between those of events: chords change ε by less than 2e-3 of it
GAPS = 2.0  # between the ε of a profile: chords change ε by less than 1e-3 of it
COARSE = 3.0  # by which gaps are multiplied where a search starts: chords change ε by 1e-2 of it
GAPS_USED = 5.0  # where each δ takes 30 ms: chords change ε by 5e-3 of it


@lru_cache(maxsize=64)
def left_out(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, tail: float,
             coarse: float = 1.0) -> Pair:
    """The pair of an epoch that leaves out `rest` records. About 10·`tail` of its P-mass is at an infinite loss. Gaps
    between its ε may be `coarse` times as wide."""
    w, last = ratio_down((float(rest),), (float(batch_size),)), dict[int, float]()

    def log_delta(mesh: Mesh, direction: int, epsilon: float, precision: float, expected: float) -> float:
        d, scale = mesh.difference(epsilon, direction), (steps + w) * exp(-epsilon)
        question = Question(steps, w * expm1(-epsilon), precision, scale * expected,
                            largest_step=STEP_GROWTH * last.get(direction, inf))
        mean, last[direction] = mean_of_positive_part(*d, question)
        return log(max(mean, 1e-300) / scale)

    return _pair(sigma, steps, replaced, tail, coarse * GAPS, log_delta)


@lru_cache(maxsize=64)
def all_used(sigma: float, n: int, batch_size: int, replaced: bool, radius: float, tail: float) -> Pair:
    """The pair of an epoch that uses all records, whose vectors are in a ball of this radius."""
    from dpcalc.pld.shuffled_used import Profile

    if n < 2 * batch_size:  # of two batches, the second one being smaller
        return without_amplification(sigma, replaced)
    profiles = dict[int, Profile]()

    def log_delta(mesh: Mesh, direction: int, epsilon: float, precision: float, expected: float) -> float:
        profile = profiles.setdefault(direction, Profile(mesh, direction, n, batch_size, radius))
        return profile.log_delta(epsilon, precision, expected) + ROUNDING * (n // batch_size)

    return _pair(sigma, n // batch_size, replaced, tail, GAPS_USED, log_delta)


@lru_cache(maxsize=64)
def one_order(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, epochs: int, tail: float) -> Pair:
    """The pair of all epochs together, which have the same order and leave out the same `rest` records."""
    w, laws = ratio_down((float(rest),), (float(batch_size),)), list[OneOrder]()

    def log_delta(mesh: Mesh, direction: int, epsilon: float, precision: float, expected: float) -> float:
        if not laws:
            laws.append(OneOrder(mesh, replaced))
        scale = (steps + w) * exp(-epsilon)
        mean, _ = mean_of_sum(laws[0].summand(epsilon, direction),
                              Question(steps, w * expm1(-epsilon), precision, scale * expected))
        return log(max(mean, 1e-300) / scale) + ROUNDING * steps

    return _pair(sigma / sqrt(epochs) * (1 - 4 * UNIT), steps, replaced, tail, GAPS, log_delta)


def without_amplification(sigma: float, replaced: bool) -> Gaussian:
    """One step on all records."""
    return Gaussian(up(ratio_up((2.0 if replaced else 1.0,), (sigma,)), 4 * UNIT))


def _pair(sigma: float, steps: int, replaced: bool, tail: float, gaps: float,
          log_delta: Callable[[Mesh, int, float, float, float], float]) -> Pair:
    """The pair of upper bounds of the profile, which is at most that of one step on all records, too."""
    check_noise(sigma, "shuffled batches are")
    plain = without_amplification(sigma, replaced)
    mesh = Mesh(ratio_up((1.0,), (sigma,)), tail / 100)
    if mesh.largest_exponent > LARGEST_LOG_RATIO:
        return plain

    def at_most(direction: int, epsilon: float, precision: float, expected: float) -> float:
        found = log_delta(mesh, direction, epsilon, precision, expected)
        return min(found + LIGHT, log_theta(epsilon, plain.mu) * (1 - 3e-13) + LIGHT, 0.0)

    guess = exp(log_theta(0.0, plain.mu)) / sqrt(steps)
    return pair_of_directions(at_most, (REPLACED,) if replaced else (WITH, WITHOUT), guess, tail,
                              mesh.last_epsilon(plain.mu), gaps)


class OneOrder:
    """The variable at every ε, for noise of 1/m in all epochs together."""

    def __init__(self, mesh: Mesh, replaced: bool) -> None:
        outer_mu, inner_mu = (up(sqrt(square) * mesh.m, 8 * UNIT) for square in axes(mesh.m, replaced))
        self.reach = mesh.reach
        self.outer, self.inner = self._log_normal(outer_mu, 48), self._log_normal(inner_mu, 96)

    def _log_normal(self, mu: float, points: int) -> Summand:
        """exp(μG − μ²/2) on few points: E(X − k)₊ is the integral of P(X > v) from k on, E(k − X)₊ that of P(X < v)."""
        z = np.linspace(-self.reach, self.reach + mu, points)
        over, under = cell_excesses(z, lambda z: mu * np.exp(mu * z - mu * mu / 2))
        x = np.append(0.0, np.exp(mu * z - mu * mu / 2))

        def above(z: float) -> float:
            return exp(normal.log_tail(float(z)))

        beyond = above(z[-1] - mu) - float(x[-1]) * above(z[-1]) + UNIT
        below = max(float(x[1]) * above(-z[0]) - above(mu - z[0]), 0.0)
        call = np.cumsum(np.append(over, beyond)[::-1])[::-1]
        put = np.append(0.0, np.cumsum(np.append(below, under)))
        return Summand(x, *spread(x, np.append(1.0, call), put))

    def summand(self, epsilon: float, direction: int) -> Summand:
        """The variable in this direction, as multiples of γ."""
        x, masses, beyond = self.inner
        factor, w = exp(-epsilon), self.outer
        if direction == REPLACED:
            values, masses = _merged(np.subtract.outer(factor * x, x).ravel(), np.outer(masses, masses).ravel())
            excess = factor * beyond
        elif direction == WITH:
            values, excess = factor * x - 1, factor * beyond
        else:
            values, excess = factor - x, 0.0
        mean = float(masses @ np.maximum(values, 0.0)) + excess
        products, weights = np.outer(w.points, values).ravel(), np.outer(w.masses, masses).ravel()
        order = np.argsort(products)
        return Summand(products[order], weights[order], w.excess * mean + excess)


def axes(m: float, replaced: bool) -> tuple[float, float]:
    """The squares q² and p² of the theorem. Those that it allows are all valid; these are nearly the best for ε."""
    if not replaced:
        p2 = 1 + m + m * m
        return p2 / (p2 - 1), p2
    p2 = min(2 + 1.2 * m, 3.0)
    return max(p2 * (4 - p2) / (2 * (p2 - 2)), 4 - p2 / 2), p2


def _merged(values: Array, masses: Array) -> tuple[Array, Array]:
    """About 200 values, the mean of every mass being kept."""
    order = np.argsort(values)
    values, masses = values[order], masses[order]
    nodes = values[np.linspace(0, len(values) - 1, 200).astype(int)]
    nodes = nodes[np.append(True, nodes[1:] > nodes[:-1])]
    cell = np.minimum(np.searchsorted(nodes, values, "right") - 1, len(nodes) - 2)
    share = (values - nodes[cell]) / (nodes[cell + 1] - nodes[cell])
    found = np.bincount(cell, masses * (1 - share), len(nodes)) + np.bincount(cell + 1, masses * share, len(nodes))
    return nodes, found


# --- from below ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def dominated_pair(sigma: float, batches: int, unused: float, tail: float) -> Atoms:
    """A pair, with its reverse, that is dominated by one epoch; `unused` is the ρ of the record."""
    m = ratio_down((1.0,), (sigma,))
    allocation_replaced.check_ratios(sigma, 2 * m, tail)
    mesh, own = allocation_replaced.Mesh.of(m, tail), 1 - unused
    base, with_record, without = mesh.laws[2], mesh.laws[1], mesh.laws[0]
    laws = base, own * with_record + unused * base, own * without + unused * base
    ratios = own * np.exp(2 * m * mesh.z) + unused, own * np.exp(m * mesh.z + m * m / 2) + unused
    events = [_events(mesh, (laws[0], laws[i], laws[3 - i]), (ratios[i - 1], ratios[2 - i]), batches, tail)
              for i in (1, 2)]
    return pair_of_events(*events)


def _events(mesh: allocation_replaced.Mesh, laws: Laws, ratios: tuple[Array, Array], batches: int,
            tail: float) -> list[EventAt]:
    """Events with a positive advantage of the first special law against the second one."""
    def event_at(epsilon: float, precision: float, expected: float, largest_step: float) -> tuple[Event, float]:
        gamma = exp(epsilon)
        values = ratios[0] - gamma * ratios[1]
        if values.max() <= 0:
            return Event(0.0, 0.0, 0.0, 0.0), largest_step
        question = Question(batches, 0.0, precision, batches * expected, batches * (1 + gamma), largest_step)
        return event_of_sum(values, laws, mesh.relative, gamma, question)

    guess = exp(log_theta(0.0, mesh.m)) / sqrt(batches)
    return walk_of_events(event_at, guess, tail, 2 * mesh.last_epsilon, GAPS_OF_EVENTS)
