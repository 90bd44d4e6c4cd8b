"""--solve: laws that hold for the solution of every question, over random runs of every command that solves."""

import warnings
from math import inf

import pytest
from conftest import slow
from random_solves import COUNTS, KINDS, run

from dpcalc import answer, solve
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution

QUICK = {"rdp": 12, "subsample": 6, "convert": 10, "shuffle-pnsgd": 6, "burn-in": 3, "noise-feedback": 5,
         "correlated": 5, "online-noise": 5, "tv": 8, "compare": 2}  # random runs of a kind in the quick tests
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


@pytest.mark.parametrize("kind, number", [(kind, k) if k < most else slow(kind, k)
                                          for kind, most in QUICK.items() for k in range(2 * most)])
def test_solutions_meet_the_budget_closely(kind, number):
    check(kind, number)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_solutions_meet_the_budget_closely(kind):
    said = [check(kind, k) for k in range(2 * QUICK[kind], MANY)]
    assert sum(why is None for why in said) > MANY / 2
