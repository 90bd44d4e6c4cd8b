"""The record at distance m from the end: its Gaussian-DP parameter, and averages over m = 0..n−1.

After the record, m more steps with Lipschitz constant c carry its shift of 2ηL through fresh noise ησ each: by the
shift lemma (Feldman et al. 2018) the last iterate is μ_m-GDP with μ_m = (2L/σ)·√share(m), share(m) = c^{2m}/Σ_{k<=m} c^{2k}.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from math import exp, expm1, fsum, inf, log
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.errors import OutOfScope
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket, bracket_near
from dpcalc.numerics.rounding import up

FINE, COARSE = 64, 4  # blocks of the average hold at most this part of the positions before them
_COARSER = 0.3  # log of how far a coarse average may lie above a fine one: blocks of a quarter
_APART = 1.01  # two ε for a slope
_LOOKS = 8  # blocks: whether those that are left still count is asked so often
_LEAST = 1e-300  # ε > 0 that is looked for
LEAST_RATIO = 1e-300  # a ratio below is rounded up to it
NEARLY_NONE = -1400.0  # of log(ratio/first): one below is rounded up to it


def log_share(log_c: float, m: int) -> float:
    """log of c^{2m}/Σ_{k=0}^m c^{2k}, for any c >= 0."""
    if m == 0:
        return 0.0
    if log_c == 0:
        return -log(m + 1)
    if log_c == -inf:
        return -inf
    if log_c < 0:
        return 2 * m * log_c + log(expm1(2 * log_c) / expm1(2 * (m + 1) * log_c))
    return log(expm1(-2 * log_c) / expm1(-2 * (m + 1) * log_c))


def scaled(first: float, log_square: float) -> float:
    """first·√e^{log_square}, rounded up; never below 1e-300 but for an exact 0."""
    if log_square == -inf:
        return 0.0
    half = max(log_square / 2, NEARLY_NONE)
    factor = first * exp(half) if half > -690 else first * exp(half / 2) * exp(half / 2)  # what underflows alone may not times `first`
    return max(LEAST_RATIO, up(factor, 1e-15 * (2 + abs(half))))


class Shares(NamedTuple):
    """m → first·√share(m), from above: a record's μ, of a whole number m or of an array of them."""

    first: float
    log_c: float

    def __call__(self, m: int) -> float:
        return scaled(self.first, log_share(self.log_c, m))

    def many(self, m: Any) -> Any:
        from dpcalc.bounds.pnsgd.averages import log_shares, scaled_many

        return scaled_many(self.first, log_shares(self.log_c, m))


class Powers(NamedTuple):
    """m → first·c^m in the same way."""

    first: float
    log_c: float

    def __call__(self, m: int) -> float:
        return scaled(self.first, 2 * m * self.log_c if m else 0.0)

    def many(self, m: Any) -> Any:
        from numpy import maximum, where

        from dpcalc.bounds.pnsgd.averages import scaled_many

        return scaled_many(self.first, where(m > 0, 2 * maximum(m, 1) * self.log_c, 0.0))


Ratio = Shares | Powers


def share_exact(mp: Any, c: Any, m: int) -> Any:
    """c^{2m}/Σ_{k<=m} c^{2k}: the sum as it stands, or in closed form where it is long."""
    if c == 1:
        return mp.mpf(1) / (m + 1)
    if m < 40:
        return c ** (2 * m) / mp.fsum(c ** (2 * k) for k in range(m + 1))
    each = c * c
    power = each**m
    return power * (1 - each) / (1 - power * each)


@lru_cache(maxsize=8)
def starts(n: int, fine: int = FINE) -> list[int]:
    """First position of every block of 0..n−1; blocks are at most 1/fine of their start."""
    found, m = [], 0
    while m < n:
        found.append(m)
        m += 1 + m // fine
    return found


