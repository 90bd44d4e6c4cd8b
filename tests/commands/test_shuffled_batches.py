"""dpcalc subsample --scheme shuffle: a guarantee from above, the loss of one run from below, and what is said of other
ways to form batches."""

import json
import random
from itertools import pairwise
from math import inf, sqrt
from pathlib import Path

import pytest
from answers import answer, number
from calling import call
from conftest import slow

CASES = [case for case in json.loads((Path(__file__).parents[1] / "golden" / "sampling.json").read_text())["cases"]
         if case["kind"] == "shuffle"]
RUN = "subsample --scheme shuffle --n 60000 --batch-size 256"


def error(line):
    code, out, err = call(line.split())
    assert (code, out) == (2, ""), out
    return err


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['sigma']}-{case['T']}-{case['epochs']}")
@pytest.mark.parametrize("adjacency, key", [("zero-out", "zero_out"), ("replace-one", "replace")])
def test_golden(case, adjacency, key):
    result = answer(f"subsample --scheme shuffle --steps-per-epoch {case['T']} --epochs {case['epochs']} "
                    f"--noise-multiplier {case['sigma']} --delta {case['delta']} --adjacency {adjacency}")["result"]
    assert result["epsilon"] == pytest.approx(case[f"{key}_upper"], rel=1e-3)
    assert case[f"{key}_lower"] * (1 - 2e-3) <= result["epsilon_lower"] <= result["epsilon"]
    assert (result["steps_per_epoch"], result["epochs"], result["steps"]) == (case["T"], case["epochs"],
                                                                             case["T"] * case["epochs"])


def test_records_that_are_left_out_lower_the_lower_end():
    """n = 60000 and b = 256: 96 records of every epoch are in none of its 234 full batches."""
    for sigma, epsilon in ((1.1, 6.0017), (0.8, 18.130)):
        result = answer(f"{RUN} --epochs 15 --sigma {sigma} --delta 1e-5 --adjacency zero-out")["result"]
        assert result["epsilon_lower"] == pytest.approx(epsilon, rel=1e-3)
    few = "subsample --scheme shuffle --epochs 10 --noise-multiplier 1 --delta 1e-5 --adjacency"
    for adjacency in ("zero-out", "replace-one"):
        left_out = answer(f"{few} {adjacency} --n 159 --batch-size 10")["result"]["epsilon_lower"]
        assert left_out < 0.99 * answer(f"{few} {adjacency} --n 150 --batch-size 10")["result"]["epsilon_lower"]


def test_the_upper_end_is_that_of_one_step_on_all_records_for_every_epoch():
    for adjacency, sensitivity in (("zero-out", 1), ("replace-one", 2)):
        for ask in ("--delta 1e-5", "--epsilon 3", "--alpha 7"):
            whole = number(f"rdp --sigma 3 --sensitivity {sensitivity} --steps 4 {ask}")
            assert number(f"{RUN} --epochs 4 --noise-multiplier 3 --adjacency {adjacency} {ask}") == pytest.approx(
                whole, rel=1e-9)


def test_zero_out_is_the_default_and_adding_is_refused():
    found = answer(f"{RUN} --epochs 2 --noise-multiplier 3 --delta 1e-5")
    assert found == {**answer(f"{RUN} --epochs 2 --noise-multiplier 3 --delta 1e-5 --adjacency zero-out"),
                     **{key: found[key] for key in ("parameters", "options")}}
    assert found["adjacency"] == "zero-out" and found["bound"] == "shuffle-no-amplification"
    assert "one record more would change the other batches" in error(
        f"{RUN} --epochs 2 --noise-multiplier 3 --delta 1e-5 --adjacency add-remove")


def test_an_incomplete_epoch_counts_from_above_and_not_from_below():
    def ends(run):
        result = answer(f"{RUN} {run} --noise-multiplier 2 --delta 1e-5 --adjacency zero-out")["result"]
        return result["epsilon"], result.get("epsilon_lower", 0.0)

    two, three = ends("--epochs 2"), ends("--epochs 3")
    assert ends("--steps 468") == two and ends("--steps 469") == ends("--epochs 2.5") == (three[0], two[1])
    assert ends("--steps 233") == (ends("--epochs 1")[0], 0.0)


