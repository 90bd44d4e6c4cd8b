"""--solve over epochs: it meets the budget, and a little less privacy does not; and the searches that it takes."""

from math import exp, log

import pytest
from last_iterate_lines import answer

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd.samples import about, followed
from dpcalc.numerics.invert import boundary, bracket, bracket_near
from dpcalc.pld.atoms import profile_at_points
from dpcalc.pld.bracket import epsilon_at_delta

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2"
ETA = "--learning-rate .01"
QUESTIONS = [
    (f"{RUN} {ETA} --n 1e6 --epochs 20 --bound shuffled-iteration --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e3 --epochs 100 --bound shuffled-iteration --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e12 --epochs 1000 --bound shuffled-iteration --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e9 --epochs 1000 --index 500000000 --solve sigma", "sigma"),
    (f"{RUN} {ETA} --sigma 4 --epochs 3 --bound shuffled-iteration --solve n", "n"),
    (f"{RUN} {ETA} --sigma 4 --n 1e6 --bound shuffled-iteration --solve epochs", "epochs"),
    (f"{RUN} {ETA} --noise laplace --n 10000 --epochs 1000 --solve scale", "scale"),
]


@pytest.mark.parametrize("line, unknown", QUESTIONS)
def test_a_solution_is_next_to_the_budget(line, unknown):
    found, _ = answer(f"{line} --epsilon 1 --delta 1e-6")
    x, safer = found["result"][unknown], -1 if unknown == "epochs" else 1
    options = line.replace(f" --solve {unknown}", "")

    def epsilon(x):
        return answer(f"{options} --{unknown} {x!r} --delta 1e-6")[0]["result"]["epsilon"]

    less = x * (1 - 0.01 * safer)
    assert 0.998 <= epsilon(x) <= 1 < epsilon(less if unknown in ("sigma", "scale") else int(less))


@pytest.mark.parametrize("steps", [3, 100])
@pytest.mark.parametrize("n, level", [(1000, 10.0), (10**6, 3.0), (10**9, 0.3)])
def test_about_a_profile(n, level, steps):
    """What the first look says is near what the samples say, whose composition it guides."""
    p = {"level": level, "lipschitz": 1.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0, "n": n}
    bound, target = all_bounds()["shuffled-iteration"], log(1e-6)
    a, b = (epsilon_at_delta(((profile_at_points(*samples), steps),), target, bracket=False).upper
            for samples in (about(bound, p), followed(bound, target, steps, p)[0]))
    assert abs(log(a / b)) < 0.1


def test_a_secant_next_to_an_end_saves_half_of_the_way():
    """The root is next to an end: a little beyond it comes next, not 2 % of the bracket."""
    tried = []

    def gap(x):
        tried.append(x)
        return 1e-4 - (x - 1) * 3

    x = boundary(gap, 1.05, 1.0)
    assert gap(x) <= 0 and abs(x - 1 - 1e-4 / 3) < 1e-12 and len(tried) <= 8


def test_a_gap_that_is_nearly_met_is_met():
    tried = []

    def gap(x):
        tried.append(x)
        return 1.0 - exp(x) if x else 0.5

    assert -1e-3 <= gap(boundary(gap, 3.0, -1.0, 1e-15, 1e-3)) <= 0
    few = len(tried)
    boundary(gap, 3.0, -1.0, 1e-15)
    assert few < len(tried) - few


@pytest.mark.parametrize("root", [1e-12, 1e-3, 0.7, 50.0])
def test_steep_gaps_are_bracketed_in_few_steps(root):
    """A δ that falls like e^{−x²}, to nothing: −log δ is 1e300 and more not far beyond."""
    def gap(x):
        nonlocal count
        count += 1
        return 5.0 * (1 - (x / root) ** 2) if x < 1e100 * root else -1.7e308

    count = 0
    meets, fails = bracket(gap, 1.0, +1, 1e-300, 1e300)
    assert gap(meets) <= 0 < gap(fails) and count < 12
    count = 0
    meets, fails = bracket_near(gap, 30 * root, 29 * root, +1, 1e-300, 1e300)
    assert gap(meets) <= 0 < gap(fails) and count < 14
