"""The lower bound of burn-in is a proof: each of its parts against mpmath and against a solver of our own
(chains.py)."""

import json
import random
from functools import partial
from itertools import chain
from math import erfc, exp, log, sqrt
from pathlib import Path

import chains
import mpmath
import numpy as np
import pytest
from conftest import slow, spread

from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.noisy_sgd._engine import one_step, walk, walk_grid, walk_step
from dpcalc.bounds.noisy_sgd._engine.one_step import Pair
from dpcalc.numerics import legendre

mp = mpmath.mp.clone()
mp.dps = 40
rough = mpmath.mp.clone()
rough.dps = 20
GOLDEN = json.loads((Path(__file__).parents[2] / "golden/burn_in.json").read_text(encoding="utf-8"))


def random_pair(rng, pull=None):
    half, drift = exp(rng.uniform(-2, 2.5)), rng.choice((0.0, -exp(rng.uniform(-3, 2))))
    push = exp(rng.uniform(-4, 1.2))
    up, down = (push, -push) if drift == 0 else (drift + 2 * push, drift)
    pull = rng.choice((1.0, 1.0, rng.uniform(0.02, 1))) if pull is None else pull
    return Pair(half, pull, drift, up, down, rng.choice((1.0, 0.5, 0.01, 1e-6)),
                rng.choice((0.0, -half, half * rng.uniform(-1, 1))))


def means_of(pair, kick):
    return lambda y: [(1 - pair.rate, pair.pull * y + pair.drift), (pair.rate, pair.pull * y + kick)]


def run(line, pair, kick, steps):
    """The law after some steps from the start of a pair: at rest, that of Q after as many steps as it takes."""
    if not pair.at_rest:
        return chains.run(line, pair.start, means_of(pair, kick), 1.0, steps)
    of_q, matrix = (sum(share * line.kernel(m, 1.0) for share, m in means_of(pair, k)(line.y))
                    for k in (pair.down, kick))
    rest = chains.powered(np.full(len(line.y), 1 / len(line.y)), of_q, int(20 * (1 + 2 * pair.half) ** 2))
    return chains.powered(rest, matrix, steps)


def solved(pair, steps):
    """Cells and thresholds of both walks at the cuts of the package, by chains.py."""
    cuts = walk_step.places(pair)
    line = chains.Line(-pair.half, pair.half, 1.0)
    laws = []
    for kick in (pair.up, pair.down):
        before = run(line, pair, kick, steps - 1)
        above = np.array([sum(share * 0.5 * np.array([erfc((c - m) / sqrt(2)) for m in at.tolist()]) for share,
                              at in means_of(pair, kick)(line.y)) @ before
                          for c in cuts])
        laws.append(above)
    return laws


# --- the pieces -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1 + 1e-9, 1.1, 2.0, 17.3, 1e4])
def test_g_by_logs(alpha):
    rng = random.Random(3)
    for _ in range(60):
        sign, log_r = rng.choice((1.0, -1.0)), rng.uniform(-40, 60)
        log_r = min(log_r, 0.0) if sign < 0 else log_r
        r, a = sign * mp.exp(mp.mpf(log_r)), mp.mpf(alpha)
        with mp.workdps(80):
            want = mp.log((1 + r) ** a - 1 - a * r) if r > -1 else mp.log(a - 1)
        got = float(one_step.log_g(alpha, np.array([log_r]), np.array([sign]))[0])
        assert abs(got - want) <= 2e-12 * (1 + abs(want)), (log_r, sign)


def test_quadrature_error_is_above_the_actual_one():
    rng = random.Random(1)
    for _ in range(12):
        half, pull, reach = exp(rng.uniform(-2, 3)), rng.choice((1.0, rng.random())), exp(rng.uniform(-2, 2.5))
        g, kappa = walk_grid.grid(half, pull, reach), 1 + pull * pull
        assert g.error <= 1e-12
        for _ in range(6):
            c = rng.uniform(0, half + 4.5 + 1.62 * reach) if rng.random() < 0.8 else half + 4.5 + 1.62 * reach
            with mp.workdps(30):
                got = mp.fsum(mp.mpf(w) * mp.exp(-kappa * (mp.mpf(x) - c) ** 2 / 2) for x,
                              w in zip(g.x.tolist(), g.w.tolist(), strict=True))
                root = mp.sqrt(mp.mpf(kappa) / 2)
                want = mp.sqrt(mp.pi / (2 * mp.mpf(kappa))) * (mp.erfc(root * (mp.mpf(c) - half))
                                                               - mp.erfc(root * (mp.mpf(c) + half)))
            rounded = 2 * kappa * (half + 13 + 2 * reach) * half * 2**-51 + 1e-14  # nodes and weights are doubles
            assert abs(got / want - 1) <= g.error + rounded, (half, pull, reach, c)


