"""Upper bounds of epochs of shuffled batches, a second time: slow, with dense searches.

Theorem A (at least one record is left out of the epoch), theorems C and C' (every record is used), and the composition
over epochs. Sides are those of shuffled_sums: "record", "none", "replace".
"""

from math import exp, log, sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr, ndtri
from scipy.stats import poisson
from shuffled_sums import Multiple, Star, Table, poisson_nodes, positive_part

TINY = 1e-30  # what is smaller is reported as this


def delta_left_out(epsilon, sigma, t, w0, side):
    """Theorem A: t batches, w0 = records left out / batch size."""
    star = Star(exp(epsilon), sigma, side)
    try:
        found = positive_part([(star, t)], w0 * star.mean) / (t + w0)
    except (IndexError, ValueError, FloatingPointError, OverflowError):  # below the range of doubles
        found = 1.0
    return max(min(found, float(star.call(0.0))), TINY)


def trade(v, sigma):
    """G: the most that a region of mass v has after a shift by one."""
    return ndtr(ndtri(v) + 1 / sigma)


def draws_ratio(star, kappa, m, t, w):
    """Ξ_m/m from above, by lemma P."""
    if m <= 2:
        return float(star.call(-kappa))
    rate = m - 3.1 * sqrt(m) if m > 80 else m - 2 * sqrt(m) if m > 20 else m / 2
    groups = [(Multiple(star, kappa, *poisson_nodes(rate / (t + w))), t)]
    if w > 0:
        groups.append((Multiple(star, kappa, *poisson_nodes(rate * w / (t + w))), 1))
    return min(positive_part(groups) / (rate * poisson.cdf(m - 1, rate)), float(star.call(-kappa)))


def levels_of(size, fine, count, coarse):
    """N = m_0 > m_1 > … ≥ 1: `count` of them with the ratio `fine`, then with `coarse`."""
    found, m = [size], float(size)
    while found[-1] > 1:
        m *= fine if len(found) <= count else coarse
        found.append(max(1, min(int(m), found[-1] - 1)))
    return found


def lower_hull(points):
    """Of points with increasing first coordinates: those on the largest convex function below all."""
    hull = []
    for p in points:
        while len(hull) >= 2 and (hull[-1][1] - hull[-2][1]) * (p[0] - hull[-1][0]) >= (p[1] - hull[-1][1]) * (
                hull[-1][0] - hull[-2][0]):
            hull.pop()
        hull.append(p)
    return np.array(hull).T


def majorant_sum(v, values, sigma):
    """Σ a G(v): Σ a min(·, v) is the least concave majorant of (0, 0) and the points (v, value)."""
    x, y = lower_hull(sorted([(0.0, 0.0), *zip(v, -values, strict=True)]))
    slopes = np.append(-np.diff(y) / np.diff(x), 0)
    return float(((slopes[:-1] - slopes[1:]) * trade(x[1:], sigma)).sum())


def used_by_centre(star, table, sigma, t, w, kappa, levels):
    """Theorem C for one κ."""
    total, size = t + 1 + w, levels[0]
    psi = [draws_ratio(table, kappa, m, t, w) for m in levels[1:]] + [float(star.call(-kappa))]
    psi = np.minimum.accumulate(psi[::-1])[::-1]  # a smaller m's bound holds for a larger m
    v = np.array(levels) / size
    return float(star.call((t + w) * kappa)) / total + (1 - 1 / total) * majorant_sum(v, v * psi, sigma)


def best_kappa(epsilon, sigma, b, t, w, side, levels, tries=14):
    """κ = (τ − 1)c + s/√t: a bounded search of its logarithm."""
    star = Star(exp(epsilon), sigma, side)
    table = Table(star)
    scale = (exp(epsilon) - 1) + 2 * float(star.call(star.mean)) / sqrt(t + w)
    found = minimize_scalar(lambda c: used_by_centre(star, table, sigma, t, w, scale * exp(c), levels),
                            bounds=(-4.5, 0.5), method="bounded", options={"maxiter": tries, "xatol": 0.02})
    return scale * exp(found.x)


def records_later(b, t, w):
    return round(b * (t + w))


def delta_by_centre(epsilon, sigma, b, t, w, side, kappa=None):
    """Theorem C: the first batch, t batches of b after it, and perhaps a last one of wb."""
    size = records_later(b, t, w)
    kappa = kappa or best_kappa(epsilon, sigma, b, t, w, side, levels_of(size, 0.75, 4, 0.35))
    star = Star(exp(epsilon), sigma, side)
    return used_by_centre(star, Table(star), sigma, t, w, kappa, levels_of(size, 0.85, 10, 0.6))


def least_minorant(d, h):
    """The largest convex function below the values whose slopes are in [0, 1]."""
    values = np.interp(d, *lower_hull(list(zip(d, h, strict=True))))
    values = np.minimum.accumulate(values[::-1])[::-1]
    return np.minimum.accumulate(values - d) + d


def spread_masses(star, d):
    """Of min(D*, d_k), raised to d_1, on the nodes, mean kept between."""
    calls, puts = star.call(d), star.put(d)
    middle = int(np.clip(np.searchsorted(d, star.mean), 1, len(d) - 2))
    slope = np.diff(calls) / np.diff(d)
    low = np.diff(puts) / np.diff(d)
    masses = np.empty(len(d))
    masses[1:middle + 1] = np.diff(low)[:middle]
    masses[middle:-1] = np.diff(slope)[middle - 1:]
    masses[0], masses[-1] = low[0], -slope[-1]
    return np.maximum(masses, 0)


