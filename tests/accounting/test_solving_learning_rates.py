"""--solve learning-rate: the largest rate that meets the budget, or the sentence that says why there is none."""

import pytest
from answers import answer, number, refusal

from dpcalc.verify.report import verify

SCHEDULE = "shuffle-pnsgd --lipschitz 1 --diameter 8 --n 100 --smoothness 0 --c1 30 --c2 2"
CURVE = "shuffle-pnsgd --lipschitz .1 --n 1000 --smoothness 1.21 --sigma 1.7 --alpha 3.24 --rdp .001"
CONVEX = ("--lipschitz 1 --diameter 8 --n 100 --smoothness 1 --strong-convexity 1 --c1 30 --c2 2 --delta 1e-5 "
          "--solve learning-rate")
RUN = "shuffle-pnsgd --lipschitz 1 --smoothness"


@pytest.mark.parametrize("line, epsilon, delta", [
    (SCHEDULE, 1, 1e-3),
    (f"{SCHEDULE} --noise laplace", 1, 1e-3),
    ("shuffle-pnsgd --lipschitz .42 --diameter 8 --n 138 --smoothness 0 --noise laplace --c1 31.2 --c2 2", 0.01, 1e-3),
    ("shuffle-pnsgd --lipschitz .42 --diameter 8 --n 138 --smoothness 0 --noise laplace --c1 31.2 --c2 2 --index 32",
     0.01, 9e-150),
])
def test_under_a_schedule_the_largest_learning_rate_is_found(line, epsilon, delta):
    eta = number(f"{line} --epsilon {epsilon} --delta {delta} --solve learning-rate")
    assert number(f"{line} --learning-rate {eta!r} --delta {delta}") <= epsilon
    assert number(f"{line} --learning-rate {1.001 * eta!r} --delta {delta}") > epsilon


def test_without_convexity_the_largest_of_the_small_rates_is_found():
    """With convexity any rate has that budget (shuffled-iteration-rdp)."""
    rate = number(f"{CURVE} --solve learning-rate --bound smooth-nonconvex-shuffled")
    assert rate == pytest.approx(0.0174274, rel=1e-5)
    assert "every learning rate from 1e-15 to 1.65289 gives" in refusal(
        f"{CURVE} --solve learning-rate", 3)


def test_bounds_that_fall_and_bounds_that_rise_with_the_rate():
    """Those that lose less with larger steps answer first; the others where these do not."""
    line = ("shuffle-pnsgd --lipschitz 877 --smoothness 1 --n 3 --epochs 100 --sigma 2.78e5 --epsilon .366 "
            "--delta 1.58e-7 --solve learning-rate")
    words = "every learning rate from 1e-15 to 1e+15 gives"
    assert words in refusal(f"{line} --bound smooth-nonconvex", 3)
    assert "has ε = 26.7" in refusal(
        line.replace("2.78e5", "2.78e3").replace("--n", "--diameter .5 --n"), 3)


# under a schedule the loss of strongly convex losses rises, and falls again
@pytest.mark.parametrize("line, at_least, rises", [
    (f"shuffle-pnsgd {CONVEX} --index 50 --epsilon 5e-4", 0.9, False),  # no loss from .002 on
    (f"shuffle-pnsgd {CONVEX} --index 1 --epsilon 3e-4 --bound fixed-order-iteration", 0.9, True),
    ("online-noise --lipschitz 3.66 --diameter 4.5 --smoothness .209 --strong-convexity .0627 --n 22 --index 2 "
     "--decay 1.82 --c1 6.63 --c2 75.3 --delta 5.24e-7 --epsilon .0426 --solve learning-rate", 5, True),
])
def test_where_the_loss_rises_and_falls_with_the_learning_rate(line, at_least, rises):
    """A note says so, and does not say that every smaller rate meets the budget."""
    record = answer(line)
    eta, epsilon = record["result"]["learning_rate"], float(line.split("--epsilon ")[1].split()[0])
    assert eta >= at_least and verify(record).holds
    assert any("may rise and fall" in note for note in record["notes"])
    assert not any(note.startswith("every") for note in record["notes"])
    budget = f" --epsilon {line.split('--epsilon ')[1].split()[0]}"
    rest = line.replace(" --solve learning-rate", "").replace(budget, "")
    assert number(f"{rest} --learning-rate {eta!r}") <= epsilon
    between = [number(f"{rest} --learning-rate {eta * share!r}") for share in (0.02, 0.05, 0.1, 0.2, 0.5)]
    assert (max(between) > epsilon) is rises


