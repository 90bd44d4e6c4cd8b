"""Pure privacy of the last iterate under Laplace noise: the least ε at δ = 0."""

from math import log

import pytest
from answers import answer
from calling import call

LAPLACE = "online-noise --noise laplace --lipschitz 1 --diameter 2 --smoothness .5 --learning-rate .1"


@pytest.mark.parametrize("rest, epsilon", [
    # (ε from which A is 0; MD/(ηv) of a later step)
    ("--scales 15,16,17 --index 1", 2 / 15), ("--scales 15,400,17 --index 1", 20 / 400),
    ("--c1 10 --c2 2 --decay 1.5 --n 1e6 --index 5", 2 / (10 / log(5**1.5 / 10 + 2))),
])
def test_the_epsilon_of_a_stream(rest, epsilon):
    found = answer(f"{LAPLACE} {rest} --delta 0")["result"]
    assert found["epsilon"] == pytest.approx(epsilon, rel=1e-9) and found["epsilon"] >= epsilon * (1 - 1e-15)
    assert answer(f"{LAPLACE} {rest} --epsilon {found['epsilon']!r}")["result"]["delta"] == 0
    assert answer(f"{LAPLACE} {rest} --epsilon {found['epsilon'] * .999!r}")["result"]["delta"] > 0


def test_the_epsilon_of_a_position_with_steps_after_it():
    line = ("shuffle-pnsgd --lipschitz 1 --diameter .1 --smoothness .5 --learning-rate .1 --noise laplace --scale 3 "
            "--n 100 --index")
    first, last = (answer(f"{line} {k} --delta 0")["result"]["epsilon"] for k in (3, 100))
    assert first == pytest.approx(1 / 3) and last == pytest.approx(2 / 3)
    code, _, err = call(f"{LAPLACE.replace('--noise laplace ', '')} --sigmas 1,2 --index 1 --delta 0".split())
    assert code == 3 and "Gaussian" in err
