"""θ(ε, r) in ball arithmetic where its two tails agree to very many digits, or lie very far out.

With a = ε/r − r/2, b = a + r: θ = φ(a)∫_a^b (1 − xR(x)) dx, R the ratio of Mills, and 1 − xR(x) = Σ_{m>=1} (−1)^{m+1}(2m−1)!!/x^{2m}, whose
partial sums enclose it. θ increases in r, so that below 2^−2000 it is between 0 and its value there.
"""

from __future__ import annotations

from typing import Any

_FAR, _TERMS = 40, 20
_LEAST = -2000  # log2 of a ratio


def far(mp: Any, e: Any, r: Any) -> Any:
    """θ(ε, r), or None where the printed form is good."""
    if e.x == 0 and r.x != 0:
        return mp.erf(r / mp.sqrt(mp.mpf(8)))
    if e.x > 0 and r.x > 0 and r.x < mp.arb(2) ** _LEAST:
        return mp.between(0, _series(mp, e, mp.mpf(2) ** _LEAST))
    if not (r.x > 0 and e.x / r.x - r.x / 2 > _FAR):
        return None
    return _series(mp, e, r)


def _series(mp: Any, e: Any, r: Any) -> Any:
    a = e / r - r / 2
    grown, square = mp.log1p(r / a), a * a
    total, before, size = mp.mpf(0), mp.mpf(0), a
    for m in range(1, _TERMS + 1):
        size = size * (2 * m - 3 if m > 1 else 1) / square
        before, total = total, total - (-1) ** m * size * -mp.expm1(-(2 * m - 1) * grown)
    return mp.between(before, total) * mp.npdf(a)
