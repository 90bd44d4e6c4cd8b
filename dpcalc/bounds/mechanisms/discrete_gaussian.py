"""The discrete Gaussian mechanism: an integer with noise X on the integers, Pr[X = x] proportional to
g(x) = e^(−x²/(2σ²)).

With P centred at 0 and Q at −s, the outcome x has the loss ℓ(x) = (s² + 2sx)/(2σ²), which is above ε from
t = εσ²/s − s/2 on. So δ(ε) = Σ_{x > t} p(x)(1 − e^(ε−ℓ(x))), a sum of positive terms.

Proof of discrete-gaussian-rdp. With P centred at s and Q at 0, p^α q^(1−α) is proportional to the exponential of
−(α(x − s)² + (1−α)x²)/(2σ²) = −(x − αs)²/(2σ²) + α(α−1)s²/(2σ²), and the sum over x depends on αs modulo 1 only. By
Poisson's summation formula Θ(c) is largest at integers: so ε(α) <= αs²/(2σ²), with equality where αs is an integer.

In d dimensions with independent noise on each coordinate, divergences add up over the coordinates: a query with integer
values that changes by at most s in ℓ2 has ε(α) <= αs²/(2σ²). That is the curve of Gaussian noise (--mechanism gaussian
--bound gaussian-rdp).

Smaller differences j <= s are covered: the noise is log-concave, so δ_j(ε) = max_t(Pr[X > t] − e^ε Pr[X > t + j]),
which rises in j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from math import ceil, exp, expm1, floor, fsum, log, log1p, pi, sin, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import finite
from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ASSUMPTIONS = ("the query is one integer that changes by at most s between neighbouring data sets",
               "noise on the integers with Pr[X = x] proportional to e^(−x²/(2σ²))")
NAME = "discrete Gaussian"
LARGEST_SIGMA = 50_000.0  # δ is a sum of about 20σ terms, which takes a second there
_POISSON_FROM = 0.4  # σ from which Poisson's summation formula converges fast; below, the sum itself does
_REACH = 9.0  # standard deviations: beyond lies 1e-18 of a Gaussian sum


def sensitivity_and_sigma(sigma: float, sensitivity: float) -> tuple[int, float]:
    """The arguments of a sum over the integers. Raises OutOfScope where it would be too long."""
    if sigma > LARGEST_SIGMA:
        raise OutOfScope("too-large", f"{sigma:g} is above {LARGEST_SIGMA:g}, where the exact sum over the integers "
                                      "has too many terms", "--sigma")
    return whole(sensitivity, NAME), sigma


def log_total(sigma: float) -> float:
    """log Σ_x g(x), to a few ulp of 1 and of itself: of σ√(2π)(1 + 2Σ_j e^(−2π²σ²j²)) or of the sum itself, without the
    terms below 1e-17 of it."""
    if sigma >= _POISSON_FROM:
        return log(sigma * sqrt(2 * pi)) + log1p(2 * sum(exp(-2 * (pi * sigma * j) ** 2) for j in range(1, 6)))
    return log1p(2 * sum(exp(-((k / sigma) ** 2) / 2) for k in range(1, 6)))


def log_share_off_centre(c: float, sigma: float) -> float:
    """log(Σ_x g(x − c)/Σ_x g(x)) <= 0 for 0 <= c <= 1/2, without cancellation.

    By Poisson's formula the ratio is (1 + 2Σ_j t_j cos(2πjc))/(1 + 2Σ_j t_j), t_j = e^(−2π²σ²j²). For small σ it is
    e^(−c²/(2σ²))·(1 + 2Σ_k g(k)cosh(kc/σ²))/(1 + 2Σ_k g(k)).
    """
    if sigma >= _POISSON_FROM:
        terms = [(j, exp(-2 * (pi * sigma * j) ** 2)) for j in range(1, 6)]
        missing = 4 * sum(t * sin(pi * j * c) ** 2 for j, t in terms)
        return log1p(-missing / (1 + 2 * sum(t for _, t in terms)))
    beside = [(k, exp(-((k / sigma) ** 2) / 2)) for k in range(1, 7)]
    more = sum(exp(-k * (k - 2 * c) / (2 * sigma * sigma)) * expm1(-k * c / sigma**2) ** 2 for k, _ in beside)
    return log1p(more / (1 + 2 * sum(g for _, g in beside))) - c * c / (2 * sigma * sigma)


def exact_total(mp: Any, sigma: Any, centre: Any = 0) -> Any:
    """Σ_x e^(−(x − c)²/(2σ²)) for |c| <= 1/2, at high precision: directly, or by Poisson's summation formula."""
    bits = mp.prec + 20
    if sigma < 1:
        last = int(float(sigma) * sqrt(2 * 0.7 * bits)) + 2
        return mp.fsum(mp.exp(-((k - centre) / sigma) ** 2 / 2) for k in range(-last, last + 1))
    last = int(sqrt(0.7 * bits / 2) / (pi * float(sigma))) + 2
    waves = mp.fsum(mp.exp(-2 * (mp.pi * sigma * j) ** 2) * mp.cos(2 * mp.pi * j * centre) for j in range(1, last + 1))
    return sigma * mp.sqrt(2 * mp.pi) * (1 + 2 * waves)


