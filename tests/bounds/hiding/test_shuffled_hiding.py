"""A shuffled record that hides among the others: golden values, the theorem on explicit matrices, laws, and what the
command says."""

import json
from math import exp, expm1, inf, isfinite, log, log1p, sqrt
from random import Random

import mpmath
import numpy as np
import pytest
from answers import answer, number, refusal
from conftest import slow, spread
from domains import log_uniform
from paths import GOLDEN

from dpcalc.bounds.hiding import shuffled_hiding, shuffled_hiding_last
from dpcalc.bounds.hiding._engine import last_pass, plan, pushes
from dpcalc.bounds.noisy_sgd._engine.taut import least
from dpcalc.bounds.pnsgd._engine.shares import Shares
from dpcalc.bounds.pnsgd.iteration import SHUFFLED, SHUFFLED_RDP
from dpcalc.numerics.hockey_stick import log_theta

CASES = json.loads((GOLDEN / "hiding.json").read_text())["cases"]
ETA = 0.01
RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01"


def run(mu0, n, c=1.0, diameter=None):
    """μ_0 = 2L/σ, c = 1 − ηρ; the diameter in units of ησ."""
    level, rho = 2 / mu0, (1 - c) / ETA
    return {"level": level, "lipschitz": 1.0, "learning_rate": ETA, "smoothness": max(1.0, rho),
            "strong_convexity": rho, "n": n,
            "diameter": diameter and diameter * ETA * level}


def of_kind(kind, slower=()):
    return [pytest.param(case, id=str(k), marks=[pytest.mark.slow] if k in slower else []) for k, case in
            enumerate(CASES) if case["kind"] == kind]


# --- golden values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [p for p in of_kind("one-epoch") if p.values[0]["c"] <= 1])
def test_delta_of_one_pass(case):
    """As small as the target, and not below the least value that the theorem can have for any p and c."""
    found, target = shuffled_hiding.BOUND.value(case["epsilon"],
                                                **run(case["mu0"], case["n"], case["c"])), case["log_delta_target"]
    assert found <= target + 1e-3 * abs(target) + 0.1
    assert exp(found) >= case.get("program_optimum_lower", 0.0) * (1 - 1e-6)
    assert found <= case["log_today"] + 0.02  # blocks
    assert found <= case["log_delta_fine"] + 0.012 * abs(case["log_delta_fine"])


@pytest.mark.parametrize("case", [p for p in of_kind("one-epoch") if "program_optimum_lower" in p.values[0]
                                  and p.values[0]["n"] <= 1000])
def test_the_plan_is_nearly_the_best(case):
    """Without blocks, within 6 % of the least δ that the theorem can have for any p and c."""
    places = pushes.places(Shares(float(case["mu0"]), log(case["c"]) if case["c"] != 1 else 0.0), case["n"], 1000)
    found = exp(plan.profile(places, np.array([case["epsilon"]]))[0][0])
    assert 1 - 1e-6 < found / case["program_optimum_lower"] < 1.06


@pytest.mark.parametrize("case", of_kind("one-epoch eps"))
def test_epsilon_of_one_pass(case):
    found = shuffled_hiding.BOUND.inverse(log(case["delta"]), **run(case["mu0"], case["n"], case["c"]))
    assert case["epsilon_target"] * 0.9 < found <= case["epsilon_target"] * 1.01


@spread("case", of_kind("epochs, last iterate only"))
def test_epsilon_of_the_last_iterate(case):
    p = {**run(case["mu0"], case["n"], case["c"], case["diameter_over_eta_sigma"]),
         "iterations": case["n"] * case["epochs"]}
    found = shuffled_hiding_last.BOUND.inverse(log(case["delta"]), **p)
    assert case["epsilon_target"] * 0.9 < found <= case["epsilon_target"] * 1.01


