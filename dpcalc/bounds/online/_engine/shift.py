"""Shifts through noise of changing level: Σ c^{2(q−t)}σ_t² over the steps of an interval, from below.

To carry a shift of x to 0 over steps p+1..q, a_t at step t with Σ a_t c^{q−t} = x c^{q−p}, costs μ² = Σ(a_t/(ησ_t))²,
least where a_t ∝ c^{q−t}σ_t²: μ = (x/η)c^{q−p}/√(Σ c^{2(q−t)}σ_t²) (shift lemma, Feldman et al. 2018; Cauchy–Schwarz).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from math import exp, expm1, inf, log, sqrt
from typing import Any

from dpcalc.bounds.online._engine.levels import Levels, Listed, Schedule
from dpcalc.bounds.online._engine.sums import lower_sum
from dpcalc.bounds.pnsgd._engine.hybrid import Path
from dpcalc.bounds.pnsgd._engine.positions import log_share, scaled, share_exact
from dpcalc.bounds.pnsgd._engine.step import check_step_size, factor_exact, log_factor
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.mp.memo import kept
from dpcalc.numerics.mp.sums import is_long, smooth_sum
from dpcalc.numerics.rounding import up

FINE, COARSE = 512, 64
_ALONE = 0.01  # of the noise so far: with less of it in a block the difference of two sums has lost its digits
_FAR = 30.0  # of log c: a level that far back counts e^−60


def finite(n: float) -> int:
    if n == inf:
        raise OutOfScope("no-solution", "inf: its limit is δ = 0, which says nothing about a finite n", "--n")
    return int(n)


def carried(levels: Levels, log_c: float, ends: list[int], start: int) -> list[float]:
    """Σ_{t=start}^{q} c^{2(q−t)}σ_t² from below, for every q in ends (rising, the first is start)."""
    if isinstance(levels, Listed):
        from dpcalc.bounds.online import listed  # arrays: for lists only

        return listed.carried(levels, log_c, ends, start)
    square, scale, q, each = _squares(levels.shape), levels.half**2 * (1 - 1e-15), start, expm1(2 * log_c)
    found = [square(start) * scale]
    for end in ends[1:]:
        steps = end - q
        weight = float(steps) if log_c == 0 or steps == 1 else expm1(2 * steps * log_c) / each
        found.append((found[-1] * exp(max(2 * steps * log_c, -745.0)) + square(end) * scale * weight) * (1 - 4e-15))
        q = end
    return found


@lru_cache(maxsize=4)
def _squares(shape: Schedule) -> Callable[[float], float]:
    """t → σ_t², which every n and learning rate asks for again."""
    return cache(lambda t: shape.at(t) ** 2)


@lru_cache(maxsize=4)
def reaches(shape: Schedule) -> Callable[[float], float]:
    """t → MD/(ησ_t), which every ε asks for again."""
    return cache(shape.reach)


def record_ratio(levels: Levels, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
                 n: int,
                 index: int, fine: int = FINE) -> float:
    """μ of the record at `index` after step n, rounded up; for c < 1 by blocks of at most 1/fine of the steps before
    them. By less than FINE, near it."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_c = _floor(log_factor(learning_rate, strong_convexity))
    if log_c == 0 and not isinstance(levels, Listed):
        total = lower_sum(lambda t: levels.at(t) ** 2, index, n, levels.grow, rough=fine < FINE,
                          terms=levels.added(index, n))
    else:
        # what is before that is next to nothing
        start = index if log_c == 0 else max(index, n - int(_FAR / -log_c) - 1)
        total = carried(levels, log_c, ends(n - start, start, fine), start)[-1]
    return scaled(2 * lipschitz, 2 * (n - index) * log_c - log(total))


def _floor(log_c: float) -> float:
    """c = 0 and underflowing powers of c as a c that is too large: sound."""
    return max(log_c, -300.0)