@pytest.mark.parametrize("adjacency", ["zero-out", slow("replace-one")])
def test_monotone_in_epochs_and_noise(adjacency):
    def ends(epochs, noise):
        result = answer(f"{RUN} --epochs {epochs} --noise-multiplier {noise} --delta 1e-5 --adjacency {adjacency}"
                        )["result"]
        assert 0 <= result["epsilon_lower"] <= result["epsilon"]
        return result["epsilon_lower"], result["epsilon"]

    by_epochs = [ends(epochs, 1.5) for epochs in (1, 3, 40)]
    by_noise = [ends(5, noise) for noise in (8, 1, 0.5)]
    for series in (by_epochs, by_noise):
        assert all(a[k] < b[k] for a, b in pairwise(series) for k in (0, 1))


@pytest.mark.parametrize("unknown, rest", [("noise-multiplier", "--epochs 15"), ("sigma", "--epochs 15"),
                                           ("epochs", "--noise-multiplier 5"), ("steps", "--noise-multiplier 5")])
def test_solutions_meet_the_budget(unknown, rest):
    x = number(f"{RUN} {rest} --epsilon 8 --delta 1e-5 --solve {unknown}")
    assert number(f"{RUN} {rest} --{unknown} {x!r} --delta 1e-5") <= 8
    worse = x * 0.999 if unknown in ("noise-multiplier", "sigma") else x + 1
    assert number(f"{RUN} {rest} --{unknown} {worse!r} --delta 1e-5") > 8


def test_the_number_of_epochs_is_whole_and_that_of_steps_is_that_of_whole_epochs():
    budget = "--noise-multiplier 5 --epsilon 8 --delta 1e-5"
    epochs = number(f"{RUN} {budget} --solve epochs")
    assert epochs == int(epochs) and number(f"{RUN} {budget} --solve steps") == 234 * epochs


@pytest.mark.parametrize("line, words", [
    (f"{RUN} --noise-multiplier 5 --delta 1e-5", "add --epochs, or --steps"),
    (f"{RUN} --steps-per-epoch 9 --epochs 1 --noise-multiplier 5 --delta 1e-5", "--steps-per-epoch, or --n and"),
    ("subsample --scheme shuffle --epochs 1 --noise-multiplier 5 --delta 1e-5", "add --n and --batch-size, or"),
    (f"{RUN} --epochs 1 --steps 234 --noise-multiplier 5 --delta 1e-5", "give --steps or --epochs, not both"),
    ("subsample --scheme shuffle --n 10 --batch-size 11 --epochs 1 --noise-multiplier 5 --delta 1e-5", "above n = 10"),
    (f"{RUN} --epochs 1 --sampling-rate .1 --noise-multiplier 5 --delta 1e-5", "--sampling-rate: not used"),
    (f"{RUN} --epochs 1 --mechanism laplace --scale 5 --delta 1e-5", "--mechanism gaussian only"),
    ("subsample --scheme shuffle --batch-size 9 --epochs 1 --noise-multiplier 5 --epsilon 1 --delta 1e-5 --solve n",
     "n does not change what is proven"),
    (f"{RUN} --epochs 1 --epsilon 1 --delta 1e-5 --solve sigma --bound shuffle-lower", "'shuffle-lower' is not a bound"),
])
def test_refusals(line, words):
    assert words in error(line)


def test_one_epoch_is_the_default_of_steps_per_epoch_and_is_said():
    batches = "--scheme shuffle --steps-per-epoch 100 --delta 1e-5"
    for line, stdin in ((f"subsample {batches} --noise-multiplier 5", ""),
                        (f"subsample - {batches}", call(["rdp", "--sigma", "5", "--json"]).stdout)):
        code, out, _ = call(line.split(), stdin)
        assert code == 0 and "for one epoch" in out.splitlines()[0]
        assert "the guarantee is for one epoch only" in call([*line.split(), "-q"], stdin)[2]


