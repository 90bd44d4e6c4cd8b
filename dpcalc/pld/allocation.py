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
from typing import TypeVar

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.log_normal_sums import Lower, Upper
from dpcalc.pld.pair import Gaussian, Pair, check_noise, gaussian_from_below
from dpcalc.pld.sampled import poisson

RESOLUTION = 0.03  # step of the grid over the spread of log S: brackets of ε are about 1e-3 wide; width ~ its square

AnyLaw = TypeVar("AnyLaw", Upper, Lower)


@lru_cache(maxsize=64)
def dominating_pair(sigma: float, steps: int, tail: float) -> Pair:
    """A pair that dominates one epoch in both directions (by its `reverse`). At most about 40·`tail` of its P-mass is
    at an infinite loss only because laws are truncated, for up to 2^20 steps. With one step it is the Gaussian pair."""
    check_noise(sigma, "random allocation is")
    return Gaussian(ratio_up((1.0,), (sigma,))) if steps == 1 else _upper_pair(_law(Upper, sigma, steps, tail))


@lru_cache(maxsize=64)
def dominated_pair(sigma: float, steps: int, tail: float, unused: float = 0.0) -> Pair:
    """A pair that is dominated, in both directions, by one epoch with gradients that do not depend on the outputs. With
    the probability ρ = `unused` the record is in no step: (1−ρ)P + ρQ takes the place of P."""
    check_noise(sigma, "random allocation is")
    if steps > 1:
        return _lower_pair(_law(Lower, sigma, steps, tail), unused)
    one = gaussian_from_below(sigma)
    return poisson(one, nextafter(1 - unused, 0.0)) if unused else one


def _law(kind: type[AnyLaw], sigma: float, steps: int, tail: float) -> AnyLaw:
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

    def wanted(count: int) -> float:
        """The step of the grid for a sum of `count` ratios; any step is valid. With an exponent of 1/2, as of the
        spread, all sums would contribute equally to the width of a bracket; with 0.2 the sums of few ratios would take
        most of the time."""
        return min(spread, last * float((steps / count) ** 0.4))

    mantissa, exponent = frexp(wanted(1))
    step = first_step = ldexp(floor(16 * mantissa), exponent - 4)  # four bits: products with indices are exact
    law = kind.one(mu, step, tail, steps)
    for digit in bin(steps)[3:]:
        if step > 1.4 * wanted(2 * law.count):  # the nearer one of two powers of 2
            step /= 2
        law = law.doubled(step).truncated(tail, steps)
        if digit == "1":
            # One more ratio among k needs a grid that is only 1/√k as fine for the same effect on the law.
            coarse = min(2 ** ((law.count.bit_length() - 1) // 2), 16)
            law = law.plus(kind.one(mu, coarse * first_step, tail, steps)).truncated(tail, steps)
    return law


def _upper_pair(law: Upper) -> Atoms:
    """The pair where a record is removed, with losses log S, and its reverse, where one is added. Masses are rounded up
    by the error of the law, and both losses by its shift. Without rounding, the law is that of two probability
    distributions, as splitting preserves mass and mean; so a composition may take each finite mass and the infinite one
    to be upper bounds of those of such a pair."""
    loss, log_p = law.log_ratio, np.log(law.p) + law.error
    added = _atoms(law, law.shift - loss, log_p, log(law.zero) + law.error)
    removed = _atoms(law, loss + law.shift, log_p + loss + law.shift, log(law.infinite / law.count) + law.error)
    return replace(removed, reverse=added)


def _lower_pair(law: Lower, unused: float) -> Atoms:
    """The pair where a record is removed, and its reverse. A test proves δ >= P(A) − e^ε Q(A), so the first masses are
    rounded down and the second ones up by the error of the law."""
    is_safe = (law.p > 1e-290) & (law.m > 1e-290)  # lighter cells, which have lost digits, are left out
    log_q, log_p = np.log(law.p[is_safe]), np.log(law.m[is_safe]) - log(law.count)
    (q_low, q_high), (low, high) = ((x - law.error, x + law.error) for x in (log_q, log_p))
    if unused:
        low, high = (np.logaddexp(log1p(-unused) + p, log(unused) + q) for p, q in ((low, q_low), (high, q_high)))
        size = 1 + np.abs(log_p - log_q)  # what the rounding errors of both are relative to, beside themselves
        low, high = low - 4e-15 * (size + np.abs(low)), high + 4e-15 * (size + np.abs(high))
    added = replace(_atoms(law, q_low - high, q_low), attained=True)
    return replace(_atoms(law, low - q_high, low), attained=True, reverse=added)


def _atoms(law: Upper | Lower, loss: Array, log_p: Array, log_infinite: float = -inf) -> Atoms:
    return Atoms(tuple(loss.tolist()), tuple(log_p.tolist()), min(0.0, log_infinite),
                 rounding_scale=1 + log(law.count))
