"""What a person contributes by key, against all data sets that it allows: never below the largest δ of them."""

import json
from functools import cache
from itertools import combinations, pairwise, product
from math import exp, sqrt

import keyed_tables
import numpy as np
import pytest
from answers import answer
from calling import call
from scipy.special import ndtr

RELATIONS = {  # the options, whether a person is replaced by another one, and whether parts are signed
    "": (False, False), "--adjacency zero-out": (False, False), "--signed": (False, True),
    "--adjacency replace-one": (True, False), "--adjacency replace-one --signed": (True, True)}


@cache
def parts_of_a_person(keys, max_keys, c, signed):
    """All that a person may contribute to so many keys, in whole numbers."""
    parts = [x for x in range(-c if signed else 0, c + 1) if x]
    return {(0,) * keys} | {tuple(dict(zip(chosen, each, strict=True)).get(k, 0) for k in range(keys))
                            for chosen in combinations(range(keys), max_keys) for each in product([0, *parts],
                                                                                                 repeat=max_keys)}


@cache
def moves(max_keys, c, is_replaced, signed, people=1):
    """By how much values move, in any order and of any sign, on all pairs of neighbours or of so many pairs."""
    keys = (2 if is_replaced else 1) * max_keys * people
    one = parts_of_a_person(keys, max_keys, c, signed)
    found = {(0,) * keys}
    for _ in range(people):
        found = {tuple(sorted((abs(a + b - d) for a, b, d in zip(past, first, second, strict=True)), reverse=True))
                 for past in found for first in one for second in (one if is_replaced else [(0,) * keys])}
    return found


def law(noise, level, moved):
    pairs = [keyed_tables.merged(*keyed_tables.published(noise, level, -1e6, (0.0, float(x)))) for x in moved if x]
    return keyed_tables.together(*pairs)


def undominated(found):
    """The moves that are not below others in every value."""
    return [m for m in found if not any(m != n and all(a <= b for a, b in zip(m, n, strict=True)) for n in found)]


@pytest.mark.parametrize("option", RELATIONS)
@pytest.mark.parametrize("noise, level, max_keys, c", [
    ("discrete-laplace", 3.0, 1, 2), ("discrete-laplace", 0.8, 2, 1), ("discrete-laplace", 5.0, 2, 1),
    ("discrete-gaussian", 1.5, 2, 1), ("discrete-laplace", 4.0, 3, 1)])
def test_no_contributions_lose_more(noise, level, max_keys, c, option):
    size = "--scale" if "laplace" in noise else "--sigma"
    is_replaced, signed = RELATIONS[option]
    if is_replaced and max_keys > 2:
        worst = {(1,) * 6, (2, 1, 1, 1, 1, 0), (2, 2, 1, 1, 0, 0), (2, 2, 2, 0, 0, 0)} if signed else {(1,) * 6}
    else:
        worst = undominated(moves(max_keys, c, is_replaced, signed))
    laws = [law(noise, level, moved) for moved in worst]
    for epsilon in (0.0, 0.35, 0.9):
        got = answer(f"rdp --mechanism {noise} {size} {level} --max-keys {max_keys} --per-key {c} {option} "
                     f"--epsilon {epsilon}")
        true = max(max(keyed_tables.deltas(*one, epsilon)) for one in laws)
        assert true <= got["result"]["delta"] * (1 + 1e-9) + 1e-13
        assert true >= got["result"]["delta"] * (1 - 1e-3) - 1e-13
        assert got["result"]["l0_sensitivity"] == max(sum(x > 0 for x in m) for m in worst)
        assert got["result"]["l1_sensitivity"] == max(map(sum, worst))
        assert got["result"]["linf_sensitivity"] == max(map(max, worst))


@pytest.mark.parametrize("option", RELATIONS)
@pytest.mark.parametrize("sigma, max_keys, c", [(3.0, 1, 2), (4.0, 2, 1)])
def test_gaussian_noise_counts_the_norm_of_what_moves(sigma, max_keys, c, option):
    found = moves(max_keys, c, *RELATIONS[option])
    mu = sqrt(max(sum(x * x for x in moved) for moved in found)) / sigma
    got = answer(f"rdp --sigma {sigma} --max-keys {max_keys} --per-key {c} {option} --epsilon 0.7")["result"]
    delta = ndtr(mu / 2 - 0.7 / mu) - exp(0.7) * ndtr(-mu / 2 - 0.7 / mu)
    assert got["delta"] == pytest.approx(delta, rel=1e-10)
    assert got["l2_sensitivity"] == pytest.approx(mu * sigma, rel=1e-15)


@pytest.mark.parametrize("option", ["", "--signed", "--adjacency replace-one", "--adjacency replace-one --signed"])
def test_groups_of_two(option):
    """Two pairs of neighbours one after another. Where people are replaced, all moves in whole numbers are tried that
    are as large in every value and in total."""
    is_replaced, signed = RELATIONS[option]
    release = answer(f"rdp --mechanism discrete-laplace --scale 4 --max-keys 2 --per-key 1 {option} --epsilon 0.4")
    done = call(["convert", "-", "--group-size", "2", "--epsilon", "0.4", "--json"], json.dumps(release))
    if is_replaced:
        most = 4 if signed else 2
        worst = [m for m in product(range(most, -1, -1), repeat=8) if sum(m) == 8 and list(m) == sorted(m)[::-1]]
    else:
        worst = undominated(moves(2, 1, is_replaced, signed, people=2))
    laws = [law("discrete-laplace", 4.0, moved) for moved in worst]
    true, reported = max(max(keyed_tables.deltas(*one, 0.4)) for one in laws), json.loads(done.stdout)["result"]["delta"]
    assert reported * (1 - 1e-3) <= true <= reported * (1 + 1e-9)


@pytest.mark.parametrize("noise", ["discrete-laplace", "discrete-gaussian", "laplace", "gaussian"])
def test_moves_that_are_more_unequal_lose_at_least_as_much(noise):
    for level in (0.5, 1.7, 4.0):
        steps = [(1, 1, 1, 1), (2, 1, 1, 0), (2, 2, 0, 0), (3, 1, 0, 0), (4, 0, 0, 0)]
        laws = [law(noise, level, moved) for moved in steps]
        for epsilon in np.linspace(0, 4 / level, 7):
            deltas = [max(keyed_tables.deltas(*one, epsilon)) for one in laws]
            assert all(a <= b * (1 + 2e-3) + 1e-12 for a, b in pairwise(deltas))
