"""Noisy values of keys that occur in the data, of which those are published that are at least a threshold.

A person has at most k keys, with a part of at most c of the value of each. A key that occurs is published with its
value and noise X if that sum is at least τ. p = Pr[c + X >= τ] is the chance that a key is published that one person
alone has, and s_j = (1 − p)^j that none of j such keys is. D_m(e) is the profile, at any real e, of m values that move
by c each; D_0(e) = (1 − e^e)₊.

Proof of threshold-profile. One person is in D alone, and another one in D′ alone, or nobody where a person is removed;
where one is added, D and D′ are exchanged. Let only the first person have j of the keys, in both data sets together,
and only the other person i of them. All other keys occur in D and in D′. Noises are independent: on D none of the j
keys is published with probability s, whatever happens to the others, whose law is A; on D′ none of the i keys with
probability s′, and the law of the others is A′. An output with one of the j keys has Q = 0, and one with one of the i
keys has P = 0. So the largest P(E) − e^ε Q(E) is the largest 1 − s + sA(F) − e^ε s′A′(F) over the sets F of outputs
with the other keys alone. It falls in s, as A(F) <= 1, and in s′. A key is published more probably the larger the part
is: so it is largest for s = s_j and s′ = s_i, and is 1 − s_j + s_j·H(ε + log(s_i/s_j)), where H is the profile of A and
A′. Of the other keys only those may have different values that one of both persons has: at most k − j, and k − i. Each
value moves by at most c; where both persons have the key, and parts are in [0, c], too. What is published of them is
computed from all noisy values. So H <= D_m with m = k − j, k − i (a person is added) or 2k − j − i (one is replaced),
as D_m rises in m and in every move. There is equality in the limit of large values of other people, which are always
published. ∎

For Gaussian noise D_m is that of one value which moves by √m·c. For the other kinds, which are log-concave, one value
that moves by mc is taken, which loses at least as much (accounting/contributions.py has the proof); for Laplace noise
neither loses anything from e = mc/v on. Where k is above the number of cases that are computed, the numbers j are taken
in ranges, with the m of the least j and the s_j of the largest: both make the loss larger.

Proof of threshold-simple. For a set F as above let a = A(F) and b = e^ε A′(F), so that a − b <= D, the profile at ε of
all values that move. Then s_j·a − s_i·b = s_i(a − b) + (s_j − s_i)a <= D + max(s_j − s_i, 0). With 1 − s_j added this
is at most D + max(1 − s_j, 1 − s_i) <= D + 1 − s_k. ∎ """

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import inf, log, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms import discrete_gaussian, discrete_laplace, gaussian, laplace
from dpcalc.bounds.mechanisms.noise_accuracy import NOISES, half_of_outside
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.elementary import log1mexp, log_add
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_up, up

_RTOL = 1e-11  # more than the rounding errors of tails, profiles and their sums
_ABSOLUTE = 1e-14  # of log δ: more than the rounding errors of a sum of terms that is nearly 1
_MOST = {1: 64, 2: 16}  # numbers of keys, of one person or of each of two, that are not taken in ranges
# what is known of one value with noise that is not Gaussian, where it moves by the second parameter
BY_NOISE: dict[str, Any] = {"laplace": laplace, "discrete-laplace": discrete_laplace,
                            "discrete-gaussian": discrete_gaussian}
ASSUMPTIONS = ("a person has at most k keys, with a part of the value of each between 0 and c (signed values: between "
               "−c and c, and a person is added or removed); both are enforced",
               "a key is published with its noisy value if it occurs in the data and this value is at least τ, and "
               "nothing is published of other keys; the order of the published keys does not depend on the data",
               "the noises of all keys are independent")


class Release(NamedTuple):
    """A release of noisy values above a threshold: the parameters of the bounds."""

    noise: str  # a name in NOISES
    noise_level: float  # σ or v
    per_key: float  # c
    max_keys: int  # k
    contributors: int  # people who have contributed to only one of two neighbours: 1, or 2 where one is replaced
    threshold: float  # τ

    @property
    def moved(self) -> int:
        """The number of values that move at most."""
        return self.contributors * self.max_keys

    def cases(self, most: int = 0) -> Iterator[tuple[int, int, int]]:
        """(j, i, number of values that move), of each range of numbers of keys that only one of two people has."""
        ranges = _ranges(self.max_keys, most or _MOST[self.contributors])
        for low, j in ranges:
            for low_other, i in ranges if self.contributors == 2 else ((0, 0),):
                yield j, i, self.moved - low - low_other
                if self.contributors == 1 and j:  # with the data sets exchanged
                    yield i, j, self.moved - low


