"""The hockey-stick divergence θ(ε, r) of N(r,1) from N(0,1) in ball arithmetic.

The printed form Q(a) − e^ε Q(b) with a = ε/r − r/2 and b = a + r is used with as many extra bits as cancel, up to
a = 40. Further out a series takes its place: θ = φ(a)∫_a^b (1 − xR(x)) dx, R Mills' ratio, and
1 − xR(x) = Σ_{m>=1} (−1)^{m+1}(2m−1)!!/x^{2m}, whose partial sums enclose it.

Both aim at a relative accuracy of half the bits of the arithmetic and some more: 2^−64 of 128 bits is far less than a
claim in doubles needs, and a claim that needs more is tried at a higher precision.
"""

from math import log2
from typing import Any


def theta_or_none(mp: Any, e: Any, r: Any) -> Any:
    """Return θ(ε, r) as a ball, or None where only the printed form applies (an ε or r that is not surely positive)."""
    if e.x == 0 and r.x != 0:
        return mp.erf(r / mp.sqrt(mp.mpf(8)))
    if not (e.x > 0 and r.x > 0 and e.x.is_finite() and r.x.is_finite()):
        return None
    a = e.x / r.x - r.x / 2
    # From a = 40 on, 20 terms of the series give a relative accuracy of 1e-36.
    return _by_series(mp, e.x, r.x) if a > 40 else mp.mpf(_by_printed_form(mp, e.x, r.x, a))


def _by_printed_form(mp: Any, e: Any, r: Any, a: Any) -> Any:
    """Evaluate Q(a) − e^ε Q(b) with as many additional bits as cancel."""
    precision, size = mp.prec, log2(abs(float(a)) + 1)
    mp.prec = precision // 2 + 60 + int(2 * abs(_approximate_log2(r)) + 3 * size)
    try:
        root = mp.arb(2).sqrt()
        quotient, half = e / r, r / 2
        theta = (((quotient - half) / root).erfc() - e.exp() * ((quotient + half) / root).erfc()) / 2
    finally:
        mp.prec = precision
    return +theta


def _approximate_log2(x: Any) -> float:
    """About log₂ of the midpoint, which may be beyond the range of doubles."""
    mantissa, exponent = x.mid().man_exp()
    return log2(abs(int(mantissa))) + int(exponent)


def _by_series(mp: Any, e: Any, r: Any) -> Any:
    a = e / r - r / 2
    t = -r / (a + r)  # 1 + t = a/b
    square, twice = a * a, t * (2 + t)
    total, previous, size, power = mp.arb(0), mp.arb(0), a, t  # power: (1 + t)^{2m−1} − 1
    negligible = mp.arb(2) ** -(mp.prec // 2 + 20)
    for m in range(1, 21):
        size = size * (2 * m - 3 if m > 1 else 1) / square
        term = -size * power
        previous, total = total, total + term if m % 2 else total - term
        if abs(term) < abs(total) * negligible:
            break
        power = power * (1 + twice) + twice
    return mp.mpf(previous.union(total)) * mp.npdf(mp.mpf(a))
