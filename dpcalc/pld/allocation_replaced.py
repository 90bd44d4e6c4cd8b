"""Random allocation of each record to one of t steps with Gaussian noise, one record being replaced: a pair that
dominates one epoch, and a pair that it dominates.

With D = e^{mz−m²/2} − τe^{−mz−m²/2}, z ~ N(0, 1), m = 1/σ and τ = e^ε, one epoch has δ(ε) = E(ΣD)₊/t for t independent
copies (see bounds/sampling/allocation_replace_one_profile.py). D is e^{ε/2−m²/2} times x(z) = 2 sinh(mz − ε/2), which
increases in z. So at the points x(z_j) of a grid of z, E(x − k)₊ is e^{−ε/2}·a_j + e^{ε/2}·b_j with integrals a_j of
(e^{mz} − e^{mz_j})₊ and b_j of (e^{−mz_j} − e^{−mz})₊, which do not depend on ε. """

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, exp, inf, log, log2, pi, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics import legendre, normal
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import UNIT, ratio_down, ratio_up, up
from dpcalc.pld.atoms import profile_at_points
from dpcalc.pld.pair import LARGEST_LOG_RATIO, Gaussian, Pair, check_noise
from dpcalc.pld.positive_sums import Question, cell_excesses, mean_of_positive_part
from dpcalc.pld.profile_pairs import LIGHT, EventAt, pair_of_events, walk, walk_of_events
from dpcalc.pld.sum_events import Event, event_of_sum


class Point(NamedTuple):
    """log of an upper bound of δ at ε, and the step of the grid by which it was computed."""

    epsilon: float
    log_delta: float
    step: float


@lru_cache(maxsize=64)
def dominating_pair(sigma: float, steps: int, tail: float) -> Pair:
    """A symmetric pair that dominates one epoch. About 10·`tail` of its P-mass is at an infinite loss. With one or two
    steps it is that of Gaussian noise. That of two steps is an upper bound for more steps, too: the answer for tiny σ.
    """
    check_noise(sigma, "random allocation is")
    mu = ratio_up((2.0,), (sigma,))
    if steps <= 2 or _has_large_ratios(mu / 2, tail):
        return Gaussian(up(mu / sqrt(min(steps, 2)), 4 * UNIT))
    points = upper_points(sigma, steps, tail)
    return profile_at_points([point.epsilon for point in points], [point.log_delta for point in points])


@lru_cache(maxsize=64)
def dominated_pair(sigma: float, steps: int, tail: float) -> Pair:
    """A symmetric pair that is dominated by one epoch with gradients that do not depend on the outputs."""
    check_noise(sigma, "random allocation is")
    mu = ratio_down((2.0,), (sigma,))
    if steps <= 2:
        return Gaussian(mu / sqrt(steps) * (1 - 4 * UNIT))
    check_ratios(sigma, mu / 2, tail)
    events = events_from_below(sigma, steps, tail)
    return pair_of_events(events, events)


@lru_cache(maxsize=64)
def upper_points(sigma: float, steps: int, tail: float) -> tuple[Point, ...]:
    """Upper bounds of δ of one epoch of three or more steps."""
    mu, found = ratio_up((2.0,), (sigma,)), list[Point]()
    mesh, of_two = Mesh.of(mu / 2, tail), up(mu / sqrt(2), 4 * UNIT)

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        last_step = found[-1].step if found else inf
        amplified, step = mesh.log_delta(epsilon, mesh.question(epsilon, steps, precision, expected, 1.02 * last_step))
        value = min(amplified + LIGHT, log_theta(epsilon, of_two) * (1 - 3e-13) + LIGHT, 0.0)
        found.append(Point(epsilon, min(value, found[-1].log_delta if found else 0.0), step))
        return found[-1].log_delta

    walk(log_delta, _first_guess(mu, steps), tail, mesh.last_epsilon)
    return tuple(found)


@lru_cache(maxsize=64)
def events_from_below(sigma: float, steps: int, tail: float) -> tuple[EventAt, ...]:
    """Events of one epoch of three or more steps with a positive advantage."""
    mu = ratio_down((2.0,), (sigma,))
    mesh = Mesh.of(mu / 2, tail)

    def event_at(epsilon: float, precision: float, expected: float, largest_step: float) -> tuple[Event, float]:
        return mesh.event(epsilon, mesh.question(epsilon, steps, precision, expected, largest_step))

    return tuple(walk_of_events(event_at, _first_guess(mu, steps), tail, mesh.last_epsilon))


