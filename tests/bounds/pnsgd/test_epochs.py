"""Several epochs of noisy SGD: composed profiles against closed forms, on the command line, and solved for."""

from math import sqrt

import numpy as np
import pytest
from last_iterate_lines import answer

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd._engine import epochs
from dpcalc.bounds.pnsgd._engine.iteration import CONVEX
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.positions import COARSE, FINE

BOUNDS = all_bounds()


def test_epochs_of_one_position_compose_like_gaussians():
    p = {"level": 10.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0, "n": 50,
         "index": 20}
    bound = BOUNDS["fixed-order-iteration"]
    mu = CONVEX.ratios(**{k: v for k, v in p.items() if k not in ("n", "index")})(30)
    for passes, epsilon in ((2, 0.2), (30, 0.5)):
        true = log_gaussian(epsilon, mu * sqrt(passes))
        assert true <= epochs.composed(bound).value(epsilon, steps=passes, **p) <= true + 0.06
        back = epochs.composed(bound).inverse(true, steps=passes, **p)
        assert epsilon <= back <= epsilon * 1.01
        assert epochs.basic(bound).value(epsilon, steps=passes, **p) > true


def test_epochs_on_the_command_line():
    line = "shuffle-pnsgd --sigma 4 --lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --n 2000 --delta 1e-6 --bound shuffled-contraction"
    once, _ = answer(line)
    many, _ = answer(f"{line} --epochs 5")
    names = {b["name"]: b["epsilon"] for b in many["bounds"]}
    assert once["result"]["epsilon"] < names["shuffled-contraction"] < names["shuffled-contraction-basic"]
    assert names["shuffled-contraction-basic"] <= 5 * answer(line.replace("1e-6",
                                                                          "2e-7"))[0]["result"]["epsilon"] * (1 + 1e-12)
    assert many["released"] == "last iterate of every epoch"
    budget = names["shuffled-contraction"] * (1 + 1e-9)
    solved, _ = answer(f"{line} --epsilon {budget!r} --solve epochs")
    assert solved["result"]["epochs"] == 5


@pytest.mark.parametrize("said", ["--n 1000 --epochs 10 --delta 1e-5", "--n 1e5 --epochs 3 --delta 1e-7"])
def test_solving_through_epochs_meets_the_budget_and_is_tight(said):
    line = f"shuffle-pnsgd --lipschitz 1 --diameter 1 --learning-rate .25 --smoothness .5 {said} --bound shuffled-iteration"
    sigma = answer(f"{line} --epsilon 1 --solve sigma")[0]["result"]["sigma"]
    back = answer(f"{line} --sigma {sigma!r}")[0]["result"]["epsilon"]
    assert back <= 1 < answer(f"{line} --sigma {sigma * (1 - 1e-3)!r}")[0]["result"]["epsilon"]


@pytest.mark.parametrize("name", ["shuffled-iteration", "smooth-nonconvex-shuffled-exact"])
def test_the_samples_of_an_epoch_are_never_below_its_profile(name):
    bound = BOUNDS[name]
    p = {"level": 0.7, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.1,
         "diameter": 2.0, "n": 30_000}
    p = {k: p[k] for k in bound.params}
    epsilons = np.array([0.0, 1e-3, 0.1, 1.0, 3.0, 10.0, 40.0])
    true = np.array([bound.value(float(e), **p) for e in epsilons])
    close, rough = bound.blocks.profile(epsilons, FINE, **p), bound.blocks.profile(epsilons, COARSE, **p)
    size = np.maximum(1, -true)
    assert (true - 1e-3 * size <= close).all() and (close <= true + 1e-3 * size).all()  # of a hybrid both are searches
    assert (close - 1e-3 * size <= rough).all() and (rough <= close + 0.3).all()
    assert (true <= close).all() and (close <= true + 1e-8 * size).all()


@pytest.mark.parametrize("said",
                         ["--delta 1e-320", "--delta 1e-320 --index 1", "--epsilon 30", "--epsilon 30 --index 1"])
def test_the_least_deltas_over_epochs(said):
    got, _ = answer(f"shuffle-pnsgd --sigma 4 --lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --n 1000 "
                    f"--epochs 3 {said}")
    assert 0 <= got["result"]["epsilon"] < 100 and 0 < got["result"]["delta"] < 1e-200
    assert {"shuffled-iteration", "shuffled-iteration-basic"} <= {row["name"]
                                                                  for row in got["bounds"]} or "--index" in said
