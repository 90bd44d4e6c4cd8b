"""What an audit of `shuffle-pnsgd` and `online-noise`, and a review of how solutions are looked for, found."""

import json
from math import sqrt

import mpmath
import pytest
from answers import answer, refusal
from calling import call

from dpcalc.accounting.guarantee import Gdp
from dpcalc.accounting.guarantee_sums import gaussian_mu
from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd import fixed_order_iteration, output_perturbation_exact, smooth_nonconvex_exact
from dpcalc.bounds.pnsgd._engine import epochs, gaussian_epochs
from dpcalc.verify.report import verify

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


@pytest.mark.parametrize(("bound", "ratio"), [
    ("fixed-order-iteration", 2 / 2.3615), ("smooth-nonconvex-exact", 2 / 2.3615), ("output-perturbation-exact", 2 * 0.005 / 2.3615)])
def test_a_gaussian_guarantee_over_epochs_is_closed(bound, ratio):
    """A composition at samples was 18.9 % above it."""
    line = f"shuffle-pnsgd --lipschitz 1 --learning-rate .005 --smoothness 1 --strong-convexity .5 --n 1 --index 1 --sigma 2.3615 --bound {bound}"
    line = line.replace("--strong-convexity .5 ", "") if bound.startswith("smooth") else line
    record = answer(f"{line} --epochs 1344 --epsilon 724.44")
    with mpmath.workdps(60):
        true = theta(mpmath.mp, mpmath.mpf(724.44), mpmath.mpf(ratio) * mpmath.sqrt(1344))
    assert record["bound"] == bound and 0 <= record["result"]["log_delta"] / float(mpmath.log(true)) - 1 + 1e-10 < 2e-10
    assert record["guarantee"] == {"kind": "gdp", "mu": pytest.approx(ratio * sqrt(1344), rel=1e-14), "index": [1]}
    assert record["guarantee"]["mu"] >= ratio * sqrt(1344) * (1 - 1e-15) and verify(record).holds
    if float(true) > 0:
        assert answer(f"{line} --epochs 1344 --delta {float(true)!r}")["result"]["epsilon"] == pytest.approx(724.44, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "passes"), [(0.3, 2), (1.0, 7), (3.0, 40)])
@pytest.mark.parametrize("bound", [fixed_order_iteration.BOUND, smooth_nonconvex_exact.BOUND, output_perturbation_exact.BOUND])
def test_the_closed_form_is_what_the_profile_composes_to(bound, epsilon, passes):
    """The profile of one epoch, composed numerically from above, knows nothing of μ."""
    every = {"level": 8.0, "lipschitz": 2.0, "learning_rate": 0.3, "smoothness": 1.0, "strong_convexity": 0.2, "n": 9, "index": 8}
    p = {name: x for name, x in every.items() if name in bound.params}
    closed, by_profile = (over(bound).value(epsilon, steps=passes, **p) for over in (gaussian_epochs.composed, epochs.composed))
    assert closed <= by_profile <= closed + 0.02


def test_one_shuffled_record_over_epochs_at_a_large_epsilon():
    """It is one position, whose average is composed at samples."""
    line = "shuffle-pnsgd --lipschitz 1 --learning-rate .005 --smoothness 1 --n 1 --sigma 2.3615 --epochs 1344 --epsilon 724.44"
    told = answer(f"{line} --bound shuffled-iteration")["result"]["delta"]
    with mpmath.workdps(60):
        true = float(theta(mpmath.mp, mpmath.mpf(724.44), 2 / mpmath.mpf(2.3615) * mpmath.sqrt(1344)))
    assert true <= told <= 1.3 * true


def test_solved_epochs_of_a_gaussian_guarantee_and_its_digits():
    line = f"shuffle-pnsgd {RUN} --n 1000 --sigma 4 --index 1000 --bound fixed-order-iteration"
    passes = answer(f"{line} --epsilon 3.71 --delta 1e-5 --solve epochs")["result"]["epochs"]
    assert passes == 3 and answer(f"{line} --epochs 3 --delta 1e-5")["result"]["epsilon"] == pytest.approx(3.708634930512, rel=1e-10)
    assert answer(f"{line} --epochs 4 --delta 1e-5")["result"]["epsilon"] > 3.71
    digits = answer(f"{line} --epochs 3 --delta 1e-5 --digits 30")["bounds"][0]["digits"]["epsilon"]
    assert digits.startswith("3.70863493") and abs(float(digits) - 3.708634930512) < 1e-10


