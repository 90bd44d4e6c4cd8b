"""Noisy SGD with constant Gaussian noise: the GDP parameters that the iteration and hybrid bounds are made of.

m is the number of steps after the record. c = 1 − ηρ is the Lipschitz constant of a step.
"""

from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache
from math import erf, inf, log, sqrt
from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.family import Family
from dpcalc.bounds.pnsgd._engine.hybrid import BLOCK_COUNTS, Link, Path, follow_exact
from dpcalc.bounds.pnsgd._engine.shares import Shares, log_share, scaled, share_exact
from dpcalc.bounds.pnsgd._engine.step import GAUSSIAN_PARAMS, check_step_size, factor_exact, log_factor, move_ratio
from dpcalc.numerics.mp.memo import cached_sequence
from dpcalc.numerics.rounding import up

FELDMAN = ("Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, arXiv:1808.06651; Bok, Su & Altschuler 2024, "
           "arXiv:2403.00278")


def _start(level: float, lipschitz: float, learning_rate: float, smoothness: float,
           strong_convexity: float) -> tuple[float, float]:
    """2L/σ and log c. Raises OutOfScope where a step is no contraction."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    return move_ratio(level, lipschitz), log_factor(learning_rate, strong_convexity)


def _start_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float,
                 strong_convexity: float) -> tuple[Any, Any]:
    return 2 * mp.mpf(lipschitz) / mp.mpf(level), factor_exact(mp, learning_rate, strong_convexity)


CONVEX = Family(GAUSSIAN_PARAMS, Shares, _start, _start_exact)


def reach(level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[int], float]:
    """The function k → κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^{2j}), the GDP parameter of k steps from any two starts."""
    first, log_c = up(diameter / learning_rate / level, 5e-16), log_factor(learning_rate, strong_convexity)
    return lambda k: scaled(first, 2 * log_c + log_share(log_c, k - 1))


def reaches(level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[Any], Any]:
    """`reach` of an array of k, a few units in the last place larger."""
    from dpcalc.bounds.pnsgd._engine.shares_array import log_shares, scaled_many

    first, log_c = up(diameter / learning_rate / level, 5e-16), log_factor(learning_rate, strong_convexity)
    return lambda k: scaled_many(first, 2 * log_c + log_shares(log_c, k - 1))


@cached_sequence
def reach_exact(mp: Any, level: float, diameter: float, learning_rate: float,
                strong_convexity: float) -> Callable[[int], Any]:
    """`reach` at high precision."""
    first = mp.mpf(diameter) / (mp.mpf(learning_rate) * mp.mpf(level))
    c = factor_exact(mp, learning_rate, strong_convexity)
    return lambda k: first * c * mp.sqrt(share_exact(mp, c, k - 1))


@lru_cache(maxsize=8)
def path_nodes(n: int, step: int) -> list[int]:
    """The nodes from the record to the last of the n − 1 steps after it, at distances of `step` from the second one on.

    So blocks of one length fit between any two nodes, wherever the record is.
    """
    return [0, *reversed(range(n - 1, 0, -step))]


@lru_cache(maxsize=8)
def step_length(n: int, most_nodes: int, level: float, diameter: float, learning_rate: float,
                strong_convexity: float) -> int:
    """The distance between the nodes of a path of n − 1 steps with at most `most_nodes` nodes. Any distance is sound.

    It is between the least possible one and twice that, and a part or a multiple of it is near the length of the block
    that contracts fastest per step.
    """
    shortest = max(1, -(-(n - 1) // most_nodes))
    if shortest == 1:
        return 1
    kappa = reach(level, diameter, learning_rate, strong_convexity)

    @cache
    def rate(block: int) -> float:
        """log θ(0, κ) per step, of a block."""
        contraction = erf(kappa(block) / sqrt(8))
        return log(contraction) / block if contraction > 0 else -inf

    fastest = min((block for block in BLOCK_COUNTS if block < n), key=rate)

    def best_rate(step: int) -> float:
        place = bisect_right(BLOCK_COUNTS, step // fastest)
        counts = [times for times in BLOCK_COUNTS[max(0, place - 1) : place + 1] if times <= step]
        parts = [rate(step // times) * (step // times) * times / step for times in counts]
        multiples = [rate(step * times) for times in (fastest // step, fastest // step + 1) if times]
        return min(parts + multiples) * (1 - 0.01 * (step / shortest - 1))  # twice the length is to gain 1 % of log δ

    return min(range(shortest, 2 * shortest + 1, 1 + shortest // 32), key=best_rate)


@lru_cache(maxsize=8)
def path(n: int, diameter: float, step: int, **p: float) -> Path:
    """The path of a record that n − 1 steps follow, with nodes at a distance of `step`."""
    mu, nodes = CONVEX.ratios(**p), path_nodes(n, step)
    reach_of = cache(reach(p["level"], diameter, p["learning_rate"], p["strong_convexity"]))

    def kappa(before: int, j: int, block: int) -> float:
        return reach_of(block)

    return Path(nodes, cache(lambda j: mu(nodes[j])), kappa, kappa)


def path_exact(mp: Any, epsilon: float, links: list[Link], nodes: list[int], diameter: float, **p: float) -> list[Any]:
    """d at every node along given links, at high precision."""
    mu = CONVEX.ratios_exact(mp, **p)
    kappa = reach_exact(mp, p["level"], diameter, p["learning_rate"], p["strong_convexity"])
    return follow_exact(mp, epsilon, links, theta, lambda j: mu(nodes[j]), lambda before, j, block: kappa(block))
