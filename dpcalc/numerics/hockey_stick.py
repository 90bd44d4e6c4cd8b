"""The log of θ(ε, r) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2), the hockey-stick divergence E_{e^ε}(N(r,1) ‖ N(0,1)): δ at ε of
Gaussian noise with sensitivity/σ = r. Q is the upper tail of the standard normal distribution.

With a = ε/r − r/2, b = a + r and the Mills ratio R = Q/φ, e^ε φ(b) = φ(a), so that
θ = φ(a)(R(a) − R(b)) = φ(a) ∫_a^b (1 − xR(x)) dx and 1 − θ = φ(a)(R(−a) + R(b)): sums of positive terms.
"""

from functools import cache
from math import frexp, inf, ldexp, log, sqrt

from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.normal import LOG_SQRT_2PI, mills, mills_slope
from dpcalc.numerics.root import boundary, bracket

# 12-point Gauss–Legendre on [0, 1]. Where b <= 2a the integrand is analytic far beyond [a, b]: errors are below 1e-17.
NODES = (
    (0.009219682876640375, 0.02358766819325591), (0.04794137181476257, 0.05346966299765922),
    (0.11504866290284766, 0.08003916427167312), (0.2063410228566913, 0.10158371336153296),
    (0.31608425050090994, 0.11674626826917740), (0.43738329574426555, 0.12457352290670139),
    (0.5626167042557344, 0.12457352290670139), (0.6839157494990901, 0.11674626826917740),
    (0.7936589771433087, 0.10158371336153296), (0.8849513370971524, 0.08003916427167312),
    (0.9520586281852374, 0.05346966299765922), (0.9907803171233596, 0.02358766819325591),
)
# Three points for r <= 0.02, as the error is proportional to r^7 there.
_THREE_NODES = (
    (0.11270166537925831, 0.27777777777777778), (0.5, 0.44444444444444444),
    (0.88729833462074169, 0.27777777777777778),
)


def log_theta(epsilon: float, ratio: float) -> float:
    """log θ(ε, r) for ε >= 0 and r >= 0 (−inf at r = 0), to 1e-13 relative."""
    if ratio in (0, inf):
        return -inf if ratio == 0 else 0.0
    a, b = _arguments(epsilon, ratio)
    if a < -1:
        return log1mexp(_log_complement(a, b))
    difference = _mills_difference(a, b, ratio)
    # The difference underflows for a beyond 1e100, where its log is negligible. The result is always a finite number.
    log_difference = log(difference) if difference > 0 else -700.0 - log(a)
    return max(_log_density(a) + log_difference, -1.7e308)


def _mills_difference(a: float, b: float, ratio: float) -> float:
    """R(a) − R(b) without cancellation: by a series, directly where R(b) is small, or as an integral of −R′."""
    if b > 1.5 and ratio < 0.6 * b:
        return _series(b, ratio)
    mills_a, mills_b = mills(a), mills(b)
    if mills_b <= mills_a / 2:
        return mills_a - mills_b
    return ratio * sum(w * mills_slope(a + ratio * t) for t, w in (_THREE_NODES if ratio <= 0.02 else NODES))


def _series(b: float, r: float) -> float:
    """R(b − r) − R(b) = Σ_{k>=1} h_k r^k with h_k = ∫ t^k e^{−bt − t²/2} dt/k!: positive terms, for r <= 0.6b.

    h_k/h_{k−1} = ρ_k = 1/(b + (k+1)ρ_{k+1}) decreases in k, so the terms fall at least like (r/b)^k. They are summed
    from the last one, where ρ is close to its fixed point; enough of them for double precision (tests/numerics). """
    k = int(max(10 + 270 / (b * b), 5 + 38 / log(b / r)))
    rho, nested = 2 / (b + sqrt(b * b + 4 * (k + 1))), 0.0
    for j in range(k + 1, 1, -1):
        rho = 1 / (b + j * rho)
        nested = rho * r * (1 + nested)
    return nested / (b + rho)


def log_theta_complement(epsilon: float, ratio: float) -> float:
    """log(1 − θ(ε, r)), accurate where θ is within 1e-16 of 1; 0 at r = 0."""
    if ratio in (0, inf):
        return 0.0 if ratio == 0 else -inf
    a, b = _arguments(epsilon, ratio)
    if a > -1:
        return log1mexp(log_theta(epsilon, ratio))
    return _log_complement(a, b)


def epsilon_for(log_delta: float, ratio: float) -> float:
    """The smallest ε >= 0 with θ(ε, r) <= δ: the inequality holds at the value returned, which is tight to 1e-13."""

    @cache
    def residual(epsilon: float) -> float:
        return log_theta(epsilon, ratio) - log_delta

    if residual(0.0) <= 0:
        return 0.0
    guess = ratio * (ratio / 2 + sqrt(max(-2 * log_delta, 0.0)))  # log θ is about −(ε/r − r/2)²/2
    return boundary(residual, *bracket(residual, guess, +1, 0.0, 1e300))


def ratio_for(epsilon: float, log_delta: float) -> float:
    """The largest r with θ(ε, r) <= δ: the inequality holds at the value returned, which is tight to 1e-13. Raises
    Unreachable where it holds for no r > 1e-300."""

    @cache
    def residual(ratio: float) -> float:
        return log_theta(epsilon, ratio) - log_delta

    feasible, infeasible = bracket(residual, 1.0, -1, 1e-300, 1e150)
    return feasible if feasible == infeasible else boundary(residual, feasible, infeasible)


def _arguments(epsilon: float, ratio: float) -> tuple[float, float]:
    """a and b, corrected for the rounding error of ε/r, which may be larger than a itself near ε = r²/2."""
    s = epsilon / ratio
    if s > 1e150 or not 1e-150 < ratio < 1e150:
        return s - ratio / 2, s + ratio / 2
    high, low = _product(s, ratio)
    error = ((epsilon - high) - low) / ratio
    return (s - ratio / 2) + error, (s + ratio / 2) + error


def _product(x: float, y: float) -> tuple[float, float]:
    """The rounded product x·y, and its rounding error, by Dekker's algorithm (2^27 + 1 halves the digits of a
    double)."""
    xm, xe = frexp(x)
    ym, ye = frexp(y)
    cx, cy = 134217729.0 * xm, 134217729.0 * ym
    xh, yh = cx - (cx - xm), cy - (cy - ym)
    xl, yl = xm - xh, ym - yh
    p = xm * ym
    return ldexp(p, xe + ye), ldexp(((xh * yh - p) + xh * yl + xl * yh) + xl * yl, xe + ye)


def _log_density(a: float) -> float:
    return -a * (a / 2) - LOG_SQRT_2PI


def _log_complement(a: float, b: float) -> float:
    """log(φ(a)(R(−a) + R(b))) for a <= −1."""
    return _log_density(a) + log(mills(-a) + mills(b))
