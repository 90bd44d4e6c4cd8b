"""S_r(α, q, z): the Rényi divergence of one noisy step on a random batch, for replace-one neighbours.

Statement. Let P be (1−q)N(m, z²I) + qN(m₁, z²I) and Q the same with m₁′, the three means pairwise within 1. Then
D_α(P‖Q) <= S_r(α, q, z) = log{1 + α(α−1)∫_1^∞ (γ^{α−2} + γ^{−α−1}) h(γ) dγ}/(α−1), h(γ) = q·θ(log((γ−1+q)/q), 1/z),
and S_r <= α/(2z²).

Proof. For γ >= 1 put γ′ = 1 + (γ−1)/q. Advanced joint convexity (Balle, Barthe & Gaboardi 2018, Theorem 2) gives
E_γ(P‖Q) = q·E_γ′(N(m₁) ‖ (1−β)N(m) + βN(m₁′)) for some β in [0,1], which by convexity is at most q·θ(log γ′, 1/z) as
both means are within 1 of m₁; so is E_γ(Q‖P). The integral of E_γ over γ that gives D_α (privacy profiles: e^{(α−1)D_α}
= 1 + α(α−1)∫_1^∞ (γ^{α−2}E_γ(P‖Q) + γ^{−α−1}E_γ(Q‖P)) dγ) increases in both. At q = 1 it is D_α(N(1,z²)‖N(0,z²)) =
α/(2z²), and h increases in q: with h(γ) = E[(1+u−γ)₊] as below, 1+u is a mean of 1 and e^w with weight q on e^w, and it
spreads as q grows. ∎

Evaluation. h(γ) = E_γ((1−q)N(0,z²)+qN(1,z²) ‖ N(0,z²)) = E[(1+u−γ)₊] with t ~ N(0,1), w = t/z − 1/(2z²), u = q(e^w −
1). Integrating over γ first,

    e^{(α−1)S_r} − 1 = E[1{w > 0}·(e^x − 1)·(u + 1 − e^{−x})],   x = (α−1) log(1+u):

products of positive terms, nothing cancels. With t = 1/(2z) + s and s = κ·log(1 + e^{y/κ}), κ = min(1, z), the
half-line becomes a line, the integrand is analytic for |Im y| < πκ, and the trapezoidal rule in y with step min(1/2,
z/4) has an error below e^{−34}. """

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.numerics.normal import LOG_SQRT_2PI
from dpcalc.numerics.quadrature import tail, whole
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array


@lru_cache(maxsize=20_000)
def value(alpha: float, q: float, z: float) -> float:
    """S_r(α, q, z), never below it and at most a relative 1e-10 above it; inf beyond the largest double."""
    try:
        cap = ratio_up((alpha,), (2.0, z, z))
    except OverflowError:
        cap = inf
    if q == 1:
        return cap
    growth = (alpha - 1) / (2 * z) / z
    if growth == inf:
        return cap
    if growth + log(q) > 45:
        # Minkowski: ‖1 + u‖_α <= 1 − q + q‖e^w‖_α, and >= q‖e^w‖_α: equal to double precision here.
        return min(up((growth + log(q) + exp(log1p(-q) - log(q) - growth)) * (alpha / (alpha - 1)), 4e-15), cap)
    if z > 1e140:  # (q/z)² would underflow; the bound without sampling is tiny already
        return cap
    # The relative error is by quadrature and rounding; measured against 30 digits, with a margin.
    log_excess = _log_excess(alpha, q, z) + 2e-11
    raw = log1p(exp(log_excess)) if log_excess < 700 else log_excess
    return min(up(raw / (alpha - 1), 2e-15), cap)