@pytest.mark.parametrize("case", of_kind("epochs, every epoch released", {6, 25, 33, 48}))
def test_epsilon_of_released_epochs(case):
    found = answer(f"{RUN} --sigma {2 / case['mu0']} --n {case['n']} --epochs {case['epochs']} --delta {case['delta']}")
    assert case["epsilon_target"] * 0.8 < found["result"]["epsilon"] <= case["epsilon_target"] * 1.01


@pytest.mark.parametrize("alpha, most", [(2, 0.0043), (8, 0.0174), (32, 9.3)])
def test_rdp(alpha, most):
    """By the integral of the profile: 3.013 at α = 8 by the mean over places."""
    p = run(1.0, 1000)
    found = shuffled_hiding.BOUND.rdp(alpha, **p)
    assert 0.5 * most < found <= most
    assert found < SHUFFLED_RDP.value(alpha, **{k: p[k] for k in SHUFFLED_RDP.params})


@pytest.mark.parametrize("alpha", [1.01, 2.0, 8.0, 300.0])
@pytest.mark.parametrize("mu", [0.01, 1.0, 5.0])
def test_the_integral_of_a_gaussian_profile_is_its_rdp(alpha, mu):
    """αμ²/2, from above: one record alone in its pass."""
    found, true = shuffled_hiding_last.BOUND.rdp(alpha, **run(mu, 1), iterations=1), alpha * mu * mu / 2
    assert true <= found <= true * 1.02


# --- the theorem on explicit matrices --------------------------------------------------------------------------------


def theta(mp, x, mu):
    """E_γ(N(μ, 1)‖N(0, 1)) for γ = e^x of any sign of x."""

    def tail(y):
        return mp.erfc(y / mp.sqrt(2)) / 2

    return tail(x / mu - mu / 2) - mp.exp(x) * tail(x / mu + mu / 2)


def step_by_step(mp, c, slots):
    """The least cost of undoing pushes with these numbers of later slots, by the taut string over all steps."""
    c = mp.mpf(c)
    steps = ((c ** (2 * j), c**j if j in slots else mp.mpf(0), mp.mpf(0), j == max(slots))
             for j in range(max(slots) + 1))
    return least(steps)[0]


def summed(mp, epsilon, p, c, mu, n):
    """(1/n)Σ p θ(ε + log(c/p), μ), whose matrices must be such as the theorem takes."""
    assert min(mp.fsum(p.get((m, k), 0) for k in range(n)) for m in range(n)) >= 1 - mp.mpf(10) ** -40
    assert max(mp.fsum(c.get((m, k), 0) for m in range(n)) for k in range(n)) <= 1 + mp.mpf(10) ** -40
    return mp.fsum(x * (theta(mp, epsilon + mp.log(c[place] / x), mu[place]) if c[place] > 0 else 1) for place,
                   x in p.items() if x > 0) / n


@spread("mu0, n, c, epsilon",
                         [(1, 12, 1.0, 0.5), (0.5, 16, 0.95, 0.2), (2, 16, 1.0, 2.0), (0.2, 9, 0.9, 0.05),
                                                (1, 14, 1.01, 0.4), (3, 16, 1.0, 1.0), (8, 16, 0.999, 8.0)])
