"""The difference D* of likelihood ratios of a step (dpcalc/pld/swapped_record.py) at high precision."""

from __future__ import annotations

from typing import Any


def tail(mp: Any, direction: int, gamma: Any, m: Any, k: Any) -> Any:
    """P(D* > k), D* in the direction 1 (record against none), −1 (none against record) or 0 (replaced)."""
    if k < 0:  # −D* is γ times the D* of the opposite direction at 1/γ
        return 1 - tail(mp, -direction, 1 / gamma, m, -k / gamma)
    if direction == 1:
        top = gamma * mp.exp(m * m / 2)
        return mp.ncdf(-m - mp.log((top + mp.sqrt(top * top + 4 * k)) / 2) / m)
    distance = m if direction else 2 * m
    return mp.ncdf(-distance / 2 - mp.log(gamma + k) / distance)


def call(mp: Any, direction: int, gamma: Any, m: Any, k: Any) -> Any:
    """E(D* − k)₊, k >= 0, by the formula."""
    if direction == 1:
        top = gamma * mp.exp(m * m / 2)
        z = mp.log((top + mp.sqrt(top * top + 4 * k)) / 2) / m
        return mp.ncdf(m - z) - gamma * mp.ncdf(-z) - k * mp.ncdf(-m - z)
    distance, level = m if direction else 2 * m, mp.log(gamma + k)
    return mp.ncdf(distance / 2 - level / distance) - (gamma + k) * mp.ncdf(-distance / 2 - level / distance)


def mean_of_positive_part(mp: Any, direction: int, gamma: Any, m: Any, steps: int, c: Any) -> Any:
    """E(D*_1 + … − c)₊ of one or two independent copies, c >= 0.

    For two it is the integral of P(D > c − x) over the values x of the other one: of P(D > x)P(D > c − x) for x >= 0,
    minus that of P(D < x)P(D > c − x) for x < 0, plus E(D − c)₊."""

    def above(x: Any) -> Any:
        return tail(mp, direction, gamma, m, x)

    if steps == 1:
        return call(mp, direction, gamma, m, c)
    ends = [-80, -20, -5, 0, 2, 5, 10, 20, 40]  # of log x, far beyond all values of weight
    inside = mp.quad(lambda x: above(c - x) * above(x), [0, c / 2, c]) if c > 0 else mp.mpf(0)
    far = mp.quad(lambda s: above(-mp.exp(s)) * above(c + mp.exp(s)) * mp.exp(s), ends)
    lost = mp.quad(lambda s: above(c + mp.exp(s)) * (1 - above(-mp.exp(s))) * mp.exp(s), ends)
    return call(mp, direction, gamma, m, c) + inside + far - lost
