"""The proofs about a released iterate start both runs at the same w₀, in the same K: every such guarantee says so."""

from __future__ import annotations

import contextlib
from math import sqrt
from statistics import NormalDist

import pytest
from calling import call
from conftest import slow

from dpcalc import answer, solve
from dpcalc.bounds import bounds_in, modules_of
from dpcalc.bounds.start import GRADIENTS, START
from dpcalc.cli.pages.explain import named

FAMILIES = ("pnsgd", "hiding", "online", "noisy_sgd", "noise_feedback")
# an instance, not a guarantee
BOUNDS = {bound.name: bound for family in FAMILIES for module in modules_of(family) for bound in bounds_in(module)
          if bound.name != "lower-bound"}
RUN = {"lipschitz": 1, "smoothness": 0.5, "learning_rate": 0.1, "diameter": 2, "sigma": 1}
LAST = {"n": 1000, "epochs": 1, "sigma": 1, "lipschitz": 1, "loss": "convex", "smoothness": 1, "learning_rate": 0.05,
        "delta": 1e-5,
        "release": "last-iterate"}


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_about_an_iterate_assumes_it(name):
    assert START in BOUNDS[name].theorem.assumptions and named(name)[0] is BOUNDS[name]


@pytest.mark.parametrize("command, options, warning", [
    ("shuffle-pnsgd", {**RUN, "n": 1000}, ""), ("shuffle-pnsgd", {**RUN, "n": 1000, "index": 10}, "for record 10 only"),
    ("shuffle-pnsgd", {**RUN, "n": 50, "epochs": 2, "bound": "shuffled-contraction"}, ""),
    ("online-noise", {**RUN, "n": 30, "index": 10, "c1": 100, "c2": 100, "decay": 1.5, "sigma": None},
     "for record 10 only"),
    ("burn-in", {**RUN, "n": 1000, "batch_size": 10, "steps": 1000}, ""),
    ("burn-in", {**RUN, "n": 10, "batch_size": 10, "steps": 20}, ""),
    ("noise-feedback", {"curvature": 0.7, "learning_rate": 0.1, "sigma": 2, "steps": 6, "lipschitz": 1},
     "only the last iterate is covered"),
])
def test_in_json(command, options, warning):
    with pytest.warns(UserWarning, match=warning) if warning else contextlib.nullcontext():
        said = answer(command, delta=1e-4, **{k: v for k, v in options.items() if v is not None})
    assert all(START in bound["assumptions"] for bound in said.bounds if bound["status"] not in ("lower", "limit"))


def test_with_explain():
    words = ["shuffle-pnsgd", "--n", "100", "--epsilon", "1",
             *(w for k, v in RUN.items() for w in ("--" + k.replace("_", "-"), str(v)))]
    assert START in " ".join(call([*words, "--explain"])[1].split())


def test_of_a_solution():
    found = solve("shuffle-pnsgd", "sigma", n=1000, epsilon=1, delta=1e-5,
                  **{k: v for k, v in RUN.items() if k != "sigma"})
    assert START in found.bounds[0]["assumptions"]


@pytest.mark.parametrize("batches, batch_size",
                         [slow("without-replacement", 10), ("full", None), slow("fixed-order", 10), slow("shuffled", 10)])
@pytest.mark.parametrize("diameter", [None, 2])
def test_comparisons_list_it_where_the_last_iterate_alone_is_released(batches, batch_size, diameter):
    options = {**LAST, "batches": batches, **({"batch_size": batch_size} if batch_size else {}),
               **({"diameter": diameter} if diameter else {})}
    rows = answer("compare", **options).bounds
    hidden = [row for row in rows if row["name"] in BOUNDS]
    assert hidden and all(START in row["assumptions"] and "not depend on the data" in row["assumes"] for row in hidden)
    assert all("not depend on the data" not in row["assumes"] for row in rows if row["name"] not in BOUNDS)


@pytest.mark.parametrize("command", ["shuffle-pnsgd", "online-noise", "burn-in", "noise-feedback"])
def test_commands_explain_it(command):
    said = call(["explain", command, "--json"])[1]
    assert "neither may depend on the data" in said or "not depend on the data" in said


normal = NormalDist()


def total_variation(start, push, pull):
    """Of one step from w₀ against its neighbour's, by gradients `push` and `pull` there, with N(0, 1) and the projection
    on [0, 1]: at the best threshold inside."""
    return max(normal.cdf(start - pull - t) - normal.cdf(start - push - t) for t in (0.01 * k for k in range(1, 101)))


def test_a_first_step_from_outside_of_the_set_may_lose_more():
    """Two losses with curvatures from .2 to 1.8 whose gradients keep to ±.5 on K = [0, 1], and at −3 are −.3 and
    −5.9: a total variation above .99 against .3829 promised. START says that w₀ is in K, or that L holds there."""
    promised = answer("burn-in", n=1, batch_size=1, steps=1, lipschitz=0.5, smoothness=1.8, strong_convexity=0.2,
                      learning_rate=1, diameter=1, sigma=1, epsilon=0)
    assert promised.value == pytest.approx(0.3829249, rel=1e-5)
    inside = [total_variation(w, 0.3 + 0.2 * w, -0.5 + 0.2 * w) for w in (0.0, 0.5, 1.0)]
    assert max(inside) <= promised.value
    assert total_variation(-3, 0.3 + 0.2 * -3, -0.5 + 1.8 * -3) > 0.99
    assert "w₀ lies in K, or" in START and "w₀ lies in K" in " ".join(promised.notes)


def test_strongly_convex_losses_without_a_set():
    """No such loss is L-Lipschitz: the answer says what is used of L, and so does every bound that uses no more."""
    run = {"n": 10, "batch_size": 1, "steps": 100, "lipschitz": 0.5, "smoothness": 1.8, "learning_rate": 1, "sigma": 1,
           "delta": 1e-2}
    said = answer("burn-in", strong_convexity=0.2, **run)
    assert "2L apart" in " ".join(said.notes) and "L-Lipschitz" not in " ".join(said.notes)
    assert all(GRADIENTS in bound["assumptions"] for bound in said.bounds)
    assert "L-Lipschitz" in " ".join(answer("burn-in", strong_convexity=0, **run).notes)
    # the proofs without convexity use the size of gradients
    assert {name for name, bound in BOUNDS.items() if GRADIENTS in bound.theorem.assumptions}.isdisjoint(
        name for name in BOUNDS if "nonconvex" in name)


def test_gradients_of_any_size_that_differ_by_2l():
    """Full batches of one record, f(w) = ρw²/2 ± Lw: the last iterate is N(±m, v) before a set, and its divergence is
    at most the answer's, which iteration attains nearly."""
    rho, eta, steps, lipschitz = 0.5, 0.4, 30, 1.0
    c = 1 - eta * rho
    shift = 2 * eta * lipschitz * (1 - c**steps) / (1 - c)
    noise = eta * sqrt((1 - c ** (2 * steps)) / (1 - c * c))
    found = answer("burn-in", n=1, batch_size=1, steps=steps, lipschitz=lipschitz, smoothness=rho, strong_convexity=rho,
                   learning_rate=eta, sigma=1, epsilon=0)
    exact = 2 * normal.cdf(shift / noise / 2) - 1
    assert exact * (1 - 1e-9) <= found.value <= exact * (1 + 1e-6)
