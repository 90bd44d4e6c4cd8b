"""A solution given back as a parameter meets its budget both as ε at δ and as δ at ε."""

import pytest
from answers import answer, number

FREE = "shuffle-pnsgd --lipschitz 1 --diameter 1 --smoothness .5 --learning-rate .1 --n 1000"
CONVERTED = [
    f"{FREE} --bound smooth-nonconvex-shuffled", f"{FREE} --index 990 --bound smooth-nonconvex",
    f"{FREE} --strong-convexity .1 --bound output-perturbation-shuffled",
    f"{FREE} --strong-convexity .1 --index 990 --bound output-perturbation",
    "shuffle-pnsgd --lipschitz 1 --n 1000 --tau .5 --epochs 10 --bound without-replacement-conjecture",
    "rdp --bound gaussian-rdp", "rdp --steps 7 --bound gaussian-rdp --bound rdp-optimal",
]


@pytest.mark.parametrize("line", CONVERTED)
@pytest.mark.parametrize("epsilon, delta", [(1, 1e-5), (0.2044, 0.000408), (8, 2.5e-9)])
def test_a_converted_sigma_meets_both_and_is_tight(line, epsilon, delta):
    sigma = answer(f"{line} --epsilon {epsilon} --delta {delta} --solve sigma")["result"]["sigma"]
    assert answer(f"{line} --epsilon {epsilon} --sigma {sigma!r}")["result"]["delta"] <= delta
    assert answer(f"{line} --delta {delta} --sigma {sigma!r}")["result"]["epsilon"] <= epsilon
    # with exact profiles beside, to 1e-8 (their margins); the least of its range
    if "smooth" in line or "output" in line or abs(sigma - 2) < 1e-12:
        return
    assert answer(f"{line} --delta {delta} --sigma {sigma * (1 - 1e-10)!r}")["result"]["epsilon"] > epsilon


@pytest.mark.parametrize(("line", "name", "delta"), [
    ("online-noise --lipschitz .01 --diameter 2 --smoothness 0 --index 2 --sigmas .001,.01,.001 --bound online-hybrid",
     "learning-rate", 1e-3),
    ("shuffle-pnsgd --lipschitz .01 --diameter 100 --smoothness 0 --n 1000 --index 997 --sigma .001", "learning-rate",
     1e-12),
])
def test_a_learning_rate_at_epsilon_0_meets_its_delta(line, name, delta):
    found = answer(f"{line} --epsilon 0 --delta {delta} --solve {name}")["result"]["learning_rate"]
    assert delta * (1 - 3e-8) < answer(f"{line} --{name} {found!r} --epsilon 0")["result"]["delta"] <= delta


@pytest.mark.slow
def test_a_large_n_meets_its_delta():
    """One record more changes δ by less than 1e-14 of it."""
    line = ("shuffle-pnsgd --lipschitz 18.826481157033193 --smoothness 0 --learning-rate .0002288673529539767 "
            "--diameter .19988697033944475 --sigma .608844457036075 --epsilon 0")
    n = answer(f"{line} --delta 1.5849745060510558e-5 --solve n")["result"]["n"]
    assert answer(f"{line} --n {n}")["result"]["delta"] <= 1.5849745060510558e-5


@pytest.mark.slow
def test_an_n_for_an_epsilon_of_0_has_an_epsilon_of_0():
    line = ("shuffle-pnsgd --lipschitz 96.05305378461351 --smoothness 0 --learning-rate 1 "
            "--diameter 34396.996820569846 --epochs 155 --index 1 --sigma 96.05305378461351 "
            "--delta 1.116966567012566e-174")
    n = answer(f"{line} --epsilon 0 --solve n")["result"]["n"]
    assert answer(f"{line} --n {n}")["result"]["epsilon"] == 0


@pytest.mark.parametrize("line, budget", [
    ("--steps 100000 --delta 5.917926866197442e-11", 0.033531242610983863),
    ("--steps 10 --delta 9.679742400780448e-9", 0.037006627243455374),
])
def test_a_probability_next_to_a_half_is_tight(line, budget):
    line = f"rdp --mechanism randomized-response {line}"
    more = number(f"{line} --epsilon {budget!r} --solve probability") - 0.5
    assert number(f"{line} --probability {0.5 + more!r}") <= budget
    assert number(f"{line} --probability {0.5 + 1.003 * more!r}") > budget
