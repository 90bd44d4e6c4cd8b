"""Sums over very long streams: from below, as near as stated, and with numbers beyond the doubles."""

import json
import random
from math import exp, fsum, inf, log

import pytest
from answers import answer, refusal
from conftest import slow
from fuzz import answered

from dpcalc.bounds.online import online_contraction
from dpcalc.bounds.online._engine.levels import schedule
from dpcalc.bounds.pnsgd._engine.laws import LAWS
from dpcalc.bounds.pnsgd._engine.step import log_b, reach_ratio

RATE = ("online-noise --noise gaussian --lipschitz 5 --smoothness 1 --diameter .5 --n 158235665425 --index 1 --decay "
        "2.04 --c1 143 --c2 817 "
        "--strong-convexity 1 --epsilon 16.3 --delta 1.38e-9 --solve learning-rate")
ENDLESS = ("online-noise --noise gaussian --lipschitz 6250 --smoothness 5.42e-5 --diameter .00295 --n inf --index 2 "
           "--decay 2 --c1 4330 --c2 34.8 "
           "--epsilon 326 --delta 5.17e-65 --solve learning-rate")
STREAM = "online-noise --lipschitz 446 --smoothness 0 --diameter 0.0413 --learning-rate 0.0443181 --c2 0"


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


@pytest.mark.parametrize("noise", LAWS)
def test_the_reach_is_that_of_the_schedule_alone(noise):
    """MD/(ησ_t) from the levels, rounded up."""
    rng = random.Random(11)
    for _ in range(300):
        run = {"diameter": log_uniform(rng, 1e-3, 1e3), "learning_rate": log_uniform(rng, 1e-6, 1.0),
               "smoothness": rng.choice([0.0, 0.5]),
               "strong_convexity": 0.0}
        run["strong_convexity"] = rng.choice([0.0, 0.3]) * run["smoothness"]
        at = schedule(noise, **run, c1=log_uniform(rng, 1e-6, 1e9), c2=rng.choice([2.0, 500.0]),
                      decay=rng.uniform(1.001, 5))
        t = rng.randint(1, 10**12)
        true = reach_ratio(1.0, **run) / at.at(t)
        assert at.reach(t) == at.shape.reach(t) == pytest.approx(true, rel=2e-14)
        assert at.reach(t) >= true * (1 - 1e-14)


@pytest.mark.slow
def test_a_learning_rate_next_to_the_end_of_its_range_meets_its_budget_over_1e11_steps():
    run = RATE.replace(" --epsilon 16.3", "").replace(" --solve learning-rate", "")
    rate = answer(RATE)["result"]["learning_rate"]
    assert rate == pytest.approx(1, rel=1e-12)
    assert answer(f"{run} --learning-rate {rate!r}")["result"]["epsilon"] <= 16.3


def test_every_learning_rate_may_meet_the_budget_of_an_endless_stream():
    assert "every learning rate from 1e-15 to 36900.3 gives" in refusal(ENDLESS, 3)


@pytest.mark.parametrize("draws", [10, slow(100)])
def test_sums_that_begin_late(draws):
    """Never above the sum term by term, and as near it as stated."""
    rng, seen = random.Random(4), 0
    while seen < draws:
        noise = rng.choice(("gaussian", "laplace"))
        decay, first = rng.choice([1.01, 1.5, 2.0, 3.0, log_uniform(rng, 1.001, 40)]), int(log_uniform(rng, 100,
                                                                                                       20_000))
        c1 = rng.choice([log_uniform(rng, 1e-3, 1e8), first**decay * log_uniform(rng, 1e-4, 1e4)])
        shape = schedule(noise, 2.0, 0.01, 0.5, 0.0, c1, rng.choice([2.0, 100.0, 1e4]), decay).shape
        last, law, epsilon = first + int(log_uniform(rng, 300,
                                                     4000)), LAWS[noise], rng.choice([0.0, log_uniform(rng, 1e-4, 1e3)])
        whole = fsum(-log_b(law, epsilon, shape.reach(t)) for t in range(first, last + 1))
        if not 1e-290 < whole < inf:
            continue
        seen += 1
        found = online_contraction._loss(epsilon, law, shape, first, last, 0.0)
        assert whole * (1 - 3e-9) <= found <= whole * (1 + 1e-13), (noise, decay, first, last, c1, epsilon)


def test_a_loss_that_bends_just_before_a_late_start():
    """B is 0 a few steps earlier: 32 terms before the integral would leave 1.5e-8 of the sum."""
    shape = schedule("laplace", 2.0, 0.01, 0.5, 0.0, 9611.960507945894, 2.0, 1.5).shape
    law, epsilon = LAWS["laplace"], 2.2528425839085555
    whole = fsum(-log_b(law, epsilon, shape.reach(t)) for t in range(482, 1469))
    found = online_contraction._loss(epsilon, law, shape, 482, 1468, 0.0)
    assert whole * (1 - 1e-9) <= found <= whole


@pytest.mark.parametrize("line", [
    # the limit's sum of losses of 1e12 to step 1e300
    f"{STREAM} --index 10000 --n 10000 --c1 1e3 --decay 1.25 --delta 3.44e-11",
    f"{STREAM} --index 1 --n 1 --c1 1 --decay 1.93 --delta 1e-100 --digits 20",
])
def test_losses_beyond_the_doubles_have_numbers(line):
    answer = json.loads(answered([*line.split(), "--json"]).out)
    assert all(0 <= answer["result"][key] < float("inf") for key in ("epsilon", "delta", "delta_limit"))
    assert all(float(text) <= row.get("epsilon", row.get("result", {}).get("epsilon")) * (1 + 1e-12)
               for row in answer["bounds"] for text in row.get("digits", {}).values())


@pytest.mark.slow
def test_every_c1_meets_a_large_budget():
    done = answered([*STREAM.split(), *["--index", "2500", "--n", "5000", "--decay", "1.5", "--epsilon", "0.0325",
                                        "--delta", "1.74e-12", "--solve", "c1"]])
    assert not done.out and "every c1 from" in done.err


@pytest.mark.parametrize("bound, worst, delta", [("online-contraction", 1, 0.999284),
                                                 ("online-iteration", 2, 0.303976)])
def test_the_worst_position_is_that_of_the_named_bound(bound, worst, delta):
    result = answer("online-noise --lipschitz .627245356262402 --diameter 1.0451114036925548 "
                    "--learning-rate .015068013520288196 --smoothness 0 --n 2 --epsilon 1 "
                    f"--sigmas .17839870291015134,.8599681332580605 --index 1 --bound {bound}")["result"]
    assert result["worst_index"] == worst and result["worst_delta"] == pytest.approx(delta, rel=1e-4)
