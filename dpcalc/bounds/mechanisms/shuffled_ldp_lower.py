"""What shuffled reports can lose at least: randomised response on one bit, where all other people have the bit 0.

Proof. The reports are known by the number K of ones. Let a = 1/(e^{ε₀} + 1) be the probability of a false report, and
b the law Bin(n−1, a) of the ones of the others. Pr[K = k] is (1−a)·b(k−1) + a·b(k) if the last person has the bit 1,
and a·b(k−1) + (1−a)·b(k) else. So no ε below that of these two laws holds for all ε₀-DP randomisers. Numbers k are
merged into groups, and those far from the mean are left out, which loses less. For ε₀ > 700, where a is at the end of
double precision, the randomised response of ε₀ = 700 is taken, which is ε₀-DP, too. """

from __future__ import annotations

from itertools import pairwise
from math import ceil, exp, floor, log1p, sqrt, tanh
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.shuffled_ldp import ASSUMPTIONS
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.numerics.elementary import LARGEST_EXPONENT

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array
    from dpcalc.pld.pilot import Parts


def groups(n: int, step_epsilon: float) -> list[int]:
    """The first number k of each group, and the number after the last group. Any choice is valid."""
    a = 1 / (1 + exp(min(step_epsilon, LARGEST_EXPONENT)))
    mean, reach = (n - 1) * a, 12 * sqrt((n - 1) * a)  # beyond 12 standard deviations is e^−72 of both laws
    first, last = max(0, floor(mean - reach)), min(n, ceil(mean + reach) + 40)
    return [*range(first, last + 1, -(-(last - first + 1) // 1000)), last + 1]  # with more, rounds take seconds


def value(n: int, step_epsilon: float) -> Parts:
    """The pair of one round."""
    import numpy as np

    from dpcalc.numerics.binomial_array import log_pmf_range
    from dpcalc.pld.atoms import Atoms

    step_epsilon = min(step_epsilon, LARGEST_EXPONENT)
    ends = groups(n, step_epsilon)
    log_q = -log1p(exp(-step_epsilon))
    # b(k) for k from the first one − 1 to the last one, over its largest value
    logs, log_top = log_pmf_range(max(ends[0], 1) - 1, min(ends[-1], n) - 1, n - 1, log_q - step_epsilon, log_q)
    b = np.concatenate((np.zeros(int(ends[0] == 0)), np.exp(logs), np.zeros(int(ends[-1] == n + 1))))
    one, zero = (np.add.reduceat(np.exp(log_q) * x + np.exp(log_q - step_epsilon) * y, np.array(ends[:-1]) - ends[0])
                 for x, y in ((b[:-1], b[1:]), (b[1:], b[:-1])))
    seen = np.minimum(one, zero) > 1e-306  # those below 2e-308 lose digits
    one, zero = one[seen], zero[seen]
    at = np.array(ends)[np.append(seen, False)] - ends[0], np.array(ends)[np.append(False, seen)] - ends[0]
    excess = np.maximum(tanh(step_epsilon / 2) * (b[at[0]] - b[at[1]]) / zero, -0.5)  # Pr₁ − Pr₀ is t(b(k−1) − b(k))
    loss = np.where(np.abs(excess) < 0.5, np.log1p(excess), np.log(one) - np.log(zero))

    def atoms(loss: Array, mass: Array, reverse: Atoms | None = None) -> Atoms:
        margin = 1e-9  # relative: a hundred times the rounding errors of the probabilities
        return Atoms(tuple((loss - margin).tolist()), tuple((np.log(mass) + log_top - margin).tolist()),
                     reverse=reverse, attained=True, rounding_scale=step_epsilon)

    return ((atoms(loss, one, atoms(-loss, zero)), 1),)


def exact(mp: Any, epsilon: float, n: int, step_epsilon: float) -> Any:
    """The larger δ of both directions, over the groups."""
    e = mp.exp(mp.mpf(epsilon))
    both = exact_groups(mp, n, step_epsilon)
    return max(mp.fsum(max(p - e * q, mp.mpf(0)) for p, q in pairs)
               for pairs in (both, [(q, p) for p, q in both]))


def exact_groups(mp: Any, n: int, step_epsilon: float) -> list[tuple[Any, Any]]:
    """Of each group, the probabilities under both laws."""
    ends, e0 = groups(n, step_epsilon), mp.mpf(min(step_epsilon, LARGEST_EXPONENT))
    a = 1 / (1 + mp.exp(e0))
    first, others = ends[0], n - 1
    log_choose = mp.loggamma(mp.mpf(others + 1)) - mp.loggamma(mp.mpf(first + 1))
    log_choose -= mp.loggamma(mp.mpf(others - first + 1)) if first <= others else 0
    b = mp.exp(log_choose + first * mp.log(a) + (others - first) * mp.log(1 - a))  # b(first)
    before = b * first * (1 - a) / ((n - first) * a)
    found = []
    for start, end in pairwise(ends):
        one = zero = mp.mpf(0)
        for k in range(start, end):
            one += (1 - a) * before + a * b
            zero += a * before + (1 - a) * b
            before, b = b, b * (others - k) / (k + 1) * a / (1 - a)
        found.append((one, zero))
    return found


BOUND = CompositionBound(
    Theorem(
        name="shuffled-ldp-lower",
        example="rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6",
        statement="randomised response with a = 1/(e^ε₀+1) on one bit: Bern(1−a) + Bin(n−1, a) against Bern(a) + "
                  "Bin(n−1, a), so every bound for all ε₀-DP randomisers is at least their δ(ε)",
        in_words="This is a lower bound, and no guarantee: what shuffled randomised response on one bit loses, where "
                 "all other people have the same bit. So a bound for all ε₀-DP randomisers cannot be smaller. Another "
                 "randomiser, such as one over many categories, may lose less than this.",
        source="Warner 1965 (randomised response); proof in dpcalc/bounds/mechanisms/shuffled_ldp_lower.py",
        assumptions=ASSUMPTIONS,
        status="lower",
    ),
    params=("n", "step_epsilon"), value=value, exact=exact, rtol=1e-8)
