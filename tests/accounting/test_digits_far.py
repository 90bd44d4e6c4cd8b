"""--digits at any n: sums over 1e12 records, and roots; checked against sums term by term and against the doubles."""

import json
from math import log

import mpmath
import pytest

from dpcalc.numerics.mp import root, sums

SHUFFLED = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2 --learning-rate .01"
STREAM = "online-noise --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --index 1"
OUTPUT = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --strong-convexity .01 --diameter 2 --learning-rate .01 --sigma .5"
SMOOTH = {
    "squares": lambda mp, t: 1 / mp.mpf(t) ** 2,
    "logarithm": lambda mp, t: 1 / mp.log(mp.mpf(t) + 5),
    "bend": lambda mp, t: 1 / (1 + (mp.mpf(t) / 3000) ** 4),
    "exponential": lambda mp, t: mp.expm1(3 * mp.exp(-mp.mpf(t) / 500)),
    "early": lambda mp, t: mp.exp(-mp.mpf(t) / 3),
    "steep": lambda mp, t: 1 / mp.mpf(t) ** 30,
    "both ends": lambda mp, t: 1 / (mp.mpf(t) * (9000 - t)),
}


def context(digits):
    mp = mpmath.mp.clone()
    mp.dps = digits
    return mp


@pytest.mark.parametrize("digits", [25, 45])
@pytest.mark.parametrize("name", SMOOTH)
def test_a_long_sum_is_that_of_its_terms(name, digits):
    mp = context(digits)
    for n in (2000, 7001):
        want = mp.fsum(SMOOTH[name](mp, t) for t in range(3, n + 1))
        got = sums.smooth_sum(mp, lambda t: SMOOTH[name](mp, t), 3, n)
        assert abs(got / want - 1) < mp.mpf(10) ** (8 - digits)


def test_a_sum_from_its_other_end_and_one_of_1e12_terms():
    mp = context(45)
    c = 1 - mp.mpf("1e-4")
    want = mp.fsum(c ** (s - 1) / (7001 - s) for s in range(1, 7001))
    assert abs(sums.smooth_sum(mp, lambda s: c ** (s - 1) / (7001 - s), 1, 7000, lambda s: c ** (s - 1)) / want
               - 1) < mp.mpf(10) ** -37

    tail = mp.mpf(10) ** -12 - mp.mpf(10) ** -24 / 2 + mp.mpf(10) ** -36 / 6
    assert abs(sums.smooth_sum(mp, lambda t: 1 / mp.mpf(t) ** 2, 1, 10**12) - (mp.pi**2 / 6 - tail)) < mp.mpf(10) ** -42


@pytest.mark.parametrize("digits", [15, 50])
@pytest.mark.parametrize("power", ["1.5", "2", "7.3", "30"])
def test_a_sum_to_its_end_is_a_difference_of_zeta_functions(power, digits):
    mp, more = context(digits + 15), context(digits + 250)  # a small zeta cancels
    s = mp.mpf(power)
    for first, last in ((1, 10**6), (700, 10**9 + 7), (12345, 10**15)):
        got = sums.smooth_sum(mp, lambda t: mp.mpf(t) ** -s, first, last)
        want = more.zeta(more.mpf(s), first) - more.zeta(more.mpf(s), last + 1)
        assert abs(more.mpf(got) / want - 1) < more.mpf(10) ** -(digits + 10)


def test_a_sum_is_the_same_the_second_time():
    mp = context(45)

    def bend(t):
        return 1 / (1 + (mp.mpf(t) / 3000) ** 4)

    first = sums.smooth_sum(mp, bend, 1, 10**9)
    again = sums.smooth_sum(mp, bend, 1, 10**9)
    assert abs(again / first - 1) < mp.mpf(10) ** -35


def test_a_sum_that_no_polynomials_follow_is_refused():
    mp = context(20)
    with pytest.raises(sums.TooRough):
        sums.smooth_sum(mp, lambda t: 2 + mp.sin(3 * mp.mpf(t)), 1, 10**7)


