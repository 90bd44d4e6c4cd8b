"""Work that is not done twice where rare losses decide: samples, sums of positions, solutions at cliffs; and the last steps to one record."""

from itertools import pairwise
from math import expm1, fsum, log

import numpy as np
import pytest
from last_iterate_lines import answer

from dpcalc import solving
from dpcalc.bounds.pnsgd import fixed_order_hybrid, iteration, samples, smooth_sums
from dpcalc.numerics import hockey_stick_many
from dpcalc.numerics.hockey_stick import log_theta

RARE = ("shuffle-pnsgd --lipschitz .1 --smoothness .1 --diameter .5 --strong-convexity .1 --learning-rate .3 --n 1e12 "
        "--bound output-perturbation --epsilon 1.61 --delta 2.48e-9 --solve sigma")


def test_samples_end_where_the_first_of_them_say(monkeypatch):
    """About 830 of 1e12 records lose up to 1e22, which larger blocks do not tell from more than δ allows."""
    found, _ = answer(f"{RARE} --epochs 3")
    sizes, followed = [], samples.followed

    def counted(*args):
        sizes.append(followed(*args))
        return sizes[-1]

    monkeypatch.setattr("dpcalc.bounds.pnsgd.epochs.followed", counted)
    again, _ = answer(f"{RARE} --epochs 3")
    assert again["result"] == found["result"] and found["result"]["epsilon"] <= 1.61
    assert found["result"]["sigma"] == pytest.approx(5.28e-13, rel=2e-3)
    assert max(len(epsilons) for epsilons, _ in sizes) < 150
    solved = [epsilons for epsilons, logs in sizes if epsilons[-1] < 1e4]
    assert len(solved) >= 3


# --- sums of positions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", (1000, 10**5, 10**12))
@pytest.mark.parametrize("size, log_c", [(1e-3, -0.03), (200.0, -0.03), (1e-6, -1e-3)])
def test_a_sum_ends_where_nothing_is_left(n, size, log_c):
    """Against the sum term by term, whose terms from 1e5 on are less than 1e-40 of it or not there."""
    calls = []

    def term(j):
        calls.append(j)
        return expm1(size * np.exp(2 * (j - 1) * log_c))

    found = smooth_sums.total(term, lambda j: 2 * log_c * size * np.exp(2 * (j - 1) * log_c + size * np.exp(2 * (j - 1) * log_c)), n)
    exact = fsum(term(j) for j in range(1, min(n, 10**5) + 1))
    assert exact * (1 - 1e-15) <= found <= exact * (1 + 1e-10)
    assert len(calls) - min(n, 10**5) < 256 + 13 * 9


def test_many_thetas_are_the_same_in_parts(monkeypatch):
    epsilon, ratio = np.geomspace(1e-9, 50, 211), np.geomspace(1e-6, 30, 150)[:, None]
    whole = hockey_stick_many._log_theta(epsilon, ratio)
    assert hockey_stick_many.log_theta(epsilon, ratio) == pytest.approx(whole, rel=1e-9)
    both = np.broadcast_to(epsilon, (150, 211))
    assert (hockey_stick_many.log_theta(both, ratio) == hockey_stick_many.log_theta(epsilon, ratio)).all()
    alone = np.asarray(epsilon[30])
    assert (hockey_stick_many.log_theta(alone, np.tile(ratio, 60))[:, 59] == hockey_stick_many.log_theta(alone, ratio)[:, 0]).all()
    for j, k in ((0, 0), (70, 30), (149, 210)):
        assert hockey_stick_many.log_theta(epsilon, ratio)[j, k] >= log_theta(float(epsilon[k]), float(ratio[j, 0])) * (1 + 1e-13)


# --- cliffs ----------------------------------------------------------------------------------------------------------

CLIFF = "shuffle-pnsgd --lipschitz 1 --smoothness 1 --learning-rate 1 --diameter .5 --n 5e9 --delta 4.81e-8 --bound shuffled-hybrid"


