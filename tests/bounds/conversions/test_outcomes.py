"""Finite mechanisms: their Rényi divergence at high precision."""

import random

import mpmath
import pytest
from conftest import slow

from dpcalc.bounds.conversions import outcomes

mp = mpmath.mp.clone()
mp.dps = 60


def normalized(weights):
    return tuple(x / sum(weights) for x in weights)


def check(alpha, p, q):
    """Never below the definition, and above by no more than the claim."""
    want = outcomes.exact_rdp(mp, alpha, p, q)
    if want > 1e-12:  # below, distributions that add up to 1 in doubles only have none
        assert want <= outcomes.rdp(alpha, p, q) <= want * (1 + outcomes.RDP.rtol), (alpha, p, q)


@pytest.mark.parametrize("pairs", [300, slow(1000)])
def test_divergences_of_random_pairs(pairs):
    rng = random.Random(0)
    for _ in range(pairs):
        p = normalized([rng.random() ** rng.choice((1, 4)) for _ in range(rng.randint(2, 5))])
        q = normalized([x * (1 + rng.choice((0, 1e-9, 1e-4, 0.3, 3)) * rng.random()) for x in p])
        check(1 + 10 ** rng.uniform(-6, 3), p, q)


@pytest.mark.parametrize("alpha, p, q", [
    (185.40167721343272, (3.281265551247224e-08, 0.9999999671873444), (3.632999674807459e-08, 0.9999999636700033)),
])
def test_a_rare_outcome_at_a_large_order(alpha, p, q):
    """α log p − (α−1) log q loses three digits: the divergence came out 3e-14 too small."""
    check(alpha, p, q)
