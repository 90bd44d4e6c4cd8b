"""Lists of noise levels: sums over their steps by arrays, never below the printed products, and as near as the bounds
claim."""

import random
from math import exp, log

import mpmath
import numpy as np
import pytest
from answers import number
from conftest import slow

from dpcalc.bounds.online import listed, online_contraction, online_hybrid
from dpcalc.bounds.online._engine import shift
from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, LAPLACE, LAWS
from dpcalc.core.errors import OutOfScope

RUN = {"lipschitz": 1.0, "diameter": 2.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0}


def draw(rng, n, low=1e-2, high=1e3):
    size, wide = exp(rng.uniform(log(low), log(high))), rng.choice((1.0, 1.5, 30.0))
    return Listed(tuple(size * rng.uniform(1.0, wide) for _ in range(n)))


@pytest.mark.parametrize("draws", [40, slow(300)])
def test_contraction_and_iteration_are_the_printed_ones(draws):
    rng = random.Random(draws)
    for _ in range(draws):
        check_printed(rng, rng.choice(("gaussian", "laplace")), rng.choice((0.0, 1e-3, 0.3)))


def check_printed(rng, noise, strong_convexity):
    n, epsilon = rng.choice((1, 2, 5, 30)), rng.choice((0.0, 0.01, 1.0, 10.0))
    levels, run = draw(rng, n), {**RUN, "strong_convexity": strong_convexity, "diameter": exp(rng.uniform(-5, 5))}
    own = {"levels": levels, **run, "n": n, "index": rng.randint(1, n)}
    mp = mpmath.mp.clone()
    mp.dps = 50
    cases = [(online_contraction.BOUND, {"law": LAWS[noise]})]
    if noise == "gaussian":
        cases.append((online_hybrid.ITERATION, {}))
    for bound, law in cases:
        p = {k: v for k, v in {**own, **law}.items() if k in bound.params}
        got, want = bound.value(epsilon, **p), mp.log(x) if (x := bound.exact(mp, epsilon, **p)) > 0 else -mp.inf
        if want < -1e300:
            assert got <= want / 2
            continue
        rounding = 1e-15 * epsilon * (noise == "laplace") * mp.exp(-want)
        assert want - mp.mpf(10) ** -45 <= got <= want + bound.rtol * max(1, abs(want)) + rounding


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("strong_convexity", [0.0, 0.2])
def test_the_worst_index_is_the_worst_of_all(noise, strong_convexity):
    rng, run = random.Random(7), {**RUN, "strong_convexity": strong_convexity}
    for n in (1, 2, 9, 60):
        levels, epsilon = draw(rng, n, 0.1, 10), rng.choice((0.0, 0.1, 1.0))
        law, every = LAWS[noise], []
        for index in range(1, n + 1):
            each = online_contraction.value(epsilon, law, levels, **run, n=n, index=index)
            if noise == "gaussian":
                each = min(each, online_hybrid.ITERATION.value(
                    epsilon, levels=levels, **{k: v for k, v in run.items() if k != "diameter"}, n=n, index=index))
            every.append(each)
        index, log_delta = listed.worst(epsilon, law, levels, **run, n=n)
        assert log_delta == pytest.approx(max(every), rel=1e-9,
                                          abs=1e-9) and every[index - 1] == pytest.approx(max(every), rel=1e-9,
                                                                                          abs=1e-9)


@pytest.mark.parametrize("log_c", [0.0, -1e-4, -0.3, -300.0])
def test_noise_that_is_carried_is_from_below(log_c):
    rng, mp = random.Random(3), mpmath.mp.clone()
    mp.dps = 40
    levels = draw(rng, 400, 0.1, 10)
    steps = shift.ends(380, 20, 8)
    c2 = mp.exp(2 * mp.mpf(log_c))
    for q, got in zip(steps, listed.decayed_sums(levels, log_c, steps, 20), strict=True):
        want = mp.fsum(c2 ** (q - t) * mp.mpf(levels.at(t)) ** 2 for t in range(20, q + 1))
        assert got <= want <= got * (1 + 1e-12)


def test_levels_of_any_size_have_finite_sums():
    levels = Listed(tuple(float(x) for x in np.exp(np.random.default_rng(1).normal(0, 1, 5000))))
    for level in (5e-324, 1e-200, 1e200, 1e308):
        assert 0 <= listed.loss(1.0, GAUSSIAN, Listed((level,) * 3), 20.0, 1, 3) <= 1e308
    assert listed.loss(1e301, GAUSSIAN, Listed((1e-200,)), 1.0, 1, 1) == 0  # κ = 1e200, and its half square is above ε
    assert listed.loss(1e199, LAPLACE, Listed((1e-200,)), 1.0, 1, 1) == 0
    with pytest.raises(OutOfScope, match="is too small; the least noise level allowed is 1e-140"):
        listed.decayed_sums(Listed((1.0, 1e-200)), 0.0, [1, 2], 1)
    assert listed.decayed_sums(Listed((1e300,)), 0.0, [1], 1)[0] < 1e281
    assert listed.loss(1.0, LAPLACE, Listed((1e200,) * 3), 20.0, 1, 3) == float("inf")  # κ below ε: nothing is left
    hybrid = online_hybrid.BOUND.value(0.5, levels, **RUN, n=5000, index=4000)
    assert hybrid <= online_contraction.value(0.5, GAUSSIAN, levels, **RUN, n=5000, index=4000)


@pytest.mark.filterwarnings("ignore")
def test_a_list_of_30000_levels_is_read_from_a_file(tmp_path):
    """300 steps after the record δ is tiny already at ε = 0."""
    n, file = 30_000, tmp_path / "sigmas"
    file.write_text("\n".join(f"{x:.6g}" for x in np.random.default_rng(2).uniform(5, 20, n)))
    line = (f"online-noise --lipschitz 1 --diameter 2 --learning-rate .1 --smoothness .5 --sigmas @{file} "
            f"--index {n - 300}")
    assert number(f"{line} --delta 1e-6") == 0
    assert 0 <= number(f"{line} --epsilon .5") <= number(f"{line} --epsilon 0") < 1e-60