def _ranges(k: int, most: int) -> list[tuple[int, int]]:
    """(least, largest) of ranges of 0, …, k. 0 and k are ranges by themselves, as the largest loss is usually there."""
    if k <= most:
        return [(j, j) for j in range(k + 1)]
    limits = [(k - 1) * x // most for x in range(most + 1)]
    return [(0, 0), *((low + 1, high) for low, high in pairwise(limits)), (k, k)]


# --- in doubles ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def log_keep(noise: str, noise_level: float, x: float) -> tuple[float, float]:
    """log p and log(1 − p) of p = Pr[X >= x]."""
    a, is_half = half_of_outside(noise, x)
    half = NOISES[noise].log_outside(noise_level, a) - log(2)
    return (half, log1mexp(half)) if is_half else (log1mexp(half), half)


def log_profile(release: Release, count: int, e: float) -> float:
    """log D_i(e) of so many values, at any real e."""
    if e < 0:
        return log_add(log1mexp(e), e + log_profile(release, count, -e))
    noise, level, c = release[:3]
    if count == 0:
        return -inf
    if noise == "gaussian":
        return log_theta(e, up(c * sqrt(count) / level, 5e-16))
    return float(BY_NOISE[noise].value(e, level, ratio_up((c, count))))


def log_published(release: Release, j: int) -> tuple[float, float]:
    """log(1 − s_j), rounded up where it underflows, and log s_j."""
    log_p, log_none = log_keep(release.noise, release.noise_level, release.threshold - release.per_key)
    if j == 0:
        return -inf, 0.0
    underflows = j * log_none > -1e-300  # where doubles hold too few digits of it; jp is above 1 − s_j
    return (log(j) + log_p if underflows else log1mexp(j * log_none)), j * log_none


def level_with_few_published(log_probability: float, noise: str, per_key: float, keys: int, threshold: float) -> float:
    """About the largest noise level, up to τ − c, at which one of so many keys of a person is published with this
    probability; for a search, where any level is valid."""
    low, high = 1e-4 * (threshold - per_key), threshold - per_key
    high = min(high, discrete_gaussian.LARGEST_SIGMA) if noise == "discrete-gaussian" else high
    while high > (1 + 1e-6) * low:
        middle = sqrt(low * high)
        some, _ = log_published(Release(noise, middle, per_key, keys, 1, threshold), keys)
        low, high = (middle, high) if some <= log_probability else (low, middle)
    return low


def value(epsilon: float, noise: str, noise_level: float, per_key: float, max_keys: int, contributors: int,
          threshold: float) -> float:
    """log δ(ε), rounded up."""
    release = Release(noise, noise_level, per_key, max_keys, contributors, threshold)
    found = max(_log_delta(release, epsilon, *case) for case in release.cases())
    return _rounded_up(found)


def _rounded_up(log_delta: float) -> float:
    return min(0.0, up(log_delta, _RTOL / 3) + _ABSOLUTE) if log_delta > -inf else log_delta


def _log_delta(release: Release, epsilon: float, j: int, i: int, count: int) -> float:
    (log_some, log_none), (_, log_other) = log_published(release, j), log_published(release, i)
    return log_add(log_some, log_none + log_profile(release, count, epsilon + log_other - log_none))


def simple(epsilon: float, noise: str, noise_level: float, per_key: float, max_keys: int, contributors: int,
           threshold: float) -> float:
    """log(D(ε) + 1 − s_k), rounded up."""
    release = Release(noise, noise_level, per_key, max_keys, contributors, threshold)
    found = log_add(log_published(release, max_keys)[0], log_profile(release, release.moved, epsilon))
    return _rounded_up(found)


# --- at high precision -----------------------------------------------------------------------------------------------


def exact_log_none(mp: Any, release: Release) -> Any:
    """log(1 − p)."""
    x = mp.mpf(release.threshold) - mp.mpf(release.per_key)
    a, is_half = half_of_outside(release.noise, float(x))
    a = a if NOISES[release.noise].is_discrete else abs(x)
    half = NOISES[release.noise].outside(mp, mp.mpf(release.noise_level), mp.mpf(a)) / 2
    return mp.log1p(-half) if is_half else mp.log(half)


def exact_profile(mp: Any, release: Release, count: int, e: Any) -> Any:
    if float(e) < 0:
        return -mp.expm1(e) + mp.exp(e) * exact_profile(mp, release, count, -e)
    noise, level, c = release[:3]
    if count == 0:
        return mp.mpf(0)
    if noise == "gaussian":
        return gaussian.theta(mp, e, mp.mpf(c) * mp.sqrt(count) / mp.mpf(level))
    return BY_NOISE[noise].exact(mp, e, level, mp.mpf(c) * count if noise == "laplace" else c * count)


def exact(mp: Any, epsilon: float, noise: str, noise_level: float, per_key: float, max_keys: int, contributors: int,
          threshold: float) -> Any:
    release = Release(noise, noise_level, per_key, max_keys, contributors, threshold)
    log_none, e = exact_log_none(mp, release), mp.mpf(epsilon)

    def delta(j: int, i: int, count: int) -> Any:
        of_common = exact_profile(mp, release, count, e + (i - j) * log_none)
        return -mp.expm1(j * log_none) + mp.exp(j * log_none) * of_common

    found = [delta(*case) for case in release.cases()]
    # in balls, equal cases have no order; those that are too small for a double do not matter beside others
    return max(found, key=float) if hasattr(mp, "theta") else max(found)


def exact_simple(mp: Any, epsilon: float, noise: str, noise_level: float, per_key: float, max_keys: int,
                 contributors: int, threshold: float) -> Any:
    release = Release(noise, noise_level, per_key, max_keys, contributors, threshold)
    some = -mp.expm1(max_keys * exact_log_none(mp, release))
    return min(some + exact_profile(mp, release, release.moved, mp.mpf(epsilon)), mp.mpf(1))


PARAMS = ("noise", "noise_level", "per_key", "max_keys", "contributors", "threshold")
PROFILE = ProfileBound(
    Theorem(
        name="threshold-profile",
        example="rdp --sigma 8 --max-keys 3 --threshold 50 --epsilon 1",
        statement="δ(ε) is the largest of 1 − s_j + s_j·D_m(ε + log(s_i/s_j)) over the numbers j, i of keys that only "
                  "one of the two data sets has, with s_j = (1−p)^j, p = Pr[c + X ≥ τ], and D_m the profile of the m "
                  "other values that move by c",
        in_words="Noisy values of keys, such as counts of words, published above a threshold. A key that only one "
                 "person has may pass it by chance, with probability p; the worst split of a person's keys between "
                 "such keys and common ones gives δ. A person is added, removed or replaced (with signed values: added "
                 "or removed). It is false where a person may have more than k keys, or contribute more than c to one.",
        source="proof in dpcalc/bounds/mechanisms/thresholded.py; Wilson et al. 2020, arXiv:1909.01917",
        assumptions=(*ASSUMPTIONS, "one release"),
    ),
    params=PARAMS, value=value, exact=exact, rtol=_RTOL)

SIMPLE = ProfileBound(
    Theorem(
        name="threshold-simple",
        example="rdp --sigma 8 --max-keys 3 --threshold 50 --epsilon 1 --bound threshold-simple",
        statement="δ(ε) = D(ε) + 1 − (1−p)^k, with D the profile of all values that move, p = Pr[c + X ≥ τ]",
        in_words="Noisy values of keys of which those above a threshold are published: the δ of the noise plus the "
                 "probability that some key of one person alone passes the threshold. This is the usual, simple "
                 "analysis, whose sum is more than is needed: threshold-profile has the worst case instead. It is "
                 "false where a person may have more than k keys.",
        source="Wilson et al. 2020, arXiv:1909.01917; proof in dpcalc/bounds/mechanisms/thresholded.py",
        assumptions=(*ASSUMPTIONS, "one release"),
    ),
    params=PARAMS, value=simple, exact=exact_simple, rtol=_RTOL)
BOUNDS = (PROFILE, SIMPLE)
