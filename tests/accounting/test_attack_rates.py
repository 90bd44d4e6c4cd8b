"""The true-positive rate of the best attack at a false-positive rate, against the best tests of the mechanism."""

import mpmath
import pytest
from answers import answer, number
from conftest import slow, spread

from dpcalc.verify.report import verify

mp = mpmath.mp.clone()
mp.dps = 60


def bisected(rising):
    low, high = mp.mpf(-60), mp.mpf(60)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


def best_test(sigma, rate, fpr):
    """The larger of the powers of both likelihood ratio tests of one Poisson step: mix against N, and N against mix."""
    apart = 1 / mp.mpf(sigma)
    removed = (1 - rate) * fpr + rate * mp.ncdf(apart + bisected(lambda t: mp.ncdf(t) - fpr))
    return max(removed, mp.ncdf(bisected(lambda t: (1 - rate) * mp.ncdf(t) + rate * mp.ncdf(t - apart) - fpr)))


@pytest.mark.parametrize("mu, fpr", [(20, "1e-300"), (30, "1e-300"), (27, "1e-200"), (17, "1e-50")])
def test_gaussian_noise_where_the_total_variation_is_1(mu, fpr):
    start = -mp.sqrt(-2 * mp.log(mp.mpf(fpr))) + 1
    exact = mp.ncdf(mp.findroot(lambda z: mp.log(mp.ncdf(z)) - mp.log(mp.mpf(fpr)), start) + mu)
    found = answer(f"tv --mu {mu} --fpr {fpr}")["result"]["tpr"]
    assert exact <= found * (1 + 1e-12) and found <= exact * (1 + mp.mpf("1e-6"))


