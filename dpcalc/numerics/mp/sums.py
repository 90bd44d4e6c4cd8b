"""Sums of a smooth function over many integers, at high precision, in a time that hardly depends on their number."""

from collections.abc import Callable, Iterator
from operator import add, mul, sub
from typing import Any, NamedTuple

from dpcalc.numerics.mp.memo import cached_by_precision

_NEGLIGIBLE = 0.01  # share of the error allowed to a sum that is allowed to a single omitted part


class TooRough(ArithmeticError):
    """The function is not smooth enough for a sum by so few values."""


def is_long(mp: Any, terms: int) -> bool:
    """Whether `smooth_sum` does not simply add all terms. In ball arithmetic it always does."""
    return terms > _direct_terms(mp) and not hasattr(mp, "between")


def _direct_terms(mp: Any) -> int:
    """How many terms are added one by one; with fewer, the derivatives of the polynomials below lose accuracy."""
    return int(max(250, _nodes(mp) ** 2 / 64))


def _nodes(mp: Any) -> int:
    """The number of values on a panel: at this degree, Chebyshev series of typical terms fall below the precision."""
    return int(1.31 * mp.dps) - 5


def smooth_sum(mp: Any, f: Callable[[Any], Any], first: int, last: int,
               most: Callable[[int], Any] | None = None) -> Any:
    """Σ_{t=first}^{last} f(t) to ten digits less than the working precision, for an f >= 0 that is analytic to the
    right of t = 0 and changes on the scale of t or, in places, a smaller one. `most(t)` bounds f from t on; it may be
    omitted if f decreases. Raises TooRough.

    The first terms are added. The rest is divided into panels, whose end terms count half in each. A long panel is
    halved in log t until the Chebyshev series of f(t)·t in log t converges with a fixed number of points. The series
    gives the integral and, where a run of panels begins and ends, the derivatives of f for the Euler–Maclaurin formula.
    """
    if not is_long(mp, last - first + 1):
        return mp.fsum(f(t) for t in range(first, last + 1))
    start = first + (few := _direct_terms(mp))
    total = mp.fsum(f(t) for t in range(first, start)) + f(start) / 2
    panels, done = _initial_panels(mp, start, last), list[tuple[int, int]]()
    tolerance = mp.mpf(10) ** (10 - mp.dps)
    left, values, before = panels[::-1], few, None  # before: the panel that ends where the next one begins
    while left:
        a, b = left.pop()
        allowed = tolerance * total
        negligible = (most or f)(a) * (b - a) <= allowed * _NEGLIGIBLE
        values += 0 if negligible else min(b - a, _nodes(mp))
        if values > 20_000:  # they would take minutes
            raise TooRough("a sum of too many terms that change too much")
        if negligible or b - a <= few:
            part = mp.zero if negligible else mp.fsum(f(t) for t in range(a + 1, b)) + (f(a) + f(b)) / 2
            part, before = part + _at_end_of_run(mp, before, allowed), None
        else:
            panel = _panel(mp, f, a, b, tolerance, total)
            begun = panel and (mp.zero if before else _euler_maclaurin(mp, panel, -1, allowed))
            if panel is None or begun is None:
                doublings = (b // a).bit_length() - 1
                middle = a << max(1, doublings // 2) if b > 2 * a else (a + b) // 2
                left += [(middle, b), (a, middle)]
                continue
            part, before = panel.integral - begun, panel
        total += part
        done.append((a, b))
    panels[:] = done
    return total + _at_end_of_run(mp, before, tolerance * total) + f(last) / 2


@cached_by_precision()
def _initial_panels(mp: Any, start: int, last: int) -> list[tuple[int, int]]:
    """The panels of the last sum over the same terms, which `smooth_sum` writes into this cached list: another
    function, as at the next ε, is likely to change on the same scale. At first, each panel covers twice as many
    doublings of t as the one before, up to 8."""
    found, a, doublings = list[tuple[int, int]](), start, 1
    while a < last:
        b = min(a << doublings, last)
        found.append((a, b))
        a, doublings = b, min(2 * doublings, 8)
    return found


class _Panel(NamedTuple):
    """f(t)·t as the polynomial Σ c_m T_m in log t between two ends; its integral over log t is that of f over t."""

    ends: dict[int, int]  # −1: the first term, +1: the last one
    half: Any  # half the length of the panel in log t
    unit: Any  # the value of 1 in `terms`
    terms: list[int]  # c_m in fixed-point arithmetic
    integral: Any


def _panel(mp: Any, f: Callable[[Any], Any], first: int, last: int, tolerance: Any, total: Any) -> _Panel | None:
    """The polynomial on a panel; None if its last coefficients are not small enough. Coefficients are multiples of
    2^−precision of the largest value."""
    prec, doublings = mp.prec, (last // first).bit_length() - 1
    half, powers = _powers(mp, _nodes(mp), 1 << doublings if last == first << doublings else mp.mpf(last) / first)
    middle = mp.sqrt(mp.mpf(first) * last)
    values = [f(middle * x) * x for x in powers]
    size = mp.mag(max(values)) if any(values) else 0
    terms = _coefficients(mp, [mp.to_fixed(value, prec - size) for value in values])
    unit = mp.ldexp(middle, size - prec)
    integral = 2 * half * unit * sum(c // (1 - m * m) for m, c in enumerate(terms) if m % 2 == 0)
    if 2 * half * unit * max(map(abs, terms[-4:])) > tolerance * max(abs(integral), total):
        return None
    return _Panel({-1: first, +1: last}, half, unit, terms, integral)


@cached_by_precision(32)
def _powers(mp: Any, nodes: int, ratio: Any) -> tuple[Any, list[Any]]:
    """Half the logarithm of the ratio of a panel's ends, and its points relative to its (geometric) middle."""
    with mp.workprec(mp.prec + 16):
        half = mp.log(ratio) / 2
        return half, [mp.exp(half * mp.cospi(mp.mpf(2 * k + 1) / (2 * nodes))) for k in range(nodes)]


def _coefficients(mp: Any, values: list[int]) -> list[int]:
    """The coefficients of the Chebyshev polynomials T_m, from the values at cos(π(2k+1)/(2K))."""
    nodes, mirrored = len(values), values[::-1]
    both = list(map(add, values, mirrored)), list(map(sub, values, mirrored))
    found = [sum(map(mul, both[m % 2], row)) // nodes >> mp.prec - 1 for m, row in enumerate(_rows(mp, nodes))]
    return [found[0] // 2, *found[1:]]


@cached_by_precision()
def _rows(mp: Any, nodes: int) -> list[list[int]]:
    """cos(mπ(2k+1)/(2K)) for k < K/2, for every m; half of it at the middle point, which is its own mirror image."""
    cosines = [mp.to_fixed(mp.cospi(mp.mpf(j) / (2 * nodes)), mp.prec) for j in range(4 * nodes)]
    rows = [[cosines[m * (2 * k + 1) % (4 * nodes)] for k in range((nodes + 1) // 2)] for m in range(nodes)]
    for row in rows if nodes % 2 else ():
        row[-1] //= 2
    return rows


def _derivatives(mp: Any, panel: _Panel, side: int) -> Iterator[Any]:
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


def _euler_maclaurin(mp: Any, panel: _Panel, side: int, allowed: Any) -> Any | None:
    """Σ_k B_{2k}/(2k)!·f^(2k−1) at an end, until the terms are negligible; None if they never are."""
    total, last = mp.zero, None
    for r, derivative in enumerate(_derivatives(mp, panel, side)):
        if r % 2:
            term = _bernoulli(mp, (r + 1) // 2) * derivative
            total += term
            if last is not None and max(abs(term), last) <= allowed * _NEGLIGIBLE:
                return total
            last = abs(term)
    return None


def _at_end_of_run(mp: Any, panel: _Panel | None, allowed: Any) -> Any:
    """The sum of `_euler_maclaurin` at the last term of a panel that no other one follows; 0 without a panel."""
    found = _euler_maclaurin(mp, panel, +1, allowed) if panel else mp.zero
    if found is None:
        raise TooRough("a sum whose last terms change too much")
    return found


@cached_by_precision(1000)
def _bernoulli(mp: Any, k: int) -> Any:
    """B_{2k}/(2k)!."""
    return mp.bernoulli(2 * k) / mp.factorial(2 * k)
