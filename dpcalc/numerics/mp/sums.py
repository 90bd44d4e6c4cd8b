"""Sums of a smooth function over many whole numbers, at high precision, in a time that hardly depends on how many there
are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import add, mul, sub
from typing import Any, NamedTuple

from dpcalc.numerics.mp.memo import kept

_NODES, _FEWER = 1.31, 5  # of a panel, per digit, less a few
# terms that are added one by one; nodes squared to as many terms: with fewer, slopes of a polynomial are lost
_FEW, _DENSE = 250, 64
_LONGEST = 8  # doublings of a panel; the first one has one, each other one twice as many as the one before
_GUARD = 10  # digits that a sum may be short of the working precision
_MOST = 20_000  # values in all
_LAST = 4  # coefficients that tell how far a polynomial is from the function
_SPARE = 16  # bits, of the places of values
_LITTLE = 100  # times less than what a sum may be off by: what is left out


class TooRough(ArithmeticError):
    """The function is not smooth enough for so few values."""


def is_long(mp: Any, terms: int) -> bool:
    """Whether a sum is more than the sum of its terms; in ball arithmetic none is."""
    return terms > _few(mp) and not hasattr(mp, "between")


def _few(mp: Any) -> int:
    return int(max(_FEW, _nodes(mp) ** 2 / _DENSE))


def _nodes(mp: Any) -> int:
    return int(_NODES * mp.dps) - _FEWER


def smooth_sum(mp: Any, f: Callable[[Any], Any], first: int, last: int,
               most: Callable[[int], Any] | None = None) -> Any:
    """Σ_{t=first}^{last} f(t) of an f >= 0 that is analytic to the right of t = 0, on the scale of t or, in places, a
    smaller one; to ten digits less than the working precision. `most(t)` is not less than f from t on: f itself, if it
    falls. Raises TooRough.

    The first terms are added. The rest is cut into panels, whose ends count for half in each; a long panel is halved in
    log t until the Chebyshev series of f(t)·t in log t ends at as many points as digits ask for. That gives the
    integral and, where panels in a row begin and end, the slopes of f for Euler–Maclaurin. """
    few = _few(mp)
    if not is_long(mp, last - first + 1):
        return mp.fsum(f(t) for t in range(first, last + 1))
    start = first + few
    total = mp.fsum(f(t) for t in range(first, start)) + f(start) / 2
    cuts, done, left_out = _cuts(mp, start, last), list[tuple[int, int]](), mp.mpf(10) ** (_GUARD - mp.dps)
    left, values, before = cuts[::-1], few, None  # the last: the panel that ends where the next one begins
    while left:
        a, b = left.pop()
        enough = left_out * total
        nothing = (most or f)(a) * (b - a) <= enough / _LITTLE
        values += 0 if nothing else min(b - a, _nodes(mp))
        if values > _MOST:
            raise TooRough("a sum of too many terms that change too much")
        if nothing or b - a <= few:
            part = mp.zero if nothing else mp.fsum(f(t) for t in range(a + 1, b)) + (f(a) + f(b)) / 2
            part, before = part + _at_last(mp, before, enough), None
        else:
            panel = _panel(mp, f, a, b, left_out, total)
            begun = panel and (mp.zero if before else _beyond_integral(mp, panel, -1, enough))
            if panel is None or begun is None:
                doublings = (b // a).bit_length() - 1
                middle = a << max(1, doublings // 2) if b > 2 * a else (a + b) // 2
                left += [(middle, b), (a, middle)]
                continue
            part, before = panel.integral - begun, panel
        total += part
        done.append((a, b))
    cuts[:] = done
    return total + _at_last(mp, before, left_out * total) + f(last) / 2


@kept()
def _cuts(mp: Any, start: int, last: int) -> list[tuple[int, int]]:
    """Where the last sum over these terms was cut: another one, as at the next ε, is likely to change on the same
    scale."""
    found, a, doublings = list[tuple[int, int]](), start, 1
    while a < last:
        b = min(a << doublings, last)
        found.append((a, b))
        a, doublings = b, min(2 * doublings, _LONGEST)
    return found


class _Panel(NamedTuple):
    """f(t)·t by the polynomial Σ c_m T_m in log t between two ends, in units; its integral in log t is that of f."""

    ends: dict[int, int]  # −1: the first term, +1: the last one
    half: Any  # of what log t changes by
    unit: Any
    terms: list[int]  # c_m
    integral: Any


def _panel(mp: Any, f: Callable[[Any], Any], first: int, last: int, left_out: Any, total: Any) -> _Panel | None:
    """None where a polynomial is not as near as wanted. Coefficients are whole numbers, multiples of 2^−precision of
    the largest value."""
    prec, doublings = mp.prec, (last // first).bit_length() - 1
    half, powers = _powers(mp, _nodes(mp), 1 << doublings if last == first << doublings else mp.mpf(last) / first)
    middle = mp.sqrt(mp.mpf(first) * last)
    values = [f(middle * x) * x for x in powers]
    size = mp.mag(max(values)) if any(values) else 0
    terms = _coefficients(mp, [mp.to_fixed(value, prec - size) for value in values])
    unit = mp.ldexp(middle, size - prec)
    integral = 2 * half * unit * sum(c // (1 - m * m) for m, c in enumerate(terms) if m % 2 == 0)
    if 2 * half * unit * max(map(abs, terms[-_LAST:])) > left_out * max(abs(integral), total):
        return None
    return _Panel({-1: first, +1: last}, half, unit, terms, integral)


@kept(32)
def _powers(mp: Any, nodes: int, ratio: Any) -> tuple[Any, list[Any]]:
    """Half the logarithm of the ratio of a panel's ends, and its points, in units of its middle."""
    with mp.workprec(mp.prec + _SPARE):
        half = mp.log(ratio) / 2
        return half, [mp.exp(half * mp.cospi(mp.mpf(2 * k + 1) / (2 * nodes))) for k in range(nodes)]


