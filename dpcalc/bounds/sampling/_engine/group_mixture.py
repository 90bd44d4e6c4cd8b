"""The privacy profile of the mixture Σ_j p_j N(jμ, 1) against N(0, 1) with binomial weights p_j, in doubles and at high
precision.

The ratio of the densities at z is Σ_j p_j e^{x_j}, x_j = jμ(z − jμ/2), which rises in z. So the outcomes that decide
δ(ε) are those above the threshold z* at which it is e^ε, or those below the threshold at which it is e^{−ε}. With the
hockey-stick divergence θ(x, r) of N(r, 1) from N(0, 1), as e^{±ε} = Σ_j p_j e^{x_j} at z*,

    E_{e^ε}(mixture ‖ N) = Σ_{j>=1} p_j·θ(x_j, jμ),      E_{e^ε}(N ‖ mixture) = e^ε Σ_{j>=1} p_j·e^{x_j}θ(−x_j, jμ).

All terms are positive, so nothing cancels. At any other threshold z the sums are the divergences at the ε that belongs
to z; so a threshold that is rounded towards smaller |ε| gives upper bounds. """

from collections.abc import Callable
from math import exp, fsum, inf, log, log1p
from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.binomial import log_binomial_weights
from dpcalc.numerics.elementary import log1mexp, log_add, log_sub, log_sum
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_up, up

ULPS = 1e-15  # relative: more than the rounding errors of the few operations that lead to one term
THETA_ERROR = 4e-13  # of log θ, absolute where θ is above e^−0.5 (see hockey_stick.py)
# At most; the method needs four to eight in doubles, and a few more at high precision.
NEWTON_STEPS = 60


def mu_up(noise_multiplier: float) -> float:
    """μ = 1/z, rounded up. Of more noise than 1e100 none is distinguished, so that outcomes stay in the range of
    doubles."""
    return max(ratio_up((1.0,), (noise_multiplier,)), 1e-100)


def log_delta(epsilon: float, side: int, mu: float, rate: float, size: int) -> float:
    """log E_{e^ε}(mixture ‖ N) for side +1, log E_{e^ε}(N ‖ mixture) for side −1, rounded up; 0 < rate < 1, ε >= 0."""
    log_none = size * log1p(-rate)
    if side < 0 and -epsilon <= log_none * (1 + ULPS):  # no outcome has so small a ratio
        return -inf
    # Next to the least loss of all, log p_0, a slightly larger one is taken, which the rounding of both cannot reach.
    z = _threshold(max(side * epsilon, log_none * (1 - 8 * ULPS)), side, mu, rate, size)
    terms = []
    for j, log_p in enumerate(log_binomial_weights(size, rate)[1:], 1):
        r = j * mu
        x = r * (z - r / 2) - side * ULPS * r * (abs(z) + r / 2)
        term = log_p + log_excess(x, r, side)
        terms.append(term + THETA_ERROR + 10 * ULPS * (abs(log_p) + abs(term)))
    total = log_sum(terms) + (epsilon if side < 0 else 0.0)
    return min(0.0, up(total, ULPS * (2 + epsilon)))


def log_excess(x: float, r: float, side: int) -> float:
    """log θ(x, r) for side +1, and log e^xθ(−x, r) for side −1: their difference is 1 − e^x."""
    if x >= 0:
        own = log_theta(x, r)
        return own if side > 0 else log_add(own, x + log1mexp(-x))
    own = x + log_theta(-x, r)
    return own if side < 0 else log_add(own, log1mexp(x))


def _threshold(loss: float, side: int, mu: float, rate: float, size: int) -> float:
    """The outcome z with this loss, rounded so that side·loss at z is at most that asked: down for side +1.

    R(z) = Σ_{j>=1} p_j e^{x_j} = e^ℓ − p_0. log R is convex with a slope of at least μ, so Newton's method falls to the
    root from the least z at which a single term is e^ℓ − p_0, and a residual moves the root by at most 1/μ of it. """
    weights = log_binomial_weights(size, rate)
    above = loss - weights[0]
    target = log_sub(loss, weights[0])
    error = ULPS * (abs(loss) + (abs(loss) + abs(weights[0])) / min(above, 1.0))
    z = min((target - log_p) / (j * mu) + j * mu / 2 for j, log_p in enumerate(weights[1:], 1))
    for _ in range(NEWTON_STEPS):
        log_r, slope, _ = _log_ratio(z, mu, weights)
        z, before = z - (log_r - target) / slope, z
        if not z < before:
            break
    log_r, _, noise = _log_ratio(z, mu, weights)
    residual = log_r - target
    on_unsafe_side = residual if side * residual > 0 else 0.0
    return z - (on_unsafe_side + side * (error + noise)) / mu


