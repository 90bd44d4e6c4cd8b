"""Where --solve looks: a closed form has an answer at every size of the noise, and the end of a searched range is never
one."""

from __future__ import annotations

import json
import re
from math import inf, log1p, sqrt
from random import Random

import pytest
from calling import call

from dpcalc import NoSolution, answer, solve

RUN = {"lipschitz": 1, "smoothness": 1, "learning_rate": 0.1, "diameter": 1}


def budget(random, name):
    """From 1e-300 to the other extreme, in the middle too."""
    if name == "delta":
        return random.choice([10 ** random.uniform(-300, -1), random.uniform(0.01, 0.999)])
    if name == "tv":
        return random.choice([10 ** random.uniform(-300, -1), random.uniform(0.01, 0.999),
                              1 - 10 ** random.uniform(-5, -2)])
    return 10 ** random.uniform(-300, 300)


CLOSED = [  # command, unknown, what describes it, the budget, what else is asked
    ("tv", "scale", {"mechanism": "laplace", "sensitivity": 3}, "tv", {}),
    ("tv", "sigma", {"mechanism": "gaussian"}, "tv", {}),
    ("tv", "mu", {}, "tv", {}),
    ("rdp", "scale", {"mechanism": "laplace"}, "epsilon", {"delta": 0}),
    ("rdp", "scale", {"mechanism": "laplace", "steps": 7}, "epsilon", {"delta": 0}),
    ("rdp", "scale", {"mechanism": "laplace", "sensitivity": 2, "bound": "laplace-exact"}, "delta", {"epsilon": 1}),
    ("rdp", "sigma", {"mechanism": "gaussian", "sensitivity": 1e-5, "bound": "gaussian-exact"}, "delta",
     {"epsilon": 1}),
    ("rdp", "sigma", {"mechanism": "gaussian", "bound": "gaussian-exact"}, "epsilon", {"delta": 1e-5}),
    ("convert", "mu", {"from_": "gdp", "bound": "gdp-exact"}, "delta", {"epsilon": 1}),
]


@pytest.mark.parametrize("command, unknown, described, asked, given", CLOSED)
def test_closed_forms_have_an_answer_at_every_budget(command, unknown, described, asked, given):
    """Fed back it meets the budget, and with 1e-9 less privacy it does not."""
    random, less = Random(42), {"scale": -1, "sigma": -1, "mu": 1}[unknown]
    for _ in range(25):
        at = budget(random, asked)
        told = {**given, asked: at}
        x = solve(command, unknown, **described, **told).value
        ask = {k: v for k, v in given.items() if command != "tv"}

        def value(x, ask=ask):
            return answer(command, **described, **{unknown: x}, **ask).result[asked]

        assert value(x) <= at < value(x * (1 + less * 1e-9)), (at, x)


@pytest.mark.parametrize("unknown, described, of", [
    ("sigma", {}, lambda rho: sqrt(4 / (2 * rho))), ("scale", {"mechanism": "laplace"}, None)])
def test_rdp_at_one_order(unknown, described, of):
    random = Random(3)
    for _ in range(25):
        at = 10 ** random.uniform(-300, 300)
        x = solve("rdp", unknown, alpha=4, rdp=at, **described).value
        assert answer("rdp", alpha=4, **{unknown: x}, **described).value <= at
        assert answer("rdp", alpha=4, **{unknown: x * (1 - 1e-9)}, **described).value > at
        if of:
            assert x == pytest.approx(of(at), rel=1e-12)


def test_the_scale_of_laplace_noise_for_a_tiny_total_variation():
    for tv in (1e-100, 1e-12, 0.3):
        x = solve("tv", "scale", mechanism="laplace", sensitivity=3, tv=tv).value
        assert x == pytest.approx(3 / (-2 * log1p(-tv)), rel=1e-12)
    assert call(["tv", "--mechanism", "laplace", "--sensitivity", "3", "--tv", "1e-100", "--solve", "scale",
                 "-q"]).stdout.startswith("1.50000000000000")


SENSITIVE = [("rdp", {"sigma": 1, "bound": "gaussian-exact"}, {"epsilon": 1e-100, "delta": 1e-5}),
             ("rdp", {"mechanism": "laplace", "scale": 1e-200}, {"epsilon": 1, "delta": 0}),
             ("tv", {"mechanism": "gaussian", "sigma": 1e-100}, {"tv": 0.5})]


@pytest.mark.parametrize("command, described, told", SENSITIVE)
def test_the_sensitivity_too(command, described, told):
    x = solve(command, "sensitivity", **described, **told).value
    ask, name = {k: v for k, v in told.items() if k == "delta"}, next(iter(told))
    assert answer(command, **described, sensitivity=x, **ask).result[name] <= told[name]
    assert answer(command, **described, sensitivity=x * (1 + 1e-9), **ask).result[name] > told[name]


