"""A run is as long as its description says: no silent single step, and every format says where one step is meant."""

import json
import re

import pytest
from calling import call
from conftest import slow, spread

from dpcalc import DpcalcError, answer, solve

NEEDED = "--steps: add --steps (number of steps) or --epochs; --steps 1 asks for one step"
POINT = "subsample --sampling-rate .01 --epsilon 1 --delta 1e-6"


@pytest.mark.parametrize("line", [
    "subsample --n 1000 --batch-size 10 --sigma 1 --delta 1e-5",
    "subsample --n 1000 --batch-size 10 --noise-multiplier 1 --json",
    "subsample --n 1000 --batch-size 10 --solve sigma --epsilon 1 --delta 1e-5",
    "subsample --n 1000 --solve batch-size --sigma 1 --epsilon 1 --delta 1e-5",
    "subsample --n 1000 --batch-size 10 --sigma 1 --alpha 3", "tv --n 1000 --batch-size 10 --sigma 1",
    "tv --n 1000 --batch-size 10 --tv .1 --solve sigma",
    "compare --batches poisson --n 1000 --batch-size 10 --noise-multiplier 1 --delta 1e-5",
    "subsample --sampling-rate 1/49 --noise-multiplier 1.6 --delta 1e-5 -q",
    "subsample --sampling-rate .01 --epsilon 1 --delta 1e-5 --solve noise-multiplier",
    "subsample --sampling-rate .01 --sigma 1 --json", "tv --sampling-rate .01 --sigma 1",
    "tv --n 1000 --sampling-rate .01 --sigma 1", "tv --sampling-rate .01 --tv .1 --solve sigma",
    "subsample --n 100 --sampling-rate .1 --max-batch-size 20 --noise-multiplier 2 --delta 1e-5",
    "subsample --scheme cyclic-poisson --bands 2 --sampling-rate .1 --noise-multiplier 2 --delta 1e-5",
    "subsample --scheme without-replacement --sampling-rate .1 --sigma 1 --delta 1e-5",
])
def test_batches_need_a_number_of_steps(line):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (2, "") and "--steps" in done.stderr and "or --epochs" in done.stderr


def test_a_batch_of_lines_and_the_python_api_need_it_too():
    done = call(["subsample", "--batch"], '{"n": 1000, "batch_size": 10, "sigma": 1, "delta": 1e-5}\n')
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["option"] == "--steps"
    done = call(["ledger", "-", "--delta", "1e-5"],
                '{"release": [{"command": "subsample", "sampling_rate": 0.01, "sigma": 1}]}')
    assert done.returncode == 2 and "--steps 1 asks for one step" in done.stderr
    with pytest.raises(DpcalcError, match=re.escape(NEEDED)):
        answer("subsample", n=1000, batch_size=10, sigma=1, delta=1e-5)
    with pytest.raises(DpcalcError, match=re.escape(NEEDED)):
        answer("subsample", inputs=[answer("rdp", sigma=1, delta=0.1)], n=1000, batch_size=10, delta=1e-5)


@pytest.mark.slow
def test_what_is_solved_for_or_is_one_step_by_nature_needs_none():
    assert solve("subsample", "steps", n=1000, batch_size=10, sigma=1, epsilon=1, delta=1e-5).value > 1
    assert solve("subsample", "epochs", n=1000, batch_size=10, sigma=1, epsilon=1, delta=1e-5).value > 0
    with pytest.warns(UserWarning, match="one step only"):
        one = answer("subsample", n=1000, batch_size=10, epsilon=1, delta=1e-5)
    assert one.result["delta"] == pytest.approx(1e-7)
    assert answer("tv", n=1000, sigma=1).value == pytest.approx(0.382925, rel=1e-5)  # n records beside one release


@spread(("line", "said"), [
    ("subsample - --sampling-rate .01 --delta 1e-5", True),
    ("subsample - --sampling-rate .01 --steps 1 --delta 1e-5", False),
    ("subsample - --scheme weighted --max-weight .01 --adjacency replace-one --delta 1e-5", True),
    ("subsample --scheme weighted --max-weight .01 --sigma 1 --delta 1e-5", True),
    (POINT, True), ("subsample --n 1000 --batch-size 10 --epsilon 1 --delta 1e-6", True),
    ("subsample --sampling-rate .01 --sigma 1 --steps 1 --delta 1e-5", False),
    ("subsample --sampling-rate .01 --sigma 1 --epochs 1 --delta 1e-5", False),
    slow("subsample --sampling-rate .01 --sigma 1 --epsilon 1 --delta 1e-5 --solve steps", False),
    ("rdp --sigma 1 --delta 1e-5", False),
])
def test_every_format_says_for_one_step(line, said):
    """A warning on standard error, but where the headline or the statement says it."""
    mechanism = call(["rdp", "--sigma", "1", "--json"]).stdout
    shown = {more: call([*line.split(), *more.split()], mechanism) for more in (
        "", "-q", "--format csv", "--json", "--format statement")}
    assert ("for one step (" in shown[""].stdout.partition("\n")[0]) == said
    assert shown["--format statement"].stdout.startswith("One step of the training run described below") == said
    assert ("for one step only" in json.loads(shown["--json"].stdout)["notes"]) == said
    for more, done in shown.items():
        in_words = more in ("", "--format statement")
        assert ("warning: the guarantee is for one step only" in done.stderr) == (said and not in_words), more


