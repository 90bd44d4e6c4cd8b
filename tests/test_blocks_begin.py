"""The hybrids at many ε at once: blocks are looked for only from where they are of use, and nothing is lost by that."""

import random

import numpy as np
import pytest

from dpcalc.bounds.pnsgd import fixed_order_hybrid, positions, shuffled_hybrid, told
from dpcalc.bounds.pnsgd.links import trimmed
from dpcalc.bounds.pnsgd.positions import FINE, Powers, Shares
from dpcalc.numerics import hockey_stick
from dpcalc.numerics.hockey_stick_many import log_theta


def run(level, diameter, learning_rate, n, rho=0.0, lipschitz=1.0, **more):
    return {"level": level, "lipschitz": lipschitz, "diameter": diameter, "learning_rate": learning_rate, "smoothness": 1.0,
            "strong_convexity": rho, "n": n, **more}


# At one ε, or a few, blocks are of use at a node or two, or just before the end.
FOUND = [  # with what the lengths of blocks that arrays try may lose
    (shuffled_hybrid, run(0.0015272103859501843, 0.027255355649712376, 0.01671971652131758, 348688, lipschitz=0.9693532800682751),
     1988.2632008320745, -7.00234986656, 1e-3),
    (shuffled_hybrid, run(2.5, 1.46, 0.0452, 83), 0.0, -2.7418996840, 1e-3),
    (fixed_order_hybrid, run(0.0185, 0.552, 0.00592, 285334931, index=276584264), 0.2, -27.395599442, 0.03),
    (fixed_order_hybrid, run(23.23, 3.2268, 0.0585, 4, 0.06, 0.138, index=2), 1e-4, -5.98988937713525, 1e-3),
]


@pytest.mark.parametrize("module, p, epsilon, log_delta, lost", FOUND)
def test_blocks_of_use_at_few_nodes_are_found(module, p, epsilon, log_delta, lost):
    fine = 4 if epsilon > 1000 else 10
    assert one_by_one(epsilon, p, fine) >= log_delta - 1e-5
    for others in ([], [0.5 * epsilon, 2 * epsilon + 1], np.geomspace(1e-4, 1, 20) * max(epsilon, 1.0), np.geomspace(1e-3, 3, 60)):
        epsilons = sorted({0.0, epsilon, *others})
        many = module.blocks(np.array(epsilons), fine, **p)
        assert many[epsilons.index(epsilon)] == pytest.approx(log_delta, abs=lost)


def one_by_one(epsilon, p, fine):
    """By the code for one ε, in the same blocks."""
    if "index" in p:
        from dpcalc.bounds.pnsgd.chain import follow

        return follow(epsilon, fixed_order_hybrid._path(fine=fine, **p))[0][-1]
    return shuffled_hybrid._blocks(epsilon, fine=fine, **p)[0]


@pytest.mark.parametrize("seed", range(4))
def test_many_epsilons_at_once_and_one_by_one(seed):
    rng = random.Random(seed)
    for _ in range(12):
        n = int(10 ** rng.uniform(0.3, 12))
        p = run(10 ** rng.uniform(-3, 1.5), 10 ** rng.uniform(-3, 2), 10 ** rng.uniform(-3, 0), n, rng.choice((0.0, 0.0, 0.1)), 10 ** rng.uniform(-1, 1))
        p |= {"index": rng.randint(1, n)} if rng.random() < 0.3 else {}
        module = fixed_order_hybrid if "index" in p else shuffled_hybrid
        mu = 2 * p["lipschitz"] / p["level"]
        epsilons = np.array([0.0, *np.geomspace(1e-4, 3, 9) * mu * max(mu, 1.0)])
        many = module.blocks(epsilons, 10, **p)
        for epsilon, log_delta in zip(epsilons.tolist(), many.tolist(), strict=True):
            if log_delta > -600:
                assert log_delta == pytest.approx(one_by_one(epsilon, p, 10), abs=0.02, rel=0.02), (p, epsilon)
        close = module.blocks(epsilons[:3], FINE, **p)
        for epsilon, log_delta in zip(epsilons[:3].tolist(), close.tolist(), strict=True):
            alone = one_by_one(epsilon, p, FINE)
            assert alone - 1e-12 * abs(alone) <= log_delta <= alone + 2e-8 * max(1.0, abs(alone)) + 1e-4, (p, epsilon)


@pytest.mark.parametrize("module", [shuffled_hybrid, fixed_order_hybrid])
def test_links_told_prove_the_number(module):
    from mpmath import mp

    from dpcalc.bounds.pnsgd.links import decoded

    p = run(2.0, 1.0, 0.05, 400, **({"index": 385} if module is fixed_order_hybrid else {}))
    for fine in (10, FINE):
        ways = {}
        epsilons = np.array([0.0, 0.1, 0.3, 1.0])
        logs = module.blocks(epsilons, fine, ways=ways, **p)
        at = told.nodes(module.BOUND, p, fine)
        nodes = module.path(p["n"] - p.get("index", 1) + 1, **{k: v for k, v in p.items() if k not in ("n", "index")}, **at).nodes
        for epsilon, log_delta in zip(epsilons.tolist(), logs.tolist(), strict=True):
            way = nodes, decoded(nodes, trimmed(ways[epsilon].tolist()))
            exact = float(mp.log(module.exact(mp, epsilon, way=way, **p)))
            assert exact - 1e-12 <= log_delta <= exact + 1e-6 + 1e-9 * abs(exact), (fine, epsilon)


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
            if one > positions.LEAST_RATIO:
                assert many >= one * (1 - 3e-12)
