"""Guarantees read from JSON compose to what their theorems say: pure ones by sums, finite mechanisms as a whole, zCDP
by ρ."""

import json
import random
import re
from fractions import Fraction
from itertools import product
from math import e, exp, hypot, log, log1p, nextafter

import mpmath
import numpy as np
import pytest
from calling import call
from conftest import slow, spread

from dpcalc import answer, solve
from dpcalc.core.errors import DpcalcError, NoSolution
from dpcalc.numerics.rounding import decimal


def dp(epsilon, delta=0):
    return {"kind": "dp", "epsilon": epsilon, "delta": delta}


def zcdp(rho):
    return {"kind": "zcdp", "rho": rho}


def finite(p, q, **more):
    return {"kind": "outcomes", "p": list(p), "q": list(q), **more}


def laplace(scale, **more):
    return {"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": scale, **more}]}


def noise(name, **more):
    return {"kind": "mechanisms", "mechanisms": [{"name": name, **more}]}


GAUSSIAN = {"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 2.0}]}
UNEVEN = ((0.7, 0.2, 0.1), (0.2, 0.7, 0.1))
SIXTEEN = ([e / (e + 15)] + [1 / (e + 15)] * 15, [1 / (e + 15), e / (e + 15)] + [1 / (e + 15)] * 14)


def composed(guarantees, **question):
    return answer("convert", inputs=guarantees, **question)


# --- pure guarantees -------------------------------------------------------------------------------------------------


def test_rho_adds_up_as_the_decimals_that_were_given():
    """As doubles, ten times 0.1 are above 1."""
    assert answer("convert", from_="zcdp", rho=0.1, steps=10, to="zcdp").value == 1.0
    assert answer("convert", inputs=[zcdp(0.1), zcdp(0.9)], to="zcdp").value == 1.0
    assert answer("convert", inputs=[zcdp(0.1)] * 3, to="zcdp").value >= 0.3


def test_pure_guarantees_add_up_exactly():
    found = composed([dp(1), dp(2)], delta=0)
    assert (found.value, found.bound, found.guarantee) == (3.0, "composition-basic", dp(3.0, 0.0))
    rng = random.Random(1)
    for _ in range(30):
        epsilons = [rng.expovariate(1) for _ in range(rng.randint(2, 6))]
        exact, got = sum(map(decimal, epsilons)), composed([dp(x) for x in epsilons], delta=0).value
        assert decimal(nextafter(got, 0)) < exact <= decimal(got)


@spread(("guarantee", "epsilon"), [
    (laplace(1.0), 1.0),
    (laplace(0.25, count=3), 12.0),
    ({"kind": "mechanisms", "mechanisms": [{"name": "randomized-response", "probability": 0.75}]}, log(3)),
    (laplace(1.0, sampling={"scheme": "poisson", "rate": 0.1}, count=3), 3 * log1p(0.1 * (e - 1))),
    slow(laplace(1.0, sampling={"scheme": "without-replacement", "rate": 0.1}, count=3), 3 * log1p(0.1 * (e - 1))),
    (finite(*UNEVEN, count=20), 20 * log(3.5)),
    (finite((0.5, 0.5), (0.25, 0.75)), log(2)),
    ({"kind": "profile", "epsilon": [0, 0.5, 2], "delta": [0.3, 0.1, 0]}, 2.0),
    ({"kind": "rdp", "alpha": [2, 4], "rdp": [0, 0]}, 0.0), (zcdp(0), 0.0), ({"kind": "tv", "tv": 0}, 0.0),
    ({"kind": "gdp", "mu": 0}, 0.0),
])
def test_the_pure_epsilon_of_every_kind(guarantee, epsilon):
    is_replaced = any(word in str(guarantee) for word in ("randomized-response", "without-replacement"))
    both = [guarantee, {**dp(0.5), **({"adjacency": "replace-one"} if is_replaced else {})}]
    alone, beside = composed([guarantee], delta=0).value, composed(both, delta=0).value
    assert epsilon <= alone * (1 + 1e-15) and alone == pytest.approx(epsilon, rel=1e-12)
    assert beside == pytest.approx(epsilon + 0.5, rel=1e-12)
    assert composed(both, epsilon=beside).value == 0.0
    assert composed(both, epsilon=beside + 1).value == 0.0


@pytest.mark.parametrize(("guarantee", "why"), [
    (GAUSSIAN, "Gaussian noise has no pure ε"), ({"kind": "gdp", "mu": 1.0}, "Gaussian noise has no pure ε"),
    (zcdp(0.5), "zCDP gives no pure ε"),
    ({"kind": "rdp", "alpha": [2, 4], "rdp": [0.1, 0.2]}, "an RDP curve gives no pure ε"),
    (dp(1, 0.25), "compose to 0.25"), ({"kind": "tv", "tv": 0.25}, "compose to 0.25"),
    (finite((0.5, 0.5), (1, 0)), "an outcome is possible on one data set only"),
])
def test_a_refusal_at_delta_0_names_the_real_reason(guarantee, why):
    with pytest.raises(NoSolution, match=why) as refused:
        composed([guarantee, dp(0.5), laplace(3.0)], delta=0)
    assert "RDP" not in str(refused.value) or guarantee["kind"] == "rdp"
    assert refused.value.option == "--delta"


def test_basic_composition_stands_beside_the_others_where_the_deltas_leave_room():
    found = composed([dp(1, 1e-6), dp(2, 2e-6)], delta=1e-5)
    rows = {row["name"]: row["epsilon"] for row in found.bounds}
    assert rows["composition-basic"] == 3.0 and 2.9 < rows["profile-composition"] < 3
    assert composed([dp(1, 1e-6), dp(2, 1e-6)], delta=2e-6, bound="composition-basic").value == 3.0
    with pytest.raises(NoSolution, match="add up to 2e-06; give a larger δ"):
        composed([dp(1, 1e-6), dp(2, 1e-6)], delta=nextafter(2e-6, 0), bound="composition-basic")
    with pytest.raises(NoSolution, match="add up to 3e-06; give a larger δ"):
        composed([dp(1, 1e-6), dp(2, 2e-6)], delta=1e-6, bound="composition-basic")


def test_steps_of_pure_guarantees_are_solved_for():
    assert solve("convert", "steps", inputs=[dp(1), dp(2)], epsilon=10, delta=0).value == 3


# --- what no ε lowers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("guarantees", "delta", "least"), [
    ([dp(4, 1e-6), dp(4, 1e-6)], 1e-6, "compose to 2e-06"),
    ([dp(1, 0.1), dp(1, 0.1)], 0.15, "compose to 0.19"),
    ([dp(1, 0.1), {"kind": "gdp", "mu": 1.0}], 0.05, "compose to 0.1"),
    ([finite((0.5, 0.5), (1, 0)), dp(1)], 0.4, "compose to 0.5"),
    ([finite((1, 0), (0.5, 0.5)), dp(1)], 0.4, "compose to 0.5"),
])
def test_no_epsilon_exists_below_what_is_infinite(guarantees, delta, least):
    with pytest.raises(NoSolution, match=f"no ε exists at δ = {delta:g}") as refused:
        composed(guarantees, delta=delta)
    assert str(refused.value).endswith(least)


