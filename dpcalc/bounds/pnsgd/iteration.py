"""What the iteration and hybrid bounds share: the setting of noisy SGD with constant Gaussian noise, seen from m."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import expm1, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd.chain import Link, Path, follow_exact
from dpcalc.bounds.pnsgd.positions import FINE, Shares, log_share, scaled, share_exact, starts
from dpcalc.bounds.pnsgd.step import check_step_size, factor_exact, log_factor, move_ratio
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.bounds.pnsgd.chain_many import Along

CONSTANT = ("level", "lipschitz", "learning_rate", "smoothness", "strong_convexity")
_LONG = 32  # a step, of whose parts some suit any block
FELDMAN = "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, arXiv:1808.06651; Bok, Su & Altschuler 2024, arXiv:2403.00278"


def ratios(level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float) -> Shares:
    """m → μ_m, with c = 1 − ηρ."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    return Shares(move_ratio(level, lipschitz), log_factor(learning_rate, strong_convexity))


def ratios_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, strong_convexity: float) -> Callable[[int], Any]:
    first, c = 2 * mp.mpf(lipschitz) / mp.mpf(level), factor_exact(mp, learning_rate, strong_convexity)
    return lambda m: first * mp.sqrt(share_exact(mp, c, m))


def reach(level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[int], float]:
    """k → κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^{2j})."""
    first, log_c = up(diameter / learning_rate / level, 5e-16), log_factor(learning_rate, strong_convexity)
    return lambda k: scaled(first, 2 * log_c + log_share(log_c, k - 1))


def reaches(level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[Any], Any]:
    """κ of an array of k, a few ulp above `reach`."""
    from dpcalc.bounds.pnsgd.averages import log_shares, scaled_many

    first, log_c = up(diameter / learning_rate / level, 5e-16), log_factor(learning_rate, strong_convexity)
    return lambda k: scaled_many(first, 2 * log_c + log_shares(log_c, k - 1))


def reach_exact(mp: Any, level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[int], Any]:
    first = mp.mpf(diameter) / (mp.mpf(learning_rate) * mp.mpf(level))
    c = factor_exact(mp, learning_rate, strong_convexity)
    return lambda k: first * c * mp.sqrt(share_exact(mp, c, k - 1))


@lru_cache(maxsize=8)
def nodes(n: int, fine: int = FINE, even: int = 0) -> list[int]:
    """The starts of the blocks of 0..n−1, and n − 1. On the way to a single record steps that are alike, `even` of them at most but for the
    first: blocks of one length fit between any, wherever the record is. Parts of a short step have few lengths: there they grow."""
    last = n - 1
    step = max(1, -(-last // even)) if even else 0
    if step == 1 or step >= _LONG:
        return [0, *reversed(range(last, 0, -step))]
    found = starts(n, fine, even // 2)
    if found[-1] == last:
        return found
    if even and len(found) > 1 and 2 * (last - found[-1]) < found[-1] - found[-2]:  # the last two alike: none too short for blocks
        found = [*found[:-1], (found[-2] + last) // 2]
    return [*found, last]


@lru_cache(maxsize=8)
def path(n: int, level: float, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, fine: int = FINE, even: int = 0) -> Path:
    """The path of a record that n − 1 later steps follow."""
    mu = ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)
    kappa = reach(level, diameter, learning_rate, strong_convexity)
    at = nodes(n, fine, even)
    near = _about(kappa(1), log_factor(learning_rate, strong_convexity))
    return Path(at, cache(lambda j: mu(at[j])), _of_block(cache(kappa)), _of_block(near))


def along(n: int, fine: int = FINE, even: int = 0, *, level: float, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float) -> Along:
    """`path` for arrays."""
    from dpcalc.bounds.pnsgd.chain_many import Along

    mu = ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)
    return Along(nodes(n, fine, even), mu, reaches(level, diameter, learning_rate, strong_convexity))


def _of_block(kappa: Callable[[int], float]) -> Callable[[int, int, int], float]:
    return lambda p, j, block: kappa(block)


def _about(one: float, log_c: float) -> Callable[[int], float]:
    """k → κ_k = κ_1·√((1 − c²)/(c²(c^{−2k} − 1)))·c, nearly."""
    if log_c == 0:
        return lambda k: one / sqrt(k)
    fall, scale = -2 * max(log_c, -300.0), one * sqrt(expm1(min(-2 * max(log_c, -300.0), 700.0)))
    return lambda k: scale / sqrt(expm1(fall * k)) if fall * k < 700 else 1e-200


def walk_exact(mp: Any, epsilon: float, links: list[Link], at: list[int], level: float, lipschitz: float, diameter: float,
               learning_rate: float, strong_convexity: float) -> list[Any]:
    mu = ratios_exact(mp, level, lipschitz, learning_rate, strong_convexity)
    kappa = reach_exact(mp, level, diameter, learning_rate, strong_convexity)
    return follow_exact(mp, epsilon, links, theta, lambda j: mu(at[j]), lambda p, j, block: kappa(block))
