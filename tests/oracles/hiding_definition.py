"""The theorem about shuffled orders that hide a record among the others, from its definition: hulls by least squares,
the program of a plan."""

from itertools import pairwise
from math import exp

import numpy as np
from scipy.optimize import lsq_linear
from scipy.special import log_ndtr, ndtr


def theta(e, mu):
    """Hockey-stick divergence of order e^e, any real e, between N(μ, 1) and N(0, 1)."""
    e, mu = np.asarray(e, float), np.asarray(mu, float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = np.maximum(ndtr(mu / 2 - e / mu) - np.exp(e + log_ndtr(-mu / 2 - e / mu)), 0.0)
    return np.where(mu > 0, value, np.maximum(0.0, -np.expm1(np.minimum(e, 0.0))))


def hull(pushes, c):
    """μ of the shift lemma as it is stated: the least √Σa² with z_k = c·z_{k−1} + s_k − a_k >= 0, z_0 = z_T = 0."""
    s = np.array(pushes, float)
    T = len(s)
    if T == 1:
        return float(abs(s[0]))
    moves = np.zeros((T, T - 1))  # of z_1 … z_{T−1} on −a
    for k in range(T - 1):
        moves[k, k], moves[k + 1, k] = 1.0, -c
    found = lsq_linear(moves, s, bounds=(0.0, np.inf), tol=1e-14)
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
    """The same as `hull` for long runs: slopes of the taut string below the pushes, which rise along the run."""
    def noise(a, b):
        """Σ c^{2j} over the slots with a <= j < b slots later."""
        return b - a if c == 1 else (c ** (2 * a) - c ** (2 * b)) / (1 - c * c)

    if not later:
        return 0.0
    blocks = []  # from the first push on: noise, push
    marks = [*sorted(later, reverse=True), -1]
    for m, following in pairwise(marks):
        block = [noise(following + 1, m + 1), size * c**m]
        while blocks and blocks[-1][1] * block[0] >= block[1] * blocks[-1][0]:
            earlier = blocks.pop()
            block = [block[0] + earlier[0], block[1] + earlier[1]]
        blocks.append(block)
    return sum(push * push / width for width, push in blocks) ** 0.5


def kept_apart(mu, epsilon, weights):
    """The sum without hiding: Σ weight·θ(ε, μ_m)."""
    return float((weights * theta(epsilon, mu)).sum())


def program(p, q, mu, epsilon):
    """The theorem's sum at a plan p_mm′, q_mm′ (rows of p sum to 1, columns of q to at most 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(q > 0, p * theta(epsilon + np.log(np.where(q > 0, q, 1.0) / np.where(p > 0, p, 1.0)), mu), p)
    return float(np.where(p > 0, terms, 0.0).sum() / len(mu))


def certificate(mu, epsilon, z):
    """F(z) = (1/n)[Σ_m Φ(−max_m′(z_m′ − μ(m,m′))) − e^ε Σ_m′ Φ(−z_m′)]: at any z no more than the program at any plan.

    Proof: θ(e, μ) >= Φ(μ − z) − e^e Φ(−z) for every z; at z_m′ the program is at least (1/n)Σ p Φ(μ(m,m′) − z_m′) −
    e^ε/n Σ q Φ(−z_m′). """
    u = (z[None, :] - mu).max(axis=1)
    return float((ndtr(-u).sum() - exp(epsilon) * ndtr(-z).sum()) / len(z))


def best_certificate(mu, epsilon):
    """The largest of some: z_m′ = Z, or what suits m′ alone where that is smaller, or larger."""
    own = np.maximum(np.diag(mu), 1e-9)
    alone = np.minimum(epsilon / own + own / 2, 40.0)
    flat = np.linspace(0.0, 14.0, 113 if len(own) <= 100 else 29)[:, None] * np.ones(len(own))
    return max(certificate(mu, epsilon, z) for z in [alone, *flat, *np.minimum(flat, alone), *np.maximum(flat, alone)])


def matrix(n, size, c, earlier=(), slots=None):
    """μ(m, m′) of a last pass of `slots` slots out of n, after passes whose last slots have `earlier` later ones.

    A class for every place in the order: the places that a pass that stops does not reach are alike, and where one of
    the two is such a place only the slot of the other one differs. """
    slots = slots or n
    return np.array([[string({m for m in (a, b) if m < slots} | set(earlier), size, c) for b in range(n)]
                     for a in range(n)])


def one_pass(n, size, c):
    """`matrix` of one pass, for many places at once: two pushes are undone one after the other, or together where the
    slopes would fall."""
    m = np.arange(n, dtype=float)
    noise = np.cumsum(c ** (2 * m))  # of the slots up to m later
    late, early = np.minimum.outer(m, m).astype(int), np.maximum.outer(m, m).astype(int)
    between = np.where(late == early, np.inf, noise[early] - noise[late])
    first, second = c ** early.astype(float), c ** late.astype(float)
    together = first * noise[late] >= second * between
    with np.errstate(divide="ignore"):  # no noise is left between two late slots, in doubles
        apart = first**2 / between + second**2 / noise[late]
    return size * np.sqrt(np.where(together, (first + second) ** 2 / noise[early], apart))


def added(n, size, c):
    """μ(m, m′) of output perturbation, where the sensitivities of two slots add."""
    far = size * c ** np.arange(n, dtype=float)
    return far[:, None] + far[None, :] - np.diag(far)