def test_at_just_what_is_infinite_the_epsilons_add_up():
    assert composed([dp(1, 0.1), dp(2, 0.2)], delta=0.28).value == 3.0
    rng = random.Random(2)
    for _ in range(20):
        points = [(rng.expovariate(1), rng.random() / 2) for _ in range(rng.randint(2, 4))]
        kept = Fraction(1)
        for _, delta in points:
            kept *= 1 - Fraction(delta)
        delta = float(1 - kept)
        above, below = (delta, nextafter(delta, 0)) if Fraction(delta) >= 1 - kept else (nextafter(delta, 1), delta)
        guarantees = [dp(*point) for point in points]
        total = sum(Fraction(x) for x, _ in points)
        assert float(total) * (1 - 1e-6) <= composed(guarantees, delta=above).value <= nextafter(float(total), 9e9)
        with pytest.raises(NoSolution, match="no ε exists"):
            composed(guarantees, delta=below)


# --- finite mechanisms -----------------------------------------------------------------------------------------------


def test_finite_mechanisms_compose_whole():
    found = answer("convert", from_="outcomes", p=UNEVEN[0], q=UNEVEN[1], steps=20, delta=0.01)
    assert found.value == pytest.approx(21.19681, abs=1e-5)
    assert found.guarantee == finite(*UNEVEN, count=20)
    assert composed([finite(*SIXTEEN)], steps=50, delta=1e-5).value == pytest.approx(18.3842, abs=1e-4)
    assert composed([composed([finite(*SIXTEEN)], steps=10, delta=1e-5)], steps=5,
                    delta=1e-5).value == pytest.approx(18.3842, abs=1e-4)


