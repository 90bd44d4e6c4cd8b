"""What the iteration and hybrid bounds share: the setting of noisy SGD with constant Gaussian noise, seen from m."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache
from math import exp, expm1, inf, log, sqrt
from typing import Any

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd._engine.hybrid import TIMES, Link, Path, follow_exact
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.positions import Shares, log_share, scaled, share_exact
from dpcalc.bounds.pnsgd._engine.step import check_step_size, factor_exact, log_factor, move_ratio
from dpcalc.numerics.mp.memo import kept_numbers
from dpcalc.numerics.rounding import up

CONSTANT = ("level", "lipschitz", "learning_rate", "smoothness", "strong_convexity")
_TRIED, _NEARLY, _ALIKE = 32, 1.03, 0.02  # lengths of steps; a factor; of log κ
_LONGER = 0.01  # of log δ: what steps twice as long are to gain
_KAPPA = 2.14  # of the block that contracts fastest where c = 1
FELDMAN = "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, arXiv:1808.06651; Bok, Su & Altschuler 2024, arXiv:2403.00278"


def ratios(level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float) -> Shares:
    """m → μ_m, with c = 1 − ηρ."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    return shares(level, lipschitz, learning_rate, strong_convexity)


def shares(level: float, lipschitz: float, learning_rate: float, strong_convexity: float) -> Shares:
    """The same at any learning rate, as formulas take it."""
    return Shares(move_ratio(level, lipschitz), log_factor(learning_rate, strong_convexity))


@kept_numbers
def ratios_exact(mp: Any, level: float, lipschitz: float, learning_rate: float,
                 strong_convexity: float) -> Callable[[int], Any]:
    first, c = 2 * mp.mpf(lipschitz) / mp.mpf(level), factor_exact(mp, learning_rate, strong_convexity)
    return lambda m: first * mp.sqrt(share_exact(mp, c, m))


def reach(level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[int], float]:
    """k → κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^{2j})."""
    first, log_c = up(diameter / learning_rate / level, 5e-16), log_factor(learning_rate, strong_convexity)
    return lambda k: scaled(first, 2 * log_c + log_share(log_c, k - 1))


def reaches(level: float, diameter: float, learning_rate: float, strong_convexity: float) -> Callable[[Any], Any]:
    """κ of an array of k, a few ulp above `reach`."""
    from dpcalc.bounds.pnsgd._engine.shares_array import log_shares, scaled_many

    first, log_c = up(diameter / learning_rate / level, 5e-16), log_factor(learning_rate, strong_convexity)
    return lambda k: scaled_many(first, 2 * log_c + log_shares(log_c, k - 1))


@kept_numbers
def reach_exact(mp: Any, level: float, diameter: float, learning_rate: float,
                strong_convexity: float) -> Callable[[int], Any]:
    first = mp.mpf(diameter) / (mp.mpf(learning_rate) * mp.mpf(level))
    c = factor_exact(mp, learning_rate, strong_convexity)
    return lambda k: first * c * mp.sqrt(share_exact(mp, c, k - 1))


@lru_cache(maxsize=8)
def nodes(n: int, step: int) -> list[int]:
    """From the record to the last of the n − 1 steps after it, by steps that are alike but for the first: blocks of one
    length fit between any of them, wherever the record is."""
    return [0, *reversed(range(n - 1, 0, -step))]


def suited(n: int, most: int, level: float, diameter: float, learning_rate: float, strong_convexity: float) -> int:
    """The length of at most `most` steps to a single record. Any length is valid."""
    least, one = max(1, -(-(n - 1) // most)), reach(level, diameter, learning_rate, strong_convexity)(1)
    if least == 1 or not 0 < one < inf:
        return least
    about = exp(_ALIKE * round(log(one) / _ALIKE))  # so that a search seldom asks for another one
    return _suited(least, n - 1, about, log_factor(learning_rate, strong_convexity))


@lru_cache(maxsize=64)
def _suited(least: int, longest: int, one: float, log_c: float) -> int:
    """One from `least` on that has parts, or multiples, near the block that contracts fastest where ε = 0; `one` step
    alone has that κ."""
    kappa = _about(one, log_c)

    @cache
    def contracts(block: int) -> float:
        return log_gaussian(0.0, kappa(block))

    best = _fastest(lambda block: contracts(block) / block, int(min(1 + min(one / _KAPPA, longest) ** 2, longest)),
                    longest)

    def slowness(step: int) -> float:
        place = bisect_right(TIMES, step // best)
        parts = [contracts(step // times) * times / step for times in TIMES[max(0, place - 1) : place + 1]
                 if times <= step]
        found = min(parts + [contracts(step * k) / (step * k) for k in (best // step, best // step + 1) if k])
        return found * (1 - _LONGER * (step / least - 1))

    return min(range(least, 2 * least + 1, 1 + least // _TRIED), key=slowness)


def _fastest(rate: Callable[[int], float], start: int, longest: int) -> int:
    """About the block with the least rate, downhill by ever shorter factors."""
    at, factor = start, 2.0
    while factor > _NEARLY:
        to = min(max(1, int(at / factor)), min(longest, int(at * factor) + 1), key=rate)
        at, factor = (to, factor) if rate(to) < rate(at) else (at, factor**0.5)
    return at


@lru_cache(maxsize=8)
def path(n: int, level: float, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, step: int) -> Path:
    """The path of a record that n − 1 later steps follow."""
    mu = ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)
    kappa = reach(level, diameter, learning_rate, strong_convexity)
    at = nodes(n, step)
    near = _about(kappa(1), log_factor(learning_rate, strong_convexity))
    return Path(at, cache(lambda j: mu(at[j])), _of_block(cache(kappa)), _of_block(near))


def _of_block(kappa: Callable[[int], float]) -> Callable[[int, int, int], float]:
    return lambda p, j, block: kappa(block)


def _about(one: float, log_c: float) -> Callable[[int], float]:
    """k → κ_k = κ_1·√((1 − c²)/(c²(c^{−2k} − 1)))·c, nearly."""
    if log_c == 0:
        return lambda k: one / sqrt(k)
    fall, scale = -2 * max(log_c, -300.0), one * sqrt(expm1(min(-2 * max(log_c, -300.0), 700.0)))
    return lambda k: scale / sqrt(expm1(fall * k)) if fall * k < 700 else 1e-200


def walk_exact(mp: Any, epsilon: float, links: list[Link], at: list[int], level: float, lipschitz: float,
               diameter: float,
               learning_rate: float, strong_convexity: float) -> list[Any]:
    mu = ratios_exact(mp, level, lipschitz, learning_rate, strong_convexity)
    kappa = reach_exact(mp, level, diameter, learning_rate, strong_convexity)
    return follow_exact(mp, epsilon, links, theta, lambda j: mu(at[j]), lambda p, j, block: kappa(block))
