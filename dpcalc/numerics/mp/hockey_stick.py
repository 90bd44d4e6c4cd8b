"""The hockey-stick divergence θ(ε, r) of Gaussian noise at high precision, about ten times faster than by erfc.

θ = φ(a)(R(a) − R(b)) and 1 − θ = φ(a)(R(−a) + R(b)), with a = ε/r − r/2, b = a + r, and the Mills ratio R = Q/φ in
fixed-point arithmetic (multiples of 2^−bits).

R' = xR − 1, so R(x + hu) = Σ C_k u^k with C_{k+1} = (hx C_k + h² C_{k−1})/(k + 1). There is a list of coefficients C
for every x that is a multiple of h = 1/16, for |u| <= 1/2. Each list is computed from the one of the next larger x, the
first one from the continued fraction: on the way down an error decreases like 1/φ; within a list it grows like
e^{hxu}. """

from __future__ import annotations

from functools import cache, lru_cache
from math import isqrt, log2, sqrt
from typing import Any

from mpmath.libmp import fone, from_man_exp, mpf_div, mpf_exp, mpf_mul, mpf_pi, mpf_pos, mpf_shift, mpf_sqrt, mpf_sub

_LOG2_LISTS = 4  # there are 2^4 lists per unit of x; with half or twice as many it takes about as long
_GUARD_BITS = 24  # computed beyond the precision of the context, against rounding errors of all terms
_GROUP = 12  # terms of a list for which u is truncated to the same number of bits
_MAX_BITS = 60_000  # more would take minutes


def theta(mp: Any, epsilon: Any, ratio: Any) -> Any | None:
    """θ(ε, r) for ε >= 0 and r > 0, to the relative precision of the context; None where that takes too many bits."""
    return _theta_or_complement(mp, epsilon, ratio, False)


def theta_rest(mp: Any, epsilon: Any, ratio: Any) -> Any | None:
    """1 − θ(ε, r), likewise."""
    return _theta_or_complement(mp, epsilon, ratio, True)


def _theta_or_complement(mp: Any, epsilon: Any, ratio: Any, complement: bool) -> Any | None:
    e, r, prec = epsilon._mpf_, ratio._mpf_, mp.prec
    size_r = _size(r)
    size = max(_size(e) - size_r + 1, size_r, 1)  # a and b are below 2^size
    bits = prec + _GUARD_BITS + 2 * size + max(0, size - size_r)
    if bits > _MAX_BITS:
        return None
    bits += -bits % 64  # rounded up, so that lists are used for several precisions
    s, half = _shifted(e[1], e[2] - r[2] + bits) // r[1], _shifted(r[1], r[2] + bits - 1)
    a = s - half
    is_below = a < -1 << bits  # R is available from −1 on; below, 1 − θ is computed from R(−a)
    factor = mills(-a, bits) + mills(s + half, bits) if is_below else mills(a, bits) - mills(s + half, bits)
    density = mpf_mul(mpf_exp(from_man_exp(-a * a, -2 * bits - 1), prec + 10), _normal_density_at_0(prec + 10))
    value = mpf_mul(density, from_man_exp(factor, -bits), prec + 10)
    return mp.make_mpf(mpf_pos(value, prec, "n") if is_below == complement else mpf_sub(fone, value, prec, "n"))


def _shifted(x: int, bits: int) -> int:
    return x << bits if bits >= 0 else x >> -bits


def _size(x: tuple[int, int, int, int]) -> int:
    """The smallest k with x < 2^k, for a raw number of mpmath; 0 for x = 0."""
    return x[2] + x[3] if x[1] else 0


@lru_cache(maxsize=8)
def _normal_density_at_0(prec: int) -> Any:
    """1/√(2π)."""
    return mpf_div(fone, mpf_sqrt(mpf_shift(mpf_pi(prec + 5), 1), prec + 5), prec)


def mills(x: int, bits: int) -> int:
    """R(x·2^−bits)·2^bits for x·2^−bits >= −1, to a few units."""
    lists = _lists(bits)
    place = ((x >> (bits - _LOG2_LISTS - 1)) + 1) >> 1
    if place > lists.top:
        return _continued_fraction(x, bits)
    u, value = (x << _LOG2_LISTS) - (place << bits), 0
    for dropped, terms in lists.coefficients(place):
        short = u >> dropped
        for c in terms:
            value = c + (value * short >> bits - dropped)
    return value


def _continued_fraction(x: int, bits: int) -> int:
    """R = 1/(x + 1/(x + 2/(x + 3/(x + …)))), from the innermost term."""
    depth, one = _depth(x >> bits, bits), 1 << 2 * bits
    tail = (x + isqrt(x * x + (4 * depth << 2 * bits))) >> 1
    for k in range(depth, 0, -1):
        tail = x + k * one // tail
    return one // tail


@cache
def _depth(x: int, bits: int) -> int:
    """How many terms of the continued fraction are needed. An error of the k-th tail t, about (x + √(x² + 4k))/2,
    changes the one before it by k/t² of it."""
    left, k = float(bits), 0
    while left > 0:
        k += 1
        left -= 2 * log2((x + sqrt(x * x + 4 * k)) / 2) - log2(k)
    return int(1.1 * k) + 2  # some more, as the tails are approximate


class _Lists:
    """The coefficients C for all multiples of h down to the smallest one that was needed."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.top = isqrt(bits) << _LOG2_LISTS
        self.lists: list[list[int]] = []
        self.groups: dict[int, list[tuple[int, list[int]]]] = {}
        self.value = _continued_fraction(self.top << bits - _LOG2_LISTS, bits)

    def coefficients(self, place: int) -> list[tuple[int, list[int]]]:
        """Groups of the C that are not negligible for |u| <= 1/2, the last ones first, and for each group how many bits
        of u can be dropped."""
        if (found := self.groups.get(place)) is None:
            while self.top - len(self.lists) >= place:
                self._next()
            terms = [c for k, c in enumerate(self.lists[self.top - place]) if k < _GROUP or abs(c) >> k]
            groups = [terms[k : k + _GROUP] for k in range(0, len(terms), _GROUP)]
            found = self.groups[place] = [(max(0, self.bits - max(map(int.bit_length, group)) - 6), group[::-1])
                                          for group in groups[::-1]]
        return found

    def _next(self) -> None:
        """Adds the list for the next smaller multiple of h."""
        place = self.top - len(self.lists)
        c, terms, k = place * self.value - (1 << self.bits + _LOG2_LISTS) >> 2 * _LOG2_LISTS, [self.value], 1
        while abs(c) > 2 or k < 3:
            terms.append(c)
            c = (place * c + terms[-2]) // (k + 1 << 2 * _LOG2_LISTS)
            k += 1
        self.lists.append(terms)
        self.value = sum(-c if k % 2 else c for k, c in enumerate(terms))


@lru_cache(maxsize=8)
def _lists(bits: int) -> _Lists:
    return _Lists(bits)
