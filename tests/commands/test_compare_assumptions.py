"""dpcalc compare: what more assumptions buy, and why a bound does not apply."""

import json
import shlex
from itertools import pairwise
from random import Random

import pytest
from calling import call
from compare_runs import RUNS, compare, full
from conftest import slow

from dpcalc.commands.compare import COMMAND
from dpcalc.commands.comparison import Answers, guarantees
from dpcalc.commands.training_run import describe
from dpcalc.core.results import Question
from dpcalc.core.validate import validate


@pytest.mark.parametrize("name", [slow(n) if n in ("without-replacement", "shuffled", "fixed order") else n for n in RUNS
                                  if n not in ("not convex", "poisson", "shuffled passes")])
def test_more_assumptions_never_give_a_worse_headline(name):
    run = RUNS[name]
    known = ("release", "loss", "smoothness", "diameter")
    values = [compare(**{**run, **dict.fromkeys(known[k:])}).value for k in range(len(known) + 1)]
    values.append(compare(**run, strong_convexity=".01").value)
    values.append(compare(**{**run, "diameter": "1"}, strong_convexity=".02").value)
    for weaker, stronger in pairwise(values):
        assert stronger <= weaker * (1 + 3e-3)  # a composed profile is known to a thousandth


@pytest.mark.parametrize("name", [
    slow(name) if name in ("not convex", "fixed order", "stream", "shuffled passes", "shuffled", "without-replacement")
    else name for name in RUNS])
def test_what_if_is_true(name):
    """Asking with the assumption gives the number; each lowers the headline."""
    answer = full(**{**RUNS[name], "release": None})
    for gain in answer["what_if"]:
        words = [word for part in shlex.split(gain["command"])[2:]
                 for word in ((part, True) if part == "--drop-last" else (part,))]
        said = {word[2:].replace("-", "_"): value for word, value in zip(words[::2], words[1::2], strict=True)}
        assert {k: said[k] for k in gain["options"]} == {k: str(v) if isinstance(v, str) else said[k] for k,
                                                         v in gain["options"].items()}
        assert all(float(said[k]) == v for k, v in gain["options"].items() if not isinstance(v, str))
        asked = compare(**said)
        assert asked.value == gain["epsilon"] < answer["result"]["epsilon"]
        assert asked.headline.route.bound.name == gain["bound"]


@pytest.mark.parametrize("seed", range(4))
def test_no_theorem_about_a_replaced_record_loses_less_than_about_one_that_is_zeroed_out(seed):
    """So what-if lines about replaced records need not ask it again."""
    rng = Random(seed)
    n, batch_size = rng.randint(300, 10_000), rng.randint(20, 100)
    run = {"batches": "shuffled", "n": str(n), "batch_size": str(batch_size), "epochs": str(rng.randint(1, 9)),
           "noise_multiplier": str(rng.uniform(0.8, 4)), "clipping_norm": "1", "delta": "1e-5",
           **({"drop_last": True} if n % batch_size else {})}
    zeroed, replaced = ({row.route.bound.name: row.result["epsilon"] for row in compare(**run, adjacency=name).rows
                         if row.context["adjacency"] == name and row.route.bound.status == "proven"}
                        for name in ("zero-out", "replace-one"))
    common = zeroed.keys() & replaced.keys()
    assert len(common) > 1 and all(zeroed[name] <= replaced[name] for name in common)


@pytest.mark.slow
def test_a_noise_multiplier_alone_is_enough_to_say_what_the_last_iterate_would_buy():
    """Without a set, and without strong convexity, the bounds of the last iterate depend on ηβ and σ/L alone."""
    run = {"n": "6000", "batches": "shuffled", "batch_size": "128", "epochs": "3", "noise_multiplier": "1"}
    free = full(**run)["what_if"][0]
    assert free["bound"] == "shuffled-hiding-last"
    assert free["options"] == {"release": "last-iterate", "loss": "convex", "lipschitz": 1.0, "learning_rate": 1.0,
                               "smoothness": 2.0, "adjacency": "replace-one"}
    assert free["assumption"].endswith("; the number is about replace-one neighbours")
    scaled = full(**run, clipping_norm="7", learning_rate=".01")["what_if"][0]
    assert scaled["options"]["lipschitz"] == 7 and scaled["options"]["smoothness"] == 200
    assert scaled["epsilon"] == pytest.approx(free["epsilon"], rel=1e-9)


