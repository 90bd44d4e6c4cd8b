"""What an audit with oracles of its own found."""

from math import exp, inf

import mpmath
import pytest
from answers import answer, number
from calling import call

from dpcalc.accounting import attack
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.conversions import rdp_optimal
from dpcalc.bounds.sampling import poisson_profile
from dpcalc.commands import subsample
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.tradeoff import among, at_level
from dpcalc.verify.report import verify

mp = mpmath.mp.clone()
mp.dps = 60

# --- digits ----------------------------------------------------------------------------------------------------------

RESPONSE = "rdp --mechanism randomized-response --probability .7 --steps 1000"
PURE = "convert --from dp --epsilon .5 --delta 0 --steps 1000"


@pytest.mark.parametrize("line, digits", [
    (f"{RESPONSE} --delta 1e-200", 15),  # 669.2 was told: 1 − (1 − h) lost what δ is
    (f"{RESPONSE} --delta 1e-200", 60),
    (f"{RESPONSE} --epsilon 840", 30),  # 0
    (f"{PURE} --target-delta 1e-200", 30),
    (f"{PURE} --target-epsilon 497", 30),
    ("rdp --sigma .4284 --steps 1000 --epsilon 6.8", 30),  # ZeroDivisionError: least next to p = 1
    ("rdp --sigma .01 --epsilon 1", 30),
    ("rdp --sigma 79.7273 --steps 1000000 --epsilon 2.63e-06", 30),
    ("rdp --mechanism laplace --scale .1 --steps 100 --epsilon 1", 30),
    ("convert --from zcdp --rho 5 --epsilon 1", 30),
    ("convert --from zcdp --rho 5 --to tv", 20),  # ComplexResult: a root was looked for beyond δ = 1
    ("convert --from rdp --alpha 1.5 --rdp 1.2 --to tv", 30),
    ("tv --rho 1.2", 30),
    # By what is left of 1 − γ + γ·E, where a record added loses nothing, δ was 1e-47 in place of 0.
    ("subsample --mechanism randomized-response --probability .5000000431 --sampling-rate .0226 --epsilon 1.45e-6", 30),
])
def test_digits_are_next_to_the_doubles(line, digits):
    told = 0
    for row in answer(f"{line} --digits {digits}")["bounds"]:
        for name, text in (row.get("digits") or {}).items():
            told += 1
            value, exact = row[name], mp.mpf(text)
            assert exact <= value * (1 + mp.mpf(2) ** -53) and value <= exact * (1 + mp.mpf(1) / 10**6) + mp.mpf(10) ** -300, row["name"]
    assert told


def test_digits_of_the_optimal_composition():
    """The sum as printed, with as many digits as cancel."""
    high = mpmath.mp.clone()
    high.dps = 400
    p, e = high.mpf(0.7), high.mpf(840)
    step = high.log(p / (1 - p))
    terms = (high.binomial(1000, k) * max(high.exp((1000 - k) * step) - high.exp(e + k * step), 0) for k in range(1001))
    delta = high.fsum(terms) / (1 + high.exp(step)) ** 1000
    row = answer(f"{RESPONSE} --epsilon 840 --digits 50")["bounds"][0]
    assert row["name"] == "randomized-response-exact"
    assert abs(high.mpf(row["digits"]["delta"]) / delta - 1) < high.mpf(10) ** -48


# --- compositions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, exact", [  # by an Edgeworth expansion of the exact loss of a step; two by transforms at two steps
    ("--scale 3.615076236449749 --sampling-rate .001073829209602425 --steps 30219252 --epsilon 6.11837786494422", 2.8649e-4),  # 6.3e-4
    ("--scale 21.68244790192555 --sampling-rate .006386205326734589 --steps 18471834 --epsilon 4.117104018492889", 1.1499e-3),  # 1.7e-3
    ("--scale 21.68244790192555 --sampling-rate .006386205326734589 --steps 10000000 --delta 1e-5", 3.99766),  # 4.14
    ("--scale 21.68244790192555 --sampling-rate .006386205326734589 --steps 1000000000 --delta 1e-5", 81.3368),  # 85.2
])
def test_blocks_are_as_long_as_what_rounding_them_adds_needs(line, exact):
    """Grids for the lower value left room for a few steps in a block only, and millions of them were rounded."""
    assert exact * (1 - 5e-4) <= number(f"subsample --mechanism laplace {line}") <= exact * (1 + 2e-3)