def brute_force(parts, epsilon):
    """δ of both directions by all sequences of outcomes, with 60 digits."""
    mp = mpmath.mp.clone()
    mp.dps = 60
    sequences = [[(mp.mpf(a), mp.mpf(b)) for a, b in zip(p, q, strict=True)] for p, q,
                 count in parts for _ in range(count)]
    forth = back = mp.mpf(0)
    for sequence in product(*sequences):
        a, b = mp.fprod(x for x, _ in sequence), mp.fprod(y for _, y in sequence)
        forth, back = forth + max(a - mp.exp(epsilon) * b, 0), back + max(b - mp.exp(epsilon) * a, 0)
    return max(forth, back)


def law(rng, size, zeros):
    weights = [0.0 if rng.random() < zeros else rng.random() ** 2 + 1e-3
               for _ in range(size - 1)] + [rng.random() + 0.1]
    return tuple(w / sum(weights) for w in weights)


@spread("seed", range(12))
def test_compositions_of_finite_mechanisms_are_what_brute_force_says(seed):
    rng = random.Random(f"finite {seed}")
    sizes = [rng.randint(2, 3) for _ in range(rng.randint(1, 2))]
    parts = [(law(rng, n, zeros := rng.choice((0, 0, 0.3))), law(rng, n, zeros), rng.randint(1, 3)) for n in sizes]
    guarantees = [finite(p, q, count=count) for p, q, count in parts]
    for epsilon in (0.0, rng.random(), 2 * rng.random(), 4.0):
        truth = brute_force(parts, epsilon)
        got = composed(guarantees, epsilon=epsilon).value
        assert truth * (1 - mpmath.mpf("1e-12")) - mpmath.mpf("1e-15") <= got <= truth * 1.002 + 1e-9
    delta = float(brute_force(parts, 0.7)) * (1 + 1e-9)
    if 1e-6 < delta < 0.99:
        assert brute_force(parts, composed(guarantees, delta=delta).value) <= delta * (1 + 1e-10)


@pytest.mark.parametrize("off", [-9e-10, 9e-10])
def test_probabilities_that_add_up_about_count_in_the_worse_way(off):
    """As they are, and divided by their sums."""
    p, q, count = (0.6, 0.4 + off), (0.3, 0.7 - off), 6
    truth = max(brute_force([(p, q, count)], 1.0),
                brute_force([(tuple(x / sum(p) for x in p), tuple(x / sum(q) for x in q), count)], 1.0))
    got = composed([finite(p, q)], steps=count, epsilon=1).value
    assert truth <= got <= truth * (1 + 1e-4)


def test_nearly_equal_outcomes_keep_their_digits():
    tiny = 1e-9
    got = composed([finite((0.5 + tiny, 0.5 - tiny), (0.5, 0.5))], steps=4, epsilon=0).value
    assert got == pytest.approx(float(brute_force([((0.5 + tiny, 0.5 - tiny), (0.5, 0.5), 4)], 0)), rel=2e-3)


def test_total_variation_of_finite_mechanisms():
    assert answer("tv", inputs=[finite(*UNEVEN)]).value == pytest.approx(0.5, rel=1e-12)
    twice = float(brute_force([(*UNEVEN, 2)], 0))
    assert answer("tv", inputs=[finite(*UNEVEN, count=2)]).value == pytest.approx(twice, rel=1e-6)
    assert answer("tv", inputs=[finite(*UNEVEN)] * 2).value == pytest.approx(twice, rel=1e-6)


