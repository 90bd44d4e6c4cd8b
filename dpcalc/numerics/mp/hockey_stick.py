"""θ(ε, r) at high precision, some ten times faster than by erfc: θ = φ(a)(R(a) − R(b)), 1 − θ = φ(a)(R(−a) + R(b)), a =
ε/r − r/2, b = a + r, with the Mills ratio R = Q/φ in whole numbers, multiples of 2^−bits.

R' = xR − 1, so that R(x + hu) = Σ C_k u^k with C_{k+1} = (hx C_k + h² C_{k−1})/(k + 1): a list of C for every x that is
a multiple of h = 1/16, for |u| <= 1/2. Each list starts from the one above it, the topmost from the continued fraction:
an error falls like φ's inverse on the way down; in a list it grows like e^{hxu}. """

from __future__ import annotations

from functools import cache, lru_cache
from math import isqrt, log2, sqrt
from typing import Any

from mpmath.libmp import fone, from_man_exp, mpf_div, mpf_exp, mpf_mul, mpf_pi, mpf_pos, mpf_shift, mpf_sqrt, mpf_sub

_STEPS = 4  # 2^4 lists between whole numbers
_ALIKE = 64  # bits are rounded up to that many, so that lists serve again
_GUARD = 24  # bits
_PART, _SPARE = 12, 6  # terms of a list with u cut alike; bits
_LEAST = -1  # where R begins; below it the complement is taken
_MOST = 60_000  # bits
_SAFE = 1.1  # times as many terms of the continued fraction as count


def theta(mp: Any, epsilon: Any, ratio: Any) -> Any | None:
    """θ(ε, r) of ε >= 0 and r > 0 to the precision of the context, relative; None where that takes too many bits."""
    return _one_of_two(mp, epsilon, ratio, False)


def theta_rest(mp: Any, epsilon: Any, ratio: Any) -> Any | None:
    """1 − θ(ε, r) in the same way."""
    return _one_of_two(mp, epsilon, ratio, True)


def _one_of_two(mp: Any, epsilon: Any, ratio: Any, rest: bool) -> Any | None:
    e, r, prec = epsilon._mpf_, ratio._mpf_, mp.prec
    size_r = _size(r)
    size = max(_size(e) - size_r + 1, size_r, 1)  # a and b are below 2^size
    bits = prec + _GUARD + 2 * size + max(0, size - size_r)
    if bits > _MOST:
        return None
    bits += -bits % _ALIKE
    s, half = _shifted(e[1], e[2] - r[2] + bits) // r[1], _shifted(r[1], r[2] + bits - 1)
    a = s - half
    low = a < _LEAST << bits
    spread = mills(-a, bits) + mills(s + half, bits) if low else mills(a, bits) - mills(s + half, bits)
    density = mpf_mul(mpf_exp(from_man_exp(-a * a, -2 * bits - 1), prec + 10), _height(prec + 10))
    value = mpf_mul(density, from_man_exp(spread, -bits), prec + 10)
    return mp.make_mpf(mpf_pos(value, prec, "n") if low == rest else mpf_sub(fone, value, prec, "n"))


def _shifted(x: int, bits: int) -> int:
    return x << bits if bits >= 0 else x >> -bits


def _size(x: tuple[int, int, int, int]) -> int:
    """The least k with x < 2^k; of a raw number of mpmath, 0 of 0."""
    return x[2] + x[3] if x[1] else 0


@lru_cache(maxsize=8)
def _height(prec: int) -> Any:
    """1/√(2π)."""
    return mpf_div(fone, mpf_sqrt(mpf_shift(mpf_pi(prec + 5), 1), prec + 5), prec)


def mills(x: int, bits: int) -> int:
    """R(x·2^−bits)·2^bits for x >= −1, to a few units."""
    lists = _lists(bits)
    place = ((x >> (bits - _STEPS - 1)) + 1) >> 1
    if place > lists.top:
        return _fraction(x, bits)
    u, value = (x << _STEPS) - (place << bits), 0
    for drop, terms in lists.near(place):
        short = u >> drop
        for c in terms:
            value = c + (value * short >> bits - drop)
    return value


def _fraction(x: int, bits: int) -> int:
    """R = 1/(x + 1/(x + 2/(x + 3/(x + …)))), from inside."""
    depth, one = _depth(x >> bits, bits), 1 << 2 * bits
    tail = (x + isqrt(x * x + (4 * depth << 2 * bits))) >> 1
    for k in range(depth, 0, -1):
        tail = x + k * one // tail
    return one // tail


@cache
def _depth(x: int, bits: int) -> int:
    """How many terms of the continued fraction count: the k-th tail t, about (x + √(x² + 4k))/2, makes an error k/t² of
    it."""
    left, k = float(bits), 0
    while left > 0:
        k += 1
        left -= 2 * log2((x + sqrt(x * x + 4 * k)) / 2) - log2(k)
    return int(_SAFE * k) + 2


class _Lists:
    """The C of every multiple of h that was asked for, and of those above it."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.top = isqrt(bits) << _STEPS
        self.whole: list[list[int]] = []
        self.parts: dict[int, list[tuple[int, list[int]]]] = {}
        self.value = _fraction(self.top << bits - _STEPS, bits)

    def near(self, place: int) -> list[tuple[int, list[int]]]:
        """The C that count where |u| <= 1/2, the last ones first, and how many bits of u their sum can do without."""
        if (found := self.parts.get(place)) is None:
            while self.top - len(self.whole) >= place:
                self._next()
            terms = [c for k, c in enumerate(self.whole[self.top - place]) if k < _PART or abs(c) >> k]
            cut = [terms[k : k + _PART] for k in range(0, len(terms), _PART)]
            found = self.parts[place] = [(max(0, self.bits - max(map(int.bit_length, part)) - _SPARE), part[::-1])
                                         for part in cut[::-1]]
        return found

    def _next(self) -> None:
        """One list more, h below the last one."""
        place = self.top - len(self.whole)
        c, terms, k = place * self.value - (1 << self.bits + _STEPS) >> 2 * _STEPS, [self.value], 1
        while abs(c) > 2 or k < 3:
            terms.append(c)
            c = (place * c + terms[-2]) // (k + 1 << 2 * _STEPS)
            k += 1
        self.whole.append(terms)
        self.value = sum(-c if k % 2 else c for k, c in enumerate(terms))


@lru_cache(maxsize=8)
def _lists(bits: int) -> _Lists:
    return _Lists(bits)
