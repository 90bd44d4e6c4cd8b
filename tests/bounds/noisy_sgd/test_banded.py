"""Matrices by blocks and elimination of their bands, against dense linear algebra."""

import numpy as np
import pytest

from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.noisy_sgd._engine.banded import ROWS, Banded, Elimination


def banded(n, width, shift, seed=3):
    """A matrix whose rows add up to less than 1, with a band that is `shift` columns off the diagonal."""
    rng = np.random.default_rng(seed)
    i, j = np.indices((n, n))
    dense = np.where(abs(j - i - shift) <= width, rng.uniform(0.1, 1.0, (n, n)), 0.0)
    dense *= 0.9 / np.maximum(dense.sum(axis=1, keepdims=True), 1e-9)
    blocks = []
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        columns = slice(max(0, first + shift - width), max(0, min(n, first + ROWS + shift + width)))
        blocks.append((rows, columns, dense[rows, columns]))
    return dense, Banded((n, n), blocks)


@pytest.mark.parametrize(("n", "width", "shift"), [(20, 3, 0), (500, 20, 0), (700, 15, 60), (700, 15, -60), (640, 5, 90)])
def test_products_and_solutions_are_those_of_dense_matrices(n, width, shift):
    dense, matrix = banded(n, width, shift)
    x = np.random.default_rng(5).uniform(0.0, 1.0, n)
    assert np.array_equal(matrix.dense, dense)
    assert matrix.times(x) == pytest.approx(x @ dense, rel=1e-12, abs=1e-300)
    solution = Elimination(matrix).solve(x)
    assert solution == pytest.approx(solution @ dense + x, rel=1e-9)
    assert solution == pytest.approx(np.linalg.solve((np.eye(n) - dense).T, x), rel=1e-9)


RUN = {"lipschitz": 1.0, "smoothness": 1.0, "strong_convexity": 0.0}


# By dense inverses. With a drift against the record that is as large as the band is wide, as at a batch size of 1,
# a band around the diagonal would miss the entries that count.
@pytest.mark.parametrize(("options", "want"), [
    ({"n": 60000, "batch_size": 128, "iterations": 10**6, "learning_rate": 0.05, "diameter": 2.0, "sigma": 0.1},
     0.20665625),
    ({"n": 10**4, "batch_size": 1, "iterations": 20000, "learning_rate": 0.05, "diameter": 2.0, "sigma": 0.05},
     635.408143),
    ({"n": 1000, "batch_size": 1, "iterations": 10**7, "learning_rate": 0.1, "diameter": 3.0, "sigma": 0.2}, 64.702258),
    ({"n": 1000, "batch_size": 100, "iterations": 10**7, "learning_rate": 0.1, "diameter": 3.0, "sigma": 0.05},
     29.918947)])
def test_lower_bounds_are_those_of_dense_solutions(options, want):
    assert lower_bound.inverse(np.log(1e-5), **RUN, **options) == pytest.approx(want, rel=1e-6)