@pytest.mark.parametrize("line, best", [
    ("--n 31 --batch-size 1 --steps 3843 --learning-rate .3 --diameter .26575090259411627 --sigma 2.396266682375347 "
     "--delta .00040314824523518923", 0.812337),  # .825909
    ("--n 134 --batch-size 2 --steps 882 --strong-convexity .007164483661160443 --learning-rate 1 --diameter .31023890465883586 "
     "--sigma 1.0257520292184272 --delta .0010910345122521609", 0.455869),  # .460454
    ("--n 115 --batch-size 3 --steps 1605 --learning-rate 1.9 --diameter 1.3446601205271067 --sigma .8887209063542602 "
     "--delta 3.100199284523743e-5", 1.23029),  # 1.24222
])
def test_windows_next_to_the_best_ones(line, best):
    line = f"burn-in --lipschitz 1 --smoothness 1 {line} --bound burn-in-profile"
    record = answer(line)
    assert record["result"]["epsilon"] <= best * 1.002 and verify(record).holds


# --- what an attacker can do -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu, fpr", [(20, "1e-300"), (30, "1e-300"), (27, "1e-200"), (17, "1e-50")])
def test_true_positive_rates_where_the_total_variation_is_1(mu, fpr):
    """1 was told."""
    start = -mp.sqrt(-2 * mp.log(mp.mpf(fpr))) + 1
    exact = mp.ncdf(mp.findroot(lambda z: mp.log(mp.ncdf(z)) - mp.log(mp.mpf(fpr)), start) + mu)
    told = answer(f"tv --mu {mu} --fpr {fpr}")["result"]["tpr"]
    assert exact <= told * (1 + 1e-12) and told <= exact * (1 + mp.mpf("1e-6"))


def test_noise_for_a_true_positive_rate_far_down():
    """σ = .061652 was told, for each of them."""
    z = mp.findroot(lambda z: mp.log(mp.ncdf(z)) + 100 * mp.log(10), -20)
    for tpr in (1e-3, 1e-5):
        start = -mp.sqrt(-2 * mp.log(tpr)) + 1
        mu = mp.findroot(lambda x, tpr=tpr: mp.log(mp.ncdf(x)) - mp.log(mp.mpf(tpr)), start) - z
        assert number(f"tv --fpr 1e-100 --tpr {tpr} --solve sigma") == pytest.approx(float(1 / mu), rel=1e-5)


def test_rates_by_what_other_rates_were_composed_for(monkeypatch):
    """Each of 1000 rates took about ten compositions: over 100 s."""
    asked = []
    once = attack._composed
    monkeypatch.setattr(attack, "_composed", lambda *args: asked.append(args[2]) or once(*args))
    line = "tv --sigma 1 --sampling-rate .01 --steps 1000"
    curve = answer(f"{line} --roc 300")["roc"]
    assert len(set(asked)) < 1500  # 6,000, of two directions
    for k in (20, 150, 280):
        alone = answer(f"{line} --fpr {curve[k]['fpr']!r}")["result"]["tpr"]
        assert curve[k]["tpr"] == pytest.approx(alone, rel=3e-4)


def test_what_lines_through_neighbours_say():
    """μ = 1: δ(ε) is convex in e^ε; by points .01 apart no ε gives much less, by points 1 apart one may, and at an end nothing is known."""
    def known(step):
        return [(k * step, exp(log_theta(k * step, 1.0))) for k in range(int(8 / step))]

    exact = mp.ncdf(mp.findroot(lambda z: mp.ncdf(z) - 0.01, -2.3) + 1)
    rate, u = among(known(0.01), 0.01, 1e-4)
    assert exact <= rate <= exact * 1.0001 and rate == at_level(exp(log_theta(u, 1.0)), u, 0.01)
    assert among(known(1.0), 0.01, 1e-4) is None
    assert among(known(0.01)[:100], 0.01, 1e-4) is None
    assert among([], 0.01, 1e-4) is None