def test_a_coarse_rule_is_seen_to_be_coarse():
    """The proven error follows the actual one where that is large."""
    centres, halves = np.array([-9.0, 9.0]), np.array([9.0, 9.0])
    t, w = legendre.rule(walk_grid.NODES)
    x, w = (centres[:, None] + halves[:, None] * t).ravel(), (halves[:, None] * w).ravel()
    actual = max(abs(float((w * np.exp(-((x - c) ** 2))).sum()) / sqrt(np.pi) - 1) for c in np.linspace(0, 14, 300))
    assert 1e-6 < actual <= walk_grid.relative_error(centres, halves, 18.0, 1.0, 2.0) < 1e5 * actual


# --- the laws -------------------------------------------------------------------------------------------------------


def check(pair, known, above_p, above_q, near, floor=1e-9):
    """Every number on its side of the truth, and near it where our solver (good to `floor`) can tell."""
    q = -np.diff(np.concatenate([[1.0], above_q, [0.0]]))
    lead = above_p - above_q
    ahead = np.maximum(lead, 0.0)
    gain = -np.diff(np.concatenate([[0.0], lead, [0.0]]))
    slack = 1e-13 + 1e-10 * np.abs(q)
    assert (known.mass >= q - slack).all() and (known.above >= above_q * (1 - 1e-10) - 1e-15).all(), pair
    assert (known.lead <= ahead * (1 + floor) + 1e-13 * pair.rate + 1e-15).all(), pair
    assert (np.abs(known.gain) <= np.abs(gain) * (1 + floor) + slack).all(), pair
    assert (np.sign(known.gain) * gain >= -slack).all(), pair
    far = lead > 1e-6
    assert (known.lead[far] >= lead[far] * (1 - near)).all(), (pair, (known.lead[far] / lead[far]).min())
    assert known.mass.sum() <= 1 + near


@spread("steps", [2, 3, 9, 300])
def test_laws_against_our_own_solver(steps):
    rng = random.Random(steps)
    for _ in range(8):
        pair = random_pair(rng)
        check(pair, walk.law(pair, steps), *solved(pair, steps), near=1e-6)


@spread("pull", [-1.0, -0.9, -0.3, 0.0, 0.005])
def test_laws_that_turn_over(pull):
    rng = random.Random(pull)
    for steps in (2, 5, 400, 10**6):
        pair = random_pair(rng, pull)._replace(rate=0.5)
        known = walk.law(pair, steps)
        check(pair, known, *solved(pair, steps), near=1e-3)


@pytest.mark.parametrize("at", [0.085, slow(1.0)])
def test_two_steps_to_thirty_digits(at):
    """Q(w >= t) and (P − Q)(w >= t) by mpmath's quadrature: the error that is claimed is above the actual one, and not
    far above."""
    pair = Pair(4.0, 0.9, -0.5, 1.5, -0.5, 0.01, -1.0)
    known, cuts = walk.law(pair, 2), walk_step.places(pair).tolist()
    g = walk_grid.grid(pair.half, pair.pull, pair.reach)
    claimed = 2 * (g.error + walk_step.entry_error(pair, len(g.x) + 2)) + walk_step.cell_error(pair, np.array(cuts))

    def tail(x):
        return rough.erfc(x / rough.sqrt(2)) / 2

    def above(kick, t):
        kicks = ((rough.mpf(1) - rough.mpf(pair.rate), pair.drift), (rough.mpf(pair.rate), kick))
        first = rough.mpf(pair.pull) * pair.start

        def after(y):
            return rough.fsum(share * tail(t - rough.mpf(pair.pull) * y - m) for share, m in kicks)

        inner = rough.quad(lambda y: after(y) * rough.fsum(s * rough.npdf(y - first - m) for s, m in kicks),
                           [-4, -2, 0, 2, 4])
        walls = rough.fsum(s * (tail(4 + first + m) * after(-4) + tail(4 - first - m) * after(4)) for s, m in kicks)
        return inner + walls

    k = int(at * (len(cuts) - 1))
    p, q = above(pair.up, rough.mpf(cuts[k])), above(pair.down, rough.mpf(cuts[k]))
    assert 0 <= known.above[k] / q - 1 <= 2.1 * claimed < 1e-9
    assert 0 <= 1 - known.lead[k] / (p - q) <= 2.1 * claimed


@spread("steps", [2, 3, 9, 300])
def test_laws_from_rest_are_below_the_truth_before_they_are_near(steps):
    rng = random.Random(steps)
    for _ in range(8):
        pair = random_pair(rng)._replace(at_rest=True)
        check(pair, walk.law(pair, steps), *solved(pair, steps), near=1.0)


