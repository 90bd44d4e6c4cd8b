"""Brackets and boundaries of monotone functions: safe and tight."""

from math import exp, inf

import pytest

from dpcalc.numerics.root import Unreachable, boundary, bracket, smallest_feasible


@pytest.mark.parametrize("root", [1e-300, 1e-12, 1e-3, 0.7, 50.0, 1e12, 1e250])
@pytest.mark.parametrize("start", [1.0, 1e-9, 1e7])
def test_the_boundary_of_a_steep_gap(root, start):
    """A log δ that falls like −x², down to the largest double."""
    def gap(x):
        return 5.0 * (1 - (x / root) ** 2) if x < 1e100 * root else -1.7e308

    x = boundary(gap, *bracket(gap, start, +1, 1e-308, 1e300))
    assert gap(x) <= 0 and x == pytest.approx(root, rel=1e-12)


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


def test_a_slack_ends_a_search_next_to_the_boundary():
    def gap(x):
        return 1 - exp(x - 1) + 1e-4

    x = boundary(gap, 3.0, 0.5, 1e-4, slack=1e-3)
    assert -1e-3 <= gap(x) <= 0 < gap(0.99 * x)


def test_a_range_that_meets_the_condition_and_one_that_does_not():
    assert bracket(lambda x: -1.0, 3.0, +1, 0.5, 7.0) == (0.5, 0.5)
    with pytest.raises(Unreachable) as end:
        bracket(lambda x: 2.0 + x, 3.0, -1, 0.5, 7.0)
    assert end.value.at == 0.5 and end.value.gap == 2.5


def test_the_least_of_nothing_is_0():
    assert smallest_feasible(lambda x: -1.0) == 0.0
    assert smallest_feasible(lambda x: 3.0 - x) == pytest.approx(3, rel=1e-12)