@pytest.mark.slow
def test_no_step_is_proposed_that_cannot_be():
    """A loss with ρ = 5 is not 2-smooth, and a run on a set depends on η itself."""
    for more in ({"strong_convexity": "5", "learning_rate": "1"}, {"diameter": "1"}, {"strong_convexity": "5"}):
        gains = full(n="600", batches="shuffled", batch_size="10", epochs="1", noise_multiplier="1", clipping_norm="1",
                     **more)["what_if"]
        assert not any("smoothness" in gain["options"] for gain in gains)


def test_what_the_last_iterate_would_buy():
    run = {**RUNS["full"], "release": None, "strong_convexity": ".1"}
    gains = {w["assumption"]: w for w in full(**run)["what_if"]}
    last = gains["only the last iterate is released"]
    assert last["bound"] == "iteration" and last["options"] == {"release": "last-iterate"}


# --- conditions that a next command hears of -------------------------------------------------------------------------


@pytest.mark.parametrize("batches, own", [
    ("full", ()), slow("without-replacement --batch-size 10", ()), slow("fixed-order --batch-size 10", ()),
    slow("shuffled --batch-size 10", ("a secret uniform order, fresh in every pass",)),
])
def test_a_pipe_hands_on_the_conditions_of_the_last_iterate(batches, own):
    line = (f"compare --n 1000 --batches {batches} --epochs 500 --noise-multiplier 100 --delta 1e-5 --loss convex "
            "--smoothness 1 --learning-rate .1 --diameter .1 --lipschitz 1").split()
    last = [*line, "--release", "last-iterate"]
    first = call([*last, "--json"]).stdout
    [promise] = json.loads(first)["guarantee"]["promises"]
    for text in (call(last).stdout, call(["convert", "-", "--delta", "1e-5"], first).stdout):
        assert f"Note: {promise}." in " ".join(text.split())
    assert all(words in promise for words in ("w₀ lies in the set, and both do not depend on the data", *own))
    every = json.loads(call([*line, "--json"]).stdout)["guarantee"].get("promises", [])
    assert [promise.startswith("every epoch must put all n records") for promise in every] == [True] * len(own)  # all iterates


# --- only what applies -----------------------------------------------------------------------------------------------


def reasons(**said):
    """Why bounds do not apply, and the names of those that do."""
    values = validate(COMMAND, {k: v for k, v in said.items() if v is not None}).values
    found = guarantees(describe(values), Question("epsilon", delta=1e-5), (), Answers({}, None), whole=False)
    return found.reasons, {row.route.bound.name for row in found.rows}


@pytest.mark.slow
def test_clipped_gradients_are_not_those_of_convex_losses():
    clipped = {**RUNS["without-replacement"], "clipping_norm": ".5"}
    why, names = reasons(**clipped)
    # clipping leaves a gradient as smooth
    assert names == {"wor-profile", "wor-rdp", "burn-in-profile-nonconvex", "burn-in-rdp-nonconvex"}
    assert "clipped gradient" in why["burn-in-rdp"]
    # A norm that no gradient reaches clips nothing.
    assert compare(**{**clipped, "clipping_norm": "1"}).value == compare(**RUNS["without-replacement"]).value


@pytest.mark.parametrize("change, word", [
    ({"release": "every-iterate"}, "--release last-iterate"), ({"release": "every-epoch"}, "--release last-iterate"),
    ({"loss": "any"}, "--loss convex"),
    ({"smoothness": None}, "--smoothness"), ({"learning_rate": None}, "--learning-rate"),
    ({"learning_rate": "2.01"}, "2/β = 2"),
])
def test_why_burn_in_does_not_apply(change, word):
    found, _ = reasons(**{**RUNS["without-replacement"], "steps": "1000", **change})
    assert word in found["burn-in-rdp"] and word in found["burn-in-profile"]


def test_a_shuffled_pass_that_stops_counts_as_a_whole_one():
    cut = compare(**{**RUNS["shuffled"], "epochs": None, "steps": "334", "bound": ["shuffled-iteration"]})
    assert cut.value == compare(**{**RUNS["shuffled"], "epochs": "2", "bound": ["shuffled-iteration"]}).value


@pytest.mark.slow
def test_a_step_that_contracts_less_than_it_could_is_still_covered():
    """η(β + ρ) > 2 >= ηβ: the shuffled theorems hold for a smaller ρ."""
    run = {**RUNS["shuffled"], "learning_rate": "1.9", "smoothness": "1", "strong_convexity": ".5"}
    assert compare(**run).value <= compare(**{**run, "strong_convexity": "0"}).value
    assert "shuffled-iteration" in reasons(**run)[1]
