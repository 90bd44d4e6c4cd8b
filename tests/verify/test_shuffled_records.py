"""verify on runs with shuffled batches: both ends are proven, and better ones are refuted."""

import copy
import json

import pytest
from calling import call
from conftest import slow
from verifying import ask, refuted, texts

from dpcalc.pld import shuffled_epoch
from dpcalc.verify.report import verify

FEW = "subsample --scheme shuffle --n 130 --batch-size 50 --drop-last --epochs 2 --noise-multiplier 3 --delta 1e-3"
OF_COARSE = FEW.replace("130", "132")  # as the next one, no other test asks about it: answers are kept
ONE_EPOCH = "subsample --scheme shuffle --n 37 --batch-size 15 --drop-last --epochs 1 --noise-multiplier 3 --delta 1e-2"


@pytest.fixture
def coarse(monkeypatch):
    """Profiles at few ε: numbers that are worse by some percent, and are proven in a tenth of the time."""
    for name, gaps in (("GAPS", 24.0), ("GAPS_USED", 40.0), ("GAPS_OF_EVENTS", 8.0)):
        monkeypatch.setattr(shuffled_epoch, name, gaps)


@pytest.mark.parametrize("place, change", [
    ("parameters", {"n": 125}), slow("options", {"n": 125}), ("parameters", {"batch_size": 45}),
    slow("options", {"batch_size": 45}), ("options", {"drop_last": False}), slow("parameters", {"drop_last": False}),
    ("options", {"epochs": 1.0}), ("guarantee", {"n": 133}), ("guarantee", {"batch_size": 49}),
    ("guarantee", {"steps": 1}), slow("guarantee", {"steps": 3}),
])
def test_a_record_about_another_run_is_not_verified(place, change, coarse):
    record = ask(f"{OF_COARSE} --bound shuffle-profile")
    assert verify(record).holds
    changed = record["guarantee"]["mechanisms"][0]["sampling"] if place == "guarantee" else record[place]
    assert change.keys() <= changed.keys()
    changed.update(change)
    assert not verify(record).holds


def test_a_bound_that_is_about_epochs_that_leave_out_records_proves_nothing_about_others(coarse, monkeypatch):
    """δ of epochs that leave out one record is below that of epochs that use all."""
    monkeypatch.setattr(shuffled_epoch, "GAPS", 8.0)  # else it is above that one
    run = "subsample --scheme shuffle --batch-size 16 --drop-last --epochs 1 --noise-multiplier 3 --delta 1e-2"
    left_out = ask(f"{run} --n 33 --bound shuffle-profile")
    used = ask(f"{run} --n 32 --bound shuffle-profile-used")
    assert left_out["result"]["epsilon"] < used["result"]["epsilon"]
    forged = {**used, "bounds": left_out["bounds"], "bound": "shuffle-profile",
              "result": {**used["result"], "epsilon": left_out["result"]["epsilon"]}}
    assert not verify(forged).holds


PIPES = [
    slow({"adjacency": "zero-out"}, {}, {"n": 130, "batch_size": 50, "steps": 2}, "convert - --delta 1e-5"),
    slow({"adjacency": "zero-out"}, {}, {"n": 100, "batch_size": 50, "steps": 2}, "convert - --delta 1e-5"),
    slow({"adjacency": "replace-one"}, {"sum": True}, {"n": 130, "batch_size": 50, "steps": 1}, "tv -"),
    slow({"adjacency": "replace-one"}, {}, {"n": 100, "batch_size": 50, "steps": 2}, "tv -"),
    slow({"adjacency": "zero-out"}, {}, {"n": 130, "batch_size": 50, "steps": 3}, "convert - --epsilon 2"),
]


@pytest.mark.parametrize("more, of_part, sampling, command", PIPES)
def test_guarantees_of_shuffled_batches_are_proven(more, of_part, sampling, command):
    part = {"name": "gaussian", "noise_multiplier": 2.0, "count": 2, "sampling": {"scheme": "shuffle", **sampling}}
    is_proven_and_a_better_one_is_not([part | of_part], more, command)


