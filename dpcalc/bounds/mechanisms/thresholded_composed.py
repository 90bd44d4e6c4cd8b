"""The composition of releases of noisy values above a threshold, through the pair of the largest profile of all cases.

Proof. By the proof of threshold-profile a case with j and i keys that only one data set has loses as much as the
composition of the noise on the m other values with j times the pair of one key: an infinite loss with probability p, or
else a loss of log(1 − p); and i times its reverse. The largest profile of all cases, in either direction, is convex in
e^ε, and δ(−ε) = 1 − e^{−ε}(1 − δ(ε)) holds for it as for each profile and its reverse: so it is the profile of a
symmetric pair. This dominates every pair of neighbours (thresholded.py) in both orders, and so beside mechanisms whose
pairs differ by order, too. Chords between its values at some ε are upper bounds, as it is convex. Dominating pairs
compose (Zhu, Dong & Wang 2022, Theorem 10). ∎

Of Gaussian noise, and of a single value that moves, the profile of a case is a closed form. Of other noise the values
are composed numerically, which loses at most what one value does that moves by their sum; at every ε the smaller one of
both bounds counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import exp, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.conversions import profile_composition
from dpcalc.bounds.mechanisms import thresholded
from dpcalc.bounds.mechanisms.thresholded import BY_NOISE, Release, log_keep
from dpcalc.core.bound import CompositionBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.atoms import Atoms
    from dpcalc.pld.pilot import Parts

_MOST_RANGES = 8  # of numbers of keys, where cases are composed numerically, most of them in about 0.02 s
_TAIL = 1e-30  # δ of the noise; a smaller one counts as 0 beside the probability of an infinite loss
_COARSE = 0.5  # of the differences between neighbouring ε: chords exceed ordinary δ by about its square times 3e-3
_NEAR = 1e-4  # relative: how near the last ε is to the one where the profile becomes constant, a corner for pure noise
_SHARE = 1e-6  # of that probability: where the profile is so near to it, it counts as constant

LogDelta = Callable[[float], float]  # ε → an upper bound on log δ


def has_closed_form(release: Release) -> bool:
    """Whether the profile of every case is known without a composition."""
    return release.noise == "gaussian" or release.moved == 1


@lru_cache(maxsize=64)  # a search evaluates one release at several ε
def pair(noise: str, noise_level: float, per_key: float, max_keys: int, contributors: int, threshold: float) -> Atoms:
    """The symmetric dominating pair of one release, by its profile at some ε; any ε are valid. Raises TooLarge."""
    from dpcalc.pld.atoms import profile_at_points
    from dpcalc.pld.largest_profile import few_losses
    from dpcalc.pld.profile_pairs import walk

    release = Release(noise, noise_level, per_key, max_keys, contributors, threshold)
    cases = [] if noise == "gaussian" else _parts_of_cases(release)
    composed = None if has_closed_form(release) else _largest_of(cases)
    special = [loss for one in cases for loss in few_losses(one) if loss > 0]

    @cache
    def log_delta(epsilon: float) -> float:
        closed = thresholded.value(epsilon, *release)
        return min(closed, composed(epsilon)) if composed else closed

    last = _end(log_delta)
    if noise in ("laplace", "discrete-laplace"):  # whose losses end at this ε
        special.append(release.moved * per_key / noise_level)
    points = {epsilon: log_delta(epsilon) for epsilon in (last, *special) if epsilon <= last}

    def at_walk(epsilon: float, precision: float, about: float) -> float:
        points[epsilon] = log_delta(epsilon)
        return points[epsilon]

    walk(at_walk, exp(log_delta(0.0)), _TAIL, last, _COARSE)
    return profile_at_points(sorted(points), [points[epsilon] for epsilon in sorted(points)])


def _end(log_delta: LogDelta) -> float:
    """About the least ε from which on the profile is nearly the probability of an infinite loss."""
    enough = max(log_delta(1e6) + log1p(_SHARE), log(_TAIL))
    low, high = 0.0, 1e-3
    while log_delta(high) > enough and high < 1e6:
        low, high = high, 2 * high
    while high > (1 + _NEAR) * low and low > 0:
        middle = (low + high) / 2
        low, high = (low, middle) if log_delta(middle) <= enough else (middle, high)
    return high


def _parts_of_cases(release: Release) -> list[Parts]:
    """The pairs of all cases, in either order."""
    from dpcalc.pld.largest_profile import directions

    cases = [case for case in release.cases(_MOST_RANGES // release.contributors) if case[1] <= case[0]]
    return [one for case in cases for one in directions(_parts_of_case(release, *case), ())]


def _largest_of(cases: Sequence[Parts]) -> LogDelta:
    """The largest profile of these compositions."""
    from dpcalc.pld.largest_profile import upper_bound

    found = [upper_bound(one)[0] for one in cases]
    return lambda epsilon: max(log_delta(epsilon) for log_delta in found)


def _parts_of_case(release: Release, j: int, i: int, count: int) -> Parts:
    """The pairs of a case: the noise on the values that move, and the keys that only one of the data sets has."""
    from dpcalc.pld.atoms import Atoms

    noise, level, c = release[:3]
    log_p, log_none = log_keep(noise, level, release.threshold - c)
    without = Atoms((-log_none,), (0.0,))
    key = Atoms((log_none,), (log_none,), log_p, reverse=without)
    without = replace(without, reverse=key)
    of_noise = ((BY_NOISE[noise].pair(level, c), count),) if count else ()
    return (*of_noise, *(((key, j),) if j else ()), *(((without, i),) if i else ()))


def value(noise: str, noise_level: float, per_key: float, max_keys: int, contributors: int,
          threshold: float) -> Parts:
    return ((pair(noise, noise_level, per_key, max_keys, contributors, threshold), 1),)


def exact(mp: Any, epsilon: float, **own: Any) -> Any:
    """δ of one release by the definition, of the pair whose profile has the chords."""
    return profile_composition.exact(mp, epsilon, value(**own))


BOUND = CompositionBound(
    Theorem(
        name="threshold-composed",
        example="rdp --sigma 8 --max-keys 3 --threshold 60 --steps 4 --delta 1e-5",
        statement="the largest profile of all numbers of keys that only one of two data sets has, as the profile of a "
                  "dominating pair, composed numerically",
        in_words="Several releases of noisy values of keys, of which those above a threshold are published: the worst "
                 "profile of one release is composed numerically. A person is added, removed or replaced (with signed "
                 "values: added or removed). It is false where a person may have more than k keys in a release, or "
                 "contribute more than c to one.",
        source="proof in dpcalc/bounds/mechanisms/thresholded_composed.py; Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=thresholded.ASSUMPTIONS,
    ),
    params=thresholded.PARAMS, value=value, exact=exact, rtol=1e-9)
