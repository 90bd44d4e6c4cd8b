"""Strategies of correlated noise: lower-triangular Toeplitz matrices C, given by their first column.

Step t releases g_t + (C⁻¹z)_t, where g is the sequence of clipped sums and z is independent noise N(0, σ²I). It is a
function of Cg + z, and Cg + z of it, so both are equally private.
"""

from collections.abc import Callable
from fractions import Fraction
from math import frexp, isqrt
from typing import NamedTuple

from dpcalc.core.errors import OutOfScope

INDEPENDENT, FEEDBACK, SQUARE_ROOT = "independent", "feedback", "square-root"
BANDED_SQRT, BANDED_INVERSE_SQRT, BLT, LISTED = "banded-sqrt", "banded-inverse-sqrt", "blt", "coefficients"
NAMES = (INDEPENDENT, FEEDBACK, SQUARE_ROOT, BANDED_SQRT, BANDED_INVERSE_SQRT, BLT)
MADE_FOR_CONTRACTION = (SQUARE_ROOT, BANDED_SQRT, BANDED_INVERSE_SQRT)  # whose coefficients depend on the contraction
NUMBERED = {FEEDBACK: "λ", BANDED_SQRT: "B", BANDED_INVERSE_SQRT: "P"}  # strategies with a number, and its symbol


class Strategy(NamedTuple):
    """A strategy by its name and its numbers.

    `number` is the λ of feedback, the bands B of banded-sqrt, or the terms P of banded-inverse-sqrt. `scales` and
    `decays` (from 0 to 1) are those of a buffered linear Toeplitz matrix, c_k = Σ_i scale_i·decay_i^(k−1) for k ≥ 1.
    `listed` are coefficients c_0, c_1, … that the user gave. `contraction` is the r of a workload Σ_j r^(t−j) g_j, for
    which the square root and its banded forms are made.
    """

    name: str
    number: float = 0.0
    scales: tuple[float, ...] = ()
    decays: tuple[float, ...] = ()
    listed: tuple[float, ...] = ()
    contraction: float = 1.0

    @property
    def label(self) -> str:
        """The strategy as --strategy takes it."""
        return f"{self.name}:{self.number:g}" if self.name in NUMBERED else self.name

    @property
    def is_nonnegative(self) -> bool:
        """Whether no coefficient is below 0."""
        return all(x >= 0 for x in (*self.scales, *self.listed))

    @property
    def is_nonincreasing(self) -> bool:
        """Whether the coefficients are non-negative and never increase.

        Those of the named strategies are so. For banded-inverse-sqrt, c_k = Σ_{0<j<P} f_j c_{k−j} with f_j > 0: up to
        k = P − 1 these are the coefficients of the square root, which decrease, and from then on c_k − c_{k+1} =
        Σ_j f_j (c_{k−j} − c_{k+1−j}) ≥ 0 by induction.
        """
        if self.name == BLT:
            return self.is_nonnegative and sum(map(Fraction, self.scales)) <= 1
        return self.is_nonnegative and all(x >= y for x, y in zip(self.listed, self.listed[1:], strict=False))

    @property
    def is_banded(self) -> bool:
        """Whether the number of coefficients is limited by the strategy itself, and not by the number of steps."""
        return self.name in (BANDED_SQRT, LISTED) or self.bands(2) == 1

    @property
    def bits_of_first(self) -> int:
        """The number of binary zeros behind the point of c_0."""
        return max(0, -frexp(self.listed[0])[1]) if self.listed else 0

    def bands(self, n: int) -> int:
        """The number of coefficients up to the last one of the first n that is not 0."""
        if self.name == INDEPENDENT or (self.name == FEEDBACK and self.number == 0):
            return 1
        if self.name == BANDED_SQRT:
            return min(int(self.number), n)
        if self.name == BANDED_INVERSE_SQRT and self.number == 1:
            return 1
        if self.name == LISTED:
            return max(k for k, x in enumerate(self.listed[:n], 1) if x)
        return n


def magnitudes(strategy: Strategy, n: int, bits: int) -> list[int]:
    """|c_0|, …, |c_{n−1}| in units of 2^−bits, as whole numbers that are rounded up. Coefficients after the returned
    ones are 0."""
    name, one = strategy.name, 1 << bits
    if name == INDEPENDENT:
        return [one]
    if name == FEEDBACK:
        return _powers(strategy.number, one, n)
    if name == LISTED:
        return [_up(abs(x), one) for x in strategy.listed[:n]]
    if name == BLT:
        return [one, *_mixture(strategy.scales, strategy.decays, one, n - 1)]
    if name == SQUARE_ROOT:
        found = _binomials(one, n)
    elif name == BANDED_SQRT:
        found = _binomials(one, min(int(strategy.number), n))
    else:
        found = _renewals(one, int(strategy.number), n)
    if strategy.contraction == 1:
        return found
    return [_up(Fraction(c, one), r) for c, r in zip(found, _powers(strategy.contraction, one, len(found)),
                                                     strict=True)]


def _up(x: float | Fraction, unit: int) -> int:
    """x·unit, rounded up."""
    top, bottom = x.as_integer_ratio()
    return -(-top * unit // bottom)


def _steps(one: int, n: int, factor: Callable[[int, int], int]) -> list[int]:
    """The first n of x_0 = one and x_k = factor(x_{k−1}, k)."""
    found = [one][:n]
    for k in range(1, n):
        found.append(factor(found[-1], k))
    return found


def _powers(x: float, one: int, n: int) -> list[int]:
    top, bottom = x.as_integer_ratio()
    return _steps(one, n, lambda before, _: -(-before * top // bottom))


def _binomials(one: int, n: int) -> list[int]:
    """The coefficients of (1 − z)^(−1/2): c_k = c_{k−1}(2k − 1)/(2k)."""
    return _steps(one, n, lambda before, k: -(-before * (2 * k - 1) // (2 * k)))


def _renewals(one: int, terms: int, n: int) -> list[int]:
    """The coefficients of 1/w, where w has the first coefficients of (1 − z)^(1/2), all but the first one below 0. The
    first ones, as many as w has, are those of (1 − z)^(−1/2). They do not increase, so from where they are at most √one
    units they are taken to be constant. Raises OutOfScope where this takes too long."""
    found = _binomials(one, min(terms, n))
    taken = [-(-c // (2 * k - 1)) for k, c in enumerate(found)][1:]
    while len(found) < n and found[-1] > isqrt(one):
        if (len(found) - len(taken)) * len(taken) > 50_000_000:  # products, in about three seconds
            raise OutOfScope("too-large", f"the inverse of {terms} terms takes too long in whole numbers for {n} steps",
                             "--strategy")
        recent = found[: -len(taken) - 1 : -1]
        found.append(min(found[-1], -(-sum(f * c for f, c in zip(taken, recent, strict=False)) // one)))
    return found + found[-1:] * (n - len(found)) if taken else [one]


def _mixture(scales: tuple[float, ...], decays: tuple[float, ...], one: int, n: int) -> list[int]:
    """|Σ_i scale_i·decay_i^k|. The k-th power of a decay is at most k units too large."""
    powers, weights = [_powers(d, one, n) for d in decays], list(map(Fraction, scales))
    bottom = max(w.denominator for w in weights)  # of doubles: the largest denominator is a multiple of the others
    whole = [int(w * bottom) for w in weights]
    size = sum(map(abs, whole))
    return [-(-(abs(sum(w * p for w, p in zip(whole, column, strict=True))) + size * k) // bottom)
            for k, column in enumerate(zip(*powers, strict=True))]
