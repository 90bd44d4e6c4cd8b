"""Shifts through noise of changing level, whose cost depends on Σ c^{2(q−t)}σ_t² over the steps of an interval.

To carry a shift of x to 0 over steps p+1..q, a_t at step t with Σ a_t c^{q−t} = x c^{q−p}, costs μ² = Σ(a_t/(ησ_t))²,
least where a_t ∝ c^{q−t}σ_t²: μ = (x/η)c^{q−p}/√(Σ c^{2(q−t)}σ_t²) (shift lemma, Feldman et al. 2018; Cauchy–Schwarz).
All sums here are lower bounds.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from math import exp, expm1, inf, log, sqrt
from typing import Any

from dpcalc.bounds.online._engine.levels import Levels, Listed, Schedule
from dpcalc.bounds.online._engine.sums import lower_sum
from dpcalc.bounds.pnsgd._engine.hybrid import Path
from dpcalc.bounds.pnsgd._engine.shares import log_share, scaled, share_exact
from dpcalc.bounds.pnsgd._engine.step import check_step_size, factor_exact, log_factor
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.mp.memo import cached_by_precision
from dpcalc.numerics.mp.sums import is_long, smooth_sum
from dpcalc.numerics.rounding import up

# The noise of a block is the difference of two sums if it is at least this part of the larger sum; with a smaller part
# the difference would lose more than two digits, and the noise is summed anew.
_LEAST_SHARE = 0.01
_UNDERFLOW = -745.0  # smaller exponents are raised to this, as e^−745 is the least double


def finite(n: float) -> int:
    """n as a whole number. Raises OutOfScope for n = ∞."""
    if n == inf:
        raise OutOfScope("no-solution", "inf is not possible with this bound, whose limit is δ = 0; give a finite "
                                        "n", "--n")
    return int(n)


def decayed_sums(levels: Levels, log_c: float, steps: list[int], start: int) -> list[float]:
    """Lower bounds on Σ_{t=start}^{q} c^{2(q−t)}σ_t² for every q of `steps`, which rises from start."""
    if isinstance(levels, Listed):
        from dpcalc.bounds.online import listed  # imports numpy, which a schedule does not need

        return listed.decayed_sums(levels, log_c, steps, start)
    square, scale, one_step = _squares(levels.shape), levels.half**2 * (1 - 1e-15), expm1(2 * log_c)
    sums = [square(start) * scale]
    for before, end in pairwise(steps):
        block = end - before
        weight = float(block) if log_c == 0 or block == 1 else expm1(2 * block * log_c) / one_step
        earlier = sums[-1] * exp(max(2 * block * log_c, _UNDERFLOW))
        sums.append((earlier + square(end) * scale * weight) * (1 - 4e-15))
    return sums


@lru_cache(maxsize=4)
def _squares(shape: Schedule) -> Callable[[float], float]:
    """The function t → σ_t², cached, since its values are the same at every n and every learning rate."""
    return cache(lambda t: shape.at(t) ** 2)


@lru_cache(maxsize=4)
def reaches(shape: Schedule) -> Callable[[float], float]:
    """The function t → MD/(ησ_t), cached, since its values are the same at every ε."""
    return cache(shape.reach)


@lru_cache(maxsize=16)
def record_ratio(levels: Levels, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
                 n: int, index: int) -> float:
    """μ of the record at `index` after step n, rounded up. For c < 1 the noise of a schedule is summed in blocks, each
    of at most 1/512 of the steps before it."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_c = _not_underflowing(log_factor(learning_rate, strong_convexity))
    if log_c == 0 and not isinstance(levels, Listed):
        total = lower_sum(lambda t: levels.at(t) ** 2, index, n, levels.panel_factor,
                          head_terms=levels.head_terms(index, n))
    else:
        # σ² of earlier steps has a weight below e^−60, less than a rounding error.
        start = index if log_c == 0 else max(index, n - int(30 / -log_c) - 1)
        total = decayed_sums(levels, log_c, ends(n - start, start, 512), start)[-1]
    return scaled(2 * lipschitz, 2 * (n - index) * log_c - log(total))


def _not_underflowing(log_c: float) -> float:
    """log c, or −300 where it is smaller: a larger c is sound, and its powers do not underflow to 0."""
    return max(log_c, -300.0)


