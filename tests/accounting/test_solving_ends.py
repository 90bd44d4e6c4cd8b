"""Searches over epochs that are hard, as random questions led to them: the solution meets the budget, and its ε is next
to it."""

import pytest
from conftest import slow
from last_iterate_lines import answer, asked

LINES = [
    ("--lipschitz .1 --smoothness .1 --diameter 2 --learning-rate .001 --n 1e12 --sigma .0211 --epsilon .0413 --delta "
     ".000134 "
     "--solve epochs"),
    ("--lipschitz 1 --smoothness .1 --diameter .5 --learning-rate .001 --epochs 29333 --sigma 2.43 --epsilon 7.92 "
     "--delta 6.09e-8 "
     "--solve n"),
    ("--lipschitz 17400 --smoothness 2.34e-5 --diameter 384 --learning-rate 2.34935 --n 5e9 --epochs 20 --epsilon 3440 "
     "--delta "
     ".0389 --solve sigma"),
    ("--lipschitz 8.55 --smoothness 4.02 --diameter 3340 --learning-rate 7.70383e-5 --n 1e12 --epochs 100 --epsilon "
     ".000113 "
     "--delta .00063 --solve sigma"),
    ("--lipschitz 444 --smoothness 1 --diameter 2 --learning-rate .00178143 --n 1e12 --sigma 13.9 --epsilon .0375 "
     "--delta 6.31e-6 "
     "--solve epochs"),
    ("--lipschitz 38.7 --smoothness .5 --diameter .0759 --learning-rate .00999 --n 1e12 --epochs 10000 --epsilon 6.35 "
     "--delta "
     "1.03e-8 --solve sigma"),
    ("--lipschitz 5.87 --smoothness .5 --diameter .0262 --learning-rate 9.62245e-5 --n 6983266 --epochs 3 --epsilon "
     "9.47 --delta "
     "7.46e-165 --solve sigma"),
    ("--lipschitz 1.86 --smoothness .0132 --diameter 709 --learning-rate 2.29 --sigma .193 --epochs 37 --epsilon 282 "
     "--delta "
     "4.49e-13 --solve n"),
    ("--lipschitz .788 --smoothness .661 --diameter .384 --learning-rate 1.03 --n 5.4e11 --epochs 41 --epsilon .0145 "
     "--delta "
     ".00851 --solve sigma"),
    ("--lipschitz 17.1 --smoothness 0 --diameter 4.04 --learning-rate .00415 --n 620000 --epochs 950 --epsilon 395 "
     "--delta "
     "2.56e-10 --solve sigma"),
    ("--lipschitz .511 --smoothness 0 --diameter 4.52 --learning-rate .00837 --epochs 100 --sigma .000219 --epsilon "
     ".00144 --delta "
     ".00049 --solve n"),
    ("--lipschitz 4.33 --smoothness 0 --diameter 26.1 --learning-rate .000221 --n 25000000000 --epochs 11000 --epsilon "
     ".00113 "
     "--delta .000248 --solve sigma"),
    ("--lipschitz 5.99 --smoothness 1.39 --diameter 184 --learning-rate 1.89e-5 --epochs 213 --sigma 3.81 --epsilon "
     ".000184 "
     "--delta .000114 --solve n"),
    ("--lipschitz 1 --smoothness 0 --diameter .5798607 --learning-rate .4153111 --n 111176 --epochs 4 --delta "
     "2.664118e-6 "
     "--epsilon 9744.655 --solve sigma"),
    ("--lipschitz 14.8 --smoothness 0 --diameter 427 --learning-rate 2.06e-05 --n 1.18e+11 --epochs 3 --epsilon "
     "7.29e-05 --delta "
     "1.64e-06 --solve sigma"),
    ("--lipschitz 3.22 --smoothness 0 --diameter 248 --learning-rate .0209 --n 131738000000 --sigma 4.29 --epsilon "
     ".000378 --delta "
     "1.46e-6 --solve epochs"),
    ("--lipschitz 5.18 --smoothness 0 --diameter .0183 --learning-rate .006284 "
     "--epochs 1280 --n 5.17e9 --epsilon 6140 --delta 2.96e-6 --solve sigma"),
    ("--lipschitz .854 --smoothness .201 --diameter 7.82 --learning-rate .000133 --n 678000000000 "
     "--sigma .474 --strong-convexity 4.45e-7 --epsilon .0165 --delta .00028 --solve epochs"),
    ("--lipschitz 236 --smoothness .247 --diameter .0221 --n 26600000 --epochs "
     "436 --learning-rate .00221 --epsilon 950 --delta 4.71e-5 --solve sigma"),
    ("--lipschitz .1 --smoothness .1 --diameter 2 --learning-rate .001 --n "
     "1e12 --sigma .0211 --epsilon .0413 --delta .000134 --solve epochs"),
    ("--lipschitz 1 --smoothness .5 --diameter 1 --learning-rate 1 --n "
     "5e9 --epochs 1000 --epsilon .0146 --delta .00197 --solve sigma"),
    ("--lipschitz 97.6 --smoothness 0 --diameter .755 --learning-rate 4.03856 "
     "--n 1e6 --epochs 1000 --epsilon 7010 --delta .00236 --solve sigma"),
    ("--lipschitz 89.5 --smoothness 0 --diameter .809 --learning-rate .0594 --n "
     "290000000000 --epochs 400 --epsilon 281 --delta 4.62e-9 --solve sigma"),
]
LONG = (10, 16, 18, 21)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", [slow(line) if k in LONG else line for k, line in enumerate(LINES)])
def test_hard_searches(line):
    epsilon = float(line.split("--epsilon ")[1].split()[0])
    result = answer(f"shuffle-pnsgd {line} --bound shuffled-iteration")[0]["result"]
    assert (0.96 if epsilon > 1e-3 else 0.6) * epsilon < result["epsilon"] <= epsilon