def _log_excess(alpha: float, q: float, z: float) -> float:
    """log(e^{(α−1)S_r} − 1) by the trapezoidal rule, on the two intervals of y where the integrand is not negligible:
    near w = 0, and around a maximum at larger w if there is one."""
    import numpy as np

    kappa, step = min(1.0, z), min(0.5, z / 4)
    coarse_step = 2.0  # beyond the first stretch every maximum is at least one standard deviation wide
    first_end = 24.0 + 4 * z if z < 1 else 24.0  # in y, beyond the maximum near w = 0
    end = (alpha - 1) / z + 1.5 / z + 12
    # Towards −∞ the integrand falls like e^{3y/κ}: before −17κ it is below e^{−51} of its value at 0.
    stretches = [(-17 * kappa, min(first_end, end))]
    if end > first_end:
        coarse = first_end + coarse_step * np.arange(int((end - first_end) / coarse_step) + 2)
        heights = _log_integrand(coarse, alpha, q, z, kappa)
        large = (heights > float(heights.max()) - 50).nonzero()[0]  # the rest is below e^{−50} of the maximum
        begin = float(coarse[large[0] - 1]) if large[0] > 1 else first_end
        stretches.append((begin, float(coarse[large[-1]]) + coarse_step))
        if begin <= stretches[0][1] + step:  # a trapezoidal sum must not end where the integrand is large
            stretches = [(stretches[0][0], stretches[1][1])]
    logs = [_log_integrand(low + step * np.arange(int((high - low) / step) + 1), alpha, q, z, kappa)
            for low, high in stretches]
    top = max(float(x.max()) for x in logs)
    return top + log(sum(float(np.exp(x - top).sum()) for x in logs) * step)


def _log_integrand(y: Array, alpha: float, q: float, z: float, kappa: float) -> Array:
    """The log of the integrand of `Evaluation` at rising y, with the Jacobian ds/dy."""
    import numpy as np

    s = kappa * np.logaddexp(0.0, y / kappa)
    log_slope = -np.logaddexp(0.0, -y / kappa)
    t = 0.5 / z + s
    w = s / z
    u = q * np.expm1(np.minimum(w, 600.0))
    x = (alpha - 1) * np.log1p(u)
    log_rest = np.log(u - np.expm1(-x))
    if w[-1] > 600:
        x = np.where(w > 600, (alpha - 1) * (w + log(q)), x)
        log_rest = np.where(w > 600, w + log(q), log_rest)
    with np.errstate(over="ignore", divide="ignore"):
        log_grown = np.where(x > 600, x, np.log(np.expm1(np.minimum(x, 650.0))))
    result: Array = log_grown + log_rest + log_slope - t * (t / 2) - LOG_SQRT_2PI
    return result


def exact(mp: Any, alpha: Any, q: Any, z: Any) -> Any:
    """S_r at high precision: the integral over s = t − 1/(2z), split where the integrand changes quickly. The tail is
    bounded by that of e^{αw}, which is not below the integrand."""
    a, q, z = mp.mpf(alpha), mp.mpf(q), mp.mpf(z)
    if q == 1:
        return a / (2 * z * z)
    half = 1 / (2 * z)
    rate, noise, order = float(q), float(z), max(float(a), 2.0)
    bend = noise * log((1 - rate) / rate)
    peak = (float(a) / noise - 0.5 / noise + k for k in (-12, -6, -3, 0, 3, 6, 12))
    knots = (0, noise / 4, noise, 3 * noise, 8 * noise, 1, 3, 6, 12, 2 / noise, bend - 4 * noise, bend,
             bend + 4 * noise, *peak)
    top = order / noise + 25
    breakpoints = sorted({float(k) for k in knots if 0 <= k <= top} | {top})

    def integrand(s: Any) -> Any:
        u = q * mp.expm1(s / z)
        x = (a - 1) * mp.log1p(u)
        return mp.expm1(x) * (u - mp.expm1(-x)) * mp.npdf(half + s)

    last = order / noise + max(25.0, sqrt(2 * (order * -log(rate) + 350)))
    return mp.log1p(whole(mp, integrand, breakpoints, (0.0, last), lambda low, high: (
        mp.exp(a * (a - 1) / (2 * z * z)) * tail(mp, high + half - a / z)))) / (a - 1)
