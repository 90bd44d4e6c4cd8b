"""The theorem about shuffled orders that hide a record among the others, from its definition: hulls by least squares, the program of a plan."""

from math import exp, log

import numpy as np
from scipy.optimize import lsq_linear
from scipy.special import log_ndtr, ndtr


def theta(e, mu):
    """Hockey-stick divergence of order e^e, any real e, between N(μ, 1) and N(0, 1)."""
    e, mu = np.asarray(e, float), np.asarray(mu, float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = ndtr(mu / 2 - e / mu) - np.exp(e + log_ndtr(-mu / 2 - e / mu))
    return np.where(mu > 0, value, np.maximum(0.0, -np.expm1(np.minimum(e, 0.0))))


def hull(pushes, c, start=0.0, most=np.inf):
    """μ of the shift lemma as it is stated: the least √Σa² with z_k = c·z_{k−1} + s_k − a_k in [0, most], z_0 = start and z_T = 0."""
    s = np.array(pushes, float)
    s[0] += c * start
    T = len(s)
    if T == 1:
        return float(abs(s[0]))
    moves = np.zeros((T, T - 1))  # of z_1 … z_{T−1} on −a
    for k in range(T - 1):
        moves[k, k], moves[k + 1, k] = 1.0, -c
    found = lsq_linear(moves, s, bounds=(0.0, most), tol=1e-13)
    return float(np.linalg.norm(moves @ found.x - s))


def pushes(steps, later, size):
    """`size` at the slots that have `later` slots after them."""
    s = np.zeros(steps)
    for m in later:
        s[steps - 1 - m] += size
    return s


def earliest(epochs, slots, last):
    """Slots after the last one of each earlier pass, the last pass having `last` slots."""
    return [last + k * slots for k in range(epochs - 1)]


def string(later, size, c):
    """The same as `hull` without `most`, for long runs: slopes of the taut string below the pushes, which rise along the run."""
    def noise(a, b):
        """Σ c^{2j} over the slots with a <= j < b slots later."""
        return b - a if c == 1 else (c ** (2 * a) - c ** (2 * b)) / (1 - c * c)

    blocks = []  # from the first push on: noise, push
    marks = [*sorted(later, reverse=True), -1]
    for m, following in zip(marks, marks[1:], strict=False):
        block = [noise(following + 1, m + 1), size * c**m]
        while blocks and blocks[-1][1] * block[0] >= block[1] * blocks[-1][0]:
            earlier = blocks.pop()
            block = [block[0] + earlier[0], block[1] + earlier[1]]
        blocks.append(block)
    return sum(push * push / width for width, push in blocks) ** 0.5


def far_start(later, size, c, epochs, slots, last, diameter):
    """The least of `string` over starts D apart, right after the earlier passes' last slots."""
    if diameter is None:
        return string(later, size, c)
    found = [string(later, size, c)]
    for m in earliest(epochs, slots, last):
        kept = [x for x in later if x < m]
        found.append(wide_string(kept, size, c, m, diameter))
    return min(found)


def wide_string(later, size, c, steps, diameter):
    """`string` for runs D apart before the last `steps` slots."""
    s = pushes(steps, later, size)
    return hull(s, c, diameter)


def kept_apart(mu, epsilon, weights):
    """Today's sum: Σ weight·θ(ε, μ_m)."""
    return float((weights * theta(epsilon, mu)).sum())


def program(p, q, mu, epsilon, weights=None):
    """The theorem's sum at a plan p_mm′, q_mm′ (rows of p sum to 1, columns of q to at most 1)."""
    n = len(mu)
    weights = np.full(n, 1 / n) if weights is None else weights
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(q > 0, p * theta(epsilon + np.log(np.where(q > 0, q, 1.0) / np.where(p > 0, p, 1.0)), mu), p)
    return float((weights[:, None] * np.where(p > 0, terms, 0.0)).sum())


def certificate(mu, epsilon, z):
    """F(z) = (1/n)[Σ_m Φ(−max_m′(z_m′ − μ(m,m′))) − e^ε Σ Φ(−z_m′)]: at any z no more than the program at any plan."""
    u = (z[None, :] - mu).max(axis=1)
    return float((ndtr(-u).sum() - exp(epsilon) * ndtr(-z).sum()) / len(z))


def best_certificate(mu, epsilon):
    """The largest found over z_m′ = min(Z, what suits m′ alone) and max likewise; from below by any z."""
    own = np.diag(mu)
    alone = epsilon / own + own / 2
    tried = [alone]
    for z in np.linspace(0.0, 12.0, 97):
        tried += [np.full(len(own), z), np.minimum(z, alone), np.maximum(z, np.minimum(alone, 40.0))]
    return max(certificate(mu, epsilon, z) for z in tried)


def matrix(n, size, c):
    """μ(m, m′) of one pass of n slots."""
    return np.array([[string({a, b}, size, c) if a != b else string([a], size, c) for b in range(n)] for a in range(n)])


def uniform_log(n, g):
    return log(g) if g > 0 else -np.inf
