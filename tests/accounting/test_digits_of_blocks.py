"""--digits says what its digits are of: the formula as printed, or that formula in blocks from above; and why there are
none."""

import json

import mpmath
import pytest

from dpcalc.bounds import all_bounds

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 1 --learning-rate .1 --sigma 2 --epsilon 1 --digits 20"
STREAM = "online-noise --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --index 100 --epsilon 1 --digits 30"
GIVEN = {"level": 2.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0}
SUMS = ["shuffled-iteration", "smooth-nonconvex-shuffled-exact", "output-perturbation-shuffled-exact"]
MARK = "in blocks from above"


@pytest.mark.parametrize("name", SUMS)
def test_up_to_64_records_it_is_the_printed_sum_and_beyond_at_most_a_64th_above_it(name):
    bound, every = all_bounds()[name], 10**9  # blocks of one
    mp = mpmath.mp.clone()
    mp.dps = 30
    own = {k: GIVEN[k] for k in bound.params if k in GIVEN}
    for n in (63, 64, 65, 200, 1000):
        printed, taken = (bound.exact(mp, 0.01, n=n, **own, **way) for way in ({"way": every}, {}))
        if n <= bound.blocks.beyond:
            assert taken == printed
        else:
            # equal at c = 1
            assert printed * (1 - mp.mpf("1e-27")) <= taken <= printed * (1 + 1 / 64) and (n < 200 or taken > printed
                                                                                           or "output" in name)


HIDING = {"shuffled-hiding", "smooth-nonconvex-shuffled-hiding"}  # in blocks beyond 16 records


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rest, blocked", [("--n 64", HIDING), ("--n 65", {*HIDING, "shuffled-iteration",
                                                                           "smooth-nonconvex-shuffled-exact"}),
                                           ("--n 500 --index 490", set()),
                                           ("--n 200 --index 9 --sigma .1", {"fixed-order-hybrid"})])
def test_the_table_and_the_notes_say_so(rest, blocked, cli):
    line = f"{RUN} {rest}" if "--sigma" not in rest else f"{RUN.replace('--sigma 2 ', '')} {rest}"
    text, found = cli(*line.split()).stdout, json.loads(cli(*line.split(), "--json").stdout)
    for row in found["bounds"]:
        here = next(t for t in text.splitlines() if t.startswith(f"{row['name']} "))
        assert (MARK in here) == (row["name"] in blocked) and row["digits"]["delta"] in here
    notes = [n for n in found["notes"] if MARK in n]
    assert len(notes) == bool(blocked) and all(name in notes[0] for name in blocked)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line, name, why", [
    (f"{STREAM} --n inf --noise laplace", "online-contraction", "infinitely many"),
    (f"{RUN} --n 1000 --epochs 5", "shuffled-iteration", "composed numerically"),
    (f"{STREAM} --n 1e12 --strong-convexity .01", "online-iteration", "outside the range"),  # μ = e^(−10^8)
    ("rdp --mechanism laplace --scale 2 --delta 0 --digits 20", "laplace-exact", "closed form"),
    ("subsample --sampling-rate .01 --sigma 1 --steps 100 --delta 1e-6 --digits 20", "poisson-profile",
     "composed numerically"),
])
def test_where_there_are_none_a_note_says_why(line, name, why, cli):
    done = cli(*line.split(), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    note = next(n for n in found["notes"] if n.startswith("no digits for "))
    assert name in note and why in note
    assert "digits" not in next(row for row in found["bounds"] if row["name"] == name)


def test_explain_and_its_accuracy_say_so(cli):
    for name in [*SUMS, "fixed-order-hybrid", "online-hybrid"]:
        accuracy = next(x for x in cli("explain", name).stdout.splitlines() if x.startswith("  Accuracy: "))
        assert f"Beyond {129 if name == 'fixed-order-hybrid' else 64} records" in accuracy and accuracy.endswith("in blocks, from above")
    assert "blocks" not in next(x for x in cli("explain", "shuffled-contraction").stdout.splitlines()
                                if x.startswith("  Accuracy: "))
