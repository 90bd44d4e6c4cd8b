"""Selections by a mechanism of bounded range, such as the exponential mechanism.

A mechanism has range η if for any two neighbouring data sets its privacy loss ℓ = log(P/Q) lies in an interval of
length η, which may depend on the two data sets. The exponential mechanism, which selects y with probability
proportional to e^{εu(y)/(2Δ)} for scores u that change by at most Δ, has range η = ε: every probability is e^{εu/(2Δ)}
over a sum that is the same for all y, and the first factor changes by e^{±ε/2}. Adding Gumbel noise to the scores and
taking the largest is the same mechanism. Where one data set has no score below those of the other, as for counts when
a record is added, the first factor changes by at most e^{ε/2} in one direction, and the range is ε/2.

Proof of the profile. Let ℓ lie in [t − η, t] and x = e^ℓ, so that E_Q[x] = 1, and let γ = e^ε with |ε| <= η. δ(ε) =
E_Q[(x − γ)₊] is largest, for a convex function of x on an interval with a given mean, for the law on both ends (Jensen,
in the form of the chord): x = e^t with probability p = (1 − e^{t−η})/(e^t − e^{t−η}) under Q, and x = e^{t−η} else. If
γ <= e^{t−η} or γ >= e^t this is (1 − γ)₊, which is at most what follows at the t of the maximum. Between them it is
p(e^t − γ). With u = e^t and κ = e^{−η} it is (1 − κu)(u − γ)/(u(1 − κ)) = (1 + κγ − κu − γ/u)/(1 − κ), which is largest
at u = √(γ/κ), that is at t = (ε + η)/2 in [0, η], and is then (1 − √(κγ))²/(1 − κ). This is the δ(ε) below, and two
outcomes with these probabilities are a mechanism of range η that reaches it.

The profile as a function of γ is that of the pair (P, Q) whose loss has the density e^{ℓ/2}·e^{η/2}/(2(e^η − 1)) under
P on [−η, η], as ∫(1 − e^{ε−ℓ})₊ of it shows. This pair dominates every mechanism of range η, whichever t it has, and so
every adaptive composition is dominated by that of the pair (Zhu, Dong & Wang 2022, Theorem 10). The pair is no
mechanism of range η itself: at different ε other mechanisms are the worst ones.

Proof of the Rényi divergence. Let the loss ℓ lie in [t − η, t], x = e^ℓ, and E_Q[x] = 1. E_Q[x^α] is largest for the
law on both ends of the interval (the chord of a convex function): with κ = e^{−η} and u = e^t it is

    f(u) = u^{α−1}((1 − κu) + κ^α(u − 1))/(1 − κ) = u^{α−1}((1 − κ^α) − u(κ − κ^α))/(1 − κ),

and f′(u) = 0 at u = (1 − 1/α)(1 − κ^α)/(κ − κ^α). This u lies in [1, 1/κ], since (1 − κ^s)/s falls and
(κ^{−s} − 1)/s rises in s, and f rises before and falls after it, so f(u) = u^{α−1}(1 − κ^α)/(α(1 − κ)) is the maximum
over all t. With 1 − κ^s = 2e^{−sη/2}sinh(sη/2) and S(y) = log(sinh(y)/y) the logarithm is

    (α−1)·ε(α) = αS(αη/2) − (α−1)S((α−1)η/2) − S(η/2).

Two outcomes reach it. RDP adds up over adaptive composition, whichever t each step has.

It is at most η²α/8 for all η: y²/6 − S(y) rises, since coth y − 1/y <= y/3. So x(x²h²/6 − S(xh)) is superadditive in
x > 0, which with h = η/2 and α = (α − 1) + 1 is the claim, as (α³ − (α−1)³ − 1)h²/6 = (α−1)αη²/8. Where αη is small
both are nearly equal (see bounds/conversions/pure.py).

What T composed selections can lose at least. Two outcomes of the losses t and t − η, 0 < t < η, have a range of length
η, and the exponential mechanism with two candidates has them: E_P[e^{−ℓ}] = 1 gives the first one the P-probability p =
(1 − e^{t−η})/(1 − e^{−η}). So no ε below that of T such selections holds for all mechanisms of range η. Any t is valid;
here it is the worst one at the Rényi order that answers for δ = 1e-6.
"""

from math import exp, expm1, fsum, inf, log, log1p, nextafter
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import CompositionBound, ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair
    from dpcalc.pld.pilot import Parts

RANGE = ("the privacy loss of one selection lies in an interval of length η: the exponential mechanism with Pr[y] "
         "proportional to e^(εu(y)/(2Δ)), for scores u that change by at most Δ, has η = ε, and η = ε/2 where all "
         "scores change in the same direction; so has the largest of the scores with Gumbel noise of scale 2Δ/ε; the "
         "set of candidates and any base weights do not depend on the data")