# --- solutions and options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, budget", [
    ("--sampling-rate .17790776209032153 --adjacency replace-one --steps 100000 --delta 5.917926866197442e-11", 0.033531242610983863),
    ("--sampling-rate .27666492811757715 --adjacency replace-one --steps 10 --delta 9.679742400780448e-9", 0.037006627243455374),
])
def test_probabilities_are_looked_for_by_what_they_exceed_a_half(line, budget):
    """p = .5 was told, and .503235."""
    line = f"subsample --mechanism randomized-response {line}"
    more = number(f"{line} --epsilon {budget!r} --solve probability") - 0.5
    assert number(f"{line} --probability {0.5 + more!r}") <= budget
    assert number(f"{line} --probability {0.5 + 1.003 * more!r}") > budget


@pytest.mark.parametrize("line", ["--tv .3 --delta .3", "--tv 0 --delta 0", "--tv .3 --delta .5"])
def test_a_total_variation_is_a_delta_at_every_epsilon(line):
    record = answer(f"convert --from tv {line}")
    assert record["result"]["epsilon"] == 0 and verify(record).holds
    name = "tv" if record["parameters"]["tv"] else None
    assert name is None or not verify({**record, "parameters": {**record["parameters"], "tv": 0.51}}).holds
    code, _, err = call(["convert", "--from", "tv", "--tv", "0.30000000000000004", "--delta", "0.3"])
    assert code == 3 and "compose to 0.30000000000000004" in err


def test_the_precision_is_used_or_refused():
    line = "tv --mechanism laplace --scale 5.365088077617794 --steps 7"
    wide, narrow = (answer(f"{line} --precision {x}")["result"]["tv"] for x in (0.01, 1e-5))
    assert narrow <= wide
    code, _, err = call(["tv", "--sigma", "2", "--precision", "1e-5"])
    assert code == 2 and "--precision" in err


# --- the directions of random batches --------------------------------------------------------------------------------


def best_test(sigma, rate, fpr):
    """The larger of the powers of both likelihood ratio tests of one Poisson step: mix against N, and N against mix."""
    apart = 1 / mp.mpf(sigma)
    removed = (1 - rate) * fpr + rate * mp.ncdf(apart + bisected(lambda t: mp.ncdf(t) - fpr))
    return max(removed, mp.ncdf(bisected(lambda t: (1 - rate) * mp.ncdf(t) + rate * mp.ncdf(t - apart) - fpr)))


def bisected(rising):
    low, high = mp.mpf(-60), mp.mpf(60)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


@pytest.mark.parametrize("sigma, rate, fpr", [(0.362497730189489, 0.3697262733692009, 0.3), (0.21477, 0.35587, 0.34089), (1, 0.1, 0.01),
                                             (0.5, 0.9, 0.5), (2, 0.5, 0.7)])
def test_the_rates_of_a_sampled_step_are_those_of_its_best_tests(sigma, rate, fpr):
    """By the larger δ of both directions the first one was .608 for .554."""
    told = answer(f"tv --sigma {sigma!r} --sampling-rate {rate!r} --fpr {fpr!r}")["result"]["tpr"]
    exact = best_test(sigma, mp.mpf(rate), fpr)
    assert exact <= told * (1 + 1e-12) and told <= exact * (1 + mp.mpf("1e-6"))


@pytest.mark.parametrize("line, exact", [  # by all sums of outcomes, and by transforms of each direction
    ("--mechanism randomized-response --probability .01 --sampling-rate .0605338 --steps 30", 0.8991),  # .9118
    ("--mechanism randomized-response --probability .75 --sampling-rate .5870341442517987 --steps 3", 0.68089),  # .70886
    ("--sigma .38577045311795094 --sampling-rate .1179905966005792 --steps 3", 0.50159),  # .52648
    ("--sigma .3699757098686705 --sampling-rate .03268458795035317 --steps 30", 0.64450),  # .67015
])
def test_the_rates_of_sampled_steps(line, exact):
    assert answer(f"tv {line} --fpr .3")["result"]["tpr"] == pytest.approx(exact, rel=2e-4)