def test_laws_from_rest_are_near_the_truth_after_some_crossings_of_the_interval():
    rng = random.Random(8)
    for crossings, near in ((2, 0.2), (4, 1e-3), (20, 1e-5)):
        for _ in range(6):
            pair = random_pair(rng)._replace(at_rest=True)
            steps = int(crossings * (2 * pair.half + 1) ** 2) + 2
            check(pair, walk.law(pair, steps), *solved(pair, steps), near=near)


def test_steps_beyond_mixing_cost_nothing():
    """Any T after mixing has one answer, which lies below the law after 10^4 and after 10^12 steps."""
    rng = random.Random(9)
    for _ in range(6):
        pair = random_pair(rng)._replace(at_rest=True, rate=0.3)
        late = walk.law(pair, 10**12)
        check(pair, late, *solved(pair, 10**4), near=1e-5)
        for a, b in zip(late, walk.law(pair, 2**40 + 12345), strict=True):
            assert (a == b).all()


def test_laws_from_rest_that_differ_by_hundreds_of_orders_of_magnitude():
    """A wide walk whose P and Q are at opposite walls: each at the other's holds less than doubles resolve of 1."""
    pair = Pair(50.0, 1.0, 0.0, 2.0, -2.0, 0.5, 0.0, True)
    known = walk.law(pair, 10**6)
    assert known.lead.max() > 1 - 1e-5 and known.above.min() < 1e-40


def test_two_starts_meet_as_fast_as_is_said():
    for pair in (Pair(1.5, 0.9, 0.0, 0.3, -0.3, 0.5, 0.0), Pair(1.5, -0.6, 0.0, 0.3, -0.3, 0.5, 0.0),
                 Pair(2.5, -0.9, -0.2, 0.3, -0.2, 0.5, 0.0)):
        line = chains.Line(-pair.half, pair.half, 1.0)
        matrix = sum(share * line.kernel(pair.pull * line.y + m, 1.0) for share, m in walk_step.means(pair, True))
        left, right = matrix[0], matrix[-1]
        for steps in range(1, 40):
            assert np.abs(left - right).sum() / 2 <= walk.distance_of_starts(pair, steps) + 1e-12
            left, right = left @ matrix, right @ matrix


# --- the numbers ----------------------------------------------------------------------------------------------------


def params(rng):
    n = rng.choice((1, 3, 100, 10**5))
    b, beta, rho = rng.randint(1, n), exp(rng.uniform(-2, 1)), 0.0
    sigma, eta = exp(rng.uniform(-1, 2)) / b, rng.uniform(0.1, 1) * 2 / beta
    diameter = exp(rng.uniform(0, 3)) * eta * sigma
    rho = rng.choice((0.0, min(beta, 1 / diameter) * rng.random()))
    return {"n": n, "batch_size": b, "iterations": rng.choice((1, 2, 4, 60)), "lipschitz": 1.0, "smoothness": beta,
            "strong_convexity": rho,
            "learning_rate": eta, "diameter": diameter, "sigma": sigma}


def test_instances_are_in_the_class():
    """β-smooth, ρ-strongly convex losses with gradients of at most L on an interval of at most D; step, noise and batch
    as asked."""
    rng = random.Random(4)
    for _ in range(100):
        p = params(rng)
        unit = p["learning_rate"] * p["sigma"]
        for pair in chain(*lower_bound.instances(**p)):
            assert 2 * pair.half * unit <= p["diameter"] and abs(pair.start) <= pair.half and pair.rate == p["batch_size"] / p["n"]
            curvature = (1 - pair.pull) / p["learning_rate"]
            assert curvature == pytest.approx(p["strong_convexity"], rel=1e-9, abs=1e-15)
            b, at_wall = p["batch_size"], curvature * pair.half * unit
            others = -pair.drift * p["sigma"]  # gradient of a loss at 0, for all but one record
            for kick in (pair.up, pair.down):
                record = b * (-kick * p["sigma"]) - (b - 1) * others
                assert max(abs(record), abs(others)) + at_wall <= p["lipschitz"] * (1 + 1e-12)


