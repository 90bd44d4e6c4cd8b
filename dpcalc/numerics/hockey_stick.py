"""θ(ε, r) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2), the hockey-stick divergence E_{e^ε}(N(r,1) ‖ N(0,1)), in logs.

With a = ε/r − r/2, b = a + r and the Mills ratio R = Q/φ, e^ε φ(b) = φ(a), so that
θ = φ(a)(R(a) − R(b)) = φ(a) ∫_a^b (1 − xR(x)) dx and 1 − θ = φ(a)(R(−a) + R(b)): sums of positive terms.
"""

from math import frexp, inf, ldexp, log, sqrt

from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.normal import LOG_SQRT_2PI, mills, mills_slope
from dpcalc.numerics.root import boundary, bracket

# 12-point Gauss–Legendre on [0, 1]: on b <= 2a the integrand is analytic far around, the error below 1e-17.
NODES = (
    (0.009219682876640375, 0.02358766819325591), (0.04794137181476257, 0.05346966299765922),
    (0.11504866290284766, 0.08003916427167312), (0.2063410228566913, 0.10158371336153296),
    (0.31608425050090994, 0.11674626826917740), (0.43738329574426555, 0.12457352290670139),
    (0.5626167042557344, 0.12457352290670139), (0.6839157494990901, 0.11674626826917740),
    (0.7936589771433087, 0.10158371336153296), (0.8849513370971524, 0.08003916427167312),
    (0.9520586281852374, 0.05346966299765922), (0.9907803171233596, 0.02358766819325591),
)
# Fewer on a short interval: with n points the error is about r^(2n+1) (n!)⁴/((2n+1)(2n)!³) times the 2n-th derivative.
_SIX = (
    (0.033765242898423986, 0.085662246189585173), (0.16939530676686774, 0.1803807865240693),
    (0.38069040695840155, 0.23395696728634552), (0.61930959304159845, 0.23395696728634552),
    (0.83060469323313226, 0.1803807865240693), (0.96623475710157601, 0.085662246189585173),
)
_THREE = (
    (0.11270166537925831, 0.27777777777777778), (0.5, 0.44444444444444444),
    (0.88729833462074169, 0.27777777777777778),
)
_FLOOR = -1.7e308


def log_theta(epsilon: float, ratio: float) -> float:
    """log θ(ε, r) for ε >= 0 and r >= 0 (−inf at r = 0), to 1e-13 relative."""
    if ratio in (0, inf):
        return -inf if ratio == 0 else 0.0
    a, b = _arguments(epsilon, ratio)
    if a < -1:
        return log1mexp(_log_complement(a, b))
    return max(_log_density(a) + _log(_spread(a, b, ratio), a), _FLOOR)


def _spread(a: float, b: float, ratio: float) -> float:
    """R(a) − R(b), by the way that keeps its digits."""
    if b > 1.5 and ratio < 0.6 * b:
        return _series(b, ratio)
    near, far = mills(a), mills(b)
    return near - far if far <= near / 2 else ratio * sum(w * mills_slope(a + ratio * t) for t, w in _nodes(ratio))


def _series(b: float, r: float) -> float:
    """R(b − r) − R(b) = Σ_{k>=1} h_k r^k with h_k = ∫ t^k e^{−bt − t²/2} dt/k!: positive terms, for r <= 0.6b.

    h_k/h_{k−1} = ρ_k = 1/(b + (k+1)ρ_{k+1}) falls in k, so that the terms fall at least like (r/b)^k; from the inside
    out, from ρ's size far in. The depth reaches double precision: tests/test_numerics.py. """
    k = int(max(10 + 270 / (b * b), 5 + 38 / log(b / r)))
    rho, nested = 2 / (b + sqrt(b * b + 4 * (k + 1))), 0.0
    for j in range(k + 1, 1, -1):
        rho = 1 / (b + j * rho)
        nested = rho * r * (1 + nested)
    return nested / (b + rho)


def _nodes(ratio: float) -> tuple[tuple[float, float], ...]:
    return _THREE if ratio <= 0.02 else _SIX if ratio <= 0.5 else NODES


