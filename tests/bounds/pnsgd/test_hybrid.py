"""The last iterate: very many records, every block length in the hybrids, and the worst position."""

import random
from itertools import pairwise
from math import exp, expm1, inf, log1p

import pytest
from answers import answer
from conftest import slow

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd._engine import hybrid
from dpcalc.bounds.pnsgd._engine.hybrid import follow
from dpcalc.bounds.pnsgd._engine.iteration import path
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian

BOUNDS = all_bounds()
RUN = "--lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2"


# --- very many records ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, key", [
    slow(f"shuffle-pnsgd {RUN} --sigma 4 --delta 1e-5", "epsilon"),
    (f"shuffle-pnsgd {RUN} --sigma .5 --epsilon 1", "delta"),
    slow(f"shuffle-pnsgd {RUN} --epsilon 2 --delta 1e-6 --solve sigma", "sigma"),
    (f"shuffle-pnsgd {RUN} --sigma 4 --index 1 --delta 1e-5", "epsilon"),
    slow(f"shuffle-pnsgd {RUN} --index 1 --epsilon 2 --delta 1e-6 --solve sigma", "sigma"),
    (f"online-noise {RUN} --decay 1.5 --c1 100 --c2 100 --index 100 --epsilon 1", "log_delta"),
    (f"online-noise {RUN} --decay 1.5 --c1 100 --c2 100 --index 100 --delta 1e-6", "epsilon"),
])
@pytest.mark.filterwarnings("ignore")
def test_more_records_lose_no_more_and_need_no_more_noise(line, key):
    fewer, more = (answer(f"{line} --n {n}")["result"][key] for n in (10**6, 10**12))
    assert more <= fewer + 1e-9 * abs(fewer)


# --- the hybrids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [50, slow(80)])
def test_fixed_order_falls_with_every_step_after_the_record(most):
    """With powers of two it stood still at n = 10, 18, 26."""
    p = {"level": 2.0, "lipschitz": 1.0, "diameter": 4.0, "learning_rate": 0.1, "smoothness": 0.5,
         "strong_convexity": 0.0, "index": 1}
    of = BOUNDS["fixed-order-hybrid"].value
    logs = [of(1.0, n=n, **p) for n in range(1, most)]
    assert all(b < a for a, b in pairwise(logs) if a > -1e300)


def test_the_rough_divergence_that_chooses_blocks_is_near():
    rng = random.Random(3)
    for _ in range(2000):
        kappa, level = 10 ** rng.uniform(-3, 2), rng.choice((0.0, 10 ** rng.uniform(-9, -3), 10 ** rng.uniform(-3, 3)))
        near, true = hybrid._approximate_log_theta(level, kappa), log_gaussian(level, kappa)
        if -1e4 < true < -1e-9:
            assert abs(near - true) < 0.05 or near == pytest.approx(true, rel=0.05), (level, kappa)
    assert hybrid._approximate_log_theta(1e200, 1.0) == -inf and hybrid._approximate_log_theta(0.0, 1e200) == 0.0


# --- the worst position ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_worst_position_is_a_position():
    """Its δ is what the same question about it says, over epochs and for a run that stops at random too."""
    for rest, worst in (("--sigma 4 --epochs 5", 50), ("--noise laplace --scale 4 --epochs 5", 50),
                        ("--sigma 4 --bound randomly-stopped", 1),
                        ("--sigma 4 --bound output-perturbation --strong-convexity .1", 50)):
        line = f"shuffle-pnsgd {RUN} {rest} --n 50 --epsilon 1"
        got = answer(f"{line} --index 7")
        there = answer(f"{line} --index {worst}")
        assert got["result"]["worst_index"] == worst
        assert got["result"]["worst_delta"] == pytest.approx(there["result"]["delta"], rel=1e-9)
        assert got["result"]["worst_delta"] >= got["result"]["delta"]


@pytest.mark.slow
def test_the_worst_position_of_a_run_that_hides_only_the_first():
    """σ so small that the last record is in the open: the question about the first one has its answer."""
    got = answer(f"shuffle-pnsgd {RUN} --n 1e9 --epochs 20 --index 1 --epsilon 2 --delta 1e-6 --solve sigma")
    assert got["result"]["sigma"] < 6.4e-4 and got["result"]["worst_delta"] == 1


@pytest.mark.parametrize("draws", [40, slow(250)])
def test_few_records_have_the_best_blocks(draws):
    """Against every block at every step, by the recursion itself, where two blocks may be nearly alike. Powers of two
    alone give up to a factor e^100 more, between them."""
    rng, some, between = random.Random(4), 0, 0
    for _ in range(draws):
        n, level, epsilon = rng.randint(2, 64), 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-3, 1)
        rate, rho = 10 ** rng.uniform(-3, 0), rng.choice([0.0, 0.0, 10 ** rng.uniform(-3, -0.5)])
        walk = path(n, 10 ** rng.uniform(-4, 2), 1, level=level, lipschitz=10 ** rng.uniform(-1, 1), learning_rate=rate,
                    smoothness=1.0, strong_convexity=rho)
        found, links = follow(epsilon, walk)
        between += any(link.times == 1 and link.block & (link.block - 1) for link in links)
        best, levels = [log_gaussian(epsilon, walk.mu(0))], []
        for j in range(1, len(found)):
            levels.append(log1p(expm1(epsilon) * exp(-best[-1])) if best[-1] > -600 else inf)
            blocks = (best[p] + log_gaussian(levels[p], walk.kappa(p, j, j - p)) for p in range(j) if best[p] > -600)
            best.append(min(best[-1], log_gaussian(epsilon, walk.mu(j)), *blocks))
        for a, b in zip(found, best, strict=True):
            if -600 < b < -1e-9:
                some += 1
                assert b * (1 + 1e-9) <= a <= b * (1 - 1e-11)
    assert some > 12 * draws and between > draws // 17