def test_noise_is_solved_for_at_a_tiny_false_positive_rate():
    z = mp.findroot(lambda z: mp.log(mp.ncdf(z)) + 100 * mp.log(10), -20)
    for tpr in (1e-3, 1e-5):
        start = -mp.sqrt(-2 * mp.log(tpr)) + 1
        mu = mp.findroot(lambda x, tpr=tpr: mp.log(mp.ncdf(x)) - mp.log(mp.mpf(tpr)), start) - z
        assert number(f"tv --fpr 1e-100 --tpr {tpr} --solve sigma") == pytest.approx(float(1 / mu), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("points", [6, 30, 300])
def test_a_rate_of_a_curve_is_that_of_its_own_question(points):
    line = "tv --sigma 1 --sampling-rate .01 --steps 1000"
    curve = answer(f"{line} --roc {points}")["roc"]
    for k in (2, points // 2, points - 2):
        alone = answer(f"{line} --fpr {curve[k]['fpr']!r}")["result"]["tpr"]
        assert curve[k]["tpr"] == pytest.approx(alone, rel=3e-4)


@pytest.mark.parametrize("sigma, rate, fpr", [(0.362497730189489, 0.3697262733692009, 0.3),
                                              (0.21477, 0.35587, 0.34089), (1, 0.1, 0.01),
                                              (0.5, 0.9, 0.5), (2, 0.5, 0.7), (1, 0.01, 1e-12)])
def test_one_sampled_step_has_the_rates_of_its_best_tests(sigma, rate, fpr):
    found = answer(f"tv --sigma {sigma!r} --sampling-rate {rate!r} --steps 1 --fpr {fpr!r}")["result"]["tpr"]
    exact = best_test(sigma, mp.mpf(rate), fpr)
    assert exact <= found * (1 + 1e-12) and found <= exact * (1 + mp.mpf("1e-6"))


@pytest.mark.parametrize("line, exact", [  # by all sums of outcomes, and by transforms of each direction
    ("--mechanism discrete-laplace --scale 0.21762218018550925 --sampling-rate .0605338 --steps 30", 0.8991),
    ("--mechanism discrete-laplace --scale 0.9102392266268373 --sampling-rate .5870341442517987 --steps 3", 0.68089),
    ("--sigma .38577045311795094 --sampling-rate .1179905966005792 --steps 3", 0.50159),
    ("--sigma .3699757098686705 --sampling-rate .03268458795035317 --steps 30", 0.64450),
])
def test_several_sampled_steps(line, exact):
    assert answer(f"tv {line} --fpr .3")["result"]["tpr"] == pytest.approx(exact, rel=2e-4)


def test_finitely_many_outcomes():
    """null (.1, .9) and (.5, .5): by hand .5 + .5·(.1/.9); the other way round .36."""
    assert answer("tv --p .1,.9 --q .5,.5 --fpr .2")["result"]["tpr"] == pytest.approx(5 / 9, rel=1e-8)


@pytest.mark.parametrize("line", ["--sampling-rate .37 --steps 1 --fpr .3 --tpr .5 --solve sigma",
                                  slow("--sampling-rate .1 --steps 10 --fpr .3 --tpr .5 --solve sigma"),
                                  "--p .1,.9 --q .5,.5 --fpr .2 --tpr .9 --solve steps"])
def test_a_solved_question_has_a_witness_for_either_direction(line):
    record = answer(f"tv {line}")
    unknown, (row, *_) = line.rsplit(maxsplit=1)[-1], record["bounds"]
    found = verify(record)
    assert found.holds
    witness = row["witness"]
    if "epsilon_reversed" in witness:
        assert sum(f.verdict == "verified" and "TPR" in f.text for f in found.head) >= 2
        for name in ("epsilon", "epsilon_reversed"):  # each of them proves its direction
            moved = {**row, "witness": {**witness, name: witness[name] + 3}}
            assert not verify({**record, "bounds": [moved, *record["bounds"][1:]]}).holds
    value = record["result"][unknown]
    harder = {"sigma": 0.99 * value, "steps": value + 1}[unknown]
    rest = line.replace(f" --solve {unknown}", "")
    rest = " ".join(word for word in rest.split() if not word.startswith("--tpr")
                    and word != rest.split("--tpr ")[-1].split()[0])
    assert answer(f"tv {rest} --{unknown} {harder!r}")["result"]["tpr"] > record["result"]["tpr"]


@pytest.mark.parametrize(("line", "exact"), [
    ("--sigma 0.05330586060465346 --sampling-rate 0.36152895984406896 --steps 1 --fpr 5.1629571547670674e-191", 1.89911882e-27),
    ("--sigma .05 --sampling-rate .5 --steps 1 --fpr 1e-100", 0.0507142854),
    ("--sigma 0.057588817584873206 --sampling-rate 0.9955272869698087 --steps 1 --fpr 2.637279269421851e-56", 0.9407292973),
])
def test_rates_where_delta_is_q_up_to_a_large_epsilon(line, exact):
    assert answer(f"tv {line}")["result"]["tpr"] == pytest.approx(exact, rel=1e-6)


def test_a_small_sampling_rate_over_50_steps():
    assert answer("tv --sigma .5 --sampling-rate .001 --steps 50 --fpr 1e-4 "
                  "--bound poisson-profile")["result"]["tpr"] > 1e-4


def test_a_sampling_rate_of_1e_minus_8_hardly_raises_the_rate():
    assert 0.01 <= answer("tv --sampling-rate 1e-8 --sigma 1 --steps 10 --fpr 0.01")["result"]["tpr"] <= 0.010001


@spread("line, most", [
    ("--fpr 1e-5 --alpha 3.613 --rdp 2.43", 0.0014027),
    ("--fpr 6.196e-12 --alpha 14.18 --rdp 2.16", 2.86e-10),
    ("--fpr 1e-10 --rho 12", 0.1685),
    ("--fpr 2.812e-10 --rho 2.7 --steps 5", 0.3859),
])
def test_an_rdp_curve_whose_delta_is_1_up_to_a_large_epsilon(line, most):
    assert answer(f"tv {line}")["result"]["tpr"] <= most


def test_the_rate_of_one_order_is_that_of_two_coins():
    """The largest t with D_α(Ber t‖Ber f) <= r; the other direction allows more here."""
    alpha, rdp, f = mp.mpf(3.613), mp.mpf(2.43), mp.mpf("1e-5")

    def excess(t):
        return mp.log(t**alpha * f ** (1 - alpha) + (1 - t) ** alpha * (1 - f) ** (1 - alpha)) - rdp * (alpha - 1)

    t = mp.findroot(excess, (1e-3, 2e-3), solver="illinois")
    assert t <= answer("tv --fpr 1e-5 --alpha 3.613 --rdp 2.43")["result"]["tpr"] <= t * (1 + 1e-4)