def _coefficients(mp: Any, values: list[int]) -> list[int]:
    """Of the Chebyshev polynomials T_m, from the values at cos(π(2k+1)/(2K))."""
    nodes, mirrored = len(values), values[::-1]
    both = list(map(add, values, mirrored)), list(map(sub, values, mirrored))
    found = [sum(map(mul, both[m % 2], row)) // nodes >> mp.prec - 1 for m, row in enumerate(_rows(mp, nodes))]
    return [found[0] // 2, *found[1:]]


@kept()
def _rows(mp: Any, nodes: int) -> list[list[int]]:
    """cos(mπ(2k+1)/(2K)) for k < K/2, for every m; half of it in the middle, which is its own mirror image."""
    cosines = [mp.to_fixed(mp.cospi(mp.mpf(j) / (2 * nodes)), mp.prec) for j in range(4 * nodes)]
    rows = [[cosines[m * (2 * k + 1) % (4 * nodes)] for k in range((nodes + 1) // 2)] for m in range(nodes)]
    for row in rows if nodes % 2 else ():
        row[-1] //= 2
    return rows


def _slopes(mp: Any, panel: _Panel, side: int) -> Iterator[Any]:
    """f, f′, f″, … at an end of a panel: with G(u) = f(e^u)e^u, f^(r) = e^{−(r+1)u}·(D − 1)(D − 2)⋯(D − r)G."""
    half, t = side * panel.half, mp.mpf(panel.ends[side])
    terms = [side**m * c for m, c in enumerate(panel.terms)]
    before, power, scale = list[Any](), mp.one, panel.unit / t
    for r in range(len(terms)):
        here = [sum(terms) * power]  # of D^r G; then (D − 1)⋯(D − i)D^{r−i} G
        for i, x in enumerate(before, 1):
            here.append(here[-1] - i * x)
        yield here[-1] * scale
        before, power, scale = here, power / half, scale / t
        terms = [c * (m * m - r * r) // (2 * r + 1) for m, c in enumerate(terms)]  # T_m^(r+1)(1)


def _beyond_integral(mp: Any, panel: _Panel, side: int, enough: Any) -> Any | None:
    """Σ_k B_{2k}/(2k)!·f^(2k−1) at an end, as far as the terms count; None where they do not become small."""
    total, last = mp.zero, None
    for r, slope in enumerate(_slopes(mp, panel, side)):
        if r % 2:
            term = _bernoulli(mp, (r + 1) // 2) * slope
            total += term
            if last is not None and max(abs(term), last) <= enough / _LITTLE:
                return total
            last = abs(term)
    return None


def _at_last(mp: Any, panel: _Panel | None, enough: Any) -> Any:
    """The same at the last term of a panel that no other one follows, if there is one."""
    found = _beyond_integral(mp, panel, +1, enough) if panel else mp.zero
    if found is None:
        raise TooRough("a sum whose last terms change too much")
    return found


@kept(1000)
def _bernoulli(mp: Any, k: int) -> Any:
    """B_{2k}/(2k)!."""
    return mp.bernoulli(2 * k) / mp.factorial(2 * k)