EVERY = [  # every value meets the budget
    ("subsample --sampling-rate .01 --steps 1 --epsilon 1 --delta .5 --solve sigma", "sigma from "),
    ("subsample --sampling-rate .01 --steps 10 --epsilon 1 --delta .5 --solve sigma", "sigma from 1e-15 to 1e+15"),
    ("subsample --mechanism laplace --sampling-rate .01 --steps 3 --epsilon 1 --delta .5 --solve scale",
     "scale from "),
    ("subsample --sigma 100 --steps 10 --epsilon 1 --delta .5 --solve sampling-rate",
     "sampling rate from 1e-15 to 1 "),
    ("subsample --scheme weighted --sigma 1000 --steps 1 --epsilon 1 --delta .1 --solve max-weight",
     "max weight from 1e-15 to 1 "),
    ("rdp --mechanism randomized-response --epsilon 1000 --delta 0 --solve probability",
     "probability from 0.5 to 1 "),
    ("tv --mechanism gaussian --tv 1 --solve sigma", "sigma from "),
    ("burn-in --n 1000 --batch-size 10 --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 1 --sigma 1 "
     "--epsilon 3 --delta 1e-5 "
     "--solve steps", "number of steps from 1 to 9.00719e+15 "),
    ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1000 --sigma 1e10 --epsilon 5 "
     "--delta .01 --solve epochs",
     "number of epochs from 1 to 9.00719e+15 "),
    ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --sigma 1e4 --diameter 2 --n 1000 --epsilon 1 --delta .01 --solve "
     "learning-rate",
     "learning rate from 1e-15 to 4 "),
]


@pytest.mark.parametrize("line, says", EVERY)
def test_no_solution_where_every_value_meets_the_budget(line, says):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (3, "")
    assert f"--solve: every {says}" in done.stderr and "there is nothing to solve for" in done.stderr and done.stderr.count("\n") == 1
    error = json.loads(call([*line.split(), "--json"]).stderr)["error"]
    assert error["code"] == "no-solution" and error["option"] == "--solve"


NONE = ["tv --mechanism gaussian --tv 0 --solve sigma", "rdp --alpha 2 --rdp 0 --solve sigma",
        "rdp --sigma 1 --epsilon .1 --delta 1e-5 --solve steps",
        "rdp --mechanism laplace --epsilon 0 --delta 0 --solve scale"]


@pytest.mark.parametrize("line", NONE)
def test_no_solution_where_none_does(line):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (3, "") and re.search("--solve: no .* gives .* ≤ .*: .* has ", done.stderr)


def test_the_least_count_is_an_answer():
    """There is nothing below one record, and a batch holds no more than all of them."""
    assert solve("burn-in", "n", batch_size=1, steps=10, sigma=100, epsilon=5, delta=0.1, **RUN).value == 1
    assert solve("subsample", "n", sigma=100, batch_size=3, steps=10, epsilon=1, delta=0.1).value == 3
    assert solve("subsample", "batch-size", sigma=100, n=30, steps=10, epsilon=1, delta=0.01).value == 30


def test_a_solution_next_to_the_end_of_a_range_is_one():
    """q is within 1e-4 of 1, and 1 does not meet the budget."""
    full = answer("subsample", sigma=2, sampling_rate=1, steps=1, epsilon=1).result["delta"]
    x = solve("subsample", "sampling-rate", sigma=2, steps=1, epsilon=1, delta=full * (1 - 1e-6)).value
    assert 1 - 1e-4 < x < 1


def test_a_comparison_says_so_too():
    with pytest.raises(NoSolution, match="every sigma"):
        solve("compare", "sigma", n=1000, batches="poisson", batch_size=10, steps=1, lipschitz=1, epsilon=1, delta=0.5)


@pytest.mark.parametrize("line, reached", [
    ("convert --from dp --epsilon 1 --delta .1 --steps 2 --target-delta .1", "the least δ it gives is 0.19"),
    ("convert --from dp --epsilon .005 --delta 1e-6 --steps 1e3 --target-delta 1e-4", "the least δ it gives is 0.000999501"),
    ("rdp --mechanism laplace --scale .5 --epsilon 1 --delta 0 --solve steps",
     "no number of steps gives ε ≤ 1: one step already has ε = 2"),
    ("rdp --mechanism gaussian --sigma .1 --alpha 2 --rdp 1 --solve steps", "one step already has ε(α) = 100"),
])
def test_refusals_print_a_short_number_where_it_is_the_right_one(line, reached):
    assert call(line.split()).stderr.rstrip().endswith(reached)


def test_a_number_that_may_be_a_short_decimal_is_printed_as_one():
    from dpcalc.core.numbers import human_claimed

    assert human_claimed(0.19 * (1 + 4e-16), 1e-15) == "0.19" and human_claimed(0.19 * (1 + 1e-12), 1e-13) == "0.190001"
    assert human_claimed(0.19, 0.0) == "0.19" and human_claimed(0.1899999999,
                                                                1e-9) == "0.19" and human_claimed(inf, 1e-9) == "inf"


def test_a_diameter_with_windows_of_more_steps_than_an_integer_of_numpy_holds():
    """It ended in a fault."""
    line = ("burn-in --n 1000 --batch-size 50 --lipschitz 1 --smoothness 1 --learning-rate .1 --sigma .3 --steps 500 "
            "--epsilon 1 --delta 1e-5 --solve diameter")
    done = call(line.split())
    assert done.returncode == 3 and "every diameter from 1e-15 to 1e+15 gives ε ≤ 1" in done.stderr
