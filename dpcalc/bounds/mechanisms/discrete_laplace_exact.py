"""The exact privacy profile of the discrete Laplace mechanism (the two-sided geometric mechanism).

The noise X has Pr[X = x] proportional to e^(−a|x|), a = 1/v. For an integer sensitivity s the loss of the outcome x is
a(|x + s| − |x|), which is a(s − 2j) for the integer j = −x between 0 and s; below and above it is constant.

Proof of the formula. J = min(max(−X, 0), s) has Pr[J >= k] = e^(−ak)/(1 + e^(−a)) for 1 <= k <= s. By symmetry the
mass under Q of J < k is that under P of J > s − k. Let k be the number of losses above ε: for u = as − ε the integer
with 2a(k−1) < u <= 2ak. Then (1 + e^(−a))δ(ε) = 1 + e^(−a) − e^(−ak) − e^(ε−a(s+1−k)). The last exponent is a(k−1) − u;
so this is the sum of 1 − e^(a(k−1)−u) and e^(−a)(1 − e^(−a(k−1))), two terms >= 0. For any other k it is what P has
more than e^ε times Q on another set of outcomes, and so at most (1 + e^(−a))δ(ε).
"""

from math import ceil, exp, expm1, inf, log, log1p, tanh
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ASSUMPTIONS = ("the query is one integer that changes by at most s between neighbouring data sets",
               "noise on the integers with Pr[X = x] proportional to e^(−|x|/v)")
NAME = "discrete Laplace"
_MOST_LOSSES = 2**18  # of a pair: a composition of so many takes seconds


def pure(scale: float, sensitivity: float) -> float:
    """ε = s/v with δ = 0, rounded up exactly."""
    whole(sensitivity, NAME)
    return ratio_up((sensitivity,), (scale,))


def value(epsilon: float, scale: float, sensitivity: float) -> float:
    """log δ(ε), rounded up; −inf from ε = s/v on."""
    most, a, s = pure(scale, sensitivity), 1 / scale, whole(sensitivity, NAME)
    if epsilon >= most:
        return -inf
    u = (most - epsilon) + 6e-16 * most
    near = min(max(ceil(u / (2 * a)), 1), s)  # rounding may change k by one: the largest sum is the right one
    delta = max(_delta(u, a, k) for k in {max(near - 1, 1), near, min(near + 1, s)})
    return min(0.0, up(log(delta), 4e-15) + 4e-15)


def _delta(u: float, a: float, k: int) -> float:
    """δ from the outcomes with the k largest losses."""
    below = a * (k - 1)
    return (-expm1(below - u) - exp(-a) * expm1(-below)) / (1 + exp(-a))


def pair(scale: float, sensitivity: float) -> "Pair":
    """The dominating pair of one release. Raises OutOfScope where it has too many losses to be composed."""
    import numpy as np

    from dpcalc.pld.atoms import Atoms

    s, a = whole(sensitivity, NAME), 1 / scale
    if s >= _MOST_LOSSES:
        raise OutOfScope("too-large", f"a sensitivity of {s} gives too many privacy losses to be composed numerically "
                                      f"(at most {_MOST_LOSSES})", "--sensitivity")
    j = np.arange(s + 1)
    log_p = log(tanh(a / 2)) - a * j
    log_p[[0, -1]] = -log1p(exp(-a)) - a * j[[0, -1]]
    return Atoms(tuple((a * (s - 2 * j)).tolist()), tuple(log_p.tolist()), attained=True)


def exact(mp: Any, epsilon: float, scale: float, sensitivity: float) -> Any:
    """Σ_j (P_j − e^ε Q_j)₊ in closed form."""
    a, s = 1 / mp.mpf(scale), whole(sensitivity, NAME)
    u = a * s - mp.mpf(epsilon)
    if not u > 0:
        return mp.mpf(0)
    near = min(max(ceil(float(u / (2 * a))), 1), s)
    sums = [(1 + mp.exp(-a) - mp.exp(-a * k) - mp.exp(a * (k - 1) - u)) / (1 + mp.exp(-a))
            for k in sorted({max(near - 1, 1), near, min(near + 1, s)})]
    best = sums[0]
    for other in sums[1:]:  # the larger one without a comparison, which equal numbers would leave undecided
        best = (best + other + abs(best - other)) / 2
    return best


BOUND = ProfileBound(
    Theorem(
        name="discrete-laplace-exact",
        example="rdp --mechanism discrete-laplace --scale 10 --sensitivity 5 --epsilon 0.1",
        statement="(1 + e^(−a))δ(ε) = 1 + e^(−a) − e^(−ak) − e^(ε − a(s+1−k)), a = 1/v, k = ⌈(as − ε)/(2a)⌉; pure ε = "
                  "s/v; several releases are composed numerically",
        source="Ghosh, Roughgarden & Sundararajan 2012; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 "
               "(composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("scale", "sensitivity"),
    value=value,
    exact=exact,
    rtol=2e-14,
    pure=pure,
    pair=pair,
)
