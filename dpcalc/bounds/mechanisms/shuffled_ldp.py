"""The privacy profile of n locally randomised reports that a shuffler puts into a uniformly random order.

Everybody applies the same ε₀-DP randomiser R to their own record; the reports are shuffled and released. Neighbouring
data sets differ in one record, x₀ or x₁. The bound is the profile of shuffled reports of randomised response in which
each of the n − 1 others is a fair coin with probability r = 2/(e^{ε₀} + 1), and else reveals nothing: the "stronger
clones" of Feldman, McMillan & Talwar 2023. Their proof covers a part of all randomisers only, as the errata in
arXiv:2208.04591 say; the following proof covers all of them.

Proof. Let P₀ and P₁ be the laws of R(x₀) and R(x₁), and b = e^{−ε₀}max(P₀, P₁), of total mass β <= r. Every R(x) is at
least b, so each other report is drawn from B = b/β with probability β, and else from some other law. Reveal those
other reports. There remain the report of x₀ or x₁ and M ~ Bin(n−1, β) draws from B, in random order. Their density
against B^{M+1} is the mean of P₀(y_j)/B(y_j) over j, or of P₁(y_j)/B(y_j) (the privacy blanket, Balle et al. 2019). As
Pr[M = k]/(k+1) = Pr[Bin(n, β) = k+1]/(nβ), the hockey-stick divergence is

    δ(ε) <= (e^{ε₀}/n)·E(X_1 + … + X_n)₊

with independent X_i: a report y has the measure b, and then X_i = (P₀ − e^εP₁)/max(P₀, P₁) at y; else X_i = 0.
All randomisers have the same mean E X_i = e^{−ε₀}(1 − e^ε). Randomised response has the values v₊ = 1 − e^{ε−ε₀} and
v₋ = e^{−ε₀} − e^ε, each of measure 1/(e^{ε₀} + 1). It is the largest in convex order. For let φ be convex; as total
measures and means agree, let φ >= 0 and φ(0) = 0. At every y (P₀, P₁) = s(e^{ε₀}, 1) + u(1, e^{ε₀}) with s, u >= 0,
where ∫s = ∫u = 1/(e^{ε₀} + 1), as P₀ and P₁ have mass 1. Let v be the value of X_i at y and m = b(y), so that mv =
sv₊ + uv₋ and v₋ <= v <= v₊. If v >= 0 then mφ(v) <= (mv/v₊)φ(v₊) <= sφ(v₊); if v < 0 then mφ(v) <= (mv/v₋)φ(v₋) <=
uφ(v₋). So E φ(X_i) is at most that of randomised response. Convex order is preserved by independent sums, and E(·)₊ is
the expectation of a convex function. The order of x₀ and x₁ is free.

The formula. With m = 1 + (number of coins), I ~ Bin(m, 1/2) and t = tanh(ε₀/2), the two laws of the released counts are
Bin(m, 1/2) times 1 ± t(1 − 2I/m), so that for |ε| < ε₀ (beyond, the profile is trivial) δ_m(ε) = δ₁(ε)·(2/g)·E(g − I)₊
with g = m·G, 2G = 1 − tanh(ε/2)/t and δ₁ that of randomised response. δ_m falls in m, because the mean of m signs is a
convex combination of means of m − 1 of them (Jensen). So the law of the number of coins is taken in blocks, each with
the δ_m of its first number; any blocks give an upper bound. These have up to a 2000th of m, and increase ε by 2e-4 at
most, relatively, in the cases tried.

Several rounds are composed numerically. The profile of one round need not be symmetric. But x₀ and x₁ may be exchanged,
so both directions satisfy the bound at ε >= 0, and each gives the mirror images for the other one: δ(−ε) = 1 − e^{−ε}(1
− δ′(ε)).
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, expm1, floor, inf, log, log1p, nextafter, sqrt, tanh
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import exact_log_choose
from dpcalc.numerics.elementary import LARGEST_EXPONENT, log1mexp
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array
    from dpcalc.pld.pair import Pair

WIDTH = 2000  # a block of coins holds at most this part of their number
MOST_PRINTED = 1000  # reports whose sums `exact` adds up term by term, in a second
CHUNK = 128  # terms of a binomial tail that are added at once; the number changes the time only

ASSUMPTIONS = ("everybody applies the same ε₀-DP randomiser to their own record, once a round, with independent "
               "randomness",
               "only the reports in a uniformly random order are released, not who sent them",
               "neighbours differ by replacing one record; n is public")


def blocks(n: int, step_epsilon: float) -> tuple[list[int], int]:
    """The first number of coins of each block, and the last number of the last block; numbers beside them are bounded
    by geometric series. Any choice is valid."""
    r = 2 / (exp(min(step_epsilon, LARGEST_EXPONENT)) + 1)
    mean = (n - 1) * r
    # 13 standard deviations, beyond which is e^−84 of a normal law, and 60 more numbers where the law is not normal,
    # because coins, or numbers without one, are rare
    reach = 13 * sqrt(mean * (1 - r)) + 60
    first, last = max(0, floor(mean - reach)), min(n - 1, ceil(mean + reach))
    starts = []
    while first <= last:
        starts.append(first)
        first += max(1, (first + 1) // WIDTH)
    return starts, last


def value(epsilon: float, n: int, step_epsilon: float) -> float:
    """log δ(ε), rounded up; −inf from ε = ε₀ on."""
    if n > 10**9:  # the sums of so many take half a second
        raise OutOfScope("out-of-range", f"{n:g} is above 1e9, the most reports that are computed; 1e9 reports lose "
                                         "at least as much privacy, so give 1e9", "--n")
    if epsilon >= step_epsilon:
        return -inf
    import numpy as np

    coins, log_mass = _masses(n, step_epsilon)
    share = -exp(-epsilon) * expm1(epsilon - step_epsilon) / (-expm1(-step_epsilon) * (1 + exp(-epsilon)))
    # Rounded up, as δ rises in g. Below 1 it cancels from both logarithms, and may be any positive number.
    g = np.maximum((coins + 1) * share * (1 + 1e-15), 5e-324)
    log_terms = log_mass + log(2) - np.log(g) + _log_means(coins + 1, g)
    top = float(log_terms.max())
    log_factor = top + log(float(np.exp(log_terms - top).sum()))
    # 1e-8 is at least ten times the rounding errors of the logarithms of 1e6 probabilities, added up.
    # Near δ = 1 log δ is about −e^(ε − ε₀), so that the rounding of the difference decides: it goes down.
    one = log1mexp(nextafter(epsilon - step_epsilon, -inf)) - log1p(exp(-step_epsilon))
    return up(min(0.0, one + min(0.0, log_factor + 1e-8)), 2e-14)


@lru_cache(maxsize=16)
def _masses(n: int, step_epsilon: float) -> tuple[Array, Array]:
    """The number of coins at which each block is evaluated, and the logs of the masses of the blocks, with one more at
    either end for what is beyond them."""
    import numpy as np

    from dpcalc.numerics.binomial_array import log_pmf_range

    starts, last = blocks(n, step_epsilon)
    first, others = starts[0], n - 1
    log_total = log1p(exp(-step_epsilon))
    log_p, log_q = log(2) - step_epsilon - log_total, log(-expm1(-step_epsilon)) - log_total
    logs, log_top = log_pmf_range(first, last, others, log_p, log_q)
    with np.errstate(divide="ignore"):  # numbers far above the mean, which have the least δ, may underflow
        masses = np.log(np.add.reduceat(np.exp(logs), np.array(starts) - first)) + log_top
    logs = logs[[0, -1]] + log_top
    coins = np.array(starts, dtype=float)
    if first > 0:
        log_ratio = log(first / (others - first + 1)) + log_q - log_p
        coins, masses = np.append(0.0, coins), np.append(logs[0] + log_ratio - log1mexp(log_ratio), masses)
    if last < others:
        log_ratio = log((others - last) / (last + 1)) + log_p - log_q
        coins, masses = np.append(coins, last + 1.0), np.append(masses, logs[-1] + log_ratio - log1mexp(log_ratio))
    return coins, masses


def _log_means(m: Array, g: Array) -> Array:
    """log E(g − I)₊ for I ~ Bin(m, 1/2) and 0 < g <= m/2, to a relative error of 1e-11."""
    import numpy as np

    from dpcalc.numerics.binomial_array import log_fair_pmf

    i = np.ceil(g) - 1
    log_first = log_fair_pmf(i, m)
    i, ahead, m = i[:, None], (g - i)[:, None], m[:, None]
    total, weight, k = ahead.copy(), np.ones_like(ahead), np.arange(CHUNK)
    while True:
        ratio = np.maximum(i - k, 0.0) / (m - i + k + 1)
        weights = weight * np.cumprod(ratio, axis=1)
        total += (weights * (ahead + k + 1)).sum(axis=1, keepdims=True)
        i, ahead, weight = i - CHUNK, ahead + CHUNK, weights[:, -1:]
        decay = np.minimum(ratio[:, -1:], 1 - 1e-9)  # of the weights that follow
        rest = weight * (ahead + 1 / (1 - decay)) * decay / (1 - decay)
        if (rest <= 1e-17 * total).all():
            logs: Array = log_first + np.log(total + rest)[:, 0]
            return logs


def exact(mp: Any, epsilon: float, n: int, step_epsilon: float) -> Any:
    """δ₁·Σ Pr[block]·(2/g)·Σ_{i<g} (g − i)·C(m, i)/2^m."""
    e, e0 = mp.mpf(epsilon), mp.mpf(step_epsilon)
    if e >= e0:
        return mp.mpf(0)
    if n > MOST_PRINTED:
        raise OutOfScope("too-large", f"the sums over the reports are added up for at most {MOST_PRINTED} of them",
                         "--n")
    share = exact_share(mp, epsilon, step_epsilon)
    return -mp.expm1(e - e0) / (1 + mp.exp(-e0)) * mp.fsum(
        mass * _mean_exact(mp, m, m * share) for m, mass in exact_masses(mp, n, e0, step_epsilon))


def exact_share(mp: Any, epsilon: float, step_epsilon: float) -> Any:
    """G = (1 − tanh(ε/2)/tanh(ε₀/2))/2."""
    if epsilon == 0:
        return mp.mpf(1) / 2
    e, e0 = mp.mpf(epsilon), mp.mpf(step_epsilon)
    return mp.exp(-e) * mp.expm1(e - e0) / (mp.expm1(-e0) * (1 + mp.exp(-e)))


def _mean_exact(mp: Any, m: int, g: Any) -> Any:
    """(2/g)·E(g − I)₊."""
    total, probability, i = mp.mpf(0), mp.mpf(2) ** -m, 0
    while g > i:
        total += (g - i) * probability
        probability = probability * (m - i) / (i + 1)
        i += 1
    return 2 * total / g


def exact_masses(mp: Any, n: int, e0: Any, step_epsilon: float) -> list[tuple[int, Any]]:
    """m and the mass of every block, with one more at either end for what is beyond the blocks."""
    starts, last = blocks(n, step_epsilon)
    others, first = n - 1, starts[0]
    odds = 2 * mp.exp(-e0) / -mp.expm1(-e0)
    probability = mp.exp(exact_log_choose(mp, others, first) + first * mp.log(odds) - others * mp.log1p(odds))
    found = []
    if first > 0:
        ratio = first / (mp.mpf(others - first + 1) * odds)
        found.append((1, probability * ratio / (1 - ratio)))
    for start, end in zip(starts, [*starts[1:], last + 1], strict=True):
        mass = mp.mpf(0)
        for c in range(start, end):
            mass += probability
            probability = probability * (others - c) / (c + 1) * odds
        found.append((start + 1, mass))
    if last < others:
        ratio = mp.mpf(others - last - 1) / (last + 2) * odds
        found.append((last + 2, probability / (1 - ratio)))
    return found


def epsilons(n: int, step_epsilon: float) -> list[float]:
    """The ε at which the profile of a round is known. Any choice is valid."""
    coins = 1 + (n - 1) * 2 / (exp(min(step_epsilon, LARGEST_EXPONENT)) + 1)
    deviation = min(step_epsilon, 2 * tanh(step_epsilon / 2) / sqrt(coins))
    points = (deviation * k / 10 for k in range(120))  # a tenth of a standard deviation apart adds about 1e-3 to ε
    return [*(x for x in points if x < step_epsilon), step_epsilon]


def pair(n: int, step_epsilon: float) -> Pair:
    from dpcalc.pld.atoms import profile_at_points

    points = epsilons(n, step_epsilon)
    return profile_at_points(points, [value(x, n, step_epsilon) for x in points])


EXACT = ProfileBound(
    Theorem(
        name="shuffled-ldp-exact",
        example="rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6",
        statement="δ(ε) is at most that of (A, C + 1 − A) for C ~ Bin(n−1, 2/(e^ε₀+1)) and A ~ Bin(C, 1/2) + Bern(p), "
                  "p = e^ε₀/(e^ε₀+1) against p = 1/(e^ε₀+1): the stronger clones, for every ε₀-DP randomiser; C is "
                  "taken in blocks from above",
        in_words="Everybody randomises one report with ε₀-DP, and a shuffler releases the n reports in random order, "
                 "so that the reports of the others hide that of a person. It holds for every ε₀-DP randomiser, where "
                 "one record is replaced, and for one round. It is false where reports can be linked to people; n "
                 "counts only people who do randomise.",
        source="Feldman, McMillan & Talwar 2023, arXiv:2208.04591 (whose errata restrict it to some randomisers); "
               "Balle, Bell, Gascón & Nissim 2019, arXiv:1903.02837 (blanket); proof for all randomisers in "
               "dpcalc/bounds/mechanisms/shuffled_ldp.py",
        assumptions=(*ASSUMPTIONS, "one round"),
    ),
    params=("n", "step_epsilon"), value=value, exact=exact, rtol=2e-8, pure=lambda n, step_epsilon: step_epsilon)

PROFILE = ProfileBound(
    Theorem(
        name="shuffled-ldp-profile",
        example="rdp --mechanism shuffled-ldp --n 10000 --step-epsilon 2 --steps 10 --delta 1e-6",
        statement="the profile of each round, known at points, composed numerically through the pair whose profile is "
                  "linear in e^ε between them",
        in_words="Several rounds of shuffled reports, each randomised with ε₀-DP and released in random order: the "
                 "profile of one round is composed numerically. It holds for every ε₀-DP randomiser, where one record "
                 "is replaced. It is false where reports of several rounds can be linked to the same person; "
                 "shuffled-ldp-lower shows how much too large it can be.",
        source="Feldman, McMillan & Talwar 2023, arXiv:2208.04591; proof in "
               "dpcalc/bounds/mechanisms/shuffled_ldp.py; Doroshenko et al. 2022, Theorem 3.3, "
               "arXiv:2207.04380v3; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("n", "step_epsilon"), value=value, exact=exact, rtol=2e-8, pair=pair)

BOUNDS = (EXACT, PROFILE)