def test_the_plan_is_one_of_the_theorem(mu0, n, c, epsilon):
    """Its p and c, written out from the numbers of the plan, have the sums that the theorem asks for; the value is the
    theorem's."""
    mp = mpmath.mp.clone()
    mp.dps = 60
    places = pushes.places(Shares(float(mu0), log(c) if c != 1 else 0.0), n, 64)
    found, z = plan.profile(places, np.array([epsilon]))
    mu = {(m, k): mu0 * mp.sqrt(step_by_step(mp, c, {m, k})) for m in range(n) for k in range(n)}
    z, e, t = mp.mpf(z[0]), mp.mpf(epsilon), {}
    far = [m for m in range(n) if mu[m, m] < mp.mpf("0.6") * mp.sqrt(2 * e) and mu[m, m] * z - mu[m, m] ** 2 / 2 < e]
    late = range(far[0])
    f = {k: 1 - mp.exp(mu[k, k] * z - mu[k, k] ** 2 / 2 - e) for k in far}
    mean = {m: mp.fsum(f[k] * mu[m, k] for k in far) / mp.fsum(f.values()) for m in late}
    kept = {m: min(mp.mpf(1), mp.exp(e - mu[m, m] * (z - mean[m] + mu[m, m]) + mu[m, m] ** 2 / 2)) for m in late}
    t = {(m, k): mp.exp(mu[m, k] * z - mu[m, k] ** 2 / 2 - e) for m in late for k in far}
    parts = {k: f[k] / mp.fsum((1 - kept[m]) * t[m, k] for m in late) for k in far}
    whole = mp.fsum(parts.values())
    p = {(m, k): (1 - kept[m]) * parts[k] / whole for m in late for k in far}
    likelihood = {place: x * t[place] for place, x in p.items()}
    left = {k: 1 - mp.fsum(likelihood[m, k] for m in late) for k in far}
    p |= {(m, m): kept[m] for m in late} | {(k, k): mp.mpf(1) for k in far}
    likelihood |= {(m, m): mp.mpf(1) for m in late} | {(k, k): left[k] for k in far}
    exact = mp.log(summed(mp, e, p, likelihood, mu, n))
    assert exact <= found[0] <= exact + 1e-9 * max(1, -float(exact))
    assert found[0] < plan.alone(places, np.array([epsilon]))[0]


@np.errstate(all="ignore")  # as plan.profile has it
def test_any_number_is_a_plan_but_none_is_far_better():
    """Other Z give valid, larger bounds."""
    places, epsilon = pushes.places(Shares(1.0, 0.0), 1000, 16), np.array([0.3])
    chosen = plan.Plan(places, epsilon)
    best = chosen.best_z()
    value = chosen.bound(best)[0]
    for part in (0.5, 0.9, 0.99):
        other = chosen.bound(best * part)[0]
        assert isfinite(other) and other > value - 0.01
    assert chosen.bound(best * 1.1)[0] == inf


# --- pushes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1.0, 0.95, 0.5, 0.999, 1.01, 1.2])
def test_two_pushes_are_the_taut_string(c):
    mp = mpmath.mp.clone()
    mp.dps = 30
    for m, later in [(0, 1), (0, 7), (3, 4), (3, 7), (3, 8), (5, 11), (5, 30), (20, 41), (20, 40)]:
        true = mp.sqrt(step_by_step(mp, c, {m, later}))
        found = pushes.ratio_of_two(1.0, log(c) if c != 1 else 0.0, np.array([float(m)]), np.array([float(later)]))[0]
        assert true <= found <= true * (1 + 1e-12)
        assert mp.almosteq(mp.sqrt(pushes.cost_of_two_exact(mp, mp.mpf(c), m, later)), true, 1e-25)


@pytest.mark.parametrize("n, c, mu0, epsilon",
                         [(300, 0.99, 2.0, 0.05), slow(10**4, 0.999, 2.0, 0.01), slow(10**6, 1.0, 1.0, 0.3), slow(10**9, 1 - 1e-7, 0.5, 0.3)])
def test_the_plan_of_many_records_at_high_precision(n, c, mu0, epsilon):
    """The printed plan at the number that the value chose: next to the value, and not above it."""
    mp, p = mpmath.mp.clone(), run(mu0, n, c)
    mp.dps = 30
    exact = float(mp.log(shuffled_hiding.BOUND.exact(mp, epsilon, **p, **shuffled_hiding.BOUND.choices.witness(epsilon, 0.0, **p))))
    value = shuffled_hiding.BOUND.value(epsilon, **p)
    assert exact <= value <= exact + 1e-8 * max(1.0, -exact)


