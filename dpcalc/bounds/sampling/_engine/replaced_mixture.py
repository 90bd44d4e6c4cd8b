"""The privacy profile of P = Σ_j p_j N(jμ, 1) against Q = Σ_j p_j N(−jμ, 1) with binomial weights p_j, in doubles and
at high precision: a Poisson batch in which each of K records is replaced, μ = 1/Z. Both orders are equal, as Q is P
reflected.

With A(z) = Σ_j p_j e^{jμz − j²μ²/2} the ratio of the densities at z is A(z)/A(−z), which rises in z. So the outcomes
that decide δ(ε) are those above the threshold z* at which it is τ = e^ε. Write x_j⁺ and x_j⁻ for ±jμz* − j²μ²/2, the
logs of the densities of N(±jμ, 1) over that of N(0, 1) at z*, and θ(x, r) = E_{e^x}(N(r, 1) ‖ N(0, 1)). N(jμ, 1) gives
these outcomes θ(x_j⁺, jμ) more than e^{x_j⁺} times what N(0, 1) gives them, and N(−jμ, 1) e^{x_j⁻}θ(−x_j⁻, jμ) less
than e^{x_j⁻} times that. The multiples of N(0, 1) add up to A(z*) − τA(−z*) = 0. What is left has positive terms only:

    δ(ε) = Σ_{j>=1} p_j [θ(x_j⁺, jμ) + τ e^{x_j⁻} θ(−x_j⁻, jμ)].

At any z <= z* the sum with the same τ is an upper bound: it rises in τ, and with τ_z = A(z)/A(−z) <= τ it is δ(log τ_z)
>= δ(log τ). So a threshold that is surely not above z* will do. """

from collections.abc import Sequence
from typing import Any

from dpcalc.bounds.sampling._engine.group_mixture import THETA_ERROR, ULPS, exact_weights, excess, log_excess, newton
from dpcalc.numerics.binomial import log_binomial_weights
from dpcalc.numerics.elementary import log1mexp, log_add, log_sum
from dpcalc.numerics.root import boundary
from dpcalc.numerics.rounding import up


def log_delta(epsilon: float, mu: float, rate: float, size: int) -> float:
    """log E_{e^ε}(P ‖ Q), rounded up, for 0 < rate < 1 and ε >= 0."""
    weights = log_binomial_weights(size, rate)
    z = threshold(epsilon, mu, weights)
    terms = []
    for j, log_p in enumerate(weights[1:], 1):
        r = j * mu
        error = ULPS * r * (z + r / 2)  # of both logs of density ratios
        of_record = log_excess(r * (z - r / 2) - error, r, +1)
        of_other = epsilon - r * (z + r / 2) + error + log_excess(r * (z + r / 2) - error, r, +1)
        term = log_p + log_add(of_record, of_other)
        terms.append(term + THETA_ERROR + 10 * ULPS * (epsilon + abs(log_p) + r * (z + r) + abs(term)))
    return min(0.0, up(log_sum(terms), 2 * ULPS))


def threshold(epsilon: float, mu: float, weights: Sequence[float]) -> float:
    """The outcome z >= 0 whose loss is ε, rounded down; `weights` are the log p_j."""
    if epsilon == 0:
        return 0.0
    at_zero = log_sum([log_p - j * mu * (j * mu) / 2 for j, log_p in enumerate(weights)])
    # Here the single term j of A(z) is already e^ε times A(0), which is at least A(−z).
    above = min((epsilon + at_zero - log_p) / (j * mu) + j * mu / 2 for j, log_p in enumerate(weights[1:], 1))
    return boundary(lambda z: _loss_up(z, mu, weights) - epsilon, 0.0, above * (1 + 1e-9))


def _loss_up(z: float, mu: float, weights: Sequence[float]) -> float:
    """log A(z) − log A(−z) for z >= 0, rounded up: log(1 + (A(z) − A(−z))/A(−z)), as sums of positive terms."""
    if z == 0:
        return 0.0
    differences, below, size = [], [weights[0]], 0.0
    for j, log_p in enumerate(weights[1:], 1):
        r = j * mu
        down = log_p - r * (z + r / 2)
        below.append(down)
        differences.append(down + 2 * r * z + log1mexp(-2 * r * z))
        size = max(size, abs(log_p) + r * (3 * z + r / 2) + abs(differences[-1]))
    loss = log_add(0.0, log_sum(differences) - log_sum(below))
    return loss + 8 * ULPS * ((1 + size) * min(loss, 1.0) + loss)


def exact(mp: Any, epsilon: Any, mu: Any, rate: Any, size: int) -> Any:
    """E_{e^ε}(P ‖ Q) at high precision, or in balls: the sum above at the threshold."""
    weights = exact_weights(mp, rate, size)
    z, factor, terms = exact_threshold(mp, epsilon, mu, weights), mp.exp(mp.mpf(epsilon)), []
    for j in range(1, size + 1):
        r = j * mu
        down = r * (z + r / 2)
        mirrored = factor * mp.exp(-down) * excess(mp, down, r, +1)
        terms.append(weights[j] * (excess(mp, r * (z - r / 2), r, +1) + mirrored))
    return mp.fsum(terms)


def exact_threshold(mp: Any, epsilon: Any, mu: Any, weights: list[Any]) -> Any:
    """The z >= 0 with A(z) = e^ε A(−z); in balls, an interval that contains it.

    For one record μz = ε/2 + asinh(y), y = sinh(ε/2)·p_0/(p_1 e^{−μ²/2}): the equation is quadratic in e^{μz}. """
    half = mp.mpf(epsilon) / 2
    if len(weights) == 2:
        y = (mp.expm1(half) - mp.expm1(-half)) / 2 * weights[0] / weights[1] * mp.exp(mu * mu / 2)
        return (half + mp.log1p(y + y * y / (1 + mp.sqrt(1 + y * y)))) / mu
    if not epsilon > 0:
        return mp.mpf(0)
    return _root(mp, mp.mpf(epsilon), mu, weights)


def _root(mp: Any, epsilon: Any, mu: Any, weights: list[Any]) -> Any:
    """The threshold for several records by Newton's method.

    The slope of log A(z) rises in z. So that of log A(z) − log A(−z) is at least the slope s of log A at z/2 on
    [z/2, ∞), and the root is within |residual|/s of z where that is less than z/2. """
    def moments(z: Any) -> tuple[Any, Any]:
        """log A(z) and its slope."""
        terms = [p * mp.exp(j * mu * (z - j * mu / 2)) for j, p in enumerate(weights)]
        total = mp.fsum(terms)
        return mp.log(total), mu * mp.fsum(j * t for j, t in enumerate(terms)) / total

    def residual_and_slope(z: Any) -> tuple[Any, Any]:
        (up_, rise), (down, fall) = moments(z), moments(-z)
        return up_ - down - epsilon, rise + fall

    z = newton(mp, residual_and_slope, threshold(float(epsilon), float(mu), [float(mp.log(p)) for p in weights]))
    if not hasattr(mp, "between"):
        return z
    width = abs(residual_and_slope(z)[0]) / moments(z / 2)[1]
    if not width < z / 2:  # at this precision no more is known than that the term j = 1 of A(z) is at most τA(−z)
        return mp.between(0, (epsilon + moments(mp.mpf(0))[0] - mp.log(weights[1])) / mu + mu / 2)
    return mp.between(z - width, z + width)
