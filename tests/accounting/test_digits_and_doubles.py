"""--digits beside a double: never above it, and next to it, for every conversion and composition with a closed form."""

import json

import mpmath
import pytest
from answers import answer, printed
from calling import call
from conftest import slow

PURE = "convert --from dp --epsilon .5 --delta 0 --steps 1000"
RESPONSE = "rdp --mechanism randomized-response --probability .7 --steps 1000"
mp = mpmath.mp.clone()
mp.dps = 60
BURN_IN = ("burn-in --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 1 --n 100 --steps 10 --delta 1e-5 "
           "--digits 20")
STREAM = "--lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100"


@pytest.mark.parametrize("line, digits", [
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
    rows = 0
    for row in answer(f"{line} --digits {digits}")["bounds"]:
        for name, text in (row.get("digits") or {}).items():
            rows += 1
            value, exact = row[name], mp.mpf(text)
            assert exact <= value * (1 + mp.mpf(2) ** -53), row["name"]
            assert value <= exact * (1 + mp.mpf(1) / 10**6) + mp.mpf(10) ** -300, row["name"]
    assert rows


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


@pytest.mark.parametrize("more", ["--sigma 1 --batch-size 10", "--sigma 1 --batch-size 100",
                                  slow("--batch-size 10 --epsilon 1 --solve sigma")])
def test_digits_beside_a_composed_profile(more):
    done = call(f"{BURN_IN} {more}".split())
    assert done.returncode == 0 and "published formula" in done.stdout


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
    found = answer(f"online-noise {STREAM} --n 1e6 --index 100 --epsilon 1 --certify")["certified"]
    assert 0 <= found["lower"] <= found["upper"]
