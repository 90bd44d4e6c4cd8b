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

from dpcalc.bounds.mechanisms.finite import LARGEST_EXPONENT
from dpcalc.bounds.mechanisms.shuffled_ldp import ASSUMPTIONS
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.numerics.binomial import log_binomial_pmf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pilot import Parts

    Array = NDArray[Any]

GROUPS = 1000  # of numbers k; with more of them the compositions of rounds take seconds
REACH = 12  # standard deviations of K; beyond is e^−72 of both laws
LEAST = 1e-306  # smaller probabilities are left out, as those below 2e-308 lose digits
MARGIN = 1e-9  # relative, by which the probabilities are rounded down: a hundred times their rounding errors


def groups(n: int, step_epsilon: float) -> list[int]:
    """The first number k of each group, and the number after the last group. Any choice is valid."""
    a = 1 / (1 + exp(min(step_epsilon, LARGEST_EXPONENT)))
    mean, reach = (n - 1) * a, REACH * sqrt((n - 1) * a)
    first, last = max(0, floor(mean - reach)), min(n, ceil(mean + reach) + 40)
    return [*range(first, last + 1, -(-(last - first + 1) // GROUPS)), last + 1]


def value(n: int, step_epsilon: float) -> Parts:
    """The pair of one round."""
    import numpy as np

    from dpcalc.pld.atoms import Atoms

    step_epsilon = min(step_epsilon, LARGEST_EXPONENT)
    ends = groups(n, step_epsilon)
    log_q = -log1p(exp(-step_epsilon))
    b, log_top = _others(n, ends[0], ends[-1], log_q - step_epsilon, log_q)
    one, zero = (np.add.reduceat(np.exp(log_q) * x + np.exp(log_q - step_epsilon) * y, np.array(ends[:-1]) - ends[0])
                 for x, y in ((b[:-1], b[1:]), (b[1:], b[:-1])))
    seen = np.minimum(one, zero) > LEAST
    one, zero = one[seen], zero[seen]
    at = np.array(ends)[np.append(seen, False)] - ends[0], np.array(ends)[np.append(False, seen)] - ends[0]
    excess = np.maximum(tanh(step_epsilon / 2) * (b[at[0]] - b[at[1]]) / zero, -0.5)  # Pr₁ − Pr₀ is t(b(k−1) − b(k))
    loss = np.where(np.abs(excess) < 0.5, np.log1p(excess), np.log(one) - np.log(zero))

    def atoms(loss: Array, mass: Array, reverse: Atoms | None = None) -> Atoms:
        return Atoms(tuple((loss - MARGIN).tolist()), tuple((np.log(mass) + log_top - MARGIN).tolist()),
                     reverse=reverse, attained=True, rounding_scale=step_epsilon)

    return ((atoms(loss, one, atoms(-loss, zero)), 1),)


def _others(n: int, first: int, end: int, log_p: float, log_q: float) -> tuple[Array, float]:
    """b(k) for k from first − 1 to end − 1, over its largest value, and the log of that."""
    import numpy as np

    k = np.arange(max(first, 1) - 1, min(end, n), dtype=float)
    mode = min(max(floor(n * exp(log_p)), int(k[0])), int(k[-1]))
    steps = np.log((n - 1 - k[:-1]) / (k[:-1] + 1)) + (log_p - log_q)
    m = mode - int(k[0])
    logs = np.concatenate((-np.cumsum(steps[:m][::-1])[::-1], [0.0], np.cumsum(steps[m:])))
    log_top = log_binomial_pmf(mode, n - 1, log_p, log_q, exp(log_p), exp(log_q)) if n > 1 else 0.0
    return np.concatenate((np.zeros(int(first == 0)), np.exp(logs), np.zeros(int(end == n + 1)))), log_top


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
        source="Warner 1965 (randomised response); proof in dpcalc/bounds/mechanisms/shuffled_ldp_lower.py",
        assumptions=ASSUMPTIONS,
        status="lower",
    ),
    params=("n", "step_epsilon"),
    value=value,
    exact=exact,
    rtol=1e-8,
)
