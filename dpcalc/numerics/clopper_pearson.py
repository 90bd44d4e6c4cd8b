"""Confidence limits of a probability, from the number of trials in which an event was seen (Clopper & Pearson 1934,
Biometrika 26(4), 404-413)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log, nextafter
from typing import Any

from dpcalc.numerics.binomial import LogTail, exact_tails, log_tails
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.root import boundary, bracket

# Between which a limit is searched for: it is above the first unless it is 0, as a level is at least 1e-25 and there
# are at most 1e9 trials; and one above the second is found as 1 less a small one, which doubles hold better.
_RANGE = (1e-60, 0.51)
_RTOL = 1e-13  # relative: where the search for a limit ends
_KNOWN = 256  # limits that are kept: an answer asks for the same ones several times


@lru_cache(_KNOWN)
def lower_limit(seen: int, trials: int, log_level: float) -> float:
    """A probability p at which Pr[Bin(trials, p) >= seen] is at most the level, and within 1e-11 of the largest one: an
    event of probability p or less is seen so often at most at this rate. It is 0 where nothing was seen."""
    if seen == 0:
        return 0.0
    if _excess(log_tails(seen, trials, 0.5)[1], log_level) <= 0:
        return nextafter(1 - _small_upper_limit(trials - seen, trials, log_level), 0.0)
    return _small_lower_limit(seen, trials, log_level)


@lru_cache(_KNOWN)
def upper_limit(seen: int, trials: int, log_level: float) -> float:
    """A probability p at which Pr[Bin(trials, p) <= seen] is at most the level, and within 1e-11 of the least one. It
    is 1 where every trial was a success."""
    if seen == trials:
        return 1.0
    if _excess(log_tails(seen + 1, trials, 0.5)[0], log_level) > 0:
        return nextafter(1 - _small_lower_limit(trials - seen, trials, log_level), 1.0)
    return _small_upper_limit(seen, trials, log_level)


def _small_lower_limit(seen: int, trials: int, log_level: float) -> float:
    return _limit(lambda p: _excess(log_tails(seen, trials, p)[1], log_level), seen / trials, -1)


def _small_upper_limit(seen: int, trials: int, log_level: float) -> float:
    return _limit(lambda p: _excess(log_tails(seen + 1, trials, p)[0], log_level), seen / trials, +1)


def _excess(tail: LogTail, log_level: float) -> float:
    return tail.log + tail.error - log_level


def _limit(excess: Callable[[float], float], share: float, safe_direction: int) -> float:
    start = min(max(share, 1e-12), 0.49)  # any start is valid
    return boundary(excess, *bracket(excess, start, safe_direction, *_RANGE), rtol=_RTOL)


def exact_lower_limit(mp: Any, seen: int, trials: int, level: Any) -> Any:
    """The largest p with Pr[Bin(trials, p) >= seen] <= level, at high precision."""
    if seen == 0:
        return mp.mpf(0)
    if seen == trials:
        return level ** (mp.mpf(1) / trials)
    return _exact_limit(mp, lambda p: exact_tails(mp, seen, trials, p)[1] - level,
                        lower_limit(seen, trials, log(level)))


def exact_upper_limit(mp: Any, seen: int, trials: int, level: Any) -> Any:
    """The least p with Pr[Bin(trials, p) <= seen] <= level, at high precision."""
    if seen == trials:
        return mp.mpf(1)
    if seen == 0:
        return -mp.expm1(mp.log(level) / trials)
    return _exact_limit(mp, lambda p: level - exact_tails(mp, seen + 1, trials, p)[0],
                        upper_limit(seen, trials, log(level)))


def _exact_limit(mp: Any, rising: Callable[[Any], Any], near: float) -> Any:
    """The root of a function that rises through 0 next to a double, in log odds, so that it stays below 1."""
    odds = mp.log(mp.mpf(near)) - mp.log1p(-mp.mpf(near))
    width = mp.mpf("1e-6")

    def probability(x: Any) -> Any:
        return 1 / (1 + mp.exp(-x))

    return probability(root(mp, lambda x: rising(probability(x)), odds - width, odds + width))


def log_of_level(level: Any) -> float:
    """log of a level, a fraction, rounded down."""
    return log(level.numerator) - log(level.denominator) - 1e-14 * (1 + abs(log(level.denominator)))

