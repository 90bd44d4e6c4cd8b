"""Optimal selection of keys against its definition: the inequalities, every other rule, and the composition of the
keys of a person by enumeration."""

import random
from itertools import pairwise, product
from math import exp

import mpmath
import numpy as np
import pytest
from draws import log_uniform

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import key_selection
from dpcalc.bounds.mechanisms.key_selection import least_people, value

MP = mpmath.mp.clone()
MP.dps = 400
# (ε₀, δ₀, k): usual ones, one with many equal steps, e^e beyond the doubles, δ₀ near 1, and δ₀ near 0
SELECTIONS = [(1.0, 1e-5, 1), (1.0, 1e-5, 3), (0.2, 1e-8, 2), (1e-3, 1e-3, 1), (800.0, 1e-6, 1), (300.0, 1e-300, 2),
              (0.5, 0.9, 1), (2.0, 1e-300, 1), (5.0, 0.3, 4)]


def iterated(epsilon, delta, keys, most=3000):
    """π_0, π_1, … up to 1, by the definition, in 400 digits."""
    e, d = MP.mpf(epsilon) / keys, MP.mpf(delta) / keys
    found = [MP.mpf(0)]
    while found[-1] < 1 and len(found) <= most:
        p = found[-1]
        found.append(min(MP.exp(e) * p + d, 1 - MP.exp(-e) * (1 - p - d), MP.mpf(1)))
    return found


def kept(people, *selection):
    return value(*selection, people)["keep_probability"]


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_the_closed_form_is_the_recursion(selection):
    """Never below it, and as near as doubles are, of the probability that a key is kept and of that it is dropped."""
    exact = iterated(*selection)
    for n in {*range(1, min(len(exact), 40)), *range(1, len(exact), 37), *range(max(1, len(exact) - 9), len(exact))}:
        found = value(*selection, n)
        for got, want in ((found["keep_probability"], exact[n]), (found["drop_probability"], 1 - exact[n])):
            assert got >= want and got - want <= 5e-16 * want + MP.mpf("1e-320"), (n, got, want)


@pytest.mark.parametrize("people", [1, 10**9, 2**53 - 1])
@pytest.mark.parametrize("selection", [(1e-300, 1e-300, 1), (1e300, 1e-5, 1), (1e-9, 1e-15, 2**53 - 1), (3.0, 0.5, 10**9)])
def test_any_number_of_people(selection, people):
    found = value(*selection, people)
    assert 0 < found["keep_probability"] <= 1 <= found["keep_probability"] + found["drop_probability"] <= 1 + 1e-15


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_every_step_is_differentially_private(selection):
    """The four inequalities of (e, d)-DP between n and n + 1 people, of the bit that says whether a key is published."""
    e, d = MP.exp(MP.mpf(selection[0]) / selection[2]), MP.mpf(selection[1]) / selection[2]
    exact = iterated(*selection)
    for p, q in pairwise(exact):
        for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
            assert a <= e * b + d + e * MP.mpf("1e-398")


def test_no_other_rule_keeps_a_key_more_often():
    """Every grid point that satisfies the four inequalities lies below, whatever the rule kept before: the rules on a
    grid are all enumerated, by the set of probabilities that they reach."""
    grid = np.linspace(0, 1, 401)
    for epsilon, delta in ((0.5, 0.02), (1.0, 0.1), (0.1, 0.05), (2.0, 0.01)):
        reached, e = {0.0}, exp(epsilon)
        for n in range(1, 12):
            new = grid[np.any([(grid <= e * p + delta) & (p <= e * grid + delta) & (1 - grid <= e * (1 - p) + delta)
                               & (1 - p <= e * (1 - grid) + delta) for p in reached], axis=0)]
            best = kept(n, epsilon, delta, 1)
            assert best - 0.02 * n < max(new) <= best + 1e-12  # the grid loses at most a step at each n
            reached = set(new)


def test_random_rules_that_are_private_keep_less():
    rng = random.Random(3)
    for _ in range(60):
        epsilon, delta, p = log_uniform(rng, 1e-2, 3), log_uniform(rng, 1e-4, 0.3), 0.0
        for n in range(1, 40):
            most = min(exp(epsilon) * p + delta, 1 - exp(-epsilon) * (1 - p - delta), 1.0)
            least = max(exp(-epsilon) * (p - delta), 1 - exp(epsilon) * (1 - p) - delta, 0.0)
            p = rng.choice((most, rng.uniform(least, most)))
            assert p <= kept(n, epsilon, delta, 1) * (1 + 1e-12)


