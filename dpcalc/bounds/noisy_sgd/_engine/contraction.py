"""The contraction factor c of a step of noisy SGD, the largest distance of two runs, and the cost of undoing it.

c = max(|1−ηρ|, |1−ηβ|) for a β-smooth loss of curvature at least ρ. Everything is computed from g = 1 − c = min(ηρ,
2 − ηβ), which keeps its digits where c is near 1. The curvature ρ may be negative: a loss that is β-smooth and nothing
more has ρ = −β, and its steps expand by c = 1 + ηβ, so that g < 0. """

from collections.abc import Iterable
from fractions import Fraction
from math import exp, expm1, inf, log1p, nextafter
from typing import Any

from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.numerics.elementary import LARGEST_EXPONENT, geometric_sum
from dpcalc.numerics.rounding import quotient_down, ratio_up, up


def gap(learning_rate: float, smoothness: float, strong_convexity: float) -> float:
    """g = 1 − c, rounded down once. Raises OutOfScope for convex losses with η > 2/β, whose steps may expand.

    As ρ <= β, |1−ηρ| <= max(1−ηρ, ηβ−1) and |1−ηβ| likewise, so c = max(1−ηρ, ηβ−1)."""
    if strong_convexity == 0 and learning_rate * smoothness <= 1:
        return 0.0
    eta, beta, rho = Fraction(learning_rate), Fraction(smoothness), Fraction(strong_convexity)
    g = min(eta * rho, 2 - eta * beta)
    if rho < 0:
        # Where |g| is below 1e-290 functions of g would lose digits to underflow; a smaller g is a larger c: sound.
        return min(quotient_down(*g.as_integer_ratio()), -1e-290)
    if eta * beta > 2 + Fraction(1, 2**50):  # a learning rate of 2/β that was rounded to a double is admitted
        raise OutOfScope("out-of-range", f"{plain(learning_rate)} > 2/β = {human(2 / smoothness, upward=False)}; "
                         "Theorems 3.1 and 5.1 (Altschuler & Talwar 2022) need steps that do not expand",
                         "--learning-rate")
    if rho > beta:
        raise OutOfScope("out-of-range", f"{plain(strong_convexity)} > β = {plain(smoothness)}: a ρ-strongly convex, "
                                         "β-smooth loss has ρ ≤ β", "--strong-convexity")
    return quotient_down(*max(g, Fraction(0)).as_integer_ratio())


def log_c(g: float) -> float:
    """log c."""
    return log1p(-g) if g < 1 else -inf


def weight(g: float, r: int) -> float:
    """w(R), rounded up: the least Σ a_k² of shifts a_k that undo a unit distance in R steps.

    It is 1/Σ_{k<=R} c^{−2k}: 1/R for c = 1, else c^{2R}(1−c²)/(1−c^{2R}), which tends to c² − 1 for c > 1."""
    if g == 0:
        return up(1 / r)
    x = -2 * r * log_c(g)
    if x > LARGEST_EXPONENT:
        return nextafter(up(g * (2 - g) * exp(-x), 4e-16 * (4 + x)), inf) if x < inf else 0.0  # it may underflow
    return up(g * (2 - g) / expm1(x), 4e-16 * (4 + max(x, 0.0)))


def reached(g: float, steps: int, push: float) -> float:
    """Σ_{k<steps} c^k·push, rounded up: the distance of two runs after a push at every step; inf where it overflows."""
    growth = max(steps * log_c(g), 0.0) if steps else 0.0
    return up(push * geometric_sum(log_c(g), steps), 4e-16 * (4 + growth)) if growth < LARGEST_EXPONENT else inf


def largest_distance(batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float,
                     learning_rate: float, steps: int, uses: int) -> float:
    """The largest distance of two runs that differ in one record and need not stay in a bounded set, after `steps`
    steps, of which at most `uses` use the record; rounded up. It may replace the diameter of a set in the last-iterate
    theorems, which use that as a bound on the distance only (Altschuler & Talwar 2022, Remark 5.2).

    Proof. With the same batches and noise, a step takes a distance z to at most cz, plus 2ηL/b where the record is
    used. Steps that do not expand (c <= 1) therefore end within the sum over the uses, and within
    (2ηL/b)(1−c^T)/(1−c). Where steps expand (c > 1), every gradient is still at most L, so that a step adds at most
    2ηL. ∎ """
    push = ratio_up((2.0, learning_rate, lipschitz), (batch_size,))
    g = gap(learning_rate, smoothness, strong_convexity)
    most = up(uses * push) if g >= 0 else up(steps * ratio_up((2.0, learning_rate, lipschitz)))
    return min(most, reached(g, steps, push))


def largest_distance_along(schedule: Iterable[tuple[float, float, bool]], batch_size: int, lipschitz: float,
                           smoothness: float, strong_convexity: float) -> float:
    """The largest distance of the two runs after any step of a schedule; rounded up."""
    z = largest = 0.0
    for eta, _, used in schedule:
        g = gap(eta, smoothness, strong_convexity)
        after = up((1 - g) * z + (ratio_up((2.0, eta, lipschitz), (batch_size,)) if used else 0.0), 1e-15)
        z = after if g >= 0 else min(after, up(z + ratio_up((2.0, eta, lipschitz))))
        largest = max(largest, z)
    return largest


def exact_gap(mp: Any, learning_rate: float, smoothness: float, strong_convexity: float) -> Any:
    """g at high precision."""
    eta = mp.mpf(learning_rate)
    g = 1 - max(abs(1 - eta * mp.mpf(strong_convexity)), abs(1 - eta * mp.mpf(smoothness)))
    return g if strong_convexity < 0 else max(g, mp.mpf(0))


def exact_weight(mp: Any, g: Any, r: int) -> Any:
    """w(R) at high precision."""
    c = 1 - g
    return 1 / mp.mpf(r) if c == 1 else c ** (2 * r) * (1 - c**2) / (1 - c ** (2 * r))


def exact_reached(mp: Any, g: Any, steps: int, push: Any) -> Any:
    """Σ_{k<steps} c^k·push at high precision."""
    return steps * push if g == 0 else push * (1 - (1 - g) ** steps) / g
