"""The discrete Laplace mechanism (the two-sided geometric mechanism): an integer with noise on the integers.

The noise X has Pr[X = x] proportional to e^(−a|x|), a = 1/v. For an integer sensitivity s the loss of the outcome x is
a(|x + s| − |x|), which is a(s − 2j) for the integer j = −x between 0 and s; below and above it is constant. Smaller
differences j <= s are covered: the noise is log-concave, so δ_j(ε) = max_t(Pr[X > t] − e^ε Pr[X > t + j]), which rises
in j. As there may be 2^53 losses, their sums are taken in closed form.

Proof of the profile. J = min(max(−X, 0), s) has Pr[J >= k] = e^(−ak)/(1 + e^(−a)) for 1 <= k <= s. By symmetry the
mass under Q of J < k is that under P of J > s − k. Let k be the number of losses above ε: for u = as − ε the integer
with 2a(k−1) < u <= 2ak. Then (1 + e^(−a))δ(ε) = 1 + e^(−a) − e^(−ak) − e^(ε−a(s+1−k)). The last exponent is a(k−1) − u;
so this is the sum of 1 − e^(a(k−1)−u) and e^(−a)(1 − e^(−a(k−1))), two terms >= 0. For any other k it is what P has
more than e^ε times Q on another set of outcomes, and so at most (1 + e^(−a))δ(ε).

Proof of the Rényi divergence. With u = as, b = α − 1, w = 2α − 1, the losses a(s − 2j) have the P-masses
1/(1 + e^(−a)) at j = 0, tanh(a/2)e^(−aj) for 0 < j < s, and e^(−as)/(1 + e^(−a)) at j = s. So E_P[e^(bℓ)] is the
geometric sum A e^(bu) + B e^(−αu), with A = 1/(1+e^(−a)) + tanh(a/2)/(e^(aw) − 1) = (1 + c)/2 and B = (1 − c)/2 for
c = tanh(a/2)/tanh(aw/2). As a goes to 0 with u fixed, A and B go to α/w and b/w, the formula of Laplace noise.
"""

from math import ceil, cosh, exp, expm1, inf, log, log1p, sinh
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import finite
from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import expm1mx, log1mexp
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ASSUMPTIONS = ("the query is one integer that changes by at most s between neighbouring data sets",
               "noise on the integers with Pr[X = x] proportional to e^(−|x|/v)")
NAME = "discrete Laplace"


def atoms(number: Any, scale: float, sensitivity: float) -> finite.Losses:
    """The losses a(s − 2j) for 0 <= j <= s: the noise is 0 or more, −j, and −s or less."""
    s, v = whole(sensitivity, NAME), number.mpf(scale)
    a = 1 / v
    log_centre, log_end = number.log(number.tanh(a / 2)), -number.log1p(number.exp(-a))
    inner = [((s - 2 * j) / v, log_centre - j / v) for j in range(1, s)]
    return [(s / v, log_end), *inner, (-s / v, log_end - s / v)]


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
    delta = max((-expm1(a * (k - 1) - u) - exp(-a) * expm1(-a * (k - 1))) / (1 + exp(-a))
                for k in range(max(near - 1, 1), min(near + 1, s) + 1))
    return min(0.0, up(log(delta), 4e-15) + 4e-15)


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
    if (s := whole(sensitivity, NAME)) >= finite.MOST_LOSSES:
        raise OutOfScope("too-large", f"a sensitivity of {s} gives too many privacy losses to be composed numerically "
                                      f"(at most {finite.MOST_LOSSES}); --mechanism laplace with the same scale loses "
                                      "nearly the same, and may lose less", "--sensitivity")
    return finite.pair(atoms(finite.DOUBLES, scale, sensitivity))


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


