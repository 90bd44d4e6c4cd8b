"""A bound at many ε at once: never below its value, near it, and proven by the ways that it tells."""

import random

import numpy as np
import pytest
from conftest import spread
from mpmath import mp

from dpcalc.bounds.pnsgd import fixed_order_hybrid
from dpcalc.bounds.pnsgd._engine.laws import LEAST_RATIO
from dpcalc.bounds.pnsgd._engine.positions import FINE
from dpcalc.bounds.pnsgd._engine.shares import Powers, Shares
from dpcalc.numerics import hockey_stick
from dpcalc.numerics.hockey_stick_array import log_theta


def run(level, diameter, learning_rate, n, rho=0.0, lipschitz=1.0, **more):
    return {"level": level, "lipschitz": lipschitz, "diameter": diameter, "learning_rate": learning_rate,
            "smoothness": 1.0,
            "strong_convexity": rho, "n": n, **more}


FOUND = [  # with what larger steps may lose
    (run(0.0185, 0.552, 0.00592, 285334931, index=276584264), 0.2, -27.395599442, 0.03),
    (run(23.23, 3.2268, 0.0585, 4, 0.06, 0.138, index=2), 1e-4, -5.98988937713525, 1e-3),
]


@pytest.mark.parametrize("p, epsilon, log_delta, lost", FOUND)
def test_blocks_of_use_at_few_nodes_are_found(p, epsilon, log_delta, lost):
    assert fixed_order_hybrid.blocks(np.array([0.0, epsilon]), 10, **p)[1] == pytest.approx(log_delta, abs=lost)


@spread("seed", range(4))
def test_larger_steps_are_near_the_value(seed):
    rng = random.Random(seed)
    for _ in range(12):
        n = int(10 ** rng.uniform(0.3, 12))
        p = run(10 ** rng.uniform(-3, 1.5), 10 ** rng.uniform(-3, 2), 10 ** rng.uniform(-3, 0), n,
                rng.choice((0.0, 0.0, 0.1)), 10 ** rng.uniform(-1, 1),
                index=rng.randint(1, n))
        mu = 2 * p["lipschitz"] / p["level"]
        epsilons = np.array([0.0, *np.geomspace(1e-4, 3, 9) * mu * max(mu, 1.0)])
        many, close = (fixed_order_hybrid.blocks(epsilons, fine, **p) for fine in (10, FINE))
        for epsilon, rough, fine in zip(epsilons.tolist(), many.tolist(), close.tolist(), strict=True):
            assert fine == fixed_order_hybrid.value(epsilon, **p)
            if rough > -100:
                assert rough == pytest.approx(fine, abs=0.03, rel=0.03), (p, epsilon)


@pytest.mark.parametrize("fine", [10, FINE])
def test_ways_told_prove_the_number(fine):
    p, ways, epsilons = run(2.0, 1.0, 0.05, 400, index=385), {}, np.array([0.0, 0.1, 0.3, 1.0])
    logs = fixed_order_hybrid.blocks(epsilons, fine, ways=ways, **p)
    for epsilon, log_delta in zip(epsilons.tolist(), logs.tolist(), strict=True):
        exact = float(mp.log(fixed_order_hybrid.exact(mp, epsilon, way=ways[epsilon], **p)))
        assert exact - 1e-12 <= log_delta <= exact + 1e-6 + 1e-9 * abs(exact), epsilon


@pytest.mark.parametrize("way", [[0], [1, 99], [16.0, 1], [16, True], [18, 1], "16"])
def test_what_is_no_way_is_refused(way):
    with pytest.raises(ValueError, match=r"none|no length of a step"):
        fixed_order_hybrid.exact(mp, 0.1, way=way, **run(2.0, 1.0, 0.05, 400, index=385))


def test_theta_of_arrays_keeps_eight_digits_of_small_ratios():
    rng, worst = random.Random(5), 0.0
    for _ in range(3000):
        ratio, a = 10 ** rng.uniform(-12, 2), rng.choice((rng.uniform(-6, 8), 10 ** rng.uniform(0, 1.5)))
        epsilon = max(0.0, ratio * (a + ratio / 2))
        true = hockey_stick.log_theta(epsilon, ratio)
        off = float(log_theta(np.array([epsilon]), np.array([[ratio]]))[0, 0]) - true
        if true > -600:
            assert off >= -1e-13 * abs(true), (epsilon, ratio)
            worst = max(worst, off)
    assert worst < 1e-7


@pytest.mark.parametrize("log_c", [0.0, -1e-9, -0.3, -float("inf"), 0.2])
def test_ratios_of_arrays_are_those_of_whole_numbers_from_above(log_c):
    at = [0, 1, 2, 7, 100, 10**6, 10**12]
    for ratio in (Shares(3.0, log_c), *([Powers(3.0, log_c)] if log_c <= 0 else [])):
        for m, many in zip(at, ratio.many(np.array(at)).tolist(), strict=True):
            one = ratio(m)
            assert one * (1 - 1e-15 * (1 + 700)) <= many <= one * (1 + 1e-9) or many == one, (ratio, m)
            if one > LEAST_RATIO:
                assert many >= one * (1 - 3e-12)
