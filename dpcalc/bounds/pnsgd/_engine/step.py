"""One step of projected noisy SGD: the divergence A of two runs at a changed record, and the contraction B of a step.

A changed record moves the step w ← Π_K[w − η(∇ℓ(w) + Z)] by at most 2ηL against noise ησ, and two starting points, at
most D apart, are brought to at most MD. So A is the divergence of a shift of 2L/σ noise levels, B that of MD/(ησ).
"""

from functools import lru_cache
from math import exp, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.start import GRADIENTS, START
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.numerics.elementary import log1mexp, x_minus_log1p
from dpcalc.numerics.rounding import quotient_up, ratio_up, up

SETTING = ("the loss of every record is convex, L-Lipschitz and β-smooth (ρ-strongly convex)",
           GRADIENTS, "K is convex with diameter D",
           START, "w ← Π_K[w − η(∇ℓ(w) + Z)], fresh noise Z each step", "only the last iterate is released",
           "neighbours differ by replacing one record")
STEP_SIZE = "η ≤ 2/(β+ρ)"
SECRET = "the order is uniformly random and secret"
LAPLACE_LINE = "Laplace noise: K = [a, b], dimension 1"
STEP = ("law", "level", "lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity")
GAUSSIAN_PARAMS = ("level", "lipschitz", "learning_rate", "smoothness", "strong_convexity")
RUN = ("shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 "
       "--n 1000")  # of the examples


def check_step_size(learning_rate: float, smoothness: float, strong_convexity: float) -> None:
    """Raise OutOfScope where a step need not be a contraction (a condition that Sordello et al. 2021 omit)."""
    if strong_convexity > smoothness:
        raise OutOfScope("out-of-range",
                         f"{plain(strong_convexity)} > β = {plain(smoothness)}: a ρ-strongly convex, β-smooth loss has "
                         "ρ ≤ β", "--strong-convexity")
    total = smoothness + strong_convexity
    if learning_rate * total > 2 * (1 + 4e-16):
        raise OutOfScope("out-of-range", f"{plain(learning_rate)} > 2/(β+ρ) = {human(2 / total, upward=False)}; "
                         "Theorem 1 (Sordello et al. 2021) needs a contraction", "--learning-rate")


@lru_cache(maxsize=4)
def squared_contraction(learning_rate: float, smoothness: float, strong_convexity: float) -> float:
    """M² = 1 − 2ηβρ/(β+ρ), rounded up, in whole numbers, because near η = 2/(β+ρ) with β = ρ it cancels.

    Where η = 1/ρ as a double makes M² negative it is the square of the true contraction factor instead.
    """
    if smoothness == 0 or strong_convexity == 0:
        return 1.0
    (a, b), (p, q), (s, t) = (x.as_integer_ratio() for x in (learning_rate, smoothness, strong_convexity))
    whole = b * (p * t + s * q)
    square = whole - 2 * a * p * s
    if square < 0:
        top, bottom = steepest(learning_rate, strong_convexity, smoothness)
        return quotient_up(top * top, bottom * bottom)
    return quotient_up(square, whole)


def steepest(learning_rate: float, *curvatures: float) -> tuple[int, int]:
    """max |1 − ηκ| over some curvatures κ, exactly: numerator and denominator."""
    a, b = learning_rate.as_integer_ratio()
    top, bottom = -1, 1
    for curvature in curvatures:
        s, t = curvature.as_integer_ratio()
        this, under = abs(b * t - a * s), b * t
        if this * bottom > top * under:
            top, bottom = this, under
    return top, bottom


def steepest_exact(mp: Any, learning_rate: float, *curvatures: float) -> Any:
    """`steepest` at high precision."""
    return max(abs(1 - mp.mpf(learning_rate) * mp.mpf(curvature)) for curvature in curvatures)


def log_factor(learning_rate: float, strong_convexity: float) -> float:
    """log c, rounded up, of c = |1 − ηρ|, the Lipschitz constant of a step with η <= 2/(β+ρ); −inf where c = 0."""
    x = learning_rate * strong_convexity
    if x < 0.5:
        return log1p(-x) * (1 - 1e-15)
    c = quotient_up(*steepest(learning_rate, strong_convexity))
    return min(0.0, log(c) + 4e-16 * (1 - log(c))) if c > 0 else -inf


def factor_exact(mp: Any, learning_rate: float, strong_convexity: float) -> Any:
    """c = |1 − ηρ| at high precision; 1 − ηρ is negative where η = 1/ρ was rounded up."""
    return steepest_exact(mp, learning_rate, strong_convexity)


@lru_cache(maxsize=4)  # the same at every ε of a profile
def move_ratio(level: float, lipschitz: float) -> float:
    """2L/σ, rounded up."""
    return ratio_up((2.0, lipschitz), (level,))