def log_average(log_at: Callable[[int], float], n: int, fine: int = FINE) -> float:
    """log of (1/n)Σ_{m<n} e^{f(m)} for a decreasing f, from above: at most 1/64 of it too large, exact for n <= 64.

    Σ over a block is at most its length times its first term; the lengths grow by 1/64, so that the excess is at most
    Σ_j f_j (s_j − s_{j−1}) <= (1/64) Σ_j f_{j} s_{j−1}. What is left is closed by one block once it is below 1e-13 of the sum.
    """
    heads = starts(n, fine)
    first = log_at(0)
    if first == -inf:
        return -inf
    terms, total = [1.0], 1.0
    for j in range(1, len(heads)):
        term = log_at(heads[j]) - first
        left = n - heads[j]
        if (rest := left * exp(term) if term > -745 else 0.0) < 1e-13 * total:
            terms.append(rest if rest > 0 else left * 5e-324)
            break
        length = (heads[j + 1] if j + 1 < len(heads) else n) - heads[j]
        terms.append(length * exp(term))
        total += terms[-1]
    return min(first, up(first + log(fsum(terms)) - log(n), 4e-16) + (rounding(n) if len(terms) > 1 else 0.0))


def rounding(n: int) -> float:
    """Of log(Σ length·e^{f − first}) − log n: both logarithms are up to log n, the mean of |f − first| about log n at most."""
    return 1e-15 * (1 + log(n))


def average_exact(mp: Any, epsilon: float, ratio: Callable[[int], Any], n: int, fine: int = FINE) -> Any:
    """(1/n)Σ_m θ(ε, r_m) in the same blocks at high precision; without what shows in no digit, but in ball arithmetic."""
    heads, balls = [*starts(n, fine), n], hasattr(mp, "between")
    total, last, term, nothing = mp.mpf(0), None, mp.mpf(0), mp.mpf(10) ** -(2 * mp.dps)
    for k, (a, b) in enumerate(pairwise(heads)):
        r = ratio(a)
        if balls or r != last:
            term, last = theta(mp, epsilon, r), r
        total += (b - a) * term
        if not balls and k % _LOOKS == 0 and (n - b) * term <= nothing * total:
            break
    return total / n


def average_theta(epsilon: float, ratio: Ratio, n: int, fine: int = FINE) -> float:
    """log of (1/n)Σ_m θ(ε, r_m), for r_m decreasing in m, to a limit perhaps: equal ones are looked up."""
    at = cache(lambda r: log_gaussian(epsilon, r))
    return log_average(lambda m: at(ratio(m)), n, fine)


def invert_average(log_delta: float, ratio: Ratio, n: int) -> float:
    """The ε at which `average_theta` is log δ, safe."""
    return invert(lambda e, fine: average_theta(e, ratio, n, fine), log_delta)


def invert(log_at: Callable[[float, int], float], log_delta: float) -> float:
    """An ε with log_at(ε, FINE) <= log δ, the least one to 1e-10; sought on coarse blocks first, which cost a tenth."""

    @cache
    def gap(epsilon: float) -> float:
        return log_at(epsilon, FINE) - log_delta

    @cache
    def rough(epsilon: float) -> float:
        return log_at(epsilon, COARSE) - log_delta

    if rough(0.0) <= 0 or (rough(0.0) <= _COARSER and gap(0.0) <= 0):
        return 0.0
    try:
        meets, fails = bracket(rough, 1.0, +1, _LEAST, 1e300)
        start = boundary_log(rough, meets, fails, 1e-3)
        fall = (rough(start) - rough(start * _APART)) / log(_APART)  # of log δ as log ε grows, about that of the fine sum
        found = invert_near(gap, start, fall)
        return 0.0 if found <= _LEAST and gap(0.0) <= 0 else found
    except Unreachable:
        raise OutOfScope("no-solution", "no ε reaches that δ", "--delta") from None


def inverse_of(value: Callable[..., float], coarse: Callable[..., float]) -> Callable[..., float]:
    """The ε at which a profile, that has a form on coarse blocks too, is log δ, safe."""

    def inverse(log_delta: float, **p: Any) -> float:
        return invert(lambda epsilon, fine: (coarse if fine < FINE else value)(epsilon, **p), log_delta)

    return inverse


def invert_near(gap: Callable[[float], float], start: float, fall: float) -> float:
    """An ε with gap(ε) <= 0, the least one to 1e-10, or about 1e-11 by its gap: from one near it, and about how much the gap falls as log ε
    grows. Raises Unreachable."""
    near = start * exp(gap(start) / fall) if fall > abs(gap(start)) else start / _APART
    meets, fails = bracket_near(gap, start, near, +1, _LEAST, 1e300)
    return boundary_log(gap, meets, fails, 1e-10, 1e-11 * min(1.0, max(fall, 0.0)))