def exact_outcomes(mp: Any, sigma: float, shifts: Sequence[int]) -> tuple[list[tuple[Any, ...]], Any]:
    """The probabilities of x + shift for each shift, of all outcomes x that matter at this precision, and an upper
    bound of the mass of the others."""
    v, most = mp.mpf(sigma), max(map(abs, shifts))
    reach = int(sigma * sqrt(1.4 * (mp.prec + 40))) + 1  # where g is 2^−bits
    last, total = reach + 2 * most, exact_total(mp, v)
    g = [x / total for x, _ in zip(exact_weights(mp, v, -last), range(2 * last + 1), strict=False)]
    return ([tuple(g[k + shift] for shift in shifts) for k in range(most, 2 * last + 1 - most)],
            2 * g[last + reach] * v**2 / reach)  # Σ_{k > x} g(k) <= g(x)σ²/x


def exact_weights(mp: Any, sigma: Any, first: int) -> Iterator[Any]:
    """g(x) for x = first, first + 1, … at high precision, by products."""
    step, fall = mp.exp(-1 / sigma**2), mp.exp(-(2 * first + 1) / (2 * sigma**2))
    weight = mp.exp(-(mp.mpf(first) / sigma) ** 2 / 2)
    while True:
        yield weight
        weight, fall = weight * fall, fall * step


# --- the privacy profile ---------------------------------------------------------------------------------------------


def value(epsilon: float, sigma: float, sensitivity: float) -> float:
    """log δ(ε), rounded up. The threshold t is rounded down: that gives the δ of an ε that is smaller by rounding."""
    s, v = sensitivity_and_sigma(sigma, sensitivity)
    t = epsilon * v * v / s - s / 2 - 1e-15 * (epsilon * v * v / s + s / 2)
    t = min(t, 2.0**52)  # larger doubles do not distinguish it from the next integer; log δ is below −1e21 there
    first, lowest = floor(t) + 1, -ceil(_REACH * v)
    rest = 0.0
    if first < lowest:  # all that is below counts in full, and is less than 1e-18
        first, rest = lowest, exp(-lowest * lowest / (2 * v * v)) / -expm1((2 * lowest - 1) / (2 * v * v))
    base = max(first, 0)  # the terms are relative to g(base)
    last = base + 1 + ceil(min(_REACH * v, _REACH * _REACH * v * v / max(base, 1)))
    terms = [exp((base - x) * (base + x) / (2 * v * v)) * -expm1(-s * (x - t) / (v * v))
             for x in range(first, last + 1)]
    if terms[-1] > 0:  # the ratio of neighbouring terms falls, so that a geometric series bounds all further terms
        rest += terms[-1] * (terms[-1] / terms[-2]) / (1 - terms[-1] / terms[-2])
    log_delta = log(fsum(terms) + rest) - (base / v) * (base / v) / 2 - log_total(v)
    return min(0.0, up(log_delta, 4e-15) + 1e-14)


def tails(sigma: float) -> tuple[int, float]:
    """The largest |x| whose losses a pair lists, and the log of the probability of all others, rounded up, which count
    as infinite losses. They are below e^−800: for up to 1e22 uses they add up to less than 5e-324, the least positive
    double, and so to no lower end above 0."""
    reach = ceil(sigma * sqrt(1600)) + 1
    return reach, (log(2) - ((reach + 1) / sigma) ** 2 / 2 - log_total(sigma)
                   - log(-expm1(-(2 * reach + 3) / (2 * sigma * sigma))))


def pair(sigma: float, sensitivity: float) -> Pair:
    """The dominating pair of one release. Outcomes that P and Q both give with less than e^−800 count as infinite
    losses. Raises OutOfScope where too many losses are left to be composed."""
    import numpy as np

    from dpcalc.pld.atoms import Atoms, approximate_dp
    from dpcalc.pld.sampled import MAX_BASE_LOSS

    s, v = sensitivity_and_sigma(sigma, sensitivity)
    if s / v * (s / v) > 2 * MAX_BASE_LOSS:
        return approximate_dp(0.0, 0.0)  # an upper bound: the answer is revealed
    reach, log_infinite = tails(v)
    if (number := min(2 * reach + s, 4 * reach + 1) + 1) > finite.MOST_LOSSES:
        raise OutOfScope("too-large", f"{number} privacy losses matter at this σ and sensitivity, too many to be "
                                      f"composed numerically (at most {finite.MOST_LOSSES})", "--sigma")
    near_p, near_q = np.arange(-reach, reach + 1), np.arange(-reach - s, min(reach - s, -reach - 1) + 1)
    x = np.concatenate((near_q, near_p)).astype(float)
    log_p = -((x / v) ** 2) / 2 - log_total(v)
    return Atoms(tuple((s * (s + 2 * x) / (2 * v * v)).tolist()), tuple(log_p.tolist()), log_infinite, attained=True)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float) -> Any:
    """Pr[X > t] − e^ε Pr[X > t + s], term by term."""
    with mp.workdps(mp.dps + 15):  # of a sum of up to 1e6 products of as many factors
        s, v = sensitivity_and_sigma(sigma, sensitivity)
        e, v = mp.mpf(epsilon), mp.mpf(v)
        return _exact_sum(mp, float(e * v**2 / s - mp.mpf(s) / 2), s, v, mp.exp(e))


