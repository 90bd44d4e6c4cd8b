"""Very many steps whose losses are of very different sizes: large and small ones apart, in blocks of blocks.

With probability p a step is μ-GDP and else ν-GDP, and it is seen which: of T steps a binomial number is μ-GDP, so that their profile is a sum
of Gaussian ones.
"""

from functools import cache
from math import exp, inf, lgamma, log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from last_iterate_lines import answer

from dpcalc.bounds.pnsgd import shuffled_iteration
from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.bounds.pnsgd.samples import followed
from dpcalc.profiles import compose, pairs, scales, tilt
from dpcalc.profiles.pair import Pair

RARE, OFTEN = (1e-5, 8.0, 1e-3), (0.02, 0.3, 1e-3)  # p, μ, ν


def log_one(epsilon, p, mu, nu):
    return float(np.logaddexp(log(p) + log_gaussian(epsilon, mu), log1p(-p) + log_gaussian(epsilon, nu)))


def log_delta_exact(epsilon, steps, p, mu, nu):
    mean, spread = steps * p, (steps * p) ** 0.5
    logs = []
    for k in range(max(0, int(mean - 40 * spread)), int(mean + 40 * spread + 60)):
        ways = lgamma(steps + 1) - lgamma(k + 1) - lgamma(steps - k + 1) + k * log(p) + (steps - k) * log1p(-p)
        logs.append(ways + log_gaussian(epsilon, (k * mu * mu + (steps - k) * nu * nu) ** 0.5))
    return float(np.logaddexp.reduce(logs))


@cache
def parts(steps, p, mu, nu):
    near, far = np.linspace(0, 9 * nu, 500), np.geomspace(9 * nu, mu * mu / 2 + 14 * mu, 700)
    epsilons = sorted({*near.tolist(), *far.tolist()})
    return ((pairs.sampled(epsilons, [log_one(e, p, mu, nu) for e in epsilons]), steps),)


@pytest.mark.parametrize("of", (RARE, OFTEN))
@pytest.mark.parametrize("steps", (2000, 10**5, 10**7))
@pytest.mark.parametrize("log_delta", (-4.0, -14.0, -40.0))
def test_what_is_composed_is_not_below_and_close(of, steps, log_delta):
    epsilon = compose.epsilon_at(parts(steps, *of), log_delta, bracket=False).upper
    exact = log_delta_exact(epsilon, steps, *of)
    assert exact <= log_delta
    assert log_delta_exact(0.99 * epsilon, steps, *of) > log_delta  # within 1 %, of which the samples are some
    found = compose.log_delta_at(parts(steps, *of), epsilon, bracket=False).upper
    assert exact <= found <= exact + 0.02 * max(1, -exact / 6)  # the samples are some of it


@pytest.mark.parametrize("of, steps, levels", [(RARE, 10**5, 1), (RARE, 10**7, 2), (OFTEN, 10**7, 1)])
def test_they_are_taken_apart(of, steps, levels):
    witness = compose.epsilon_at(parts(steps, *of), -14.0, bracket=False).witness
    assert max(len(part) for part in witness["levels"]) >= levels
    assert sum(grid[2] for grid in witness["grids"]) < 60_000
    if of == RARE:
        assert len(witness["grids"]) == 2 and of[2] < witness["apart"] < of[1]
        assert witness["grids"][1][3] < witness["grids"][0][3] / 3  # of the small losses, a finer one


def test_less_than_what_one_grid_gives():
    """Above its lower end, and not above its upper one by more than the precision."""
    for log_delta in (-8.0, -20.0):
        whole = compose.epsilon_at(parts(2000, *RARE), log_delta)
        apart = compose.epsilon_at(parts(2000, *RARE), log_delta, bracket=False)
        assert "levels" in apart.witness and whole.lower <= apart.upper <= whole.upper * (1 + 2e-3)


