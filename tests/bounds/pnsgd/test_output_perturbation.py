"""Output perturbation where a step hardly contracts, or maps nearly everything to one point."""

import mpmath
import pytest
from answers import answer

from dpcalc.bounds import all_bounds

BOUNDS = all_bounds()
OUTPUT = [
    # η = 1/β, ρ = β: c = 4e-17 is what rounding leaves of 0, and is not 0
    {"level": 1e-17, "lipschitz": 1.0, "learning_rate": 1 / 0.7, "smoothness": 0.7, "strong_convexity": 0.7, "n": 2,
     "index": 1},
    {"level": 1.2055, "lipschitz": 0.14206, "learning_rate": 1.4143520256806117, "smoothness": 0.7070375563104822,
     "strong_convexity": 0.7070375563104822, "n": 2, "index": 1},
    # c next to 1: its rounding comes to the power of 1e12
    {"level": 1.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 1.0, "strong_convexity": 1.7e-12, "n": 10**12,
     "index": 5},
    {"level": 1.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 1.0, "strong_convexity": 1.7e-7, "n": 10**8,
     "index": 5},
    # c small
    {"level": 1.0, "lipschitz": 1.0, "learning_rate": (1 - 1e-10) / 0.7, "smoothness": 0.7, "strong_convexity": 0.7,
     "n": 2, "index": 1},
]
mp = mpmath.mp.clone()
mp.dps = 60


def ratio(level, lipschitz, learning_rate, smoothness, strong_convexity, n, index):
    eta = mp.mpf(learning_rate)
    c = max(abs(1 - eta * mp.mpf(k)) for k in (smoothness, strong_convexity))
    return 2 * eta * lipschitz / mp.mpf(level) * c ** (n - index)


@pytest.mark.parametrize("p", OUTPUT)
def test_rdp_and_delta_are_those_of_the_ratio_at_60_digits(p):
    r = ratio(**p)
    got = BOUNDS["output-perturbation"].value(2.0, **p)
    assert 1 <= got / (r * r) < 1 + 2e-12
    for epsilon in (0.0, 0.5, 1.0):
        exact = None
        if r > 1e-3 or not epsilon:
            exact = mp.log(mp.ncdf(r / 2 - epsilon / r) - mp.exp(epsilon) * mp.ncdf(-r / 2 - epsilon / r))
        got = BOUNDS["output-perturbation-exact"].value(epsilon, **p)
        assert exact is None or exact <= got <= exact + abs(exact) * 2e-11


def test_a_shuffled_record_among_1e12_has_nine_digits():
    line = ("shuffle-pnsgd --lipschitz 1 --sigma 1 --learning-rate .1 --smoothness 1 --strong-convexity 1.7e-12 "
            "--n 1e12 --digits 25")
    row = answer(f"{line} --alpha 2 --bound output-perturbation-shuffled")["bounds"][0]
    assert 1 <= row["rdp"] / float(row["digits"]["rdp"]) < 1 + 1e-9