@pytest.mark.parametrize(("guarantee", "says"), [
    (finite((0.5, 0.4), (0.5, 0.5)), "add up to 0.9, not 1"), (finite((0.5, 0.5), (1,)), "differ in length"),
    (finite((), ()), "the list is empty"),
    (finite((1.5, -0.5), (0.5, 0.5)), "p.0: 1.5 is not ≤ 1"), (finite((1,), (1,), count=0), "count: 0 is not ≥ 1"),
    (zcdp(-1), "rho: -1 is not ≥ 0"),
])
def test_what_is_no_finite_mechanism_is_refused(guarantee, says):
    with pytest.raises(DpcalcError, match=says):
        composed([guarantee], delta=1e-5)


# --- zCDP ------------------------------------------------------------------------------------------------------------


def test_zcdp_adds_up():
    found = composed([zcdp(0.25), zcdp(0.25)], delta=1e-6)
    assert found.value == pytest.approx(5.22153, abs=1e-5) and found.guarantee == zcdp(0.5)
    assert answer("convert", from_="zcdp", rho=0.1, steps=3, delta=1e-6).guarantee == zcdp(pytest.approx(0.3))
    assert Fraction(answer("convert", from_="zcdp", rho=0.1, steps=3, delta=1e-6).guarantee["rho"]) >= 3 * Fraction(0.1)


def test_zcdp_with_gaussian_noise_is_zcdp():
    both = composed([zcdp(0.25), GAUSSIAN, {"kind": "gdp", "mu": 0.5}], delta=1e-6)
    assert both.guarantee == zcdp(0.25 + 1 / 8 + 1 / 8)
    assert both.value == composed([zcdp(0.5)], delta=1e-6).value


def test_zcdp_with_other_guarantees():
    with_pure = composed([zcdp(0.25), dp(1)], delta=1e-6).value
    # 1-DP is 1/2-zCDP
    assert composed([zcdp(0.25)], delta=1e-6).value < with_pure < composed([zcdp(0.75)], delta=1e-6).value
    assert composed([zcdp(0.25), dp(1, 1e-7)], delta=1e-6).value == pytest.approx(with_pure, rel=0.05)
    assert 0 < answer("tv", inputs=[zcdp(0.25)]).value < (1 - exp(-0.25)) ** 0.5 * (1 + 1e-12)


@pytest.mark.parametrize(("options", "rho"), [
    ({"from_": "dp", "epsilon": 3, "delta": 0}, 4.5), ({"from_": "dp", "epsilon": 3, "delta": 0, "steps": 4}, 18),
    ({"from_": "dp", "epsilon": 3, "delta": 0, "bound": "bounded-range-zcdp"}, 9 / 8),
    ({"from_": "gdp", "mu": 3, "steps": 2}, 9),
    ({"from_": "zcdp", "rho": 0.5, "steps": 2}, 1.0), ({"inputs": [dp(3)]}, 4.5), ({"inputs": [dp(3), dp(1)]}, 5),
    ({"inputs": [laplace(1.0)], "steps": 2}, 1), ({"inputs": [noise("discrete-gaussian", sigma=2, sensitivity=1)]}, 1 / 8),
    ({"inputs": [noise("discrete-gaussian", sigma=2, sensitivity=3, count=4)], "steps": 2}, 9),
    ({"inputs": [noise("exponential", step_epsilon=1)]}, 1 / 8),
    ({"inputs": [noise("exponential", step_epsilon=1)], "bound": "pure-zcdp"}, 1 / 2),
    ({"inputs": [noise("exponential", step_epsilon=2, count=3), noise("exponential", step_epsilon=1)]}, 13 / 8),
    ({"inputs": [noise("discrete-gaussian", sigma=2, sensitivity=1), noise("exponential", step_epsilon=1), zcdp(0.25),
                 {"kind": "gdp", "mu": 0.5}, GAUSSIAN, dp(1)]}, 9 / 8 + 1 / 8),
    ({"inputs": [noise("exponential", step_epsilon=1)], "group_size": 3}, 9 / 8),
])
def test_to_zcdp(options, rho):
    found = answer("convert", to="zcdp", **options)
    assert found.value == rho and found.guarantee["kind"] == "zcdp" and found.guarantee["rho"] == rho
    assert call(["verify", "-"], found.json()).returncode == 0