@pytest.mark.parametrize("draws", [30, slow(60)])
def test_several_passes_are_at_most_the_taut_string_from_the_beginning(draws):
    """With and without a set: the closed form is the cost of possible shifts, and without a set the least one."""
    rng, mp = Random(1), mpmath.mp.clone()
    for _ in range(draws):
        n, whole, c = rng.randint(2, 8), rng.randint(0, 4), rng.choice([1.0, 0.95, 0.7])
        wide = rng.choice([inf, 1 + 7 * rng.random()])
        rest = rng.randint(1, n)
        found = last_pass.places(1.0, log(c) if c < 1 else 0.0, last_pass.Run(n, whole, rest, wide), 64)
        early = {rest + n * k for k in range(whole)}
        for m in range(rest):
            for k in range(m, rest):
                slots = {m, k} | early
                steps = ((mp.mpf(c) ** (2 * j), mp.mpf(c) ** j if j in slots else 0, 0 if j == rest + n * whole - 1 else
                          mp.mpf(min(wide, 1e9)) * mp.mpf(c) ** (j + 1), wide < inf or j == rest + n * whole - 1)
                         for j in range(rest + n * whole))
                true, closed = mp.sqrt(least(steps)[0]), found.pair[m, k] if k > m else found.own[m]
                assert closed >= true * (1 - 1e-12)
                assert wide < inf or closed <= true * (1 + 1e-12)


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [12, slow(150)])
def test_never_above_iteration_and_falling(draws):
    rng = Random(5)
    for _ in range(draws):
        n, mu0, c = int(log_uniform(rng, 2, 1e12)), log_uniform(rng, 1e-3,
                                                                50), rng.choice([1.0, 1 - log_uniform(rng, 1e-9, 0.5)])
        p, epsilon = run(mu0, n, c), log_uniform(rng, 1e-3, 100)
        plain = SHUFFLED.value(epsilon, **{k: v for k, v in p.items() if k != "diameter"})
        here = shuffled_hiding.BOUND.value(epsilon, **p)
        assert here <= plain + 0.07  # its blocks are larger
        assert shuffled_hiding.BOUND.value(epsilon * 1.01, **p) <= here + 1e-6 * max(1, -here)
        with_set = shuffled_hiding.BOUND.value(epsilon, **{**p, "diameter": log_uniform(rng, 1e-3, 1e3)})
        assert with_set <= here


def test_one_slot_of_a_pass_is_amplification_by_sampling():
    """The bound is attained: (1/n)θ(log(1 + n(e^ε − 1)), 2L/σ)."""
    for n, mu0, epsilon in [(1000, 2.0, 0.3), (50, 4.0, 1.0), (10**6, 1.0, 0.01)]:
        true = log_theta(log1p(n * expm1(epsilon)), mu0) - log(n)
        found = shuffled_hiding_last.BOUND.value(epsilon, **run(mu0, n), iterations=1)
        assert true <= found <= true + 2e-3 * abs(true)


def test_more_slots_and_more_passes_lose_more():
    """Of one pass, and of whole passes; a pass that has just begun hides little of the last slots of the one before."""
    p = run(1.0, 1000)
    for several in ((1, 10, 500, 999, 1000), (1000, 2000, 10_000, 10**6), (1500, 2500, 10_500, 10**6 + 500)):
        lost = [shuffled_hiding_last.BOUND.value(0.3, **p, iterations=iterations) for iterations in several]
        assert lost == sorted(lost)
    lost = shuffled_hiding_last.BOUND.value(0.3, **p, iterations=10**6)
    assert shuffled_hiding_last.BOUND.value(0.3, **{**p, "diameter": 0.5}, iterations=10**6) < lost


def test_one_pass_is_the_same_by_both():
    p = run(1.0, 1000)
    for epsilon in (0.1, 0.5, 1.0):
        one, last = shuffled_hiding.BOUND.value(epsilon, **p), shuffled_hiding_last.BOUND.value(epsilon, **p, iterations=1000)
        assert one == pytest.approx(last, rel=1e-9)


