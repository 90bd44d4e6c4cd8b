"""Rényi differential privacy of the discrete Gaussian mechanism.

Proof of the formula. With P centred at s and Q at 0, p^α q^(1−α) is proportional to the exponential of
−(α(x − s)² + (1−α)x²)/(2σ²) = −(x − αs)²/(2σ²) + α(α−1)s²/(2σ²), and the sum over x depends on αs modulo 1 only. By
Poisson's summation formula Θ(c) is largest at integers: so ε(α) <= αs²/(2σ²), with equality where αs is an integer.

In d dimensions with independent noise on each coordinate, divergences add up over the coordinates: a query with integer
values that changes by at most s in ℓ2 has ε(α) <= αs²/(2σ²). That is the curve of Gaussian noise (--mechanism gaussian
--bound gaussian-rdp).

Differences smaller than s are covered, as their privacy profiles are (see discrete_gaussian_exact.py).
"""

from fractions import Fraction
from typing import Any

from dpcalc.bounds.mechanisms.discrete_gaussian_law import ASSUMPTIONS, NAME, exact_total, log_share_off_centre
from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_up, up


def _off_centre(alpha: float, sensitivity: float) -> Fraction:
    """The distance of αs from the nearest integer."""
    c = Fraction(alpha) * whole(sensitivity, NAME) % 1
    return min(c, 1 - c)


def value(alpha: float, sigma: float, sensitivity: float) -> float:
    """ε(α) = αs²/(2σ²) + log(Θ(αs)/Θ(0))/(α−1), rounded up, and at most αs²/(2σ²)."""
    c, most = float(_off_centre(alpha, sensitivity)), ratio_up((alpha, sensitivity, sensitivity), (2.0, sigma, sigma))
    # ε(α) increases, and is most at ⌊α⌋ >= α/2: so it is at least half of `most`, and little cancels
    return min(up(most + log_share_off_centre(c, sigma) / (alpha - 1), 2e-14), most) if c else most


def exact(mp: Any, alpha: float, sigma: float, sensitivity: float) -> Any:
    v, c = mp.mpf(sigma), _off_centre(alpha, sensitivity)
    gaussian = mp.mpf(alpha) * mp.mpf(sensitivity) ** 2 / (2 * v**2)
    if c == 0:
        return gaussian
    centre = mp.mpf(c.numerator) / mp.mpf(c.denominator)
    return gaussian + mp.log(exact_total(mp, v, centre) / exact_total(mp, v)) / (mp.mpf(alpha) - 1)


BOUND = RdpBound(
    Theorem(
        name="discrete-gaussian-rdp",
        example="rdp --mechanism discrete-gaussian --sigma 1 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = αs²/(2σ²) + log(Θ(αs)/Θ(0))/(α−1) ≤ αs²/(2σ²), Θ(c) = Σ_x e^(−(x−c)²/(2σ²))",
        source="Canonne, Kamath & Steinke 2020, arXiv:2004.00010 (the upper bound)",
        assumptions=ASSUMPTIONS,
    ),
    params=("sigma", "sensitivity"),
    value=value,
    exact=exact,
    rtol=5e-14,
)