def check_ratios(sigma: float, m: float, tail: float) -> None:
    """Raise OutOfScope where likelihood ratios are too large for doubles."""
    if _has_large_ratios(m, tail):
        raise OutOfScope("out-of-range", f"σ = {sigma:g} is so small that likelihood ratios exceed "
                                         f"e^{LARGEST_LOG_RATIO:.0f}; the lower bound is computed up to there",
                         "--noise-multiplier")


def _has_large_ratios(m: float, tail: float) -> bool:
    return m * _farthest(m, tail) > LARGEST_LOG_RATIO


def _farthest(m: float, tail: float) -> float:
    """The largest z: under N(m, 1) there is at most tail/100 beyond."""
    return m + sqrt(-2 * log(tail / 100))


def _first_guess(mu: float, steps: int) -> float:
    return exp(log_theta(0.0, mu)) / sqrt(steps)


@dataclass(frozen=True)
class Mesh:
    """A grid of z, symmetric around 0, and what is needed of the normal distribution on it.

    a and b are those of the module's docstring; the masses of cells around the points are those under N(0, 1), N(m, 1)
    and N(−m, 1), with a relative error."""

    m: float
    z: Array
    a: Array
    b: Array
    laws: tuple[Array, Array, Array]
    relative: float

    @classmethod
    def of(cls, m: float, tail: float) -> Mesh:
        width = 2.0 ** -(7 + min(max(ceil(log2(m)), 0), 3))
        last = ceil(_farthest(m, tail) / width)
        z = width * np.arange(-last, last + 1)  # exact
        nodes, weights = legendre.rule(8)  # in cells of at most 1/128 deviations its error is below 1e-20
        end = float(z[-1])
        rises, _ = cell_excesses(z, lambda x: m * np.exp(m * x))
        falls, _ = cell_excesses(z, lambda x: m * np.exp(-m * x))
        a = np.append(rises, exp(normal.log_tail(end - m) + m * m / 2))  # the mean of e^{mz} beyond
        b = np.append(falls, exp(normal.log_tail(end) - m * end))
        inner, weights = nodes / 2 * width, weights * (width / 2 / sqrt(2 * pi))
        base, p, q = (_cells(z, width, shift, inner, weights) for shift in (0.0, m, -m))
        return cls(m, z, np.cumsum(a[::-1])[::-1], np.cumsum(b[::-1])[::-1], (base, p, q),
                   8 * ((end + m) ** 2 + 10) * UNIT)

    @property
    def last_epsilon(self) -> float:
        """The ε up to which losses of the last points but one are larger."""
        return 2 * self.m * float(self.z[-2])

    def question(self, epsilon: float, steps: int, precision: float, expected: float, largest_step: float) -> Question:
        """What is asked about E(Σx)₊, if δ at this ε is about `expected`."""
        scale = exp(self.m * self.m / 2 - epsilon / 2 + log(steps))
        return Question(steps, 0.0, precision, scale * expected, scale * (1 + exp(epsilon)), largest_step)

    def log_delta(self, epsilon: float, question: Question) -> tuple[float, float]:
        """log of an upper bound of δ, and the step."""
        root = exp(epsilon / 2)
        points = 2 * np.sinh(self.m * self.z - epsilon / 2)
        call = self.a / root + root * self.b
        put = self.b[::-1] / root + root * self.a[::-1]
        value, step = mean_of_positive_part(points, call, put, replace(question, per_probability=None))
        return log(max(value, 1e-300)) + epsilon / 2 - self.m * self.m / 2 - log(question.count), step

    def event(self, epsilon: float, question: Question) -> tuple[Event, float]:
        """An event whose advantage is nearly the largest one at ε, and the step."""
        points = 2 * np.sinh(self.m * self.z - epsilon / 2)
        return event_of_sum(points, self.laws, self.relative, exp(epsilon), question)


def _cells(z: Array, width: float, shift: float, nodes: Array, weights: Array) -> Array:
    """The masses under N(shift, 1) of the cells around the points; the outermost cells are unbounded."""
    masses: Array = (np.exp(-((z[:, None] - shift + nodes) ** 2) / 2) * weights).sum(axis=1)
    masses[0] += exp(normal.log_tail(-float(z[0] - width / 2 - shift)))
    masses[-1] += exp(normal.log_tail(float(z[-1] + width / 2 - shift)))
    return masses