def ends(later: int, index: int, parts: int) -> list[int]:
    """The last steps of blocks of the steps index..index+later. Each block has at most 1/parts of the steps between the
    record and it, or is a single step."""
    last_steps, m = [index], 0
    while m < later:
        m = min(later, m + 1 + m // parts)
        last_steps.append(index + m)
    return last_steps


@lru_cache(maxsize=4)
def path(levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, n: int, index: int) -> Path:
    """The path from the record at `index` to step n, with a node after every block of at most 1/64 of the steps before
    the block."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_c = _not_underflowing(log_factor(learning_rate, strong_convexity))
    steps = ends(n - index, index, 64)
    sums = decayed_sums(levels, log_c, steps, index)
    first = up(diameter / learning_rate, 2e-16)
    nodes = [t - index for t in steps]

    def mu(j: int) -> float:
        return scaled(2 * lipschitz, 2 * nodes[j] * log_c - log(sums[j]))

    def difference(p: int, j: int) -> float:
        return sums[j] - sums[p] * exp(max(2 * (nodes[j] - nodes[p]) * log_c, _UNDERFLOW))

    def noise_between(p: int, j: int) -> float:
        """A lower bound on Σ c^{2(q−t)}σ_t² over the steps after node p up to node j."""
        if steps[j] - steps[p] == 1:
            return levels.at(steps[j]) ** 2 * (1 - 1e-15)
        noise = difference(p, j) - 2e-15 * sums[j]
        if noise >= _LEAST_SHARE * sums[j]:
            return noise
        start = steps[p] + 1
        return decayed_sums(levels, log_c, sorted({start, *steps[p + 1 : j + 1]}), start)[-1]

    def kappa(p: int, j: int, block: int) -> float:
        if nodes[j] - nodes[p] == block:
            return scaled(first, 2 * block * log_c - log(noise_between(p, j)))
        least = levels.least_level(steps[p] + 1, steps[j])
        return scaled(up(first / least, 4e-16), 2 * log_c + log_share(log_c, block - 1))

    def approximate_kappa(p: int, j: int, block: int) -> float:
        noise = difference(p, j) * block / (nodes[j] - nodes[p])
        return first * exp(max(block * log_c, -300.0)) / sqrt(noise) if noise > 0 else inf

    return Path(nodes, cache(mu), cache(kappa), approximate_kappa)


def sums_exact(mp: Any, levels: Levels, c: Any, first: int, last: int) -> Any:
    """Σ_{t=first}^{last} c^{2(last−t)}σ_t² at high precision."""
    if isinstance(levels, Listed) or not is_long(mp, last - first + 1):
        return mp.fsum(c ** (2 * (last - t)) * levels.exact(mp, t) ** 2 for t in range(first, last + 1))
    return _long_sum(mp, levels, c, first, last)


@cached_by_precision(4)
def _long_sum(mp: Any, levels: Levels, c: Any, first: int, last: int) -> Any:
    """`sums_exact` for many terms, cached, as it does not depend on ε."""
    if c == 1:  # from first + 1 on, so that the levels are taken at the steps where online-contraction takes them
        return levels.exact(mp, first) ** 2 + smooth_sum(mp, lambda t: levels.exact(mp, t) ** 2, first + 1, last)
    # The sum runs backwards from the last step, whose weight is the largest.
    largest = levels.exact(mp, first) ** 2
    return smooth_sum(mp, lambda s: c ** (2 * (s - 1)) * levels.exact(mp, last + 1 - s) ** 2, 1, last + 1 - first,
                      lambda s: c ** (2 * (s - 1)) * largest)


def carried_exact(mp: Any, levels: Levels, c: Any, steps: list[int]) -> list[Any]:
    """`decayed_sums` at high precision; for a schedule these are lower bounds, with the level of the last step of a
    block, the least one, for all its steps."""
    sums = [levels.exact(mp, steps[0]) ** 2]
    for p, q in pairwise(steps):
        if isinstance(levels, Listed):
            total = sums[-1]
            for t in range(p + 1, q + 1):
                total = total * c**2 + levels.exact(mp, t) ** 2
        else:
            weight = q - p if c == 1 else (1 - c ** (2 * (q - p))) / (1 - c * c)
            total = sums[-1] * c ** (2 * (q - p)) + levels.exact(mp, q) ** 2 * weight
        sums.append(total)
    return sums


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
        # Where several blocks fit between the nodes, every step counts with the least noise between them.
        if nodes[j] - nodes[p] != block or block == 1:
            least = levels.exact(mp, levels.least_noisy_step(steps[p] + 1, steps[j]))
            return first / least * c * mp.sqrt(share_exact(mp, c, block - 1))
        noise = sums[j] - sums[p] * c ** (2 * block)
        if float(noise) < _LEAST_SHARE * float(sums[j]):
            noise = carried_exact(mp, levels, c, sorted({steps[p] + 1, *steps[p + 1 : j + 1]}))[-1]
        return first * c**block / mp.sqrt(noise)

    return mu, kappa
