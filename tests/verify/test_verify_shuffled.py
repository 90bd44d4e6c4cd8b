"""verify on runs with shuffled batches: both ends are proven, and better ones are refuted."""

import copy

import pytest
from conftest import slow
from verifying import ask, better, refuted, texts

from dpcalc.verify.report import verify

RUN = "subsample --scheme shuffle --n 6000 --batch-size 256"


@pytest.mark.parametrize("line", [
    slow(f"{RUN} --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency zero-out"),
    f"{RUN} --epochs 1 --noise-multiplier 0.5 --delta 1e-5 --adjacency zero-out",
    slow(f"{RUN} --epochs 4 --noise-multiplier 2 --delta 1e-5"),
    f"{RUN} --epochs 2 --noise-multiplier 2 --epsilon 1 --adjacency zero-out",
    slow(f"{RUN} --epochs 2 --sigma 1.7 --sensitivity 0.9 --delta 1e-7"),
    f"{RUN} --steps 70 --noise-multiplier 2 --delta 1e-5 --adjacency zero-out",
    f"{RUN} --epochs 3 --noise-multiplier 2 --alpha 6",
    f"{RUN} --epochs 3 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
    f"{RUN} --noise-multiplier 9 --epsilon 4 --delta 1e-5 --solve epochs",
    "subsample --scheme shuffle --n 15 --batch-size 10 --epochs 3 --noise-multiplier 2 --delta 1e-5",
])
def test_every_number_is_proven_and_a_better_guarantee_is_refuted(line):
    record = ask(line)
    verdict = verify(record)
    assert verdict.holds and all(f.verdict == "verified" for f in (*verdict.head, *verdict.others)), texts(verdict)
    assert refuted(better(record))


@pytest.mark.parametrize("adjacency", ["zero-out", slow("replace-one")])
def test_a_comparison_is_proven_at_both_ends(adjacency):
    record = ask("compare --batches shuffled --n 6000 --batch-size 256 --epochs 3 --noise-multiplier 2 --delta 1e-5 "
                 f"--adjacency {adjacency}")
    verdict, lower = verify(record), copy.deepcopy(record)
    assert verdict.holds and all(f.verdict == "verified" for f in (*verdict.head, *verdict.others)), texts(verdict)
    for row in (lower["result"], lower["bounds"][0]):
        row["epsilon"] *= 0.999
    assert refuted(lower)


@pytest.mark.parametrize("bound, adjacency", [("shuffle-lower", "zero-out"), ("shuffle-lower-allocation", "zero-out"),
                                              ("shuffle-lower-allocation", "replace-one")])
def test_a_lower_end_above_the_truth_is_not_verified(bound, adjacency):
    record = ask(f"{RUN} --epochs 5 --noise-multiplier 1 --delta 1e-5 --adjacency {adjacency}")
    higher = copy.deepcopy(record)
    (row,) = (row for row in higher["bounds"] if row["name"] == bound)
    row["epsilon"] *= 1.01
    higher["result"]["epsilon_lower"] = max(row["epsilon"] for row in higher["bounds"][1:])
    assert verify(record).holds and not verify(higher).holds


def test_a_lower_end_that_is_no_number_of_a_row_is_refuted():
    record = ask(f"{RUN} --epochs 5 --noise-multiplier 1 --delta 1e-5 --adjacency zero-out")
    record["result"]["epsilon_lower"] *= 1.5
    assert not verify(record).holds