def test_a_poisson_number_is_refused_with_the_reason():
    for rest, says in (("--noise-multiplier 1.1 --delta 1e-5", "for which it gives ε = 1.13"),
                       ("--epsilon 2 --delta 1e-5 --solve noise-multiplier", "noise multiplier = 0.83")):
        text = error(f"{RUN} --epochs 15 {rest} --adjacency zero-out --bound poisson-profile")
        assert says in text and "no guarantee for shuffled batches" in text
    assert "true ε is between 6.002" in error(f"{RUN} --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency "
                                              "zero-out --bound poisson-rdp")


def test_the_page_says_what_is_known_and_what_random_allocation_gives():
    code, out, _ = call(f"{RUN} --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency zero-out".split())
    text = " ".join(out.split())
    assert code == 0 and "The true ε is between 6.002" in text and "no theorem in dpcalc proves less than ε = 20.5623" in text
    allocated = number("subsample --scheme random-allocation --steps-per-epoch 234 --epochs 15 --noise-multiplier 1.1 "
                       "--adjacency zero-out --delta 1e-5")
    assert f"has ε = {allocated:.4f}" in text


def test_poisson_answers_point_to_shuffled_batches_once():
    promises = answer("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5")["promises"]
    assert sum("--scheme shuffle" in promise for promise in promises) == 1


def test_a_guarantee_of_mechanisms_that_may_lose_less_has_no_lower_end():
    piped = json.dumps({"kind": "gdp", "mu": 0.4})
    line = "subsample - --scheme shuffle --steps-per-epoch 50 --epochs 3 --delta 1e-5 --json"
    code, out, err = call(line.split(), piped)
    assert code == 0, err
    found = json.loads(out)
    assert "epsilon_lower" not in found["result"] and len(found["bounds"]) == 1
    assert found["result"]["epsilon"] == pytest.approx(number(f"convert --from gdp --mu {0.4 * sqrt(3)} --delta 1e-5"),
                                                      rel=1e-9)


def test_the_guarantee_composes():
    code, out, err = call(f"{RUN} --epochs 4 --noise-multiplier 3 --delta 1e-5 --json".split())
    assert code == 0, err
    code, again, err = call(["convert", "-", "--delta", "1e-5", "--steps", "2", "--json"], out)
    assert code == 0, err
    found = json.loads(again)
    assert found["adjacency"] == "zero-out" and "epsilon_lower" not in found["result"]
    assert found["result"]["epsilon"] == pytest.approx(number(f"{RUN} --epochs 8 --noise-multiplier 3 --delta 1e-5"),
                                                      rel=1e-9)


@pytest.mark.parametrize("noise, epochs, n, b", [(1e-3, 1, 10, 10), (1e4, 10**4, 10**6, 7), (0.02, 3, 11, 2), (5, 1, 2, 1)])
def test_extremes_have_finite_ends_in_order(noise, epochs, n, b):
    for adjacency in ("zero-out", "replace-one"):
        result = answer(f"subsample --scheme shuffle --n {n} --batch-size {b} --epochs {epochs} --noise-multiplier {noise}"
                        f" --delta 1e-12 --adjacency {adjacency}")["result"]
        assert 0 <= result.get("epsilon_lower", 0.0) <= result["epsilon"] < inf


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_compare_gives_the_same_ends_and_names_other_batches(adjacency):
    same = f"--n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency {adjacency}"
    compared, sampled = answer(f"compare --batches shuffled {same}"), answer(f"subsample --scheme shuffle {same}")
    for key in ("epsilon", "epsilon_lower"):
        assert compared["result"][key] == pytest.approx(sampled["result"][key], rel=1e-6)
    assert compared["bound"] == "shuffle-no-amplification" and compared["adjacency"] == adjacency
    assert {w["options"].get("batches") for w in compared["what_if"]} >= {"poisson", "random-allocation"}
    last = answer(f"compare --batches shuffled {same} --release every-epoch")["result"]
    assert last["epsilon"] == pytest.approx(sampled["result"]["epsilon"]) and "epsilon_lower" not in last


