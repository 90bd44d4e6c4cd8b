"""The record at distance m from the end: its Gaussian-DP parameter, and averages over m = 0..n−1.

After the record, m more steps with Lipschitz constant c carry its shift of 2ηL through fresh noise ησ each: by the
shift lemma (Feldman et al. 2018) the last iterate is μ_m-GDP with μ_m = (2L/σ)·√share(m), share(m) = c^{2m}/Σ_{k<=m}
c^{2k}. """

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, pairwise
from math import exp, expm1, fsum, inf, log
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_RATIO, NEARLY_NONE
from dpcalc.numerics.root import Never, Unreachable, boundary, bracket
from dpcalc.numerics.rounding import up

FINE, COARSE = 64, 4  # blocks of the average hold at most this part of the positions before them
_ALONE = 4  # times that, the positions that are looked at one by one; at most FINE
_GENTLY, _SMALL = 16, 15.0  # how fine blocks of θ are where it changes gently; an ε up to which it may
_STEEPLY = 0.25  # of log c^n: more than it falls gently
LOWEST = -745.0  # of a logarithm in units of the largest term; rounded up to it
# part of a value that the true one is not below; far more than ratios are rounded by, relative
SURELY, UNSURE = 1 - 1e-11, 1e-6
_COARSER = 0.3  # log of how far a coarse average may lie above a fine one: blocks of a quarter
_APART = 1.01  # two ε for a slope
_LOOKS = 8  # blocks: whether those that are left still count is asked so often
_LEAST = 1e-300  # ε > 0 that is looked for


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
    """first·√e^{log_square}, rounded up; never below 1e-300 but for an exact 0."""
    if log_square == -inf:
        return 0.0
    half = max(log_square / 2, NEARLY_NONE)
    # what underflows alone may not times `first`
    factor = first * exp(half) if half > -690 else first * exp(half / 2) * exp(half / 2)
    return max(LEAST_RATIO, up(factor, 1e-15 * (2 + abs(half))))


class Shares(NamedTuple):
    """m → first·√share(m), from above: a record's μ, of a whole number m or of an array of them."""

    first: float
    log_c: float

    def __call__(self, m: int) -> float:
        return scaled(self.first, log_share(self.log_c, m))

    def many(self, m: Any) -> Any:
        from dpcalc.bounds.pnsgd._engine.shares_array import log_shares, scaled_many

        return scaled_many(self.first, log_shares(self.log_c, m))

    def bend(self, m: int) -> float:
        """ℓ″/ℓ′² of ℓ = log ratio: 2c^{2(m+1)}."""
        return 2 * exp(min(2 * (m + 1) * self.log_c, 700.0)) if self.log_c else 2.0

    def bends(self, m: Any) -> Any:
        from numpy import exp, minimum

        return 2 * exp(minimum(2 * (m + 1.0) * self.log_c, 700.0))


class Powers(NamedTuple):
    """m → first·c^m in the same way."""

    first: float
    log_c: float

    def __call__(self, m: int) -> float:
        return scaled(self.first, 2 * m * self.log_c if m else 0.0)

    def many(self, m: Any) -> Any:
        from numpy import maximum, where

        from dpcalc.bounds.pnsgd._engine.shares_array import scaled_many

        return scaled_many(self.first, where(m > 0, 2 * maximum(m, 1) * self.log_c, 0.0))

    def bend(self, m: int) -> float:
        """The same: ℓ is a line."""
        return 0.0

    def bends(self, m: Any) -> Any:
        return 0.0 * m


Ratio = Shares | Powers


def share_exact(mp: Any, c: Any, m: int) -> Any:
    """c^{2m}/Σ_{k<=m} c^{2k}: the sum as it stands, or in closed form where it is long."""
    if c == 1:
        return mp.mpf(1) / (m + 1)
    if m < 40:
        return c ** (2 * m) / mp.fsum(c ** (2 * k) for k in range(m + 1))
    each = c * c
    power = each**m
    return power * (1 - each) / (1 - power * each)


