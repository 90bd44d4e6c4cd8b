"""The privacy profile of a mechanism on a Poisson-sampled batch: the worse of removing and adding a record."""

from math import expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.profile import Profile, sampled_epsilon
from dpcalc.bounds.sampling._engine.assumptions import ADDED_OR_REMOVED, POISSON
from dpcalc.bounds.sampling._engine.group_mixture import ULPS
from dpcalc.core.bound import Directions, ProfileBound, Theorem
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


def value(epsilon: float, sampling_rate: float, profile: Profile) -> float:
    return max(sided(epsilon, side, sampling_rate, profile) for side in (+1, -1))


def sided(epsilon: float, side: int, sampling_rate: float, profile: Profile) -> float:
    """log E_{e^ε}(mix‖N), of a record removed, for side +1, or log E_{e^ε}(N‖mix), of one added, for side −1, where
    mix = (1−q)N + qP for the base pair (P, N); rounded up."""
    if side < 0:
        return min(0.0, up(_added(epsilon, sampling_rate, profile), 4e-16))
    return min(0.0, up(log(sampling_rate) + profile.log_delta(sampled_epsilon(epsilon, sampling_rate)), 4e-16))


def _added(epsilon: float, rate: float, profile: Profile) -> float:
    """log E_γ(N‖mix), rounded up, γ = e^ε.

    E_γ(N‖mix) = 1 − γ + γ·E_{1/γ}(mix‖N) = (1 − γ(1−q))·δ(y) with e^{−y} = 1 + (e^{−ε} − 1)/q, or 0. Where e^{−y} is
    small it is computed as e^{−ε}(1 − γ(1−q))/q, without a difference of numbers near 1. δ falls in y: that is rounded
    down, and so is log(γ(1−q)), on which both factors depend in the same direction. """
    unsampled = log1p(-rate) if rate < 1 else -inf
    log_left = epsilon + unsampled - (ULPS * (epsilon - unsampled) if rate < 1 else 0.0)
    if log_left >= 0:
        return -inf
    log_factor, x = log1mexp(log_left), expm1(-epsilon) / rate
    y = -log1p(x) if x > -0.5 else epsilon + log(rate) - log_factor
    y -= ULPS * (y if x > -0.5 else epsilon - log(rate) - log_factor)
    return up(log_factor, ULPS) + profile.log_delta(max(y, 0.0))


def pair(sampling_rate: float, profile: Profile) -> "Pair":
    from dpcalc.pld import sampled

    return sampled.poisson(profile.pair(), sampling_rate)


def exact(mp: Any, epsilon: float, sampling_rate: float, profile: Profile) -> Any:
    return max(sided_exact(mp, epsilon, side, sampling_rate, profile) for side in (+1, -1))


def sided_exact(mp: Any, epsilon: float, side: int, sampling_rate: float, profile: Profile) -> Any:
    """q·δ(log(1 + (γ−1)/q)), a record removed, or (1 − γ(1−q))·δ(y), y = −log(1 + (1/γ − 1)/q), one added: the printed
    1 − γ + γ·E_{1/γ}(mix‖N) without what cancels."""
    e, q = mp.mpf(epsilon), mp.mpf(sampling_rate)
    if side > 0:
        return q * profile.exact(mp, mp.log1p(mp.expm1(e) / q))
    left, x = (-mp.expm1(e + mp.log1p(-q)) if sampling_rate < 1 else mp.mpf(1)), mp.expm1(-e) / q
    if left <= 0:  # E_{1/γ}(mix‖N) = 1 − 1/γ
        return mp.mpf(0)
    return left * profile.exact(mp, -mp.log1p(x) if x > -0.5 else e + mp.log(q) - mp.log(left))


BOUND = ProfileBound(
    Theorem(
        name="poisson-profile",
        example="subsample --sampling-rate 0.01 --sigma 1 --steps 10000 --delta 1e-6",
        statement="the larger δ of the pairs (mix, N) and (N, mix), mix = (1−q)N + qP for the base pair (P, N): "
                  "q·δ(log(1 + (e^ε − 1)/q)) for a record removed; steps are composed numerically, each pair by "
                  "itself",
        in_words="DP-SGD, or another mechanism with a known privacy profile, on batches that every record joins "
                 "independently with probability q, every step's output released; steps are composed numerically. A "
                 "record is added or removed. For Gaussian noise it is tight up to the numerical error. It is false "
                 "for shuffled batches, and where the batches or their sizes are shown.",
        source="Balle, Barthe & Gaboardi 2018, Theorem 8, arXiv:1807.01647v2; Zhu, Dong & Wang 2022, Theorems 10 and "
               "11, arXiv:2106.08567v4",
        assumptions=(POISSON, ADDED_OR_REMOVED,
                     "the base guarantee holds for both orders of the neighbours"),
    ),
    params=("sampling_rate", "profile"), value=value, exact=exact, directions=Directions(sided, sided_exact),
    rtol=5e-10, pair=pair)
