"""What audits found, against formulas written down again from the definitions."""

import mpmath
import pytest
from calling import call
from last_iterate_lines import answer, asked

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd._engine.step import log_factor, squared_contraction
from dpcalc.bounds.sampling import poisson_rdp

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
    if "smooth" in line or "output" in line or abs(sigma - 2) < 1e-12:  # with exact profiles beside, to 1e-8 (their margins); the least of its range
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


@pytest.mark.parametrize("lipschitz, sigma, epsilon", [(1e15, 1e-15, 0.0), (1e150, 1e-150, 0.0), (1e153, 1e-150, 0.01), (1.0, 1e170, 0.0)])
@pytest.mark.parametrize("name", ["noise-feedback", "without-feedback"])
def test_a_decay_below_doubles_of_a_push_far_above(name, lipschitz, sigma, epsilon):
    """|r|^(T−i) = 2^−1011 was told as 5e-324 whatever 2γL/σ is: δ = 4e-291 where it is .000031."""
    own = {"curvature": 0.5, "learning_rate": 1.0, "sigma": sigma, "iterations": 1012, "lipschitz": lipschitz, "index": 1}
    want, got = mp.log(BOUNDS[name].exact(mp, epsilon, **own)), BOUNDS[name].value(epsilon, **own)
    assert want <= got and (got <= want * (1 - 1e-11) or sigma == 1e170)  # μ = 1e-474 is rounded up


def test_noise_whose_square_is_beyond_doubles():
    found, _ = answer("noise-feedback --curvature .5 --learning-rate 1 --lipschitz 1 --sigma 1e170 --steps 12 --index 1 --delta 1e-5")
    assert found["result"]["sigma_factor"] == pytest.approx(1.0) and "variance" not in found["result"]


@pytest.mark.parametrize("line", [
    "rdp --mechanism laplace --scale 1e170", "rdp --mechanism laplace --scale 1e300",
    "subsample --scheme without-replacement --sampling-rate 1e-170 --sigma 1", "subsample --scheme weighted --max-weight 1e-300 --sigma 1",
    "convert --from dp --epsilon 1e-200 --delta 0",
])
def test_a_divergence_that_underflows_is_not_nothing(line):
    """Told as 0, it made δ = e^−700 of what is 5e-171."""
    assert answer(f"{line} --alpha 2")[0]["result"]["rdp"] > 0


@pytest.mark.parametrize("line", ["rdp --mechanism laplace --scale 1e170 --steps 1e12", "rdp --mechanism laplace --scale 1e170"])
def test_a_total_variation_next_to_nothing(line):
    found, _ = answer(f"{line} --epsilon 0")
    assert all(row["delta"] >= 5e-171 for row in found["bounds"])


def test_roundings_at_the_highest_orders():
    got = answer("subsample --scheme without-replacement --sampling-rate 1e-100 --sigma 14.735843288245796 --alpha 100000 --bound wor-rdp")[0]
    assert 6.21688021903576e-06 <= got["result"]["rdp"] <= 6.21688021903576e-06 * (1 + 2e-7)
    got = answer("subsample --scheme without-replacement --sampling-rate 1e-5 --sigma 65.90076337655995 --alpha 100000 --bound wor-rdp")[0]
    assert 6.46505526428371e-6 <= got["result"]["rdp"] <= 6.46505526428371e-6 * (1 + 1e-8)


@pytest.mark.parametrize("rdp, epsilon", [(30.0, 700.0), (1.0, 3.0), (1e-3, 0.1)])
def test_the_exact_conversion_next_to_order_1(rdp, epsilon):
    for alpha in (1 + 2.0**-52, 1 + 2.0**-51, 1 + 9e-16, 1 + 1e-14):
        delta = answer(f"convert --from rdp --alpha {alpha!r} --rdp {rdp} --epsilon {epsilon} --digits 30 --bound rdp-optimal")[0]["bounds"][0]
        assert float(delta["digits"]["delta"]) <= delta["delta"] <= float(delta["digits"]["delta"]) * (1 + 2e-8)


def test_the_least_divergence_has_a_total_variation():
    assert answer("tv --kl 5e-324")[0]["result"]["tv"] >= float(mp.sqrt(mp.mpf(5e-324) / 2))


