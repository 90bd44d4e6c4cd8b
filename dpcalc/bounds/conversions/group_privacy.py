"""Group privacy: what a guarantee for one record implies for a group of K records, from points of its privacy profile.

Theorem. A mechanism that is (ε, δ)-DP for data sets that differ in one record is (Kε, δ(e^{Kε} − 1)/(e^ε − 1))-DP for
data sets that differ in K records, and with δ = 0 Kε-DP.

Proof. Let M_0, …, M_K be the outputs on a chain of data sets in which neighbours differ in one record. For every event,
M_0 <= e^ε M_1 + δ <= e^ε(e^ε M_2 + δ) + δ <= … <= e^{Kε} M_K + δ(1 + e^ε + … + e^{(K−1)ε}). ∎

Every known point of a privacy profile gives such a point for the group, so that the profile of the group at ε is at
most the least δ of these points up to ε. It is a generic bound: K records of a known mechanism usually lose less."""

from math import exp, expm1, inf, log
from typing import Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up

Points = tuple[tuple[float, float], ...]  # (ε, δ), for one record


def of_group(epsilon: float, delta: float, group_size: int) -> tuple[float, float]:
    """Kε and log(δ(e^{Kε} − 1)/(e^ε − 1)), both rounded up."""
    total = ratio_up((float(group_size), epsilon))
    if delta == 0:
        return total, -inf
    log_delta = log(delta)
    # the sum 1 + e^ε + … + e^{(K−1)ε} of the proof
    ratio = group_size if epsilon == 0 else expm1(-total) / expm1(-epsilon)
    size = 1 + abs(log_delta) + total + log(ratio)  # of the terms, whose rounding errors are 2e-16 each
    return total, log_delta + (total - epsilon) + log(ratio) + 4e-15 * size


def value(epsilon: float, profile_points: Points, group_size: int) -> float:
    """log of the least δ of a point of the group at this ε or below; 0 where there is none."""
    found = (of_group(e, d, group_size) for e, d in profile_points)
    return min([0.0, *(log_delta for e, log_delta in found if e <= epsilon)])


def inverse(log_delta: float, profile_points: Points, group_size: int) -> float:
    """The least ε of a point of the group whose δ is at most this one. Raises OutOfScope where there is none."""
    found = [of_group(e, d, group_size) for e, d in profile_points]
    enough = [e for e, own in found if own <= log_delta]
    if not enough:
        from dpcalc.core.numbers import human_probability

        least = min(0.0, *(own for _, own in found))
        reached = f"the least δ it gives is {human_probability(exp(least), least)}"
        raise OutOfScope("no-solution", f"no ε is enough for this δ by group-privacy; {reached}", "--delta")
    return min(enough)


def pure(profile_points: Points, group_size: int) -> float:
    """Kε where δ = 0. Raises OutOfScope where every point has a positive δ."""
    exact = [of_group(e, d, group_size)[0] for e, d in profile_points if d == 0]
    if not exact:
        raise OutOfScope("no-solution", "0 is not possible, as the guarantee has a positive δ; give a positive δ",
                         "--delta")
    return min(exact)


def exact(mp: Any, epsilon: float, profile_points: Points, group_size: int) -> Any:
    deltas = [mp.mpf(1)]
    for e, d in profile_points:
        if group_size * mp.mpf(e) <= mp.mpf(epsilon):
            one = mp.mpf(e)
            deltas.append(mp.mpf(d) * (group_size if e == 0 else mp.expm1(group_size * one) / mp.expm1(one)))
    return min(deltas)


BOUND = ProfileBound(
    Theorem(
        name="group-privacy",
        example="convert --from dp --epsilon 0.5 --delta 1e-7 --group-size 3",
        statement="a mechanism that is (ε, δ)-DP for one record is (Kε, δ(e^(Kε) − 1)/(e^ε − 1))-DP for K records; of "
                  "several known (ε, δ), the one that gives the least",
        source="sharper than Vadhan 2017, Lemma 2.2; proof in dpcalc/bounds/conversions/group_privacy.py; Dwork & Roth "
               "2014, Theorem 2.2 (δ = 0)",
        assumptions=("the given guarantee holds for data sets that differ in one record, for both orders of the "
                     "neighbours, and for all data sets on a chain between the two",),
        in_words="What one (ε, δ) for a record implies for a user with K records, where nothing else is known of the "
                 "mechanism: K times the ε, and at least K times the δ. Where the mechanism is known, its bound for "
                 "groups is usually much smaller. It is false where the guarantee covers only some neighbours.",
    ),
    params=("profile_points", "group_size"), value=value, exact=exact, rtol=1e-13, pure=pure, inverse=inverse)
