"""Rényi DP of Gaussian noise on a Poisson-sampled batch in which one record is replaced, at every order α > 1.

With μ = 1/z and t ~ N(0, 1), t the outcome in units of the noise, the densities of P = (1−q)N(0, z²) + qN(1, z²) and Q
= (1−q)N(0, z²) + qN(−1, z²) over that of N(0, z²) are A = 1 − q + qe^{μt − μ²/2} and B = 1 − q + qe^{−μt − μ²/2}. By
the theorem of poisson_replace_one_profile.py E_γ of a step is at most that of this pair for every γ > 0, and so is
every Rényi divergence of order α > 1, as

    e^{(α−1)D_α(P‖Q)} − 1 = ∫_0^∞ α(α−1)γ^{α−2}[E_γ(P‖Q) − (1−γ)₊] dγ

has positive weights. Both orders are equal, as Q is P reflected; steps add up. As E[B e^L] = E[A] = E[B] = 1 for the
loss L = log(A/B), the left side is

    E[B f(L)],    f(L) = e^{αL} − 1 − α(e^L − 1) >= 0:

a sum of positive terms. The integrand is analytic for |Im t| < πz, so that the trapezoidal rule converges
exponentially: on |Im t| = b, |A| is at most A(Re t), and |B| at least cos(b/(2z)) times B(Re t). """

from __future__ import annotations

from math import exp, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling.poisson_rdp import by_quadrature
from dpcalc.bounds.sampling.poisson_replace_one_profile import BOUND as PROFILE
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.normal import LOG_SQRT_2PI
from dpcalc.numerics.quadrature import tail, whole
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

_TAIL = 12.0  # standard deviations: beyond lies less than 1e-28 of a Gaussian integral, also times t²


def value(alpha: float, noise_multiplier: float, sampling_rate: float) -> float:
    """D_α(P‖Q), which is D_α(Q‖P)."""
    z, q, mu = noise_multiplier, sampling_rate, 1 / noise_multiplier
    cap = ratio_up((2.0, alpha), (z, z))
    if q == 1:
        return cap
    # The integrand falls at least like e^{−(t − (2α−1)μ)²/2} above (2α−1)μ, and like φ(t + μ) below −μ.
    start, end = -mu - _TAIL, (2 * alpha - 1) * mu + _TAIL
    step = min(0.5, z / 4, 0.6 / sqrt(1 + (alpha - 1) / z / z / 4))
    bend = z * (log1p(-q) - log(q)) + mu / 2  # where both parts of A are equal; those of B are at −bend
    found = by_quadrature(lambda t: _log_integrand(t, alpha, mu, q), alpha, z, q, (start, end), step,
                          (0.0, bend, -bend), cap)
    return min(_by_convexity(alpha, z, q, cap), _by_one_part(alpha, z, q)) if found is None else found


def _by_convexity(alpha: float, z: float, q: float, cap: float) -> float:
    """log(1 − q + qe^{(α−1)·2α/z²})/(α−1), as e^{(α−1)D_α} is jointly convex in both distributions; rounded up."""
    growth = 2 * (alpha - 1) * alpha / z / z
    if growth > 700:  # it is near the overflow of doubles
        return cap
    raw = log1p(q * (exp(growth) - 1)) if growth > 1e-3 else q * growth * (1 + growth)
    return min(up(max(raw / (alpha - 1), 5e-324), 4e-15), cap)


def _by_one_part(alpha: float, z: float, q: float) -> float:
    """α/(α−1)·log(1 − q + qe^{(α−1)/(2z²)}) − log(1 − q), as B >= 1 − q, and by Minkowski's inequality; rounded up."""
    grown = log_add(log1p(-q), log(q) + (alpha - 1) / z / z / 2)
    return up(max(alpha / (alpha - 1) * grown, 0.0) - log1p(-q), 4e-15)


def _log_integrand(t: Array, alpha: float, mu: float, q: float) -> Array:
    """log of φ(t)·B·f(L)."""
    import numpy as np

    from dpcalc.pld.renyi import log_f

    r = mu * np.abs(t)
    log_b = np.logaddexp(log1p(-q), log(q) - mu * (t + mu / 2))
    smaller = np.where(t >= 0, log_b, np.logaddexp(log1p(-q), log(q) + mu * (t - mu / 2)))
    with np.errstate(divide="ignore"):
        excess = log(q) - mu * mu / 2 + r + np.log(-np.expm1(-2 * r))  # log of |A − B|
        loss = np.sign(t) * np.logaddexp(0.0, excess - smaller)
        return np.asarray(log_b + log_f(loss, alpha) - t * t / 2 - LOG_SQRT_2PI)


def exact(mp: Any, alpha: float, noise_multiplier: float, sampling_rate: float) -> Any:
    """The defining integral."""
    a, q, mu = mp.mpf(alpha), mp.mpf(sampling_rate), 1 / mp.mpf(noise_multiplier)
    if sampling_rate == 1:
        return 2 * a * mu * mu

    def integrand(t: Any) -> Any:
        ratio_p = 1 - q + q * mp.exp(mu * t - mu * mu / 2)
        ratio_q = 1 - q + q * mp.exp(-mu * t - mu * mu / 2)
        return (ratio_p**a * ratio_q ** (1 - a) - ratio_q - a * (ratio_p - ratio_q)) * mp.npdf(t)

    def beyond(low: Any, high: Any) -> Any:
        """Below, f(L) <= α − 1; above, A <= e^{μt} and B >= e^{−μt − μ²/2}."""
        below = (a - 1) * ((1 - q) * tail(mp, low) + q * tail(mp, low + mu))
        middle = (2 * a - 1) * mu
        return below + mp.exp(middle**2 / 2 + (a - 1) * mu * mu / 2) * tail(mp, high - middle)

    m, most = 1 / float(noise_multiplier), (2 * float(alpha) - 1) / float(noise_multiplier)
    bend = (log1p(-sampling_rate) - log(sampling_rate)) / m + m / 2
    cuts = {-25 - m, -6.0, -3.0, 0.0, 3.0, 6.0, m, -m, float(alpha) * m, most, most + 25,
            *(side * bend + x for side in (-1, 1) for x in (-3, 0, 3))}
    points = sorted(x for x in cuts if -25 - m <= x <= most + 25)
    far = sqrt(2 * (most * m - log(sampling_rate) + 350))
    return mp.log1p(whole(mp, integrand, points, (-m - 40, most + far), beyond)) / (a - 1)


BOUND = RdpBound(
    Theorem(
        name="poisson-replace-one-rdp",
        example="subsample --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --adjacency replace-one --alpha 8",
        statement="D_α((1−q)N(0, z²) + qN(1, z²) ‖ (1−q)N(0, z²) + qN(−1, z²))",
        in_words="The Rényi divergence of one step of DP-SGD with Gaussian noise on Poisson batches where one record "
                 "is replaced by another, attained by opposite gradients; those of all steps add up. The ε to which "
                 "it is converted is usually above that of poisson-replace-one-profile. It is false for shuffled "
                 "batches.",
        source="Kahane 1986, convexity inequality; proof in dpcalc/bounds/sampling/poisson_replace_one_profile.py",
        assumptions=PROFILE.theorem.assumptions,
        released="every step's output",
    ),
    params=("noise_multiplier", "sampling_rate"), value=value, exact=exact, rtol=1e-10)
