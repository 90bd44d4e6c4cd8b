"""Rényi DP of the Poisson-subsampled Gaussian mechanism, at every order.

With w = t/z − 1/(2z²) for t ~ N(0,1), the ratio of mix = (1−q)N(0,z²) + qN(1,z²) to N(0,z²) is 1 + u, u = q(e^w − 1),
and E[u] = 0, so that

    e^{(α−1)D_α(mix‖N)} − 1 = E[(1+u)^α − 1 − αu] = E[(1+u){χ((α−1)y) + (α−1)(y − u/(1+u))}],
    e^{(α−1)D_α(N‖mix)} − 1 = E[(1+u)^{1−α} − 1 − (1−α)u] = E[χ(−(α−1)y) + (α−1)(u − y)],

with y = log(1+u) and χ(x) = e^x − 1 − x: positive terms, no cancellation, any α > 1. The integrands are
analytic for |Im t| < πz, so the trapezoidal rule with step min(1/2, z/4), less for the second at large α, has an error
below e^{−34}. """

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, expm1, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling._engine.assumptions import ADDED_OR_REMOVED, GAUSSIAN_NOISE, POISSON
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.normal import LOG_SQRT_2PI
from dpcalc.numerics.quadrature import log_integral, tail, whole
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

_ERROR = 2e-11  # relative error of e^{(α−1)D} − 1: quadrature and rounding
_MOST_NODES = 1e6  # of the quadrature: more take seconds, and gigabytes
_TAIL = 9.5  # standard deviations: beyond lies less than 1e-20 of a Gaussian integral
_NEGLIGIBLE = 45.0  # e^−45 = 3e-20 of the integral may be left out


def value(alpha: float, noise_multiplier: float, sampling_rate: float) -> float:
    z, q = noise_multiplier, sampling_rate
    cap, growth = ratio_up((alpha,), (2.0, z, z)), (alpha - 1) / (2 * z * z)
    if q == 1:
        return cap
    if growth + log(q) > _NEGLIGIBLE:
        # Minkowski: ‖1 + u‖_α <= 1 − q + q‖e^w‖_α, and >= q‖e^w‖_α: equal to double precision here.
        log_norm = growth + log(q) + exp(log1p(-q) - log(q) - growth)
        return min(up(log_norm * (alpha / (alpha - 1)), 2e-15), cap)
    ends = -_TAIL, _upper_end(alpha, z, q)
    return _divergence(alpha, z, q, cap, _log_forward, ends, min(0.5, z / 4))


def reverse(alpha: float, noise_multiplier: float, sampling_rate: float) -> float:
    """D_α(N‖mix), the other direction."""
    z, q = noise_multiplier, sampling_rate
    cap = ratio_up((alpha,), (2.0, z, z))
    if q == 1:
        return cap
    # On Im t = a, (1+u)^{1−α} can grow by cos(a/2z)^{1−α}, about e^{(α−1)a²/8z²}: a smaller step is needed.
    step = min(0.5, z / 4, 0.6 / sqrt(1 + (alpha - 1) / z / z / 4))
    return _divergence(alpha, z, q, cap, _log_reverse, (-_lower_end(alpha, z, q), 2 / z + _TAIL), step)


def _divergence(alpha: float, z: float, q: float, cap: float,
                log_integrand: Callable[[Array, float, float, float], Array], ends: tuple[float, float],
                step: float) -> float:
    """log(1 + ∫)/(α−1), by the quadrature or by Minkowski's inequality."""
    bends = (1 / (2 * z), z * (log1p(-q) - log(q)) + 1 / (2 * z))  # u = 0 and u = 1 − q
    whole_ends = ends[0], 8 * ceil(ends[1] / 8)
    found = by_quadrature(lambda t: log_integrand(t, alpha, z, q), alpha, z, q, whole_ends, step, bends, cap)
    if found is not None:
        return found
    # log(1 − q + q‖e^w‖_α)·α/(α−1) is above both directions, of which the forward one is the larger.
    growth = (alpha - 1) / (2 * z * z)
    raw = log1p(q * expm1(growth)) * (alpha / (alpha - 1)) if growth < 700 else cap
    return min(up(max(raw, 5e-324), 4e-15), cap)


def by_quadrature(log_integrand: Callable[[Array], Array], alpha: float, z: float, q: float, ends: tuple[float, float],
                  step: float, bends: tuple[float, ...], cap: float) -> float | None:
    """log(1 + ∫)/(α−1) by the trapezoidal rule, rounded up and at most `cap`; None where that needs too many nodes, or
    where the square of q/z underflows."""
    if min(q, q / z) < 1e-140 or z > 1e100 or (ends[1] - ends[0]) / step > _MOST_NODES:
        return None
    log_excess, error = log_integral(log_integrand, *ends, step, bends)
    log_excess += _ERROR + error * error
    raw = log1p(exp(log_excess)) if log_excess < 700 else log_excess
    return min(up(raw / (alpha - 1), 4e-16), cap)


