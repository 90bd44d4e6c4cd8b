"""--solve over epochs: few compositions, found from a look by fast forms; and the arrays and searches that make it quick."""

from itertools import pairwise
from math import exp, log

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from last_iterate_lines import answer

from dpcalc.bounds.pnsgd import chain_many, epochs, iteration, shuffled_hybrid
from dpcalc.bounds.pnsgd.samples import about, followed
from dpcalc.numerics.invert import boundary, bracket, bracket_near
from dpcalc.profiles import asked, compose, pairs

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2"
ETA = "--learning-rate .01"
QUESTIONS = [
    (f"{RUN} {ETA} --n 1e6 --epochs 20 --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e3 --epochs 100 --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e12 --epochs 1000 --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e9 --epochs 1000 --index 500000000 --solve sigma", "sigma"),
    (f"{RUN} {ETA} --sigma 4 --epochs 3 --solve n", "n"),
    (f"{RUN} {ETA} --sigma 4 --n 1e6 --solve epochs", "epochs"),
    (f"{RUN} {ETA} --noise laplace --n 10000 --epochs 1000 --solve scale", "scale"),
]


@pytest.mark.parametrize("line, unknown", QUESTIONS)
def test_few_compositions_find_a_solution(line, unknown, monkeypatch):
    """Those at full precision: a look by few samples on a coarse grid comes first, at most a dozen of those."""
    full, rough, once = 0, 0, compose.log_delta_at

    def counted(parts, epsilon, precision=asked.PRECISION, bracket=True, seen=asked.SEEN, rougher=1.0):
        nonlocal full, rough
        close = precision < 2 * asked.PRECISION
        full, rough = full + close, rough + (not close)
        return once(parts, epsilon, precision, bracket, seen, rougher)

    epochs._delta.cache_clear()
    monkeypatch.setattr(compose, "log_delta_at", counted)
    found, _ = answer(f"{line} --epsilon 1 --delta 1e-6")
    assert 1 <= full <= 6 and 1 <= rough <= 12
    monkeypatch.undo()
    options = line[: line.index(" --solve")]
    back, _ = answer(f"{options} --{unknown} {found['result'][unknown]!r} --delta 1e-6")
    assert 0.998 <= back["result"]["epsilon"] <= 1 or unknown == "epochs"
    assert back["result"]["epsilon"] <= 1


@pytest.mark.parametrize("steps", [3, 100])
@pytest.mark.parametrize("n, level", [(1000, 10.0), (10**6, 3.0), (10**9, 0.3)])
def test_about_a_profile(n, level, steps):
    """The look is near the profile itself, and so is its composition on a coarse grid."""
    p = {"level": level, "lipschitz": 1.0, "diameter": 2.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0, "n": n}
    target = log(1e-6)
    rough, close = about(shuffled_hybrid.BOUND, target, steps, p), followed(shuffled_hybrid.BOUND, target, steps, p)
    assert len(rough[0]) < len(close[0]) / 2
    a, b = (compose.epsilon_at(((pairs.sampled(*s), steps),), target, precision, bracket=False).upper
            for s, precision in ((rough, 0.05), (close, 1e-3)))
    assert abs(log(a / b)) < 0.4


@given(st.floats(1e-3, 1e3), st.floats(0, 100), st.floats(1e-4, 1.0), st.integers(1, 10**12))
def test_the_reach_of_arrays_is_never_below(level, strong_convexity, learning_rate, block):
    if learning_rate * strong_convexity >= 1:
        strong_convexity = 0.0
    found = iteration.reaches(level, 2.0, learning_rate, strong_convexity)(np.array([block, 1]))
    with mpmath.workdps(60):
        exact = iteration.reach_exact(mpmath.mp, level, 2.0, learning_rate, strong_convexity)
        for k, value in zip((block, 1), found.tolist(), strict=True):
            kappa = exact(k)
            assert kappa <= value
            assert value <= kappa * (1 + mpmath.mpf(1e-11)) or value <= 1e-299


def test_blocks_are_tried_from_every_length():
    """To each node from the one before, in ever more pieces; and one block from each of some nodes, about 1.3 apart."""
    nodes = tuple(iteration.nodes(10**9, 10))
    tried = chain_many._candidates(nodes)
    for j in (1, 5, 40, len(nodes) - 1):
        some = slice(tried.ends[j - 1], tried.ends[j])
        before, block, times = tried.before[some], tried.block[some], tried.times[some]
        assert (before < j).all() and (block >= 1).all() and (before >= 0).all()
        reached = np.array(nodes)[before] + block * times
        assert (reached <= nodes[j]).all() and (reached[times == 1] == nodes[j]).all()
        single, lengths = np.sort(block[times == 1]), nodes[j] - np.array(nodes[:j])
        gap = nodes[j] - nodes[j - 1]
        assert single[-1] == nodes[j]
        for length, longer in pairwise(single.tolist()):
            assert longer <= lengths[lengths >= min(1.35 * length + gap, nodes[j])].min()


def test_a_secant_next_to_an_end_saves_half_of_the_way():
    """The root is next to an end: a little beyond it comes next, not 2 % of the bracket."""
    tried = []

    def gap(x):
        tried.append(x)
        return 1e-4 - (x - 1) * 3

    x = boundary(gap, 1.05, 1.0)
    assert gap(x) <= 0 and abs(x - 1 - 1e-4 / 3) < 1e-12 and len(tried) <= 8


def test_a_gap_that_is_nearly_met_is_met():
    tried = []

    def gap(x):
        tried.append(x)
        return 1.0 - exp(x) if x else 0.5

    assert -1e-3 <= gap(boundary(gap, 3.0, -1.0, 1e-15, 1e-3)) <= 0
    few = len(tried)
    boundary(gap, 3.0, -1.0, 1e-15)
    assert few < len(tried) - few


@pytest.mark.parametrize("root", [1e-12, 1e-3, 0.7, 50.0])
def test_steep_gaps_are_bracketed_in_few_steps(root):
    """A δ that falls like e^{−x²}, to nothing: −log δ is 1e300 and more not far beyond."""
    def gap(x):
        nonlocal count
        count += 1
        return 5.0 * (1 - (x / root) ** 2) if x < 1e100 * root else -1.7e308

    count = 0
    meets, fails = bracket(gap, 1.0, +1, 1e-300, 1e300)
    assert gap(meets) <= 0 < gap(fails) and count < 12
    count = 0
    meets, fails = bracket_near(gap, 30 * root, 29 * root, +1, 1e-300, 1e300)
    assert gap(meets) <= 0 < gap(fails) and count < 14
