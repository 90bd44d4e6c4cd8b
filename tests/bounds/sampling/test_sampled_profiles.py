"""The profiles of sampled batches in both directions, against the published formulas at 1000 digits."""

import random
from math import inf, log1p

import mpmath
import pytest
from conftest import slow

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.sampling import poisson_profile, wor_profile

mp = mpmath.mp.clone()
mp.dps = 1000  # the printed formulas lose up to 300 digits where e^ε is large, and 300 more where q is tiny


def printed(epsilon, side, rate, profile):
    """q·δ(log(1 + (γ−1)/q)), a record removed, or (1 − γ(1−q))·δ(−log(1 + (1/γ − 1)/q)), one added."""
    gamma, q = mp.exp(mp.mpf(epsilon)), mp.mpf(rate)
    if side > 0:
        return q * profile.exact(mp, mp.log(1 + (gamma - 1) / q))
    left = 1 - gamma * (1 - q)
    return left * profile.exact(mp, -mp.log(1 + (1 / gamma - 1) / q)) if left > 0 else mp.mpf(0)


def draw(rng):
    """q from 1e-300 to 1 and next to 1; ε to 700, and as near to −log(1 − q), where one direction ends, as doubles go;
    σ from .05 to 1000."""
    rate = rng.choice((1.0, 1 - 2**-53, 1 - 10 ** -rng.uniform(0.1, 16), 10 ** -rng.uniform(0, 12),
                       10 ** -rng.uniform(0, 300)))
    end = -log1p(-rate) if rate < 1 else 700.0
    epsilon = rng.choice((rng.uniform(0, 700), 10 ** rng.uniform(-15, 2.8), end * rng.random(),
                          end * 10 ** -rng.uniform(0, 10),
                          end * (1 - 10 ** -rng.uniform(0, 15))))
    scale = 10 ** rng.uniform(-1.3, 3)
    mechanism = rng.choice(("gaussian", "gaussian", "laplace"))
    return epsilon, rate, MECHANISMS[mechanism].profile({"sigma": scale, "scale": scale, "sensitivity": 1.0})


def check(claimed, want, earlier, case):
    """Never below; and above by no more than the claim, which is that of log δ at an ε that may be off by as much."""
    if claimed == -inf or earlier == 0:
        assert want == 0, case
    else:
        assert want == 0 or claimed >= mp.log(want), (case, claimed, float(mp.log(want)))
        assert claimed <= mp.log(earlier) + 5e-10 * max(1, abs(mp.log(earlier))), (case, claimed,
                                                                                   float(mp.log(earlier)))


@pytest.mark.parametrize("count", [15, slow(120)])
@pytest.mark.parametrize("side", [+1, -1], ids=["removed", "added"])
def test_each_direction_keeps_its_claim_at_every_rate_and_epsilon(side, count):
    rng = random.Random(side)
    for _ in range(count):
        epsilon, rate, profile = draw(rng)
        want, earlier = (printed(e, side, rate, profile) for e in (epsilon, mp.mpf(epsilon) * (1 - mp.mpf(5e-10))))
        check(poisson_profile.sided(epsilon, side, rate, profile), want, max(want, earlier), (epsilon, rate))


@pytest.mark.slow
def test_without_replacement_keeps_its_claim_at_every_rate_and_epsilon():
    rng = random.Random(3)
    for _ in range(60):
        epsilon, rate, profile = draw(rng)
        want, earlier = (printed(e, +1, rate, profile) for e in (epsilon, mp.mpf(epsilon) * (1 - mp.mpf(5e-10))))
        check(wor_profile.value(epsilon, rate, profile), want, max(want, earlier), (epsilon, rate))


def test_nearly_every_record_in_the_batch_and_a_large_epsilon():
    """1 + (e^−ε − 1)/q was a difference of numbers next to 1: log δ came out .086 too low."""
    profile = MECHANISMS["gaussian"].profile({"sigma": 0.467, "sensitivity": 1.0})
    rate = 1 - 1.8e-13
    want = mp.log(printed(29.3, -1, rate, profile))
    assert want <= poisson_profile.sided(29.3, -1, rate, profile) <= want * (1 - 1e-9)
    assert poisson_profile.sided(29.3, -1, 1.0, profile) == pytest.approx(profile.log_delta(29.3), rel=1e-12)


def test_a_tiny_rate_and_a_large_epsilon():
    """(e^ε − 1)/q is above the largest double: δ was 0."""
    profile = MECHANISMS["gaussian"].profile({"sigma": 0.01, "sensitivity": 1.0})
    want = mp.log(printed(300.0, +1, 1e-200, profile))
    assert want <= poisson_profile.value(300.0, 1e-200, profile) <= want * (1 - 1e-9)