@pytest.mark.parametrize("line", [
    "--n 1e12 --batch-size 1e12 --lipschitz 1e-8 --smoothness 0 --learning-rate 1e-8 --diameter 1 --sigma 1 --delta 1e-300",
    "--n 1e9 --batch-size 999999999 --lipschitz 1e-8 --smoothness 1e8 --learning-rate 1.5e-8 --diameter 1e-8 --sigma .1 --epsilon 1e-6",
    "--n 1e12 --batch-size 999999999999 --lipschitz 1e-8 --smoothness 1e8 --strong-convexity 1e-4 --learning-rate 1e-8 --diameter 1e8 --sigma 1e4 "
    "--delta .1",
])
def test_pushes_that_are_one_double_leave_an_answer(line):
    found, err = answer(f"burn-in --steps 1 {line}")
    assert 0 <= found["result"].get("epsilon", found["result"].get("delta")) < 1e300 and "fault" not in err


@pytest.mark.parametrize("alpha, z, q", [(1 + 1e-12, 1e-6, 0.5), (5.5e9, 1e4, 1e-12)])
def test_an_integral_of_very_many_nodes_is_bounded_instead(alpha, z, q, monkeypatch):
    """10 GB and 36 s; log(1 − q + q·e^((α−1)/2z²))·α/(α−1) is above it by Minkowski's inequality."""
    monkeypatch.setattr(poisson_rdp, "log_integral", lambda *_: pytest.fail("integrated"))
    growth = (mp.mpf(alpha) - 1) / (2 * mp.mpf(z) ** 2)
    want = mp.log1p(q * mp.expm1(growth)) * alpha / (mp.mpf(alpha) - 1)
    assert 1 <= BOUNDS["poisson-rdp"].value(alpha, z, q) / want < 1 + 1e-12


# --- compositions ----------------------------------------------------------------------------------------------------


def two_laplace(epsilon, r):
    """δ of two uses: the loss is r with probability 1/2, and has the density e^((t − r)/2)/4 below it."""
    def density(t):
        return mp.exp((t - r) / 2) / 4

    def left(t):
        return 1 - mp.exp(epsilon - t)

    one = mp.quad(lambda t: density(t) * left(r + t), [epsilon - r, r])
    two = mp.quad(lambda t: density(t) * mp.quad(lambda s: density(s) * left(s + t), [epsilon - t, r]), [epsilon - r, r])
    return left(2 * r) / 4 + one + two


@pytest.mark.parametrize("scale, delta", [(100.0, 5e-4), (6.45, 1.9e-3), (7.1, 5e-3)])
def test_the_largest_loss_of_laplace_noise_may_be_likely(scale, delta):
    """Next to it δ falls by its probability: ε was up to 11 % too large, at a tilt far steeper than that."""
    with mp.workdps(15):
        exact = mp.findroot(lambda e: two_laplace(e, 1 / mp.mpf(scale)) / delta - 1, (1.7 / scale, 1.95 / scale), solver="illinois", tol=1e-9)
    for line in (f"rdp --mechanism laplace --scale {scale} --steps 2 --bound laplace-profile",
                 f"shuffle-pnsgd --noise laplace --lipschitz 1 --diameter 1 --learning-rate 1e-6 --smoothness 0 --n 1 --scale {2 * scale} "
                 f"--epochs 2"):
        assert exact <= answer(f"{line} --delta {delta}")[0]["result"]["epsilon"] <= exact * (1 + 1e-4)


@pytest.mark.parametrize("rate, steps, sigma, epsilon, most", [
    (1.9e-5, 1868640, 0.93, 0.21003802676424, 2.03e-7), pytest.param(1.3e-5, 1762244, 0.68, 0.236668705, 3.04e-6, marks=pytest.mark.slow),
])
def test_delta_where_the_largest_losses_are_left_out(rate, steps, sigma, epsilon, most):
    """The tilt without them needs grids that do not fit: δ was 302 and 112 times what leads to these ε."""
    line = f"subsample --scheme without-replacement --sampling-rate {rate} --steps {steps} --sigma {sigma} --epsilon {epsilon} --bound wor-profile"
    got = answer(line)[0]["result"]
    assert most / 1.02 <= got["delta"] <= most


def test_the_divergence_of_losses_beyond_the_exponents_of_doubles():
    """log(1 + α(e^ℓ − 1)) of ℓ > 709 was infinite, and the search for σ ended in a fault."""
    line = "subsample --adjacency replace-one --sampling-rate .02 --alpha 1.02"
    sigma = answer(f"{line} --rdp 66 --solve sigma")[0]["result"]["sigma"]
    assert answer(f"{line} --sigma {sigma!r}")[0]["result"]["rdp"] <= 66 < answer(f"{line} --sigma {sigma * 0.999!r}")[0]["result"]["rdp"]