@lru_cache(maxsize=16)
def starts(n: int, fine: int = FINE, alone: int = 0) -> list[int]:
    """First position of every block of 0..n−1; blocks are at most 1/fine of their start, and single positions before
    `alone`."""
    found, m = [], 0
    while m < n:
        found.append(m)
        m += 1 + (m // fine if m >= alone else 0)
    return found


@lru_cache(maxsize=16)
def heads(n: int, fine: int) -> list[int]:
    """The same, the first ones alone, and n − 1: where θ is looked at for an average of it."""
    found = starts(n, fine, min(FINE, _ALONE * fine))
    return found if found[-1] == n - 1 else [*found, n - 1]


def suited(epsilon: float, ratio: Ratio, n: int) -> int:
    """How fine blocks are to be: θ falls gently in log m where ε is not large, and the ratio about as a power of m;
    chords leave a square of it then."""
    return _GENTLY if epsilon <= _SMALL and -n * ratio.log_c <= _STEEPLY else FINE


def average_theta(epsilon: float, ratio: Ratio, n: int, fine: int | None = None) -> float:
    """log of (1/n)Σ_m θ(ε, r_m), for r_m decreasing in m, to a limit perhaps: equal ones are looked up. From above,
    exact for n <= 64.

    Blocks are taken by chords where θ is convex or concave (bows), else by their first terms. By first terms alone, as
    they grow by 1/fine, the excess would be Σ_j f_j (s_j − s_{j−1}) <= (1/fine) Σ_j f_j s_{j−1}. What is left is closed
    by one block once it is below 1e-13 of the sum. """
    at, theta = heads(n, fine or suited(epsilon, ratio, n)), cache(lambda r: log_gaussian(epsilon, r))
    first = theta(ratio(0))
    if first == -inf:
        return -inf
    heights, total = [1.0], 1.0
    for m, end in pairwise(at):
        heights.append(exp(max(theta(ratio(end)) - first, LOWEST)))
        if (n - end) * heights[-1] < 1e-13 * total:
            break
        total += (end - m) * heights[-1]
    return log_mean(first, block_sums(heights, at, n, bows(epsilon, ratio, at)), n)


def log_mean(first: float, sums: list[float], n: int) -> float:
    """log of (1/n)Σ, from above, of sums in units of e^first, which is the largest term."""
    return min(first, up(first + log(fsum(sums)) - log(n), 4e-16) + (rounding(n) if n > 1 else 0.0))


def rounding(n: int) -> float:
    """Of log(Σ length·e^{f − first}) − log n: both logarithms are up to log n, the mean of |f − first| about log n at
    most."""
    return 1e-15 * (1 + log(n))


def block_sums(values: Sequence[Any], at: Sequence[int], n: int, bows: Iterable[int],
               surely: float = SURELY) -> list[Any]:
    """Not less than Σ f over each block of 0..n−1 of a falling f, from bounds on its values at the first positions,
    which f is at least `surely` times; the last one holds on to n. A convex f lies below its chords, a concave one
    below that of the block before, prolonged: `bows` say which it is."""
    found = []
    for j, (here, bow) in enumerate(zip(values, chain(islice(bows, len(values) - 1), (0,)), strict=True)):
        length = (at[j + 1] if j + 1 < len(values) else n) - at[j]
        if bow > 0:
            found.append((here * (length + 1) + values[j + 1] * (length - 1)) / 2)
        elif bow < 0:
            drop = values[j - 1] * surely - here
            drop = max(drop, 0.0) if surely < 1 else drop
            found.append(here * length - drop * (length * (length - 1)) / (2 * (at[j] - at[j - 1])))
        else:
            found.append(here * length)
    return found


def bows(epsilon: float, ratio: Ratio, at: Sequence[int]) -> Iterator[int]:
    """For every block between nodes: 1 where m → θ(ε, r_m) is surely convex over it, −1 where it is concave over it and
    the one before, 0 where neither is sure, or it is a single position.

    With a = ε/r − r/2, b = a + r and ℓ = log r_m, as ∂θ/∂r = φ(a), θ″ = φ(a)·r·(ℓ′²(1 + ab) + ℓ″), ℓ″ >= 0. ab = ε²/r²
    − r²/4 rises in m: once it is above −1, θ is convex from there on. ∎ """
    sure, start = False, None
    for j, (a, b) in enumerate(pairwise(at)):
        if sure or b == a + 1:
            yield int(b > a + 1)
            start = None
            continue
        turn, error, bend = start or _bent(epsilon, ratio, a)
        if sure := turn >= error:
            yield 1
            continue
        start = later, unsure, last = _bent(epsilon, ratio, b)  # ℓ″/ℓ′² rises or falls all the way
        if turn + min(bend, last) >= error:
            yield 1
        else:
            yield -1 if j and later + max(ratio.bend(at[j - 1]), last) * (1 + UNSURE) <= -unsure else 0


def _bent(epsilon: float, ratio: Ratio, m: int) -> tuple[float, float, float]:
    """1 + ab, more than what rounding does to it, and ℓ″/ℓ′²."""
    r = ratio(m)
    return *turn_at(epsilon / r if r else inf, r / 2), ratio.bend(m)


def turn_at(x: Any, y: Any) -> tuple[Any, Any]:
    """1 + ab at x = ε/r and y = r/2, and more than what rounding does to it; of arrays, too."""
    return 1 + x * x - y * y, UNSURE * (1 + x * x + y * y)


def average_exact(mp: Any, epsilon: float, exactly: Callable[[int], Any], ratio: Ratio, n: int,
                  fine: int | None = None) -> Any:
    """(1/n)Σ_m θ(ε, r_m) in the same blocks at high precision; without what shows in no digit, but in ball arithmetic.
    The same bows are taken, by `ratio` in doubles: these are sure."""
    near = float(epsilon)
    at, balls, nothing = heads(n, fine or suited(near, ratio, n)), hasattr(mp, "between"), mp.mpf(10) ** -(2 * mp.dps)
    r = exactly(0)
    values = [theta(mp, epsilon, r)]
    for k, m in enumerate(at[1:], 1):
        last, r = r, exactly(m)
        values.append(theta(mp, epsilon, r) if balls or r != last else values[-1])
        if not balls and k % _LOOKS == 0 and (n - m) * values[-1] <= nothing * values[0]:
            break
    return mp.fsum(block_sums(values, at, n, bows(near, ratio, at), surely=1)) / n


def invert_average(log_delta: float, ratio: Ratio, n: int) -> float:
    """The ε at which `average_theta` is log δ, safe."""
    return invert(lambda e, fine: average_theta(e, ratio, n, fine if fine < FINE else None), log_delta)


def invert(log_at: Callable[[float, int], float], log_delta: float) -> float:
    """An ε with log_at(ε, FINE) <= log δ, the least one to 1e-10; sought on coarse blocks first, which cost a tenth.
    Raises Never."""

    @cache
    def gap(epsilon: float) -> float:
        return log_at(epsilon, FINE) - log_delta

    @cache
    def rough(epsilon: float) -> float:
        return log_at(epsilon, COARSE) - log_delta

    if rough(0.0) <= 0 or (rough(0.0) <= _COARSER and gap(0.0) <= 0):
        return 0.0
    try:
        meets, fails = bracket(rough, 1.0, +1, _LEAST, 1e300)
        start = boundary(rough, meets, fails, 1e-3)
        # of log δ as log ε grows, about that of the fine sum
        fall = (rough(start) - rough(start * _APART)) / log(_APART)
        return invert_near(gap, start, fall)
    except Unreachable as e:
        raise Never(e.at, e.gap) from None


def inverse_of(value: Callable[..., float], coarse: Callable[..., float]) -> Callable[..., float]:
    """The ε at which a profile, that has a form on coarse blocks too, is log δ, safe."""

    def inverse(log_delta: float, **p: Any) -> float:
        return invert(lambda epsilon, fine: (coarse if fine < FINE else value)(epsilon, **p), log_delta)

    return inverse


def invert_near(gap: Callable[[float], float], start: float, fall: float, rtol: float = 1e-10,
                slack: float = 1e-11) -> float:
    """An ε with gap(ε) <= 0, the least one to `rtol`, or to `slack` by its gap: from one near it, and about how much
    the gap falls as log ε grows. Raises Unreachable."""
    slack *= min(1.0, max(fall, 0.0))
    # beyond the boundary, where the slope is as told
    step = min(max(2 * abs(gap(start)) / fall, rtol), 1.0) if fall > 0 else 1.0
    meets, fails = bracket(gap, start, +1, _LEAST, 1e300, step)
    found = boundary(gap, meets, fails, rtol, slack)
    return 0.0 if found <= _LEAST and gap(0.0) <= 0 else found
