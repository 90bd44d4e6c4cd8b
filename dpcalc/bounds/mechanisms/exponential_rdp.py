"""The largest Rényi divergence of a mechanism of bounded range, such as the exponential mechanism.

Proof. Let the loss ℓ lie in [t − η, t], x = e^ℓ, and E_Q[x] = 1. E_Q[x^α] is largest for the law on both ends of the
interval (the chord of a convex function): with κ = e^{−η} and u = e^t it is

    f(u) = u^{α−1}((1 − κu) + κ^α(u − 1))/(1 − κ) = u^{α−1}((1 − κ^α) − u(κ − κ^α))/(1 − κ),

and f′(u) = 0 at u = (1 − 1/α)(1 − κ^α)/(κ − κ^α). This u lies in [1, 1/κ], since (1 − κ^s)/s falls and
(κ^{−s} − 1)/s rises in s, and f rises before and falls after it, so f(u) = u^{α−1}(1 − κ^α)/(α(1 − κ)) is the maximum
over all t. With 1 − κ^s = 2e^{−sη/2}sinh(sη/2) and S(y) = log(sinh(y)/y) the logarithm is

    (α−1)·ε(α) = αS(αη/2) − (α−1)S((α−1)η/2) − S(η/2).

Two outcomes reach it. RDP adds up over adaptive composition, whichever t each step has.

It is at most η²α/8 for all η: y²/6 − S(y) rises, since coth y − 1/y <= y/3. So x(x²h²/6 − S(xh)) is superadditive in
x > 0, which with h = η/2 and α = (α − 1) + 1 is the claim, as (α³ − (α−1)³ − 1)h²/6 = (α−1)αη²/8. Where αη is small
both are nearly equal (see bounds/conversions/bounded_range_zcdp.py). """

from math import exp, expm1, fsum, log1p
from typing import Any

from dpcalc.bounds.mechanisms.exponential_exact import RANGE
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up

# S(y) = Σ c_k y^{2k}, k = 1, 2, …: c_k = 4^k B_{2k}/(2k·(2k)!). For y <= 1/2 the omitted terms are below 2^-53 of S.
_SERIES = (1 / 6, -1 / 180, 1 / 2835, -1 / 37800, 1 / 467775, -691 / 3831077250, 2 / 127702575, -3617 / 2605132530000,
           43867 / 350813659321125, -174611 / 15313294652906250)
_SMALL = 0.5  # of αη/2: up to it the series is used, as the terms of the closed form cancel


def value(alpha: float, step_epsilon: float) -> float:
    """ε(α), at most η."""
    half = step_epsilon / 2
    raw = _series(alpha - 1, half) if alpha * half <= _SMALL else _closed(alpha, alpha - 1, step_epsilon)
    return max(min(up(raw, 1e-14), step_epsilon), 5e-324)


def _series(a: float, half: float) -> float:
    """Σ_k c_k h^{2k}((a+1)^{2k+1} − a^{2k+1} − 1)/a, in which the powers of a are added by the binomial theorem."""
    return fsum(c * _powers(a, half, 2 * k) for k, c in enumerate(_SERIES, 1))


def _powers(a: float, half: float, n: int) -> float:
    """h^n Σ_{j=1}^{n} C(n+1, j) a^{j−1} = h^n((a+1)^{n+1} − a^{n+1} − 1)/a."""
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


def exact(mp: Any, alpha: float, step_epsilon: float) -> Any:
    a, half = mp.mpf(alpha), mp.mpf(step_epsilon) / 2

    def log_sinh(y: Any) -> Any:
        return mp.log((mp.exp(y) - mp.exp(-y)) / (2 * y))

    return (a * log_sinh(a * half) - (a - 1) * log_sinh((a - 1) * half) - log_sinh(half)) / (a - 1)


BOUND = RdpBound(
    Theorem(
        name="exponential-rdp",
        example="rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6",
        statement="ε(α) = (αS(αη/2) − (α−1)S((α−1)η/2) − S(η/2))/(α−1) with S(y) = log(sinh(y)/y), the largest of all "
                  "mechanisms whose privacy loss has a range of length η; at most η²α/8",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range, and the worst case with two outcomes); "
               "proof in dpcalc/bounds/mechanisms/exponential_rdp.py",
        assumptions=(RANGE,),
    ),
    params=("step_epsilon",),
    value=value,
    exact=exact,
    rtol=3e-14,
)
