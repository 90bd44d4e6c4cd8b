"""θ(ε, r) in ball arithmetic, in bare numbers: as printed, or where its two tails agree to very many digits, or lie far
out, by a series.

With a = ε/r − r/2, b = a + r: θ = φ(a)∫_a^b (1 − xR(x)) dx, R the ratio of Mills, and 1 − xR(x) = Σ_{m>=1}
(−1)^{m+1}(2m−1)!!/x^{2m}, whose partial sums enclose it. """

from __future__ import annotations

from math import log2
from typing import Any

_FAR, _TERMS = 40, 20


def far(mp: Any, e: Any, r: Any) -> Any:
    """θ(ε, r) as a ball; None where that is left to the printed form."""
    if e.x == 0 and r.x != 0:
        return mp.erf(r / mp.sqrt(mp.mpf(8)))
    if not (e.x > 0 and r.x > 0 and e.x.is_finite() and r.x.is_finite()):
        return None
    a = e.x / r.x - r.x / 2
    return _series(mp, e.x, r.x) if a > _FAR else mp.mpf(_printed(mp, e.x, r.x, a))


def _printed(mp: Any, e: Any, r: Any, a: Any) -> Any:
    """Q(a) − e^ε Q(b), with the bits that cancel."""
    before, size = mp.prec, log2(abs(float(a)) + 1)
    mp.prec = before + 50 + int(2 * abs(_log2(r)) + 3 * size)
    try:
        root = mp.arb(2).sqrt()
        quotient, half = e / r, r / 2
        found = (((quotient - half) / root).erfc() - e.exp() * ((quotient + half) / root).erfc()) / 2
    finally:
        mp.prec = before
    return +found


def _log2(x: Any) -> float:
    """About, of a number of any size."""
    mantissa, exponent = x.mid().man_exp()
    return log2(abs(int(mantissa))) + int(exponent)


def _series(mp: Any, e: Any, r: Any) -> Any:
    a = e / r - r / 2
    fall = -r / (a + r)  # 1 + t = a/b
    square, both = a * a, fall * (2 + fall)
    total, before, size, power = mp.arb(0), mp.arb(0), a, fall  # power: (1 + t)^{2m−1} − 1
    for m in range(1, _TERMS + 1):
        size = size * (2 * m - 3 if m > 1 else 1) / square
        term = -size * power
        before, total = total, total + term if m % 2 else total - term
        if abs(term) * mp.arb(2) ** (mp.prec + 8) < abs(total):
            break
        power = power * (1 + both) + both
    return mp.mpf(before.union(total)) * mp.npdf(mp.mpf(a))
