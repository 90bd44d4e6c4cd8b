"""--digits: the published formula in many digits, next to the doubles and never above them, at any n; what the digits are
of, the formula as printed or in blocks from above; and why there are none."""

import json
from math import log

import mpmath
import pytest
from answers import answer, printed
from calling import call
from conftest import slow, spread

from dpcalc.bounds import all_bounds

PURE = "convert --from dp --epsilon .5 --delta 0 --steps 1000"
RESPONSE = "rdp --mechanism randomized-response --probability .7 --steps 1000"
SHUFFLED = ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2 --learning-rate .01 --bound shuffled-iteration "
            "--sigma")
STREAM = "online-noise --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100"
FIRST = f"{STREAM} --index 1"
RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 1 --learning-rate .1 --sigma 2 --epsilon 1 --digits 20"
mp = mpmath.mp.clone()
mp.dps = 60


def next_to_doubles(line, loose, by_log=False):
    """Asserts that all digits of an answer are at most its doubles, and these at most that share larger, of δ as often
    as its logarithm says with `by_log`. Returns why some rows have none."""
    found, rows = answer(line), 0
    for row in found["bounds"]:
        for name, text in (row.get("digits") or {}).items():
            value, exact = row[name] if name in row else row["result"][name], mp.mpf(text)
            scale = max(1.0, abs(log(value))) if by_log and name == "delta" and value else 1.0
            if row["status"] != "lower":
                assert exact <= value * (1 + mp.mpf(2) ** -53), row["name"]
                assert value <= exact * (1 + loose * scale) + mp.mpf(10) ** -300, row["name"]
            rows += 1
    assert rows
    return {note.split(": ", 1)[1] for note in found["notes"] if note.startswith("no digits")}


@spread("line, digits", [
    (f"{RESPONSE} --delta 1e-200", 15),  # 1 − (1 − h) would lose what δ is
    (f"{RESPONSE} --delta 1e-200", 60),
    (f"{RESPONSE} --epsilon 840", 30),
    (f"{PURE} --target-delta 1e-200", 30),
    (f"{PURE} --target-epsilon 497", 30),
    ("rdp --sigma .4284 --steps 1000 --epsilon 6.8", 30),  # the least is next to p = 1
    ("rdp --sigma .01 --epsilon 1", 30),
    ("rdp --sigma 79.7273 --steps 1000000 --epsilon 2.63e-06", 30),
    ("rdp --mechanism laplace --scale .1 --steps 100 --epsilon 1", 30),
    ("convert --from zcdp --rho 5 --epsilon 1", 30),
    ("convert --from zcdp --rho 5 --to tv", 20),  # the root is next to δ = 1
    ("convert --from rdp --alpha 1.5 --rdp 1.2 --to tv", 30),
    ("tv --rho 1.2", 30),
    # where a record added loses nothing, 1 − γ + γ·E is 0
    ("subsample --mechanism discrete-laplace --scale 5800464.034778126 --sampling-rate .0226 --steps 1 --epsilon 1.45e-6", 30),
])
def test_digits_are_next_to_the_doubles(line, digits):
    next_to_doubles(f"{line} --digits {digits}", 1e-6)


def test_digits_of_the_optimal_composition():
    """The sum as printed, with as many digits as cancel."""
    high = mpmath.mp.clone()
    high.dps = 400
    p, e = high.mpf(0.7), high.mpf(840)
    step = high.log(p / (1 - p))
    terms = (high.binomial(1000, k) * max(high.exp((1000 - k) * step) - high.exp(e + k * step), 0) for k in range(1001))
    delta = high.fsum(terms) / (1 + high.exp(step)) ** 1000
    row = answer(f"{RESPONSE} --epsilon 840 --digits 50")["bounds"][0]
    assert row["name"] == "randomized-response-exact"
    assert abs(high.mpf(row["digits"]["delta"]) / delta - 1) < high.mpf(10) ** -48


@spread("line, without", [
    (f"{SHUFFLED} .5 --n 1e12 --epsilon .01", set()),
    (f"{SHUFFLED} 5 --n 1e12 --delta 1e-13", set()),
    (f"{SHUFFLED} 5 --n 1e6 --delta 1e-7", set()),
    slow("shuffle-pnsgd --lipschitz 1 --smoothness .5 --strong-convexity .01 --diameter 2 --learning-rate .01 --sigma .5 "
     "--n 1e9 --alpha 4", {"there is no closed form"}),  # of hiding
    ("shuffle-pnsgd --lipschitz 1 --sigma 5 --n 1e9 --alpha 4 --tau .1 --bound without-replacement-conjecture",
     {"there is no closed form"}),  # of the row of a Gaussian release,
    slow(f"{FIRST} --n 1e12 --epsilon .5", set()),  # e^(−1e30) by online-hybrid
    (f"{STREAM} --index 300000 --n 300050 --epsilon .5", set()),
    (f"{FIRST} --n 5e8 --delta 1e-7 --noise laplace", set()),
    slow(f"{FIRST} --n 3e5 --delta 1e-4 --strong-convexity 1e-5", set()),
    (f"{FIRST.replace('1.5', '30')} --n 1e12 --epsilon 1 --noise laplace", set()),
    (f"{SHUFFLED} .5 --n 1e6 --epochs 20 --epsilon 1",
     {"it is composed numerically"}),
    # 20·δ(ε/20) > 1
    (f"{SHUFFLED} .5 --n 1e6 --epochs 20 --epsilon .001",
     {"it is composed numerically"}),
])
def test_digits_at_many_records_are_those_of_the_doubles(line, without):
    loose = 2e-4 if line.endswith("--strong-convexity 1e-5") else 1e-7  # its sum is in blocks, from below
    assert next_to_doubles(f"{line} --digits 25", loose, by_log=True) == without


