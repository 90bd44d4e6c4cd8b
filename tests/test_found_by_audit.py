"""What an audit of the last iterate found, against formulas written down again from the definitions."""

import mpmath
import pytest
from last_iterate_lines import answer, asked

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd.step import log_factor, squared_contraction

BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60
OUTPUT = [
    # η = 1/β, ρ = β: c = 4e-17 is what rounding leaves of 0, and was taken for 0: δ = 0, "proven"
    {"level": 1e-17, "lipschitz": 1.0, "learning_rate": 1 / 0.7, "smoothness": 0.7, "strong_convexity": 0.7, "n": 2, "index": 1},
    {"level": 1.2055, "lipschitz": 0.14206, "learning_rate": 1.4143520256806117, "smoothness": 0.7070375563104822,
     "strong_convexity": 0.7070375563104822, "n": 2, "index": 1},
    # c next to 1: its rounding came to the power of 1e12, and made the value 8.5e-4 too large
    {"level": 1.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 1.0, "strong_convexity": 1.7e-12, "n": 10**12, "index": 5},
    {"level": 1.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 1.0, "strong_convexity": 1.7e-7, "n": 10**8, "index": 5},
    # c small: 8.5e-6
    {"level": 1.0, "lipschitz": 1.0, "learning_rate": (1 - 1e-10) / 0.7, "smoothness": 0.7, "strong_convexity": 0.7, "n": 2, "index": 1},
]


def ratio(level, lipschitz, learning_rate, smoothness, strong_convexity, n, index):
    eta = mp.mpf(learning_rate)
    c = max(abs(1 - eta * mp.mpf(k)) for k in (smoothness, strong_convexity))
    return 2 * eta * lipschitz / mp.mpf(level) * c ** (n - index)


@pytest.mark.parametrize("p", OUTPUT)
def test_output_perturbation_of_a_step_that_hardly_contracts_or_nearly_to_a_point(p):
    r = ratio(**p)
    got = BOUNDS["output-perturbation"].value(2.0, **p)
    assert 1 <= got / (r * r) < 1 + 2e-12
    for epsilon in (0.0, 0.5, 1.0):
        exact = mp.log(mp.ncdf(r / 2 - epsilon / r) - mp.exp(epsilon) * mp.ncdf(-r / 2 - epsilon / r)) if r > 1e-3 or not epsilon else None
        got = BOUNDS["output-perturbation-exact"].value(epsilon, **p)
        assert exact is None or exact <= got <= exact + abs(exact) * 2e-11


def test_shuffled_output_perturbation_at_many_records():
    line = "shuffle-pnsgd --lipschitz 1 --sigma 1 --learning-rate .1 --smoothness 1 --strong-convexity 1.7e-12 --n 1e12 --digits 25"
    row = answer(f"{line} --alpha 2 --bound output-perturbation-shuffled")[0]["bounds"][0]
    assert 1 <= row["rdp"] / float(row["digits"]["rdp"]) < 1 + 1e-9


@pytest.mark.parametrize("beta", [1.43, 7.661, 5.005])  # η = 1/β is rounded up: 1 − ηβ < 0
def test_a_rate_that_is_rounded_up_still_leaves_something(beta):
    eta = 1 / beta
    c = 1 - mp.mpf(eta) * mp.mpf(beta)
    assert -1e-16 < c < 0
    assert 1 <= mp.exp(log_factor(eta, beta)) / -c < 1 + 1e-12 and 1 <= squared_contraction(eta, beta, beta) / c**2 < 1 + 1e-12
    step = {"level": 1e-17, "lipschitz": 1.0, "learning_rate": eta, "smoothness": beta, "strong_convexity": beta, "n": 2, "index": 1}
    assert BOUNDS["fixed-order-iteration"].value(0.5, **step) > mp.log(0.1)
    assert BOUNDS["fixed-order-hybrid"].value(0.5, diameter=2.0, **step) > mp.log(0.1)


@pytest.mark.parametrize("rate, rho, most", [(3.5, 0.1, "3.33333"), (5, 0, "4"), (5, 0.5, "2")])
def test_no_schedule_for_steps_that_do_not_contract(rate, rho, most):
    line = f"online-noise --diameter 1 --smoothness .5 --strong-convexity {rho} --learning-rate {rate} --decay 1.5 --c1 100 --c2 100 --schedule 1:2"
    code, out, err = asked(line.split())
    assert code == 2 and not out and f"{rate} > 2/(β+ρ) = {most}" in err