@pytest.mark.parametrize("scheme, most", [("poisson", 1 - 0.99**2), ("without-replacement", 1 - 0.99**2)])
def test_no_more_is_lost_than_that_a_record_is_seen(scheme, most):
    """At any noise: ε was 943,043 at a δ above that, and δ = 1; --solve sigma said .405."""
    line = f"subsample --scheme {scheme} --sampling-rate .01 --steps 2"
    for sigma in (1e-9, 1e-3, 0.1):
        assert answer(f"{line} --sigma {sigma} --delta .03")[0]["result"]["epsilon"] == 0
        assert answer(f"{line} --sigma {sigma} --epsilon 1")[0]["result"]["delta"] <= most * (1 + 1e-9)
    code, _, err = call(f"{line} --epsilon .1 --delta .03 --solve sigma".split())
    assert code == 3 and "every --sigma" in err
    for question in ("--delta .03", "--epsilon 1"):
        code, out, _ = call(f"{line} --sigma .001 {question} --bound {'wor' if 'without' in scheme else scheme}-profile --json".split())
        told = call(["verify", "-"], stdin=out)
        assert code == told.returncode == 0 and "verified" in told.stdout and "unchecked" not in told.stdout


def test_a_count_that_one_step_alone_meets():
    """A single step meets the budget by its profile; said to be met by none, at ε = 1.29961e-6."""
    found, _ = answer("burn-in --n 72505 --batch-size 11 --lipschitz .7 --learning-rate .0877 --diameter 19.4 --sigma 93.8 --smoothness 0 "
                      "--delta 9.3e-13 --epsilon 1e-6 --solve steps")
    assert found["result"]["steps"] == 1


# --- true-positive rates from an RDP curve ---------------------------------------------------------------------------


@pytest.mark.parametrize("line, most", [
    ("--fpr 1e-5 --alpha 3.613 --rdp 2.43", 0.0014027),  # .912
    ("--fpr 6.196e-12 --alpha 14.18 --rdp 2.16", 2.86e-10),  # .885
    ("--fpr 1e-10 --rho 12", 0.1685),  # .99999
    ("--fpr 2.812e-10 --rho 2.7 --steps 5", 0.3859),
])
def test_a_true_positive_rate_where_delta_is_1_up_to_a_large_epsilon(line, most):
    assert answer(f"tv {line}")[0]["result"]["tpr"] <= most


def test_the_rate_of_one_order_is_that_of_two_coins():
    """The largest t with D_α(Ber t‖Ber f) <= r; the other direction allows more here."""
    alpha, rdp, f = mp.mpf(3.613), mp.mpf(2.43), mp.mpf("1e-5")
    t = mp.findroot(lambda t: mp.log(t**alpha * f ** (1 - alpha) + (1 - t) ** alpha * (1 - f) ** (1 - alpha)) - rdp * (alpha - 1),
                    (1e-3, 2e-3), solver="illinois")
    assert t <= answer("tv --fpr 1e-5 --alpha 3.613 --rdp 2.43")[0]["result"]["tpr"] <= t * (1 + 1e-4)


@pytest.mark.parametrize("q, sigma, alpha", [(0.02, 0.08, 1.0001), (0.02, 0.1, 1.02), (0.02, 0.14, 1.3), (1e-6, 1.0, 2.0)])
def test_the_divergence_of_a_batch_without_replacement(q, sigma, alpha):
    """∫ of e^{αℓ} − 1 − α(e^ℓ − 1) under Q, whose negative losses have the masses of the positive ones under P: these were left out where
    the tilt makes them nothing, and ε(α) was up to 1.3 % too small."""
    a, mu = mp.mpf(alpha), 1 / mp.mpf(sigma)

    def at(t):
        loss = mp.log1p(mp.mpf(q) * mp.expm1(mu * t - mu * mu / 2))
        gains = [mp.expm1(a * x) - a * mp.expm1(x) for x in (loss, -loss)]
        return mp.npdf(t) * (gains[0] + mp.exp(loss) * gains[1])

    with mp.workdps(30):
        peaks = [mu / 2, *(x for m in (mu, a * mu) for x in (m - 8, m, m + 8) if x > mu / 2), a * mu + 25]
        exact = mp.log1p(mp.quad(at, sorted(set(peaks)))) / (a - 1)
    got = answer(f"subsample --adjacency replace-one --sampling-rate {q} --sigma {sigma} --alpha {alpha} --bound wor-profile")[0]["result"]["rdp"]
    assert exact <= got <= exact * (1 + 1e-5)
