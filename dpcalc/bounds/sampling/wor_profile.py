"""The privacy profile of a mechanism on a batch drawn without replacement."""

from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_profile
from dpcalc.bounds.sampling._engine.assumptions import FIXED_SIZE, REPLACED
from dpcalc.core.bound import ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


def value(epsilon: float, sampling_rate: float, profile: Profile) -> float:
    """log δ′(ε) = log(q·δ(log(1 + (e^ε − 1)/q))), as for a record that is removed from a Poisson batch."""
    return poisson_profile.sided(epsilon, +1, sampling_rate, profile)


def pair(sampling_rate: float, profile: Profile) -> "Pair":
    from dpcalc.pld import sampled

    return sampled.without_replacement(profile.pair(), sampling_rate)


def rdp(alpha: float, sampling_rate: float, profile: Profile) -> float:
    """ε(α) of one step: the Rényi divergence of its dominating pair."""
    from dpcalc.pld.renyi import divergence

    # it may underflow
    return max(divergence(pair(sampling_rate, profile), alpha), 5e-324 if profile.log_delta(0.0) > -inf else 0.0)


def exact(mp: Any, epsilon: float, sampling_rate: float, profile: Profile) -> Any:
    return poisson_profile.sided_exact(mp, epsilon, +1, sampling_rate, profile)


BOUND = ProfileBound(
    Theorem(
        name="wor-profile",
        example="subsample --scheme without-replacement --sampling-rate 0.01 --sigma 2 --steps 1000 --delta 1e-5",
        statement="δ′(ε) = q·δ(log(1 + (e^ε − 1)/q)) for ε ≥ 0, δ′(−ε) = 1 − e^(−ε)(1 − δ′(ε)); steps are composed "
                  "numerically",
        in_words="A mechanism on batches of fixed size, drawn uniformly without replacement and afresh at every step, "
                 "where a record is replaced; steps are composed numerically. For one step with Gaussian noise it is "
                 "tight; several steps may lose less. It is false for batches taken from a shuffled epoch, and where "
                 "the batches are shown.",
        source="Balle, Barthe & Gaboardi 2018, Theorem 9, arXiv:1807.01647v2; Zhu, Dong & Wang 2022, Theorem 10 "
               "(composition)",
        assumptions=(FIXED_SIZE, REPLACED,
                     "the base guarantee holds for both orders of the neighbours"),
    ),
    params=("sampling_rate", "profile"), value=value, exact=exact, rtol=5e-10, pair=pair, rdp=rdp)