def test_roots_from_near_and_from_brackets():
    mp = context(45)

    def gap(x):
        return mp.log(x) ** 3 - 8

    want = mp.exp(2)
    for start in (7.389056098930651, 7.38905, 7.4):
        assert abs(root.root_near(mp, gap, mp.mpf(start), 30) / want - 1) < mp.mpf(10) ** -30
    assert abs(root.root(mp, gap, mp.mpf(1), mp.mpf(1000)) / want - 1) < mp.mpf(10) ** -40
    assert abs(root.root(mp, lambda x: mp.inf if x > 3 else x - 2, mp.mpf(0), mp.mpf(4)) - 2) < mp.mpf(10) ** -40
    assert root.root_near(mp, lambda x: mp.mpf(1), mp.mpf(3), 30) is None
    assert root.root_near(mp, lambda x: x - 1, mp.mpf(3), 30) is None  # far away
    assert root.root_near(mp, lambda x: mp.inf if x > 2.9 else x - 2, mp.mpf(3), 30) is None
    assert root.root_near(mp, lambda x: max(x - 4, mp.mpf(0)), mp.mpf(3), 30) is None  # all of a plateau
    flat = root.root(mp, lambda x: mp.tanh(10 * (x - 1) ** 3), mp.mpf(-3), mp.mpf(20))  # hardly changes far away
    assert abs(flat - 1) < mp.mpf(10) ** -12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line, without", [
    (f"{SHUFFLED} --bound shuffled-iteration --sigma .5 --n 1e12 --epsilon .01", set()),
    (f"{SHUFFLED} --bound shuffled-iteration --sigma 5 --n 1e12 --delta 1e-13", set()),
    (f"{SHUFFLED} --sigma 5 --n 1e6 --delta 1e-7 --bound shuffled-iteration", set()),
    (f"{OUTPUT} --n 1e9 --alpha 4", {"there is no closed form"}),  # of hiding
    ("shuffle-pnsgd --lipschitz 1 --sigma 5 --n 1e9 --alpha 4 --tau .1 --bound without-replacement-conjecture",
     {"there is no closed form"}),  # of the row of a Gaussian release,
    (f"{STREAM} --n 1e12 --epsilon .5", set()),  # e^(−1e30) by online-hybrid
    (f"{STREAM.replace('--index 1', '--index 300000')} --n 300050 --epsilon .5", set()),
    (f"{STREAM} --n 5e8 --delta 1e-7 --noise laplace", set()),
    (f"{STREAM} --n 3e5 --delta 1e-4 --strong-convexity 1e-5", set()),
    (f"{STREAM.replace('1.5', '30')} --n 1e12 --epsilon 1 --noise laplace", set()),
    (f"{SHUFFLED} --bound shuffled-iteration --sigma .5 --n 1e6 --epochs 20 --epsilon 1",
     {"it is composed numerically"}),
    # 20·δ(ε/20) > 1
    (f"{SHUFFLED} --bound shuffled-iteration --sigma .5 --n 1e6 --epochs 20 --epsilon .001",
     {"it is composed numerically"}),
])
def test_digits_at_many_records_are_those_of_the_doubles(line, without, cli):
    done = cli(*line.split(), "--digits", "25", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {n.split(": ", 1)[1] for n in found["notes"] if n.startswith("no digits")} == without
    rows = [row for row in found["bounds"] if "digits" in row and row.get("delta", 1) > 1e-300]
    assert rows
    for row in rows:
        if row["status"] == "lower":
            continue
        (key, text), = row["digits"].items()
        value, digits = row[key] if key in row else row["result"][key], float(text)
        # its sum is in blocks, from below
        loose = 2e-4 if row["name"] == "online-iteration" and "strong" in line else 1e-7
        scale = max(1.0, abs(log(value))) if key == "delta" else 1.0
        assert digits <= value * (1 + 2e-16) and value <= digits * (1 + loose * scale), row["name"]


@pytest.mark.parametrize("line, name, digits", [
    ("online-noise --noise laplace --scales 1 --lipschitz 1 --diameter 2 --learning-rate .1 --smoothness .5 --index 1 "
     "--delta 1e-20 --digits 30",
     "online-contraction", "1.99999999999999999998000000000"),  # 2 − 2δ
    ("subsample --sampling-rate .01 --sigma 10 --steps 1 --delta 1e-300 --digits 15", "rdp-optimal",
     "0.743233172517305"),
    (f"{STREAM.replace('--diameter 1 --learning-rate .01', '--diameter 1 --learning-rate .1').replace('--lipschitz 10', '--lipschitz 1')} "
     "--strong-convexity .01 --n 2e4 --epsilon .5 --digits 15", "online-iteration",
     "1.86113522355408e-2565711807864371097"),
    ("rdp --sigma 100 --steps 10 --epsilon 0 --digits 30", "gaussian-exact", "0.0126151369772034322179091598437"),
    ("subsample --sampling-rate .5 --sigma .7 --steps 50 --epsilon 1 --digits 20", "rdp-improved",
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