def _log_ratio(z: float, mu: float, weights: tuple[float, ...]) -> tuple[float, float, float]:
    """log R(z), its slope, and a bound on its rounding error."""
    shifts = [j * mu for j in range(1, len(weights))]
    terms = [log_p + r * (z - r / 2) for log_p, r in zip(weights[1:], shifts, strict=True)]
    top = max(terms)
    shares = [exp(t - top) for t in terms]
    total = fsum(shares)
    sizes = (s * (abs(log_p) + r * (abs(z) + r)) for s, log_p, r in zip(shares, weights[1:], shifts, strict=True))
    return (top + log(total), sum(s * r for s, r in zip(shares, shifts, strict=True)) / total,
            4 * ULPS * (1 + sum(sizes) / total))


def exact(mp: Any, epsilon: Any, side: int, mu: Any, rate: Any, size: int) -> Any:
    """E_{e^ε}(mixture ‖ N) or E_{e^ε}(N ‖ mixture) at high precision, or in balls."""
    weights = exact_weights(mp, rate, size)
    z = exact_threshold(mp, side * mp.mpf(epsilon), mu, rate, weights)
    if z is None:
        return mp.mpf(0)
    terms = []
    for j in range(1, size + 1):
        r = j * mu
        terms.append(weights[j] * excess(mp, r * (z - r / 2), r, side))
    total = mp.fsum(terms)
    return total if side > 0 else mp.exp(mp.mpf(epsilon)) * total


def excess(mp: Any, x: Any, r: Any, side: int) -> Any:
    """θ(x, r) for side +1, and e^xθ(−x, r) for side −1."""
    if x >= 0:
        return theta(mp, x, r) + (mp.mpf(0) if side > 0 else mp.expm1(x))
    return mp.exp(x) * theta(mp, -x, r) - (mp.mpf(0) if side < 0 else mp.expm1(x))


def exact_weights(mp: Any, rate: Any, size: int) -> list[Any]:
    """The binomial weights p_0, …, p_K."""
    q = mp.mpf(rate)
    return [mp.binomial(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]


def exact_threshold(mp: Any, loss: Any, mu: Any, rate: Any, weights: list[Any]) -> Any:
    """The outcome z with this loss, R(z) = e^ℓ − p_0, to the working precision; in balls, an interval that contains it:
    the slope of log R is at least μ, so that a residual moves the root by at most 1/μ of it. None where all losses are
    larger."""
    sizes = range(1, len(weights))
    odds = weights[0] * mp.expm1(loss - len(sizes) * mp.log1p(-mp.mpf(rate)))
    if not odds > 0:
        return None
    logs = [mp.log(w / odds) for w in weights]

    def residual_and_slope(z: Any) -> tuple[Any, Any]:
        terms = [mp.exp(logs[j] + j * mu * (z - j * mu / 2)) for j in sizes]
        total = mp.fsum(terms)
        return mp.log(total), mp.fsum(j * mu * t for j, t in zip(sizes, terms, strict=True)) / total

    z = newton(mp, residual_and_slope, min(float(j * mu / 2 - logs[j] / (j * mu)) for j in sizes))
    if not hasattr(mp, "between"):
        return z
    width = abs(residual_and_slope(z)[0]) / mu
    return mp.between(z - width, z + width)


def newton(mp: Any, residual_and_slope: Callable[[Any], tuple[Any, Any]], start: float) -> Any:
    """The root by Newton's method to the working precision; in balls, a number near it."""
    z = mp.mpf(start)
    for _ in range(NEWTON_STEPS):
        residual, slope = residual_and_slope(z)
        z = mp.midpoint(z - residual / slope) if hasattr(mp, "between") else z - residual / slope
        if abs(float(residual)) < 2.0 ** (-mp.prec // 2):  # the step squares the residual
            break
    return z
