"""Mixtures of normal distributions as privacy loss distributions: groups of records in Poisson-sampled batches,
replaced records, and the pairs in cells that repeated draws attain.

Weights, thresholds and cells are those of the bounds, in balls. An error in them is not found here, but by
tests/soundness/sampling.py, which draws from the mixtures, and by tests/bounds/sampling against integrals of densities.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from dpcalc.bounds.sampling._engine import attained_exact, group_mixture, replaced_mixture
from dpcalc.verify import loss_distributions
from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context
from dpcalc.verify.composition_atoms import Atoms, atoms_of, two_way_pair
from dpcalc.verify.loss_distributions import LossPair, Masses, normal_tail


def poisson_group(mu: Formula, rate: float, size: int) -> LossPair:
    """Return the pair Σ_j p_j N(jμ, 1) and N(0, 1) with binomial weights, for a group of `size` records that is
    removed; its `reverse` is for a group that is added. The loss rises in the outcome, so that the losses above a
    number are those of the outcomes above one z."""
    mu, weights = compute_once(mu), compute_once(lambda mp: group_mixture.exact_weights(mp, rate, size))

    def masses(mp: Any, w: Any, side: int) -> Masses:
        z = group_mixture.exact_threshold(mp, w, mu(mp), rate, weights(mp))
        if z is None:
            return (mp.mpf(max(side, 0)),) * 2
        tails = [normal_tail(mp, side * (z - j * mu(mp))) for j in range(size + 1)]
        return mp.fsum(p * tail for p, tail in zip(weights(mp), tails, strict=True)), tails[0]

    return LossPair(lambda mp, w, closed: masses(mp, w, 1), lambda mp, w, closed: masses(mp, w, -1),
                    reverse=LossPair(lambda mp, w, closed: masses(mp, -w, -1)[::-1],
                                     lambda mp, w, closed: masses(mp, -w, 1)[::-1]))


def poisson_replaced(mu: Formula, rate: float, size: int) -> LossPair:
    """Return the pair Σ_j p_j N(jμ, 1) and Σ_j p_j N(−jμ, 1) of `size` records that are replaced, whose loss is odd and
    rises in the outcome."""
    mu, weights = compute_once(mu), compute_once(lambda mp: group_mixture.exact_weights(mp, rate, size))

    def masses_above(mp: Any, w: Any) -> Masses:
        z = replaced_mixture.exact_threshold(mp, abs(w), mu(mp), weights(mp)) * (1 if float(w) > 0 else -1)
        shifts = [(p, j * mu(mp)) for j, p in enumerate(weights(mp))]
        return (mp.fsum(p * normal_tail(mp, z - x) for p, x in shifts),
                mp.fsum(p * normal_tail(mp, z + x) for p, x in shifts))

    return loss_distributions.symmetric_pair(masses_above)


def attained(exact_step: Callable[[Any], tuple[Any, ...]]) -> LossPair:
    """Return the pair of a step in the cells between cuts, and its reverse. Any cuts are valid. More draws than are
    listed may be in any cell."""
    def atoms(mp: Any) -> Atoms:
        cuts, mu, draws, reach = exact_step(mp)
        others = mp.between(0, draws.more) if is_ball_context(mp) else mp.mpf(0)
        in_p, in_q = attained_exact.cells(mp, cuts, mu, draws, reach)
        return atoms_of(mp, [(p + others, q + others) for p, q in zip(in_p, in_q, strict=True)])

    return two_way_pair(atoms, limit=inf)