@pytest.mark.parametrize("epsilon", [0.8])
def test_a_conversion_named_beside_such_bounds_changes_nothing(epsilon):
    line = ("shuffle-pnsgd --lipschitz 1 --n 1000 --smoothness .5 --diameter 1 --sigma 3 --delta 1e-4 "
            f"--epsilon {epsilon} --solve learning-rate --bound shuffled-iteration")
    other = f"{line} --bound smooth-nonconvex --bound rdp-optimal"
    assert refusal(other, 3) == refusal(line, 3)
    assert "'nope' is not a bound" in refusal(f"{line} --bound nope", 2)


@pytest.mark.parametrize(("line", "end"), [
    ("online-noise --lipschitz 1.5912904969648574 --diameter 0.1935092390557678 --smoothness 0.07446647358652585 "
     "--strong-convexity 0.0023553941731813115 --n 103 --c1 5.243944610230841 --c2 15.240503035126297 "
     "--decay 1.1671435864392532 --index 33 --delta 8.115692985394403e-06 --epsilon 0.000834402630569214 "
     "--solve learning-rate", 26.034253),
])
def test_a_rate_at_which_the_sum_of_few_terms_misses_the_budget(line, end):
    assert answer(line)["result"]["learning_rate"] == pytest.approx(end, rel=1e-6)


def test_a_rate_just_above_those_that_the_sum_of_few_terms_excludes():
    line = ("online-noise --lipschitz .6638190035841054 --diameter 4.100584625810045 --smoothness .022950978411218896 "
            "--n 50 --index 22 --strong-convexity 8.325504292053044e-5 --c1 85.86417698042918 --c2 6.097503049455204 "
            "--decay 1.0238359007323843")
    found = answer(f"{line} --epsilon .0010503983969679476 --delta 7.679671285210991e-7 "
                   f"--solve learning-rate")["result"]["learning_rate"]
    assert found == pytest.approx(0.96328, rel=1e-4)


@pytest.mark.parametrize("line, rate", [
    (f"{RUN} 2 --sigma 2 --strong-convexity .1 --n 10000 --epochs 5 --delta 1e-8", 0.95238),
    (f"{RUN} .5 --sigma 1 --strong-convexity .01 --n 10000 --epochs 2 --delta 1e-6", 3.9215),
])
def test_a_rate_next_to_the_end_of_its_range(line, rate):
    """δ at the budget's ε is composed on a grid of its own, and may miss it there."""
    line = f"{line} --bound shuffled-iteration"
    budget = answer(f"{line} --learning-rate {rate}")["result"]["epsilon"] * (1 + 1e-4)
    found = answer(f"{line} --epsilon {budget!r} --solve learning-rate")["result"]
    assert found["learning_rate"] <= rate * (1 + 1e-3) and 0.995 * budget < found["epsilon"] <= budget


def test_an_epsilon_that_no_rate_lowers_is_said_to_be_the_best_reachable():
    said = refusal("shuffle-pnsgd --lipschitz 64.97907738445888 --smoothness 0 --diameter 1 --n 1 --epochs 3 "
                   "--delta .00794490004331989 --sigma 36.833769852355935 --epsilon 32.5 --solve learning-rate", 3)
    assert "has ε = 32.5" in said


def test_the_best_that_is_reached_is_that_of_the_sharpest_bound():
    line = ("burn-in --n 1000 --batch-size 10 --steps 1000 --lipschitz 1 --smoothness 1 --diameter .1 --sigma .1 "
            "--delta 1e-5")
    words = "has ε = 3.0685"
    assert words in refusal(f"{line} --epsilon 3 --solve learning-rate", 3)


def test_every_diameter_may_meet_a_budget():
    line = ("burn-in --lipschitz .5207926504785778 --smoothness 0 --learning-rate .04676430294704093 --n 269 "
            "--batch-size 1 --steps 6225 --sigma 3.150758882356814 --epsilon .15288488776111206 "
            "--delta .004753340643699415 --solve diameter")
    assert "every diameter from 1e-15 to 1e+15 gives" in refusal(line, 3)
