"""The privacy profile of a mechanism on a batch drawn without replacement."""

from math import inf, log
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.profile import Profile, sampled_epsilon
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


def value(epsilon: float, sampling_rate: float, profile: Profile) -> float:
    """log δ′(ε) = log(q·δ(log(1 + (e^ε − 1)/q)))."""
    return min(0.0, up(log(sampling_rate) + profile.log_delta(sampled_epsilon(epsilon, sampling_rate)), 4e-16))


def pair(sampling_rate: float, profile: Profile) -> "Pair":
    from dpcalc.pld import sampled

    return sampled.without_replacement(profile.pair(), sampling_rate)


def rdp(alpha: float, sampling_rate: float, profile: Profile) -> float:
    """ε(α) of one step: the Rényi divergence of its dominating pair."""
    from dpcalc.pld.renyi import divergence

    # it may underflow
    return max(divergence(pair(sampling_rate, profile), alpha), 5e-324 if profile.log_delta(0.0) > -inf else 0.0)


def exact(mp: Any, epsilon: float, sampling_rate: float, profile: Profile) -> Any:
    q = mp.mpf(sampling_rate)
    return q * profile.exact(mp, mp.log(1 + mp.expm1(mp.mpf(epsilon)) / q))


BOUND = ProfileBound(
    Theorem(
        name="wor-profile",
        example="subsample --scheme without-replacement --sampling-rate 0.01 --sigma 2 --steps 1000 --delta 1e-5",
        statement="δ′(ε) = q·δ(log(1 + (e^ε − 1)/q)) for ε ≥ 0, δ′(−ε) = 1 − e^(−ε)(1 − δ′(ε)); steps are composed "
                  "numerically",
        source="Balle, Barthe & Gaboardi 2018, Theorem 9, arXiv:1807.01647v2; Zhu, Dong & Wang 2022, Theorem 10 "
               "(composition)",
        assumptions=("batches of fixed size b = qn drawn uniformly without replacement, afresh each step",
                     "neighbours differ by replacing one record",
                     "the base guarantee holds for both orders of the neighbours"),
    ),
    params=("sampling_rate", "profile"),
    value=value,
    exact=exact,
    rtol=5e-10,
    pair=pair,
    rdp=rdp,
)
