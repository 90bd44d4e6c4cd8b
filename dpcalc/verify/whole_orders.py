"""The Rényi bound of a sampled batch at whole orders up to 100,000 (wor-rdp): its sum, where it matters term by term,
else in blocks.

In a block a..b every factor of q^j C(α,j) e^{(j−1)ε(j)} min(2, (e^{ε(∞)}−1)^j) is at most its value at one end, or at
α/2 for the binomial coefficient: (j−1)ε(j) increases in j. So a block whose bound is nothing beside the other terms is
between 0 and that. """

from __future__ import annotations

from math import inf
from typing import Any

from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.verify.unchecked import Unchecked

_SHORT, _EDGE = 100, 24  # terms that are added as they are; summands at each end
_LONGEST = 25_000  # terms of a curve that is a list
_NEGLIGIBLE = 50.0  # of the log


def sampled(mp: Any, alpha: float, sampling_rate: float, base: Curve) -> Any:
    """ε′(α)."""
    order = int(alpha)
    if order <= _SHORT or base.orders or base.whole or not hasattr(mp, "between"):
        if order > _LONGEST:
            raise Unchecked(f"its published sum has {order} terms")
        return wor_rdp.exact(mp, alpha, sampling_rate, base)
    return min(mp.log1p(_Terms(mp, order, mp.mpf(sampling_rate), base).total()) / (order - 1), base.exact(mp, alpha))


def weighted(mp: Any, alpha: float, max_weight: float, base: Curve) -> Any:
    return sampled(mp, alpha, max_weight, base)


class _Terms:
    """Of the sum, without its 1."""

    def __init__(self, mp: Any, order: int, rate: Any, base: Curve) -> None:
        self.mp, self.order, self.base = mp, order, base
        self.log_rate, self.rate = mp.log(rate), rate
        self.all = mp.loggamma(mp.mpf(order + 1))
        self.gap = None if base.pure == inf else mp.expm1(mp.mpf(base.pure))

    def total(self) -> Any:
        mp, order = self.mp, self.order
        e2, least = self.base.exact(mp, 2), self._least(2)
        total = self.rate**2 * mp.mpf(order) * (order - 1) / 2 * min(4 * mp.expm1(e2), mp.exp(e2) * least)
        for j in (*range(3, _EDGE + 1), *range(order - _EDGE, order + 1)):
            total = total + self._most(j, j)
        blocks = [(_EDGE + 1, order - _EDGE - 1)]
        while blocks:
            a, b = blocks.pop()
            most = self._most(a, b)
            if a == b:
                total = total + most
            elif float(mp.log(most / total)) < -_NEGLIGIBLE:
                total = total + mp.between(0, most)
            else:
                middle = (a + b) // 2
                blocks += [(a, middle), (middle + 1, b)]
        return total

    def _most(self, a: int, b: int) -> Any:
        """Not less than the terms a..b; the term itself where they are one."""
        mp, k = self.mp, min(max(self.order // 2, a), b)
        ways = self.all - mp.loggamma(mp.mpf(k + 1)) - mp.loggamma(mp.mpf(self.order - k + 1))
        least = self._least(a) if a == b else self._least(a) + self._least(b)
        return (b - a + 1) * mp.exp(a * self.log_rate + ways + (b - 1) * self.base.exact(mp, b)) * least

    def _least(self, j: int) -> Any:
        """min(2, (e^{ε(∞)} − 1)^j)."""
        return self.mp.mpf(2) if self.gap is None else min(self.mp.mpf(2), self.gap**j)
