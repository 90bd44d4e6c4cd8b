"""The coefficients of C, of C⁻¹ and of the error of prefix sums, in double precision, for up to ten million steps. An
array then takes 80 MB, so that formulas are computed by blocks, and arrays of no further use are not held."""

from collections.abc import Callable, Sequence
from math import comb, inf, isfinite, pi
from typing import NamedTuple

import numpy as np

from dpcalc.bounds.correlated._engine import strategies as s
from dpcalc.bounds.correlated._engine.strategies import Strategy
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.arrays import Array, by_index, weighted_squares
from dpcalc.numerics.power_series_array import reciprocal
from dpcalc.numerics.rounding import UNIT

_Form = tuple[Callable[[Strategy, int], tuple[Array, float]], Callable[[Strategy, int], Array],
              Callable[[Strategy, int], Array]]

_ROUNDINGS = 16  # of a coefficient that is a product of a few numbers, a square root and a power


class Coefficients(NamedTuple):
    """c_0, c_1, … of a strategy, 0 after the last one, and a bound on the 2-norm of their error."""

    c: Array
    error: float


class Errors(NamedTuple):
    """Standard deviations at σ = 1, not rounded to a side: of the noise of the last step, and of prefix sums (with
    contraction, of Σ_j r^(t−j) g_j); with independent noise of the same σ for comparison.

    Tests find them accurate to 1e-12, and to 1e-9 where the terms of a buffered strategy cancel. No guarantee depends
    on them.
    """

    step_noise: float
    rmse: float  # the root of the mean over all prefixes
    largest: float
    rmse_of_independent: float

    def at(self, sigma: float) -> dict[str, float]:
        """The errors of an answer. Raises OutOfScope for a σ so large that they are above all doubles."""
        found = {"rmse": sigma * self.rmse, "max_error": sigma * self.largest, "step_noise": sigma * self.step_noise}
        if not all(map(isfinite, found.values())):
            raise OutOfScope("out-of-range", "the errors of prefix sums are above the largest double", "--sigma")
        return found


def strategy_coefficients(strategy: Strategy, n: int) -> Coefficients:
    """The first column of C for n steps."""
    c, error = _FORMS[strategy.name][0](strategy, n)
    if strategy.name == s.LISTED:  # they are exact
        return Coefficients(c, error)
    return Coefficients(c, error + _ROUNDINGS * UNIT * float(np.linalg.norm(c)))


def noise_coefficients(strategy: Strategy, n: int) -> Array:
    """The first column of C⁻¹ for n steps: the weights of the current and of earlier independent noises."""
    return padded(_FORMS[strategy.name][1](strategy, n), n)


def prefix_coefficients(strategy: Strategy, n: int) -> Array:
    """The weights of the independent noises in a prefix sum, the last one first: w/(1 − rz)."""
    return _FORMS[strategy.name][2](strategy, n)


def errors(strategy: Strategy, n: int) -> Errors:
    """The errors of prefix sums over n steps: that of prefix t has the variance Σ_{k≤t} B_k², where B is what
    `prefix_coefficients` returns. Raises OutOfScope where they are above all doubles."""
    independent = Strategy(s.INDEPENDENT, contraction=strategy.contraction)

    def share(k: Array) -> Array:
        return np.asarray((n - k) / n)  # of the prefixes, those that hold the last noise but k

    with np.errstate(over="ignore"):  # one array after another, as each may take 80 MB
        of_independent = weighted_squares(prefix_coefficients(independent, n), share)
        step_noise = weighted_squares(noise_coefficients(strategy, n))
        prefix = prefix_coefficients(strategy, n)
        found = Errors(*(x**0.5 for x in (step_noise, weighted_squares(prefix, share), weighted_squares(prefix),
                                          of_independent)))
    if not all(map(isfinite, found)):
        raise _unknown(strategy)
    return found


# --- the forms of each strategy: (C, error), C⁻¹ and prefix sums -----------------------------------------------------


def _root(n: int) -> Array:
    """The coefficients of (1 − z)^(−1/2), c_k = Γ(k + 1/2)/(√π Γ(k + 1)), to a few units of rounding each."""

    def series(_: Array, k: Array) -> Array:
        """The asymptotic series of the ratio of the two gamma functions."""
        x = k + 0.25
        y = 1 / (x * x)
        return np.asarray((1 - y * (1 / 64 - y * (21 / 8192 - y * (671 / 524288)))) / np.sqrt(pi * x))

    found = by_index(np.empty(n), series)
    first = min(n, 64)  # from there on the error of the series is below 1e-17
    found[:first] = [comb(2 * k, k) / 4**k for k in range(first)]
    return found


def _inverse_root(n: int) -> Array:
    """The coefficients of (1 − z)^(1/2)."""
    return by_index(_root(n), lambda x, k: x / (1 - 2 * k))


def _contracted(x: Array, strategy: Strategy) -> Array:
    """r^k·x_k, in place."""
    return x if strategy.contraction == 1 else by_index(x, lambda x, k: x * np.power(strategy.contraction, k))


def _powers(r: float, n: int) -> Array:
    """r^k."""
    return by_index(np.empty(n), lambda _, k: np.power(r, k))


def padded(x: Array, n: int) -> Array:
    """The first n coefficients: x, and zeros."""
    if len(x) >= n:
        return x[:n]
    found = np.zeros(n)
    found[: len(x)] = x
    return found