@lru_cache(maxsize=4)
def reach_ratio(level: float, diameter: float, learning_rate: float, smoothness: float,
                strong_convexity: float) -> float:
    """MD/(ησ), rounded up."""
    contraction = sqrt(squared_contraction(learning_rate, smoothness, strong_convexity))
    return up(contraction * (diameter / learning_rate / level), 1e-15)


class Step(NamedTuple):
    """A and B of a step at some ε."""

    log_a: float  # rounded up
    log_b: float  # rounded up
    log_rest: float  # log(1 − B), rounded down


def step(epsilon: float, law: Law, level: float, lipschitz: float, diameter: float, learning_rate: float,
         smoothness: float, strong_convexity: float) -> Step:
    """log A, log B and log(1 − B). Raises OutOfScope where a step need not be a contraction."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    reach = reach_ratio(level, diameter, learning_rate, smoothness, strong_convexity)
    return Step(law.log_delta(epsilon, move_ratio(level, lipschitz)), log_b(law, epsilon, reach),
                law.log_rest(epsilon, reach))


def log_b(law: Law, epsilon: float, ratio: float) -> float:
    """log B, rounded up: from 1 − B where B is near 1 and would lose digits."""
    rest = law.log_rest(epsilon, ratio)
    return log1p(-exp(rest)) * (1 - 1e-15) if rest < -0.7 else law.log_delta(epsilon, ratio)


def log_average_power(log_b: float, log_rest: float, count: int) -> float:
    """log of (1 − B^n)/(n(1 − B)) = (1/n) Σ_{m<n} B^m, rounded up, without cancellation.

    It is 0 where n(1 − B) underflows.
    """
    if count == 1:
        return 0.0
    if log_b == -inf:
        return up(-log(count), 4e-16)
    rest = exp(log_rest)
    y = count * -log_b
    if rest > 0.3:
        return log1mexp(-y) - log(count) - log_rest + 1e-15 * (1 + log(count))
    # The product of (1 − e^{−y})/y and −log(1 − u)/u, u = 1 − B. Their logarithms may cancel, so the rounding of both
    # counts; the first is a difference of two numbers, each at most 3.6 plus itself.
    shrunk, grown = log_shrink(y), _log_ratio(rest)
    return min(0.0, shrunk + grown + 1e-14 * (abs(shrunk) + grown) + 2e-15)


def log_shrink(y: float) -> float:
    """log((1 − e^{−y})/y) for y >= 0."""
    if y < 0.03:  # a series, whose first omitted term is below 1e-22
        z = y * y
        return -y / 2 + z / 24 - z * z / 2880 + z * z * z / 181440
    return log1mexp(-y) - log(y)


def _log_ratio(u: float) -> float:
    """log(−log(1 − u)/u) for 0 <= u <= 0.3; its caller rounds it up."""
    return log1p(x_minus_log1p(-u) / u) if u > 1e-300 else 0.0


def contraction_exact(mp: Any, learning_rate: float, smoothness: float, strong_convexity: float) -> Any:
    """M as printed; the true contraction factor where η = 1/ρ, rounded up, makes M² negative."""
    if smoothness == 0 or strong_convexity == 0:
        return mp.mpf(1)
    eta, beta, rho = mp.mpf(learning_rate), mp.mpf(smoothness), mp.mpf(strong_convexity)
    square = 1 - 2 * eta * beta * rho / (beta + rho)
    return mp.sqrt(square) if square >= 0 else steepest_exact(mp, learning_rate, strong_convexity, smoothness)


def step_exact(mp: Any, epsilon: float, law: Law, lipschitz: float, level: float, diameter: float, learning_rate: float,
               smoothness: float, strong_convexity: float) -> tuple[Any, Any, Any]:
    """A, B and 1 − B as printed, at high precision.

    1 − B has a formula of its own where B is so near 1 that it may be lost at any precision.
    """
    sigma = mp.mpf(level)
    reach = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / (
        mp.mpf(learning_rate) * sigma)
    b = law.exact(mp, epsilon, reach)
    rest = 1 - b if float(b) < 0.5 else law.exact_rest(mp, epsilon, reach)
    return law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / sigma), b, rest


def average_power_exact(mp: Any, rest: Any, count: int) -> Any:
    """(1 − B^n)/(n(1 − B)) from 1 − B."""
    if float(rest) > 0.5:
        return (1 - (1 - rest) ** count) / (count * rest)
    return -mp.expm1(count * mp.log1p(-rest)) / (count * rest)


def pure(law: Law, level: float, lipschitz: float, **_: Any) -> float:
    """The least ε with A = 0, which is 2L/v for Laplace noise. Raises OutOfScope for Gaussian noise, which has none."""
    if law.name == "gaussian":
        raise OutOfScope("no-solution", "0 has no finite ε: Gaussian noise has no pure ε; give a positive δ",
                         "--delta")
    return move_ratio(level, lipschitz)
