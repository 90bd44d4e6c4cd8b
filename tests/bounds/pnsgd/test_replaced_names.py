"""A name of an earlier version says what replaced it, wherever it is given; and what composition over epochs obeys."""

from itertools import pairwise

import pytest
from last_iterate_lines import answer, asked

from dpcalc.bounds import REPLACED, all_bounds

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 100"
COMPARE = ("compare --n 60000 --batches shuffled --batch-size 100 --epochs 10 --sigma 1 --lipschitz 1 --loss convex "
           "--smoothness 1 "
           "--learning-rate .05 --diameter 2 --release last-iterate --delta 1e-5")


@pytest.mark.parametrize("name", ["shuffled-hybrid", "shuffled-hybrid-basic"])
@pytest.mark.parametrize("line",
                         [f"{RUN} --sigma 4 --delta 1e-5 --bound", f"{RUN} --sigma 4 --index 3 --delta 1e-5 --bound"])
def test_a_replaced_name(line, name):
    code, out, err = asked([*line.split(), name])
    assert (code, out) == (2, "") and "shuffled-hybrid was replaced by shuffled-hiding, which contains it" in err


def test_a_replaced_name_in_a_comparison(cli):
    done = cli(*COMPARE.split(), "--bound", "shuffled-hybrid")
    assert done.returncode == 2 and "shuffled-hybrid was replaced by shuffled-hiding, which contains it" in done.stderr


def test_a_replaced_name_explained(cli):
    done = cli("explain", "shuffled-hybrid")
    assert done.returncode == 2 and "shuffled-hybrid was replaced by shuffled-hiding, which contains it" in done.stderr


def test_replaced_names_are_no_names():
    assert not set(REPLACED) & set(all_bounds())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bound, place", [("shuffled-iteration", ""), ("shuffled-contraction", ""),
                                          ("fixed-order-hybrid", "--index 90")])
def test_more_epochs_lose_more_and_less_than_basic_composition_says(bound, place):
    found = []
    for epochs in (1, 2, 5, 20, 100):
        rows = {row["name"]: row["epsilon"] for row in
                answer(f"{RUN} {place} --sigma 4 --epochs {epochs} --delta 1e-5 --bound {bound} --bound {bound}-basic")[0]["bounds"]}
        assert rows[bound] <= rows[f"{bound}-basic"] * (1 + 1e-9)
        found.append(rows[bound])
    assert all(a < b for a, b in pairwise(found))
