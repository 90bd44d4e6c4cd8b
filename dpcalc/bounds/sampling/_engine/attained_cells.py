"""The pair that repeated draws attain, Σ π_k N(akμ) against Σ π_k N((a−1)kμ) with k = 0, 1, …, in cells of outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.sampling._engine.repeated_draws import ULPS, Draws
from dpcalc.bounds.sampling._engine.repeated_draws_array import deviations
from dpcalc.numerics.elementary import log1mexp
from dpcalc.pld.merged_cells import Mixture, cuts_with_mass, pair_of_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.atoms import Atoms

    Array = NDArray[Any]

SPACING = 0.02  # standard deviations of the noise; ε grows by less than 1e-4 of it in finer cells


def attained_pair(mu: float, draws: Draws, reach: int) -> Atoms:
    """The pair in the cells between `cuts`, with its reverse."""
    return pair_of_cells(cuts(mu, draws, reach), _none(draws), *_drawn(mu, draws, reach))


def cuts(mu: float, draws: Draws, reach: int) -> Array:
    """Where the outcomes are cut; any cuts are valid. They are evenly spaced near the middle of N(aμ) and N((a−1)μ)."""
    away = deviations(reach * draws.counts[-1] * mu, SPACING)
    all_cuts = (reach - 0.5) * mu + np.concatenate([-away[::-1], [0.0], away])
    return cuts_with_mass(all_cuts, *((_none(draws), x) for x in _drawn(mu, draws, reach)))


def _none(draws: Draws) -> Mixture:
    """What both mixtures have in common: the record is not drawn."""
    return Mixture(np.array([draws.log_none]), np.array([ULPS * (1 + abs(draws.log_none))]), np.zeros(1))


def _drawn(mu: float, draws: Draws, reach: int) -> tuple[Mixture, Mixture]:
    """The rest of both mixtures. More draws than all k count as a whole where a mass is rounded up, and else not."""
    r, log_weights, errors = mu * np.array(draws.counts), np.array(draws.log_weights), np.array(draws.errors)
    own = Mixture(log_weights, errors, reach * r, draws.log_more)
    if reach > 1:
        return own, Mixture(log_weights, errors, (reach - 1) * r, draws.log_more)
    log_any = log1mexp(draws.log_none)
    return own, Mixture(np.array([log_any]), np.array([4 * ULPS * (1 + abs(log_any))]), np.zeros(1))