# --- the keys of a person together -----------------------------------------------------------------------------------


def published(people, selection):
    """The probabilities of all sets of published keys, from the number of people who have each of them."""
    each = [[1 - p, p] for p in (kept(n, *selection) if n else 0.0 for n in people)]
    return np.array([np.prod(chances) for chances in product(*each)])


def hockey_stick(p, q, epsilon):
    return float(np.maximum(p - exp(epsilon) * q, 0).sum())


def changes(keys, relation):
    """How the numbers of people at the keys change: of a person who has any of them, or of two people who are
    replaced by each other."""
    has = [np.array(bits) for bits in product((0, 1), repeat=keys)]
    if relation == "add-remove":
        return has
    return [a - b for a in has for b in has]


@pytest.mark.parametrize("relation, keys", [("add-remove", 2), ("add-remove", 3), ("replace-one", 2), ("replace-one", 3)])
def test_the_composition_covers_all_sets_of_published_keys(relation, keys):
    """On up to 2k keys, at the numbers of people where a key's loss is largest, and elsewhere. Equality is reached."""
    rng, nearest = random.Random(f"{relation} {keys}"), 0.0
    for _ in range(6):
        selection = (log_uniform(rng, 0.2, 4), log_uniform(rng, 1e-4, 0.2), keys)
        e, d = selection[0] / keys, selection[1] / keys
        crossing, last = key_selection.growing_steps(*selection), least_people(0.0, *selection)
        for _ in range(12):
            before = np.array([rng.choice((0, 1, crossing, last - 1, rng.randint(0, last))) for _ in range(keys)])
            change = rng.choice(changes(keys, relation))
            after = before + change
            if min(after) < 0:
                continue
            p, q = published(before, selection), published(after, selection)
            count = keys * (2 if relation == "replace-one" else 1)
            for epsilon in (0.0, e / 2, e, selection[0] * 0.7, selection[0]):
                reported = exp(composition_optimal.value(epsilon, e, d, count))
                for true in (hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)):
                    assert true <= reported * (1 + 1e-9) + 1e-13, (selection, before, after, epsilon)
                    nearest = max(nearest, true / reported)
        first = published(np.ones(keys, int), selection)  # keys that only this person has
        alone = hockey_stick(first, published(np.zeros(keys, int), selection), 500.0)
        assert alone == pytest.approx(1 - (1 - d) ** keys, rel=1e-9) and alone <= selection[1] * (1 + 1e-12)
    assert nearest > (0.99 if (relation, keys) == ("add-remove", 2) else 0.5)


# --- laws ------------------------------------------------------------------------------------------------------------


def test_more_people_and_larger_budgets_keep_more_and_more_keys_less():
    rng = random.Random(5)
    for _ in range(200):
        e, d, k, n = log_uniform(rng, 1e-3, 5), log_uniform(rng, 1e-12, 0.5), rng.randint(1, 9), rng.randint(1, 500)
        p = kept(n, e, d, k)
        assert p <= kept(n + 1, e, d, k) and p <= kept(n, e * 1.1, d, k) and p <= kept(n, e, min(d * 1.1, 0.99), k)
        assert p >= kept(n, e, d, k + 1)


def test_one_person_alone_has_the_delta_of_a_key():
    assert kept(1, 1.0, 1e-5, 1) == pytest.approx(1e-5, rel=1e-15) and kept(1, 1.0, 3e-5, 3) == pytest.approx(1e-5, rel=1e-15)


def test_the_least_number_of_people():
    rng = random.Random(8)
    for _ in range(50):
        own, drop = (log_uniform(rng, 1e-6, 5), log_uniform(rng, 1e-12, 0.5), rng.randint(1, 9)), rng.choice((0.0, rng.random()))
        n = least_people(drop, *own)
        assert value(*own, n)["drop_probability"] <= drop
        assert n == 1 or value(*own, n - 1)["drop_probability"] > drop
    assert least_people(0.05, 1e-300, 1e-300, 1) is None