def _sums(w: Array, strategy: Strategy, n: int) -> Array:
    """Σ_{j≤k} r^(k−j)·w_j, by sums over 2, 4, 8, … terms."""
    found = padded(w, n)
    if strategy.contraction == 1:
        return np.cumsum(found)
    length, weight = 1, strategy.contraction
    while length < n and weight > 1e-40:  # earlier noises with a smaller weight are lost beside the last one
        found = np.concatenate((found[:length], found[length:] + weight * found[:-length]))
        length, weight = 2 * length, weight * weight
    return found


def _checked(strategy: Strategy, found: tuple[Array, float]) -> Array:
    """The coefficients of C⁻¹. Raises OutOfScope where they are not known accurately."""
    w, error = found
    with np.errstate(all="ignore"):
        norm = float(np.linalg.norm(w))
    if not error <= 1e-7 * norm < inf:
        raise _unknown(strategy)
    return w


def _unknown(strategy: Strategy) -> OutOfScope:
    return OutOfScope("out-of-range", "the noise of this strategy grows so fast with the steps that its size is not "
                      "known in double precision; use a C whose inverse is bounded",
                      "--coefficients" if strategy.name == s.LISTED else "--strategy")


def _feedback(strategy: Strategy, n: int) -> tuple[Array, float]:
    return _powers(strategy.number, n), 0.0


def _feedback_prefix(strategy: Strategy, n: int) -> Array:
    r = strategy.contraction
    found = np.ones(n)
    by_index(found[1:], lambda _, k: (r - strategy.number) * np.power(r, k))
    return found


def _banded(strategy: Strategy, n: int) -> Array:
    return _root(min(int(strategy.number), n))


def _banded_noise(strategy: Strategy, n: int) -> Array:
    return _contracted(_checked(strategy, reciprocal(_banded(strategy, n), n)), strategy)


def _banded_prefix(strategy: Strategy, n: int) -> Array:
    w = _checked(strategy, reciprocal(_banded(strategy, n), n))
    return _contracted(np.cumsum(padded(w, n)), strategy)


def _inverse_banded(strategy: Strategy, n: int) -> tuple[Array, float]:
    if strategy.number >= n:
        return _contracted(_root(n), strategy), 0.0
    c, error = reciprocal(_inverse_root(min(int(strategy.number), n)), n, _ROUNDINGS)
    return _contracted(c, strategy), error


def _inverse_banded_prefix(strategy: Strategy, n: int) -> Array:
    sums = _root(min(int(strategy.number), n))
    found = np.full(n, sums[-1])
    found[: len(sums)] = sums
    return _contracted(found, strategy)


def _buffered(strategy: Strategy, n: int) -> tuple[Array, float]:
    """The coefficients, and the error of their sums, which may cancel."""
    k = np.arange(n - 1)
    terms = [(scale, np.power(decay, k)) for scale, decay in zip(strategy.scales, strategy.decays, strict=True)]
    c = sum((scale * powers for scale, powers in terms), np.zeros(n - 1))
    size = sum((abs(scale) * powers for scale, powers in terms), np.zeros(n - 1))
    return np.concatenate((np.ones(1), c)), (_ROUNDINGS + len(terms)) * UNIT * float(np.linalg.norm(size))


def _buffered_noise(strategy: Strategy, n: int) -> Array:
    """Q/P, where C = P/Q with Q = Π_i (1 − decay_i z)."""
    denominator = _polynomial(strategy.decays)
    numerator = denominator.copy()
    for i, scale in enumerate(strategy.scales):
        others = _polynomial((*strategy.decays[:i], *strategy.decays[i + 1:]))
        numerator += scale * np.concatenate(((0.0,), others))
    return np.convolve(_checked(strategy, reciprocal(numerator, n)), denominator)[:n]


def _polynomial(decays: Sequence[float]) -> Array:
    """Π (1 − decay·z), the lowest power first."""
    found = np.ones(1)
    for decay in decays:
        found = np.convolve(found, (1.0, -decay))
    return found


def _listed(strategy: Strategy, n: int) -> tuple[Array, float]:
    return np.array(strategy.listed[:n]), 0.0


def _listed_noise(strategy: Strategy, n: int) -> Array:
    return _checked(strategy, reciprocal(_listed(strategy, n)[0], n))


# The name of a strategy → the functions that give the coefficients of C with their error, of C⁻¹, and of prefix sums.
_FORMS: dict[str, _Form] = {
    s.INDEPENDENT: (lambda strategy, n: (np.ones(1), 0.0), lambda strategy, n: np.ones(1),
                    lambda strategy, n: _powers(strategy.contraction, n)),
    s.FEEDBACK: (_feedback, lambda strategy, n: np.array((1.0, -strategy.number)), _feedback_prefix),
    s.SQUARE_ROOT: (lambda strategy, n: (_contracted(_root(n), strategy), 0.0),
                    lambda strategy, n: _contracted(_inverse_root(n), strategy),
                    lambda strategy, n: _contracted(_root(n), strategy)),
    s.BANDED_SQRT: (lambda strategy, n: (_contracted(_banded(strategy, n), strategy), 0.0), _banded_noise,
                    _banded_prefix),
    s.BANDED_INVERSE_SQRT: (_inverse_banded, lambda strategy, n: _contracted(
        _inverse_root(min(int(strategy.number), n)), strategy), _inverse_banded_prefix),
    s.BLT: (_buffered, _buffered_noise, lambda strategy, n: _sums(_buffered_noise(strategy, n), strategy, n)),
    s.LISTED: (_listed, _listed_noise, lambda strategy, n: _sums(_listed_noise(strategy, n), strategy, n)),
}