def test_a_batch_and_the_python_api_say_for_one_step():
    done = call(["subsample", "--batch"], '{"epsilon": 1, "delta": 1e-6, "sampling_rate": 0.01}\n')
    assert json.loads(done.stdout)["notes"] == ["for one step only"] and "for one step only" in done.stderr
    with pytest.warns(UserWarning, match="for one step only"):
        answer("subsample", epsilon=1, delta=1e-6, sampling_rate=0.01)


@spread(("line", "said"), [
    ("subsample --n 1000 --batch-size 10 --steps 5 --sigma 1 --delta 1e-5", True),
    ("subsample --sampling-rate 1/49 --steps 5 --noise-multiplier 1.6 --delta 1e-5", True),
    ("tv --sampling-rate .01 --steps 1 --sigma 1", True), (POINT, True),
    ("subsample --n 100 --sampling-rate .1 --max-batch-size 20 --steps 5 --noise-multiplier 2 --delta 1e-5", True),
    ("subsample --scheme cyclic-poisson --bands 2 --sampling-rate .1 --steps 5 --noise-multiplier 2 --delta 1e-5", True),
    ("subsample --n 1000 --batch-size 10 --epsilon 1 --delta 1e-5", True),
    ("subsample --n 1000 --solve batch-size --steps 5 --sigma 1 --epsilon 1 --delta 1e-5", True),
    ("subsample --n 1000 --batch-size 10 --steps 5 --adjacency replace-one --noise-multiplier 1 --delta 1e-5",
     True),
    ("subsample --n 1000 --batch-size 10 --steps 5 --mechanism laplace --scale 1 --delta 1e-5", True),
    ("tv --n 1000 --batch-size 10 --steps 5 --sigma 1", True),
    ("compare --batches poisson --n 1000 --batch-size 10 --steps 5 --noise-multiplier 1 --delta 1e-5", True),
    ("subsample --n 1000 --batch-size 10 --steps 5 --scheme without-replacement --sigma 2 --delta 1e-5", False),
    ("compare --batches without-replacement --n 1000 --batch-size 10 --steps 5 --noise-multiplier 1 --delta 1e-5",
     False),
])
def test_an_answer_for_poisson_batches_says_that_a_shuffling_loader_is_not_covered(line, said):
    """It is handed on with the guarantee, and printed once."""
    found = json.loads(call([*line.split(), "--json"]).stdout)
    for promises in (found["promises"], found["guarantee"].get("promises", ())):
        assert sum("for a loader that shuffles" in promise for promise in promises) == said
    assert " ".join(call(line.split()).stdout.split()).count("for a loader that shuffles") == said


@spread("reader", ["convert - --delta 1e-4", "ledger - --delta 1e-4", "tv -", "convert - --to tv",
                   "convert - --delta 1e-4 --adjacency replace-one",
                   "convert - --group-size 2 --epsilon 1"])
@pytest.mark.parametrize("keys", [{"promises"}, set()])
def test_pipes_repeat_it_also_where_the_guarantee_was_written_by_hand(reader, keys):
    line = "subsample --sampling-rate 1/49 --steps 5 --noise-multiplier 1.6 --delta 1e-5 --json"
    guarantee = json.loads(call(line.split()).stdout)["guarantee"]
    bare = json.dumps({key: x for key, x in guarantee.items() if key not in keys})
    for more in ((), ("--format", "statement")):
        text = " ".join(call([*reader.split(), *more], bare).stdout.split()).partition("with this command:")[0]
        assert text.count("batches must be Poisson samples") == 1, text


def test_one_number_that_was_made_of_poisson_batches_still_repeats_it():
    run = "subsample --n 1000 --batch-size 10 --steps 5 --mechanism laplace --scale 1 --delta 1e-5 --json"
    point = call(["convert", "-", "--to", "tv", "--json"], call(run.split()).stdout).stdout
    assert json.loads(point)["guarantee"]["kind"] == "tv"
    assert "batches must be Poisson samples" in " ".join(call(["convert", "-", "--delta", ".1"], point).stdout.split())


@pytest.mark.parametrize(("rate", "epochs", "steps"),
                         [("1/49", 50, 2450), (.01, 50, 5000), ("1/3", 50, 150), (.02048, 50, 2442), ("1/7", "1/7", 1)])
def test_epochs_of_a_rate_that_is_a_ratio_are_whole_steps(rate, epochs, steps):
    """The double next to 1/49 is a little less: 50 epochs were 2451 steps."""
    run = answer("subsample", sampling_rate=rate, epochs=epochs, noise_multiplier=1, delta=1e-5, bound="poisson-rdp")
    assert run.guarantee["mechanisms"][0]["count"] == steps


def test_a_sweep_says_so_once_for_all_its_points():
    table = call(["subsample", "--n", "1000", "--batch-size", "10", "--steps", "5,10", "--sigma", "1", "--delta",
                  "1e-5"]).stdout
    assert " ".join(table.split()).count("for a loader that shuffles") == 1 and "one step" not in table
    assert "Released: one output, for one step." in call(["subsample", "--sampling-rate", ".01,.02", "--epsilon", "1",
                                                          "--delta", "1e-5"]).stdout