@pytest.mark.parametrize("draws", [1, slow(10)])
def test_numbers_are_below_the_instances_losses_and_near(draws):
    """Against the hockey-stick and Rényi divergences of the same instances by chains.py, on its finer cells; near those
    of the instances that start from a point."""
    rng = random.Random(6)
    for _ in range(draws):
        p = params(rng) | {"n": 3, "batch_size": rng.randint(1, 3)}
        steps, alpha, epsilon = max(p["iterations"], 2), 1 + exp(rng.uniform(-2, 1.5)), exp(rng.uniform(-3, 1))
        p["iterations"] = steps
        got, log_delta = lower_bound.rdp(alpha, **p), lower_bound.value(epsilon, **p)
        back = lower_bound.inverse(log_delta + 1e-9, **p)
        scores = (partial(lower_bound.divergence, alpha), partial(lower_bound.delta_at, epsilon),
                  partial(lower_bound.epsilon_at, log_delta + 1e-9))
        pairs = {pair for score in scores for pair, _ in lower_bound.laws(score, **p)}
        laws = {}
        for pair in pairs:
            line = chains.Line(-pair.half, pair.half, 0.2)
            laws[pair] = [line.cells(run(line, pair, kick, steps)) for kick in (pair.up, pair.down)]
        best_rdp, near_rdp = largest(laws, lambda x, y, a=alpha: chains.one_way(x, y, a))
        best_delta, near_delta = largest(laws, lambda x, y, e=epsilon: chains.delta(x, y, e))
        if got < 300:  # beyond, cells leave the range of doubles
            assert 0.99 * near_rdp <= got <= best_rdp * (1 + 2e-3) + 1e-12
        if best_delta > 1e-9:
            assert 0.98 * near_delta <= exp(log_delta) <= best_delta * 1.02
        if 1e-9 < near_delta < 0.99:
            assert epsilon * 0.9 <= back
            assert exp(log_delta) <= 1.02 * largest(laws, lambda x, y, e=back: chains.delta(x, y, e))[0] + 1e-9


def largest(laws, loss):
    """The largest loss of all pairs, and of those that start from a point."""
    losses = {pair: loss(*both) for pair, both in laws.items()}
    return max(losses.values()), max([0.0, *(x for pair, x in losses.items() if not pair.at_rest)])


@pytest.mark.parametrize("draws", [4, slow(15)])
def test_one_step_is_its_closed_form(draws):
    rng = random.Random(2)
    for _ in range(draws):
        p = params(rng) | {"iterations": 1}
        epsilon = exp(rng.uniform(-3, 1))
        want = lower_bound.exact(rough, epsilon, **p)
        got = lower_bound.value(epsilon, **p)
        if want > 1e-250:
            assert rough.log(want) - 1e-5 <= got <= rough.log(want)
            back = lower_bound.inverse(got, **p)
            assert epsilon * (1 - 1e-3) <= back <= epsilon * (1 + 1e-3)
        pair = lower_bound.instances(**p)[0][0]
        mass, gain, sign = one_step.cells(pair)
        assert 1 <= np.exp(mass).sum() < 1 + 1e-6
        assert abs((np.exp(gain) * sign).sum()) < 1e-9
        assert np.exp(gain[sign > 0]).sum() == pytest.approx(exp(one_step.log_delta(pair, 0.0)), rel=1e-3)


def test_small_losses_survive():
    """One record in a million, many steps: the difference of the laws is carried, not subtracted."""
    run = {"n": 10**6, "batch_size": 1, "iterations": 10**7, "lipschitz": 1.0, "smoothness": 1.0,
           "strong_convexity": 0.0, "learning_rate": 0.5,
           "diameter": 5.0, "sigma": 1.0}
    small = lower_bound.rdp(2.0, **run)
    assert 0 < small < 1e-7
    assert small == pytest.approx(lower_bound.rdp(2.0, **{**run, "n": 10**5}) / 100, rel=1e-2)


@spread("case", [slow(x) if x["run"] in (2, "C") else x for x in GOLDEN["runs"]],
        ids=lambda case: str(case["run"]))
def test_slopes_show_more_than_flat_losses(case):
    """Against the losses of sloped runs, by dense chains in doubles; the larger of theirs and of those of flat runs."""
    p = case["params"]
    got = lower_bound.inverse(log(GOLDEN["delta"]), n=p["n"], batch_size=p["b"], iterations=int(p["T"]),
                              lipschitz=float(GOLDEN["lipschitz"]), smoothness=float(GOLDEN["smoothness"]),
                              strong_convexity=p.get("rho", 0.0), learning_rate=p["eta"], diameter=float(p["D"]),
                              sigma=p["sigma"])
    assert max(case["lower_new"], case["lower_today"]) * 0.999 <= got <= 1.04 * case["lower_new"]


def test_a_start_at_the_far_wall_shows_more_than_rest():
    """Full batch, D′ = 20: after 200 = D′²/2 steps more than is left at rest, and more than the pure 4LD/(nησ²) = 4 that
    holds at rest in continuous time."""
    run = {"n": 100, "batch_size": 100, "lipschitz": 1.0, "smoothness": 1.0, "strong_convexity": 0.0,
           "learning_rate": 0.5, "diameter": 2.0, "sigma": 0.2}
    early, late = (lower_bound.inverse(log(1e-5), iterations=t, **run) for t in (200, 10**6))
    assert 3.6 <= late < 4 < early
