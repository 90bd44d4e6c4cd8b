"""The privacy profile of a mechanism on a Poisson-sampled batch: the worse of removing and adding a record."""

from math import expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bound import Bound
from dpcalc.bounds.profile import Profile, sampled_epsilon
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Pair


def value(epsilon: float, sampling_rate: float, profile: Profile) -> float:
    """log of the larger of E_{e^ε}(mix‖N) and E_{e^ε}(N‖mix)."""
    removed = log(sampling_rate) + profile.log_delta(sampled_epsilon(epsilon, sampling_rate))
    return min(0.0, up(max(removed, _added(epsilon, sampling_rate, profile)), 4e-16))


def _added(epsilon: float, rate: float, profile: Profile) -> float:
    """With γ = e^ε: E_γ(N‖mix) = 1 − γ + γ·E_{1/γ}(mix‖N) = (1 − γ(1−q))·δ(y), e^{−y} = 1 + (e^{−ε} − 1)/q, or 0."""
    kept = 1 + expm1(-epsilon) / rate
    left = epsilon + (log1p(-rate) if rate < 1 else -inf)
    if kept <= 0 or left >= 0:
        return -inf
    return log1mexp(left) + profile.log_delta(-log1p(expm1(-epsilon) / rate) * (1 - 1e-15))


def pair(sampling_rate: float, profile: Profile) -> "Pair":
    from dpcalc.profiles import pairs

    return pairs.poisson(profile.pair(), sampling_rate)


def exact(mp: Any, epsilon: float, sampling_rate: float, profile: Profile) -> Any:
    gamma, q = mp.exp(mp.mpf(epsilon)), mp.mpf(sampling_rate)
    removed = _mixture(mp, gamma, q, profile)
    if 1 / gamma <= 1 - q:  # E_{1/γ}(mix‖N) = 1 − 1/γ: nothing is added
        return max(removed, mp.mpf(0))
    return max(removed, 1 - gamma + gamma * _mixture(mp, 1 / gamma, q, profile), mp.mpf(0))


def _mixture(mp: Any, gamma: Any, q: Any, profile: Profile) -> Any:
    """E_γ(mix‖N) as printed: q·δ(log(1 + (γ−1)/q)) where γ > 1 − q, else 1 − γ."""
    if gamma <= 1 - q:
        return 1 - gamma
    inner = mp.log(1 + (gamma - 1) / q)
    if inner >= 0:
        return q * profile.exact(mp, inner)
    return q * (1 - mp.exp(inner) * (1 - profile.exact(mp, -inner)))


BOUND = Bound(
    name="poisson-profile",
    kind="profile",
    statement="the larger δ of the pairs (mix, N) and (N, mix), mix = (1−q)N + qP for the base pair (P, N): "
    "q·δ(log(1 + (e^ε − 1)/q)) for a record removed; steps are composed numerically, each pair by itself",
    source="Balle, Barthe & Gaboardi 2018, Theorem 8, arXiv:1807.01647v2; Zhu, Dong & Wang 2022, Theorems 10 and 11, arXiv:2106.08567v4",
    assumptions=("each record is in the batch independently with probability q, afresh each step",
                 "neighbours differ by adding or removing one record", "the base guarantee holds for both orders of the neighbours"),
    params=("sampling_rate", "profile"),
    value=value,
    exact=exact,
    rtol=5e-10,
    pair=pair,
)
