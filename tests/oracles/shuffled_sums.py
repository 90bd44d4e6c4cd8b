"""Expectations of positive parts of sums of independent variables, from above, on fine linear grids.

τ = e^ε. D* is the variable whose call function E(D* − k)₊ is the largest hockey-stick of one step. Sides: "record"
(record → none), "none" (none → record), "replace" (replace-one, both directions).
"""

from dataclasses import dataclass
from math import ceil, exp, log, sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import minimize_scalar
from scipy.special import ndtr
from scipy.stats import poisson

PILOT = 600  # points of the geometric grid that finds scales and the tilt
RAISE = 34.0  # a summand below −RAISE/θ is raised to there: its tilted mass is below e^−34
FINE = 1.0  # widths of cells are multiplied by this (tests halve it)


def hockey_stick(d, s):
    """Of N(d, 1) against N(0, 1), s times: H_d(s)."""
    s = np.asarray(s, float)
    return ndtr(d / 2 - np.log(s) / d) - s * ndtr(-d / 2 - np.log(s) / d)


class Star:
    """D* of one step: calls E(D* − k)₊ and puts E(k − D*)₊."""

    def __init__(self, tau, sigma, side):
        self.tau, self.alpha, self.side, self.mean = tau, 1 / sigma, side, 1 - tau

    def call(self, k):
        k, a, tau = np.asarray(k, float), self.alpha, self.tau
        up, down = np.maximum(k, 0), np.maximum(-k, 0)
        if self.side == "replace":
            return np.where(k >= 0, hockey_stick(2 * a, tau + up), (1 + down) * hockey_stick(2 * a, tau / (1 + down)))
        if self.side == "record":
            z = np.log((tau * exp(a * a / 2) + np.sqrt(tau**2 * exp(a * a) + 4 * up)) / 2) / a
            return np.where(k >= 0, ndtr(a - z) - tau * ndtr(-z) - up * ndtr(-a - z),
                            (1 + down) * hockey_stick(a, tau / (1 + down)))
        z = np.log((exp(a * a / 2) + np.sqrt(exp(a * a) + 4 * tau * down)) / (2 * tau)) / a
        return np.where(k >= 0, hockey_stick(a, tau + up), ndtr(z) + down * ndtr(z + a) - tau * ndtr(z - a))

    def put(self, k):
        """Below 0 in its own closed form, free of cancellation."""
        k, a, tau = np.asarray(k, float), self.alpha, self.tau
        down = np.maximum(-k, 0)
        if self.side == "none":
            z = np.log((exp(a * a / 2) + np.sqrt(exp(a * a) + 4 * tau * down)) / (2 * tau)) / a
            low = tau * ndtr(a - z) - ndtr(-z) - down * ndtr(-z - a)
        else:
            low = tau * hockey_stick(2 * a if self.side == "replace" else a, (1 + down) / tau)
        return np.where(k < 0, low, self.call(k) + k - self.mean)


class Table:
    """D* spread (with its mean kept) on many points around its mean, closer together near it: no less in convex order,
    and fast."""

    def __init__(self, star, points=3000):
        scale = max(float(star.call(star.mean)), 1e-300)
        u = np.geomspace(scale * 1e-3, scale * 1e6, points)
        self.mean, self.at = star.mean, np.union1d(np.concatenate([star.mean - u, star.mean + u]), [0.0, star.mean])
        self.calls, self.puts = star.call(self.at), star.put(self.at)

    def call(self, k):
        return np.interp(k, self.at, self.calls) + np.maximum(self.at[0] - k, 0)

    def put(self, k):
        return np.interp(k, self.at, self.puts) + np.maximum(k - self.at[-1], 0)


class Multiple:
    """B(D* + κ) with B on `nodes` with masses `probabilities`."""

    def __init__(self, star, kappa, nodes, probabilities):
        self.star, self.kappa = star, kappa
        self.none = float(probabilities[nodes == 0].sum())
        keep = (nodes > 0) & (probabilities > 0)
        self.nodes, self.probabilities = nodes[keep], probabilities[keep]
        self.mean = float((self.nodes * self.probabilities).sum()) * (star.mean + kappa)

    def sum_of(self, f, k, none):
        pairs = zip(self.nodes, self.probabilities, strict=True)
        return sum((p * j * f(k / j - self.kappa) for j, p in pairs), self.none * np.maximum(none, 0))

    def call(self, k):
        return self.sum_of(self.star.call, k, -k)

    def put(self, k):
        return self.sum_of(self.star.put, k, k)


def poisson_nodes(rate):
    """Poisson(rate), spread (with its mean kept) on about forty values: no less in convex order."""
    top = int(rate + 9 * sqrt(rate) + 30)
    whole = np.arange(top + 1)
    masses = poisson.pmf(whole, rate)
    if rate <= 16:
        keep = masses > 1e-17
        return whole[keep].astype(float), masses[keep] / masses[keep].sum()
    low = max(0, int(rate - 9 * sqrt(rate)))
    nodes = np.union1d([0, top], np.arange(low, top, max(1, int(sqrt(rate) / 2)))).astype(float)
    left = np.clip(np.searchsorted(nodes, whole, "right") - 1, 0, len(nodes) - 2)
    share = (whole - nodes[left]) / (nodes[left + 1] - nodes[left])
    found = np.zeros(len(nodes))
    np.add.at(found, left, masses * (1 - share))
    np.add.at(found, left + 1, masses * share)
    keep = found > 1e-17
    return nodes[keep], found[keep] / found[keep].sum()


