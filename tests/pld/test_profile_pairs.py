"""The pair of the convex minorant: its profile is the lower convex hull of the given points, in both directions."""

import random
from math import exp, expm1, log

import numpy as np
import pytest
from pair_masses import delta

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling import poisson_profile, truncated_poisson_profile
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.profile_pairs import pair


def hull_at(points, gamma):
    """The lower convex hull of (γ, δ), with (0, 1) and a constant δ after the last point, at γ: over all chords."""
    return min(y + (y2 - y) * (gamma - x) / (x2 - x) if x2 > x else y
               for x, y in points if x <= gamma for x2, y2 in [*points, (1e12, points[-1][1])] if x2 >= gamma)


def test_its_profile_is_the_hull_of_points_that_are_not_convex():
    rng = random.Random(2)
    for _ in range(20):
        epsilons = [0.0, *sorted(10 ** rng.uniform(-2, 1) for _ in range(8))]
        one, other = (sorted((log(rng.uniform(0.3, 1) * exp(-e - 1)) for e in epsilons), reverse=True) for _ in "PQ")
        one[0] = other[0] = max(one[0], other[0])  # the total variation
        found = pair(epsilons, one, other)
        for atoms, ahead, back in ((found, one, other), (found.reverse, other, one)):
            points = [(0.0, 1.0), *((exp(-e), -expm1(-e) + exp(x - e)) for e, x in
                                    zip(epsilons[:0:-1], back[:0:-1], strict=True)),
                      *((exp(e), exp(x)) for e, x in zip(epsilons, ahead, strict=True))]
            for e in (-11.0, *(-x for x in epsilons[1:]), *epsilons, 0.003, 11.0):
                assert delta(atoms, e) == pytest.approx(hull_at(points, exp(e)), rel=1e-10), e
            masses = np.exp(atoms.log_p)
            assert masses.sum() + exp(atoms.log_infinite) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("rate, z", [(0.1, 1.0), (1e-6, 0.7), (0.9, 5.0), (1.0, 0.2)])
def test_points_of_a_true_profile_are_hardly_moved(rate, z):
    """Poisson batches, whose profile is known: above it at every ε, and by the error of a chord at most."""
    profile = truncated_poisson_profile.gaussian_profile(z)
    epsilons = [0.0, *(10 ** (x / 100) for x in range(-600, 150))]
    found = pair(epsilons, *([poisson_profile.sided(e, side, rate, profile) for e in epsilons] for side in (1, -1)))
    for atoms, side in ((found, 1), (found.reverse, -1)):
        for e in (0.0, 1e-4, 0.013, 0.3, 1.7, 4.0):
            want = poisson_profile.sided(e, side, rate, profile)
            if want > -18:
                assert want <= log(delta(atoms, e)) <= want + 0.02


def test_nothing_in_common():
    """δ = 1 at every ε: the pair has no finite loss."""
    found = pair([0.0, 1.0, 2.0], [0.0] * 3, [0.0] * 3)
    assert found.log_infinite == 0
    assert log_delta_at_epsilon([(found, 3)], 1.0).upper == 0


def test_gaussian_noise_is_symmetric():
    epsilons = [x / 50 for x in range(400)]
    logs = [gaussian.value(e, 1.0, 1.0, 1) for e in epsilons]
    found = pair(epsilons, logs, logs)
    assert delta(found, 0.77) == pytest.approx(delta(found.reverse, 0.77), rel=1e-12)
    assert delta(found, -0.6) == pytest.approx(-expm1(-0.6) + exp(-0.6) * delta(found, 0.6), rel=1e-12)