def convolved(pair, steps):
    """Losses and masses of a sum, all of them."""
    losses = np.array([loss for loss, _ in pair.atoms])
    masses = np.exp([mass for _, mass in pair.atoms])
    if pair.rest is not None:
        left = 1 - exp(pair.log_infinite) - masses.sum()
        losses, masses = np.append(losses, pair.rest), np.append(masses, left)
    total, mass = np.zeros(1), np.ones(1)
    for _ in range(steps):
        total, mass = np.add.outer(total, losses).ravel(), np.multiply.outer(mass, masses).ravel()
    return total, mass, 1 - (1 - exp(pair.log_infinite)) ** steps


def delta_of(sums, epsilon):
    total, mass, infinite = sums
    return float((mass * np.maximum(-np.expm1(epsilon - total), 0)).sum()) + infinite


@st.composite
def symmetric(draw):
    sizes = draw(st.lists(st.floats(0.01, 4), min_size=2, max_size=3, unique=True))
    shares = [draw(st.floats(0.05, 1)) for _ in sizes]
    infinite, rest = draw(st.sampled_from((0.0, 0.01))), draw(st.sampled_from((0.0, None)))
    whole = (sum(shares) + (0.5 if rest == 0 else 0)) / (1 - infinite)
    atoms = []
    for size, share in zip(sizes, shares, strict=True):
        mass = log(share / whole / (1 + exp(-size)))
        atoms += [(size, mass), (-size, mass - size)]
    return Pair((), tuple(atoms), log(infinite) if infinite else -inf, rest)


@settings(max_examples=60, deadline=None)
@given(symmetric(), st.integers(1, 3), st.floats(0, 6), st.floats(0.02, 3.9))
def test_both_together_lose_no_less(pair, steps, epsilon, at):
    """By the definition: all sums of the step, and of both of its parts."""
    if not 1e-3 < sum(exp(mass) for loss, mass in pair.atoms if abs(loss) > at) < 0.98 - exp(pair.log_infinite):
        return
    large, small = scales.at_loss(pair, at)
    one, (far, mass, lost), (near, other, _) = convolved(pair, steps), convolved(large, steps), convolved(small, steps)
    both = np.add.outer(far, near).ravel(), np.multiply.outer(mass, other).ravel(), lost
    assert abs(both[1].sum() + lost - 1) < 1e-9
    assert delta_of(both, epsilon) >= delta_of(one, epsilon) - 1e-12


@pytest.mark.parametrize("budget", (1e-4, 1e-3, 0.01, 0.1))
@pytest.mark.parametrize("of, steps", [(RARE, 10**5), (OFTEN, 10**5), (RARE, 10**7), (OFTEN, 10**9)])
def test_what_taking_apart_costs_is_in_the_budget(of, steps, budget):
    """One loss of a size and not the other on either side, all others seemed to cost nothing."""
    one = parts(steps, *of)
    for log_delta in (-3.0, -33.0, -60.0):
        c = tilt.for_delta(one, log_delta)
        two = scales.apart(one, c, budget, inf)
        if two and len(two) > 1:
            large, small = ({abs(loss) for loss, _ in pair.atoms} for pair, _ in two)
            assert min(large) > max(small)
            assert 0 <= tilt.cumulants(two, c.tilt).log_total - c.log_total <= budget / 6 * 1.01 + 1e-9 * steps**0.5


def test_a_closer_look_is_no_looser():
    """It was by .01 of log δ, for what taking apart cost."""
    run = {"level": 0.184, "lipschitz": 0.1, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0, "n": 884139}
    one = ((pairs.sampled(*followed(shuffled_iteration.BOUND, log(4.9e-15), 10**5, run)[0]), 10**5),)
    for precision in (1e-3, 1e-4):
        assert compose.epsilon_at(one, log(4.9e-15), precision, bracket=False).upper == pytest.approx(19.034, rel=1e-3)


@settings(max_examples=200, deadline=None)
@given(st.floats(-12, 6), st.floats(-6, 3), st.floats(10, 80))
def test_how_far_a_sum_reaches(log_variance, log_most, depth):
    """Bennett's inequality as printed: Var/b²·h(b·t/Var) = depth, h(u) = (1 + u)log(1 + u) − u."""
    variance, most = exp(log_variance), exp(log_most)
    if not 1e-6 < depth * most**2 / variance < 1e6:
        return
    t = float(scales._reach(most, variance, depth))
    u = most * t / variance
    assert variance / most**2 * ((1 + u) * log1p(u) - u) == pytest.approx(depth, rel=1e-3)


