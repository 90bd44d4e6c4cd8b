"""--solve: laws that hold for the solution of every question, over random runs of every command that solves."""

import warnings
from math import inf, log1p, sqrt
from random import Random

import pytest
from calling import call
from conftest import slow, spread
from random_solves import COUNTS, KINDS, run

from dpcalc import answer, solve
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution

QUICK = {"rdp": 12, "subsample": 6, "convert": 10, "shuffle-pnsgd": 6, "burn-in": 3, "noise-feedback": 5,
         "correlated": 5, "online-noise": 5, "tv": 8, "compare": 2}  # random runs of a kind in the quick tests
LONG = {("burn-in", 0), ("burn-in", 1), ("shuffle-pnsgd", 0), ("shuffle-pnsgd", 1), ("shuffle-pnsgd", 3),
        ("online-noise", 2), ("subsample", 0), ("subsample", 1), ("subsample", 2), ("subsample", 4), ("compare", 0),
        ("compare", 1)}  # of these, those that take more than half a second
MANY = 250  # of each kind, in the long ones


def forward(case, delta, x):
    """What the run loses where the unknown is x: ε, or TV; infinity where no theorem says."""
    budget = {} if case.command == "tv" else {"delta": delta}
    try:
        return answer(case.command, **{**case.said, case.unknown: x}, **budget).value
    except DpcalcError:
        return inf


def solved(case, delta, budget):
    """The solution; None where nothing meets the budget, or everything does."""
    limit = {"tv": budget} if case.command == "tv" else {"epsilon": budget, "delta": delta}
    try:
        return solve(case.command, case.unknown, **case.rest, **limit).value
    except (NoSolution, EveryValueMeets):
        return None


def check(kind, number):
    """The four laws. Returns why a run says nothing."""
    case, delta = run(kind, number)
    truth = case.said[case.unknown]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        budget = forward(case, delta, truth)
        if not 1e-9 < budget < 100 or (case.command == "tv" and budget > 1 - 1e-9):
            return "no budget"
        x = solved(case, delta, budget)
        if x is None:
            return "no solution"
        where = f"{case.command} {case.said} delta={delta} budget={budget!r} --solve {case.unknown}: {x!r}"
        # The solution meets the budget.
        assert forward(case, delta, x) <= budget, where
        # It is within 1 % of the value that the budget was computed from, or next to that count (two counts may have
        # the same loss), or more permissive; or its own loss is next to the budget.
        near = case.safer * (x - truth) <= max(0.01 * truth, case.unknown in COUNTS)
        assert near or forward(case, delta, x) > budget * (1 - 5e-4), where
        # 1 % less noise, or the next count, misses it (but for rounding: two counts may have the same loss).
        less = x - case.safer if case.unknown in COUNTS else x * (1 - 0.01 * case.safer)
        if case.unknown in COUNTS and x > 100:
            less = round(x * (1 - 0.01 * case.safer))
        if less > 0 and not (case.unknown == "probability" and less >= 1):
            assert forward(case, delta, less) > budget * (1 - 1e-9), f"{where}, and {less} meets it, too"
        # It moves the safe way as the budget shrinks.
        tighter = solved(case, delta, budget / 1.05)
        if tighter is not None:
            assert case.safer * tighter >= case.safer * x, f"{where}, and {tighter!r} for a tighter budget"
    return None


@spread("kind, number", [(kind, k) if k < most and (kind, k) not in LONG else slow(kind, k)
                         for kind, most in QUICK.items() for k in range(2 * most)])
def test_solutions_meet_the_budget_closely(kind, number):
    check(kind, number)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_solutions_meet_the_budget_closely(kind):
    said = [check(kind, k) for k in range(2 * QUICK[kind], MANY)]
    assert sum(why is None for why in said) > MANY / 2


# --- a closed form has an answer at every size of the noise, and the end of a searched range is never one --------------


def budget(random, name):
    """From 1e-300 to the other extreme, in the middle too."""
    if name == "epsilon":
        return 10 ** random.uniform(-300, 300)
    probabilities = [10 ** random.uniform(-300, -1), random.uniform(0.01, 0.999), 1 - 10 ** random.uniform(-5, -2)]
    return random.choice(probabilities[:3 if name == "tv" else 2])


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
        x = solve(command, unknown, **described, **given, **{asked: at}).value
        there, beyond = (answer(command, **described, **{unknown: y}, **given).result[asked]
                         for y in (x, x * (1 + less * 1e-9)))
        assert there <= at < beyond, (at, x)


@pytest.mark.parametrize("unknown, described, of", [
    ("sigma", {}, lambda rho: sqrt(4 / (2 * rho))), ("scale", {"mechanism": "laplace"}, None)])
def test_rdp_at_one_order(unknown, described, of):
    random = Random(3)
    for _ in range(25):
        at = budget(random, "epsilon")
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


RUN = {"lipschitz": 1, "smoothness": 1, "learning_rate": 0.1, "diameter": 1}


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
    with pytest.raises(NoSolution, match="every noise multiplier"):
        solve("compare", "sigma", n=1000, batches="poisson", batch_size=10, steps=1, lipschitz=1, epsilon=1, delta=0.5)


def test_a_number_that_may_be_a_short_decimal_is_printed_as_one():
    from dpcalc.core.numbers import human_claimed

    assert human_claimed(0.19 * (1 + 4e-16), 1e-15) == "0.19" and human_claimed(0.19 * (1 + 1e-12), 1e-13) == "0.190001"
    assert human_claimed(0.19, 0.0) == "0.19" and human_claimed(0.1899999999,
                                                                1e-9) == "0.19" and human_claimed(inf, 1e-9) == "inf"
