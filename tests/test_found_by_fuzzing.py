"""What fuzzing and measuring found, each as it was found."""

import json
import time
from math import log

import fuzz
import mpmath
import pytest

from dpcalc.bounds import all_bounds
from dpcalc.bounds.curve import of
from dpcalc.pld.atoms import Atoms, approximate_dp
from dpcalc.pld.bracket import log_delta_at_epsilon

BOUNDS = all_bounds()


def answered(args, stdin=b""):
    done = fuzz.call(args, stdin)
    assert not fuzz.faults(args, done, stdin)
    return done


@pytest.mark.parametrize("question", [["--delta", "1e-5"], ["--alpha", "4"], ["--steps", "10", "--delta", "1e-5"]])
def test_a_total_variation_of_1_promises_nothing(question):
    done = answered(["convert", "-", *question], b'{"kind":"tv","tv":1}')
    assert done.code in (2, 3) and done.err.count("\n") == 1


def test_a_profile_of_delta_1_promises_nothing():
    profile = b'{"kind":"profile","epsilon":[0,1],"delta":[1,1]}'
    assert answered(["convert", "-", "--delta", "1e-5"], profile).code in (2, 3)
    assert float(answered(["convert", "-", "--to", "tv", "-q"], profile).out) == 1


def test_two_dashes_alone_print_the_help():
    assert answered(["--"]).out == answered(["--help"]).out


def test_beyond_all_finite_losses_only_the_infinite_one_is_left():
    """It was refused as too fine a grid."""
    parts = ((approximate_dp(0.6), 1), (approximate_dp(0.3, log(3e-5)), 1))
    found = log_delta_at_epsilon(parts, 0.95)
    assert found.lower <= log(3e-5) <= found.upper <= log(3e-5) + 1e-9
    assert log_delta_at_epsilon(((approximate_dp(0.6), 3),), 1.9).upper == -float("inf")


def test_atoms_on_two_scales_are_composed_to_the_precision():
    """The bracket was 8.7 wide, since a finer grid was not tried."""
    parts = ((Atoms((0.01, -0.01), (-0.6881598612034429, -0.6981598612034429), -15.526452187381993), 4),
             (Atoms((1.5876833649881594, -1.5876833649881594), (-0.18598033909829226, -1.7736637040864518)), 1))
    found = log_delta_at_epsilon(parts, 1.6074974647376696)
    assert found.lower <= -6.8146332005892259449 <= found.upper <= -6.8146332005892259449 + 2e-3


def test_a_composition_of_laplace_releases_says_nothing_else_on_stderr():
    done = answered(["rdp", "--mechanism", "laplace", "--scale", "1", "--steps", "3", "--epsilon", "4"])
    assert done.err == ""


@pytest.mark.parametrize(("name", "p"), [
    ("laplace-exact", {"scale": 0.007691013114077646, "sensitivity": 0.6397425561693715, "epsilon": 18.030132901462515}),
    ("outcomes-exact", {"p": (0.9332562106892743, 0.0667437893107257), "q": (0.25753934852714166, 0.7424606514728583),
                        "epsilon": 2.3780381312243297}),
    ("composition-basic", {"points": ((0.00011669506515188399, 0.012080861717922841, 75),), "epsilon": 0.009210349433748427}),
])
def test_values_that_were_below_their_theorem_by_a_rounding(name, p):
    mp = mpmath.mp.clone()
    mp.dps = 60
    want = mp.log(BOUNDS[name].exact(mp, **p))
    assert want <= BOUNDS[name].value(**p) <= want + BOUNDS[name].rtol * max(1, abs(want)) * 10


def test_rates_at_a_tiny_sampling_rate_take_seconds():
    """Each ε had a search of the order from the start: 25 s."""
    start = time.process_time()
    done = answered(["tv", "--sampling-rate", "1e-8", "--sigma", "1", "--steps", "10", "--fpr", "0.01", "--json"])
    tpr = json.loads(done.out)["result"]["tpr"]
    assert 0.01 <= tpr <= 0.010001
    assert time.process_time() - start < 15


@pytest.mark.parametrize("line", [
    "online-noise --noise laplace --lipschitz 10 --diameter 1.99e12 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 --c1 100 --c2 100 --index 100 "
    "--n 1e4 --epsilon 1",
    "shuffle-pnsgd --noise laplace --c1 1e12 --c2 2 --lipschitz 10 --diameter 1e12 --learning-rate 0.1 --smoothness 0.5 --n 100 --epsilon 100",
])
def test_the_limit_of_a_delta_of_0_is_0(line):
    """It was said to be nan times 5e-324, and broke JSON."""
    done = answered([*line.split(), "--json"])
    result = json.loads(done.out)["result"]
    assert result["delta"] == 0
    assert result["delta_limit"] == 0 or result["limit_factor"] == 0


def test_a_short_sum_of_inverse_squares_far_out():
    """The last term of Euler-Maclaurin was that of an endless sum: 3.6e-11 too much, above the claim of 2e-11."""
    from dpcalc.bounds.pnsgd.without_replacement_sum import inverse_squares

    for low, high in ((541, 545), (300, 301), (258, 258), (1000, 100_000), (1, 1000)):
        want = mpmath.fsum(1 / mpmath.mpf(x) ** 2 for x in range(low, high + 1))
        assert want <= inverse_squares(low, high) <= want * (1 + mpmath.mpf("2e-14"))