@pytest.mark.parametrize("options", [{"from_": "dp", "epsilon": 1, "delta": 1e-6}, {"inputs": [dp(1), dp(1, 1e-6)]},
                                     {"inputs": [zcdp(1), dp(1, 1e-6)]},
                                     {"from_": "rdp", "alpha": 2, "rdp": 1},
                                     {"from_": "outcomes", "p": (1, 0), "q": (0.5, 0.5)}])
def test_no_rho_follows_from_what_is_not_pure(options):
    with pytest.raises(DpcalcError, match=r"pure ε|no theorem in dpcalc turns|not imply zCDP"):
        answer("convert", to="zcdp", **options)


@pytest.mark.parametrize(("options", "mu"), [
    ({"inputs": [{"kind": "gdp", "mu": 0.6}, {"kind": "gdp", "mu": 0.8}]}, 1), ({"inputs": [dp(1), dp(2)]}, 2.660431085095),
    ({"from_": "gdp", "mu": 0.6}, 0.6), ({"inputs": [{"kind": "gdp", "mu": 0.6}], "steps": 4}, 1.2),
    ({"inputs": [GAUSSIAN]}, 0.5), ({"inputs": [GAUSSIAN, dp(1), dp(2)]}, hypot(0.5, 2.660431085095)),
    ({"inputs": [laplace(1.0), laplace(0.5)]}, 2.660431085095), ({"inputs": [laplace(1.0)]}, 1.2320353853),
    ({"inputs": [noise("exponential", step_epsilon=1)], "steps": 4}, 2 * 1.2320353853),
    ({"from_": "outcomes", "p": f"{e / (1 + e)},{1 / (1 + e)}", "q": f"{1 / (1 + e)},{e / (1 + e)}"}, 1.2320353853),
])
def test_to_gdp(options, mu):
    """An ε-DP release has μ = −2Φ⁻¹(1/(1+e^ε)): 1.2320353853 for ε = 1, and 2.35796149 for 2."""
    found = answer("convert", to="gdp", **options)
    assert found.value == pytest.approx(mu, rel=1e-8) and found.guarantee == {"kind": "gdp", "mu": found.value}
    if mu == 1:
        assert found.value == 1
    assert call(["verify", "-"], found.json()).returncode == 0


@pytest.mark.parametrize("guarantees", [[noise("discrete-gaussian", sigma=2, sensitivity=1)], [dp(1), dp(1, 1e-6)],
                                        [{"kind": "gdp", "mu": 1}, zcdp(0.5)], [{"kind": "tv", "tv": 0.1}],
                                        [laplace(1.0), {"kind": "rdp", "alpha": [2], "rdp": [1]}]])
def test_no_mu_follows_without_a_theorem(guarantees):
    with pytest.raises(DpcalcError, match=r"no theorem in dpcalc turns|does not imply GDP"):
        answer("convert", to="gdp", inputs=guarantees)


@pytest.mark.parametrize("kind", ["convert", "ledger"])
def test_outcomes_beside_a_poisson_batch_count_in_either_order(kind):
    """By the definition: P = Σ_k Poisson step × outcome k, for both orders of p and q, and both directions."""
    q, z, x = 0.3, 1.2, np.linspace(-14, 16, 100_001)
    without = np.exp(-x**2 / 2)
    without /= without.sum()
    with_record = without * (1 - q + q * np.exp(x / z - 1 / (2 * z * z)))

    def poisson(gamma):
        """H_γ of (with the record ‖ without it), and the reverse, of one Gaussian step on a Poisson batch."""
        return [float(np.maximum(one - gamma * other, 0).sum())
                for one, other in ((with_record, without), (without, with_record))]

    batch = {"kind": "mechanisms", "adjacency": "add-remove", "mechanisms": [
        {"name": "gaussian", "noise_multiplier": z, "sampling": {"scheme": "poisson", "rate": q}}]}
    for p, r in (((0.9, 0.1), (0.5, 0.5)), ((0.5, 0.5), (0.9, 0.1))):
        for epsilon in (0.2, 0.9):
            true = max(sum(a * poisson(exp(epsilon) * b / a)[side] for a, b in zip(*pair, strict=True))
                       for pair in ((p, r), (r, p)) for side in (0, 1))
            if kind == "convert":
                found = answer(kind, inputs=[batch, finite(p, r)], epsilon=epsilon, bound="profile-composition").value
                assert true * (1 - 1e-6) <= found <= true * 1.05
            else:
                assert answer(kind, inputs=[batch, finite(p, r)], delta=true).value >= epsilon * (1 - 1e-6)