def test_a_small_set_contracts_where_epsilon_is_next_to_zero():
    """√n times less than without it, and no more than by the contraction of every step."""
    small, none = (shuffled_hiding.BOUND.value(0.0, **run(1.0, 10**6, diameter=d)) for d in (2.0, None))
    assert small < none - 5
    b = exp(log_theta(0.0, 2.0))
    assert exp(small) <= exp(log_theta(0.0, 1.0)) / 1e6 / (1 - b) * (1 + 1e-9)


def test_the_contraction_of_a_set_takes_whole_blocks_of_places():
    """Else a part of a block would be counted without the blocks of slots after it."""
    p = {"level": 1.0, "lipschitz": 5.0, "learning_rate": 1.0, "smoothness": 0.0, "strong_convexity": 0.0, "n": 10**5,
         "diameter": 10.0}
    mp = mpmath.mp.clone()
    found, (fine, *way) = shuffled_hiding.BOUND.value(0.0, **p), shuffled_hiding.BOUND.choices.witness(0.0, 0.0, **p)["way"]
    exact = mp.log(shuffled_hiding.BOUND.exact(mp, 0.0, **p, way=[fine, *way]))
    assert len(way) == 2 and exact <= found <= exact + 1e-9 * -float(exact)
    for other in ([fine, way[0] + 1, way[1] + 1], [2, 17, 38], [fine, 1.5, 2.5], [fine, 5, 5], [0, 1.0]):
        with pytest.raises(ValueError):
            shuffled_hiding.BOUND.exact(mp, 0.0, **p, way=other)


@pytest.mark.parametrize("n", [10**9, 10**12, 9 * 10**15])
def test_a_set_that_hardly_contracts_does_not_lower_a_delta_of_one(n):
    p = {"level": 1.0, "lipschitz": 1e10, "learning_rate": 1e-3, "smoothness": 0.0, "strong_convexity": 0.0, "n": n,
         "diameter": 1e9}
    assert shuffled_hiding.BOUND.value(1.0, **p) == 0


def test_steps_that_forget_everything():
    """ηρ = 1: only the record of the last slot counts, with and without a set."""
    for diameter in (None, 1.0):
        p = {"level": 1.0, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": 1.0, "strong_convexity": 1.0, "n": 20,
             "diameter": diameter}
        for epsilon in (0.0, 0.03):
            found = shuffled_hiding.BOUND.value(epsilon, **p)
            exact = mpmath.log(shuffled_hiding.BOUND.exact(mpmath.mp, epsilon, **p))
            assert exact <= found <= exact + 1e-9 and found <= log_theta(epsilon, 2.0) - log(20) + 1e-9
        assert 0 < shuffled_hiding.BOUND.rdp(4.0, **p) < 8


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_release_of_the_command():
    every, last = (answer(f"{RUN} --sigma 2 --n 10000 --epochs 10 --delta 1e-6{release}")
                   for release in ("", " --release last-iterate"))
    assert every["released"] == "last iterate of every epoch" and every["bound"] == "shuffled-hiding"
    assert last["released"] == "last iterate" and last["bound"] == "shuffled-hiding-last"
    assert last["result"]["epsilon"] == pytest.approx(0.1522, rel=1e-2)
    assert last["result"]["epsilon"] < every["result"]["epsilon"] == pytest.approx(0.2547, rel=1e-2)


def test_a_pass_that_stops_in_the_middle():
    half = answer(f"{RUN} --sigma 2 --n 10000 --steps 5000 --release last-iterate --epsilon .1")["result"]["delta"]
    whole = answer(f"{RUN} --sigma 2 --n 10000 --epsilon .1")["result"]["delta"]
    assert half == pytest.approx(3.6e-10, rel=0.05) and half < whole
    assert "give --steps or --epochs, not both" in refusal(f"{RUN} --sigma 2 --n 10000 --steps 5000 --epochs 2 "
                                                                  f"--epsilon .1", 2)