@pytest.mark.parametrize(("line", "stdin", "key", "value"), [
    ("tv -", '{"kind":"rdp","alpha":[2,4],"rdp":[9007199254740993,9007199254740993]}', "tv", 1.0),
    ("tv -", '{"kind":"rdp","alpha":[1e6],"rdp":[1e6]}', "tv", 1.0),
    ("subsample --scheme poisson --sampling-rate 5.24e-14 --sigma 0.00436977957476 --steps 100 --delta 1e-6", "", "epsilon", 0.0),
])
def test_profiles_with_nothing_finite_or_all_losses_alike(line, stdin, key, value):
    """There was nothing to compose; and losses that are all the same were all cut off: faults both."""
    done = answered([*line.split(), "--json"], stdin)
    assert json.loads(done.out)["result"][key] == value


def test_losses_that_would_overflow_in_a_cell():
    """A tilt for a δ far larger than what is lost, of losses up to 2e30: warnings of overflow, and no numbers."""
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --strong-convexity .5 --learning-rate .001 --diameter .5 --epochs 10 --n 133000000000"
    done = answered([*line.split(), "--sigma", "1e-15", "--delta", "2.87e-05", "--json"])
    assert json.loads(done.out)["result"]["epsilon"] == 0


def test_the_order_of_batches_without_replacement_takes_few_summands(monkeypatch):
    """Whole orders up to 1e5 of a pure mechanism: 12 s, and 24 s where there is nothing to sample, as every summand was computed."""
    from dpcalc.bounds.sampling import wor_rdp

    calls, once = [0], wor_rdp.log_choose

    def counted(*args):
        calls[0] += 1
        return once(*args)

    monkeypatch.setattr(wor_rdp, "log_choose", counted)
    for rate, most in ((0.05, 20_000), (0.5, 20_000), (0.7, 20_000), (1.0, 10_000)):
        calls[0] = 0
        result = json.loads(answered(["subsample", "--scheme", "without-replacement", "--mechanism", "laplace", "--scale", "0.5", "--sampling-rate",
                                      str(rate), "--steps", "2", "--delta", "1e-5", "--bound", "wor-rdp", "--json"]).out)["result"]
        assert 0 < result["epsilon"] <= 4 and calls[0] <= most


@pytest.mark.parametrize("order", [7, 900, 1001, 20_000, 99_999])
@pytest.mark.parametrize("rate", [1e-4, 0.05, 0.3])
def test_the_look_at_orders_is_near_the_bound(order, rate):
    bounds = all_bounds()
    base = of(bounds["laplace-rdp"], pure=2.0, scale=0.5, sensitivity=1.0)
    for name in ("wor-rdp", "weighted-rdp"):
        assert bounds[name].coarse(order, rate, base) == pytest.approx(bounds[name].value(order, rate, base), rel=1e-6)


@pytest.mark.parametrize(("question", "least", "most"), [("--epsilon 0", 1, 1), ("--epsilon 1000", 1, 1), ("--delta 1e-3", 1.385e26, 2.1e26)])
def test_losses_on_many_scales(question, least, most):
    """A loss of 1e26 that a rounding puts next to its place on the grid was worth e^(1e10): warnings, and nothing composed."""
    profile = ('{"kind":"profile","epsilon":[0.0,0.01164,0.6094,22440000.0,13220000000000.0,1.385e+26],'
               '"delta":[1.0,1.0,0.999999999998,0.999999999702,1.384e-06,0.0]}')
    assert least <= float(answered(["convert", "-", *question.split(), "--steps", "3551", "-q"], profile).out) <= most


STREAM = "online-noise --lipschitz 446 --smoothness 0 --diameter 0.0413 --learning-rate 0.0443181 --c2 0"


@pytest.mark.parametrize("line", [
    f"{STREAM} --index 10000 --n 10000 --c1 1e3 --decay 1.25 --delta 3.44e-11",  # the limit's sum of losses of 1e12 to step 1e300
    f"{STREAM} --index 1 --n 1 --c1 1 --decay 1.93 --delta 1e-100 --digits 20",
])
def test_streams_whose_losses_are_far_beyond_doubles(line):
    answer = json.loads(answered([*line.split(), "--json"]).out)
    assert all(0 <= answer["result"][key] < float("inf") for key in ("epsilon", "delta", "delta_limit"))
    assert all(float(text) <= row.get("epsilon", row.get("result", {}).get("epsilon")) * (1 + 1e-12)
               for row in answer["bounds"] for text in row.get("digits", {}).values())


def test_a_stream_at_the_ends_of_the_range_of_its_schedule():
    """log(1 + e^(1e13)) was out of memory; every c1 meets the budget."""
    done = answered([*STREAM.split(), *["--index", "2500", "--n", "5000", "--decay", "1.5", "--epsilon", "0.0325", "--delta", "1.74e-12", "--solve", "c1"]])
    assert not done.out and "every --c1" in done.err