def ends(later: int, index: int, fine: int) -> list[int]:
    """Steps index..index+later, in intervals of at most 1/fine of the steps before them (in t and after the record)."""
    found, m = [index], 0
    while m < later:
        m = min(later, m + 1 + m // fine)
        found.append(index + m)
    return found


@lru_cache(maxsize=4)
def path(levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, n: int,
         index: int, fine: int = 64) -> Path:
    """The path of the record at `index` to step n, in intervals of at most 1/fine of the steps before them."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_c = _floor(log_factor(learning_rate, strong_convexity))
    steps = ends(n - index, index, fine)
    sums = carried(levels, log_c, steps, index)
    first = up(diameter / learning_rate, 2e-16)
    nodes = [t - index for t in steps]

    def mu(j: int) -> float:
        return scaled(2 * lipschitz, 2 * nodes[j] * log_c - log(sums[j]))

    def kappa(p: int, j: int, block: int) -> float:
        if nodes[j] - nodes[p] == block:
            between = levels.at(steps[j]) ** 2 * (1
                                                  - 1e-15) if block == 1 else sums[j] - sums[p] * exp(max(2 * block
                                                                                                          * log_c,
                                                                                                          -745.0))
            between -= 0.0 if block == 1 else 2e-15 * sums[j]
            if between < _ALONE * sums[j] and block > 1:
                between = carried(levels, log_c, sorted({steps[p] + 1, *steps[p + 1 : j + 1]}), steps[p] + 1)[-1]
            return scaled(first, 2 * block * log_c - log(between))
        least = levels.least(steps[p] + 1, steps[j])
        return scaled(up(first / least, 4e-16), 2 * log_c + log_share(log_c, block - 1))

    def near(p: int, j: int, block: int) -> float:
        between = sums[j] - sums[p] * exp(max(2 * (nodes[j] - nodes[p]) * log_c, -745.0))
        share = block / (nodes[j] - nodes[p])
        return first * exp(max(block * log_c, -300.0)) / sqrt(between * share) if between > 0 else inf

    return Path(nodes, cache(mu), cache(kappa), near)


def sums_exact(mp: Any, levels: Levels, c: Any, first: int, last: int) -> Any:
    """Σ_{t=first}^{last} c^{2(last−t)}σ_t²; where there are many, from the end on that counts most."""
    if isinstance(levels, Listed) or not is_long(mp, last - first + 1):
        return mp.fsum(c ** (2 * (last - t)) * levels.exact(mp, t) ** 2 for t in range(first, last + 1))
    return _long_sum(mp, levels, c, first, last)


@kept(4)
def _long_sum(mp: Any, levels: Levels, c: Any, first: int, last: int) -> Any:
    """The same for every ε."""
    if c == 1:  # the later steps at the places where the product of B asks for them, too
        return levels.exact(mp, first) ** 2 + smooth_sum(mp, lambda t: levels.exact(mp, t) ** 2, first + 1, last)
    loudest = levels.exact(mp, first) ** 2
    return smooth_sum(mp, lambda s: c ** (2 * (s - 1)) * levels.exact(mp, last + 1 - s) ** 2, 1, last + 1 - first,
                      lambda s: c ** (2 * (s - 1)) * loudest)


def carried_exact(mp: Any, levels: Levels, c: Any, steps: list[int]) -> list[Any]:
    """`carried` at high precision: of a schedule from below, with the last noise of each block."""
    found = [levels.exact(mp, steps[0]) ** 2]
    for p, q in pairwise(steps):
        if isinstance(levels, Listed):
            total = found[-1]
            for t in range(p + 1, q + 1):
                total = total * c**2 + levels.exact(mp, t) ** 2
        else:
            weight = q - p if c == 1 else (1 - c ** (2 * (q - p))) / (1 - c * c)
            total = found[-1] * c ** (2 * (q - p)) + levels.exact(mp, q) ** 2 * weight
        found.append(total)
    return found


def path_exact(mp: Any, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
               strong_convexity: float, index: int,
               nodes: list[int]) -> tuple[Callable[[int], Any], Callable[[int, int, int], Any]]:
    """μ and κ of `path` at high precision."""
    c, first = factor_exact(mp, learning_rate, strong_convexity), mp.mpf(diameter) / mp.mpf(learning_rate)
    steps = [index + m for m in nodes]
    sums = carried_exact(mp, levels, c, steps)

    def mu(j: int) -> Any:
        return 2 * mp.mpf(lipschitz) * c ** nodes[j] / mp.sqrt(sums[j])

    def kappa(p: int, j: int, block: int) -> Any:
        if nodes[j] - nodes[p] != block or block == 1:  # several blocks: each has at least the least noise of them all
            least = levels.exact(mp, levels.quietest(steps[p] + 1, steps[j]))
            return first / least * c * mp.sqrt(share_exact(mp, c, block - 1))
        between = sums[j] - sums[p] * c ** (2 * block)
        if float(between) < _ALONE * float(sums[j]):
            between = carried_exact(mp, levels, c, sorted({steps[p] + 1, *steps[p + 1 : j + 1]}))[-1]
        return first * c**block / mp.sqrt(between)

    return mu, kappa
