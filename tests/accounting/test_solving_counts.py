"""--solve for epochs, steps and n: the last count that meets the budget."""

import pytest
from answers import answer, number, refusal
from calling import call

from dpcalc.verify.report import verify

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness"
SHUFFLED = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


def result(line):
    return answer(line)["result"]


@pytest.mark.parametrize("line, count", [
    ("subsample --sampling-rate .0013016297375789024 --sigma 3.2542540553853976 --epsilon .1232362771178066 "
     "--delta 1.6569566294707484e-23", 958),
    ("rdp --mechanism laplace --scale 1.360603123474322 --sensitivity .5695245183277388 --epsilon 9.670180286868968 "
     "--delta 1.2444220391184462e-6", 26),
    ("subsample --sampling-rate .03536836583978662 --sigma 1.851601844279679 --scheme without-replacement "
     "--epsilon .4067656516478 --delta .0004746325550742399", 45),
    ("subsample --sigma .508 --sampling-rate 7.218416258373194e-5 --epsilon .04 --delta 3.806922117950493e-6", 10),
])
def test_the_last_number_of_steps(line, count):
    assert count - 1 <= number(f"{line} --solve steps") <= count  # ε is known to a thousandth


def test_a_budget_that_one_step_alone_meets():
    """By the profile of a single step."""
    found = answer("burn-in --n 72505 --batch-size 11 --lipschitz .7 --learning-rate .0877 --diameter 19.4 "
                   "--sigma 93.8 --smoothness 0 --delta 9.3e-13 --epsilon 1e-6 --solve steps")
    assert found["result"]["steps"] == 1


@pytest.mark.parametrize("line", [
    f"{RUN} 0 --sigma 2 --diameter 1 --learning-rate 1 --n 5 --delta 1e-6",
    f"{RUN} 0 --sigma 2.17 --diameter .239 --learning-rate .00322 --n 19 --index 10 --delta 3.43e-5",
    f"{RUN} .5 --noise laplace --scale 3 --diameter 1 --learning-rate .1 --n 40 --delta 1e-4",
])
def test_the_budget_of_one_epoch_is_met_by_one(line):
    """Another bound than the composed one may be the smallest for one epoch, by rounding."""
    budget = answer(f"{line} --epochs 1")["result"]["epsilon"]
    record = answer(f"{line} --epsilon {budget!r} --solve epochs")
    assert record["result"]["epochs"] == 1 and record["result"]["epsilon"] <= budget and verify(record).holds


def test_two_epochs_are_found_within_2e_4_of_their_epsilon():
    """They are missed only where their ε is within 1e-4 of the budget, as the README says."""
    line = ("shuffle-pnsgd --noise laplace --lipschitz 1 --smoothness .5 --learning-rate 1.077219522300589 "
            "--diameter 1 --n 94049 --strong-convexity .42831589039931883 --scale 1.3957337160060577 "
            "--delta 1.512899093188463e-10")
    epsilon = result(f"{line} --epochs 2")["epsilon"]
    assert result(f"{line} --epsilon {epsilon * 1.0002!r} --solve epochs")["epochs"] == 2


def test_one_epoch_by_basic_composition_is_not_composed():
    line = f"shuffle-pnsgd {SHUFFLED} --sigma 4 --n 1000"
    refused = refusal(f"{line} --bound shuffled-iteration --epsilon .1 --delta 1e-5 --solve epochs", 3)
    assert "no number of epochs gives ε ≤ 0.1 at δ = 1e-05:" in refused
    one, basic = (answer(f"{line} --epochs 1 --epsilon 1 --bound {name}")["result"]["delta"]
                  for name in ("shuffled-iteration", "shuffled-iteration-basic"))
    assert one <= basic <= one * 1.01


@pytest.mark.parametrize("rest, option", [
    ("--noise laplace --smoothness 0 --c1 100 --c2 0 --n 21 --learning-rate 1 --solve epochs", "--c2"),
    ("--noise laplace --smoothness 0 --c1 100 --c2 0 --n 21 --epochs 3 --solve learning-rate", "--c2"),
    ("--smoothness .5 --strong-convexity .5 --learning-rate 2 --c1 100 --c2 2 --n 30 --solve epochs",
     "--learning-rate"),
])
def test_a_parameter_out_of_range_is_named_where_epochs_are_solved_for(rest, option):
    """With exit code 2, as bad input."""
    done = call(["shuffle-pnsgd", "--lipschitz", "1", "--diameter", "1", "--epsilon", "1", "--delta", "1e-6",
                 *rest.split()])
    assert done.returncode == 2 and f" {option}: " in done.stderr
