"""The record m steps before the end: its Gaussian-DP parameter μ_m, relative to μ_0.

After the record, m more steps with Lipschitz constant c carry its shift of 2ηL through fresh noise ησ each: by the
shift lemma (Feldman et al. 2018) the last iterate is μ_m-GDP with μ_m = (2L/σ)·√share(m), share(m) = c^{2m}/Σ_{k<=m}
c^{2k}.
"""

from collections.abc import Callable
from math import exp, expm1, inf, log
from typing import Any, NamedTuple

from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT, LEAST_RATIO
from dpcalc.numerics.rounding import up


def log_share(log_c: float, m: float) -> float:
    """log of c^{2m}/Σ_{k=0}^m c^{2k}, for any c >= 0."""
    if m == 0:
        return 0.0
    if log_c == 0:
        return -log(m + 1)
    if log_c == -inf:
        return -inf
    if log_c < 0:
        return 2 * m * log_c + log(expm1(2 * log_c) / expm1(2 * (m + 1) * log_c))
    return log(expm1(-2 * log_c) / expm1(-2 * (m + 1) * log_c))


def scaled(first: float, log_square: float) -> float:
    """first·√e^{log_square}, rounded up; at least LEAST_RATIO except for an exact 0."""
    if log_square == -inf:
        return 0.0
    half = max(log_square / 2, 2 * LEAST_EXPONENT)
    # An exponential that underflows alone may not underflow times `first`.
    product = first * exp(half) if half > LEAST_EXPONENT else first * exp(half / 2) * exp(half / 2)
    return max(LEAST_RATIO, up(product, 1e-15 * (2 + abs(half))))


class Shares(NamedTuple):
    """The function m → r_m = first·√share(m), rounded up: a record's μ at position m."""

    first: float
    log_c: float

    def __call__(self, m: int) -> float:
        return scaled(self.first, log_share(self.log_c, m))

    def many(self, m: Any) -> Any:
        """The same of an array."""
        from dpcalc.bounds.pnsgd._engine.shares_array import log_shares, scaled_many

        return scaled_many(self.first, log_shares(self.log_c, m))

    def log_convexity(self, m: int) -> float:
        """ℓ″/ℓ′² of ℓ = log r at m, which is 2c^{2(m+1)}."""
        return 2 * exp(min(2 * (m + 1) * self.log_c, -LEAST_EXPONENT)) if self.log_c else 2.0

    def share(self, j: float) -> float:
        """share(m) at j = m + 1, which need not be whole; never below e^−700."""
        s = 2 * self.log_c
        if j <= 1 or s == 0:
            return 1 / max(j, 1.0)
        falling = expm1(-abs(s)) / expm1(-abs(s) * j)
        return falling if s > 0 else falling * exp(max(s * (j - 1), LEAST_EXPONENT))

    def log_share_slope(self, j: float) -> float:
        """The derivative of log share by j."""
        s = -2 * self.log_c
        if s == 0:
            return -1 / j
        return s / expm1(-s * j) if s * j > LEAST_EXPONENT and s < inf else 0.0

    @staticmethod
    def exact(mp: Any, first: Any, c: Any, m: int) -> Any:
        """r_m at high precision."""
        return first * mp.sqrt(share_exact(mp, c, m))

    @staticmethod
    def share_exact(mp: Any, c: Any) -> Callable[[Any], Any]:
        """`share` at high precision."""
        if c == 1:
            return lambda j: mp.mpf(1) / j
        if not c > 0:
            return lambda j: mp.mpf(j <= 1)
        s = 2 * mp.log(c)
        if c > 1:
            return lambda j: mp.expm1(-s) / mp.expm1(-s * j)
        return lambda j: mp.exp(s * (j - 1)) * mp.expm1(s) / mp.expm1(s * j)


class Powers(NamedTuple):
    """The function m → r_m = first·c^m, c <= 1, rounded up, with the methods of Shares."""

    first: float
    log_c: float

    def __call__(self, m: int) -> float:
        return scaled(self.first, 2 * m * self.log_c if m else 0.0)

    def many(self, m: Any) -> Any:
        """The same of an array."""
        from numpy import maximum, where

        from dpcalc.bounds.pnsgd._engine.shares_array import scaled_many

        return scaled_many(self.first, where(m > 0, 2 * maximum(m, 1) * self.log_c, 0.0))

    def log_convexity(self, m: int) -> float:
        """0, as log r is linear in m."""
        return 0.0

    def share(self, j: float) -> float:
        """(r_m/r_0)² at j = m + 1, which need not be whole; never below e^−700."""
        return exp(max(2 * (j - 1) * self.log_c, LEAST_EXPONENT)) if j > 1 else 1.0

    def log_share_slope(self, j: float) -> float:
        """The derivative of log share by j."""
        return 2 * self.log_c

    @staticmethod
    def exact(mp: Any, first: Any, c: Any, m: int) -> Any:
        """r_m at high precision."""
        return first * c**m

    @staticmethod
    def share_exact(mp: Any, c: Any) -> Callable[[Any], Any]:
        """`share` at high precision."""
        return lambda j: c ** (2 * (j - 1))


Ratio = Shares | Powers


def share_exact(mp: Any, c: Any, m: int) -> Any:
    """c^{2m}/Σ_{k<=m} c^{2k}: the sum as printed, or in closed form where it is long."""
    if c == 1:
        return mp.mpf(1) / (m + 1)
    if m < 40:
        return c ** (2 * m) / mp.fsum(c ** (2 * k) for k in range(m + 1))
    square = c * c
    power = square**m
    return power * (1 - square) / (1 - power * square)