def _upper_end(alpha: float, z: float, q: float) -> float:
    """A t beyond which less than e^{−45} of the integral of g(t) = φ(t)((1+u)^α − 1 − αu) is left.

    d log g/dt + t is at most α u′/(1+u) + 2u′/u <= p(t) = (α/z)·share + 2/z + 2/(t − 1/(2z)), and p(t) stays below
    t_k on [t_k, t_{k−1}] for t_k = p(t_{k−1}), as long as these fall: there g falls at least like e^{−(t − t_k)²/2}.
    """
    floor, target = 1 / (2 * z) + 1, _NEGLIGIBLE + 3
    points = [max((alpha + 2) / z + 2, floor)]
    for _ in range(60):
        t = points[-1]
        w = t / z - 1 / (2 * z * z) + log(q) - log1p(-q)
        share = 1 / (1 + exp(-w)) if w > -700 else 0.0
        lower = max(alpha * share / z + 2 / z + 2 / (t - 1 / (2 * z)), floor)
        if lower > 0.99 * t:
            break
        points.append(lower)
    fall = 0.0
    for low, high in zip(reversed(points), reversed(points[:-1]), strict=False):
        if fall + (high - low) ** 2 / 2 >= target:
            return low + sqrt(2 * (target - fall))
        fall += (high - low) ** 2 / 2
    return points[0] + sqrt(2 * (target - fall))


def _lower_end(alpha: float, z: float, q: float) -> float:
    """A t such that the integral of f(t) = φ(t)(1+u)^{1−α} below −t is negligible.

    d log f/dt = −t − (α−1)/z·s(t) with the share s(t) = qe^w/(1+u), which rises. Below −c, c >= (α−1)/z·s(−c), f falls
    at least like e^{−(t+c)²/2}. As s rises, every second iterate of c ← (α−1)/z·s(−c) from (α−1)/z on is such a c. """
    most = c = (alpha - 1) / z
    for _ in range(8):
        w = log(q) - log1p(-q) - c / z - 1 / (2 * z * z)
        c = most / (1 + exp(-w)) if w > -700 else 0.0
    return min(most, c) + _TAIL


def _log_forward(t: Array, alpha: float, z: float, q: float) -> Array:
    """log φ(t)((1+u)^α − 1 − αu), as log(1+u) + log(χ((α−1)y) + (α−1)(y − u/(1+u))), y = log(1+u): no overflow."""
    import numpy as np

    w = t / z - 1 / (2 * z * z)
    u = q * np.expm1(np.minimum(w, 600.0))
    y = np.log1p(u)
    ratio = u / (1 + u)
    slack = np.where(np.abs(u) < 0.02, u * ratio - _x_minus_log1p(u, y), y - ratio)
    y = np.where(w > 600, w + log(q), y)
    slack = np.where(w > 600, y - 1, slack)
    x = (alpha - 1) * y
    with np.errstate(over="ignore", divide="ignore"):
        logs = np.where(x > 600, x, np.log(_expm1mx(x) + (alpha - 1) * slack))
    result: Array = y + logs - t * (t / 2) - LOG_SQRT_2PI
    return result


def _log_reverse(t: Array, alpha: float, z: float, q: float) -> Array:
    import numpy as np

    a1 = alpha - 1
    w = t / z - 1 / (2 * z * z)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        u = q * np.expm1(np.minimum(w, 600.0))
        y = np.where(u < -0.5, np.log(1 - q + q * np.exp(np.minimum(w, 0.0))), np.log1p(u))
        inside = _expm1mx(-a1 * y) + a1 * _x_minus_log1p(u, y)
        logs = np.where(-a1 * y > 300, -a1 * y, np.log(inside))
        logs = np.where(w > 600, w + log(q) + log(a1), logs)  # (α−1)u, beside which the rest is below 1e-250
    result: Array = logs - t * (t / 2) - LOG_SQRT_2PI
    return result


def _expm1mx(x: Array) -> Array:
    """e^x − 1 − x, to 1e-14 relative."""
    import numpy as np

    series = x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7)))))
    return np.where(np.abs(x) < 0.02, series, np.expm1(x) - x)