@dataclass
class Pilot:
    """A law on a geometric grid around the mean, capped above."""

    at: np.ndarray
    masses: np.ndarray
    spread: float  # E|Y − EY|

    def log_mgf(self, theta):
        top = theta * self.at[-1]
        return top + log((self.masses * np.exp(theta * self.at - top)).sum())

    def tilted_sd(self, theta):
        weights = self.masses * np.exp(theta * (self.at - self.at[-1]))
        weights /= weights.sum()
        return sqrt((weights * (self.at - (weights * self.at).sum()) ** 2).sum())


def second_differences(values, at):
    slopes = np.diff(values) / np.diff(at)
    return np.diff(slopes)


def pilot_of(law, count, total):
    """The cap is beyond what one summand needs to lift the sum over 0: then (Σ Y)₊ loses nothing by the cap."""
    scale = max(float(law.call(law.mean)), 1e-300)
    cap, u = law.mean + 50 * scale, np.geomspace(scale * 1e-4, scale * 1e7, PILOT)
    below = 2 * np.trapezoid(np.minimum(law.put(law.mean - u), law.put(law.mean - u[0])), u)
    calls = law.call(law.mean + u)
    for _ in range(4):
        inside = law.mean + u < cap
        variance = 2 * np.trapezoid(calls[inside], u[inside]) + min(below, (20 * scale) ** 2)
        cap = max(-total, 0) + 9 * sqrt(variance * count) + 20 * scale
    if np.any(calls < 1e-30 * scale):
        cap = min(cap, law.mean + u[np.argmax(calls < 1e-30 * scale)])
    up = np.append(u[law.mean + u < cap], cap - law.mean)
    at = np.concatenate([law.mean - u[::-1], [law.mean], law.mean + up])
    middle = len(u)
    masses = np.concatenate([second_differences(law.put(at[:middle + 2]), at[:middle + 2]),
                             second_differences(law.call(at[middle:]), at[middle:])])
    at = np.concatenate([at[1:middle + 1], at[middle + 1:-1], at[-1:]])
    masses = np.maximum(np.append(masses, 0), 0)
    masses[-1] = float(law.call(at[-2]) - law.call(at[-1])) / (at[-1] - at[-2])
    return Pilot(at, masses / masses.sum(), 2 * scale)


def on_grid(law, low, high, h):
    """Masses at low, low + 1, …, high (times h): the law raised to the first and capped at the last, mean kept
    between."""
    k = np.arange(low, high + 1) * h
    middle = int(np.clip(np.searchsorted(k, law.mean), 1, len(k) - 2))
    puts, calls = law.put(k[:middle + 2]), law.call(k[middle - 1:])
    masses = np.empty(len(k))
    masses[1:middle + 1] = np.diff(puts, 2)
    masses[middle:-1] = np.diff(calls, 2)
    masses[0], masses[-1] = puts[1] - puts[0], calls[-2] - calls[-1]
    return k, np.maximum(masses / h, 0), float(calls[-1])


def positive_part(groups, shift=0.0):
    """E(shift + Σ Y_j)₊ from above, for `groups` of (law, how many of it)."""
    groups = [(law, count) for law, count in groups if count]
    total = shift + sum(count * law.mean for law, count in groups)
    pilots = [pilot_of(law, count, total) for law, count in groups]

    def exponent(log_theta):
        theta = exp(log_theta)
        return theta * shift + sum(c * p.log_mgf(theta) for p, (_, c) in zip(pilots, groups, strict=True)) - log_theta

    spread = max(p.spread for p in pilots)
    theta = exp(minimize_scalar(exponent, bounds=(log(1e-9 / spread), log(1e3 / spread)), method="bounded",
                                options={"xatol": 1e-3}).x)
    count = sum(c for _, c in groups)
    sd = sqrt(sum(c * p.tilted_sd(theta) ** 2 for p, (_, c) in zip(pilots, groups, strict=True)))
    h = FINE * min(min(p.spread for p in pilots) / 25, 0.2 / theta / sqrt(count))
    high = [ceil(p.at[-1] / h) for p in pilots]
    low = [-ceil(min(RAISE / theta, max(-law.mean, 0) + 1e7 * p.spread) / h) - 1
           for p, (law, _) in zip(pilots, groups, strict=True)]
    deepest = -sum(c * k for k, (_, c) in zip(low, groups, strict=True))
    window = 10 * sd / h + 2 * max(max(high), 1) + min(deepest, (12 * sd + RAISE / theta) / h)
    widest = max(b - a for a, b in zip(low, high, strict=True))
    size = next_fast_len(int(max(window, 3 * widest)), real=True)
    return convolved(groups, shift, theta, h, low, high, size)


def convolved(groups, shift, theta, h, low, high, size):
    transform, scale, over = 1.0, theta * shift, 0.0
    for (law, count), a, b in zip(groups, low, high, strict=True):
        k, masses, call = on_grid(law, a, b, h)
        tilted = masses * np.exp(theta * (k - k[-1]))
        weight = tilted.sum()
        padded = np.zeros(size)
        padded[:len(k)] = tilted / weight
        padded = np.roll(padded, a)
        transform = transform * rfft(padded) ** count
        scale += count * (log(weight) + theta * k[-1])
        over += count * call
    law = np.maximum(irfft(transform, size), 0)
    start = -shift / h  # the sum is positive where i·h + shift > 0
    first = ceil(start)
    index = np.arange(first, first + size)
    reach = (index * h + shift) * np.exp(-theta * (index * h + shift) + scale)
    return float((reach * law[index % size])[:wrap_limit(law, first, size)].sum()) + over


def wrap_limit(law, first, size):
    """Positive sums end where sums from far below wrap to: the emptiest place of the window."""
    block = max(size // 64, 1)
    rolled = np.roll(law, -(first % size))
    sums = np.add.reduceat(rolled, np.arange(0, size, block))
    return size if size < 64 else int(np.argmin(sums[len(sums) // 8:]) + len(sums) // 8) * block
