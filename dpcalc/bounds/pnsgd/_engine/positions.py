"""Averages of θ(ε, r_m) over the positions m = 0..n−1 of a record, for an r_m that falls in m (shares.py)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, pairwise
from math import exp, fsum, inf, log
from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT, log_gaussian
from dpcalc.bounds.pnsgd._engine.shares import Ratio
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


def invert(log_delta_at: Callable[[float, int], float], log_delta: float, start: float | None = None) -> float:
    """An ε with log_delta_at(ε, FINE) <= log δ, at most 1e-10 relative above the least one.

    It begins at `start`, or from the root on coarse blocks, which cost a tenth. Raises Never where no ε reaches δ.
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
        start = start or boundary(rough_residual, *bracket(rough_residual, 1.0, +1, least, largest), 1e-3)
        return boundary(residual, *bracket(residual, start, +1, least, largest), 1e-10)
    except Unreachable as e:
        raise Never(e.at, e.gap) from None
