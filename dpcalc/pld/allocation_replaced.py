"""Random allocation of each record to one of t steps with Gaussian noise, one record being replaced: a pair that
dominates one epoch, and a pair that it dominates.

With D = e^{mz−m²/2} − τe^{−mz−m²/2}, z ~ N(0, 1), m = 1/σ and τ = e^ε, one epoch has δ(ε) = E(ΣD)₊/t for t independent
copies (see bounds/sampling/allocation_replace_one_profile.py). D is e^{ε/2−m²/2} times x(z) = 2 sinh(mz − ε/2), which
increases in z. So at the points x(z_j) of a grid of z, E(x − k)₊ is e^{−ε/2}·a_j + e^{ε/2}·b_j with integrals a_j of
(e^{mz} − e^{mz_j})₊ and b_j of (e^{−mz_j} − e^{−mz})₊, which do not depend on ε. """

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, exp, expm1, inf, log, log2, pi, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics import legendre, normal
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_down, ratio_up, up
from dpcalc.pld.atoms import Atoms, profile_at_points
from dpcalc.pld.event_pairs import EventAt, pair_of_events
from dpcalc.pld.pair import SMALLEST_NOISE, Gaussian
from dpcalc.pld.positive_sums import Question, mean_of_positive_part
from dpcalc.pld.profile_points import walk
from dpcalc.pld.sum_events import Event, event_of_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pair import Pair

    Array = NDArray[Any]

LARGEST_NOISE = 1e10  # losses of a step with more noise are below 1e-9, and rounding errors nearly as large
LARGEST_LOG_RATIO = 300.0  # of one likelihood ratio, e^{mz}, so that its products with masses are normal doubles
NODES = 8  # of the Gauss–Legendre rule in a cell of at most 1/128 deviations: its error is below 1e-20 there
LIGHT = 1e-10  # relative, added to δ: more than rounding errors of the pair's masses, which are differences
UNIT = 2.0**-53
SMALLEST = 1e-300  # of a mean: smaller ones are rounded up, so that they have a logarithm


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
    _check_noise(sigma)
    mu = ratio_up((2.0,), (sigma,))
    if steps <= 2 or has_large_ratios(mu / 2, tail):
        return Gaussian(up(mu / sqrt(min(steps, 2)), 4 * UNIT))
    points = upper_points(sigma, steps, tail)
    return profile_at_points([point.epsilon for point in points], [point.log_delta for point in points])


@lru_cache(maxsize=64)
def dominated_pair(sigma: float, steps: int, tail: float) -> Pair:
    """A symmetric pair that is dominated by one epoch with gradients that do not depend on the outputs."""
    _check_noise(sigma)
    mu = ratio_down((2.0,), (sigma,))
    if steps <= 2:
        return Gaussian(mu / sqrt(steps) * (1 - 4 * UNIT))
    if has_large_ratios(mu / 2, tail):
        raise OutOfScope("out-of-range", f"σ = {sigma:g} is so small that likelihood ratios exceed "
                                         f"e^{LARGEST_LOG_RATIO:.0f}; the lower bound is computed up to there",
                         "--noise-multiplier")
    events = events_from_below(sigma, steps, tail)
    return pair_of_events(events, events) if events else Atoms((0.0,), (0.0,), attained=True)


@lru_cache(maxsize=64)
def upper_points(sigma: float, steps: int, tail: float) -> tuple[Point, ...]:
    """Upper bounds of δ of one epoch of three or more steps."""
    mu, found = ratio_up((2.0,), (sigma,)), list[Point]()
    mesh, of_two = Mesh.of(mu / 2, tail), up(mu / sqrt(2), 4 * UNIT)

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        last_step = found[-1].step if found else inf
        amplified, step = mesh.log_delta(epsilon, mesh.question(epsilon, steps, precision, expected, last_step))
        value = min(amplified + LIGHT, log_theta(epsilon, of_two) * (1 - 3e-13) + LIGHT, 0.0)
        found.append(Point(epsilon, min(value, found[-1].log_delta if found else 0.0), step))
        return found[-1].log_delta

    walk(log_delta, _first_guess(mu, steps), tail, mesh.last_epsilon)
    return tuple(found)


