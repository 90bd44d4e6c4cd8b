"""Ratios r = first·e^{x/2} whose exponential underflows alone, and not times `first`: never below, by both forms."""

from math import exp, inf, log

import numpy as np
import pytest

from dpcalc import answer
from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd._engine.shares import scaled
from dpcalc.bounds.pnsgd._engine.shares_array import scaled_many


@pytest.mark.parametrize("first", [1e-9, 1.0, 1e5, 1e150, 1e300])
@pytest.mark.parametrize("half", [-100.0, -689.9, -690.1, -695.0, -1000.0, -1399.0, -1405.0, -1e6])
def test_a_ratio_is_never_below_the_product(first: float, half: float) -> None:
    log_ratio = log(first) + half
    exact = exp(log_ratio) if log_ratio > -700 else 0.0
    for found in (scaled(first, 2 * half), float(scaled_many(first, np.array([2 * half]))[0])):
        assert found >= exact * (1 - 1e-12)
        assert found >= 1e-300
        if log_ratio > -690:
            assert found <= exact * (1 + 1e-11)


def test_no_ratio_stays_none() -> None:
    assert scaled(1e5, -inf) == 0
    assert scaled_many(1e5, np.array([-inf])).tolist() == [0]


def test_delta_at_epsilon_0_of_a_record_far_from_the_end() -> None:
    """mpmath by --digits: 5.611267420860937204e-296."""
    with pytest.warns(UserWarning, match="the guarantee is for record 1 only"):
        found = answer("shuffle-pnsgd", n=575, index=1, sigma=1e-3, lipschitz=100, smoothness=1, strong_convexity=0.7,
                       learning_rate=1, diameter=1e6, epsilon=0)
    assert 5.61126742086093720e-296 <= found.value < 5.61126742090e-296


@pytest.mark.parametrize("name", ["shuffled-iteration", "shuffled-hiding"])
def test_an_inverse_is_safe_and_close_wherever_it_begins(name: str) -> None:
    bound, p = all_bounds()[name], {"level": 1.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5,
                                    "strong_convexity": 0.01, "n": 2000}
    p |= {"diameter": 2.0} if "diameter" in bound.params else {}
    found = [bound.inverse(log(1e-6), **p, start=start) for start in (None, 1e-3, 0.2, 40.0)]
    assert max(found) <= min(found) * (1 + 2e-10)
    assert all(bound.value(epsilon, **p) <= log(1e-6) < bound.value(epsilon * (1 - 1e-8), **p) for epsilon in found)