@pytest.mark.parametrize("adjacency", [slow("zero-out"), "replace-one"])
def test_guarantees_of_shuffled_batches_are_proven_on_coarse_grids(adjacency, coarse):
    sampling = {"scheme": "shuffle", "n": 134, "batch_size": 50, "steps": 2}
    part = {"name": "gaussian", "noise_multiplier": 9.0, "count": 2, "sampling": sampling}
    is_proven_and_a_better_one_is_not([part], {"adjacency": adjacency}, "convert - --delta 1e-2")


def is_proven_and_a_better_one_is_not(mechanisms, more, command):
    done = call([*command.split(), "--json"], json.dumps({"kind": "mechanisms", "mechanisms": mechanisms, **more}))
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert verify(record).holds, texts(verify(record))
    name = "delta" if "log_delta" in record["result"] else next(x for x in ("tv", "epsilon") if x in record["result"])
    for row in (record["result"], record["bounds"][0]):
        row[name] *= 0.8 if name == "delta" else 0.97
        row.pop(f"{name}_lower", None)
    assert any(f.verdict == "not verified" for f in verify(record).head)


@pytest.mark.slow
def test_a_ledger_with_shuffled_batches_is_proven():
    ledger = """delta = 1e-5
[[release]]
command = "subsample"
scheme = "shuffle"
n = 130
batch-size = 50
drop-last = true
epochs = 2
noise-multiplier = 1.5
[[release]]
command = "subsample"
scheme = "without-replacement"
adjacency = "zero-out"
sampling-rate = 0.1
noise-multiplier = 9
steps = 3
"""
    done = call(["ledger", "-", "--json"], ledger)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert verify(record).holds, texts(verify(record))


@pytest.mark.parametrize("adjacency", [slow("zero-out"), slow("replace-one")])
def test_a_comparison_is_proven_at_both_ends(adjacency):
    record = ask("compare --batches shuffled --n 6000 --batch-size 256 --epochs 3 --noise-multiplier 2 --delta 1e-5 "
                 f"--adjacency {adjacency}")
    verdict, lower = verify(record), copy.deepcopy(record)
    assert verdict.holds and all(f.verdict == "verified" for f in (*verdict.head, *verdict.others)), texts(verdict)
    for row in (lower["result"], lower["bounds"][0]):
        row["epsilon"] *= 0.98
    assert refuted(lower)


@pytest.mark.parametrize("bound, adjacency", [slow("shuffle-lower", "zero-out"),
                                              slow("shuffle-lower-allocation", "zero-out"),
                                              slow("shuffle-lower-allocation", "replace-one")])
def test_a_lower_end_above_the_truth_is_not_verified(bound, adjacency):
    record = ask(f"{FEW} --adjacency {adjacency}")
    assert verify(record).holds and not verify(with_lower_end(record, bound, 1.02)).holds


@pytest.mark.parametrize("bound", [slow("shuffle-lower"), "shuffle-lower-allocation"])
def test_a_lower_end_above_the_truth_is_not_verified_on_coarse_grids(bound, coarse):
    record = ask(f"{ONE_EPOCH} --bound {bound}")
    assert verify(record).holds and not verify(with_lower_end(record, bound, 1.02)).holds


def with_lower_end(record, bound, share):
    higher = copy.deepcopy(record)
    (row,) = (row for row in higher["bounds"] if row["name"] == bound)
    row["epsilon"] *= share
    higher["result"]["epsilon_lower"] = max(row["epsilon"] for row in higher["bounds"] if row["status"] == "lower")
    return higher


@pytest.mark.slow
def test_a_lower_end_that_is_no_number_of_a_row_is_refuted(coarse):
    record = ask(f"{ONE_EPOCH} --bound shuffle-lower")
    assert verify(record).holds
    record["result"]["epsilon_lower"] *= 1.1
    assert not verify(record).holds
