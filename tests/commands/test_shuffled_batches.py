"""dpcalc subsample --scheme shuffle: guarantees from above, the loss of one run from below, and what is said of other
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

from dpcalc.core.numbers import human

CASES = [case for case in json.loads((Path(__file__).parents[1] / "golden" / "sampling.json").read_text())["cases"]
         if case["kind"] == "shuffle"]
RUN = "subsample --scheme shuffle --n 60000 --batch-size 256 --drop-last"
USED = "subsample --scheme shuffle --n 60 --batch-size 20"  # every record is used, in so few batches that it is quick
PLAIN = "subsample --scheme shuffle --n 60000 --batch-size 256 --reshuffle once"  # nothing is gained from one order


def error(line):
    code, out, err = call(line.split())
    assert (code, out) == (2, ""), out
    return err


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['sigma']}-{case['T']}-{case['epochs']}")
@pytest.mark.parametrize("adjacency, key", [("zero-out", "zero_out"), ("replace-one", "replace")])
def test_golden(case, adjacency, key):
    result = answer(f"subsample --scheme shuffle --steps-per-epoch {case['T']} --epochs {case['epochs']} "
                    f"--noise-multiplier {case['sigma']} --delta {case['delta']} --adjacency {adjacency}")["result"]
    assert result["epsilon"] == pytest.approx(case[f"{key}_upper"], rel=1e-3)
    assert case[f"{key}_lower"] * (1 - 2e-3) <= result["epsilon_lower"] <= result["epsilon"]
    assert (result["steps_per_epoch"], result["epochs"], result["steps"]) == (case["T"], case["epochs"],
                                                                              case["T"] * case["epochs"])


@pytest.mark.slow
def test_records_that_are_left_out_lower_the_lower_end():
    """n = 60000 and b = 256: 96 records of every epoch are in none of its 234 full batches."""
    for sigma, best_output, attack in ((1.1, 6.0017, 6.1837), (0.8, 18.130, 18.4)):
        result = answer(f"{RUN} --epochs 15 --sigma {sigma} --delta 1e-5 --adjacency zero-out")["result"]
        assert best_output < result["epsilon_lower"] <= attack and result["epsilon_lower"] <= result["epsilon"]
    few = "subsample --scheme shuffle --epochs 10 --noise-multiplier 1 --delta 1e-5 --batch-size 10 --bound"
    for bound in ("shuffle-lower --adjacency zero-out", "shuffle-lower-allocation --adjacency replace-one"):
        left_out, used = (number(f"{few} {bound} --n {n}") for n in (159, 150))
        assert left_out < 0.99 * used


@pytest.mark.slow
def test_one_order_costs_one_step_on_all_records_for_every_epoch():
    for adjacency, sensitivity in (("zero-out", 1), ("replace-one", 2)):
        for ask in ("--delta 1e-5", "--epsilon 3", "--alpha 7"):
            whole = number(f"rdp --sigma 3 --sensitivity {sensitivity} --steps 4 {ask}")
            assert number(f"{PLAIN} --epochs 4 --noise-multiplier 3 --adjacency {adjacency} {ask}") == pytest.approx(
                whole, rel=1e-9)


@pytest.mark.slow
def test_one_order_shows_the_loss_of_its_first_epoch_from_below():
    first, all_epochs = (answer(f"{PLAIN} --epochs {epochs} --noise-multiplier 2 --delta 1e-5")["result"]["epsilon_lower"]
                         for epochs in (1, 4))
    assert first == pytest.approx(all_epochs, rel=1e-3) and first > 0.1


@pytest.mark.slow
def test_zero_out_is_the_default():
    found = answer(f"{RUN} --epochs 2 --noise-multiplier 3 --delta 1e-5")
    assert found == {**answer(f"{RUN} --epochs 2 --noise-multiplier 3 --delta 1e-5 --adjacency zero-out"),
                     **{key: found[key] for key in ("parameters", "options")}}
    assert found["adjacency"] == "zero-out" and found["bound"] == "shuffle-profile"


@pytest.mark.slow
def test_an_unfinished_epoch_counts_from_above_and_not_from_below():
    def ends(run):
        result = answer(f"{RUN} {run} --noise-multiplier 2 --delta 1e-5 --adjacency zero-out")["result"]
        return result["epsilon"], result.get("epsilon_lower", 0.0)

    two, one_step_more, half, three = (ends(run) for run in ("--epochs 2", "--steps 469", "--epochs 2.5", "--epochs 3"))
    assert ends("--steps 468") == two and two[1] == one_step_more[1] == half[1]
    assert two[0] <= one_step_more[0] < half[0] < three[0]
    assert ends("--steps 233")[0] <= ends("--epochs 1")[0] and ends("--steps 233")[1] == 0.0


def test_the_last_smaller_batch_of_an_epoch_is_a_step_where_it_is_used():
    run = "subsample --scheme shuffle --n 50 --batch-size 20 --noise-multiplier 2 --delta 1e-5 --bound shuffle-no-amplification"
    used, dropped, given = (answer(f"{run} {rest}")["result"]["steps"]
                            for rest in ("--epochs 3", "--epochs 3 --drop-last", "--steps 7"))
    assert (used, dropped, given) == (9, 6, 7)


@pytest.mark.slow
@pytest.mark.parametrize("run", [RUN, slow(USED)])
@pytest.mark.parametrize("adjacency", ["zero-out", slow("replace-one")])
def test_monotone_in_epochs_and_noise(adjacency, run):
    def ends(epochs, noise):
        result = answer(f"{run} --epochs {epochs} --noise-multiplier {noise} --delta 1e-5 --adjacency {adjacency}"
                        )["result"]
        assert 0 <= result["epsilon_lower"] <= result["epsilon"]
        return result["epsilon_lower"], result["epsilon"]

    by_epochs = [ends(epochs, 1.5) for epochs in (1, 40)]
    by_noise = [ends(5, noise) for noise in (8, 0.5)]
    for series in (by_epochs, by_noise):
        assert all(a[k] < b[k] for a, b in pairwise(series) for k in (0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("run", [RUN, slow(USED)])
@pytest.mark.parametrize("unknown, rest", [("noise-multiplier", "--epochs 15"), slow("sigma", "--epochs 15"),
                                           ("epochs", "--noise-multiplier 1.1"), slow("steps", "--noise-multiplier 1.1")])
def test_solutions_meet_the_budget(unknown, rest, run):
    budget = 8 if run is RUN else 20
    x = number(f"{run} {rest} --epsilon {budget} --delta 1e-5 --solve {unknown}")
    assert number(f"{run} {rest} --{unknown} {x!r} --delta 1e-5") <= budget
    worse = x * 0.999 if unknown in ("noise-multiplier", "sigma") else x + max(1, int(0.01 * x))
    assert number(f"{run} {rest} --{unknown} {worse!r} --delta 1e-5") > budget


@pytest.mark.slow
def test_the_number_of_epochs_is_whole_and_that_of_steps_may_end_within_one():
    budget = "--noise-multiplier 1.1 --epsilon 6 --delta 1e-5"
    epochs, steps = number(f"{RUN} {budget} --solve epochs"), number(f"{RUN} {budget} --solve steps")
    assert epochs == int(epochs) and 234 * epochs <= steps < 234 * (epochs + 1)


@pytest.mark.parametrize("line, words", [
    (f"{RUN} --epochs 2 --noise-multiplier 3 --delta 1e-5 --adjacency add-remove",
     "one record more would change the other batches"),
    (f"{RUN} --noise-multiplier 5 --delta 1e-5", "add --epochs, or --steps"),
    (f"{RUN} --steps-per-epoch 9 --epochs 1 --noise-multiplier 5 --delta 1e-5", "--steps-per-epoch, or --n and"),
    ("subsample --scheme shuffle --epochs 1 --noise-multiplier 5 --delta 1e-5", "add --n and --batch-size, or"),
    (f"{RUN} --epochs 1 --steps 234 --noise-multiplier 5 --delta 1e-5", "give --steps or --epochs, not both"),
    ("subsample --scheme shuffle --n 10 --batch-size 11 --epochs 1 --noise-multiplier 5 --delta 1e-5", "above n = 10"),
    (f"{RUN} --epochs 1 --sampling-rate .1 --noise-multiplier 5 --delta 1e-5", "--sampling-rate: not used"),
    (f"{RUN} --epochs 1 --mechanism laplace --scale 5 --delta 1e-5", "--mechanism gaussian only"),
    ("subsample --scheme shuffle --batch-size 9 --epochs 1 --noise-multiplier 5 --epsilon 1 --delta 1e-5 --solve n",
     "how many records an epoch leaves out"),
    ("subsample --scheme shuffle --steps-per-epoch 9 --drop-last --epochs 1 --noise-multiplier 5 --delta 1e-5",
     "--drop-last needs --n and --batch-size"),
    ("subsample --n 60 --batch-size 20 --drop-last --epochs 1 --noise-multiplier 5 --delta 1e-5", "--drop-last: not used"),
    ("compare --batches poisson --n 60 --batch-size 20 --drop-last --epochs 1 --noise-multiplier 5 --delta 1e-5",
     "it is about --batches shuffled"),
    (f"{RUN} --epochs 1 --epsilon 1 --delta 1e-5 --solve sigma --bound shuffle-lower", "'shuffle-lower' is not a bound"),
])
def test_refusals(line, words):
    assert words in error(line)


@pytest.mark.slow
def test_one_epoch_is_the_default_of_steps_per_epoch_and_is_said():
    batches = "--scheme shuffle --steps-per-epoch 100 --delta 1e-5"
    for line, stdin in ((f"subsample {batches} --noise-multiplier 5", ""),
                        (f"subsample - {batches}", call(["rdp", "--sigma", "5", "--json"]).stdout)):
        code, out, _ = call(line.split(), stdin)
        assert code == 0 and "for one epoch" in out.splitlines()[0]
        assert "the guarantee is for one epoch only" in call([*line.split(), "-q"], stdin)[2]


@pytest.mark.slow
def test_a_poisson_number_is_refused_with_the_reason():
    for rest, says in (("--noise-multiplier 1.1 --delta 1e-5", "for which it gives ε = 1.13"),
                       ("--epsilon 2 --delta 1e-5 --solve noise-multiplier", "noise multiplier = 0.83")):
        text = error(f"{RUN} --epochs 15 {rest} --adjacency zero-out --bound poisson-profile")
        assert says in text and "no guarantee for shuffled batches" in text
    assert "true ε is between 6.17" in error(f"{RUN} --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency "
                                              "zero-out --bound poisson-rdp")


def shown(line):
    code, out, err = call(line.split())
    assert code == 0, err
    return " ".join(out.split())


@pytest.mark.slow
def test_the_page_says_what_is_known_and_what_other_batches_give():
    ask = "--epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency zero-out"
    allocated = number(f"subsample --scheme random-allocation --steps-per-epoch 234 {ask}")
    text = shown(f"{RUN} {ask}")
    ask = "--epochs 3 --noise-multiplier 2 --delta 1e-5 --adjacency zero-out"
    assert "The true ε is between 6.17" in text and f"has ε = {allocated:.4f}" in text and "leave out the" not in text
    for n, size, says in ((50, 20, "(--drop-last)"), (60, 19, "(--drop-last and --batch-size 19, which does not divide 60)")):
        left_out = number(f"subsample --scheme shuffle --n {n} --batch-size {size} --drop-last {ask} --bound shuffle-profile")
        text = shown(f"subsample --scheme shuffle --n {n} --batch-size 20 {ask}")
        assert f"{says} have ε = {human(left_out)}" in text


@pytest.mark.parametrize("run, says", [
    slow("--steps-per-epoch 3", "need --n and --batch-size in place of --steps-per-epoch"),
    ("--n 60 --batch-size 20 --reshuffle once", "shuffle in every epoch (--reshuffle every-epoch)"),
    slow("--n 30 --batch-size 20", "fewer than two full batches"),
])
def test_the_page_says_why_nothing_is_gained_from_the_shuffling(run, says):
    text = shown(f"subsample --scheme shuffle {run} --epochs 3 --noise-multiplier 3 --delta 1e-5 --all")
    assert "(shuffle-no-amplification)" in text and says in text


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


@pytest.mark.slow
def test_the_guarantee_composes():
    for run, rel in ((PLAIN, 1e-9), (RUN, 2e-3), (USED, 2e-3)):
        code, out, err = call(f"{run} --epochs 4 --noise-multiplier 3 --delta 1e-5 --json".split())
        assert code == 0, err
        code, again, err = call(["convert", "-", "--delta", "1e-5", "--steps", "2", "--json"], out)
        assert code == 0, err
        found = json.loads(again)
        assert found["adjacency"] == "zero-out" and "epsilon_lower" not in found["result"]
        assert found["result"]["epsilon"] == pytest.approx(number(f"{run} --epochs 8 --noise-multiplier 3 --delta 1e-5"),
                                                           rel=rel)


@pytest.mark.slow
def test_a_switch_is_read_from_every_kind_of_input(tmp_path):
    """True or false in JSON, TOML and CSV; a statement repeats it on its command line."""
    run = ["--n", "62", "--batch-size", "20", "--epochs", "3", "--noise-multiplier", "2", "--delta", "1e-5"]
    dropped = number(" ".join(["subsample", "--scheme", "shuffle", "--drop-last", *run]))
    options = dict(zip((w[2:].replace("-", "_") for w in run[::2]), map(float, run[1::2]), strict=True))
    lines = "\n".join(json.dumps({**options, "scheme": "shuffle", "drop_last": drop}) for drop in (True, False))
    found = [json.loads(line) for line in call(["subsample", "--batch", "-", "--format", "jsonl"], lines).stdout.splitlines()]
    assert [x["result"]["epsilon"] for x in found] == [dropped, pytest.approx(dropped, rel=0.2)]
    assert [x["bound"] for x in found] == ["shuffle-profile", "shuffle-profile-used"]
    header, cells = ",".join(options), ",".join(run[1::2])
    table = call(["subsample", "--batch", "-", "--scheme", "shuffle"], f"{header},drop_last\n{cells},true\n").stdout
    assert repr(dropped) in table
    file = tmp_path / "run.toml"
    file.write_text("batches = 'shuffled'\ndrop-last = true\n" + "".join(f"{k} = {x:g}\n" for k, x in options.items()))
    assert number(f"compare --run {file}") == pytest.approx(dropped, rel=1e-9)
    release = {"command": "subsample", "scheme": "shuffle", "drop-last": True, **options}
    ledger = call(["ledger", json.dumps({"delta": 1e-5, "release": [release]})]).stdout
    assert "drop-last," in ledger and "True" not in ledger
    statement = call(["subsample", "--scheme", "shuffle", "--drop-last", *run, "--format", "statement"]).stdout
    line = " ".join(statement[statement.index("    dpcalc"):].replace("\\", " ").split())
    assert number(line.removeprefix("dpcalc ")) == dropped


@pytest.mark.parametrize("noise, epochs, n, b", [(1e-3, 1, 10, 10), slow(1e4, 10**4, 10**6, 7), (0.02, 3, 11, 2), slow(5, 1, 2, 1)])
def test_extremes_have_finite_ends_in_order(noise, epochs, n, b):
    for rest in ("--adjacency zero-out", "--adjacency replace-one --drop-last"):
        result = answer(f"subsample --scheme shuffle --n {n} --batch-size {b} --epochs {epochs} --noise-multiplier {noise}"
                        f" --delta 1e-12 {rest}")["result"]
        assert 0 <= result.get("epsilon_lower", 0.0) <= result["epsilon"] < inf


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_compare_gives_the_same_ends_and_names_other_batches(adjacency):
    same = f"--n 60000 --batch-size 256 --drop-last --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency {adjacency}"
    compared, sampled = answer(f"compare --batches shuffled {same}"), answer(f"subsample --scheme shuffle {same}")
    for key in ("epsilon", "epsilon_lower"):
        assert compared["result"][key] == pytest.approx(sampled["result"][key], rel=1e-6)
    assert compared["bound"] == "shuffle-profile" and compared["adjacency"] == adjacency
    assert {w["options"].get("batches") for w in compared["what_if"]} >= {"poisson", "random-allocation"}
    last = answer(f"compare --batches shuffled {same} --release every-epoch")["result"]
    assert last["epsilon"] == pytest.approx(sampled["result"]["epsilon"]) and "epsilon_lower" not in last


@pytest.mark.slow
@pytest.mark.parametrize("cases", [range(3), slow(range(3, 9))])
def test_subsample_and_compare_answer_the_same_for_one_run(cases):
    """ε (or δ, or the noise of a budget), the lower end, the neighbours and the note on records that are left out, with
    and without --adjacency, for one record and for groups."""
    rng, seen = random.Random(64 + cases[0]), set()
    for k in cases:
        batch_size, unit = rng.randint(1, 40), rng.choice(("epochs", "steps"))
        run = (f"--n {batch_size * rng.randint(2, 12) + rng.randrange(batch_size)} --batch-size {batch_size} "
               f"{rng.choice(('', '--drop-last', '--reshuffle once'))} "
               f"--{unit} {rng.choice((1, 1.5, 4)) if unit == 'epochs' else rng.randint(1, 90)} "
               f"{('', '--adjacency zero-out', '--adjacency replace-one')[k % 3]} {('', '--group-size 3')[k % 2]} ")
        noise = f"--noise-multiplier {rng.uniform(1, 5):.3g}"
        asked = (f"{noise} --delta 1e-5", f"{noise} --epsilon 2", "--epsilon 3 --delta 1e-5 --solve noise-multiplier")[k % 3]
        sampled, compared = (answer(f"{line} {run} {asked}") for line in
                             ("subsample --scheme shuffle", "compare --batches shuffled"))
        assert compared["bound"] == sampled["bound"] and compared["adjacency"] == sampled["adjacency"]
        for key in sampled["result"].keys() & {"epsilon", "epsilon_lower", "delta", "delta_lower", "noise_multiplier"}:
            assert compared["result"][key] == pytest.approx(sampled["result"][key], rel=1e-4 if "--solve" in asked else 1e-12)
            seen.add(key)
        (note,) = [x for x in sampled["notes"] if x.startswith(("a pass is ", "an epoch is ")) or "--drop-last leaves" in x]
        assert note in compared["notes"]
    assert seen >= {"epsilon", "epsilon_lower", "delta", "noise_multiplier"}


@pytest.mark.slow
def test_compare_names_the_ways_to_shuffle_that_lose_less():
    run = "--batches shuffled --epochs 3 --noise-multiplier 2 --delta 1e-5"
    for batches, options in (("--n 50 --batch-size 20", {"drop_last": True}),
                             ("--n 60 --batch-size 20", {"drop_last": True, "batch_size": 19}),
                             ("--n 60 --batch-size 20 --reshuffle once", {"reshuffle": "every-epoch"})):
        found = answer(f"compare {run} {batches}")
        (way,) = [w for w in found["what_if"] if w["options"].keys() & {"drop_last", "reshuffle"}]
        assert way["options"] == options and way["epsilon"] < found["result"]["epsilon"]
        assert number(way["command"].removeprefix("dpcalc ")) == way["epsilon"]
    assert answer(f"compare {run} --n 60 --batch-size 20 --reshuffle once")["bound"] == "shuffle-no-amplification"


@pytest.mark.slow
def test_groups_lose_what_one_record_with_their_whole_weight_loses():
    """Together K records move the sums of an epoch by at most K clipping norms."""
    for adjacency in ("zero-out", "replace-one"):
        line = f"{RUN} --epochs 4 --delta 1e-5 --adjacency {adjacency} --bound shuffle-no-amplification --noise-multiplier"
        assert number(f"{line} 6 --group-size 3") == pytest.approx(number(f"{line} 2"), rel=1e-12)
    done = call(f"{RUN} --epochs 4 --delta 1e-5 --noise-multiplier 6 --group-size 3 --json".split()).stdout
    again = json.loads(call(["convert", "-", "--delta", "1e-5", "--json"], done).stdout)
    assert again["result"]["epsilon"] == pytest.approx(json.loads(done)["result"]["epsilon"], rel=0.03)


@pytest.mark.slow
def test_the_neighbours_of_the_last_iterate_are_those_of_its_theorems():
    run = "compare --batches shuffled --n 605 --batch-size 10 --drop-last --epochs 3 --noise-multiplier 2 --delta 1e-5"
    last = "--release last-iterate --loss convex --lipschitz 1 --smoothness 1 --learning-rate 1"
    assert answer(f"{run} --release last-iterate")["adjacency"] == "zero-out"
    found = answer(f"{run} {last}")
    assert (found["adjacency"], found["bound"]) == ("replace-one", "shuffled-hiding-last")


@pytest.mark.slow
def test_compare_covers_random_allocation():
    for adjacency in ("add-remove", "replace-one"):
        run = f"--epochs 3 --noise-multiplier 1 --delta 1e-5 --adjacency {adjacency}"
        compared = answer(f"compare --batches random-allocation --n 60000 --batch-size 256 {run}")
        assert compared["result"]["epsilon"] == pytest.approx(number(
            f"subsample --scheme random-allocation --steps-per-epoch 234 {run}"))
