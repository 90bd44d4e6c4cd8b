"""RDP of the last iterate of convex losses, at a position and for a shuffled record, against the printed sums."""

import json

import mpmath
import pytest
from answers import answer
from calling import call
from conftest import slow

from dpcalc.bounds.pnsgd import iteration
from dpcalc.verify.report import verify

CONVEX = "shuffle-pnsgd --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness 1 --alpha 8"
RUN = "shuffle-pnsgd --lipschitz 1 --smoothness"


@pytest.mark.parametrize("options, rdp", [
    ("--sigma 20 --n 1000 --index 1", 8 * 4 / 400 / 1000 / 2),
    ("--sigma 1 --n 1000 --index 500", 8 * 4 / 501 / 2),
])
def test_a_position_has_its_closed_form(options, rdp):
    """αμ²/2, μ² = (4L²/σ²)/(n − i + 1)."""
    record = call([*CONVEX.split(), *options.split(), "--json"]).stdout
    found = json.loads(record)
    assert rdp <= found["result"]["rdp"] <= rdp * (1 + 1e-12) and found["bound"] == "fixed-order-iteration-rdp"
    assert call(["verify", "-"], record).returncode == 0


@pytest.mark.parametrize("options", ["--sigma 20 --n 1000", slow("--sigma 5 --n 10000"),
                                     slow("--sigma 5 --n 10000 --strong-convexity .2"),
                                     "--sigma .3 --n 70", "--sigma 2 --n 900 --strong-convexity 1 --learning-rate 1"])
def test_a_shuffled_record_has_the_mean_over_its_positions(options):
    """Added up one by one."""
    line = CONVEX.replace("--learning-rate .1 ", "") + " " + (options if "learning-rate" in options
                                                              else options + " --learning-rate .1")
    found = answer(f"{line} --bound shuffled-iteration-rdp")["result"]["rdp"]
    words = line.split()
    p = {words[k][2:]: mpmath.mpf(words[k + 1]) for k in range(1, len(words), 2)}
    c, n, squares = 1 - p["learning-rate"] * p.get("strong-convexity", 0), int(p["n"]), []
    for m in range(n):
        squares.append(c ** (2 * m))
    with mpmath.workdps(30):
        sums = [mpmath.fsum(squares[: m + 1]) for m in range(n)] if n < 2000 else [None] * n
        total = mpmath.mpf(0)
        running = mpmath.mpf(0)
        for m in range(n):
            running += squares[m]
            mu2 = 4 / p["sigma"] ** 2 * squares[m] / (sums[m] or running)
            total += mpmath.expm1(7 * 8 * mu2 / 2)
        expected = float(mpmath.log1p(total / n) / 7)
    assert expected * (1 - 1e-15) <= found <= expected * (1 + 1e-9)


def test_the_noise_of_an_rdp_budget_has_its_closed_form():
    """σ = 2√(α/(2·rdp·n))·√2."""
    found = answer("shuffle-pnsgd --lipschitz 1 --learning-rate .1 --smoothness 1 --n 1000 --alpha 8 --rdp .001 "
                   "--index 1 --solve sigma")
    assert found["result"]["sigma"] == pytest.approx(4.0, rel=1e-9) and found["result"]["rdp"] <= 0.001


def test_a_square_that_underflows_is_not_0():
    """1e-300, which verify accepts as well."""
    p = {"level": 1.0, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": 1.0, "strong_convexity": 0.5, "n": 1000,
         "index": 1}
    assert iteration.FIXED_RDP.value(8.0, **p) == 1e-300
    record = answer(f"{RUN} 1 --sigma 1 --diameter 1 --strong-convexity .5 --learning-rate 1 --n 1000 --index 1 "
                    "--alpha 8")
    assert record["result"]["rdp"] == 1e-300 and verify(record).holds


def test_the_worst_position_is_the_last_one():
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --sigma 3 --n 100 --alpha 3"
    there, last = (answer(f"{line} --index {k}")["result"] for k in (7, 100))
    assert there["worst_index"] == 100 and there["worst_rdp"] == pytest.approx(last["rdp"], rel=1e-14)
    assert last["rdp"] > there["rdp"]
