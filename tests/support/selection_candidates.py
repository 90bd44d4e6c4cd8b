"""Candidates of a private selection with finitely many outcomes, for exact comparisons with bounds."""

from math import exp

import numpy as np
from scipy.special import ndtr
from selection_laws import Candidate

MARGIN = 9.0  # the grid of a rounded Gaussian reaches so many standard deviations beyond both means


def normal_cells(mean, edges):
    """The masses of a normal law of variance 1 in the cells between the edges and beyond them, precise in both
    tails."""
    z = np.concatenate([[-np.inf], edges, [np.inf]]) - mean
    lower, upper = ndtr(z), ndtr(-z)
    return np.where(z[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])


def rounded_gaussian(mu, cells=160, score="rising", rng=None):
    """N(μ, 1) against N(0, 1), rounded to cells. Rounding is a post-processing, so the privacy profile of the Gaussian
    pair bounds that of the cells. The score rises or falls with the likelihood ratio, or is random."""
    edges = np.linspace(-MARGIN, mu + MARGIN, cells - 1)
    place = np.arange(cells, dtype=float)
    scores = {"rising": place, "falling": -place}
    order = scores[score] if score in scores else rng.permutation(cells).astype(float)
    return Candidate(
        f"Gaussian of μ = {mu:.4g}, score {score}", normal_cells(mu, edges), normal_cells(0.0, edges), order
    )


def split_response(epsilon, pieces):
    """Randomised response whose outcome favoured by Q′ has the largest score, and whose other outcome is split into
    equal pieces with different scores: nearly the worst pure candidate."""
    likely, rare = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    q = np.append(np.full(pieces, likely / pieces), rare)
    other = np.append(np.full(pieces, rare / pieces), likely)
    return Candidate(f"split response of ε = {epsilon:.4g}", q, other, np.arange(pieces + 1.0))


def random_response(rng):
    """Randomised response with both outcomes split at random and random scores, some of them tied."""
    epsilon, n = exp(rng.uniform(-3, 1.5)), int(rng.integers(2, 9))
    side = np.append([0, 1], rng.integers(0, 2, n - 2))
    shares = rng.random(n) ** rng.choice([0.5, 3.0]) + 1e-9
    shares /= np.where(side == 0, shares[side == 0].sum(), shares[side == 1].sum())
    likely, rare = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    return Candidate(
        f"random response of ε = {epsilon:.4g}",
        shares * np.where(side == 0, likely, rare),
        shares * np.where(side == 0, rare, likely),
        random_score(rng, side.astype(float)),
    )


def random_categories(rng):
    """k-ary randomised response: each of the two data sets favours one of k categories."""
    epsilon, k = exp(rng.uniform(-3, 1.5)), int(rng.integers(3, 10))
    q, other = np.ones(k), np.ones(k)
    q[0] = other[1] = exp(epsilon)
    return Candidate(f"{k} categories, ε = {epsilon:.4g}", q / q.sum(), other / q.sum(), random_score(rng, other / q))


def random_laws(rng):
    """Two random laws, near one another or not, in some draws with outcomes that only one data set can have."""
    n = int(rng.integers(2, 10))
    q = rng.random(n) ** rng.choice([0.3, 1.0, 4.0]) + 1e-9
    spread = rng.choice([0.05, 0.5, 3.0])
    other = q * np.exp(rng.uniform(-spread, spread, n))
    if n > 2 and rng.random() < 0.4:
        q[0] = 0.0
        if rng.random() < 0.5:
            other[1] = 0.0
        if rng.random() < 0.5:  # nearly all of the mass is common, as for an (ε, δ) guarantee
            q[1] *= 1e-4
            other[0] *= 1e-4
    q, other = q / q.sum(), other / other.sum()
    with np.errstate(divide="ignore"):
        return Candidate("random laws", q, other, random_score(rng, np.where(q > 0, other / q, 1e9)))


def random_score(rng, ratio):
    """Scores sorted with the likelihood ratio, against it, or at random; in some draws rounded so that many tie."""
    kind = rng.integers(0, 4)
    if kind == 0:
        return ratio
    if kind == 1:
        return -ratio
    levels = len(ratio) if kind == 2 else 2
    return rng.integers(0, levels, len(ratio)).astype(float)


KINDS = (random_response, random_categories, random_laws)