def _x_minus_log1p(u: Array, y: Array) -> Array:
    """u − log(1+u) >= 0 with y = log1p(u), to 1e-14 relative; by log(1+u) = 2 artanh(u/(2+u)) where it cancels."""
    import numpy as np

    r = u / (2 + u)
    s = r * r
    series = r * (u - 2 * s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s / 9))))
    return np.where(np.abs(u) < 0.02, series, u - y)


def exact(mp: Any, alpha: float, noise_multiplier: float, sampling_rate: float) -> Any:
    """The printed sum at whole orders, else the defining integral."""
    a, q, z = mp.mpf(alpha), mp.mpf(sampling_rate), mp.mpf(noise_multiplier)
    if q == 1:
        return a / (2 * z * z)
    if alpha == int(alpha) <= 10_000:  # beyond, the integral takes less time than the sum
        k = range(int(alpha) + 1)
        total = mp.fsum(mp.binomial(a, j) * (1 - q) ** (int(alpha) - j) * q**j * mp.exp(j * (j - 1) / (2 * z * z))
                        for j in k)
        return mp.log(total) / (a - 1)
    return mp.log1p(integral(mp, lambda u: (1 + u) ** a - 1 - a * u, a, q, z, lambda low, high: (
        a * q * tail(mp, low) + mp.exp(a * (a - 1) / (2 * z * z)) * tail(mp, high - a / z)))) / (a - 1)


def exact_reverse(mp: Any, alpha: float, noise_multiplier: float, sampling_rate: float) -> Any:
    """D_α(N‖mix) by its defining integral."""
    a, q, z = mp.mpf(alpha), mp.mpf(sampling_rate), mp.mpf(noise_multiplier)
    if q == 1:
        return a / (2 * z * z)
    return mp.log1p(integral(mp, lambda u: (1 + u) ** (1 - a) - 1 - (1 - a) * u, a, q, z, lambda low, high: (
        (1 - q) ** (1 - a) * tail(mp, low) + (a - 1) * q * tail(mp, high - 1 / z)))) / (a - 1)


def integral(mp: Any, g: Any, a: Any, q: Any, z: Any, beyond: Any) -> Any:
    """E[g(u)] over t ~ N(0,1), split where the integrand bends; `beyond` bounds the parts below the first and above the
    last point: g <= αq or (1−q)^{1−α} where u < 0, and where u > 0 g <= (1+u)^α <= e^{αw}, or (α−1)u <= (α−1)qe^w."""
    rate, noise, order = float(q), float(z), max(float(a), 2.0)
    top = order / noise
    bend = noise * (log((1 - rate) / rate) + 1 / (2 * noise * noise)) if rate < 1 else 0.0
    cuts = sorted({-25.0, -6.0, -3.0, 0.0, 3.0, 6.0, 2 / noise, float(a) / noise, bend, bend + 3 * noise,
                   bend - 3 * noise, top + 25})
    points = [c for c in cuts if -25 <= c <= top + 25]
    last = top + max(25.0, sqrt(2 * (order * -log(rate) + 350)))
    return whole(mp, lambda t: g(q * mp.expm1(t / z - 1 / (2 * z * z))) * mp.npdf(t), points, (-40.0, last), beyond)


BOUND = RdpBound(
    Theorem(
        name="poisson-rdp",
        example="subsample --sampling-rate 0.01 --sigma 1 --steps 10000 --alpha 8",
        statement="D_α((1−q)N(0,z²) + qN(1,z²) ‖ N(0,z²)); at whole α log Σ_k C(α,k)(1−q)^(α−k) q^k e^(k(k−1)/(2z²)) "
                  "/ (α−1)",
        in_words="The Rényi divergence of one step of DP-SGD with Gaussian noise on Poisson batches, exact at every "
                 "order for a record that is added or removed; those of all steps add up. The ε to which it is "
                 "converted is usually above that of poisson-profile: 7.41 in place of 6.91 for 10,000 steps at the "
                 "rate 0.01, noise multiplier 1 and δ = 1e-6. It is false for shuffled batches.",
        source="Mironov, Talwar & Zhang 2019, Theorems 4 and 5, §3.3, arXiv:1908.10530v1",
        assumptions=(POISSON, ADDED_OR_REMOVED, GAUSSIAN_NOISE),
        errata=("The CS5562 lecture's ln E[L_q^λ] ≤ q²/(1−q)·ln E[L^λ] + O(q³λ³/σ³) is 1.70 times too small at λ = "
                "2, σ = 1, q = .01, and e − 1 = 1.72 times for q → 0; Abadi et al. 2016, Lemma 3, which it cites, has "
                "twice the first term.",),
    ),
    params=("noise_multiplier", "sampling_rate"), value=value, exact=exact, rtol=1e-10)
