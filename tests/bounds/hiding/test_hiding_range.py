"""The bounds by which a record hides among the others, over the whole range of their parameters: numbers always, and
never above the bound in which every place keeps to itself; they fall in ε and rise with L."""

import random
from math import isnan, log

import pytest
from draws import log_uniform

from dpcalc.bounds import all_bounds
from dpcalc.bounds.hiding._engine.profile import FINE
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE

BOUNDS = all_bounds()
COUNT = 1
ROUNDING = 1e-9  # of log δ, relative
FALLS, HARDLY = 1e-6, 2e-3  # by as much log δ may rise with ε, relative: where 2L/σ is no larger than MUCH, and else
MUCH = 30


def records(rng):
    return max(2, round(log_uniform(rng, 2, 1e12)))


def run(rng):
    """A contraction of any strength: 2L/σ from 1e-6 to 1e3, c^n from nearly 1 to nearly 0, with or without a set."""
    n, ratio = records(rng), log_uniform(rng, 1e-6, 1e3)
    rho = rng.choice((0.0, 1.0, log_uniform(rng, 1e-15, 1), min(1.0, log_uniform(rng, 1e-3, 1e3) / n)))
    return {"level": 2 / ratio, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": 1.0, "strong_convexity": rho,
            "n": n}


def with_set(rng):
    p = run(rng)
    return {**p, "diameter": rng.choice((None, log_uniform(rng, 1e-3, 1e3) * p["level"]))}


def spreading(rng):
    """c up to 1.01, and c^n up to far beyond the doubles."""
    n, ratio = records(rng), log_uniform(rng, 1e-6, 1e3)
    beta = rng.choice((0.0, log_uniform(rng, 1e-15, 0.01), min(0.01, log_uniform(rng, 1e-3, 1e3) / n)))
    return {"level": 2 / ratio, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": beta, "n": n}


def output(rng):
    p = run(rng)
    return {**p, "strong_convexity": max(p["strong_convexity"], 1e-15),
            "smoothness": rng.choice((1.0, 1.0 + rng.random() * 0.99))}


def laplace(rng):
    p = run(rng)
    return {**p, "diameter": log_uniform(rng, 1e-3, 1e3) * p["level"]}


def plain(epsilon, name, p):
    return BOUNDS[name].value(epsilon, **{k: p[k] for k in BOUNDS[name].params})


# parameters, the bound in which every place keeps to itself, and by how much δ may lie above that: its sum is in finer
# blocks
CASES = {
    "shuffled-hiding": (with_set, lambda e, p: plain(e, "shuffled-iteration", p), log(1 + 1 / FINE)),
    "smooth-nonconvex-shuffled-hiding": (spreading, lambda e, p: plain(e, "smooth-nonconvex-shuffled-exact", p), 0.0),
    "output-perturbation-shuffled-hiding": (output, lambda e, p: plain(e, "output-perturbation-shuffled-exact", p),
                                            0.0),
    "shuffled-hiding-laplace": (laplace, lambda e, p: BOUNDS["shuffled-contraction"].value(e, law=LAPLACE, **p), 0.0),
}


def questions(name, count):
    rng = random.Random(f"range of {name}")
    for _ in range(count):
        p = CASES[name][0](rng)
        yield p, rng.choice((0.0, log_uniform(rng, 1e-3, 100), 4 / p["level"] * rng.random(),
                             log_uniform(rng, 0.1, 30) / p["level"] ** 2))


def size(log_delta):
    return max(1.0, abs(log_delta)) if log_delta > float("-inf") else 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [COUNT, pytest.param(600 * COUNT, marks=pytest.mark.slow)], ids=["some", "many"])
@pytest.mark.parametrize("name", CASES)
def test_a_number_everywhere_that_falls_in_epsilon_and_rises_with_the_gradients(name, count):
    value, (_, alone, coarser) = BOUNDS[name].value, CASES[name]
    for p, epsilon in questions(name, count):
        got, simple = value(epsilon, **p), alone(epsilon, p)
        assert not isnan(got) and got <= 0, (epsilon, p)
        assert got <= simple + coarser + ROUNDING * size(simple), (epsilon, p)
        slack = (FALLS if 2 / p["level"] <= MUCH else HARDLY) * size(got)
        for more in (epsilon * (1 + 1e-6) or 1e-9, epsilon * 1.03 or 1e-3):
            assert value(more, **p) <= got + slack, (epsilon, more, p)
        for times in (1 + 1e-6, 1.03):
            assert value(epsilon, **{**p, "lipschitz": times}) >= got - slack, (epsilon, times, p)
