"""The largest total variation that a Rényi divergence allows, where it bounds both orders of the neighbours.

Proof. Let D_α(P‖Q) and D_α(Q‖P) be at most r, and let A be the event where P has the larger density, a = P(A) and
b = Q(A), so that TV = a − b. With F(u, v) = u^α v^{1−α} the data processing inequality for A gives
F(a, b) + F(1−a, 1−b) ≤ e^{(α−1)r} and F(b, a) + F(1−b, 1−a) ≤ e^{(α−1)r}. F is convex in both arguments together (the
perspective of u^α), so that with p = (1+TV)/2 = (a+1−b)/2 the mean of F(a, b) and F(1−b, 1−a) is at least F(p, 1−p),
and that of F(1−a, 1−b) and F(b, a) at least F(1−p, p). Hence F(p, 1−p) + F(1−p, p) ≤ e^{(α−1)r}: randomised response
with p has a divergence of at most r. This increases with x = log(p/(1−p)), and TV = 2p − 1 = tanh(x/2). Randomised
response itself attains the bound, also at all orders of a curve together. ∎ """

from math import sqrt, tanh
from typing import Any

from dpcalc.bounds.mechanisms import finite
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.root import boundary
from dpcalc.numerics.rounding import up

_DIVERGENCE_ERROR = 2.5e-14  # relative; of the divergence of randomised response in doubles


def value(alpha: float, rdp: float) -> dict[str, float]:
    """tanh(x/2) for an x at which randomised response has at least the divergence ε(α), rounded up."""
    by_kl = sqrt(rdp) * sqrt(0.5)  # Pinsker's inequality, as D_α rises with α
    if (alpha - 1) * rdp < 1e-290:  # the divergence of randomised response is computed by subnormal doubles
        return {"tv": min(1.0, up(by_kl, 1e-15))}

    def residual(x: float) -> float:
        return rdp * (1 + _DIVERGENCE_ERROR) - finite.rdp_of_pure(alpha, x)

    least = max(rdp, sqrt(2 / alpha) * sqrt(rdp))  # D_α <= x, and D_α <= αx²/2
    # x <= r + 0.56, as r >= D_1 = x·tanh(x/2) and x(1 − tanh(x/2)) <= 0.557
    x = boundary(residual, rdp * (1 + 2 * _DIVERGENCE_ERROR) + 0.56, least * (1 - 1e-9), 1e-14)
    return {"tv": min(1.0, up(tanh(x / 2), 1e-15))}


def divergence(mp: Any, alpha: float, x: Any) -> Any:
    """D_α of randomised response with log odds x: that of the statement, with cosh((α−½)x)/cosh(x/2) − 1 factorised."""
    a = mp.mpf(alpha)
    return mp.log1p(-mp.expm1(-a * x) * mp.expm1((a - 1) * x) / (1 + mp.exp(-x))) / (a - 1)


def exact(mp: Any, alpha: float, rdp: Any) -> Any:
    r = mp.mpf(rdp)
    if r == 0:
        return {"tv": r}
    least = max(r, mp.sqrt(2 * r / alpha))
    return {"tv": mp.tanh(root(mp, lambda x: divergence(mp, alpha, x) - r, least, min(r + 1, 4 * mp.sqrt(r) + r)) / 2)}


def condition(mp: Any, tv: float, alpha: float, rdp: Any) -> Any:
    """D_α of the randomised response with the claimed total variation, less ε(α); the claim holds where it is >= 0."""
    t = mp.mpf(tv)
    return divergence(mp, alpha, mp.log1p(t) - mp.log1p(-t)) - rdp


BOUND = PointBound(
    Theorem(
        name="tv-rdp",
        example="tv --rho 0.5",
        statement="TV ≤ tanh(x/2), where randomised response with log odds x has the Rényi divergence ε(α): "
                  "cosh((α−½)x)/cosh(x/2) = e^((α−1)ε(α)); it has this total variation",
        in_words="The largest total variation that the Rényi divergence at one order allows, for every mechanism. It "
                 "is tight for this one number: randomised response attains it. A mechanism of which more is known, "
                 "such as Gaussian noise, has less. It is false where the Rényi divergence holds in one direction of "
                 "the neighbours only.",
        source="proof in dpcalc/bounds/total_variation/rdp.py, from van Erven & Harremoës 2014, Theorem 9, "
               "arXiv:1206.2459v2",
        assumptions=("ε(α) holds for both orders of the neighbours",),
    ),
    gives=("tv",), params=("alpha", "rdp"), value=value, exact=exact, condition=condition, rtol=1e-13)
