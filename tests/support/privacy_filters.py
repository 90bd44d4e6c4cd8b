"""Privacy filters, and the worst last releases that they allow for: what adversaries.worst_delta needs.

A filter has a budget that is fixed before the first release. Every release has a charge, and releases may be made while
the charges add up to at most the budget. A last release may use all that is left.
"""

from math import exp, expm1, log, log1p, sqrt

import numpy as np
from adversaries import binary, binary_renyi, gaussian, laplace, nothing, randomised_response, revealing
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

HALVINGS = 60  # of an interval: as many as doubles can need
LEAST = 1e-30  # rarer events matter to no δ here


class Filter:
    """`charges` of the kinds of releases, a `budget`, and `last(left)`: the privacy profiles of last releases. With the
    probabilities `reveals` the releases show the data; these may add up to at most `reserve`."""

    def __init__(self, charges, budget, last, reveals=(), reserve=0.0):
        self.charges, self.budget, self.last = charges, budget, last
        self.reveals, self.reserve = reveals or [0.0] * len(charges), reserve

    def left(self, counts):
        return self.budget - sum(n * x for n, x in zip(counts, self.charges, strict=True))

    def reserve_left(self, counts):
        return self.reserve - sum(n * x for n, x in zip(counts, self.reveals, strict=True))

    def fits(self, counts):
        return self.left(counts) >= 0 and self.reserve_left(counts) >= -1e-15 * self.reserve

    def endings(self, counts):
        reveal = max(0.0, self.reserve_left(counts))
        return [revealing(reveal, profile) if reveal else profile for profile in self.last(self.left(counts))]


def renyi_filter(releases, alpha, budget, reserve=0.0):
    """Rényi divergences of one order add up (Feldman & Zrnic 2021). With a reserve, what is charged is what is not
    revealed, and the budget must be that of δ − reserve."""

    def last(left):
        response = randomised_response(largest(lambda x: randomised_response(x).renyi(alpha), left, 30.0))
        return [
            gaussian(sqrt(2 * left / alpha)),
            laplace(largest(lambda x: laplace_renyi(x, alpha), left, 60.0)),
            binary(response.p, response.q),
            rare_event(alpha, left),
        ]

    return Filter(
        [release.renyi(alpha) for release in releases], budget, last, [release.reveal for release in releases], reserve
    )


def gaussian_filter(epsilons, mu):
    """Squares of μ add up (Smith & Thakurta 2022); an ε-DP release counts with the least μ that it has."""

    def last(left):
        return [gaussian(sqrt(left)), binary(ndtr(sqrt(left) / 2), ndtr(-sqrt(left) / 2))]

    return Filter([pure_as_gaussian(x) ** 2 for x in epsilons], mu**2, last)


def concentrated_filter(epsilons, rho):
    """ε²/2 and μ²/2 add up to at most ρ: zero-concentrated privacy, a budget at all orders at once."""

    def last(left):
        response = randomised_response(sqrt(2 * left))
        return [gaussian(sqrt(2 * left)), binary(response.p, response.q)]

    return Filter([x**2 / 2 for x in epsilons], rho, last)


def budget_at_order(alpha, epsilon, delta):
    """B(α): the Rényi divergence of order α from which the conversion of Canonne, Kamath & Steinke (2020) gives
    (ε, δ)."""
    return epsilon - log1p(-1 / alpha) + (log(delta) + log(alpha)) / (alpha - 1)


def delta_at_order(alpha, rdp, epsilon):
    """δ of the conversion of Canonne, Kamath & Steinke (2020)."""
    return exp(min(0.0, (alpha - 1) * (rdp - epsilon + log1p(-1 / alpha)) - log(alpha)))


def order_of_budget(epsilon, delta):
    """The order that maximises B(α)/α: where α B′(α) = B(α)."""

    def slope(x):
        alpha = 1 + exp(x)
        return epsilon - log1p(-1 / alpha) + (log(delta) + log(alpha)) * (2 * alpha - 1) / (alpha - 1) ** 2

    return 1 + exp(brentq(slope, -20.0, log(expm1(-log(delta))), xtol=1e-14))


def largest(charge, left, most):
    """The largest parameter whose charge, increasing with it, is at most what is left."""
    low, high = 0.0, most
    if charge(high) <= left:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if charge(middle) <= left else (low, middle)
    return low


def laplace_renyi(reach, alpha):
    """The Rényi divergence of order α of Laplace noise with this sensitivity over its scale (Mironov 2017, Prop. 6)."""
    first, second = log(alpha / (2 * alpha - 1)), log((alpha - 1) / (2 * alpha - 1))
    return max(0.0, np.logaddexp(first + (alpha - 1) * reach, second - alpha * reach) / (alpha - 1))


def rare_event(alpha, left):
    """For every ε the δ of one bit that is nearly always 0: its 1 has the loss ε − log(1 − 1/α), and its probability is
    such that the Rényi divergence of order α, in the larger direction, is what is left. This is nearly the worst that
    a conversion at this order allows for. The bit differs from ε to ε: it is the supremum of privacy profiles."""

    def profile(e):
        e = np.atleast_1d(e)
        loss = np.maximum(e, 0.0) - log1p(-1 / alpha)
        low, high = np.full(e.shape, LEAST), np.full(e.shape, 1 - 1e-9)
        for _ in range(HALVINGS):
            middle = np.sqrt(low * high)
            fits = binary_renyi(middle, middle * np.exp(-loss), alpha) <= left
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return np.where(low > LEAST, binary(low, low * np.exp(-loss))(e), nothing(e))

    return profile


def pure_as_gaussian(epsilon):
    """The least μ with which an ε-DP release is μ-GDP."""
    return -2 * float(ndtri(1 / (1 + exp(epsilon))))
