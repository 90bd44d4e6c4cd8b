"""--solve where δ falls like a cliff: one position among very many, and counts that start at a far position."""

from math import exp, inf

import numpy as np
import pytest
from last_iterate_lines import answer, asked

from dpcalc.bounds import all_bounds
from dpcalc.core.errors import NoSolution
from dpcalc.pld.atoms import profile_at_points
from dpcalc.pld.bracket import log_delta_at_epsilon

STEP = "--lipschitz 1 --smoothness 1 --learning-rate 1 --diameter"
CLIFFS = [
    (f"shuffle-pnsgd {STEP} 1 --index 1 --epochs 1000 --n 1e12 --epsilon 1.14 --delta 2.89e-12", 1.14, 1.994039e-6),
    (f"shuffle-pnsgd {STEP} .5 --index 500000000001 --epochs 10 --n 1e12 --epsilon .322 --delta 2.91e-10", 0.322,
     1.257566e-6),
    ("shuffle-pnsgd --lipschitz 5 --smoothness .5 --learning-rate 1 --diameter .5 --index 1 --epochs 10 --n 1e12 "
     "--epsilon 1.53 "
     "--delta 1.77e-7", 1.53, 7.172844e-7),
]


@pytest.mark.parametrize("line, epsilon, sigma", CLIFFS)
def test_a_solution_at_a_cliff(line, epsilon, sigma):
    found, _ = answer(f"{line} --solve sigma")
    assert found["result"]["sigma"] == pytest.approx(sigma, rel=5e-3)
    assert found["result"]["epsilon"] <= epsilon
    shared = line.replace(f" --epsilon {str(epsilon).lstrip('0')}", "")
    for row in found["bounds"]:
        if not row["name"].startswith("fixed-order-hybrid"):
            continue
        back, _ = answer(f"{shared} --sigma {row['sigma']!r} --bound {row['name']}")
        assert back["result"]["epsilon"] <= epsilon
        less, _ = answer(f"{shared} --sigma {row['sigma'] * (1 - 1e-2)!r} --bound {row['name']}")
        assert less["result"]["epsilon"] > epsilon


FAR = "shuffle-pnsgd --lipschitz 5 --smoothness .5 --learning-rate .1 --diameter .5 --index 2500000001"
COUNTS = [
    # it was 2500056414, and 2500000019 by basic composition
    (f"{FAR} --epochs 10 --sigma 1.7", "4.72", "1.38e-11", 2500000015),
    (f"{FAR} --sigma 1.7", "4.72", "1.38e-11", None),
    (f"{FAR} --epochs 2 --sigma 30", "1", "1e-6", None),
    ("online-noise --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --c1 50 --c2 100 --decay 1.2 --index "
     "1000001", "1", "1e-6",
     None),
]


@pytest.mark.parametrize("line, epsilon, delta, n", COUNTS)
def test_a_count_beyond_a_far_position(line, epsilon, delta, n):
    found, _ = answer(f"{line} --epsilon {epsilon} --delta {delta} --solve n")
    head = found["bounds"][0]
    first = int(line.split("--index ")[1].split()[0])
    assert n is None or head["n"] == n
    back, _ = answer(f"{line} --n {head['n']} --delta {delta} --bound {head['name']}")
    assert back["result"]["epsilon"] <= float(epsilon)
    apart = max(1, (head["n"] - first) // 1000)
    if head["n"] - apart >= first:
        less, _ = answer(f"{line} --n {head['n'] - apart} --delta {delta} --bound {head['name']}")
        assert less["result"]["epsilon"] > float(epsilon)


def test_no_count_beyond_a_far_position_says_the_actual_one():
    code, _, err = asked(f"{FAR} --sigma 1e-9 --epsilon 1e-9 --delta 1e-300 --solve n "
                         "--bound fixed-order".split())
    assert code == 3 and "even --n 9.0072e+15 has" in err


def test_of_several_refusals_the_message_says_the_best_that_any_reaches():
    nearer = NoSolution("no-solution", "no n meets the budget", "--solve", lambda: (2.0, "the best reachable is 2"))
    farther = NoSolution("no-solution", "no n meets it", "--solve", lambda: (3.0, "the best reachable is 3"))
    assert str(nearer) == "--solve: no n meets the budget"
    message = NoSolution.nearest_to_budget([farther, nearer])
    assert str(message) == "--solve: no n meets the budget: the best reachable is 2"
    assert NoSolution.nearest_to_budget([message]).message.count("best") == 1


def test_a_flat_gap_leads_to_the_end():
    """Any learning rate meets this budget."""
    line = ("shuffle-pnsgd --lipschitz .1 --smoothness .5 --diameter 2 --strong-convexity .01 --epochs 1000 --sigma "
            "23.6 --n 1000 --epsilon "
            ".166 --delta 6.32e-10")
    code, _, err = asked(f"{line} --solve learning-rate --bound shuffled-iteration".split())
    assert code == 3 and "every learning rate from 1e-15 to 3.92156 gives" in err


# --- losses far above what is asked ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 30.0])
def test_losses_far_above_cost_next_to_nothing(epsilon):
    """Samples that are cut off 40 above ε: δ grows by e^-20 of itself at most, and never falls."""
    p = {"level": 0.0046, "lipschitz": 1.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0,
         "n": 10**12}
    at = np.array([0.0, *np.geomspace(1e-3, 1e4, 250).tolist()])
    logs, kept = all_bounds()["shuffled-iteration"].blocks.profile(at, 10,
                                                                   **p), int(np.searchsorted(at, epsilon + 40)) + 1
    for asked_about in (epsilon, 2 * epsilon):
        whole, cut = (log_delta_at_epsilon(((profile_at_points(tuple(at[:k].tolist()), tuple(logs[:k].tolist())), 20),),
                                           asked_about, bracket=False)
                      for k in (len(at), kept if asked_about == epsilon else len(at)))
        assert -inf < cut.upper < 0 and whole.upper - 3e-3 <= cut.upper <= whole.upper + 3e-3


def test_a_delta_below_every_sample_is_that_of_basic_composition():
    """Samples are rounded up to e^-690: no grid is of use for less."""
    line = ("shuffle-pnsgd --lipschitz .1 --smoothness .1 --learning-rate .001 --diameter .5 --strong-convexity .1 "
            "--index 5800000001 "
            "--epochs 10 --sigma 54.1 --n 11600000000 --epsilon 1.74 --bound fixed-order-hybrid")
    found, _ = answer(line)
    assert found["result"]["log_delta"] < -1e6 and found["result"]["delta"] < exp(-700)