def delta_together(epsilon, sigma, b, t, w, side, nodes=24, levels=None):
    """Theorem C'. Any last node is valid: an early one costs C*(d_k) and lowers e, so all are tried. ε ≥ 0 only."""
    star, size = Star(exp(epsilon), sigma, side), records_later(b, t, w)
    scale, centre = 2 * float(star.call(star.mean)), -(t + w) * star.mean
    top = centre + 5 * scale * sqrt(t + w) + 3 * scale
    far = np.geomspace(scale * 1e-2, top - star.mean, 400)
    small = star.call(star.mean + far) < 1e-12 * star.call(0.0)
    top = min(top, star.mean + far[np.argmax(small)]) if small.any() else top
    d = np.concatenate([star.mean - scale * np.array([6, 4, 3, 2, 1.3, .6, 0]),
                        star.mean + np.geomspace(0.5 * scale, top - star.mean, nodes)])
    table = Table(star)
    levels = levels or levels_of(size, 0.8, 8, 0.5)
    h = np.array([[(t + w) * draws_ratio(table, x / (t + w), m, t, w) for x in d] for m in levels])
    h = np.minimum.accumulate(h[::-1], axis=0)[::-1]
    v, best = np.array(levels) / size, np.inf
    for last in range(10, len(d) + 1):
        masses, over = spread_masses(star, d[:last]), float(star.call(d[last - 1]))
        for i in range(min(9, len(levels))):
            base = least_minorant(d[:last], h[i, :last])
            e = np.maximum((h[:, :last] - base).max(axis=1), 0)
            e[:i] = e[i]  # a larger m's value is no larger
            best = min(best, float(masses @ base) + over + majorant_sum(v, v * np.append(e[1:], e[-1]), sigma))
    return best / (t + 1 + w)


def pair_of(epsilons, forth, back):
    """Likelihood ratios and their masses under P, of the pair P against Q whose profile is the lower hull: `forth` at
    ε ≥ 0, `back` of Q against P. What is missing to 1 has an infinite ratio."""
    tau = np.exp(epsilons)
    points = [(0.0, 1.0), *sorted((1 / s, 1 - 1 / s + d / s) for s, d in zip(tau[1:], back[1:], strict=True)),
              (1.0, min(forth[0], back[0])), *zip(tau[1:], forth[1:], strict=True)]
    x, y = lower_hull(points)
    slopes = np.minimum(np.append(np.diff(y) / np.diff(x), 0), 0)
    return x, np.maximum(x * np.concatenate([[0], np.diff(slopes)]), 0)


def composed(losses, masses, infinite, epochs, delta, step):
    """ε at δ of the E-fold product; losses are multiples of `step`."""
    at = np.rint(losses / step).astype(int)
    width, low = at.max() - at.min(), at.min()
    size = next_fast_len(int(width) * epochs + 1, real=True)
    law = np.zeros(size)
    np.add.at(law, at - low, masses)

    def log_mgf(theta):
        z = theta * losses + np.log(np.maximum(masses, 1e-300))
        return z.max() + log(np.exp(z - z.max()).sum())

    mean, sd = epochs * (masses @ losses), sqrt(epochs * (masses @ losses**2))
    theta = minimize_scalar(lambda s: epochs * log_mgf(s) - s * (mean + 5 * sd), bounds=(0, 200), method="bounded").x
    shift = log_mgf(theta)
    tilted = law * np.exp(theta * step * (np.arange(size) + low) * (law > 0) - shift)
    total = np.maximum(irfft(rfft(tilted) ** epochs, size), 0)
    sums = (np.arange(size) + low * epochs) * step
    weights = total * np.exp(np.clip(epochs * shift - theta * sums, -700, 700))
    forever = -np.expm1(epochs * np.log1p(-infinite))

    def excess(epsilon):
        over = sums > epsilon
        return forever + (weights[over] * -np.expm1(epsilon - sums[over])).sum() - delta

    return 0.0 if excess(0.0) <= 0 else brentq(excess, 0, sums[-1], xtol=1e-7)


def knots(delta_of, target, growth=0.04):
    """ε = multiples of a step (a fifteenth of the scale of one epoch's loss), their distances growing, up to where a
    δ is below `target`, and the values."""
    step = 2.5 * delta_of(0.0) / 15
    i, epsilons, values = 0, [0.0], [delta_of(0.0)]
    while values[-1] > target and len(values) < 400:
        i += max(1, int(i * growth))
        epsilons.append(i * step)
        values.append(min(values[-1], delta_of(i * step)))
    return np.array(epsilons), np.array(values), step


def epsilon_composed(delta_of, epochs, delta, adjacency, growth=0.04):
    """ε at δ after all epochs: the larger of both directions. delta_of(ε, side)."""
    sides = ("record", "none") if adjacency == "zero-out" else ("replace", "replace")
    target = delta / epochs * 1e-3
    at, one, step = knots(lambda e: delta_of(e, sides[0]), target, growth)
    other = one
    if sides[1] != sides[0]:
        values = []
        for e in at:
            done = values and values[-1] < target
            values.append(values[-1] if done else min(delta_of(e, sides[1]), *values[-1:], 1.0))
        other = np.array(values)
    found = []
    for forth, back in ((one, other), (other, one)):
        x, p = pair_of(at, forth, back)
        keep = p > 0
        infinite = max(0.0, 1 - p.sum())
        found.append(composed(np.log(x[keep]), p[keep], infinite, epochs, delta, step))
    return max(found), found
