"""The exact privacy profile of the discrete Laplace mechanism (the two-sided geometric mechanism).

The noise X has Pr[X = x] proportional to e^(−a|x|), a = 1/v. For an integer sensitivity s the loss of the outcome x is
a(|x + s| − |x|), which is a(s − 2j) for the integer j = −x between 0 and s; below and above it is constant.

Proof of the formula. J = min(max(−X, 0), s) has Pr[J >= k] = e^(−ak)/(1 + e^(−a)) for 1 <= k <= s. By symmetry the
mass under Q of J < k is that under P of J > s − k. Let k be the number of losses above ε: for u = as − ε the integer
with 2a(k−1) < u <= 2ak. Then (1 + e^(−a))δ(ε) = 1 + e^(−a) − e^(−ak) − e^(ε−a(s+1−k)). The last exponent is a(k−1) − u;
so this is the sum of 1 − e^(a(k−1)−u) and e^(−a)(1 − e^(−a(k−1))), two terms >= 0. For any other k it is what P has
more than e^ε times Q on another set of outcomes, and so at most (1 + e^(−a))δ(ε).

Smaller differences j <= s are covered: the noise is log-concave, so δ_j(ε) = max_t(Pr[X > t] − e^ε Pr[X > t + j]),
which rises in j.
"""

from math import ceil, exp, expm1, inf, log, log1p, tanh
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import log1mexp
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


def inverse(log_delta: float, scale: float, sensitivity: float) -> float:
    """The least ε >= 0 with δ(ε) <= δ, rounded up.

    It is the largest of the ε at which a set of outcomes, those with the k largest losses, has the mass δ: a(s+1−k) +
    log y with y = (1 + e^(−a))(1 − δ) − e^(−ak). This is concave in k, with its maximum where e^(−ak) is half of the
    first term; so the terms do not cancel there.
    """
    most, a, s = pure(scale, sensitivity), 1 / scale, whole(sensitivity, NAME)
    delta, double = exp(log_delta), 1 + exp(-a)
    near = min(max(round((log(2 / double) - log1mexp(log_delta)) / a), 1), s)
    found = 0.0
    for k in range(max(near - 1, 1), min(near + 1, s) + 1):
        y = -expm1(log_delta) * double - exp(-a * k)
        if y <= 0:
            continue
        x = -exp(-a) * expm1(-a * (k - 1)) - delta * double  # y − 1 without cancellation where δ is small
        log_y, size = (log1p(x), abs(x) + delta) if delta < 0.5 else (log(y), y + 2 * exp(-a * k))
        error = 6e-16 * most + 2e-15 * (1 + abs(log_delta)) * size / y + 1e-15 * abs(log_y)
        found = max(found, most - a * (k - 1) + log_y + error)
    return min(most, found)


def pair(scale: float, sensitivity: float) -> "Pair":
    """The dominating pair of one release. Raises OutOfScope where it has too many losses to be composed."""
    import numpy as np

    from dpcalc.pld.atoms import Atoms

    s, a = whole(sensitivity, NAME), 1 / scale
    if s >= _MOST_LOSSES:
        raise OutOfScope("too-large", f"a sensitivity of {s} gives too many privacy losses to be composed numerically "
                                      f"(at most {_MOST_LOSSES}); --mechanism laplace with the same scale loses nearly "
                                      "the same, and may lose less", "--sensitivity")
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
    number = float(u / (2 * a))
    lowest, highest = (min(max(ceil(number * (1 + x)), 1), s) for x in (-1e-12, 1e-12))  # however it is rounded
    first, second = ((1 + mp.exp(-a) - mp.exp(-a * k) - mp.exp(a * (k - 1) - u)) / (1 + mp.exp(-a))
                     for k in (lowest, highest))
    # the larger one without a comparison, which equal numbers would leave undecided
    return first if lowest == highest else (first + second + abs(first - second)) / 2


def exact_outcomes(mp: Any, scale: float, sensitivity: float) -> tuple[list[tuple[Any, Any]], Any]:
    """Those of J = 0, …, s."""
    s, fall = whole(sensitivity, NAME), mp.exp(-1 / mp.mpf(scale))
    centre, high = (1 - fall) / (1 + fall), 1 / (1 + fall)
    inner = [(centre * fall**j, centre * fall ** (s - j)) for j in range(1, s)]
    return [(high, high * fall**s), *inner, (high * fall**s, high)], mp.mpf(0)


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
    inverse=inverse,
    pair=pair,
    outcomes=exact_outcomes,
)
