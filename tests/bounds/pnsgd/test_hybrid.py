"""The last iterate: work that does not grow with n, every block length in the hybrids, and the worst position."""

import random
from itertools import pairwise
from math import expm1, inf, log, log1p

import pytest
from last_iterate_lines import answer

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd._engine import hybrid, laws
from dpcalc.bounds.pnsgd._engine.hybrid import follow
from dpcalc.bounds.pnsgd._engine.iteration import path
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.numerics import hockey_stick

BOUNDS = all_bounds()
RUN = "--lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2"


# --- time does not grow with n ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rest, most", [
    (f"shuffle-pnsgd {RUN} --sigma 4 --delta 1e-5", 25_000),
    (f"shuffle-pnsgd {RUN} --sigma .5 --epsilon 1", 10_000),
    (f"shuffle-pnsgd {RUN} --epsilon 2 --delta 1e-6 --solve sigma", 40_000),
    (f"shuffle-pnsgd {RUN} --sigma 4 --index 1 --delta 1e-5", 10_000),
    (f"shuffle-pnsgd {RUN} --index 1 --epsilon 2 --delta 1e-6 --solve sigma", 20_000),
    (f"online-noise {RUN} --decay 1.5 --c1 100 --c2 100 --index 100 --epsilon 1", 7_000),  # with the links that JSON carries
    (f"online-noise {RUN} --decay 1.5 --c1 100 --c2 100 --index 100 --delta 1e-6", 40_000),
])
@pytest.mark.parametrize("n", [10**6, 10**12])
def test_few_divergences_at_any_n(rest, most, n, monkeypatch):
    """Each is a dozen microseconds: 20,000 are the .3 s that a call may take."""
    count = 0

    def counted(f):
        def g(*args):
            nonlocal count
            count += 1
            return f(*args)
        return g

    monkeypatch.setattr(laws, "log_theta", counted(hockey_stick.log_theta))
    monkeypatch.setattr(laws, "log_theta_complement", counted(hockey_stick.log_theta_complement))
    answer(f"{rest} --n {n}")
    assert 0 < count <= most


# --- the hybrids -----------------------------------------------------------------------------------------------------


def by_all_lengths(epsilon, along):
    """min over every block length, by the recursion itself."""
    logs = [log_gaussian(epsilon, along.mu(0))]
    for j in range(1, len(along.nodes)):
        tries = [log_gaussian(epsilon, along.mu(j)), logs[-1]]
        for i in range(j):
            level = log1p(expm1(epsilon) / 2.718281828459045 ** logs[i]) if logs[i] > -600 else log(expm1(epsilon)) - logs[i]
            tries.append(logs[i] + log_gaussian(level, along.kappa(i, j, along.nodes[j] - along.nodes[i])))
        logs.append(min(tries))
        if logs[-1] < -600:
            break
    return logs


def test_hybrids_take_every_block_length():
    """Powers of two alone give up to a factor e^100 more, between them."""
    rng, between = random.Random(7), 0
    for _ in range(40):
        n, rho = rng.choice([10, 18, 26, 36, 64]), rng.choice([0.0, 0.1])
        sigma, reach = 10 ** rng.uniform(-0.3, 1.0), 10 ** rng.uniform(0.5, 1.5)
        p = {"level": sigma, "lipschitz": 1.0, "diameter": reach * 0.1 * sigma, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": rho}
        epsilon = 10 ** rng.uniform(-1, 1)
        logs, links = follow(epsilon, path(n, step=1, **p), lambda j, d: d < -600)
        for got, best in zip(logs, by_all_lengths(epsilon, path(n, step=1, **p)), strict=False):
            if best > -600:
                assert best - 1e-9 * abs(best) <= got <= best + 0.01 * max(1, abs(best))
        between += any(link.times == 1 and link.block & (link.block - 1) for link in links)
    assert between > 15


def test_fixed_order_falls_with_every_step_after_the_record():
    """With powers of two it stood still at n = 10, 18, 26."""
    p = {"level": 2.0, "lipschitz": 1.0, "diameter": 4.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0, "index": 1}
    of = BOUNDS["fixed-order-hybrid"].value
    logs = [of(1.0, n=n, **p) for n in range(1, 80)]
    assert all(b < a for a, b in pairwise(logs) if a > -1e300)


def test_the_rough_divergence_that_chooses_blocks_is_near():
    rng = random.Random(3)
    for _ in range(2000):
        kappa, level = 10 ** rng.uniform(-3, 2), rng.choice((0.0, 10 ** rng.uniform(-9, -3), 10 ** rng.uniform(-3, 3)))
        near, true = hybrid._rough(level, kappa), log_gaussian(level, kappa)
        if -1e4 < true < -1e-9:
            assert abs(near - true) < 0.05 or near == pytest.approx(true, rel=0.05), (level, kappa)
    assert hybrid._rough(1e200, 1.0) == -inf and hybrid._rough(0.0, 1e200) == 0.0


# --- the worst position ----------------------------------------------------------------------------------------------


def test_the_worst_position_is_a_position():
    """Its δ is what the same question about it says, over epochs and for a run that stops at random too."""
    for rest, worst in (("--sigma 4 --epochs 5", 50), ("--noise laplace --scale 4 --epochs 5", 50), ("--sigma 4 --bound randomly-stopped", 1),
                        ("--sigma 4 --bound output-perturbation --strong-convexity .1", 50)):
        line = f"shuffle-pnsgd {RUN} {rest} --n 50 --epsilon 1"
        got, _ = answer(f"{line} --index 7")
        there, _ = answer(f"{line} --index {worst}")
        assert got["result"]["worst_index"] == worst
        assert got["result"]["worst_delta"] == pytest.approx(there["result"]["delta"], rel=1e-9)
        assert got["result"]["worst_delta"] >= got["result"]["delta"]


def test_the_worst_position_of_a_run_that_hides_only_the_first():
    """σ so small that the last record is in the open: the question about the first one has its answer."""
    got, _ = answer(f"shuffle-pnsgd {RUN} --n 1e9 --epochs 20 --index 1 --epsilon 2 --delta 1e-6 --solve sigma")
    assert got["result"]["sigma"] < 6.4e-4 and got["result"]["worst_delta"] == 1
