"""Bounds from below that are named alone: each answers every question that it is about, and none of them is a bound from
above where there is hardly any noise."""

import pytest
from answers import answer
from calling import call
from conftest import slow

RUNS = {
    "truncated-poisson-lower": "--n 1000 --batch-size 20 --max-batch-size 25 --steps 10 --noise-multiplier {}",
    "allocation-lower": "--scheme random-allocation --steps-per-epoch 20 --epochs 2 --noise-multiplier {}",
    "shuffle-lower": "--scheme shuffle --n 100 --batch-size 30 --epochs 2 --noise-multiplier {}",
    "shuffle-lower-allocation": "--scheme shuffle --n 100 --batch-size 30 --epochs 2 --noise-multiplier {}",
}
QUESTIONS = {"epsilon": "--delta 1e-4", "delta": "--epsilon 0.3"}


@pytest.mark.parametrize("name", [slow(name) if name.startswith("shuffle") else name for name in RUNS])
@pytest.mark.parametrize("asks", QUESTIONS)
def test_every_form_of_output_has_the_number(name, asks):
    line = f"subsample {RUNS[name].format(1.1)} {QUESTIONS[asks]}"
    alone = answer(f"{line} --bound {name}")
    (row,) = [row for row in answer(line)["bounds"] if row["name"] == name]
    assert alone["status"] == "lower" and 0 < alone["result"][asks] == row[asks]
    for form in ("table", "csv", "markdown", "statement"):
        code, out, _ = call([*line.split(), "--bound", name, "--format", form])
        assert code == 0 and out


@pytest.mark.parametrize("name", ["truncated-poisson-lower", "allocation-lower"])
def test_total_variation(name):
    found = answer(f"tv {RUNS[name].format(1.1)} --bound {name}")["result"]
    at_zero = answer(f"subsample {RUNS[name].format(1.1)} --bound {name} --epsilon 0")["result"]
    assert found["tv"] == pytest.approx(at_zero["delta"], rel=1e-9) and found["tv"] > 0


@pytest.mark.parametrize("noise", [1e-320, 1e-100, 1e-9, 6e-7])
@pytest.mark.parametrize("name", RUNS)
def test_hardly_any_noise_is_refused_or_shows_what_it_can(name, noise):
    line = f"subsample {RUNS[name].format(noise)} --epsilon 1 --bound {name}"
    code, _, err = call(line.split())
    assert code == 0 or (code == 2 and "noise" in err and "fault" not in err), err
    if code == 0:
        assert 0 <= answer(line)["result"]["delta"] <= 1


def test_a_guarantee_for_hardly_any_noise_has_no_lower_end():
    """At a noise multiplier of 6e-7 all losses are below 20/(2z²) = 2.8e13, and δ at ε = 1e15 is 0."""
    line = f"subsample {RUNS['truncated-poisson-lower'].format(6e-7)} --epsilon 1e15"
    found = answer(line)["result"]
    assert found["delta"] > 0.1 and "delta_lower" not in found
    code, _, err = call([*line.split(), "--bound", "truncated-poisson-lower"])
    assert code == 2 and "--noise-multiplier: no lower bound is computed for so little noise" in err


@pytest.mark.parametrize("noise", [1e-320, 1e-160, 1e15, 1e18, 1e200])
@pytest.mark.parametrize("steps", [1, 2, 1000])
def test_allocation_with_noise_out_of_range_is_refused(noise, steps):
    line = (f"subsample --scheme random-allocation --steps-per-epoch {steps} --epochs 1 --noise-multiplier {noise} "
            "--epsilon 1")
    code, _, err = call(line.split())
    assert code == 2 and "--noise-multiplier: random allocation is computed for noise multipliers from" in err


@pytest.mark.parametrize("adjacency", [slow("zero-out"), "replace-one"])
def test_an_epoch_of_one_batch_that_leaves_records_out(adjacency):
    """n = 100 and b = 60: a record is in the batch with probability 0.6."""
    result = answer("subsample --scheme shuffle --n 100 --batch-size 60 --epochs 3 --noise-multiplier 1.1 --delta 1e-5 "
                    f"--adjacency {adjacency}")["result"]
    assert 0.5 * result["epsilon"] < result["epsilon_lower"] < result["epsilon"]


def test_a_rate_near_the_least_doubles_is_refused():
    line = "subsample --n 5 --sampling-rate 1e-310 --max-batch-size 3 --noise-multiplier 1 --steps 1 --epsilon 0.1"
    code, _, err = call(line.split())
    assert code == 2 and "--sampling-rate: 1e-310 is not ≥ 1e-300" in err
