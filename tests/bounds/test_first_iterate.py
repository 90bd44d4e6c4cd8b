"""The proofs about a released iterate start both runs at the same w₀, in the same K: every such guarantee says so."""

from __future__ import annotations

import pytest
from calling import call

from dpcalc import answer, solve
from dpcalc.bounds import bounds_in, modules_of
from dpcalc.bounds.start import START
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
    assert START in BOUNDS[name].theorem.assumptions
    assert START in named(name)[0]["assumptions"]


@pytest.mark.parametrize("command, options", [
    ("shuffle-pnsgd", {**RUN, "n": 1000}), ("shuffle-pnsgd", {**RUN, "n": 1000, "index": 10}),
    ("shuffle-pnsgd", {**RUN, "n": 50, "epochs": 2, "bound": "shuffled-contraction"}),
    ("online-noise", {**RUN, "n": 30, "index": 10, "c1": 100, "c2": 100, "decay": 1.5, "sigma": None}),
    ("burn-in", {**RUN, "n": 1000, "batch_size": 10, "steps": 1000}),
    ("burn-in", {**RUN, "n": 10, "batch_size": 10, "steps": 20}),
    ("noise-feedback", {"curvature": 0.7, "learning_rate": 0.1, "sigma": 2, "steps": 6, "lipschitz": 1}),
])
def test_in_json(command, options):
    said = answer(command, delta=1e-3, **{k: v for k, v in options.items() if v is not None})
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
                         [("without-replacement", 10), ("full", None), ("fixed-order", 10), ("shuffled", 10)])
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
    assert "not depend on the data" in call(["explain", command, "--json"])[1]