@lru_cache(maxsize=64)
def events_from_below(sigma: float, steps: int, tail: float) -> tuple[EventAt, ...]:
    """Events of one epoch of three or more steps with a positive advantage."""
    mu, found, step = ratio_down((2.0,), (sigma,)), list[EventAt](), inf
    mesh = Mesh.of(mu / 2, tail)

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        nonlocal step
        event, step = mesh.event(epsilon, mesh.question(epsilon, steps, precision, expected, step))
        rounding = 4 * UNIT * exp(epsilon) * event.q_high  # of e^ε
        event = event._replace(advantage=event.advantage - rounding)
        if event.advantage > 0:
            found.append(EventAt(epsilon, event, step))
        return log(max(event.advantage, 1e-300))

    walk(log_delta, _first_guess(mu, steps), tail, mesh.last_epsilon)
    return tuple(found)


def has_large_ratios(m: float, tail: float) -> bool:
    """Whether likelihood ratios are too large for doubles."""
    return m * _farthest(m, tail) > LARGEST_LOG_RATIO


def _check_noise(sigma: float) -> None:
    if not SMALLEST_NOISE <= sigma <= LARGEST_NOISE:
        raise OutOfScope("out-of-range", f"random allocation is computed for noise multipliers from {SMALLEST_NOISE:g} "
                                         f"to {LARGEST_NOISE:g}", "--noise-multiplier")


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
        nodes, weights = legendre.rule(NODES)
        inner, weights = (1 + nodes) / 2 * width, weights * (width / 2 / sqrt(2 * pi))
        density = np.exp(-((z[:-1, None] + inner) ** 2) / 2) * weights
        end = exp(normal.log_tail(float(z[-1])))
        above = np.cumsum(np.append(density.sum(axis=1), end)[::-1])[::-1][1:]
        rises = np.exp(m * z[:-1]) * (expm1(m * width) * above + (density * np.expm1(m * inner)).sum(axis=1))
        falls = np.exp(-m * z[:-1]) * (-expm1(-m * width) * above + (density * -np.expm1(-m * inner)).sum(axis=1))
        a = np.append(rises, exp(normal.log_tail(float(z[-1]) - m) + m * m / 2))  # the mean of e^{mz} beyond
        b = np.append(falls, end * exp(-m * float(z[-1])))
        base, p, q = (_cells(z, width, shift, inner - width / 2, weights) for shift in (0.0, m, -m))
        farthest = float(z[-1]) + m
        return cls(m, z, np.cumsum(a[::-1])[::-1], np.cumsum(b[::-1])[::-1], (base, p, q),
                   8 * (farthest * farthest + 10) * UNIT)

    @property
    def last_epsilon(self) -> float:
        """The ε up to which losses of the last points but one are larger."""
        return 2 * self.m * float(self.z[-2])

    def question(self, epsilon: float, steps: int, precision: float, expected: float, last_step: float) -> Question:
        """What is asked about E(Σx)₊, if δ at this ε is about `expected` and the step of a nearby ε is known."""
        scale = exp(self.m * self.m / 2 - epsilon / 2 + log(steps))
        return Question(steps, 0.0, precision, scale * expected, scale * (1 + exp(epsilon)), 1.02 * last_step)

    def log_delta(self, epsilon: float, question: Question) -> tuple[float, float]:
        """log of an upper bound of δ, and the step."""
        root = exp(epsilon / 2)
        points = 2 * np.sinh(self.m * self.z - epsilon / 2)
        call = self.a / root + root * self.b
        put = self.b[::-1] / root + root * self.a[::-1]
        value, step = mean_of_positive_part(points, call, put, replace(question, per_probability=None))
        return log(max(value, SMALLEST)) + epsilon / 2 - self.m * self.m / 2 - log(question.count), step

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
