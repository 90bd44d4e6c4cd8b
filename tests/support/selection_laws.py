"""Exact output laws of private selection from candidates with finitely many outcomes.

A candidate is one run: it draws an outcome from the law Q on one data set and from Q′ on a neighbouring one, and every
outcome has a score. Selection draws the number of runs K, makes K independent runs, and publishes the outcome with the
largest score. Ties are broken uniformly at random among the tied runs. The law of the published outcome follows from
the generating function φ(z) = E z^K alone: the largest score lies in a group of outcomes with equal scores with the
probability φ(mass up to the group) − φ(mass below the group), and within the group the outcome has its law under Q.
"""

from dataclasses import dataclass
from math import exp, expm1, factorial, log, prod

import numpy as np


@dataclass(frozen=True)
class NegativeBinomial:
    """The truncated negative binomial law of the number of runs: shape h > −1, 0 < g < 1, at least one run."""

    shape: float
    g: float
    none = 0.0

    @property
    def mean(self):
        length, h = -log(self.g), self.shape
        return expm1(length) / length if h == 0 else h * expm1(length) / -expm1(-h * length)

    def probability(self, k):
        """P(K = k), as the law is usually defined: a product, not by the generating function."""
        if k == 0:
            return 0.0
        if self.shape == 0:
            return (1 - self.g) ** k / (k * log(1 / self.g))
        rising = prod((j + self.shape) / (j + 1) for j in range(k))
        return (1 - self.g) ** k / (self.g**-self.shape - 1) * rising

    def largest_within(self, above, width):
        """φ(1 − above) − φ(1 − above − width), without cancellation."""
        h, s = self.shape, self.g + (1 - self.g) * above
        step = np.log1p((1 - self.g) * width / s)
        if h == 0:
            return step / -log(self.g)
        return s**-h * -np.expm1(-h * step) / expm1(-h * log(self.g))

    def log_slope_ratio(self, x, y):
        """log(φ′(1 − x)/φ′(1 − y))."""
        return (1 + self.shape) * np.log((self.g + (1 - self.g) * y) / (self.g + (1 - self.g) * x))

    def generating(self, below, mp):
        """φ at the mass `below`, in the arithmetic of an mpmath context, straight from the definition."""
        g, h = mp.mpf(self.g), mp.mpf(self.shape)
        s = 1 - (1 - g) * below
        return mp.log(s) / mp.log(g) if h == 0 else (s**-h - 1) / (g**-h - 1)


@dataclass(frozen=True)
class Poisson:
    """The Poisson law of the number of runs; no run publishes nothing."""

    mean: float

    @property
    def none(self):
        return exp(-self.mean)

    def probability(self, k):
        return exp(-self.mean) * self.mean**k / factorial(k)

    def largest_within(self, above, width):
        return np.exp(-self.mean * above) * -np.expm1(-self.mean * width)

    def log_slope_ratio(self, x, y):
        return self.mean * (y - x)

    def generating(self, below, mp):
        return mp.exp(-mp.mpf(self.mean) * (1 - below))


@dataclass(frozen=True)
class Candidate:
    """The laws of one run on two neighbouring data sets, and the score of every outcome."""

    name: str
    q: np.ndarray
    other: np.ndarray
    score: np.ndarray

    @property
    def reversed(self):
        return Candidate(self.name, self.other, self.q, self.score)


def selected(law, q, score):
    """The law of the published outcome; the last entry is the probability that nothing is published."""
    above = (score[None, :] > score[:, None]).astype(float) @ q
    tied = (score[None, :] == score[:, None]).astype(float) @ q
    share = np.divide(q, tied, out=np.zeros_like(q), where=tied > 0)
    return np.append(law.largest_within(above, tied) * share, law.none)


def selected_pair(law, candidate):
    """The laws of the published outcome on both data sets."""
    return selected(law, candidate.q, candidate.score), selected(law, candidate.other, candidate.score)


def selected_exact(law, q, score, mp):
    """The same law in the arithmetic of an mpmath context, by differences of the generating function."""
    q = [mp.mpf(float(x)) for x in q]
    total, found = mp.fsum(q), []
    for x, s in zip(q, score, strict=True):
        tied = mp.fsum(w for w, other in zip(q, score, strict=True) if other == s)
        top = total - mp.fsum(w for w, other in zip(q, score, strict=True) if other > s)
        found.append((law.generating(top, mp) - law.generating(top - tied, mp)) * x / tied if tied else mp.zero)
    return [*found, mp.mpf(law.none)]


def delta(p, q, epsilon):
    """The hockey-stick divergence Σ(p − e^ε q)₊ at one ε or at an array of them."""
    epsilon = np.asarray(epsilon, float)
    return np.maximum(p - np.exp(epsilon)[..., None] * q, 0.0).sum(axis=-1)


def renyi(p, q, alpha):
    """The Rényi divergence of order α of p from q."""
    p, q = p[p > 0], q[p > 0]
    if not q.all():
        return float("inf")
    terms = alpha * np.log(p) + (1 - alpha) * np.log(q)
    return float(terms.max() + np.log(np.exp(terms - terms.max()).sum())) / (alpha - 1)


def max_log_ratio(p, q):
    """The largest log(p/q): the pure ε in this direction."""
    with np.errstate(divide="ignore"):
        return float(np.log(p[p > 0] / q[p > 0]).max())


def largest_slope_ratio(law, candidate):
    """The supremum over events E of log φ′(1 − Q(E)) − log φ′(1 − Q′(E)): it is reached at an event of the outcomes with
    the largest Q′/Q, as the ratio is monotone along every line in the plane of (Q(E), Q′(E))."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(candidate.q > 0, candidate.other / candidate.q, np.inf))
    x, y = np.cumsum(candidate.q[order]), np.cumsum(candidate.other[order])
    return max(0.0, float(law.log_slope_ratio(x, y).max()))