def test_a_solution_at_a_cliff_is_looked_at_once_more(monkeypatch):
    """log δ falls by 3e-5 of itself where σ changes by 1e-8: its ε is within 1e-8 of the budget, and need not be looked for."""
    monkeypatch.setattr(solving, "evaluate", None)
    found, _ = answer(f"{CLIFF} --epsilon 4.92 --solve sigma")
    monkeypatch.undo()
    again, _ = answer(f"{CLIFF} --sigma {found['result']['sigma']!r}")
    assert 4.92 * (1 - 1e-7) <= again["result"]["epsilon"] <= found["result"]["epsilon"] <= 4.92


def test_a_solution_whose_epsilon_jumps_tells_its_own(monkeypatch):
    """Where a smaller ε meets the budget as well, it is looked for: with whole records, and at the end of a range."""
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2 --learning-rate .01 --sigma 5 --bound shuffled-hybrid --delta 1e-5"
    found, _ = answer(f"{line} --epsilon .5 --solve n")
    assert found["result"]["n"] < 5000 and found["result"]["epsilon"] < 0.49999
    again, _ = answer(f"{line} --n {found['result']['n']}")
    assert again["result"]["epsilon"] == pytest.approx(found["result"]["epsilon"], rel=1e-9)


# --- the way to one record -------------------------------------------------------------------------------------------

RUN = {"level": 50.7, "lipschitz": 5.0, "diameter": 10.0, "learning_rate": 0.001, "smoothness": 0.1, "strong_convexity": 0.0}


@pytest.mark.parametrize("fine, even", [(4, 20), (10, 70), (16, 128)])
def test_the_steps_to_one_record_are_alike(fine, even):
    """Single ones, or long ones; between, where parts of a step have few lengths, they grow, and the last two are alike."""
    for n in (*range(1, 300), *range(1000, 9000, 13), 10**6, 271044, 10**12, 10**15 + 1):
        nodes = iteration.nodes(n, fine, even)
        gaps, step = np.diff(nodes), -(-(n - 1) // even)
        assert nodes[0] == 0 and nodes[-1] == n - 1 and (gaps > 0).all()
        if step <= 1 or step >= 32:
            assert len(gaps) == n - 1 <= even or (len(gaps) <= even and set(gaps[1:]) == {step} and gaps[0] <= step)
        else:
            assert (gaps <= np.maximum(np.array(nodes[:-1]) / fine + 1, 1)).all() and 2 * gaps[-1] >= gaps[-2]
    assert iteration.nodes(271044, 10) == [*iteration.starts(271044, 10), 271043]  # a mean over positions has its blocks


CONTRACTING = {"lipschitz": 1.0, "strong_convexity": 0.1, "diameter": 1.1189978759870003, "learning_rate": 0.19476600677376477,
               "smoothness": 1.0, "level": 1.8952612644914735, "index": 1}


def test_short_steps_do_not_lose_the_best_block():
    """With steps of 5 it was e^-76.9 at 514 records, after e^-91.4 at 513."""
    logs = [fixed_order_hybrid.value(0.0, n=n, **CONTRACTING) for n in (500, 513, 514, 515, 600, 641, 642, 4097)]
    assert all(b < a + 0.05 for a, b in pairwise(logs)) and logs[2] < -83.8
    other = {"lipschitz": 1.0, "strong_convexity": 0.15, "diameter": 1.2059432273804211, "learning_rate": 0.09705665400716615,
             "smoothness": 0.5, "level": 1.3308893482493522, "index": 1}
    assert fixed_order_hybrid.value(0.0, n=1522, **other) < -37.2  # it was -28.7


def test_a_bound_for_one_record_does_not_jump():
    """With one step left of a node's length the sharpest bound lost a tenth of δ; blocks of a hundredth now lose less than that of it."""
    epsilon = np.array([0.0, 1e-7])
    rough = np.array([fixed_order_hybrid.blocks(epsilon, 10, n=n, index=1, **RUN) for n in (271043, 271044, 271045, 271060, 271271)])
    close = np.array([fixed_order_hybrid.value(0.0, n=n, index=1, **RUN) for n in (271043, 271044, 271045, 271060, 271271)])
    assert np.abs(np.diff(rough[:, 0])).max() < 0.02 and np.abs(np.diff(rough[:, 1])).max() < 0.2
    assert np.abs(rough[:, 0] - close).max() < log(1.1)