FREE = "shuffle-pnsgd --lipschitz 1 --diameter 1 --smoothness .5 --learning-rate .1 --n 1000"
CONVERTED = [
    f"{FREE} --bound smooth-nonconvex-shuffled", f"{FREE} --index 990 --bound smooth-nonconvex",
    f"{FREE} --strong-convexity .1 --bound output-perturbation-shuffled", f"{FREE} --strong-convexity .1 --index 990 --bound output-perturbation",
    "shuffle-pnsgd --lipschitz 1 --n 1000 --tau .5 --epochs 10 --bound without-replacement-conjecture",
    "rdp --bound gaussian-rdp", "rdp --steps 7 --bound gaussian-rdp --bound rdp-optimal",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", CONVERTED)
@pytest.mark.parametrize("epsilon, delta", [(1, 1e-5), (0.2044, 0.000408), (8, 2.5e-9)])
def test_a_solution_fed_back_either_way_meets_the_budget(line, epsilon, delta):
    """δ at the budget's ε was above it by up to 8e-13 in half of these."""
    sigma = answer(f"{line} --epsilon {epsilon} --delta {delta} --solve sigma")[0]["result"]["sigma"]
    assert answer(f"{line} --epsilon {epsilon} --sigma {sigma!r}")[0]["result"]["delta"] <= delta
    assert answer(f"{line} --delta {delta} --sigma {sigma!r}")[0]["result"]["epsilon"] <= epsilon
    if "smooth" in line or "output" in line or sigma == 2:  # with exact profiles beside, to 1e-8 (their margins); the least of its range
        return
    assert answer(f"{line} --delta {delta} --sigma {sigma * (1 - 3e-12)!r}")[0]["result"]["epsilon"] > epsilon


PARTIAL = "shuffle-pnsgd --lipschitz 1 --n 1000 --tau .5"


@pytest.mark.parametrize("name, status, question", [
    ("without-replacement-unamplified", "proven", "--alpha 16"), ("without-replacement-unamplified", "proven", "--delta 1e-5"),
    ("without-replacement-conjecture-sum", "conjecture", "--alpha 16"), ("without-replacement-conjecture-sum", "conjecture", "--epsilon 1"),
    ("without-replacement-lower", "lower", "--alpha 16"),
])
def test_what_stands_beside_the_conjecture_can_be_asked_for_alone(name, status, question):
    found, err = answer(f"{PARTIAL} --sigma 2 {question} --bound {name}")
    assert [(row["name"], row["status"]) for row in found["bounds"]] == [(name, status)]
    assert ("not a guarantee" in err) == (status != "proven")


def test_without_amplification_less_noise_is_enough():
    """σ < 2L, where the conjecture says nothing; ⌈E/τ⌉ Gaussian releases of sensitivity 2L."""
    found, _ = answer(f"{PARTIAL} --sigma .5 --epochs 3 --alpha 4 --bound without-replacement-unamplified")
    assert found["result"]["rdp"] == pytest.approx(6 * 2 * 4 / 0.25, rel=1e-12) and found["status"] == "proven"
    both, _ = answer(f"{PARTIAL} --sigma 2 --alpha 16 --bound without-replacement-conjecture --bound without-replacement-unamplified")
    assert [row["status"] for row in both["bounds"]] == ["proven", "conjecture", "conjecture", "lower"]
    assert any("refuted here" in note for note in both["notes"])
    code, _, err = asked(f"{PARTIAL} --sigma 2 --delta 1e-5 --bound without-replacement-lower".split())
    assert code == 2 and "give --alpha" in err


def test_words_of_what_is_nothing_or_next_to_a_limit():
    notes = answer("shuffle-pnsgd --noise laplace --c1 1e5 --c2 1 --lipschitz 1 --diameter 1 --smoothness .5 --learning-rate .1 --n 10 --epsilon 1")[0]["notes"]
    assert any("gives 0 times it" in note for note in notes) and not any("inf" in note for note in notes)
    for line, says in ((f"{FREE.replace('.1', '4.0000001')} --sigma 1 --epsilon 1", "4.0000001 > 2/(β+ρ) = 4;"),
                       (f"{FREE} --sigma 10.583 --alpha 8 --bound smooth-nonconvex-high-noise", "10.583 < L√(2α(α−1)) = 10.5831;")):
        code, _, err = asked(line.split())
        assert code == 2 and says in err
