"""The difference D* of likelihood ratios of a step (dpcalc/pld/swapped_record.py) at high precision."""

from __future__ import annotations

from typing import Any


def cdf(mp: Any, x: Any) -> Any:
    """Φ(x)."""
    return mp.erfc(-x / mp.sqrt(mp.mpf(2))) / 2


def above(mp: Any, direction: int, gamma: Any, m: Any, k: Any) -> Any:
    """P(D* > k), k >= 0, in the direction 1 (record against none), −1 (none against record) or 0 (replaced)."""
    if direction == 1:
        return cdf(mp, -m - _point(mp, gamma, m, k))
    distance = m if direction else 2 * m
    return cdf(mp, -distance / 2 - mp.log(gamma + k) / distance)


def below(mp: Any, direction: int, gamma: Any, m: Any, k: Any) -> Any:
    """P(D* < −k), k >= 0: −D* is γ times the D* of the opposite direction at 1/γ."""
    return above(mp, -direction, 1 / gamma, m, k / gamma)


def _point(mp: Any, gamma: Any, m: Any, k: Any) -> Any:
    """The z with e^{2mz} − γe^{mz + m²/2} = k."""
    top = gamma * mp.exp(m * m / 2)
    return mp.log((top + mp.sqrt(top * top + 4 * k)) / 2) / m


def call(mp: Any, direction: int, gamma: Any, m: Any, k: Any) -> Any:
    """E(D* − k)₊, k >= 0, by the formula."""
    if direction == 1:
        z = _point(mp, gamma, m, k)
        return cdf(mp, m - z) - gamma * cdf(mp, -z) - k * cdf(mp, -m - z)
    distance, level = m if direction else 2 * m, mp.log(gamma + k)
    return cdf(mp, distance / 2 - level / distance) - (gamma + k) * cdf(mp, -distance / 2 - level / distance)


def mean_of_positive_part(mp: Any, direction: int, gamma: Any, m: Any, steps: int, c: Any) -> Any:
    """E(D*_1 + … − c)₊ of one or two independent copies, c >= 0.

    For two it is E(D − c)₊ plus the integral of P(D > x)P(D > c − x) over x >= 0, minus that of P(D < x)P(D > c − x)
    over x < 0."""
    if steps == 1:
        return call(mp, direction, gamma, m, c)
    one = (mp, direction, gamma, m)
    ends = [-80, -20, -5, 0, 2, 5, 10, 20, 40]  # of log x, far beyond all values of weight
    inside = mp.quad(lambda x: above(*one, c - x) * above(*one, x), [0, c / 2, c])

    def outside(s: Any) -> Any:
        x = mp.exp(s)
        return x * above(*one, c + x) * (1 - 2 * below(*one, x))

    return call(mp, direction, gamma, m, c) + inside + mp.quad(outside, ends)