@pytest.mark.parametrize("most, variance", [(0.0, 0.0), (1.0, 0.0), (1e-200, 1e-300), (1e150, 1e-300), (0.0, 1.0)])
def test_the_reach_of_hardly_any_loss(most, variance):
    with np.errstate(all="raise", under="ignore"):
        assert 0 <= float(scales._reach(np.array(most), np.array(variance), 40.0)) < inf


def test_half_of_the_mass_is_not_large():
    """What large losses leave of 1 cancelled: an ε of 2e10 came out as 0."""
    for mass in (0.4, 0.9, 1 - 1e-16):
        atoms = [(1e-3 * k, log((1 - mass) / 20)) for k in range(1, 10)] + [(2e3 + k, log(mass / 10)) for k in range(10)]
        pair = Pair((), tuple(x for loss, m in atoms for x in ((loss, m), (-loss, m - loss))), -inf, 0.0)
        c = tilt.for_delta(((pair, 10**6),), -60.0)
        found = scales.apart(((pair, 10**6),), c, 1e-3, inf)
        large = [] if not found or len(found) == 1 else found[0][0].atoms
        assert sum(exp(m) for _, m in large) <= 0.5
    line = ("shuffle-pnsgd --lipschitz 1 --smoothness .1 --diameter .5 --strong-convexity .1 --learning-rate .01 --epochs 100000 --sigma .00311 "
            "--n 5e9 --delta 3.59e-30 --bound shuffled-contraction")
    assert answer(line)[0]["result"]["epsilon"] > 2.06e10


def test_blocks_leave_no_rest_where_they_can():
    for number, block, found in ((10**10, 6216, 6250), (10**12, 999, 1000), (10**9 + 7, 5000, 5000), (64, 50, 64), (7, 7, 7), (9973, 100, 100)):
        assert scales._without_rest(number, block) == found
    witness = compose.epsilon_at(parts(10**7, *RARE), -14.0, bracket=False).witness
    assert all(10**7 % level[0] == 0 and len(level) == 3 for levels in witness["levels"] for level in levels[:1])


def test_only_symmetric_samples_are_taken_apart():
    atoms = tuple(x for k in range(1, 9) for x in ((0.1 * k, -9.0), (-0.1 * k, -9.0 - 0.1 * k)))
    pair = Pair((), atoms, -inf, 0.0)
    assert scales._is_symmetric(pair)
    assert not scales._is_symmetric(pair._replace(atoms=(*atoms, (-2.0, -9.0)))) and not scales._is_symmetric(pair._replace(twin=pair))
    assert not scales._is_symmetric(pair._replace(atoms=(*atoms[:-1], (-0.8, -9.0))))


def test_a_step_is_short():
    for step in (1.0, 1e-300, 3.3e-7, 12345.678):
        short = scales._short(step)
        assert step * (1 - 2e-6) <= short <= step
        for ratio in (3, 99, 99**2, 97**4):
            assert float(ratio) * short == short * ratio and (short * ratio) / short == ratio


@pytest.mark.parametrize("ratio", (0.4, 1.0, 2.1, 3.0, 57.0, 100.0, 101.0, 5e3, 1e7))
def test_levels(ratio):
    levels, each = scales._levels(ratio)
    assert each % 2 == 1 and each**levels >= min(ratio, 1e300) * 0.999 and each <= 101
    assert levels == 0 if ratio <= 1 else each <= 3 * ratio ** (1 / levels)


@pytest.mark.parametrize("step", (1e-6, 1e-2, 1.0, 30.0))
def test_the_error_of_a_grid(step):
    """As its definition has it: of a loss at any place of a cell, on average."""
    for tilted in (1e-4, 0.3):
        places = (np.arange(2000) + 0.5) / 2000 * step
        pair = Pair((), tuple((float(x), -log(2000)) for x in places))
        c = tilt.Cumulants(tilted, 0.0, 0.0, 1e9)
        found = scales.losses(pair, 1, c).errors(step).sum()
        assert scales.error(step, c) == pytest.approx(found, rel=0.35 if tilted * step < 1 else 3)
