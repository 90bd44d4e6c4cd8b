"""One-dimensional chains solved here, apart from the package: exact laws on a fine grid, to about ten digits."""

from itertools import pairwise

import numpy as np
from scipy.special import ndtr

WIDTH, NODES = 0.3, 6  # of a panel, in units of the noise


class Line:
    """[low, high] with an atom at each end and Gauss-Legendre panels between; laws are vectors of masses."""

    def __init__(self, low, high, scale, knots=()):
        marks = sorted({low, high, *(k for k in knots if low < k < high)})
        counts = [max(1, int(np.ceil((b - a) / (WIDTH * scale)))) for a, b in pairwise(marks)]
        edges = np.concatenate([np.linspace(a, b, k + 1)[:-1] for (a, b),
                                k in zip(pairwise(marks), counts, strict=True)] + [[high]])
        t, w = np.polynomial.legendre.leggauss(NODES)
        half = np.diff(edges)[:, None] / 2
        self.low, self.high, self.edges = low, high, edges
        self.x, self.w = ((edges[:-1, None] + half) + half * t).ravel(), (half * w).ravel()
        self.y = np.concatenate([[low], self.x, [high]])

    def kernel(self, mean, scale):
        """Rows: one a mean; columns: masses of the left end, the nodes, the right end."""
        mean = np.atleast_1d(np.asarray(mean, dtype=float))[:, None]
        z = (self.x - mean) / scale
        inner = np.exp(-0.5 * z * z) / (scale * np.sqrt(2 * np.pi)) * self.w
        return np.hstack([ndtr((self.low - mean) / scale), inner, ndtr((mean - self.high) / scale)])

    def cells(self, law):
        """Masses of the ends and the panels."""
        return np.concatenate([law[:1], law[1:-1].reshape(-1, NODES).sum(axis=1), law[-1:]])


def run(line, start, means, scale, steps):
    """The law after `steps` steps: means(y) → [(probability, array of means)], the same at every step."""
    first = sum(share * line.kernel(m, scale) for share, m in means(np.array([start])))[0]
    matrix = sum(share * line.kernel(m, scale) for share, m in means(line.y))
    return powered(first, matrix, steps - 1)


def powered(law, matrix, steps):
    while steps > 40:
        if steps % 2:
            law = law @ matrix
        matrix, steps = matrix @ matrix, steps // 2
        matrix /= matrix.sum(axis=1, keepdims=True)
    for _ in range(steps):
        law = law @ matrix
    return law


def delta(p, q, epsilon):
    """At most the larger of the two hockey-stick divergences: of what cells can tell."""
    return float(max(_beyond(p, q, epsilon), _beyond(q, p, epsilon)))


def _beyond(p, q, epsilon):
    """A mass of 0 may be one below every double: beyond ε = 700 cells tell nothing."""
    return np.maximum(p - np.exp(epsilon) * np.maximum(q, 5e-324), 0).sum() if epsilon < 700 else 0.0


def rdp(p, q, alpha):
    """At most the larger Rényi divergence, of what cells can tell."""
    return max(one_way(p, q, alpha), one_way(q, p, alpha))


def one_way(p, q, alpha, floor=1e-290):
    """D_α(p‖q) from below: 1 + Σ q((1 + r)^α − 1 − αr), whose terms are >= 0, over the cells that doubles can tell."""
    keep = (p > floor) & (q > floor)
    if not keep.any():
        return 0.0
    logs = np.log(p[keep] / q[keep])
    r, q = np.expm1(logs), q[keep]
    if alpha * np.abs(logs).max() < 600:
        excess = (1 + r) * np.expm1((alpha - 1) * logs) - (alpha - 1) * r
        return float(np.log1p(max(0.0, (q * np.maximum(excess, 0.0)).sum()))) / (alpha - 1)
    terms = alpha * logs + np.log(q)
    return max(0.0, float(terms.max() + np.log(np.exp(terms - terms.max()).sum()))) / (alpha - 1)