def rdp(alpha: float, scale: float, sensitivity: float) -> float:
    """ε(α), rounded up, and at most s/v."""
    u, a, b = whole(sensitivity, NAME) / scale, 1 / scale, alpha - 1
    w = alpha + b
    low = exp(-a) * expm1(-2 * a * b) / (expm1(-a * w) * (1 + exp(-a)))  # B
    if alpha * u < 1:
        # The terms linear in u add up to u/2·(w·tanh(a/2)/tanh(aw/2) − 1) > 0; so all three terms are positive.
        linear = u / 2 * _linear(alpha, a) / (cosh(a / 2) * sinh(a * w / 2))
        raw = log1p((1 - low) * expm1mx(b * u) + low * expm1mx(-alpha * u) + linear) / b
    elif b * u < 1:
        raw = log1p((1 - low) * expm1(b * u) + low * expm1(-alpha * u)) / b
    else:
        raw = u + log1p(low * expm1(-w * u)) / b
    return max(min(up(raw, 1e-14), pure(scale, sensitivity)), 5e-324)


def _linear(alpha: float, a: float) -> float:
    """b·sinh(αa) − α·sinh(ba), b = α − 1, for αa < 1: its power series, Σ αb(α^(2k) − b^(2k))a^(2k+1)/(2k+1)!."""
    b = alpha - 1
    total, power, difference, factor = 0.0, 1.0, 0.0, alpha * b * a
    for k in range(1, 12):  # the omitted terms are below 1e-20 of the first
        difference = alpha * alpha * difference + (alpha + b) * power  # α^(2k) − b^(2k)
        power *= b * b
        factor *= a * a / (2 * k * (2 * k + 1))
        total += factor * difference
    return total


def exact_rdp(mp: Any, alpha: float, scale: float, sensitivity: float) -> Any:
    al, a = mp.mpf(alpha), 1 / mp.mpf(scale)
    u, c = a * whole(sensitivity, NAME), mp.tanh(a / 2) / mp.tanh(a * (2 * al - 1) / 2)
    return mp.log(((1 + c) * mp.exp((al - 1) * u) + (1 - c) * mp.exp(-al * u)) / 2) / (al - 1)


EXACT = ProfileBound(
    Theorem(
        name="discrete-laplace-exact",
        example="rdp --mechanism discrete-laplace --scale 10 --sensitivity 5 --epsilon 0.1",
        statement="(1 + e^(−a))δ(ε) = 1 + e^(−a) − e^(−ak) − e^(ε − a(s+1−k)), a = 1/v, k = ⌈(as − ε)/(2a)⌉; pure ε = "
                  "s/v; several releases are composed numerically",
        in_words="The privacy profile of discrete Laplace (two-sided geometric) noise on a query whose answer is one "
                 "integer: pure DP with ε = s/v, and at a smaller ε the δ that is needed. It is tight where the "
                 "answers of neighbours differ by exactly s, a whole number. Several releases are composed "
                 "numerically.",
        source="Ghosh, Roughgarden & Sundararajan 2012; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 "
               "(composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("scale", "sensitivity"), value=value, exact=exact, rtol=2e-14, pure=pure, inverse=inverse, pair=pair,
    outcomes=lambda mp, *own, **named: finite.exact_outcomes(mp, atoms(mp, *own, **named)))

RDP = RdpBound(
    Theorem(
        name="discrete-laplace-rdp",
        example="rdp --mechanism discrete-laplace --scale 2 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = log( (1+c)/2·e^((α−1)u) + (1−c)/2·e^(−αu) ) / (α−1), u = s/v, c = "
                  "tanh(1/(2v))/tanh((2α−1)/(2v))",
        in_words="The Rényi divergence of discrete Laplace (two-sided geometric) noise on a query whose answer is one "
                 "integer, at an order α; those of several releases add up. It is exact where the answers of "
                 "neighbours differ by exactly s, a whole number, and covers no vectors.",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition), for the mechanism of Ghosh, "
               "Roughgarden & Sundararajan 2012",
        assumptions=ASSUMPTIONS,
    ),
    params=("scale", "sensitivity"), value=rdp, exact=exact_rdp, rtol=3e-14)

BOUNDS = (EXACT, RDP)
