"""Compositions of losses that are rare, and of profiles at any scale of ε."""

from math import comb, exp, expm1, inf, log, log1p

import mpmath
import numpy as np
import pytest

from dpcalc.profiles import compose, far, pairs
from dpcalc.profiles.convolve import _lump, power, wrapped
from dpcalc.profiles.ends import log_infinite
from dpcalc.profiles.law import Grid
from dpcalc.profiles.pair import Pair


@pytest.mark.parametrize("p, count", [(1e-13, 1), (1e-13, 7), (1e-9, 1000), (1e-3, 100), (1e-17, 10**12)])
def test_rare_losses_keep_their_digits_in_a_composition(p, count):
    """Losses 0 (nearly always), 1 and 3: their sums' masses are binomial; an FFT of the whole law is off by 1e-16 times its points."""
    weight = np.zeros(2001)
    weight[[1000, 1010, 1030]] = (1 - p, p * 2 / 3, p / 3)
    grid = Grid(0.1, 0.0, -1000, weight, 0.0, 0.0)
    assert _lump(grid, count) is not None
    got = power([(grid, count)])
    at = {round(x, 6): w for x, w in zip(got.losses().tolist(), got.weight.tolist(), strict=True) if w}
    if count == 1:
        return
    stay, a, b = log1p(-float(1 - weight[1000])), p * 2 / 3, p / 3
    exact = {0.0: exp(count * stay), 1.0: count * exp((count - 1) * stay) * a, 2.0: comb(count, 2) * exp((count - 2) * stay) * a**2,
             3.0: count * exp((count - 1) * stay) * b + comb(count, 3) * exp((count - 3) * stay) * a**3}
    for loss, mass in exact.items():
        assert abs(at.get(loss, 0.0) - mass) <= got.defect + got.noise, (loss, at.get(loss), mass)
    assert got.defect + got.noise <= 1e-13 * count * p + 4e-15


@pytest.mark.parametrize("left", (20.0, 100.0, 299.0))
def test_steps_that_leave_one_point_now_and_then(left):
    """All masses of the sum, multinomial, and how far they are off: far less than 1e-16 of 1e12 steps."""
    count, rate = 10**12, left / 10**12
    weight = np.array([1 - rate, 2 * rate / 3, 0.0, rate / 3])
    grid = Grid(1.0, 0.0, 0, weight, 0.0, 0.0)
    assert _lump(grid, count) == 0 and _lump(grid, 20 * count) is None
    found = power([(grid, count)])
    with mpmath.workdps(30):
        stay, one, three = (mpmath.log(mpmath.mpf(w)) for w in weight[weight > 0].tolist())
        chosen, factorial = [mpmath.mpf(0)], [mpmath.mpf(0)]  # log of T(T−1)…(T−m+1), and of m!
        for m in range(1500):
            chosen.append(chosen[-1] + mpmath.log(count - m))
            factorial.append(factorial[-1] + mpmath.log(m + 1))

        def mass(loss):
            ways = ((loss - 3 * k, k) for k in range(loss // 3 + 1))
            return mpmath.fsum(mpmath.exp(chosen[i + k] - factorial[i] - factorial[k] + (count - i - k) * stay + i * one + k * three)
                               for i, k in ways)

        losses = [round(x) for x in found.losses().tolist()]
        off = mpmath.sqrt(mpmath.fsum((w - (mass(x) if x >= 0 else 0)) ** 2 for x, w in zip(losses, found.weight.tolist(), strict=True)))
        assert off <= found.noise < 1e-9


def test_rare_losses_of_epochs_are_bracketed_closely():
    """20 epochs over 1e12 records: δ is near 1e-10, and was known to a factor e^.5 only."""
    epsilons = np.linspace(0.0, 30.0, 200)
    logs = -22.9 - 0.3 * np.sqrt(epsilons) - 0.75 * epsilons
    found = compose.log_delta_at(((pairs.sampled(epsilons.tolist(), logs.tolist()), 20),), 1.0)
    assert found.lower <= found.upper <= found.lower + 0.05


@pytest.mark.parametrize("scale", [1e3, 1e10])
def test_a_profile_keeps_its_mass_at_any_scale(scale):
    """Randomised response with a loss beyond e^745: its masses at ±ε were lost, and δ near 1 was reported as e^−689."""
    epsilons = [0.0, scale, 1.5 * scale]
    logs = [0.0, log(0.25), -inf]
    pair = pairs.sampled(epsilons, logs)
    mass = {loss: exp(m) for loss, m in pair.atoms}
    assert sum(mass.values()) + exp(pair.log_infinite) == pytest.approx(1, rel=1e-12)
    for epsilon, log_delta in zip(epsilons[:-1], logs, strict=False):
        here = sum(m * -expm1(epsilon - loss) for loss, m in mass.items() if loss > epsilon) + exp(pair.log_infinite)
        assert here == pytest.approx(exp(log_delta), rel=1e-9)


def test_no_noise_over_epochs_has_no_guarantee():
    from last_iterate_lines import answer

    got, _ = answer("shuffle-pnsgd --sigma 1e-9 --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 10 --epochs 3 --epsilon 1")
    assert got["result"]["delta"] == 1 and all(b["delta"] == 1 for b in got["bounds"])


@pytest.mark.parametrize("losses, weight", [([0.0, 1.0, 100.0], [0.5, 0.5, 0.0]), ([0.0, 1.0, 2.0], [0.5, 0.5, 1e-300])])
def test_chernoff_is_not_below_what_sums_have(losses, weight):
    """P(S > 5) of ten fair coins is .377, wherever a weight of 0 lies: it was −inf, as all else underflowed beside it."""
    found = far._chernoff(np.array(weight), np.array(losses), 10, 5.0)
    assert log(0.377) <= found <= 0


def test_losses_that_are_nearly_all_infinite():
    """Less than 1e-16 of a step's weight is finite: the logarithm of what is left is."""
    found = log_infinite(((Pair(log_infinite=-7e-22), 10),))
    assert -1e-200 < found <= 0


def test_the_point_that_steps_leave_may_be_far_away():
    """200 of 1000 steps move by 100 points: that none does has e^-223, and lies beyond the window."""
    weight = np.zeros(101)
    weight[0], weight[100] = 0.8, 0.2
    grid = Grid(0.01, 0.0, 0, weight, 0.0, 0.0)
    found = power([(grid, 1000)], 10.0)
    mean, variance = found.moments()
    assert _lump(grid, 1000) == 0 and found.first > 0
    assert mean == pytest.approx(200.0, rel=1e-3) and variance == pytest.approx(160.0, rel=0.01)


@pytest.mark.parametrize("first, points", [(-2, 5), (3, 5), (-9, 5), (14, 8), (0, 8), (5, 21)])
def test_weights_on_a_circle(first, points):
    """One after another from where the first one is; what goes beyond the end goes on from the start."""
    weight, found = np.arange(1.0, points + 1), [0.0] * 8
    for k, w in enumerate(weight.tolist()):
        found[(first - 1 + k) % 8] += w
    assert wrapped(Grid(0.1, 0.0, first, weight, 0.0, 0.0), 1, 8).tolist() == found
