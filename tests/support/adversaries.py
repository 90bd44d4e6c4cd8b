"""The worst adaptive strategies against a privacy budget, by exact dynamic programmes.

A strategy sees the output of every release and then chooses the next release, or stops, possibly with one last release.
The strategies here repeat releases with two outcomes, so that what has been seen is a table of counts: how many
releases of each kind were made, and how many of them had the first outcome. The programme goes back from the last
release: the value of a state is the largest E_P[(1 − e^{ε − L})₊] that can still be reached, where L is the privacy loss
up to the end. At the start this is δ(ε) of the worst strategy, without any approximation but that of doubles.
"""

from dataclasses import dataclass
from functools import cache
from math import exp, log, log1p

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr


@dataclass(frozen=True)
class Release:
    """A release with two outcomes: the probabilities of the first one on both data sets. With the probability `reveal`
    it shows the data set instead, so that it is only approximately private."""

    p: float
    q: float
    reveal: float = 0.0

    @property
    def losses(self):
        """The privacy losses of the first and of the second outcome."""
        return log(self.p / self.q), log1p(-self.p) - log1p(-self.q)

    def renyi(self, alpha):
        """The larger Rényi divergence of order α of the two directions, of what is not revealed."""
        return float(binary_renyi(self.p, self.q, alpha))


def randomised_response(epsilon, reveal=0.0):
    return Release(1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon)), reveal)


def binary_renyi(p, q, alpha):
    """The larger Rényi divergence of order α of the two directions between laws on two outcomes."""
    first, second = np.log(p / q), np.log1p(-p) - np.log1p(-q)
    return np.maximum(
        np.logaddexp(np.log(p) + (alpha - 1) * first, np.log1p(-p) + (alpha - 1) * second),
        np.logaddexp(np.log(q) - (alpha - 1) * first, np.log1p(-q) - (alpha - 1) * second),
    ) / (alpha - 1)


def gaussian(mu):
    """The privacy profile of N(μ, 1) against N(0, 1), for arrays of any real ε."""
    if mu == 0:
        return nothing

    def profile(e):
        a, b = mu / 2 - e / mu, -mu / 2 - e / mu
        return ndtr(a) * -np.expm1(np.minimum(e + log_ndtr(b) - log_ndtr(a), 0.0))

    return profile


def laplace(reach):
    """The privacy profile of Laplace noise whose sensitivity is `reach` times its scale."""
    return lambda e: np.where(e < -reach, -np.expm1(np.minimum(e, 0.0)), np.maximum(-np.expm1((e - reach) / 2), 0.0))


def binary(p, q):
    """The privacy profile of laws on two outcomes."""
    return lambda e: np.maximum(p - np.exp(e) * q, 0.0) + np.maximum(1 - p - np.exp(e) * (1 - q), 0.0)


def nothing(e):
    """The privacy profile of no release."""
    return np.maximum(-np.expm1(e), 0.0)


def revealing(reveal, profile):
    """The privacy profile where, with this probability, the data set is shown."""
    return lambda e: reveal + (1 - reveal) * profile(e)


def worst_delta(epsilon, releases, fits, endings):
    """δ(ε) of the worst strategy. `fits(counts)` says whether so many releases of each kind may be made, and
    `endings(counts)` lists the privacy profiles of the last releases that may follow them."""

    @cache
    def value(counts):
        """The value for every number of first outcomes of each kind."""
        losses = np.zeros([n + 1 for n in counts])
        for i, (release, n) in enumerate(zip(releases, counts, strict=True)):
            first, second = release.losses
            hits = np.arange(n + 1).reshape([-1 if j == i else 1 for j in range(len(counts))])
            losses = losses + hits * first + (n - hits) * second
        best = nothing(epsilon - losses)
        for profile in endings(counts):
            best = np.maximum(best, profile(epsilon - losses))
        for i, release in enumerate(releases):
            more = tuple(n + (j == i) for j, n in enumerate(counts))
            if fits(more):
                after = np.moveaxis(value(more), i, 0)
                mean = np.moveaxis(release.p * after[1:] + (1 - release.p) * after[:-1], 0, i)
                best = np.maximum(best, release.reveal + (1 - release.reveal) * mean)
        return best

    return float(value((0,) * len(releases)).item())


def delta_of_list(epsilon, release, times, last):
    """δ(ε) of a fixed list: a release with two outcomes so many times, then one last release."""
    losses, weights = np.zeros(1), np.ones(1)
    for _ in range(times):
        losses = np.append(losses + release.losses[1], losses[-1] + release.losses[0])
        weights = np.convolve(weights, [1 - release.p, release.p])
    return float(weights @ last(epsilon - losses))


def filling(epsilon, delta, release, times, family):
    """The parameter of a last release that brings a fixed list exactly to δ at ε, or None where the list is beyond it
    already. The privacy profile `family(parameter)` must increase with the parameter."""

    def excess(x):
        return delta_of_list(epsilon, release, times, family(x)) - delta

    return (
        None
        if delta_of_list(epsilon, release, times, nothing) > delta
        else brentq(excess, 1e-9, 60.0, xtol=1e-15, rtol=1e-14)
    )


def stopping_delta(epsilon, delta, step_epsilon, most=60):
    """δ(ε) of the worst rule that after each randomised response stops, with the Gaussian noise that fills what a fixed
    list would have left of (ε, δ), or goes on."""
    release = randomised_response(step_epsilon)

    @cache
    def mu(times):
        return filling(epsilon, delta, release, times, gaussian)

    return worst_delta(
        epsilon,
        [release],
        lambda counts: counts[0] <= most and mu(counts[0]) is not None,
        lambda counts: [gaussian(mu(counts[0]))],
    )


def chosen_by_output(epsilon, p, q, endings):
    """δ(ε) where a first release with the laws p and q on finitely many outcomes is followed by whichever of the
    endings is worst given the outcome."""
    with np.errstate(divide="ignore"):
        x = epsilon - (np.log(p) - np.log(q))
    return float(p @ np.max([profile(x) for profile in endings], axis=0))


def two_plans(epsilon, delta, step_epsilon):
    """The Gaussian σ and the Laplace scale, each of which fills (ε, δ) after one randomised response as a fixed list,
    and δ(ε) of the strategy that chooses between them by the first output."""
    release = randomised_response(step_epsilon)
    mu, reach = (filling(epsilon, delta, release, 1, family) for family in (gaussian, laplace))
    p, q = np.array([release.p, 1 - release.p]), np.array([release.q, 1 - release.q])
    return 1 / mu, 1 / reach, chosen_by_output(epsilon, p, q, [gaussian(mu), laplace(reach)])
