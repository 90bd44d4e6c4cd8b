"""dpcalc subsample --scheme random-allocation: answers, lower ends, solutions, pipes, and what is refused."""

import json
import math

import pytest
from calling import call
from conftest import slow

from dpcalc import DpcalcError, answer, solve

RUN = {"scheme": "random-allocation", "steps_per_epoch": 100, "epochs": 10, "noise_multiplier": 1.0}
REPLACED = {**RUN, "adjacency": "replace-one"}
BOTH = pytest.mark.parametrize("run", [RUN, REPLACED], ids=["added", "replaced"])
ONE = pytest.mark.parametrize("run", [RUN, slow(REPLACED)], ids=["added", "replaced"])  # of both, where they take long
LINE = ("subsample", "--scheme", "random-allocation")


def record(*args):
    done = call([*LINE, *args, "--json"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(*args):
    done = call([*LINE, *args])
    assert done.returncode in (2, 3) and not done.stdout
    return done.stderr


@pytest.mark.slow
def test_an_answer_lies_between_its_ends():
    found = record("--steps-per-epoch", "1000", "--epochs", "10", "--noise-multiplier", "1", "--delta", "1e-6")
    result = found["result"]
    assert 0.53975 <= result["epsilon"] <= 0.5403 * 1.002 and found["bound"] == "allocation-profile"
    assert 0.9985 * result["epsilon"] <= result["epsilon_lower"] < result["epsilon"]
    assert (result["steps_per_epoch"], result["epochs"]) == (1000, 10)
    assert [row["status"] for row in found["bounds"]] == ["proven", "lower"]
    assert found["guarantee"]["mechanisms"] == [{
        "name": "gaussian", "noise_multiplier": 1.0, "count": 10,
        "sampling": {"scheme": "random-allocation", "steps_per_epoch": 1000}}]


def test_records_and_batch_size_give_the_steps():
    by_batch = answer("subsample", scheme="random-allocation", n=1000, batch_size=10, epochs=10, noise_multiplier=1.0,
                      delta=1e-6)
    assert by_batch.value == answer("subsample", **RUN, delta=1e-6).value


def test_zero_out_neighbours_have_the_same_epsilon():
    assert (answer("subsample", **RUN, adjacency="zero-out", delta=1e-6).value
            == answer("subsample", **RUN, delta=1e-6).value)


@pytest.mark.slow
def test_a_replaced_record_loses_more_than_one_that_is_removed_and_less_than_two_of_them():
    """Removing one and adding another is at most δ(ε/2)·(1 + e^{ε/2})."""
    found = record("--steps-per-epoch", "100", "--epochs", "10", "--noise-multiplier", "1", "--delta", "1e-6",
                   "--adjacency", "replace-one")
    epsilon = found["result"]["epsilon"]
    assert (epsilon - found["result"]["epsilon_lower"]) / epsilon <= 1e-3
    assert epsilon > answer("subsample", **RUN, delta=1e-6).value
    half = answer("subsample", **RUN, epsilon=epsilon / 2).value
    assert half * (1 + math.exp(epsilon / 2)) > 1e-6
    assert found["guarantee"]["mechanisms"] == [{
        "name": "gaussian", "noise_multiplier": 1.0, "between": "add-remove", "sum": True, "count": 10,
        "sampling": {"scheme": "random-allocation", "steps_per_epoch": 100}}]


@ONE
def test_delta_and_epsilon_are_inverse(run):
    epsilon = answer("subsample", **run, delta=1e-6).value
    back = answer("subsample", **run, epsilon=epsilon)
    assert 0.97e-6 <= back.value <= 1.03e-6


@ONE
@pytest.mark.parametrize("name", [slow("noise_multiplier"), "epochs"])
def test_solutions_meet_the_budget_and_are_sharp(name, run):
    run = {k: v for k, v in run.items() if k != name}
    x = solve("subsample", name, **run, epsilon=1.5, delta=1e-6).value
    assert answer("subsample", **run, **{name: x}, delta=1e-6).value <= 1.5
    worse = x + 1 if name == "epochs" else x * 0.99
    assert answer("subsample", **run, **{name: worse}, delta=1e-6).value > 1.5
    assert name != "epochs" or x == int(x)


def test_several_participations_cost_more_and_have_no_lower_end():
    one, three = (record("--steps-per-epoch", "100", "--epochs", "1", "--participations", k, "--noise-multiplier", "1",
                         "--delta", "1e-6") for k in ("1", "3"))
    assert three["result"]["epsilon"] > one["result"]["epsilon"] and "epsilon_lower" not in three["result"]
    assert three["guarantee"]["upper_bound"] is True
    assert [(part["sampling"]["steps_per_epoch"], part["count"]) for part in three["guarantee"]["mechanisms"]] == [
        (33, 2), (34, 1)]


@pytest.mark.parametrize("steps, epochs, more", [
    (100, 5, ()), (100, 5, ("--participations", "3")), (2, 3, ("--adjacency", "replace-one")),
    slow(100, 5, ("--adjacency", "replace-one"))])
def test_a_pipe_composes_the_same_run(steps, epochs, more):
    run = call([*LINE, "--steps-per-epoch", steps, "--epochs", epochs, "--noise-multiplier", "1", "--delta", "1e-6", *more,
                "--json"])
    piped = call(["convert", "-", "--delta", "1e-6", "--json"], run.stdout)
    assert piped.returncode == 0, piped.stderr
    one, other = (json.loads(done.stdout)["result"]["epsilon"] for done in (run, piped))
    assert other == pytest.approx(one, rel=1e-3)


def test_allocation_is_close_to_poisson_sampling_here():
    """No theorem, but a mistake of a factor in either would show."""
    poisson = answer("subsample", sampling_rate=0.01, steps=1000, noise_multiplier=1.0, delta=1e-6).value
    assert 0.8 * poisson < answer("subsample", **RUN, delta=1e-6).value < poisson


@ONE
def test_total_variation_is_delta_at_zero(run):
    found = answer("tv", **run)
    assert found.value == answer("subsample", **run, epsilon=0).value
    others = {name: x for name, x in run.items() if name != "noise_multiplier"}
    assert solve("tv", "noise_multiplier", **others, tv=found.value).value == pytest.approx(1, rel=2e-3)


def test_an_epoch_is_not_given_in_steps():
    with pytest.raises(DpcalcError, match="whole epochs"):
        answer("tv", scheme="random-allocation", steps_per_epoch=100, steps=2, noise_multiplier=1.0)


def test_the_bounds_are_explained():
    for name in ("allocation-profile", "allocation-lower"):
        done = call(["explain", name])
        assert done.returncode == 0 and "independently of all other records" in " ".join(done.stdout.split())


def test_the_answer_says_who_draws_the_step():
    done = call([*LINE, "--steps-per-epoch", "10", "--noise-multiplier", "1", "--delta", "1e-6"])
    assert "for one epoch" in done.stdout and "shuffled" in done.stdout
    statement = call([*LINE, "--steps-per-epoch", "10", "--epochs", "3", "--noise-multiplier", "1", "--delta", "1e-6",
                      "--format", "statement"]).stdout
    assert "each record takes part in one of 10 steps" in " ".join(statement.split())


NOISE = ("--noise-multiplier", "1", "--delta", "1e-6")


@pytest.mark.parametrize(("args", "words"), [
    (("--steps-per-epoch", "10", "--steps", "30", *NOISE), ("--steps", "whole epochs", "--epochs")),
    (("--n", "1000", "--batch-size", "30", "--epochs", "1", *NOISE), ("1000/30", "not whole", "--steps-per-epoch 33")),
    (("--n", "1000", "--batch-size", "10", *NOISE), ("--epochs",)),
    (("--n", "1000", "--batch-size", "10", "--steps-per-epoch", "100", "--epochs", "1", *NOISE), ("not both",)),
    (NOISE, ("--steps-per-epoch",)),
    (("--steps-per-epoch", "10", "--epochs", "1.5", *NOISE), ("1.5", "whole")),
    (("--steps-per-epoch", "10", "--epochs", "1", "--participations", "11", *NOISE), ("--participations", "11", "10")),
    (("--steps-per-epoch", "10", "--mechanism", "laplace", "--scale", "1", "--delta", "1e-6"), ("gaussian only",)),
    (("--steps-per-epoch", "10", "--epochs", "1", "--noise-multiplier", "1", "--alpha", "4"), ("--alpha", "--delta")),
    (("--steps-per-epoch", "10", "--epochs", "1", "--noise-multiplier", "0.02", "--delta", "1e-6"), ("0.02", "small")),
    (("--steps-per-epoch", "10", "--epochs", "1", "--noise-multiplier", "1", "--delta", "1e-98"), ("--delta", "too small")),
    (("--n", "1000", "--epochs", "2", "--noise-multiplier", "1", "--epsilon", "1", "--delta", "1e-6", "--solve",
      "batch-size"), ("--solve", "noise-multiplier or epochs")),
    (("--sampling-rate", "0.1", *NOISE), ("--sampling-rate", "random-allocation")),
])
def test_refusals_say_what_to_do(args, words):
    text = refusal(*args)
    assert all(word in text for word in words), text
    assert "Traceback" not in text
