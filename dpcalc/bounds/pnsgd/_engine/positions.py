"""The record m steps before the end: its Gaussian-DP parameter, and averages over m = 0..n−1.

After the record, m more steps with Lipschitz constant c carry its shift of 2ηL through fresh noise ησ each: by the
shift lemma (Feldman et al. 2018) the last iterate is μ_m-GDP with μ_m = (2L/σ)·√share(m), share(m) = c^{2m}/Σ_{k<=m}
c^{2k}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, pairwise
from math import exp, expm1, fsum, inf, log
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_EXPONENT, LEAST_RATIO
from dpcalc.numerics.root import Never, Unreachable, boundary, bracket
from dpcalc.numerics.rounding import up

# A block of a sum over positions holds at most 1/FINE of the positions before it, or 1/COARSE for an estimate. A sum by
# first terms alone is at most 1/FINE too large, one by chords much less; its cost is proportional to FINE.
FINE, COARSE = 64, 4
# A computed θ may be too large by rounding; the true one is at least this part of it.
CERTAIN_PART = 1 - 1e-11
# Relative; of the terms that decide whether θ is convex or concave over a block. The rounding of ratios, at most 1e-11,
# is much less.
CURVATURE_MARGIN = 1e-6


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

    def log_convexity_many(self, m: Any) -> Any:
        """The same of an array."""
        from numpy import exp, minimum

        return 2 * exp(minimum(2 * (m + 1.0) * self.log_c, -LEAST_EXPONENT))


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

    def log_convexity_many(self, m: Any) -> Any:
        """The same of an array."""
        return 0.0 * m


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


@lru_cache(maxsize=16)
def starts(n: int, fine: int = FINE, alone: int = 0) -> list[int]:
    """The first positions of blocks of 0..n−1, which hold at most 1/fine of the positions before them.

    Before `alone` all blocks are single positions.
    """
    found, m = [], 0
    while m < n:
        found.append(m)
        m += 1 + (m // fine if m >= alone else 0)
    return found


@lru_cache(maxsize=16)
def average_nodes(n: int, fine: int) -> list[int]:
    """The positions at which θ is evaluated for its average: the first ones, the starts of blocks, and n − 1."""
    found = starts(n, fine, min(FINE, 4 * fine))
    return found if found[-1] == n - 1 else [*found, n - 1]


def block_fineness(epsilon: float, ratio: Ratio, n: int) -> int:
    """The fineness of the blocks of an average: 16 where chords are as accurate as with FINE, else FINE.

    It is 16 where ε is not large and r is about a power of m, so that θ is smooth in log m: chords are less than .5 %
    above θ there, as the statements of the bounds say.
    """
    return 16 if epsilon <= 15 and -n * ratio.log_c <= 0.25 else FINE


def average_theta(epsilon: float, ratio: Ratio, n: int, fine: int | None = None) -> float:
    """log of (1/n)Σ_{m<n} θ(ε, r_m), rounded up, for r_m that falls in m; exact up to rounding for n <= 64.

    Blocks are bounded by chords where θ is convex or concave (`curvatures`), else by their first terms. By first terms
    alone, as blocks grow by 1/fine, the excess would be Σ_j f_j (s_j − s_{j−1}) <= (1/fine) Σ_j f_j s_{j−1}. All
    positions from where less than 1e-13 of the sum is left are one block.
    """
    at = average_nodes(n, fine or block_fineness(epsilon, ratio, n))
    log_theta = cache(lambda r: log_gaussian(epsilon, r))
    first = log_theta(ratio(0))
    if first == -inf:
        return -inf
    heights, total = [1.0], 1.0
    for m, end in pairwise(at):
        heights.append(exp(max(log_theta(ratio(end)) - first, LEAST_EXPONENT)))
        if (n - end) * heights[-1] < 1e-13 * total:
            break
        total += (end - m) * heights[-1]
    sums = fsum(block_sums(heights, at, n, curvatures(epsilon, ratio, at)))
    # Both logarithms are at most about log n.
    rounding = 1e-15 * (1 + log(n)) if n > 1 else 0.0
    return min(first, up(first + log(sums) - log(n), 4e-16) + rounding)


def block_sums(values: Sequence[Any], at: Sequence[int], n: int, signs: Iterable[int],
               certain: float = CERTAIN_PART) -> list[Any]:
    """Upper bounds on Σ f over the blocks that begin at the positions `at`, of a function f that falls.

    `values` are upper bounds on f there, at most 1/certain times too large; the last block extends to n. By the signs
    of f″, a convex f lies below its chords and a concave one below the chord of the block before, prolonged.
    """
    sums = []
    for j, (here, sign) in enumerate(zip(values, chain(islice(signs, len(values) - 1), (0,)), strict=True)):
        length = (at[j + 1] if j + 1 < len(values) else n) - at[j]
        if sign > 0:
            sums.append((here * (length + 1) + values[j + 1] * (length - 1)) / 2)
        elif sign < 0:
            drop = values[j - 1] * certain - here
            drop = max(drop, 0.0) if certain < 1 else drop
            sums.append(here * length - drop * (length * (length - 1)) / (2 * (at[j] - at[j - 1])))
        else:
            sums.append(here * length)
    return sums


def curvatures(epsilon: float, ratio: Ratio, at: Sequence[int]) -> Iterator[int]:
    """The sign of the curvature of m → θ(ε, r_m) over every block between nodes.

    1 where it is surely convex over the block, −1 where it is surely concave over it and the one before, 0 where
    neither is sure or the block is a single position.

    With a = ε/r − r/2, b = a + r and ℓ = log r_m, as ∂θ/∂r = φ(a), θ″ = φ(a)·r·(ℓ′²(1 + ab) + ℓ″), ℓ″ >= 0. ab = ε²/r²
    − r²/4 rises in m: once it is above −1, θ is convex from there on. ℓ″/ℓ′² is monotone in m. ∎
    """
    @cache
    def node(m: int) -> tuple[float, float, float]:
        """1 + ab, a bound on its rounding, and ℓ″/ℓ′²."""
        r = ratio(m)
        return *one_plus_ab(epsilon / r if r else inf, r / 2), ratio.log_convexity(m)

    is_convex = False
    for j, (a, b) in enumerate(pairwise(at)):
        if is_convex or b == a + 1:
            yield int(b > a + 1)
            continue
        first, error, convexity = node(a)
        is_convex = first >= error
        last, last_error, last_convexity = node(b)
        if is_convex or first + min(convexity, last_convexity) >= error:
            yield 1
        elif j and last + max(ratio.log_convexity(at[j - 1]), last_convexity) * (1 + CURVATURE_MARGIN) <= -last_error:
            yield -1
        else:
            yield 0


def one_plus_ab(x: Any, y: Any) -> tuple[Any, Any]:
    """1 + ab = 1 + x² − y² at x = ε/r and y = r/2, and a bound on its rounding error; for numbers or arrays."""
    return 1 + x * x - y * y, CURVATURE_MARGIN * (1 + x * x + y * y)


def average_exact(mp: Any, epsilon: float, exactly: Callable[[int], Any], ratio: Ratio, n: int,
                  fine: int | None = None) -> Any:
    """(1/n)Σ_m θ(ε, r_m) in the blocks of `average_theta`, at high precision; `exactly` is m → r_m there.

    Terms that change no digit are left out, except in ball arithmetic. Where θ is convex or concave is decided by
    `ratio`, in doubles with a margin.
    """
    near = float(epsilon)
    at = average_nodes(n, fine or block_fineness(near, ratio, n))
    has_balls, negligible = hasattr(mp, "between"), mp.mpf(10) ** -(2 * mp.dps)
    r = exactly(0)
    values = [theta(mp, epsilon, r)]
    for k, m in enumerate(at[1:], 1):
        last, r = r, exactly(m)
        values.append(theta(mp, epsilon, r) if has_balls or r != last else values[-1])
        if not has_balls and k % 8 == 0 and (n - m) * values[-1] <= negligible * values[0]:
            break
    return mp.fsum(block_sums(values, at, n, curvatures(near, ratio, at), certain=1)) / n


def invert_average(log_delta: float, ratio: Ratio, n: int) -> float:
    """The least ε with average_theta(ε, …) <= log δ, never less."""
    return invert(lambda e, fine: average_theta(e, ratio, n, fine if fine < FINE else None), log_delta)


def invert(log_delta_at: Callable[[float, int], float], log_delta: float) -> float:
    """An ε with log_delta_at(ε, FINE) <= log δ, at most 1e-10 relative above the least one.

    It begins from the root on coarse blocks, which cost a tenth. Raises Never where no ε reaches δ.
    """
    @cache
    def residual(epsilon: float) -> float:
        return log_delta_at(epsilon, FINE) - log_delta

    @cache
    def rough_residual(epsilon: float) -> float:
        return log_delta_at(epsilon, COARSE) - log_delta

    least, largest = 1e-300, 1e300
    if residual(0.0) <= 0:
        return 0.0
    try:
        start = boundary(rough_residual, *bracket(rough_residual, 1.0, +1, least, largest), 1e-3)
        return boundary(residual, *bracket(residual, start, +1, least, largest), 1e-10)
    except Unreachable as e:
        raise Never(e.at, e.gap) from None


def inverse_of(value: Callable[..., float], coarse: Callable[..., float]) -> Callable[..., float]:
    """The inverse of a profile `value`, log δ → ε, that begins from the root of a cheaper profile near it, `coarse`."""

    def inverse(log_delta: float, **p: Any) -> float:
        return invert(lambda epsilon, fine: (coarse if fine < FINE else value)(epsilon, **p), log_delta)

    return inverse
