"""The privacy loss distribution of a group of records in Poisson-sampled batches of the Gaussian mechanism: the mixture
Σ_j p_j N(jμ, 1) with binomial weights against N(0, 1). The loss log Σ_j p_j e^{jμ(z − jμ/2)} rises in the outcome z, so
that the losses above a number are those of the outcomes above one z."""

from __future__ import annotations

from typing import Any

from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context, midpoint
from dpcalc.verify.loss_distributions import LossPair, Masses, normal_tail

NEWTON_STEPS = 60  # at most: from a neighbouring outcome the method needs two or three
SPARE_BITS = 24  # of the working precision, for the rounding of a few sums


def poisson_group(mu: Formula, rate: float, size: int) -> LossPair:
    """Return the pair for a group of `size` records that is removed; its `reverse` is for a group that is added."""
    mixture = _Mixture(mu, rate, size)

    def above(mp: Any, w: Any, closed: bool) -> Masses:
        z = mixture.outcome(mp, w)
        return (mp.mpf(1), mp.mpf(1)) if z is None else mixture.masses(mp, z, +1)

    def below(mp: Any, w: Any, closed: bool) -> Masses:
        z = mixture.outcome(mp, w)
        return (mp.mpf(0), mp.mpf(0)) if z is None else mixture.masses(mp, z, -1)

    return LossPair(above, below, reverse=LossPair(lambda mp, w, closed: below(mp, -w, closed)[::-1],
                                                   lambda mp, w, closed: above(mp, -w, closed)[::-1]))


class _Mixture:
    """The weights and means of the components, and the outcome that was found last, near which the next one is."""

    def __init__(self, mu: Formula, rate: float, size: int) -> None:
        self.size, self.start = size, 0.0

        def weights(mp: Any) -> list[Any]:
            q = mp.mpf(rate)
            return [mp.binomial(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]

        self.weights, self.mu = compute_once(weights), compute_once(mu)

    def masses(self, mp: Any, z: Any, side: int) -> Masses:
        """Return the masses under P and Q of the outcomes above z (side +1), or below it (side −1)."""
        mu = self.mu(mp)
        tails = [normal_tail(mp, side * (z - j * mu)) for j in range(self.size + 1)]
        return mp.fsum(p * tail for p, tail in zip(self.weights(mp), tails, strict=True)), tails[0]

    def outcome(self, mp: Any, w: Any) -> Any:
        """Return the outcome z whose loss is w (in balls, an interval that contains it), or None where all losses are
        larger. There R(z) = Σ_{j>=1} p_j e^{jμ(z − jμ/2)} = e^w − p_0, and log R is convex with a slope of at least μ,
        so that a residual moves the root by at most 1/μ of it."""
        weights, mu = self.weights(mp), self.mu(mp)
        odds = weights[0] * mp.expm1(w - mp.log(weights[0]))
        if not odds > 0:
            return None
        z = mp.mpf(self.start)
        for _ in range(NEWTON_STEPS):
            residual, slope = self._log_ratio(mp, z, odds)
            z = midpoint(mp, z - residual / slope)
            if abs(float(residual)) < 2.0 ** ((SPARE_BITS - mp.prec) // 2):  # the step squares the residual
                break
        self.start = float(z)
        if not is_ball_context(mp):
            return z
        width = abs(self._log_ratio(mp, z, odds)[0]) / mu
        return mp.between(z - width, z + width)

    def _log_ratio(self, mp: Any, z: Any, odds: Any) -> tuple[Any, Any]:
        """Return log(R(z)/odds) and its slope in z."""
        mu = self.mu(mp)
        terms = [p * mp.exp(j * mu * (z - j * mu / 2)) for j, p in enumerate(self.weights(mp)) if j]
        total = mp.fsum(terms)
        return mp.log(total / odds), mu * mp.fsum(j * t for j, t in enumerate(terms, 1)) / total