def test_several_lists_of_outcomes_are_composed_with_a_promise():
    first, second = finite((0.9, 0.1), (0.5, 0.5)), finite((0.2, 0.8), (0.1, 0.9))
    for command in ("convert", "ledger", "tv"):
        question = {} if command == "tv" else {"delta": 1e-5}
        two, one = (answer(command, inputs=[first, other], **question).promises for other in (second, first))
        (promise,) = set(two) - set(one)
        assert promise.startswith("the probabilities p of all lists of outcomes must belong to the same")


def test_convert_and_ledger_promise_and_warn_of_the_same():
    """What a guarantee without neighbours must hold for, in the same words, once for each input."""
    rng = random.Random(18)
    for k in range(8):
        others = rng.sample([dp(1, 1e-6), zcdp(0.1), {"kind": "gdp", "mu": 1}, laplace(2.0), GAUSSIAN], rng.randint(1, 3))
        stated = {"kind": "gdp", "mu": 0.5, "adjacency": ("add-remove", "replace-one")[k % 2]}
        inputs = [{**g, "name": f"file {i}"} for i, g in enumerate([*others, stated])]
        said = []
        for command in ("convert", "ledger"):
            line = [command, "-", "--delta", "1e-4", "--json"]
            done = call(line, json.dumps(inputs))
            promises = [x for x in json.loads(done.stdout)["promises"] if not x.startswith("noise, rates and steps")]
            assert [x in done.stderr for x in promises] == [k % 2 == 1] * len(others)
            said.append((re.sub(r"release \d+ \((file \d)\)", r"\1", done.stderr), len(promises)))
        assert said[0] == said[1]


def test_a_bounded_range_makes_the_divergence_small():
    """The exponential mechanism's worst pairs (two losses, ε apart) have no Rényi divergence above αε²/8, and come near
    it."""
    mp, worst = mpmath.mp.clone(), 0
    for epsilon, share, alpha in product((0.01, 1, 4), (0.02, 0.3, 0.5, 0.7, 0.98), (1.01, 2, 20)):
        q = mp.mpf(share)
        p = q * mp.exp(epsilon) / (1 - q + q * mp.exp(epsilon))  # log p/q and log (1−p)/(1−q) are ε apart
        divergence = mp.log(p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)) / (alpha - 1)
        worst = max(worst, divergence / (alpha * answer("convert", from_="dp", epsilon=epsilon, delta=0, to="zcdp",
                                                        bound="bounded-range-zcdp").value))
    assert 0.99 < worst <= 1


def test_zcdp_is_sampled_as_a_curve():
    curve = {"kind": "rdp", "alpha": list(range(2, 129)), "rdp": [a / 8 for a in range(2, 129)]}
    run = {"scheme": "without-replacement", "sampling_rate": 0.01, "steps": 10, "alpha": 8}
    by_rho, by_curve = (answer("subsample", inputs=[{**given, "adjacency": "replace-one"}], **run).value
                        for given in (zcdp(0.125), curve))
    assert by_rho == pytest.approx(by_curve, rel=1e-12)
    with pytest.raises(DpcalcError, match="Poisson sampling of an RDP curve is not supported"):
        answer("subsample", inputs=[zcdp(0.125)], sampling_rate=0.01, delta=1e-5)


# --- laws ------------------------------------------------------------------------------------------------------------


