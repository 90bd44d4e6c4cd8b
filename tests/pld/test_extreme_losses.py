"""Compositions of losses on many scales, at the ends of their range, or infinite alone."""

import json
from math import log, pi, sqrt

import pytest
from answers import answer, number
from calling import call
from conftest import slow
from fuzz import answered

from dpcalc.pld.atoms import Atoms, approximate_dp
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.mixtures import poisson_replaced
from dpcalc.pld.pair import Gaussian, Laplace
from dpcalc.pld.sampled import without_replacement
from dpcalc.verify.report import verify


def test_beyond_all_finite_losses_only_the_infinite_one_is_left():
    parts = ((approximate_dp(0.6), 1), (approximate_dp(0.3, log(3e-5)), 1))
    found = log_delta_at_epsilon(parts, 0.95)
    assert found.lower <= log(3e-5) <= found.upper <= log(3e-5) + 1e-9
    assert log_delta_at_epsilon(((approximate_dp(0.6), 3),), 1.9).upper == -float("inf")


def test_atoms_on_two_scales_are_composed_to_the_precision():
    parts = ((Atoms((0.01, -0.01), (-0.6881598612034429, -0.6981598612034429), -15.526452187381993), 4),
             (Atoms((1.5876833649881594, -1.5876833649881594), (-0.18598033909829226, -1.7736637040864518)), 1))
    found = log_delta_at_epsilon(parts, 1.6074974647376696)
    assert found.lower <= -6.8146332005892259449 <= found.upper <= -6.8146332005892259449 + 2e-3


@pytest.mark.parametrize(("question", "least", "most"), [("--epsilon 0", 1, 1), ("--epsilon 1000", 1, 1),
                                                         slow("--delta 1e-3", 1.385e26, 2.1e26)])
def test_losses_on_many_scales(question, least, most):
    """From .01 to 1.4e26; ε = 1000 is next to nothing among them."""
    profile = ('{"kind":"profile","epsilon":[0.0,0.01164,0.6094,22440000.0,13220000000000.0,1.385e+26],'
               '"delta":[1.0,1.0,0.999999999998,0.999999999702,1.384e-06,0.0]}')
    assert least <= float(answered(["convert", "-", *question.split(), "--steps", "3551", "-q"], profile).out) <= most


@pytest.mark.parametrize(("line", "stdin", "key", "value"), [
    ("tv -", '{"kind":"rdp","alpha":[2,4],"rdp":[9007199254740993,9007199254740993]}', "tv", 1.0),
    ("tv -", '{"kind":"rdp","alpha":[1e6],"rdp":[1e6]}', "tv", 1.0),
    ("subsample --scheme poisson --sampling-rate 5.24e-14 --sigma 0.00436977957476 --steps 100 --delta 1e-6", "",
     "epsilon", 0.0),
])
def test_profiles_with_nothing_finite_or_all_losses_alike(line, stdin, key, value):
    done = answered([*line.split(), "--json"], stdin)
    assert json.loads(done.out)["result"][key] == value


def test_a_step_of_the_search_for_outcomes_that_overflows_is_no_warning():
    """δ at ε = 1 of ten steps is at most the probability that the record is in a batch; with so little noise it is
    nearly that."""
    line = ("subsample --adjacency replace-one --sampling-rate 1e-15 --steps 10 --noise-multiplier 1e-3 --epsilon 1 "
            "-q")
    done = answered(line.split(), "")
    assert done.err == "" and 1e-14 * (1 - 1e-12) <= float(done.out) <= 1.0001e-14


@pytest.mark.parametrize(("line", "least"), [
    ("rdp --mechanism exponential --step-epsilon 1e100 --steps 1000000 --epsilon 1e-8 -q", 1),
    ("rdp --mechanism laplace --scale 1e-308 --steps 1000 --epsilon 1e308 -q", 1),
    ("tv --mechanism discrete-laplace --scale 1e-160 --steps 1000000 -q", 1),
    ("rdp --mechanism exponential --step-epsilon 1e200 --steps 1000000 --epsilon 1e-100 -q", 1),
])
def test_losses_too_large_for_grids_are_no_warning_and_no_fault(line, least):
    done = answered(line.split(), "")
    assert done.err == "" and least <= float(done.out) <= 1


