"""Sensitivities of correlated noise: every pattern of participation of short runs, laws, and long runs in integers."""

import random
import tracemalloc
from itertools import pairwise

import correlated_designs as designs
import numpy as np
import pytest

from dpcalc.bounds import bounds_in, modules_of
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.strategies import Strategy
from dpcalc.commands.correlated_design import routes
from dpcalc.commands.correlated_notes import is_exact
from dpcalc.core.results import Route, Row

BOUNDS = {bound.name: bound for module in modules_of("correlated") for bound in bounds_in(module)}
MANY = Strategy("square-root"), Strategy("feedback", 0.9), Strategy("banded-sqrt", 16), Strategy("banded-inverse-sqrt", 8)


def sensitivity(bound, design):
    return bound.mu.mu(design, 1.0, 1.0)


@pytest.mark.parametrize("kind", ["once", "bands", "separated", "cyclic"])
def test_no_pattern_of_participation_exceeds_the_sensitivity(kind):
    """With changes of any sign; and where the theorem says exactly, some pattern attains it."""
    rng, exact = random.Random(f"patterns {kind}"), 0
    bound = BOUNDS[f"correlated-{kind}"]
    for _ in range(60):
        design = designs.design(rng, kind, most=12)
        found, true = sensitivity(bound, design), designs.sensitivity(design)
        assert found >= true * (1 - 1e-13), vars(design)
        if is_exact(design, Row(Route(bound), {})) and bound in [route.bound for route in routes(design)]:
            exact += 1
            assert found == pytest.approx(true, rel=1e-11), vars(design)
    assert exact >= 10


@pytest.mark.parametrize("kind", ["separated", "cyclic"])
def test_changes_of_equal_sign_attain_an_exact_sensitivity(kind):
    """Non-negative coefficients: the largest norm is that of equal changes."""
    rng = random.Random(f"equal {kind}")
    for _ in range(30):
        n = rng.randint(2, 12)
        design = Design(designs.strategy(rng, n, signs=False), n, kind, rng.randint(1, n))
        if kind == "separated" and not design.strategy.is_nonincreasing:
            continue
        assert sensitivity(BOUNDS[f"correlated-{kind}"], design) == pytest.approx(designs.sensitivity(design, signs=False),
                                                                                  rel=1e-11)


def test_random_vectors_do_not_exceed_the_sensitivity():
    """Contributions are vectors: norms of sums of columns times vectors of norm 1, in 3 dimensions."""
    rng, draws = random.Random(5), np.random.default_rng(5)
    for _ in range(20):
        design = designs.design(rng, rng.choice(("separated", "cyclic")), most=10)
        found = min(sensitivity(route.bound, design) for route in routes(design))
        for pattern in designs.patterns(design):
            x = draws.normal(size=(len(pattern), 3))
            x /= np.linalg.norm(x, axis=1, keepdims=True)
            assert np.linalg.norm(designs.matrix(design)[:, pattern] @ x) <= found * (1 + 1e-12)


@pytest.mark.parametrize("strategy", MANY, ids=lambda s: s.label)
def test_more_participation_costs_more(strategy):
    n = 300
    found = [sensitivity(BOUNDS["correlated-separated"], Design(strategy, n, "separated", 20, k)) for k in range(1, 16)]
    assert all(x < y for x, y in pairwise(found))
    found = [sensitivity(BOUNDS["correlated-separated"], Design(strategy, n, "separated", b, 4)) for b in (1, 5, 20, 75)]
    assert all(x >= y for x, y in pairwise(found))
    once = sensitivity(BOUNDS["correlated-once"], Design(strategy, n))
    assert once == pytest.approx(sensitivity(BOUNDS["correlated-separated"], Design(strategy, n, "separated", n)), rel=1e-12)


@pytest.mark.parametrize("strategy", MANY, ids=lambda s: s.label)
@pytest.mark.parametrize("separation, count", [(20_000, 1), (2800, 3), (13, None)])
def test_long_runs_agree_with_whole_numbers(strategy, separation, count):
    """Doubles by transforms and doubling, against recurrences in integers of 256 bits that are rounded up."""
    import mpmath

    design = Design(strategy, 20_000, "separated", separation, count)
    found = sensitivity(routes(design)[0].bound, design)
    exact = routes(design)[0].bound.mu.exact(mpmath.mp, design, 1.0, 1.0)
    assert 0 <= found / exact - 1 < 2e-11


@pytest.mark.parametrize("strategy", [MANY[0], MANY[1], Strategy("square-root", contraction=0.9999)], ids=str)
def test_a_long_run_takes_the_memory_of_its_coefficients_twice(strategy):
    """Of C, and of one more series at a time; 10 % for all else."""
    n = 2_000_000
    for design in (Design(strategy, n), Design(strategy, n, "separated", 7)):
        tracemalloc.start()
        found = sensitivity(routes(design)[0].bound, design), design.errors
        assert found and tracemalloc.get_traced_memory()[1] < 2.2 * 8 * n
        tracemalloc.stop()


def test_a_majorant_covers_coefficients_that_rise():
    """Signs and rising coefficients: the bound is above the truth, and the truth above the formula for falling ones."""
    design = Design(Strategy("coefficients", listed=(1.0, -0.2, 0.9)), 12, "separated", 2, 3)
    true = designs.sensitivity(design)
    naive = np.linalg.norm(designs.matrix(design)[:, [0, 2, 4]].sum(axis=1))
    assert sensitivity(BOUNDS["correlated-separated"], design) > true > naive * 0.999
    assert not is_exact(design, Row(routes(design)[0], {}))


@pytest.mark.parametrize("strategy", [*MANY, Strategy("blt", scales=(0.2, 0.3), decays=(0.95, 0.6)),
                                      Strategy("square-root", contraction=0.9),
                                      Strategy("banded-sqrt", 7, contraction=0.8),
                                      Strategy("banded-inverse-sqrt", 5, contraction=0.7),
                                      Strategy("coefficients", listed=(1.0, -0.3, 0.2), contraction=0.95),
                                      Strategy("independent", contraction=0.5)], ids=str)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_errors_are_those_of_the_matrices(strategy, n):
    """RMSE and largest error from A C⁻¹, with A the (contracted) prefix sums."""
    from dpcalc.bounds.correlated._engine.coefficients_array import noise_coefficients

    design = Design(strategy, n)
    lower = np.subtract.outer(np.arange(n), np.arange(n))
    sums = np.where(lower >= 0, strategy.contraction ** np.maximum(lower, 0), 0.0)
    inverse = np.linalg.inv(designs.matrix(design))
    variances = ((sums @ inverse) ** 2).sum(axis=1)
    assert design.errors.rmse == pytest.approx(variances.mean() ** 0.5, rel=1e-10)
    assert design.errors.largest == pytest.approx(variances.max() ** 0.5, rel=1e-10)
    assert design.errors.rmse_of_independent == pytest.approx((sums**2).sum(axis=1).mean() ** 0.5, rel=1e-12)
    assert noise_coefficients(strategy, n) == pytest.approx(inverse[:, 0], abs=1e-13)
    assert design.errors.step_noise == pytest.approx(np.linalg.norm(inverse[:, 0]), rel=1e-12)