def test_a_gaussian_guarantee_goes_through_pipes_whole(tmp_path):
    """As one point, two runs had an infinite loss of probability 2e-5; a total variation was .462."""
    one = call(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 999 --delta 1e-5 --bound fixed-order-iteration --json".split()).stdout
    (path := tmp_path / "one.json").write_text(one, encoding="utf-8")
    record = answer(f"convert {path} {path} --delta 1e-5")
    twice = answer(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 999 --epochs 2 --delta 1e-5 --bound fixed-order-iteration")
    assert record["result"]["epsilon"] == pytest.approx(twice["result"]["epsilon"], rel=1e-9) and "index" in json.dumps(record["guarantee"])
    stream = call(f"online-noise {RUN} --sigmas 2,3,4 --index 1 --epsilon 1 --bound online-iteration --json".split()).stdout
    mu = 2 / sqrt(4 + 9 + 16)
    assert json.loads(stream)["guarantee"] == {"kind": "gdp", "mu": pytest.approx(mu, rel=1e-12), "index": [1]}
    tv = json.loads(call(["tv", "-", "--json"], stream).stdout)["result"]["tv"]
    assert tv == pytest.approx(float(mpmath.erf(mu / sqrt(8))), rel=1e-9)


def test_what_is_as_sharp_as_a_gaussian_guarantee_hands_that_on():
    """One bound was 3e-14 below the other: a point went on, and a total variation of .59."""
    for line, mu in ((f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 999 --delta 1e-5", 0.5 / sqrt(2)),
                     (f"online-noise {RUN} --sigmas 2,3,4 --index 1 --epsilon 1", 2 / sqrt(29))):
        assert answer(line)["guarantee"] == {"kind": "gdp", "mu": pytest.approx(mu, rel=1e-12), "index": [int(line.split("--index ")[1].split()[0])]}
    assert answer(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 7 --delta 1e-5")["guarantee"]["kind"] == "dp"


def test_a_gaussian_guarantee_is_sampled_as_a_mechanism():
    one = call(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 1000 --delta 1e-5 --bound fixed-order-iteration --json".split()).stdout
    options = "--scheme without-replacement --sampling-rate .01 --steps 10 --delta 1e-7 --json"
    sampled = json.loads(call(["subsample", "-", *options.split()], one).stdout)["result"]["epsilon"]
    assert sampled == pytest.approx(answer(f"subsample --sigma 2 {options}")["result"]["epsilon"], rel=1e-12)
    done = call(["subsample", "-", *options.replace("without-replacement", "poisson").split()], one)
    assert done.returncode == 2 and "replace-one" in done.stderr


def test_a_tiny_mu_is_not_lost():
    """Its square is no double: a total variation of 1.4e-224 was 0, and "verified"."""
    line = "shuffle-pnsgd --lipschitz 1 --learning-rate .1 --smoothness 1 --strong-convexity .5 --n 10000 --index 1 --sigma 1 --epsilon 0"
    one = call([*line.split(), "--bound", "output-perturbation-exact", "--json"]).stdout
    mu = json.loads(one)["guarantee"]["mu"]
    found = json.loads(call(["tv", "-", "--json"], one).stdout)
    with mpmath.workdps(30):
        assert found["result"]["tv"] == pytest.approx(float(mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))), rel=1e-12) and mu < 4e-224
    assert 2e-161 <= gaussian_mu((Gdp(kind="gdp", mu=1e-161),) * 4) <= 2e-161 * (1 + 1e-14)


def test_the_mu_that_is_handed_on_is_proven():
    """By the bound's formula: another rounding of it is one, a smaller one or another number is none."""
    record = answer(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 990 --epochs 3 --delta 1e-5")
    mu, verdict = record["guarantee"]["mu"], verify(record)
    assert verdict.holds and [f.text for f in verdict.others if f.claim and f.claim.quantity == "mu"] != []
    for by, holds in ((1e-12, True), (-1e-12, False), (1e-6, False), (-1e-6, False)):
        record["guarantee"]["mu"] = mu * (1 + by)
        assert verify(record).holds == holds


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("bound", ["fixed-order-iteration", "smooth-nonconvex-exact", "output-perturbation-exact"])
def test_basic_composition_of_a_gaussian_guarantee(bound, passes):
    line = f"shuffle-pnsgd {RUN} {'' if 'smooth' in bound else '--strong-convexity .1 '}--sigma 4 --n 1000 --index 999 --delta 1e-5"
    closed, basic = (answer(f"{line} --epochs {passes} --bound {name}") for name in (bound, f"{bound}-basic"))
    assert basic["guarantee"]["kind"] == "dp" and closed["result"]["epsilon"] <= basic["result"]["epsilon"] * (1 + 1e-12)


def test_closed_forms_are_solved_for_beside_the_sharpest_composition():
    """n = 2, by the composition of the hybrid alone."""
    line = "shuffle-pnsgd --lipschitz 1 --smoothness 0 --learning-rate .2702 --diameter 29.94 --index 1 --sigma .3284 --epochs 22"
    assert answer(f"{line} --epsilon 544.9984658865244 --delta 6.869e-7 --solve n")["result"]["n"] == 1


@pytest.mark.parametrize("line", [
    "--noise laplace --scale 1.952 --diameter 1 --learning-rate 0.003494 --n 30 --index 6 --delta 2.131e-07",
    "--n 1000 --sigma .4 --strong-convexity .3 --learning-rate 1 --bound randomly-stopped --diameter 1 --index 3 --delta 1e-5"])
def test_the_worst_record_is_told_no_less_than_the_one_asked_about(line):
    """Told at an ε that was found more closely, it had half of its δ."""
    result = answer(f"shuffle-pnsgd --lipschitz 1 --smoothness .5 --epochs 2 {line}")["result"]
    assert result["worst_delta"] >= result["delta"] == float(line.rsplit(maxsplit=1)[1])


@pytest.mark.parametrize("rest", ["--epsilon 1 --epochs 2", "--epsilon 1 --delta 1e-3 --solve epochs"])
def test_a_limit_is_not_composed(rest):
    """--alpha was blamed."""
    said = refusal(f"shuffle-pnsgd {RUN} --c1 100 --c2 2 --n 1000 --bound shuffled-limit {rest}", 2)
    assert "--bound: shuffled-limit is no guarantee" in said


def test_one_epoch_of_basic_composition():
    """It was refused, and "no epochs" was told by its name, though one epoch is not composed."""
    line = f"shuffle-pnsgd {RUN} --sigma 4 --n 1000"
    assert "no epochs meets the budget by shuffled-iteration:" in refusal(f"{line} --bound shuffled-iteration --epsilon .1 --delta 1e-5 --solve epochs", 3)
    one, basic = (answer(f"{line} --epochs 1 --epsilon 1 --bound {name}")["result"]["delta"] for name in ("shuffled-iteration", "shuffled-iteration-basic"))
    assert one <= basic <= one * 1.01


def test_whole_numbers_of_a_range_are_whole():
    """CSV had 1000.0."""
    csv = call(f"shuffle-pnsgd {RUN} --n 1e3:1e5:3:log --sigma 4 --epsilon 1 --bound shuffled-contraction --format csv".split()).stdout
    assert [row.split(",")[0] for row in csv.splitlines()] == ["n", "1000", "10000", "100000"]


@pytest.mark.parametrize(("line", "said"), [
    ("online-noise --c1 1 --c2 1 --decay 1 --n 10 --index 2", "1 is not > 1 and <= 1000 (a: exponent of the decay"),
    ("online-noise --sigmas 1,-3 --index 2", "-3 is not > 0 (σ_1,…: standard deviation"),
    ("shuffle-pnsgd --sigma 4 --n 1000 --tau .5", "--tau: not used here, only by --bound without-replacement-conjecture")])
def test_ranges_are_told_after_their_symbols(line, said):
    assert said in refusal(f"{line} {RUN} --epsilon 1", 2)


def test_a_learning_rate_just_above_what_the_faster_form_rules_out():
    """.67834 was "the largest one found"."""
    line = ("online-noise --lipschitz .6638190035841054 --diameter 4.100584625810045 --smoothness .022950978411218896 --n 50 --index 22 "
            "--strong-convexity 8.325504292053044e-5 --c1 85.86417698042918 --c2 6.097503049455204 --decay 1.0238359007323843")
    found = answer(f"{line} --epsilon .0010503983969679476 --delta 7.679671285210991e-7 --solve learning-rate")["result"]["learning_rate"]
    assert found == pytest.approx(0.96328, rel=1e-4)


@pytest.mark.parametrize("line", [
    "--lipschitz 1 --smoothness .024828660066721273 --n 10000 --diameter .2637097427058237 --sigma .0447095102389736 "
    "--epsilon 1.111269340264359e-6 --delta .004889470298465407 --solve learning-rate",
    "--lipschitz 1 --smoothness .2152399806782542 --n 100000 --diameter .012565464997649104 --learning-rate .002207974058474927 "
    "--epsilon 1.4420526801077974e-13 --delta .00039201530826711605 --solve sigma"])
def test_a_solution_at_a_tiny_epsilon_fed_back(line):
    """Where δ hardly changes with ε, its rounding does: ε was up to 2 % above the budget."""
    line, _, unknown = f"shuffle-pnsgd {line}".partition(" --solve ")
    epsilon = float(line.split("--epsilon ")[1].split()[0])
    found = answer(f"{line} --solve {unknown}")["result"][unknown.replace("-", "_")]
    question = line.replace(f"--epsilon {line.split('--epsilon ')[1].split()[0]} ", "")
    assert answer(f"{question} --{unknown} {found!r}")["result"]["epsilon"] <= epsilon


def test_a_large_n_fed_back():
    """δ was 5e-15 of itself above the budget: one record more makes as little."""
    line = ("shuffle-pnsgd --lipschitz 18.826481157033193 --smoothness 0 --learning-rate .0002288673529539767 --diameter .19988697033944475 "
            "--sigma .608844457036075 --epsilon 0")
    n = answer(f"{line} --delta 1.5849745060510558e-5 --solve n")["result"]["n"]
    assert answer(f"{line} --n {n}")["result"]["delta"] <= 1.5849745060510558e-5


@pytest.mark.parametrize(("epsilon", "sigma", "lipschitz", "rate", "smoothness", "steps", "most"), [
    (754.4, 0.420336959949, 0.965779, 0.0122468, 0.0806743, 60, 1.15), (190.05, 1.17344156, 1.172, 0.00176374, 0.0, 49, 1.12)])
def test_two_records_over_epochs_at_a_large_epsilon(epsilon, sigma, lipschitz, rate, smoothness, steps, most):
    """The average over both positions composes to a binomial average of Gaussian guarantees."""
    line = f"shuffle-pnsgd --lipschitz {lipschitz} --learning-rate {rate} --smoothness {smoothness} --n 2 --sigma {sigma} --epochs {steps}"
    told = answer(f"{line} --bound smooth-nonconvex-shuffled-exact --epsilon {epsilon}")["result"]["delta"]
    with mpmath.workdps(80):
        first, c = 2 * mpmath.mpf(lipschitz) / mpmath.mpf(sigma), 1 + mpmath.mpf(rate) * mpmath.mpf(smoothness)
        second = (1 - c**-2) / (1 - c**-4) if c > 1 else mpmath.mpf(1) / 2  # of μ²
        mus = (first * mpmath.sqrt(k + (steps - k) * second) for k in range(steps + 1))
        true = mpmath.fsum(mpmath.binomial(steps, k) * theta(mpmath.mp, mpmath.mpf(epsilon), mu) for k, mu in enumerate(mus)) / 2**steps
        assert true <= told <= most * true