SMALLEST_RANGE = 2.0**-1022  # of the two outcomes of a bound from below: the smallest normal double
# S(y) = Σ c_k y^{2k}, k = 1, 2, …: c_k = 4^k B_{2k}/(2k·(2k)!). For y <= 1/2 the omitted terms are below 2^-53 of S.
_SERIES = (1 / 6, -1 / 180, 1 / 2835, -1 / 37800, 1 / 467775, -691 / 3831077250, 2 / 127702575, -3617 / 2605132530000,
           43867 / 350813659321125, -174611 / 15313294652906250)


def value(epsilon: float, step_epsilon: float) -> float:
    """log δ(ε) = 2 log(1 − e^{(ε−η)/2}) − log(1 − e^{−η}), rounded up; −inf from ε = η on."""
    difference = epsilon - step_epsilon
    if difference >= 0:
        return -inf
    # Near δ = 1 log δ is −2e^{difference/2}, so that the rounding of the difference decides: it goes down.
    return min(0.0, up(2 * log1mexp(nextafter(difference, -inf) / 2) - log1mexp(-step_epsilon), 2e-15))


def inverse(log_delta: float, step_epsilon: float) -> float:
    """ε = (η + 2 log(1 − √(δ(1 − e^{−η}))))₊, rounded up."""
    if log_delta == -inf:
        return step_epsilon
    log_root = (log_delta + log1mexp(-step_epsilon)) / 2
    below = 2 * log1mexp(log_root)  # ε − η; its relative error is that of e^{log_root}, a few ulp of log_root
    return min(step_epsilon, max(0.0, step_epsilon + below - 1e-15 * (3 - log_root) * below + 4e-16 * step_epsilon))


def exact(mp: Any, epsilon: float, step_epsilon: float) -> Any:
    e, eta = mp.mpf(epsilon), mp.mpf(step_epsilon)
    if e >= eta:
        return mp.mpf(0)
    return (mp.exp(eta / 2) - mp.exp(e / 2)) ** 2 / mp.expm1(eta)


def pair(step_epsilon: float) -> "Pair":
    from dpcalc.pld.pair import BoundedRange

    return BoundedRange(step_epsilon)


def rdp(alpha: float, step_epsilon: float) -> float:
    """ε(α), at most η."""
    a, half = alpha - 1, step_epsilon / 2
    if alpha * half <= 0.5:  # the terms of the closed form cancel: Σ_k c_k h^{2k}((a+1)^{2k+1} − a^{2k+1} − 1)/a
        raw = fsum(c * _powers(a, half, 2 * k) for k, c in enumerate(_SERIES, 1))
    else:
        raw = _closed(alpha, a, step_epsilon)
    return max(min(up(raw, 1e-14), step_epsilon), 5e-324)


def _powers(a: float, half: float, n: int) -> float:
    """h^n((a+1)^{n+1} − a^{n+1} − 1)/a = h^n Σ_{j=1}^{n} C(n+1, j) a^{j−1}."""
    total, binomial = 0.0, 1
    for j in range(1, n + 1):
        binomial = binomial * (n + 2 - j) // j
        total += binomial * (a * half) ** (j - 1) * half ** (n - j + 1)
    return total


def _closed(alpha: float, a: float, eta: float) -> float:
    """The same by S(y) = y − log(2y) + log(1 − e^{−2y}): η + log((1 − e^{−αη})a/((1 − e^{−aη})α)) + log((1 + (1 −
    e^{−aη})/(e^η − 1))/α)/a, a = α − 1, where both logarithms are of numbers that may be near 1."""
    rest, whole = -expm1(-a * eta), -expm1(-eta)
    first = (a * whole * exp(-a * eta) / rest - 1) / alpha
    second = (rest * exp(-eta) / whole - a) / alpha
    return eta + log1p(first) + log1p(second) / a


def exact_rdp(mp: Any, alpha: float, step_epsilon: float) -> Any:
    a, half = mp.mpf(alpha), mp.mpf(step_epsilon) / 2

    def log_sinh(y: Any) -> Any:
        return mp.log((mp.exp(y) - mp.exp(-y)) / (2 * y))

    return (a * log_sinh(a * half) - (a - 1) * log_sinh((a - 1) * half) - log_sinh(half)) / (a - 1)


def largest_loss(step_epsilon: float, steps: int) -> float:
    """The loss t of the first outcome."""
    def epsilon(alpha: float) -> float:
        return steps * rdp(alpha, step_epsilon) - log(1e-6) / (alpha - 1)

    # a usual δ, and orders 12 % apart; the t of another δ would raise ε by 2 % in the cases tried
    alpha, eta = min((1 + 10 ** (k / 20) for k in range(-40, 101)), key=epsilon), step_epsilon
    t = eta + log((1 - 1 / alpha) * expm1(-alpha * eta) / expm1((1 - alpha) * eta))
    return min(max(t, eta / 2), eta * (1 - 1e-6))


