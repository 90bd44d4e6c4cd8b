"""Streams in little time: what does not depend on the run is added up once, smooth sums from few terms, far budgets by a faster form."""

import random
from math import exp, fsum, inf, log

import pytest
from last_iterate_lines import answer

from dpcalc.bounds.online import online_contraction
from dpcalc.bounds.online._engine import levels as all_levels
from dpcalc.bounds.online._engine.levels import schedule
from dpcalc.bounds.pnsgd._engine.laws import LAWS
from dpcalc.bounds.pnsgd._engine.step import log_b, reach_ratio

RATE = ("online-noise --noise gaussian --lipschitz 5 --smoothness 1 --diameter .5 --n 158235665425 --index 1 --decay 2.04 --c1 143 --c2 817 "
        "--strong-convexity 1 --epsilon 16.3 --delta 1.38e-9 --solve learning-rate")
ENDLESS = ("online-noise --noise gaussian --lipschitz 6250 --smoothness 5.42e-5 --diameter .00295 --n inf --index 2 --decay 2 --c1 4330 --c2 34.8 "
           "--epsilon 326 --delta 5.17e-65 --solve learning-rate")
FAR = ("online-noise --noise gaussian --lipschitz 398 --smoothness 0 --diameter 10.8 --n 323704 --index 1 --decay 24.2 --c1 301 --c2 2 --epsilon .0454 "
       "--delta 6.54e-171 --learning-rate .00263")


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


@pytest.mark.parametrize("noise", LAWS)
def test_the_reach_is_that_of_the_schedule_alone(noise):
    """MD/(ησ_t) from the levels, rounded up."""
    rng = random.Random(11)
    for _ in range(300):
        run = {"diameter": log_uniform(rng, 1e-3, 1e3), "learning_rate": log_uniform(rng, 1e-6, 1.0), "smoothness": rng.choice([0.0, 0.5]),
               "strong_convexity": 0.0}
        run["strong_convexity"] = rng.choice([0.0, 0.3]) * run["smoothness"]
        at = schedule(noise, **run, c1=log_uniform(rng, 1e-6, 1e9), c2=rng.choice([2.0, 500.0]), decay=rng.uniform(1.001, 5))
        t = rng.randint(1, 10**12)
        true = reach_ratio(1.0, **run) / at.at(t)
        assert at.reach(t) == at.shape.reach(t) == pytest.approx(true, rel=2e-14)
        assert at.reach(t) >= true * (1 - 1e-14)


@pytest.mark.parametrize("line, sums", [(RATE, 26)])
def test_a_sum_is_the_same_at_every_learning_rate(line, sums, monkeypatch):
    asked, of = [], online_contraction.lower_sum
    monkeypatch.setattr(online_contraction, "lower_sum", lambda *args: asked.append(args) or of(*args))
    online_contraction._loss.cache_clear()
    answer(line)
    assert 0 < len(asked) <= sums  # 80 and 28 before: most are for the ε told beside it


def test_sums_that_begin_late():
    """Fewer terms one by one where the loss changes little between them: never above the sum term by term, and as near it as stated."""
    rng, few = random.Random(4), 0
    while few < 150:
        noise = rng.choice(("gaussian", "laplace"))
        decay, first = rng.choice([1.01, 1.5, 2.0, 3.0, log_uniform(rng, 1.001, 40)]), int(log_uniform(rng, 100, 20_000))
        c1 = rng.choice([log_uniform(rng, 1e-3, 1e8), first**decay * log_uniform(rng, 1e-4, 1e4)])
        shape = schedule(noise, 2.0, 0.01, 0.5, 0.0, c1, rng.choice([2.0, 100.0, 1e4]), decay).shape
        last, law, epsilon = first + int(log_uniform(rng, 40, 4000)), LAWS[noise], rng.choice([0.0, log_uniform(rng, 1e-4, 1e3)])
        if shape.added(first, last) == all_levels.FIRST:
            continue
        whole = fsum(-log_b(law, epsilon, shape.reach(t)) for t in range(first, last + 1))
        if not 1e-290 < whole < inf:
            continue
        few += 1
        found = online_contraction._loss(epsilon, law, shape, first, last, 0.0, False)
        assert whole * (1 - 3e-9) <= found <= whole * (1 + 1e-13), (noise, decay, first, last, c1, epsilon)


def test_a_loss_that_bends_just_before_a_late_start():
    """B is 0 a few steps earlier: 32 terms would leave 1.5e-8 of the sum."""
    shape = schedule("laplace", 2.0, 0.01, 0.5, 0.0, 9611.960507945894, 2.0, 1.5).shape
    law, epsilon = LAWS["laplace"], 2.2528425839085555
    whole = fsum(-log_b(law, epsilon, shape.reach(t)) for t in range(482, 1469))
    found = online_contraction._loss(epsilon, law, shape, 482, 1468, 0.0, False)
    assert shape.added(482, 1468) == all_levels.FEWEST and whole * (1 - 1e-9) <= found <= whole
