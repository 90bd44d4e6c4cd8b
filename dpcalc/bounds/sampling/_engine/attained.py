"""The pair that repeated draws attain, Σ π_k N(akμ) against Σ π_k N((a−1)kμ) with k = 0, 1, … and μ one over the noise
multiplier, in cells of outcomes; in doubles, and one step at high precision."""

from __future__ import annotations

import numpy as np

from dpcalc.bounds.sampling._engine.group_mixture import ULPS
from dpcalc.bounds.sampling._engine.repeated_draws import Draws
from dpcalc.bounds.sampling._engine.repeated_draws_array import deviations
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import log1mexp
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.merged_cells import Mixture, cuts_with_mass, pair_of_cells
from dpcalc.pld.pair import gaussian_from_below


def pair(noise_multiplier: float, draws: Draws, reach: int) -> Atoms:
    """The pair in the cells between `cuts`, with its reverse, for a = `reach`."""
    return pair_of_cells(cuts(noise_multiplier, draws, reach), _none(draws), *_drawn(noise_multiplier, draws, reach))


def cuts(noise_multiplier: float, draws: Draws, reach: int) -> Array:
    """Where the outcomes are cut, in units of the noise; any cuts are valid. They are evenly spaced near the middle of
    N(aμ) and N((a−1)μ)."""
    mu = gaussian_from_below(noise_multiplier).mu
    away = deviations(reach * draws.counts[-1] * mu)
    all_cuts = (reach - 0.5) * mu + np.concatenate([-away[::-1], [0.0], away])
    return cuts_with_mass(all_cuts, *((_none(draws), x) for x in _drawn(noise_multiplier, draws, reach)))


def _none(draws: Draws) -> Mixture:
    """What both mixtures have in common: the record is not drawn."""
    return Mixture(np.array([draws.log_none]), np.array([ULPS * (1 + abs(draws.log_none))]), np.zeros(1))


def _drawn(noise_multiplier: float, draws: Draws, reach: int) -> tuple[Mixture, Mixture]:
    """The rest of both mixtures. More draws than all k count as a whole where a mass is rounded up, and else not."""
    r = gaussian_from_below(noise_multiplier).mu * np.array(draws.counts)
    log_weights, errors = np.array(draws.log_weights), np.array(draws.errors)
    own = Mixture(log_weights, errors, reach * r, draws.log_more)
    if reach > 1:
        return own, Mixture(log_weights, errors, (reach - 1) * r, draws.log_more)
    log_any = log1mexp(draws.log_none)
    return own, Mixture(np.array([log_any]), np.array([4 * ULPS * (1 + abs(log_any))]), np.zeros(1))