def two_outcomes(step_epsilon: float, steps: int) -> "Parts":
    """The pair of one selection, once: the caller repeats it T times. Raises OutOfScope where η is no normal double, so
    that t and η may round to the same number."""
    if step_epsilon < SMALLEST_RANGE:
        raise OutOfScope("out-of-range", f"no lower bound is computed for a range below {SMALLEST_RANGE:g}",
                         "--step-epsilon")
    from dpcalc.pld.atoms import Atoms

    t = largest_loss(step_epsilon, steps)
    below = t - step_epsilon
    p = expm1(below) / expm1(-step_epsilon)
    share = expm1(-t) / expm1(-step_epsilon)  # 1 − p = e^(t − η)·share
    rest = exp(below) * share
    first = log(p) if p < 0.5 else log1p(-rest)
    second = below + log(share) if rest < 0.5 else log1p(-p)
    reverse = Atoms((-t, -below), (first - t, second - below), attained=True, rounding_scale=step_epsilon)
    return ((Atoms((t, below), (first, second), reverse=reverse, attained=True, rounding_scale=step_epsilon), 1),)


def exact_two_outcomes(mp: Any, epsilon: float, step_epsilon: float, steps: int) -> Any:
    """δ of one of the T selections, the larger one of both directions."""
    e, t, eta = mp.mpf(epsilon), mp.mpf(largest_loss(step_epsilon, steps)), mp.mpf(step_epsilon)
    p = mp.expm1(t - eta) / mp.expm1(-eta)
    q = p * mp.exp(-t)

    def delta(p: Any, q: Any) -> Any:
        return max(p - mp.exp(e) * q, mp.mpf(0)) + max(1 - p - mp.exp(e) * (1 - q), mp.mpf(0))

    return max(delta(p, q), delta(q, p))


EXACT = ProfileBound(
    Theorem(
        name="exponential-exact",
        example="rdp --mechanism exponential --step-epsilon 1 --epsilon 0.2",
        statement="δ(ε) = (e^(η/2) − e^(ε/2))²/(e^η − 1) for ε ≤ η, the largest of all mechanisms whose privacy loss "
                  "has a range of length η; pure ε = η, and total variation δ(0) = tanh(η/4)",
        in_words="The privacy profile of one selection by the exponential mechanism, or by any mechanism whose "
                 "privacy loss has a range of length η. No smaller δ holds for all of these; one with given scores "
                 "may lose less. It is false where the candidates or their base weights depend on the data.",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range, and the worst case with two outcomes); "
               "proof in dpcalc/bounds/mechanisms/exponential.py",
        assumptions=(RANGE, "one selection"),
    ),
    params=("step_epsilon",), value=value, exact=exact, rtol=2e-14, pure=lambda step_epsilon: step_epsilon,
    inverse=inverse)

PROFILE = ProfileBound(
    Theorem(
        name="exponential-profile",
        example="rdp --mechanism exponential --step-epsilon 0.1 --steps 100 --delta 1e-6",
        statement="the profile (e^(η/2) − e^(ε/2))²/(e^η − 1) of each selection, composed numerically through its "
                  "dominating pair",
        in_words="Several selections by the exponential mechanism, which may be chosen in view of earlier ones: the "
                 "worst profile of one is composed numerically. It need not be tight for several selections, as "
                 "different mechanisms are the worst ones at different ε; exponential-lower shows by how much it can "
                 "be too large at most.",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range); proof in "
               "dpcalc/bounds/mechanisms/exponential.py; Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=(RANGE,),
    ),
    params=("step_epsilon",), value=value, exact=exact, rtol=2e-14, pair=pair)

RDP = RdpBound(
    Theorem(
        name="exponential-rdp",
        example="rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6",
        statement="ε(α) = (αS(αη/2) − (α−1)S((α−1)η/2) − S(η/2))/(α−1) with S(y) = log(sinh(y)/y), the largest of all "
                  "mechanisms whose privacy loss has a range of length η; at most η²α/8",
        in_words="The Rényi divergence of one selection by the exponential mechanism, or by any mechanism whose "
                 "privacy loss has a range of length η; those of several selections add up. No smaller one holds for "
                 "all of these, as a selection between two candidates reaches it. It is false where the candidates "
                 "depend on the data.",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range, and the worst case with two outcomes); "
               "proof in dpcalc/bounds/mechanisms/exponential.py",
        assumptions=(RANGE,),
    ),
    params=("step_epsilon",), value=rdp, exact=exact_rdp, rtol=3e-14)

LOWER = CompositionBound(
    Theorem(
        name="exponential-lower",
        example="rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6",
        statement="T selections with the losses t and t − η are of bounded range η, so every bound for all mechanisms "
                  "of this range is at least their δ(ε), at any t",
        in_words="This is a lower bound, and no guarantee: what T selections between two candidates lose, with a "
                 "privacy loss that has a range of length η. So a bound that holds for all mechanisms of this range "
                 "cannot be smaller. An exponential mechanism with given candidates and scores may lose less than "
                 "this.",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (the worst case with two outcomes)",
        assumptions=(RANGE,),
        status="lower",
    ),
    params=("step_epsilon", "steps"), value=two_outcomes, exact=exact_two_outcomes, rtol=1e-9)

BOUNDS = (EXACT, PROFILE, RDP, LOWER)