@pytest.mark.parametrize("line, name, digits", [
    ("online-noise --noise laplace --scales 1 --lipschitz 1 --diameter 2 --learning-rate .1 --smoothness .5 --index 1 "
     "--delta 1e-20 --digits 30",
     "online-contraction", "1.99999999999999999998000000000"),  # 2 − 2δ
    slow("subsample --sampling-rate .01 --sigma 10 --steps 1 --delta 1e-300 --digits 15", "rdp-optimal",
     "0.743233172517305"),
    slow("online-noise --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --index 1 "
     "--strong-convexity .01 --n 2e4 --epsilon .5 --digits 15", "online-iteration",
     "1.86113522355408e-2565711807864371097"),
    ("rdp --sigma 100 --steps 10 --epsilon 0 --digits 30", "gaussian-exact", "0.0126151369772034322179091598437"),
    slow("subsample --sampling-rate .5 --sigma .7 --steps 50 --epsilon 1 --digits 20", "rdp-improved",
         "1.0000000000000000000"),
])
def test_digits_that_were_wrong(line, name, digits, cli):
    """Where δ of Laplace noise falls to 0; a conversion that hardly depends on ε; a δ whose logarithm takes digits;
    plateaus; above 1."""
    found = json.loads(cli(*line.split(), "--json").stdout)
    rows = [row for row in found["bounds"] if name in (row["name"], row.get("conversion"))]
    assert [*rows[0]["digits"].values()] == [digits]
    if "--epsilon 0" in line:
        assert any("larger δ" in n for n in found["notes"])


# --- what the digits are of ---------------------------------------------------------------------------------------

GIVEN = {"level": 2.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.1}
SUMS = ["shuffled-iteration", "smooth-nonconvex-shuffled-exact", "output-perturbation-shuffled-exact"]
MARK = "in blocks from above"


@pytest.mark.parametrize("name", [slow(SUMS[0]), *SUMS[1:]])
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


@pytest.mark.parametrize("rest, blocked", [slow("--n 64", HIDING), slow("--n 65", {*HIDING, "shuffled-iteration",
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


@pytest.mark.parametrize("line, name, why", [
    (f"{STREAM} --index 100 --epsilon 1 --digits 30 --n inf --noise laplace", "online-contraction", "infinitely many"),
    slow(f"{RUN} --n 1000 --epochs 5", "shuffled-iteration", "composed numerically"),
    slow(f"{STREAM} --index 100 --epsilon 1 --digits 30 --n 1e12 --strong-convexity .01", "online-iteration", "outside the range"),  # μ = e^(−10^8)
    ("rdp --mechanism laplace --scale 2 --delta 0 --digits 20", "laplace-exact", "closed form"),
    slow("subsample --sampling-rate .01 --sigma 1 --steps 100 --delta 1e-6 --digits 20", "poisson-profile", "composed numerically"),
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
        accuracy = next(x for x in cli("explain", name, "--all").stdout.splitlines() if x.startswith("  Accuracy: "))
        assert f"Beyond {129 if name == 'fixed-order-hybrid' else 64} records" in accuracy and accuracy.endswith("in blocks, from above")
    assert "blocks" not in next(x for x in cli("explain", "shuffled-contraction", "--all").stdout.splitlines()
                                if x.startswith("  Accuracy: "))


@pytest.mark.parametrize("more", [slow("--sigma 1 --batch-size 10"), slow("--sigma 1 --batch-size 100"),
                                  slow("--batch-size 10 --epsilon 1 --solve sigma")])
def test_digits_beside_a_composed_profile(more):
    code, text = printed("burn-in --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 1 --n 100 --steps 10 "
                         f"--delta 1e-5 --digits 20 {more}")
    assert code == 0 and "published formula" in text


@pytest.mark.parametrize("rest", ["-q", "--format csv", "--format tsv"])
def test_digits_are_refused_in_a_format_that_does_not_show_them(rest):
    code, text = printed(f"rdp --sigma 1 --delta 1e-5 --digits 20 {rest}")
    assert code == 2 and "--digits" in text and "not with" in text


def test_digits_of_a_sweep_stand_in_its_json():
    code, text = printed("rdp --sigma 1 --delta 1e-5,1e-6 --digits 20")
    assert code == 2 and "--digits" in text
    line = "rdp --sigma 1 --delta 1e-5,1e-6 --digits 20 --json"
    points = json.loads(call(line.split()).stdout)
    assert [p["bounds"][0]["digits"]["epsilon"][:9] for p in points] == ["4.3771780", "4.8865541"]


def test_certified_ends_of_a_tiny_delta():
    pytest.importorskip("flint")
    found = answer(f"{STREAM} --n 1e6 --index 100 --epsilon 1 --certify")["certified"]
    assert 0 <= found["lower"] <= found["upper"]