@pytest.mark.parametrize("sigma, rate, epsilon", [(1.0, 0.2, 0.05), (0.5, 0.01, 1.0), (2.0, 0.7, 0.3), (0.7, 1.0, 2.0), (1.0, 0.2, 0.5)])
def test_either_direction_of_a_sampled_step_by_definition(sigma, rate, epsilon):
    """∫(mix − e^ε N)₊ and ∫(N − e^ε mix)₊; and the second one as printed, 1 − γ + γ·E_{1/γ}(mix‖N), with the digits that cancel."""
    q, apart, gamma = mp.mpf(rate), 1 / mp.mpf(sigma), mp.exp(mp.mpf(epsilon))

    def density(x):
        return mp.npdf(x), (1 - q) * mp.npdf(x) + q * mp.npdf(x - apart)

    def quadrature(excess):
        cut = bisected(lambda x: density(x)[1] / density(x)[0] - gamma), bisected(lambda x: density(x)[1] / density(x)[0] - 1 / gamma)
        ends = sorted({mp.mpf(-14), *cut, mp.mpf(0), apart, apart + 14})
        return mp.quad(lambda x: max(excess(*density(x)), 0), [x for x in ends if -14 <= x <= apart + 14])

    own = own_params(poisson_profile.BOUND, subsample.derive({"scheme": "poisson", "sampling_rate": rate, "mechanism": "gaussian",
                                                             "sigma": sigma, "sensitivity": 1.0, "steps": 1}))
    by_definition = {+1: quadrature(lambda n, mix: mix - gamma * n), -1: quadrature(lambda n, mix: n - gamma * mix)}
    above = quadrature(lambda n, mix: mix - n / gamma)
    assert abs(1 - gamma + gamma * above - by_definition[-1]) < mp.mpf(10) ** -25
    for side, delta in by_definition.items():
        exact = poisson_profile.sided_exact(mp, epsilon, side, **own)
        assert abs(exact - delta) < mp.mpf(10) ** -25
        told = poisson_profile.sided(epsilon, side, **own)
        assert told == -inf if exact == 0 else 0 <= told - mp.log(exact) < mp.mpf(10) ** -9


@pytest.mark.parametrize("alpha, delta, epsilon", [(2, 1e-3, 1.0), (1.05, 0.9, 0.5), (1.5, 0.6, 0.1), (30, 1e-9, 2.0), (8, 0.1, 3.0)])
def test_the_condition_of_the_optimal_conversion_is_the_printed_minimum(alpha, delta, epsilon):
    a, d, grown = mp.mpf(alpha), mp.mpf(delta), mp.exp(mp.mpf(epsilon))
    low, high = d, mp.mpf(1)  # the printed function of p is convex: by thirds
    def printed(p):
        return p**a * (p - d) ** (1 - a) + (1 - p) ** a * (grown - p + d) ** (1 - a)

    for _ in range(230):
        third = (high - low) / 3
        low, high = (low + third, high) if printed(low + third) > printed(high - third) else (low, high - third)
    found = rdp_optimal.condition(mp, alpha, mp.mpf(0.7), d, epsilon) - (a - 1) * (mp.mpf(epsilon) - mp.mpf(0.7))
    assert abs(found - mp.log(printed((low + high) / 2))) < mp.mpf(10) ** -25


def test_the_rates_of_outcomes():
    """null (.1, .9) and (.5, .5): by hand .5 + .5·(.1/.9); the other way round .36."""
    assert answer("tv --p .1,.9 --q .5,.5 --fpr .2")["result"]["tpr"] == pytest.approx(5 / 9, rel=1e-8)


@pytest.mark.parametrize("line", ["--sampling-rate .37 --fpr .3 --tpr .5 --solve sigma", "--sampling-rate .1 --steps 10 --fpr .3 --tpr .5 "
                                  "--solve sigma", "--p .1,.9 --q .5,.5 --fpr .2 --tpr .9 --solve steps"])
def test_a_solved_rate_has_a_witness_for_either_direction(line):
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
    rest = " ".join(word for word in rest.split() if not word.startswith("--tpr") and word != rest.split("--tpr ")[-1].split()[0])
    assert answer(f"tv {rest} --{unknown} {harder!r}")["result"]["tpr"] > record["result"]["tpr"]
