"""What a sixth review found, each as it was asked."""

import pytest
from calling import call
from last_iterate_lines import answer

from dpcalc.bounds.pnsgd import fixed_order_iteration_rdp
from dpcalc.verify.report import verify

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness"


@pytest.mark.parametrize("line, rate", [
    (f"{RUN} 2 --sigma 2 --strong-convexity .1 --n 10000 --epochs 5 --delta 1e-8", 0.95238),
    (f"{RUN} .5 --sigma 1 --strong-convexity .01 --n 10000 --epochs 2 --delta 1e-6", 3.9215),
])
def test_a_budget_that_is_met_next_to_the_end_of_a_range(line, rate):
    """δ at the budget's ε is composed on a grid of its own, and may miss it there."""
    line = f"{line} --bound shuffled-iteration"
    budget = answer(f"{line} --learning-rate {rate}")[0]["result"]["epsilon"] * (1 + 1e-4)
    found = answer(f"{line} --epsilon {budget!r} --solve learning-rate")[0]["result"]
    assert found["learning_rate"] <= rate * (1 + 1e-3) and 0.995 * budget < found["epsilon"] <= budget


def test_a_plateau_whose_delta_says_more_than_its_epsilon():
    """It "does not settle", as steps from 1e-15 on were a few percent each."""
    budget = 2.4989781
    line = f"{RUN} 1 --noise laplace --scale 8 --diameter 10 --n 10 --epochs 10 --delta 1e-6"
    rate = answer(f"{line} --epsilon {budget} --solve learning-rate")[0]["result"]["learning_rate"]
    assert rate > 0.01 and answer(f"{line} --learning-rate {rate!r}")[0]["result"]["epsilon"] <= budget


def test_a_square_that_underflows():
    """It was 0, which `verify` refused."""
    p = {"level": 1.0, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": 1.0, "strong_convexity": 0.5, "n": 1000, "index": 1}
    assert fixed_order_iteration_rdp.value(8.0, **p) == 1e-300
    record, _ = answer(f"{RUN} 1 --sigma 1 --diameter 1 --strong-convexity .5 --learning-rate 1 --n 1000 --index 1 --alpha 8")
    assert record["result"]["rdp"] == 1e-300 and verify(record).holds


def test_noise_with_which_an_epoch_keeps_nothing():
    """It was a fault: there is no finite loss to compose."""
    line = f"{RUN} .5 --strong-convexity .25 --diameter 1 --n 48 --index 2 --epochs 10 --learning-rate 1 --delta 1e-9"
    sigma = answer(f"{line} --epsilon 4000 --solve sigma")[0]["result"]["sigma"]
    assert 0 < answer(f"{line} --sigma {sigma!r}")[0]["result"]["epsilon"] <= 4000


@pytest.mark.parametrize("line, least, most", [  # σ that meets its budget, and how much was told: 4.5, 1.45 and 1.26 times that
    ("--diameter .17525856167975085 --n 1983013 --epochs 20 --learning-rate .16145156063514693 --delta 3.1458496591657265e-6 "
     "--epsilon 7981.605373349326", 0.0159, 0.0215),
    ("--diameter .1715572086412964 --n 108 --epochs 8 --learning-rate 2.4268274929485782 --delta 1.5901935928977644e-9 "
     "--epsilon 5675.8443186261575", 0.0420, 0.0433),
    ("--diameter 1.780670902958908 --n 7808947 --epochs 9 --learning-rate 4.000459932690725 --delta 1.495709072988382e-6 "
     "--epsilon 708.6424183292969", 0.036, 0.04),
])
def test_a_search_at_a_large_epsilon_does_not_end_at_basic_composition(line, least, most):
    assert least < answer(f"{RUN} .02 {line} --solve sigma --bound shuffled-iteration")[0]["result"]["sigma"] < most


@pytest.mark.parametrize("line", [
    f"{RUN} 0 --sigma 2 --diameter 1 --learning-rate 1 --n 5 --delta 1e-6",
    f"{RUN} 0 --sigma 2.17 --diameter .239 --learning-rate .00322 --n 19 --index 10 --delta 3.43e-5",
    f"{RUN} .5 --noise laplace --scale 3 --diameter 1 --learning-rate .1 --n 40 --delta 1e-4",
])
def test_the_budget_of_one_epoch_is_met_by_one(line):
    """Of the bounds of one epoch another one may be the smallest, by rounding, than is composed."""
    budget = answer(f"{line} --epochs 1")[0]["result"]["epsilon"]
    record, _ = answer(f"{line} --epsilon {budget!r} --solve epochs")
    assert record["result"]["epochs"] == 1 and record["result"]["epsilon"] <= budget and verify(record).holds


@pytest.mark.parametrize("rest, option", [
    ("--noise laplace --smoothness 0 --c1 100 --c2 0 --n 21 --learning-rate 1 --solve epochs", "--c2"),
    ("--noise laplace --smoothness 0 --c1 100 --c2 0 --n 21 --epochs 3 --solve learning-rate", "--c2"),
    ("--smoothness .5 --strong-convexity .5 --learning-rate 2 --c1 100 --c2 2 --n 30 --solve epochs", "--learning-rate"),
])
def test_a_parameter_out_of_scope_is_named_where_epochs_are_searched(rest, option):
    """It was "no epochs meets the budget", with exit code 3."""
    done = call(["shuffle-pnsgd", "--lipschitz", "1", "--diameter", "1", "--epsilon", "1", "--delta", "1e-6", *rest.split()])
    assert done.returncode == 2 and f" {option}: " in done.stderr


@pytest.mark.parametrize("line, said", [
    # "it can be " was followed by nothing.
    ("--noise laplace --scale 3 --n 1000 --tau .5 --alpha 16 --bound without-replacement-conjecture",
     "--bound: 'without-replacement-conjecture' is not a bound for this question (laplace noise)\n"),
    # "--diameter: not used for partial passes", where it is --tau that makes it one.
    ("--sigma 3 --smoothness .5 --learning-rate .1 --diameter 1 --n 1000 --alpha 16 --bound without-replacement-conjecture",
     "--tau: needed for partial passes\n"),
])
def test_what_the_conjecture_needs(line, said):
    done = call(["shuffle-pnsgd", "--lipschitz", "1", *line.split()])
    assert done.returncode == 2 and done.stderr.endswith(said)


@pytest.mark.parametrize("asked, told", [("--delta 1e-5", "the worst record, 1000, has ε = "), ("--epsilon 1.1737314339856124", "at ε = 1.1737314339856124 (")])
def test_the_worst_position_at_an_epsilon_as_it_was_given_or_rounded_where_it_was_found(asked, told):
    line = f"{RUN} .5 --learning-rate .01 --diameter 2 --sigma 3 --n 1000 --index 500 {asked}"
    assert told in call(line.split()).stdout