@pytest.mark.parametrize("steps, epsilon", [(1, .0043958264), (100, .034403698), slow(5000, .12545115), (10_000, .16493336)])
def test_within_one_pass_the_last_iterate_is_all_that_is_released(steps, epsilon):
    """One step uses the record with probability 1/n: (1/n)θ(log(1 + n(e^ε − 1)), 2L/σ)."""
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --sigma 1 --n 10000 --delta 1e-5"
    found = [answer(f"{line} --steps {steps}{release}") for release in ("", " --release last-iterate")]
    assert [f["result"]["epsilon"] for f in found] == pytest.approx([epsilon] * 2, rel=1e-7)
    assert {f["released"] for f in found} == {"last iterate"}
    if steps == 1:
        grown = log1p(10_000 * expm1(found[0]["result"]["epsilon"]))
        assert exp(log_theta(grown, 2.0)) / 10_000 == pytest.approx(1e-5, rel=1e-6)


@pytest.mark.parametrize("line, says", [
    ("--n 100 --index 1 --steps 1 --epsilon .1", "1 is not a multiple of n = 100"),  # the record is used in the only step
    ("--steps 1000 --solve n --epsilon .5 --delta 1e-3", "no unique solution"),
    ("--n 100 --epochs 3 --release last-iterate --strong-convexity .01 --epsilon .1 --bound output-perturbation",
     "noise added once"),
    ("--n 100 --steps 50 --diameter .5 --epsilon .1 --bound randomly-stopped --index 1", "50 is not a multiple"),
])
def test_what_a_cut_pass_and_the_last_iterate_cannot_mean(line, says):
    assert says in refusal(f"{RUN} --sigma 2 {line}", 2)


def test_a_set_as_wide_as_one_push():
    """D = 2ηL in decimals: doubles and high precision begin the shifts at the same pass."""
    p = {"level": 0.526, "lipschitz": 0.263, "smoothness": 1.0, "strong_convexity": 0.0, "learning_rate": 0.766,
         "diameter": 0.402916, "n": 10,
         "iterations": 41}
    found, exact = shuffled_hiding_last.BOUND.value(0.1, **p), mpmath.log(shuffled_hiding_last.BOUND.exact(mpmath.mp, 0.1, **p))
    assert exact <= found <= exact + 1e-9 and found == shuffled_hiding_last.BOUND.value(0.1, **p)


@pytest.mark.parametrize("n, epochs, release", [slow(100, 2, "last-iterate"), slow(10_000, 5, "every-epoch"),
                                                slow(10_000, 5, "last-iterate")])
def test_solving_meets_the_budget_and_less_noise_misses_it(n, epochs, release):
    line = f"{RUN} --n {n} --epochs {epochs} --release {release} --delta 1e-6"
    sigma = number(f"{line} --epsilon .3 --solve sigma")
    assert number(f"{line} --sigma {sigma!r}") <= 0.3 < number(f"{line} --sigma {0.99 * sigma!r}")


@pytest.mark.slow
def test_compare_uses_what_is_released():
    line = ("compare --n 60000 --batches shuffled --batch-size 60 --sigma .03 --lipschitz 1 --loss convex --smoothness "
            "1 --learning-rate .05 "
            "--delta 1e-5 --epochs")
    last, cut, every = (answer(f"{line} {rest}") for rest in ("10 --release last-iterate", "9.5 --release last-iterate",
                                                              "10 --release every-epoch"))
    assert last["bound"] == cut["bound"] == "shuffled-hiding-last" and every["bound"] == "shuffled-hiding"
    assert last["result"]["epsilon"] == pytest.approx(0.5206, rel=1e-2)
    assert last["result"]["epsilon"] < cut["result"]["epsilon"] * 1.02 < every["result"]["epsilon"]
    assert sqrt(2) > last["result"]["tv"] > 0
