"""Brackets and boundaries of monotone functions: safe and tight."""

import random
from math import inf, log

import pytest

from dpcalc.numerics.root import Unreachable, boundary, bracket, smallest_feasible


@pytest.mark.parametrize("shape", [
    lambda ratio: -log(ratio) if ratio > 0 else inf,
    lambda ratio: -0.1 * log(ratio) if ratio > 0 else inf,
    lambda ratio: -7 * log(ratio) if ratio > 0 else inf,
    lambda ratio: 5 * (1 - ratio * ratio) if ratio < 1e100 else -1.7e308,  # a log δ that falls like −x²
], ids=["log", "flat", "steep", "square"])
def test_a_boundary_is_met_and_nothing_much_before_it_is(shape):
    """Where a function falls and where it rises; and a bracket of it from anywhere."""
    rng = random.Random(9)
    for _ in range(50):
        root, start, side = 10 ** rng.uniform(-100, 100), 10 ** rng.uniform(-100, 100), rng.choice((-1, 1))

        def gap(x, root=root, side=side):
            return side * shape(x / root)

        meets, fails = bracket(gap, start, side, 1e-200, 1e200)
        assert gap(meets) <= 0 < gap(fails)
        found = boundary(gap, meets, fails)
        assert gap(found) <= 0 < gap(found * (1 - side * 1.1e-13)), (root, side)
        assert -1e-3 <= gap(boundary(gap, meets, fails, slack=1e-3)) <= 0
        assert -1e-3 <= gap(boundary(gap, meets, fails, slack=1e-3, aim=5e-4)) <= 0


def test_with_an_aim_noisy_values_end_within_the_slack():
    rng = random.Random(5)
    for root in [rng.uniform(0.5, 2) for _ in range(100)]:
        seen = dict[float, float]()

        def gap(x, root=root, seen=seen):
            return seen.setdefault(x, -1.3 * log(x / root) + rng.uniform(-1e-4, 1e-4))

        found = boundary(gap, 2.2, 0.45, 1e-5, slack=2.5e-4, aim=1.25e-4)
        assert -2.5e-4 <= seen[found] <= 0 and found == pytest.approx(root, rel=1e-3)


@pytest.mark.parametrize("root", [1, 2, 3, 57, 10**6, 10**12 + 7, 2**53 - 2])
@pytest.mark.parametrize("safe_direction", [+1, -1])
def test_the_last_whole_number(root, safe_direction):
    """Counted from both sides; the next one fails."""
    def gap(x):
        return safe_direction * (root - x)

    meets, fails = bracket(gap, 1.0, safe_direction, 0.0, 2.0**53, whole=True)
    x = meets if meets == fails else boundary(gap, meets, fails, 0.0, whole=True)
    assert x == root and gap(x) <= 0 < gap(x - safe_direction)


def test_a_jump_is_found_from_the_safe_side():
    def gap(x):
        return inf if x < 2 else -inf

    x = boundary(gap, *bracket(gap, 1e-3, +1, 1e-15, 1e15))
    assert gap(x) == -inf and x == pytest.approx(2, rel=2e-13)


def test_a_range_that_meets_the_condition_and_one_that_does_not():
    assert bracket(lambda x: -1.0, 3.0, +1, 0.5, 7.0) == (0.5, 0.5) == bracket(lambda x: 0.0, 3.0, +1, 0.5, 7.0)
    assert bracket(lambda x: 1.0 if x < 7 else 0.0, 3.0, +1, 0.5, 7.0)[0] == 7
    with pytest.raises(Unreachable) as end:
        bracket(lambda x: 2.0 + x, 3.0, -1, 0.5, 7.0)
    assert end.value.at == 0.5 and end.value.gap == 2.5


def test_the_least_of_nothing_is_0():
    assert smallest_feasible(lambda x: -1.0) == 0.0
    assert smallest_feasible(lambda x: 3.0 - x) == pytest.approx(3, rel=1e-12)
