"""Means of differences of likelihood ratios of one or two batches at high precision: of the D* of a step
(dpcalc/pld/swapped_record.py), and of the run in shuffle_lower.py."""

from typing import Any, NamedTuple

_SMALLEST = -80  # of log x and log(1 − r): smaller x and 1 − r have no weight


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
    ends = [_SMALLEST, -20, -5, 0, 2, 5, 10, 20, 40]  # of log x, far beyond all values of weight
    inside = mp.quad(lambda x: above(*one, c - x) * above(*one, x), [0, c / 2, c])

    def outside(s: Any) -> Any:
        x = mp.exp(s)
        return x * above(*one, c + x) * (1 - 2 * below(*one, x))

    return call(mp, direction, gamma, m, c) + inside + mp.quad(outside, ends)


class Quadratic(NamedTuple):
    """V = au² − βu with u = e^{my}, y ~ N(−m, 1), in the direction of the record; in the other one it is −γ times V at
    1/γ.

    The mean of (V_1 + V_2 − c)₊ of two independent copies is the integral of P(V > x)P(V > c − x) over all x, in pieces
    that are analytic. The least value of V is −k, k = β²/4a. The two u with V = −k(1 − r²) are β(1 ± r)/2a."""

    mp: Any
    m: Any
    a: Any
    beta: Any

    @property
    def largest(self) -> Any:
        """k."""
        return self.beta * self.beta / (4 * self.a)

    def with_record(self, c: Any) -> Any:
        """E(V_1 + V_2 − c)₊, c >= 0."""
        mp, k = self.mp, self.largest

        def negative(s: Any) -> Any:
            """For V_1 = −k(1 − r²) and V_2 > c − V_1, at r = 1 − e^s."""
            low = mp.exp(s)
            return self._above(c + k * low * (2 - low)) * (1 - self._below(low)) * 2 * k * low * (1 - low)

        inside = mp.quad(lambda x: self._above(x) * self._above(c - x), [0, c / 2]) if c > 0 else 0
        return 2 * (inside + self._integral(negative, mp.mpf(0)) + self._call(c + k))

    def without_record(self, c: Any) -> Any:
        """E(−V_1 − V_2 − c)₊, c >= 0."""
        mp, k = self.mp, self.largest

        def both(s: Any) -> Any:
            """For −V_1 = k(1 − r²) < c/2 and −V_2 > c + V_1, at r = 1 − e^s."""
            low = mp.exp(s)
            other = mp.sqrt(1 - c / k + low * (2 - low))
            return self._below(low) * self._below(1 - other) * 2 * k * low * (1 - low)

        def beyond(r: Any) -> Any:
            """For −V_1 = k(1 − r²) > c/2 and −V_2 > c + V_1."""
            other = mp.sqrt(2 - c / k - r * r)
            return self._below(1 - r) * self._below(1 - other) * 2 * k * r

        def positive(s: Any) -> Any:
            """For −V_1 = k(1 − r²) > c and V_2 < −V_1 − c, at r = 1 − e^s."""
            low = mp.exp(s)
            rest = 1 - self._above(k * low * (2 - low) - c)
            return self._below(low) * rest * 2 * k * low * (1 - low)

        if c >= 2 * k:
            return mp.mpf(0)
        if c >= k:
            return 2 * mp.quad(beyond, [0, mp.sqrt(1 - c / (2 * k))])
        begin, middle = (mp.log(1 - mp.sqrt(1 - x / k)) if c > 0 else mp.mpf(_SMALLEST) for x in (c, c / 2))
        inside = self._integral(both, middle) if c > 0 else 0
        return 2 * (inside + mp.quad(positive, [begin * share / 8 for share in range(8, -1, -1)]))

    def _integral(self, f: Any, end: Any) -> Any:
        return self.mp.quad(f, [end + _SMALLEST * x for x in (1, 0.5, 0.25, 0.1, 0.05, 0.02, 0)])

    def _tail(self, u: Any) -> Any:
        """P(e^{my} > u)."""
        return cdf(self.mp, -self.m - self.mp.log(u) / self.m)

    def _root(self, x: Any) -> Any:
        """The u with V = x, x >= 0."""
        return (self.beta + self.mp.sqrt(self.beta * self.beta + 4 * self.a * x)) / (2 * self.a)

    def _above(self, x: Any) -> Any:
        """P(V > x), x >= 0."""
        return self._tail(self._root(x))

    def _below(self, low: Any) -> Any:
        """P(V < −k(1 − r²)) at low = 1 − r."""
        half = self.beta / (2 * self.a)
        return self._tail(half * low) - self._tail(half * (2 - low))

    def _call(self, x: Any) -> Any:
        """E(V − x)₊, x >= 0."""
        mp, m = self.mp, self.m
        z = mp.log(self._root(x)) / m
        return self.a * cdf(mp, m - z) - self.beta * mp.exp(-m * m / 2) * cdf(mp, -z) - x * cdf(mp, -m - z)
