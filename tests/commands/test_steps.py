"""A run is as long as its description says: no silent single step, and the headline says where one step is meant."""

import json
import re

import pytest
from calling import call

from dpcalc import DpcalcError, answer, solve

NEEDED = "--steps: add --steps (number of steps) or --epochs"


@pytest.mark.parametrize("line", [
    "subsample --n 1000 --batch-size 10 --sigma 1 --delta 1e-5",
    "subsample --n 1000 --batch-size 10 --noise-multiplier 1 --json",
    "subsample --n 1000 --batch-size 10 --solve sigma --epsilon 1 --delta 1e-5",
    "subsample --n 1000 --solve batch-size --sigma 1 --epsilon 1 --delta 1e-5",
    "subsample --n 1000 --batch-size 10 --sigma 1 --alpha 3", "tv --n 1000 --batch-size 10 --sigma 1",
    "tv --n 1000 --batch-size 10 --tv .1 --solve sigma",
    "compare --batches poisson --n 1000 --batch-size 10 --noise-multiplier 1 --delta 1e-5",
])
def test_batches_need_a_number_of_steps(line):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (2, "") and "--steps" in done.stderr and "or --epochs" in done.stderr


def test_a_batch_of_lines_and_the_python_api_need_it_too():
    done = call(["subsample", "--batch"], '{"n": 1000, "batch_size": 10, "sigma": 1, "delta": 1e-5}\n')
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["option"] == "--steps"
    with pytest.raises(DpcalcError, match=re.escape(NEEDED)):
        answer("subsample", n=1000, batch_size=10, sigma=1, delta=1e-5)
    with pytest.raises(DpcalcError, match=re.escape(NEEDED)):
        answer("subsample", inputs=[answer("rdp", sigma=1, delta=0.1)], n=1000, batch_size=10, delta=1e-5)


def test_what_is_solved_for_or_is_one_step_by_nature_needs_none():
    assert solve("subsample", "steps", n=1000, batch_size=10, sigma=1, epsilon=1, delta=1e-5).value > 1
    assert solve("subsample", "epochs", n=1000, batch_size=10, sigma=1, epsilon=1, delta=1e-5).value > 0
    assert answer("subsample", n=1000, batch_size=10, epsilon=1, delta=1e-5).result["delta"] == pytest.approx(1e-7)
    assert answer("tv", n=1000, sigma=1).value == pytest.approx(0.382925, rel=1e-5)  # n records beside one release


@pytest.mark.parametrize(("line", "said"), [
    ("subsample --sampling-rate .01 --sigma 1 --delta 1e-5", True),
    ("subsample --sampling-rate .01 --sigma 1 --steps 1 --delta 1e-5", False),
    ("subsample --sampling-rate .01 --epsilon 1 --delta 1e-5 --solve noise-multiplier", True),
    ("tv --sampling-rate .01 --sigma 1", True),
    ("subsample --sampling-rate .01 --sigma 1 --epochs 1 --delta 1e-5", False),
    ("subsample --scheme weighted --max-weight .01 --sigma 1 --delta 1e-5", True),
    ("subsample --sampling-rate .01 --sigma 1 --epsilon 1 --delta 1e-5 --solve steps", False),
    ("rdp --sigma 1 --delta 1e-5", False),
])
def test_the_headline_says_for_one_step(line, said):
    assert ("for one step (" in call(line.split()).stdout.partition("\n")[0]) == said


@pytest.mark.parametrize(("line", "said"), [
    ("subsample --n 1000 --batch-size 10 --steps 5 --sigma 1 --delta 1e-5", True),
    ("subsample --n 1000 --batch-size 10 --epsilon 1 --delta 1e-5", True),
    ("subsample --n 1000 --solve batch-size --steps 5 --sigma 1 --epsilon 1 --delta 1e-5", True),
    ("subsample --n 1000 --batch-size 10 --steps 5 --adjacency replace-one --noise-multiplier 1 --delta 1e-5",
     True),
    ("subsample --n 1000 --batch-size 10 --steps 5 --mechanism laplace --scale 1 --delta 1e-5", True),
    ("tv --n 1000 --batch-size 10 --steps 5 --sigma 1", True),
    ("compare --batches poisson --n 1000 --batch-size 10 --steps 5 --noise-multiplier 1 --delta 1e-5", True),
    ("subsample --sampling-rate .01 --steps 5 --sigma 1 --delta 1e-5", False),
    ("tv --n 1000 --sampling-rate .01 --sigma 1", False),
    ("subsample --n 1000 --batch-size 10 --steps 5 --scheme without-replacement --sigma 2 --delta 1e-5", False),
    ("compare --batches without-replacement --n 1000 --batch-size 10 --steps 5 --noise-multiplier 1 --delta 1e-5",
     False),
])
def test_an_answer_for_poisson_batches_says_that_a_shuffling_loader_is_not_covered(line, said):
    notes = json.loads(call([*line.split(), "--json"]).stdout)["notes"]
    assert sum("for a loader that shuffles" in note for note in notes) == said


@pytest.mark.parametrize(("rate", "epochs", "steps"),
                         [("1/49", 50, 2450), (.01, 50, 5000), ("1/3", 50, 150), (.02048, 50, 2442), ("1/7", "1/7", 1)])
def test_epochs_of_a_rate_that_is_a_ratio_are_whole_steps(rate, epochs, steps):
    """The double next to 1/49 is a little less: 50 epochs were 2451 steps."""
    run = answer("subsample", sampling_rate=rate, epochs=epochs, noise_multiplier=1, delta=1e-5, bound="poisson-rdp")
    assert run.guarantee["mechanisms"][0]["count"] == steps


def test_a_sweep_says_so_once_for_all_its_points():
    table = call(["subsample", "--n", "1000", "--batch-size", "10", "--steps", "5,10", "--sigma", "1", "--delta",
                  "1e-5"]).stdout
    assert table.count("for a loader that shuffles") == 1 and "one step" not in table
    assert "Released: every step's output, for one step." in call(["subsample", "--sampling-rate", ".01,.02", "--sigma",
                                                                   "1", "--delta", "1e-5"]).stdout