def test_subsample_and_compare_answer_the_same_for_one_run():
    """ε (or δ, or the noise of a budget), the lower end, the neighbours and the note on records that are left out, with
    and without --adjacency, for one record and for groups."""
    rng, seen = random.Random(64), set()
    for k in range(8):
        batch_size, unit = rng.randint(1, 40), rng.choice(("epochs", "steps"))
        run = (f"--n {batch_size * rng.randint(2, 30) + rng.randrange(batch_size)} --batch-size {batch_size} "
               f"--{unit} {rng.choice((1, 1.5, 4)) if unit == 'epochs' else rng.randint(1, 90)} "
               f"{('', '--adjacency zero-out', '--adjacency replace-one')[k % 3]} {('', '--group-size 3')[k % 2]} ")
        noise = f"--noise-multiplier {rng.uniform(1, 5):.3g}"
        asked = (f"{noise} --delta 1e-5", f"{noise} --epsilon 2", "--epsilon 3 --delta 1e-5 --solve noise-multiplier")[k % 3]
        sampled, compared = (answer(f"{line} {run} {asked}") for line in
                             ("subsample --scheme shuffle", "compare --batches shuffled"))
        assert compared["bound"] == sampled["bound"] and compared["adjacency"] == sampled["adjacency"]
        for key in sampled["result"].keys() & {"epsilon", "epsilon_lower", "delta", "delta_lower", "noise_multiplier"}:
            assert compared["result"][key] == pytest.approx(sampled["result"][key], rel=1e-12)
            seen.add(key)
        (note,) = [x for x in sampled["notes"] if x.startswith("a pass is ")]
        assert note in compared["notes"]
    assert seen >= {"epsilon", "epsilon_lower", "delta", "noise_multiplier"}
    default = "--n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5"
    assert number(f"compare --batches shuffled {default}") == pytest.approx(20.5623, rel=1e-5)
    assert number(f"compare --batches shuffled {default} --adjacency replace-one") == pytest.approx(54.0459, rel=1e-5)


def test_groups_lose_what_one_record_with_their_whole_weight_loses():
    """Together K records move the sums of an epoch by at most K clipping norms."""
    for adjacency in ("zero-out", "replace-one"):
        line = f"{RUN} --epochs 4 --delta 1e-5 --adjacency {adjacency} --noise-multiplier"
        assert number(f"{line} 6 --group-size 3") == pytest.approx(number(f"{line} 2"), rel=1e-12)
    done = call(f"{RUN} --epochs 4 --delta 1e-5 --noise-multiplier 6 --group-size 3 --json".split()).stdout
    assert call(["verify", "-"], done).returncode == 0
    again = json.loads(call(["convert", "-", "--delta", "1e-5", "--json"], done).stdout)
    assert again["result"]["epsilon"] == pytest.approx(json.loads(done)["result"]["epsilon"], rel=1e-12)


def test_the_neighbours_of_the_last_iterate_are_those_of_its_theorems():
    run = "compare --batches shuffled --n 600 --batch-size 10 --epochs 3 --noise-multiplier 2 --delta 1e-5"
    last = "--release last-iterate --loss convex --lipschitz 1 --smoothness 1 --learning-rate 1"
    assert answer(f"{run} --release last-iterate")["adjacency"] == "zero-out"
    found = answer(f"{run} {last}")
    assert (found["adjacency"], found["bound"]) == ("replace-one", "shuffled-hiding-last")


def test_compare_covers_random_allocation():
    for adjacency in ("add-remove", "replace-one"):
        run = f"--epochs 3 --noise-multiplier 1 --delta 1e-5 --adjacency {adjacency}"
        compared = answer(f"compare --batches random-allocation --n 60000 --batch-size 256 {run}")
        assert compared["result"]["epsilon"] == pytest.approx(number(
            f"subsample --scheme random-allocation --steps-per-epoch 234 {run}"))
