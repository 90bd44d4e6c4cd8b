"""Three further algorithms in which a record hides among the others: smooth losses without convexity, output
perturbation, and Laplace noise."""

import json
import random
from itertools import permutations
from math import exp, log

import mpmath
import numpy as np
import pytest
from answers import answer
from calling import call

from dpcalc.bounds import all_bounds
from dpcalc.bounds.hiding import shuffled_hiding_laplace
from dpcalc.bounds.hiding._engine import pushes
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE

BOUNDS = all_bounds()
CLOSE = 1e-3  # of log δ, and .1: as near to a target in wider search


def smooth(ratio, c):
    return {"level": 2 / ratio, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": c - 1}


def output(ratio, c):
    return {"level": 2 / ratio, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": 1 - c, "strong_convexity": 1 - c}


def laplace(ratio, kappa):
    return {"level": 2 / ratio, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": 0.0, "strong_convexity": 0.0,
            "diameter": 2 * kappa / ratio}


@pytest.mark.parametrize("name, p, n, epsilon, target, before, lowest", [
    ("smooth-nonconvex-shuffled-hiding", smooth(2, 1.0005), 1000, 0.5, 2.028359e-4, 3.5546144e-3, 1.8736787e-4),
    ("output-perturbation-shuffled-hiding", output(1, 0.9), 1000, 0.5, 1.848434e-10, 1.11833525e-3, 0),
    ("output-perturbation-shuffled-hiding", output(4, 0.9), 1000, 1.0, 2.2113537e-3, 7.61773821e-3, 0),
    ("output-perturbation-shuffled-hiding", output(1, 0.99), 1000, 0.5, 2.8326186e-4, 1.09483365e-2, 0),
    ("shuffled-hiding-laplace", laplace(1, 4), 10_000, 0.5, 4.3114038e-118, 1.27291361e-4, 0),
    ("shuffled-hiding-laplace", laplace(1, 8), 10_000, 0.5, 5.2340024e-18, 9.40563004e-4, 0),
    ("shuffled-hiding-laplace", laplace(3, 4), 1000, 0.5, 8.3330208e-5, 4.10588141e-3, 0),
])
def test_reaches_what_an_independent_program_finds(name, p, n, epsilon, target, before, lowest):
    """From above, and not below the least value that any plan of the theorem has, where that is known (linear
    programming duality)."""
    got = BOUNDS[name].value(epsilon, **p, n=n)
    assert got <= log(target) + CLOSE * abs(log(target)) + 0.1
    assert got <= log(before) - 0.3
    assert exp(got) >= lowest


def test_smooth_losses_do_not_depend_on_beta_where_it_is_0():
    """c = 1 both times, of convex losses and of smooth ones."""
    p = smooth(1.0, 1.0)
    for epsilon, n in ((0.3, 1000), (1.0, 50), (2.0, 10**6)):
        convex = BOUNDS["shuffled-hiding"].value(epsilon, **p, strong_convexity=0.0, n=n)
        assert BOUNDS["smooth-nonconvex-shuffled-hiding"].value(epsilon, **p, n=n) == pytest.approx(convex, rel=1e-12)


def test_where_steps_spread_the_cost_of_two_places_is_at_most_that_of_an_end_of_the_block():
    rng = random.Random(5)
    for _ in range(300):
        log_c, a = rng.choice((1e-6, 1e-3, 0.1)) * rng.random() + 1e-9, rng.randrange(300)
        b, later = a + rng.randrange(1, 200), a + 200 + rng.randrange(3000)
        inside = pushes.ratio_of_two(1.0, log_c, np.arange(a, b + 1.0), np.full(b + 1 - a, float(later)))
        assert inside.max() <= max(inside[0], inside[-1]) * (1 + 1e-12)
        falls = pushes.ratio_of_two(1.0, log_c, np.full(100, float(a)), a + 1.0 + np.arange(100))
        assert (np.diff(falls) <= 1e-12).all()


# --- Laplace noise, by the definition
# ----------------------------------------------------------------------------------

CELLS = 30


class Interval:
    """[0, D] in cells: iterates are rounded to the middle of theirs, which is post-processing, so that the theorem
    covers such chains."""

    def __init__(self, diameter, scale):
        self.edges = np.linspace(0, diameter, CELLS + 1)
        self.x, self.scale = (self.edges[:-1] + self.edges[1:]) / 2, scale

    def kernel(self, gradient):
        """η = 1: rows are the iterate before, columns the one after w ← Π_K(w − g(w) − Laplace noise)."""
        z = (self.edges[1:-1] - (self.x - gradient(self.x))[:, None]) / self.scale
        below = np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
        return np.diff(below, axis=1, prepend=0.0, append=1.0)


def a_gradient(rng, lipschitz, diameter):
    """Of a convex, 2-smooth and L-Lipschitz loss: linear, or a quadratic that is linear outside; w − g(w) is
    1-Lipschitz."""
    if rng.random() < 0.5:
        slope = rng.choice((-1, 1)) * lipschitz * rng.choice((1.0, rng.random()))
        return lambda x: slope + 0 * x
    curve, middle = 2 * rng.random(), rng.random() * diameter
    return lambda x: np.clip(curve * (x - middle), -lipschitz, lipschitz)


def divergence(gamma, p, q):
    return np.maximum(p - gamma * q, 0).sum()


def shift(log_gamma, ratio):
    return max(0.0, 1 - exp((log_gamma - ratio) / 2))


def test_laplace_lemma_and_theorem_on_exact_chains_with_distinct_records():
    """Every order of up to five records, all different; the pairs of places, too, and any choice of k, h and t."""
    rng, largest = random.Random(11), 0.0
    for _ in range(30):
        n, r, kappa = rng.randint(2, 5), rng.choice((0.3, 1.0, 2.5)), rng.choice((0.3, 1.0, 3.0))
        v, diameter = 1.0, kappa
        lipschitz = r * v / 2
        line = Interval(diameter, v)
        others = [line.kernel(a_gradient(rng, lipschitz, diameter)) for _ in range(n - 1)]
        mine = [line.kernel(a_gradient(rng, lipschitz, diameter)) for _ in range(2)]
        start = np.eye(CELLS)[rng.randrange(CELLS)]
        laws = [[np.zeros(CELLS) for _ in range(n)] for _ in mine]  # by data set and later slots
        for kernel, at in zip(mine, laws, strict=True):
            orders = list(permutations(others))
            for order in orders:
                for m in range(n):
                    law = start
                    for step in (*order[: n - 1 - m], kernel, *order[n - 1 - m :]):
                        law = law @ step
                    at[m] += law / len(orders)
        for first, second in (laws, laws[::-1]):
            for log_gamma in (0.0, 0.1, 0.4, 1.0, 2.0):
                a, b = shift(log_gamma, r), shift(log_gamma, kappa)
                for m in range(n):
                    assert divergence(exp(log_gamma), first[m], second[m]) <= a * b**m + 1e-12
                    for later in range(m + 1, n):
                        bound = shift(0, r) * shift(0, kappa) ** later + a * b**m
                        true = divergence(exp(log_gamma), first[m], second[later])
                        assert true <= bound + 1e-12
                        largest = max(largest, true / bound)
        p, q = (sum(at) / n for at in laws)
        run = {"level": v, "lipschitz": lipschitz, "diameter": diameter, "learning_rate": 1.0, "smoothness": 2.0,
               "strong_convexity": 0.0, "n": n}
        for epsilon in (0.02, 0.2, 0.5, 1.0):
            true = max(divergence(exp(epsilon), p, q), divergence(exp(epsilon), q, p))
            assert true <= exp(shuffled_hiding_laplace.value(epsilon, **run)) + 1e-12
            for _ in range(10):
                k = rng.randint(0, n - 1)
                way = (k, rng.randint(k, n - 1), rng.uniform(-epsilon, 2))
                assert true <= exp(shuffled_hiding_laplace._log_delta(epsilon, way, run)) + 1e-12
    assert largest > 0.3  # the lemma is not tested where it says nothing


def test_laplace_theorem_is_above_the_exact_loss_where_it_is_far_below_the_older_bound():
    """n records of which all others are alike."""
    rng, found = random.Random(3), []
    for n, r, kappa, epsilon in ((60, 1.0, 1.0, 0.4), (200, 0.5, 2.0, 0.2), (40, 2.0, 0.5, 1.0), (400, 1.0, 3.0, 0.5),
                                 (100, 1.5, 2.0, 0.8)):
        line, lipschitz = Interval(kappa, 1.0), r / 2
        for _ in range(4):
            other = line.kernel(a_gradient(rng, lipschitz, kappa))
            # to both sides: the farthest apart
            mine = [line.kernel(lambda x, slope=slope: slope + 0 * x) for slope in (-lipschitz, lipschitz)]
            p = []
            for kernel in mine:
                powers = [np.eye(CELLS)]
                for _ in range(n):
                    powers.append(powers[-1] @ other)
                p.append(sum((powers[n - 1 - m][0] @ kernel) @ powers[m] for m in range(n)) / n)
            true = max(divergence(exp(epsilon), *p), divergence(exp(epsilon), *p[::-1]))
            run = {"level": 1.0, "lipschitz": lipschitz, "diameter": kappa, "learning_rate": 1.0, "smoothness": 2.0,
                   "strong_convexity": 0.0, "n": n}
            new = shuffled_hiding_laplace.value(epsilon, **run)
            old = BOUNDS["shuffled-contraction"].value(epsilon, law=LAPLACE, **run)
            assert true <= exp(new) + 1e-13
            found.append((old - new, true / exp(new)))
    assert min(gain for gain, _ in found) > 1


def test_laplace_plan_that_is_none_says_nothing():
    run = {**laplace(1, 4), "n": 1000}
    # far places would give away more than they have
    assert shuffled_hiding_laplace._log_delta(0.5, (500, 600, 3.0), run) == 0.0
    assert shuffled_hiding_laplace._log_delta(0.5, (5, 6, -1.0), run) == 0.0  # γ < 1


def test_the_published_limit_is_one_of_the_older_bound():
    line = "shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --smoothness .5 --learning-rate .1 --diameter 1 --n 1e12 --epsilon 1 --json"
    answer = json.loads(call(line.split()).stdout)
    deltas = {row["name"]: row["delta"] for row in answer["bounds"]}
    assert deltas["shuffled-hiding-laplace"] < deltas["shuffled-limit"] / 50
    assert deltas["shuffled-contraction"] == pytest.approx(deltas["shuffled-limit"], rel=1e-3)


@pytest.mark.slow
def test_where_nothing_hides_the_record_is_that_of_the_plain_bound():
    """Steps that double distances: the witness of every ε is a number, and the record can be written."""
    line = ("shuffle-pnsgd --n 100000 --lipschitz 1 --sigma 1 --learning-rate 1 --smoothness 1 --epochs 10 --delta "
            "1e-8 "
            "--bound smooth-nonconvex-shuffled-hiding")
    found = answer(line)
    assert found["result"]["epsilon"] > 10 and "NaN" not in json.dumps(found)


@pytest.mark.parametrize("c, m, later", [(2.0, 600, 1200), (2.0, 600, 1300), (1.1, 3000, 9000), (1.1, 4000, 4500),
                                         (0.5, 800, 1700), (0.9, 9000, 9500)])
def test_two_pushes_are_undone_apart_where_powers_leave_the_doubles(c, m, later):
    """At high precision as in doubles: the larger of both forms where pushes grow, as the later one cannot be undone
    before it comes."""
    mp = mpmath.mp.clone()
    mp.dps = 30
    exact = mp.sqrt(pushes.cost_of_two_exact(mp, mp.mpf(c), m, later))
    found = pushes.ratio_of_two(1.0, log(c), np.array([float(m)]), np.array([float(later)]))[0]
    assert exact <= found <= max(exact * (1 + mp.mpf(10) ** -11), 1e-290)
