"""Profiles that fall ever more steeply, as those of a few epochs with much mixing do: nearly all tilts have about the same mean."""

import numpy as np
import pytest

from dpcalc.profiles import compose, pairs, tilt

LOWEST = -435.0


def steep(power):
    """One epoch: log δ = −3 − (ε/.04)^power, followed to its lowest."""
    epsilons = np.linspace(0.0, 0.04 * (-LOWEST - 3) ** (1 / power), 240).tolist()
    return pairs.sampled(epsilons, [-3 - (e / 0.04) ** power for e in epsilons])


def by_all_tilts(parts, log_delta):
    """The least ε that Chernoff's bound says, and the tilt."""
    tried = [tilt.cumulants(parts, x) for x in np.geomspace(1.0, 1e7, 1200).tolist()]
    return min(((tilt.chernoff(c, 0.0) - log_delta) / c.tilt, c.tilt) for c in tried)


@pytest.mark.parametrize("power", (2, 8, 14, 20))
@pytest.mark.parametrize("steps", (2, 4, 30))
def test_the_tilt_to_an_epsilon_makes_chernoffs_bound_small(power, steps):
    parts = ((steep(power), steps),)
    for log_delta in (-100.0, -250.0, -400.0):
        epsilon, best = by_all_tilts(parts, log_delta)
        least = tilt.chernoff(tilt.cumulants(parts, best), epsilon)
        assert least == pytest.approx(log_delta, abs=1e-6)
        assert least - 0.05 <= tilt.chernoff(tilt.for_epsilon(parts, epsilon), epsilon) <= least + 2.5


@pytest.mark.parametrize("power", (8, 14, 20))
@pytest.mark.parametrize("steps", (2, 4))
@pytest.mark.parametrize("log_delta", (-250.0, -400.0))
def test_epsilon_is_not_far_above_chernoffs_bound(power, steps, log_delta):
    """Where the tilt is too steep for a grid that fits the samples, too."""
    parts = ((steep(power), steps),)
    epsilon, _ = by_all_tilts(parts, log_delta)
    found = compose.epsilon_at(parts, log_delta, bracket=False)
    assert 0.9 * epsilon < found.upper < 1.002 * epsilon
    assert compose.log_delta_at(parts, found.upper * 1.003).upper <= log_delta
