"""Over epochs: ε at δ and δ at ε are one profile, it falls in ε, and what --solve finds meets the budget both ways."""

import json
from itertools import pairwise
from math import log

import pytest
from answers import answer
from calling import call
from conftest import slow

LAPLACE = "--noise laplace --scale 5 --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness .5 --n 1000 --epochs 10"
GAUSSIAN = "--sigma 4 --lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --n 1000 --epochs 20"
LONG = ("--lipschitz 1.3549804672820815 --diameter 8.02587620562861 --smoothness 0.12435848191360548 --learning-rate "
        "0.6410694129398251 "
        "--n 11 --epochs 1410 --sigma 0.688613282172219")
RARE = "--sigma .0065 --lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --n 1e12 --epochs 20"
FLOOR = 1e-298  # what is smaller in one epoch is rounded up to that, before it is composed


def result(line):
    return answer(f"shuffle-pnsgd {line}")["result"]


def delta(run, epsilon):
    return result(f"{run} --epsilon {epsilon!r}")["delta"]


@pytest.mark.parametrize("run, epsilons", [
    (LAPLACE, (0.1, 0.3, 0.39, 0.3999, 0.4, 0.5, 0.8, 1.0, 2.0, 4.1)),  # one epoch has δ = 0 from .4 on, ten from 4
    (LAPLACE + " --index 1", (0.1, 0.39, 0.4, 0.5, 0.8, 1.0)),
    (GAUSSIAN, (0.1, 1.0, 5.0, 20.0)),
    (RARE, (0.5, 5.0, 1000.0)),
])
def test_delta_falls(run, epsilons):
    found = [delta(run, e) for e in epsilons]
    assert all(0 < b < a or 0 < b == a < FLOOR for a, b in pairwise(found) if b > 0) and found[0] > 0


@pytest.mark.parametrize("run, at, log_width",
                         [(LAPLACE, 1e-5, 0.01), (LAPLACE, 1e-12, 0.05), (LAPLACE + " --index 990", 1e-3, 0.01),
                                                (GAUSSIAN, 1e-6, 0.01), (LONG, 2.5e-9, 0.2), (RARE, 1e-7, 0.4)])
def test_there_and_back(run, at, log_width):
    """δ at the ε of a δ is that δ again, up to what both are above the composition."""
    epsilon = result(f"{run} --delta {at!r}")["epsilon"]
    assert at * (1 - log_width) <= delta(run, epsilon) <= at * (1 + log_width)


@pytest.mark.parametrize("unknown, run", [
    ("epochs",
     "--noise laplace --scale 4.042915818603405 --lipschitz .2191282617685953 --diameter 1.010362262773297 "
     "--smoothness 8.8 "
               "--strong-convexity .37 --learning-rate .08 --n 144 --epsilon .2172 --delta .193"),
    ("scale",
     "--noise laplace --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness .5 --n 1000 --epochs 10 --epsilon 1 "
     "--delta 1e-5"),
    ("sigma",
     "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --n 1000 --epochs 20 --epsilon 1 --delta 1e-6"),
])
def test_solutions_meet_the_budget_both_ways(unknown, run):
    x = result(f"{run} --solve {unknown}")[unknown]
    words = run.split()
    epsilon, at = (float(words[words.index(f"--{q}") + 1]) for q in ("epsilon", "delta"))
    rest = " ".join(w for k, w in enumerate(words) if w not in ("--epsilon", "--delta")
                    and words[k - 1] not in ("--epsilon", "--delta"))
    assert result(f"{rest} --{unknown} {x!r} --delta {at!r}")["epsilon"] <= epsilon
    assert delta(f"{rest} --{unknown} {x!r}", epsilon) <= at * 1.005


@pytest.mark.parametrize("eta", (1, 2))
def test_no_number_of_epochs(eta):
    line = f"shuffle-pnsgd --lipschitz 1 --diameter 1 --learning-rate {eta} --smoothness .5 --n 10000 --sigma 2 --epsilon .5 --delta 1e-7"
    code, _, err = call([*f"{line} --solve epochs --bound shuffled-iteration".split(), "--json"])
    assert code == 3 and json.loads(err)["error"]["code"] == "no-solution"


@pytest.mark.parametrize("line", [
    "--lipschitz .3 --diameter 20 --smoothness 2 --learning-rate .05 --n 10 --epochs 20 --epsilon 8 --delta 1e-6",
    slow("--lipschitz 1 --diameter 2 --smoothness .5 --learning-rate .001 --n 10 --epochs 20 --epsilon 1 --delta 1e-12"),
])
def test_a_solved_sigma_meets_the_budget_as_delta_at_its_epsilon(line):
    """And verify accepts that answer."""
    sigma = answer(f"shuffle-pnsgd {line} --solve sigma")["result"]["sigma"]
    question, _, delta = line.partition(" --delta ")
    found = answer(f"shuffle-pnsgd {question} --sigma {sigma!r}")
    assert found["result"]["log_delta"] - log(float(delta)) <= 0
    done = call(["verify", "-"], json.dumps(found))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("line", [
    "--smoothness 0 --learning-rate .0002190371837100414 --diameter .8130282243741105 --n 1153676 --epochs 988206 "
    "--sigma .8401000379504255 --delta 3.79e-7",
    "--smoothness .5 --learning-rate .0007594618917453824 --diameter .49510689149197035 --n 97896 --epochs 557027 "
    "--sigma .8253887094291372 --delta 1.72e-5",
    "--smoothness 0 --learning-rate .0017370746941259751 --diameter .09724064983440289 --n 2481 --epochs 49160 "
    "--sigma 1.4754604234449469 --delta 2.6e-11",
    "--smoothness 0 --learning-rate .002411 --diameter .8702 --n 44606 --epochs 70391 --sigma .09199 "
    "--bound shuffled-iteration --delta 8.5e-6",
])
def test_delta_at_the_epsilon_of_a_delta_over_thousands_of_epochs(line):
    """It is that δ again, within 2 %."""
    run, _, delta = line.partition(" --delta ")
    epsilon = result(f"--lipschitz 1 {run} --delta {delta}")["epsilon"]
    assert result(f"--lipschitz 1 {run} --epsilon {epsilon!r}")["delta"] < 1.02 * float(delta)


def test_an_epsilon_above_100_that_delta_hardly_depends_on():
    """It may lie up to 3 % above, as the README says."""
    line = ("--lipschitz 1 --smoothness .5 --learning-rate .0001219 --diameter .6476 --n 3603 --epochs 4 "
            "--sigma .01867 --bound shuffled-iteration")
    delta = result(f"{line} --epsilon 2098.8")["delta"]
    assert 2098.8 <= result(f"{line} --delta {delta!r}")["epsilon"] < 1.03 * 2098.8