@pytest.mark.parametrize("vectors", ["--p .2,.3,.5 --q .6,.4,0", "--p .6,.4,0 --q .2,.3,.5"])
def test_a_composition_of_infinite_losses_is_verified_and_a_smaller_one_is_not(vectors):
    record = answer(f"tv {vectors} --steps 2")
    assert verify(record).holds
    record = json.loads(json.dumps(record).replace(repr(record["result"]["tv"]), "0.7499999"))
    assert not verify(record).holds


@pytest.mark.parametrize("line, exact", [
    slow("--scale 3.615076236449749 --sampling-rate .001073829209602425 --steps 30219252 --epsilon 6.11837786494422",
         2.8649e-4),
    slow("--scale 21.68244790192555 --sampling-rate .006386205326734589 --steps 18471834 --epsilon 4.117104018492889",
         1.1499e-3),
    ("--scale 21.68244790192555 --sampling-rate .006386205326734589 --steps 10000000 --delta 1e-5", 3.99766),
    slow("--scale 21.68244790192555 --sampling-rate .006386205326734589 --steps 1000000000 --delta 1e-5", 81.3368),
])
def test_millions_of_steps_of_sampled_laplace_noise(line, exact):
    """Against an Edgeworth expansion of the exact loss of a step, and transforms at two steps."""
    assert exact * (1 - 5e-4) <= number(f"subsample --mechanism laplace {line}") <= exact * (1 + 2e-3)


@pytest.mark.parametrize("rate, steps, sigma, epsilon, most", [
    slow(1.9e-5, 1868640, 0.93, 0.21003802676424, 2.03e-7), slow(1.3e-5, 1762244, 0.68, 0.236668705, 3.04e-6),
])
def test_delta_where_the_largest_losses_do_not_fit_the_grid(rate, steps, sigma, epsilon, most):
    line = (f"subsample --scheme without-replacement --sampling-rate {rate} --steps {steps} --sigma {sigma} "
            f"--epsilon {epsilon} --bound wor-profile")
    got = answer(line)["result"]
    assert most / 1.02 <= got["delta"] <= most


def test_composed_laplace_releases_print_no_warning():
    done = answered(["rdp", "--mechanism", "laplace", "--scale", "1", "--steps", "3", "--epsilon", "4"])
    assert done.err == ""


@pytest.mark.parametrize("noise", [1e10, 1e60, 1e200])
@pytest.mark.parametrize("rate", [0.01, 1.0])
def test_enormous_noise_never_has_a_delta_of_0(noise, rate):
    """At ε = 0, δ is at least q/(z√2π), that of one step; at a large ε it is tiny, and not 0: losses are unbounded."""
    line = f"subsample --noise-multiplier {noise!r} --sampling-rate {rate} --steps 3 --bound poisson-profile"
    assert rate / noise / sqrt(2 * pi) <= answer(f"{line} --epsilon 0")["result"]["delta"] <= 3 * rate / noise
    assert answer(f"{line} --epsilon 1e-3")["result"]["delta"] > 0


@pytest.mark.parametrize("pair, share", [
    *((without_replacement(Gaussian(mu), 0.00138), 0.00138) for mu in (1.0, 30.0, 77.0, 300.0)),
    (without_replacement(Laplace(1500.0), 0.00138), 0.00138),
    (without_replacement(approximate_dp(800.0), 1e-4), 1e-4), (poisson_replaced(80.0, 0.00138, 1), 0.00138),
])
def test_large_losses_count_at_zero_as_next_to_it(pair, share):
    """Where losses are so large that their masses under Q underflow, δ(0) is about the probability of a draw."""
    at_zero, next_to_it = (log_delta_at_epsilon([(pair, 20)], epsilon) for epsilon in (0.0, 1e-9))
    assert at_zero.lower <= at_zero.upper and at_zero.upper >= next_to_it.lower - 1e-9
    assert at_zero.upper <= log(1 - (1 - share) ** 20) + 1e-3


def test_sums_that_no_double_holds_have_an_answer_by_another_bound():
    line = ("convert --from outcomes --p 1.2644539515368637e-13,5.830509163850924e-19,0.9999999999998735 --q "
            "5.2187586563823164e-11,0.9975363608789583,0.002463639068854162 --steps 991 --epsilon .0231 --bound "
            "profile-composition -q")
    done = call(line.split())
    assert done.returncode == 0 and float(done.stdout) >= 0.999999 and not done.stderr
