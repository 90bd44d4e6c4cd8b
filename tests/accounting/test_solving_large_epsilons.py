"""Solutions at a large ε over epochs, where δ hardly changes with the unknown: ε is next to its budget."""

import pytest
from answers import answer

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness"
LINEAR = "shuffle-pnsgd --lipschitz 1 --smoothness 0"


def result(line):
    return answer(line)["result"]


@pytest.mark.parametrize("line, least", [
    ("--lipschitz 6.915 --diameter .5449 --learning-rate .3492 --n 10523855 --epochs 8297 --c2 2.26 "
     "--epsilon 5805.823963773321 --delta 1.085e-08 --solve c1", 0.95),
    ("--lipschitz 1.883 --diameter .229 --learning-rate .02533 --epochs 5 --sigma .3814 --epsilon 899.1717505136415 "
     "--delta 1e-200 --solve n", 0.98),
    ("--lipschitz .4842 --diameter .1898 --learning-rate .009708 --n 18537421117 --c1 73.36 --c2 2.525 "
     "--epsilon 18.891730786053312 --delta 1.092e-86 --solve epochs", 0.9999),
    ("--lipschitz .282 --diameter 1.61 --learning-rate .003139 --n 10594145690 --epochs 96 --c2 2.944 "
     "--epsilon .40606501133001344 --delta 3.326e-95 --solve c1", 0.998),
])
def test_epsilon_is_near_its_budget(line, least):
    budget = float(line.split("--epsilon ")[1].split()[0])
    assert least * budget <= answer(f"shuffle-pnsgd --smoothness .5 {line} --bound "
                                    f"shuffled-iteration")["result"]["epsilon"] <= budget


@pytest.mark.parametrize("line, least, most", [
    ("--diameter .17525856167975085 --n 1983013 --epochs 20 --learning-rate .16145156063514693 "
     "--delta 3.1458496591657265e-6 --epsilon 7981.605373349326", 0.0157, 0.0215),
    ("--diameter .1715572086412964 --n 108 --epochs 8 --learning-rate 2.4268274929485782 --delta 1.5901935928977644e-9 "
     "--epsilon 5675.8443186261575", 0.0420, 0.0433),
    ("--diameter 1.780670902958908 --n 7808947 --epochs 9 --learning-rate 4.000459932690725 "
     "--delta 1.495709072988382e-6 --epsilon 708.6424183292969", 0.036, 0.04),
])
def test_sigma_is_below_that_of_basic_composition(line, least, most):
    assert least < answer(f"{RUN} .02 {line} --solve sigma --bound shuffled-iteration")["result"]["sigma"] < most


def test_noise_with_which_one_epoch_has_no_finite_loss():
    line = f"{RUN} .5 --strong-convexity .25 --diameter 1 --n 48 --index 2 --epochs 10 --learning-rate 1 --delta 1e-9"
    sigma = answer(f"{line} --epsilon 4000 --solve sigma")["result"]["sigma"]
    assert 0 < answer(f"{line} --sigma {sigma!r}")["result"]["epsilon"] <= 4000


@pytest.mark.parametrize("line, most", [
    ("--learning-rate .3078759001641168 --diameter 95.53048754946809 --n 290579 --epochs 5 "
     "--delta 2.1504264354505984e-11 --epsilon 15993.39352788634", 0.0171),
    ("--learning-rate 5.183564332273837 --diameter 1 --n 24614 --epochs 5946 --delta 9.639052715964276e-08 "
     "--epsilon 7253.907015577577",
     0.0515),
])
def test_the_least_sigma_is_below_a_known_one(line, most):
    found = result(f"{LINEAR} {line} --solve sigma --bound shuffled-iteration")
    assert found["sigma"] < most and found["epsilon"] <= float(line.split("--epsilon ")[1])


def test_a_budget_just_above_the_least_epsilon_of_basic_composition():
    """The least is 6.83277 here, and basic composition is solved to 5e-4 of ε."""
    line = ("shuffle-pnsgd --smoothness .5 --lipschitz 8.22 --diameter 9.411 --learning-rate .0888 --n 1000 --epochs 2 "
            "--strong-convexity .001092 --c2 1.12 --bound shuffled-iteration-basic --epsilon 6.832968603477014 "
            "--delta 3.149e-49 --solve c1")
    found = answer(line)["result"]
    assert found["epsilon"] <= 6.832968603477014 and found["c1"] < 50_000