def log_theta_complement(epsilon: float, ratio: float) -> float:
    """log(1 − θ(ε, r)), accurate where θ is within 1e-16 of 1; 0 at r = 0."""
    if ratio in (0, inf):
        return 0.0 if ratio == 0 else -inf
    a, b = _arguments(epsilon, ratio)
    if a > -1:
        return log1mexp(log_theta(epsilon, ratio))
    return _log_complement(a, b)


def epsilon_for(log_delta: float, ratio: float) -> float:
    """Least ε >= 0 with θ(ε, r) <= δ: safe (the inequality holds at the value returned) and tight to 1e-13."""

    def gap(epsilon: float) -> float:
        return log_theta(epsilon, ratio) - log_delta

    near = _near(log_delta, ratio)
    for margin in (2e-14, 8e-14) if near > 0 else ():
        if gap(near * (1 + margin)) <= 0:
            return near * (1 + margin)
    if gap(0.0) <= 0:
        return 0.0
    meets, fails = bracket(gap, ratio * (ratio / 2 + 3), +1, 0.0, 1e300)
    return boundary(gap, meets, fails)


def _near(log_delta: float, ratio: float) -> float:
    """About the ε at which log θ is log δ, by secants in √(−2 log θ), which is nearly linear in ε; 0 where they
    fail."""
    if not (-1e200 < log_delta < -0.1 and 1e-100 < ratio < 1e50):
        return 0.0
    goal = a = sqrt(-2 * log_delta)
    for _ in range(2):  # log θ = −a²/2 + log(r/(ab√2π)) where a is large
        a = sqrt(max(goal * goal - 2 * LOG_SQRT_2PI + 2 * log(ratio / (a * (a + ratio))), 0.1 * goal * goal))
    x, slope, before, last = ratio * (a + ratio / 2), 1 / ratio, 0.0, 0.0
    for k in range(12):
        height = sqrt(-2 * log_theta(x, ratio))
        slope = (height - last) / (x - before) if k else slope
        if not slope > 0:
            return 0.0
        before, last = x, height
        x += (goal - height) / slope
        if not x > 0:
            return 0.0
        if abs(x - before) <= 1e-14 * x:
            return x
    return 0.0


def ratio_for(epsilon: float, log_delta: float) -> float:
    """Greatest r with θ(ε, r) <= δ, safe and tight to 1e-13; raises Unreachable where no r > 1e-300 does."""

    def gap(ratio: float) -> float:
        return log_theta(epsilon, ratio) - log_delta

    meets, fails = bracket(gap, 1.0, -1, 1e-300, 1e150)
    return meets if meets == fails else boundary(gap, meets, fails)


def _arguments(epsilon: float, ratio: float) -> tuple[float, float]:
    """a and b, with the rounding error of ε/r put back: near ε = r²/2 it would be all that is left."""
    s = epsilon / ratio
    if s > 1e150 or not 1e-150 < ratio < 1e150:
        return s - ratio / 2, s + ratio / 2
    high, low = _product(s, ratio)
    error = ((epsilon - high) - low) / ratio
    return (s - ratio / 2) + error, (s + ratio / 2) + error


def _product(x: float, y: float) -> tuple[float, float]:
    """x·y as an unevaluated sum (Dekker)."""
    xm, xe = frexp(x)
    ym, ye = frexp(y)
    cx, cy = 134217729.0 * xm, 134217729.0 * ym
    xh, yh = cx - (cx - xm), cy - (cy - ym)
    xl, yl = xm - xh, ym - yh
    p = xm * ym
    return ldexp(p, xe + ye), ldexp(((xh * yh - p) + xh * yl + xl * yh) + xl * yl, xe + ye)


def _log_density(a: float) -> float:
    return -a * (a / 2) - LOG_SQRT_2PI


def _log(spread: float, a: float) -> float:
    """log of the Mills difference; where it underflows (a beyond 1e100) its leading term 1/a² is too small to
    matter."""
    return log(spread) if spread > 0 else -700.0 - log(a)


def _log_complement(a: float, b: float) -> float:
    """log(φ(a)(R(−a) + R(b))) for a <= −1."""
    return _log_density(a) + log(mills(-a) + mills(b))