def _exact_sum(mp: Any, t: float, s: int, v: Any, growth: Any) -> Any:
    """Σ_{x > t} (p(x) − e^ε p(x + s)). A term at the threshold counts where it is positive, which needs no comparison
    as (y + |y|)/2. What is left out at both ends is added as an upper bound."""
    enough = 0.7 * (mp.prec + 20)  # e^−enough is less than 2^−bits
    rounding = 1e-9 * (1 + abs(t))  # more than the error of t as a double
    lowest, start = -ceil(float(v) * sqrt(2 * enough)), floor(t - rounding) + 1
    first, base, scale = max(start, lowest), max(start, 0), 2 * float(v) ** 2
    total = next(exact_weights(mp, v, lowest)) * (1 + v**2 / -lowest) if first > start else mp.mpf(0)
    for x, p, q in zip(count(first), exact_weights(mp, v, first), exact_weights(mp, v, first + s), strict=False):
        y = p - growth * q
        total += (y + abs(y)) / 2 if x < t + rounding else y
        if x > t + rounding and x > 0 and (x - base) * (x + base) / scale > enough:
            return (total + p * (v**2 / x)) / exact_total(mp, v)  # Σ_{k > x} g(k) <= g(x)σ²/x
    raise AssertionError("the loop ends where the terms are small")


# --- the Rényi divergence --------------------------------------------------------------------------------------------


def _off_centre(alpha: float, sensitivity: float) -> Fraction:
    """The distance of αs from the nearest integer."""
    c = Fraction(alpha) * whole(sensitivity, NAME) % 1
    return min(c, 1 - c)


def rdp(alpha: float, sigma: float, sensitivity: float) -> float:
    """ε(α) = αs²/(2σ²) + log(Θ(αs)/Θ(0))/(α−1), rounded up, and at most αs²/(2σ²)."""
    c, most = float(_off_centre(alpha, sensitivity)), ratio_up((alpha, sensitivity, sensitivity), (2.0, sigma, sigma))
    # ε(α) increases, and is most at ⌊α⌋ >= α/2: so it is at least half of `most`, and little cancels
    return min(up(most + log_share_off_centre(c, sigma) / (alpha - 1), 2e-14), most) if c else most


def exact_rdp(mp: Any, alpha: float, sigma: float, sensitivity: float) -> Any:
    v, c = mp.mpf(sigma), _off_centre(alpha, sensitivity)
    gaussian = mp.mpf(alpha) * mp.mpf(sensitivity) ** 2 / (2 * v**2)
    if c == 0:
        return gaussian
    centre = mp.mpf(c.numerator) / mp.mpf(c.denominator)
    return gaussian + mp.log(exact_total(mp, v, centre) / exact_total(mp, v)) / (mp.mpf(alpha) - 1)


EXACT = ProfileBound(
    Theorem(
        name="discrete-gaussian-exact",
        example="rdp --mechanism discrete-gaussian --sigma 2 --delta 1e-6",
        statement="δ(ε) = Pr[X > εσ²/s − s/2] − e^ε Pr[X > εσ²/s + s/2] for discrete Gaussian X; several releases are "
                  "composed numerically",
        in_words="The privacy profile of discrete Gaussian noise on a query whose answer is one integer, such as a "
                 "count; several releases are composed numerically. It is tight where the answers of neighbours "
                 "differ by exactly s. For vectors of integers, which it does not cover, the Rényi bound of Gaussian "
                 "noise, gaussian-rdp, holds.",
        source="Canonne, Kamath & Steinke 2020, Theorem 7, arXiv:2004.00010v3; Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("sigma", "sensitivity"), value=value, exact=exact, rtol=1e-13, pair=pair,
    outcomes=lambda mp, sigma, sensitivity: exact_outcomes(mp, sigma, (0, whole(sensitivity, NAME))))

RDP = RdpBound(
    Theorem(
        name="discrete-gaussian-rdp",
        example="rdp --mechanism discrete-gaussian --sigma 1 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = αs²/(2σ²) + log(Θ(αs)/Θ(0))/(α−1) ≤ αs²/(2σ²), Θ(c) = Σ_x e^(−(x−c)²/(2σ²))",
        in_words="The Rényi divergence of discrete Gaussian noise on a query whose answer is one integer, at an order "
                 "α; those of several releases add up. It is exact where the answers of neighbours differ by exactly "
                 "s, and never above that of Gaussian noise with the same σ.",
        source="Canonne, Kamath & Steinke 2020, arXiv:2004.00010 (the upper bound)",
        assumptions=ASSUMPTIONS,
    ),
    params=("sigma", "sensitivity"), value=rdp, exact=exact_rdp, rtol=5e-14)

BOUNDS = (EXACT, RDP)
