"""The privacy profile of shuffled reports of local randomisers, for any number of reports."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from dpcalc.bounds.mechanisms import shuffled_ldp
from dpcalc.numerics.binomial import exact_log_choose
from dpcalc.pld.atoms import hull
from dpcalc.verify import composition_atoms
from dpcalc.verify.arb.context import compute_once, is_ball_context, raw
from dpcalc.verify.loss_distributions import LossPair


def delta(mp: Any, epsilon: float, n: int, step_epsilon: float) -> Any:
    """Return δ(ε) as `shuffled_ldp.exact` does, with the far ends of its sums bounded by geometric series."""
    return deltas_at(mp, [epsilon], n, step_epsilon)[0]


def deltas_at(mp: Any, epsilons: list[float], n: int, step_epsilon: float) -> list[Any]:
    """Return δ at all of these increasing ε. For each number of coins the sums up to all of them are taken in one
    pass."""
    below = [e for e in epsilons if e < step_epsilon]
    if n <= 30 or not below:  # the printed sums take milliseconds
        return [shuffled_ldp.exact(mp, e, n, step_epsilon) for e in epsilons]
    shares = [shuffled_ldp.exact_share(mp, e, step_epsilon) for e in below]
    totals = [mp.mpf(0)] * len(below)
    for m, mass in shuffled_ldp.exact_masses(mp, n, mp.mpf(step_epsilon), step_epsilon):
        means = _means(mp, m, [m * share for share in shares])
        totals = [total + mass * mean for total, mean in zip(totals, means, strict=True)]
    e0 = mp.mpf(step_epsilon)
    ones = [-mp.expm1(mp.mpf(e) - e0) / (1 + mp.exp(-e0)) for e in below]
    return [one * total for one, total in zip(ones, totals, strict=True)] + [mp.mpf(0)] * (len(epsilons) - len(below))


def _means(mp: Any, m: int, numbers: list[Any]) -> list[Any]:
    """Return (2/g)·E(g − I)₊ for I ~ Bin(m, 1/2) and decreasing g, of which every sum of positive terms begins where
    that of the next smaller g ends: with the largest i below g and S(i) = Pr(I <= i), E(g − I)₊ is
    S(0) + … + S(i − 1) + (g − i)S(i)."""
    i = ceil(float(numbers[-1])) - 1
    weight = raw(mp, mp.exp(exact_log_choose(mp, m, i) - m * mp.log(mp.mpf(2))))
    below, sums, rest = _add_downwards(weight, m, i)
    if is_ball_context(mp):
        unknown = mp.between(0, rest).x
        below, sums = below + unknown, sums + unknown
    found = []
    for g in reversed(numbers):
        while i < ceil(float(g)) - 1:
            weight, sums, i = weight * (m - i) / (i + 1), sums + below, i + 1
            below += weight
        mean = mp.mpf(sums) + (g - i) * mp.mpf(below)
        if float(g) == i + 1 and i < m and is_ball_context(mp):  # g is whole up to rounding: it may exceed i + 1
            mean += mp.between(0, mp.mpf(weight) * (m - i) / (i + 1) * abs(g - i - 1))
        found.append(2 * mean / g)
    return found[::-1]


def _add_downwards(weight: Any, m: int, i: int) -> tuple[Any, Any, Any]:
    """Return S(i) = Σ_{j<=i} P(j) and S(0) + … + S(i − 1) = Σ_{j<=i} (i − j)P(j), without their terms from the j on
    where these are negligible, and an upper bound of what either leaves out. `weight` is P(i)."""
    below, sums, ahead = weight, weight * 0, 0
    for j in range(i, 0, -1):
        weight, ahead = weight * j / (m - j + 1), ahead + 1
        below += weight
        sums += weight * ahead
        if j % 64 == 0:  # only sometimes, as conversions to doubles take time
            decay = (j - 1) / (m - j + 2)
            rest = (ahead + 1 / (1 - decay)) * decay / (1 - decay)
            if float(weight) * rest < 2.0**-90 * float(below):  # differences of such sums are the masses of a pair
                return below, sums, weight * (2 * rest)
    return below, sums, weight * 0


def losses(part: Mapping[str, Any]) -> LossPair:
    """Return the dominating pair of one round, whose profile is known at points and linear in e^ε between them."""
    n, e0 = int(part["n"]), float(part["step_epsilon"])
    points = shuffled_ldp.epsilons(n, e0)
    values = [shuffled_ldp.value(x, n, e0) for x in points]
    corners = [x for x, _ in hull(points, values)]
    deltas = compute_once(lambda mp: dict(zip(corners, deltas_at(mp, corners, n, e0), strict=True)))
    return composition_atoms.profile_pair(corners, lambda mp, x: deltas(mp)[x])