@pytest.mark.filterwarnings("ignore")
def test_the_longest_search_by_laplace_noise():
    """Where losses are rare, ε is told less closely."""
    result = answer("shuffle-pnsgd --lipschitz .361 --smoothness .0284 --diameter .249 --learning-rate .783 --scale "
                    ".0404 --noise laplace "
                    "--epochs 210 --epsilon .0207 --delta 1.76e-12 --solve n --bound shuffled-contraction")[0]["result"]
    assert result["n"] == pytest.approx(6.0663e15, rel=2e-2) and result["epsilon"] <= 0.0207


def refused(line):
    code, _, err = asked(f"shuffle-pnsgd {line} --bound shuffled-iteration".split())
    assert code == 3
    return err


def test_a_plateau_above_the_budget():
    assert "has ε = 49" in refused(
        "--lipschitz 1 --smoothness 0 --diameter 2.83 --n 1406 --epochs 97 --sigma .0465 --epsilon 4320 --delta "
        "1.07e-8 --solve learning-rate")


def test_no_number_of_epochs():
    assert "no number of epochs gives" in refused(
        "--lipschitz 5.55 --smoothness 0 --diameter 679 --learning-rate .00225 --n 1.12955e9 --sigma .000134 --epsilon "
        ".00822 --delta 6.12e-6 "
        "--solve epochs")


def test_the_end_of_the_range_where_no_step_says_how_far_it_is():
    """Every rate meets the budget, and the loss hardly changes with it: a search that ends is not left at a rate in
    between."""
    assert "every learning rate from 1e-15 to 68.7285 gives" in refused(
        "--lipschitz 2.19 --smoothness .0291 --diameter 67.8 --n 3.7e9 --epochs 85 --sigma .472 --epsilon .088 --delta "
        "1.19e-5 "
        "--solve learning-rate")


@pytest.mark.filterwarnings("ignore")
def test_the_last_of_few_epochs():
    """A bracket of three: the one between is looked at."""
    line = ("shuffle-pnsgd --lipschitz .481 --smoothness .0232 --diameter .108 --learning-rate 3.57 --n 8.1e9 --sigma "
            ".05 --delta 1.74e-9 "
            "--bound shuffled-iteration")
    found = answer(f"{line} --epsilon 95.5 --solve epochs")[0]["result"]
    assert found["epsilon"] <= 95.5 < answer(f"{line} --epochs {found['epochs'] + 1}")[0]["result"]["epsilon"]
