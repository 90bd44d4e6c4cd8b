"""burn-in --solve."""

import json

import pytest
from burn_in_runs import LINE, answer
from calling import call
from conftest import slow

from dpcalc import NoSolution
from dpcalc.commands.burn_in import COMMAND


@pytest.mark.parametrize("name", ["sigma", slow("steps"), "learning-rate", "batch-size", "n", "diameter"])
def test_solved_parameter_meets_the_budget_and_is_tight(name):
    key = name.replace("-", "_")
    said = {k: v for k, v in LINE.items() if k != key} | ({} if name == "sigma" else {"sigma": "0.1"})
    budget = "8" if name == "batch-size" else "3"
    got = answer(**said, delta="1e-5", epsilon=budget, solve=name, bound=("burn-in-rdp",))
    x, worse = got.value, COMMAND.option(key).quantity.safe_direction

    def epsilon(value):
        return answer(**{**said, key: repr(value)}, delta="1e-5", bound=("burn-in-rdp",)).value

    assert epsilon(x) <= float(budget)
    beyond = x - worse if isinstance(x, int) else x * (1 - worse * 1e-6)
    assert epsilon(beyond) > float(budget)


def test_solved_by_rdp_budget_and_flat_in_steps():
    bound = ("burn-in-rdp",)
    without_sigma, without_steps = ({k: v for k, v in LINE.items() if k != left} for left in ("sigma", "steps"))
    assert answer(**without_sigma, alpha="4", rdp="1", solve="sigma", bound=bound).value > 0.1
    with pytest.raises(NoSolution, match="every number of steps"):
        answer(**without_steps, alpha="4", rdp="5", solve="steps", bound=bound)


PROFILE = {"n": "60000", "batch_size": "128", "lipschitz": "1", "smoothness": "1", "learning_rate": "0.05",
           "diameter": "2", "delta": "1e-5"}


@pytest.mark.parametrize(("said", "budget", "solve", "worse"), [
    slow({"steps": "1e6"}, 1.0, "sigma", 0.998),
    ({"sigma": ".1"}, 2.0, "steps", 1.01),
])
def test_the_profile_is_solved_too(said, budget, solve, worse):
    others = ("burn-in-rdp", "burn-in-profile", "composition-profile")
    solved = answer(**PROFILE, **said, epsilon=repr(budget), solve=solve, bound=others)
    # as sharp as each other where all steps count
    assert solved.headline.route.bound.name in ("burn-in-profile", "composition-profile")
    assert solved.headline.result["epsilon"] <= budget

    def back(x):
        return answer(**PROFILE, **said, **{solve: repr(x)}, bound=("burn-in-profile",)).value

    assert back(solved.value) <= budget < back(type(solved.value)(solved.value * worse))


def test_a_theorem_that_cannot_win_says_what_it_gives_at_the_solution():
    """It is not solved for, unless it is named; and what it gives is what it answers to the question at that σ."""
    run = {**PROFILE, "steps": "1e7"}
    solved = answer(**run, epsilon="2", solve="sigma")
    unsolved = [row for row in solved.rows if "sigma" not in row.result]
    assert {row.route.bound.name for row in unsolved} == {"burn-in-profile", "composition-profile"}
    assert all("sigma" in row.result for row in solved.rows[: -len(unsolved)])
    for row in unsolved:
        at_solution = answer(**run, sigma=repr(solved.value), bound=(row.route.bound.name,)).value
        assert row.result["epsilon"] == pytest.approx(at_solution, rel=1e-9) and row.result["epsilon"] > 2


@pytest.mark.parametrize("line, bound", [
    ("burn-in --n 6000 --batch-size 128 --steps 100 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter 2 "
     "--delta 1e-5 --epsilon 4 --solve sigma", "burn-in-contraction"),  # gives nothing at the best σ
    ("rdp --mechanism discrete-laplace --epsilon .7 --delta 1e-7 --steps 30 --solve scale",
     "discrete-laplace-exact"),  # as good as the best one, but for rounding
])
def test_a_theorem_without_a_number_at_the_solution_or_next_to_the_best_is_solved(line, bound):
    unknown, rows = line.split()[-1], json.loads(call([*line.split(), "--json"]).stdout)["bounds"]
    assert next(row for row in rows if row["name"] == bound)[unknown] > 0


def test_bounds_that_are_named_are_all_solved_for():
    run = {**PROFILE, "steps": "195", "epsilon": "2"}
    named = answer(**run, solve="sigma", bound=("burn-in-profile", "composition-profile", "burn-in-rdp"))
    assert all(row.result["epsilon"] <= 2 and row.result["sigma"] >= named.value for row in named.rows)
    assert named.value == pytest.approx(answer(**run, solve="sigma").value, rel=2e-4)


@pytest.mark.slow
def test_contraction_is_solved_with_less_noise_and_for_every_number_of_steps():
    said = {**PROFILE, "steps": "1e6"}
    solved = answer(**said, epsilon="1", solve="sigma", bound=("burn-in-contraction",))
    by_profile = answer(**said, sigma=repr(solved.value), bound=("burn-in-profile",))
    assert answer(**said, sigma=repr(solved.value), bound=("burn-in-contraction",)).value <= 1 < by_profile.value
    assert answer(**said, sigma=repr(solved.value * 0.998), bound=("burn-in-contraction",)).value > 1
    with pytest.raises(NoSolution, match="every number of steps"):
        answer(**PROFILE, sigma=".1", epsilon="1", solve="steps")


def test_a_budget_that_any_number_of_steps_meets():
    with pytest.raises(NoSolution, match="every number of steps from 1 to 9"):
        answer(**PROFILE, sigma=".2", epsilon="5", solve="steps", bound=("burn-in-rdp",))
    assert answer(**PROFILE, sigma=".1", epsilon="2", solve="steps", bound=("burn-in-rdp",)).value > 1


@pytest.mark.slow
def test_the_largest_set_for_a_budget_is_that_of_burn_in_contraction():
    said = {**LINE, "n": "60000", "batch_size": "128", "lipschitz": "1", "smoothness": "1", "learning_rate": ".05",
            "sigma": ".1", "steps": "1e6"}
    said.pop("diameter", None)
    found = answer(**said, epsilon=".5", delta="1e-5", solve="diameter")
    assert found.rows[0].route.bound.name == "burn-in-contraction" and found.value == pytest.approx(1.6375, rel=0.01)
