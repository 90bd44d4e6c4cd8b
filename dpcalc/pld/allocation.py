"""Random allocation of each record to one of t steps with Gaussian noise: pairs that dominate one epoch, and pairs that
it dominates.

The epoch is dominated by P = (1/t) Σ N(e_i, σ²I) against Q = N(0, σ²I), and constant gradients attain this. Under Q the
ratio dP/dQ is S = (w_1 + … + w_t)/t with independent log-normal w_i = exp(z_i/σ − 1/(2σ²)) of mean 1. δ(ε) is
E(S − e^ε)₊ where a record is removed and E(1 − e^ε S)₊ where it is added, and a composition of epochs replaces S by a
product of such ratios. These are means of convex functions φ >= 0 of each w_i and of each partial sum, increasing where
a record is removed and decreasing where it is added. So the laws of log_normal_sums.py bound both directions, at every
ε and in every composition. """

from dataclasses import replace
from functools import lru_cache
from math import expm1, floor, frexp, inf, ldexp, log, log1p, nextafter, sqrt

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.log_normal_sums import UNDERFLOW, Law, Steps
from dpcalc.pld.pair import Gaussian, Pair, check_noise, gaussian_from_below
from dpcalc.pld.sampled import poisson

RESOLUTION = 0.0125  # step of the grid over the spread of S: brackets of ε are about 3e-4 wide; width ~ its square
# Points between the mean and the end of a part, per unit of −log(tail), to which the square of the distance of the tail
# from the mean in deviations is proportional. With half as many, brackets are up to twice as wide.
POINTS_ABOVE = 12.0
LEAST = 1e-270  # lighter cells, which UNDERFLOW may change by a rounding error or more, are left out of lower bounds
END = 1.4  # of the part of the last grid that has the mean, over the mean: the bulk of the law is in one part


@lru_cache(maxsize=64)
def dominating_pair(sigma: float, steps: int, tail: float) -> Pair:
    """A pair that dominates one epoch in both directions (by its `reverse`). At most about 40·`tail` of its P-mass is
    at an infinite loss only because laws are truncated, for up to 2^20 steps. With one step it is the Gaussian pair."""
    check_noise(sigma, "random allocation is")
    return Gaussian(ratio_up((1.0,), (sigma,))) if steps == 1 else _upper_pair(_law(sigma, steps, tail))


@lru_cache(maxsize=64)
def dominated_pair(sigma: float, steps: int, tail: float, unused: float = 0.0) -> Pair:
    """A pair that is dominated, in both directions, by one epoch with gradients that do not depend on the outputs. With
    the probability ρ = `unused` the record is in no step: (1−ρ)P + ρQ takes the place of P."""
    check_noise(sigma, "random allocation is")
    if steps > 1:
        return _lower_pair(_law(sigma, steps, tail), unused)
    one = gaussian_from_below(sigma)
    return poisson(one, nextafter(1 - unused, 0.0)) if unused else one


@lru_cache(maxsize=64)
def _law(sigma: float, steps: int, tail: float) -> Law:
    """The law of the sum of `steps` ratios, by the binary digits of their number. Raises OutOfScope where losses are
    too large or too small for doubles."""
    mu = 1 / sigma
    # Masses of single cells, from tail·e^-350 on, are normal doubles. Products of two masses may underflow, which the
    # laws of sums and the least mass of a pair cover.
    if (largest := mu * (sqrt(-2 * log(tail)) + mu / 2)) > LARGEST_EXPONENT / 2:
        raise OutOfScope("out-of-range", f"σ = {sigma:g} is so small that likelihood ratios exceed e^{largest:.0f}; "
                                         "random allocation is computed up to e^350; add noise", "--noise-multiplier")
    spread = RESOLUTION * min(mu, 1.2)  # a larger μ does not make the law of one ratio smoother on the scale of steps
    last = min(spread, RESOLUTION * sqrt(expm1(mu * mu) / (2 * steps)))
    if log(2 * steps) > 2.0**48 * last:  # products of an index and a step of four bits are exact below 2^49
        raise OutOfScope("out-of-range", f"σ = {sigma:g} is so large for {steps} steps that losses are below the "
                                         "rounding errors of doubles; less noise gives an upper bound",
                         "--noise-multiplier")

    def grid(count: int) -> Steps:
        """The steps of the grid for a sum of `count` ratios; any steps are valid with which a part has some points.
        With an exponent of 1/2, as of the spread, sums of few ratios would contribute most to the width of a bracket;
        with 0.2 they would take most of the time."""
        return Steps(min(spread, last * float((steps / count) ** 0.35)), -POINTS_ABOVE * log(tail))

    mantissa, exponent = frexp(END * last * steps)
    step = ldexp(floor(16 * mantissa), exponent - 4)  # four bits: products with indices are exact
    total = one = Law.one(mu, step, grid(1), tail, steps)
    for digit in bin(steps)[3:]:
        total = total.plus(total)
        if digit == "1":
            total = total.plus(one)
        total = total.settled(grid(total.count)).truncated(tail, steps)
    return total


def _upper_pair(law: Law) -> Atoms:
    """The pair where a record is removed, with losses log S, and its reverse, where one is added. Masses are rounded up
    by the error of the law. Without rounding, the law is that of two probability distributions, as splitting preserves
    mass and mean; so a composition may take each finite mass and the infinite one to be upper bounds of those of such a
    pair."""
    points, p = (np.concatenate(x) for x in zip(*((part.points, part.rows[0]) for part in law.parts), strict=True))
    loss, log_p = np.log(points / law.count), np.log(p + UNDERFLOW) + law.error
    removed = _atoms(loss, log_p + loss, log(law.infinite / law.count) + law.error)
    return replace(removed, reverse=_atoms(-loss, log_p, log(law.zero) + law.error))


def _lower_pair(law: Law, unused: float) -> Atoms:
    """The pair where a record is removed, and its reverse. A test proves δ >= P(A) − e^ε Q(A), so the first masses are
    rounded down and the second ones up by the error of the law."""
    p, m = np.concatenate([part.rows for part in law.parts], axis=1)
    is_safe = (p > LEAST) & (m > LEAST)
    log_q, log_p = np.log(p[is_safe]), np.log(m[is_safe] / law.count)
    (q_low, q_high), (low, high) = ((x - law.error, x + law.error) for x in (log_q, log_p))
    if unused:
        low, high = (np.logaddexp(log1p(-unused) + p, log(unused) + q) for p, q in ((low, q_low), (high, q_high)))
        size = 1 + np.abs(log_p - log_q)  # what the rounding errors of both are relative to, beside themselves
        low, high = low - 4e-15 * (size + np.abs(low)), high + 4e-15 * (size + np.abs(high))
    added = replace(_atoms(q_low - high, q_low), attained=True)
    return replace(_atoms(low - q_high, low), attained=True, reverse=added)


def _atoms(loss: Array, log_p: Array, log_infinite: float = -inf) -> Atoms:
    return Atoms(tuple(loss.tolist()), tuple(log_p.tolist()), min(0.0, log_infinite), rounding_scale=1.0)