def guarantee(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return dp(rng.expovariate(2), rng.choice((0, rng.random() * 1e-7)))
    if kind == 1:
        return zcdp(rng.expovariate(5))
    if kind == 2:
        return {"kind": "gdp", "mu": rng.expovariate(2)}
    if kind == 3:
        return laplace(1 + rng.expovariate(0.2))
    if kind == 4:
        p = rng.uniform(0.5, 0.8)
        return finite((p, 1 - p), (1 - p, p))
    if kind == 5:
        return finite(law(rng, 3, 0), law(rng, 3, 0))
    if kind == 6:
        return {"kind": "profile", "epsilon": [0, 1, 2], "delta": [0.3, 0.05, 1e-7]}
    return {"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 2 + rng.expovariate(1),
                                                  "count": rng.randint(1, 3)}]}


@spread("seed", range(12))
def test_the_order_of_the_inputs_does_not_matter(seed):
    rng = random.Random(f"order {seed}")
    guarantees = [guarantee(rng) for _ in range(3)]
    shuffled = rng.sample(guarantees, 3)
    for question in ({"delta": 1e-5}, {"epsilon": 2.0}):
        assert composed(guarantees, **question).value == composed(shuffled, **question).value


@pytest.mark.parametrize("seed", range(12))
def test_copies_are_steps(seed):
    rng = random.Random(f"copies {seed}")
    one, copies = guarantee(rng), rng.randint(2, 3)
    assert composed([one] * copies, delta=1e-5).value == pytest.approx(composed([one], steps=copies, delta=1e-5).value,
                                                                       rel=3e-3)
    many = composed([one, dp(0.1)], steps=copies, delta=1e-5).value
    assert composed([one, dp(0.1)] * copies, delta=1e-5).value == pytest.approx(many, rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_handed_on_loses_no_less(seed):
    rng = random.Random(f"handed on {seed}")
    guarantees = [guarantee(rng) for _ in range(2)]
    found = composed(guarantees, delta=1e-5)
    assert composed([found, dp(0.1)], delta=1.1e-5).value >= composed([*guarantees, dp(0.1)],
                                                                      delta=1.1e-5).value * (1 - 3e-3)


# --- long curves -----------------------------------------------------------------------------------------------------


def test_a_long_curve_is_what_a_short_one_is():
    orders = [1.5 + k / 100 for k in range(20_000)]
    curve = {"kind": "rdp", "alpha": orders, "rdp": [a / 8 for a in orders]}
    found = composed([curve], delta=1e-5)
    assert found.value == pytest.approx(composed([zcdp(0.125)], delta=1e-5).value, rel=1e-4)
    with pytest.raises(DpcalcError, match="alpha: a list of more than 100000 entries"):
        composed([{"kind": "rdp", "alpha": [2.0] * 100_001, "rdp": [1.0] * 100_001}], delta=1e-5)
    assert len(json.dumps(found.guarantee)) < 100


@pytest.mark.parametrize("given",
                         [{"inputs": [{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1.0}]}]},
                          {"from_": "outcomes", "p": ".9,.1", "q": ".1,.9"}])
def test_a_mechanism_that_is_described_is_not_taken_to_have_a_bounded_range(given):
    """Its losses have a range of 2ε: ε²/8 would be below its Rényi divergence of .6191 at order 2 (Laplace noise, ε =
    1)."""
    with pytest.raises(DpcalcError, match="not a bound for this question"):
        answer("convert", **given, to="zcdp", bound="bounded-range-zcdp")
    rho = answer("convert", **given, to="zcdp").value
    assert answer("convert", **given, alpha=2).value <= 2 * rho


def test_steps_of_a_finite_mechanism_are_solved_for_where_they_are_few():
    for p, q, epsilon, steps in ((".6,.4", ".7,.3", 0.49, 1), (".5,.5", ".6,.4", 0.5, 2)):
        found = solve("convert", "steps", from_="outcomes", p=p, q=q, epsilon=epsilon, delta=1e-6).value
        assert found == steps
        assert answer("convert", from_="outcomes", p=p, q=q, steps=steps, delta=1e-6).value <= epsilon
        assert answer("convert", from_="outcomes", p=p, q=q, steps=steps + 1, delta=1e-6).value > epsilon
