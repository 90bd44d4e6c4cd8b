"""Noise that falls by a schedule: never more than the printed formula, and none beyond its pole."""

import random
from math import exp, log

import mpmath
import pytest
from answers import answer, refusal
from conftest import slow

from dpcalc.bounds.pnsgd._engine import schedules
from dpcalc.core.errors import OutOfScope

LAPLACE = "--noise laplace --lipschitz 1 --diameter 1 --smoothness .01 --learning-rate .1 --n 1000"


@pytest.mark.parametrize("draws", [1000, slow(4000)])
def test_the_noise_of_a_step_is_never_more_than_printed(draws):
    """Also next to the pole, and where C1 and j^a are large and alike."""
    mp, rng, seen = mpmath.mp.clone(), random.Random(1), 0
    mp.dps = 60
    for _ in range(draws):
        n, decay = int(exp(rng.uniform(0, log(1e12)))), rng.choice((1.0, rng.uniform(0.6, 3), rng.uniform(1, 20)))
        noise = rng.choice(("laplace", "gaussian"))
        c2, log_j = rng.choice((0.0, rng.random(), 1.0, rng.uniform(0, 3))), decay * log(n)
        c1 = exp(log_j + rng.uniform(-3, 3))
        if noise == "laplace" and c2 < 1 and rng.random() < 0.5:
            c1 = exp(log_j) / (1 - c2) * (1 - 10 ** rng.uniform(-14, -1))
        x = mp.mpf(n) ** mp.mpf(decay)
        try:
            found = schedules.level(noise, n, 2.0, 0.5, 0.0, 0.0, c1, c2, decay)
        except OutOfScope:
            assert noise == "laplace" and x / mp.mpf(c1) + mp.mpf(c2) - 1 < 1e-12
            continue
        seen += 1
        exact = schedules.level_exact(mp, noise, x, mp.mpf(2), c1, c2)
        above = x / mp.mpf(c1) + mp.mpf(c2) - 1
        assert 0 < found <= exact and (above < 1e-3 or found > exact * (1 - 1e-9))
    assert seen > 0.625 * draws


def test_beyond_the_pole_of_laplace_noise_there_is_none():
    """At C1 = 25 the pole is just missed: log of a number next to 1."""
    said = refusal(f"online-noise {LAPLACE} --c2 0 --decay 2 --index 5 --epsilon 0 --c1 25", 2)
    assert "needs x + C2 > 1" in said
    said = refusal(f"online-noise {LAPLACE} --c2 0 --decay 2 --index 5 --epsilon 0 --delta 1e-300 --solve c1", 3)
    assert "has ε = " in said


@pytest.mark.filterwarnings("ignore:.*publishing one random record")
@pytest.mark.parametrize(("line", "c1"), [
    (f"shuffle-pnsgd {LAPLACE} --c2 0 --epsilon 0 --delta 1e-3", None),
    (f"shuffle-pnsgd {LAPLACE} --c2 .5 --epsilon .01 --delta 1e-3", None),
    (f"online-noise {LAPLACE} --c2 0 --decay 2 --index 5 --epsilon 0 --delta 1e-3", 19.1434177),
])
def test_a_solved_c1_lies_before_the_pole(line, c1):
    record = answer(f"{line} --solve c1")
    found = record["result"]["c1"]
    assert c1 is None or found == pytest.approx(c1, rel=1e-6)
    budget = line.split("--epsilon ")[1].split()[0]
    back, less = (answer(f"{line.split(' --epsilon ')[0]} --c1 {x!r} --epsilon {budget}")["result"]["delta"]
                  for x in (found, found * 0.999))
    assert back <= 1e-3 < less
