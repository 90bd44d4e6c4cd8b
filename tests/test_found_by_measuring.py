"""Values that lay below their theorem, or further above than claimed, found by measuring (tests/accuracy.py); and proofs of margins."""

import random
from math import atan, cos, pi, sqrt

import domains
import enclose
import flint
import integrals
import oracle
import pytest

from dpcalc.bounds import all_bounds
from dpcalc.bounds.online import online_limit
from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE
from dpcalc.bounds.sampling import poisson_rdp

BOUNDS = all_bounds()
STEP = {"level": 0.01360538215601717, "lipschitz": 5.523050721011463, "learning_rate": 0.05833845840476959, "smoothness": 2.595706761073128,
        "strong_convexity": 0.3909413002107687}
LEVELS = Listed((
    0.5694398475268148, 0.5726597479783165, 0.29134942120238444, 0.08149176630836763, 0.10896901354502952, 0.12605951566712909,
    0.44228398337170466, 0.3033703872745725, 0.7188628563688481, 0.30624026775511454, 0.09109687925855832, 0.7188628563688481,
    0.5789805322743053, 0.2820996658725395, 0.4191372883152152, 0.287515801082704, 0.2419902495843036, 0.1469846571025345, 0.7188628563688481,
    0.14642559626089072, 0.07188628563688479, 0.24006996033750977, 0.10255190042713058, 0.1348933677091058, 0.7188628563688481,
    0.12805311764707744, 0.07396536980396178, 0.07188628563688479, 0.7188628563688481, 0.17411038163241363, 0.23134179333517227))
FOUND = [
    # 7e-9 above, when it claimed 2e-9: the minimum of H is nearer to 1 − δ than doubles can tell
    ("rdp-optimal", {"alpha": 1.0014623193514625, "rdp": 2.8851886744593447, "delta": 0.9421947860088906}),
    # D_α(N‖mix) with nearly all records in the batch: its integral is far to the left, and was cut there (2.6e-8 below)
    ("burn-in-as-published", {
        "alpha": 11.000000000000002, "n": 1259, "batch_size": 1257, "iterations": 1, "lipschitz": 1.9740368460558593, "smoothness": 49.59514461217769,
        "strong_convexity": 49.59514461217769, "learning_rate": 0.040326528244640225, "diameter": 36.783462560739494, "sigma": 0.00560665026700422,
        "r": 1, "sigma1": 0.0}),
    # log H near 0 with p/q beyond doubles, as a difference of logarithms of size 40
    ("rdp-optimal", {"alpha": 1.0000000070498007, "rdp": 1.928144848512777, "delta": 3.961644099986016e-13}),
    ("rdp-optimal", {"alpha": 1.0000000020503228, "rdp": 0.004181755966154081, "delta": 3.087571862882372e-09}),
    # two logarithms that cancel by half, and a margin relative to what is left
    ("shuffled-contraction", {"level": 0.0003905519982465551, "lipschitz": 0.3755412830881617, "diameter": 0.013587869698487262,
                              "learning_rate": 4.393879577205149, "smoothness": 0.0, "strong_convexity": 0.0, "n": 2, "epsilon": 0.0, "law": LAPLACE}),
    # log of a mean near 1: both its logarithms are rounded, to log n each
    ("output-perturbation-shuffled-exact", {"epsilon": 0.0, "n": 74, **STEP}),
    # ε − r of a Laplace law, rounded, came nearer to 0
    ("fixed-order", {"level": 0.5328561370827373, "lipschitz": 20.484096044650208, "diameter": 4.058008313664145, "learning_rate": 100.0,
                     "smoothness": 0.0, "strong_convexity": 0.0, "n": 382341899, "epsilon": 8.673859746279128, "law": LAPLACE, "index": 382341899}),
    # the noise of a few quiet steps after loud ones, as a difference of two sums: the least level of them was taken instead, 3e-4 above
    ("online-hybrid", {"lipschitz": 0.010000000000000004, "diameter": 31.090116605410774, "learning_rate": 100.0, "smoothness": 0.0,
                       "strong_convexity": 0.0, "n": 31, "index": 12, "epsilon": 0.0, "levels": LEVELS}),
]


@pytest.mark.parametrize("name, p", FOUND, ids=[f"{name}-{k}" for k, (name, _) in enumerate(FOUND)])
def test_found(name, p):
    bound = BOUNDS[name]
    for error, below in oracle.deviations(bound, p):
        assert not below and error <= bound.rtol


def test_the_reverse_divergence_at_every_order():
    """At large α its integral is narrow and far to the left (5e-5 above, sums in steps of 1/2); at q near 1 log(1 + u) lost its digits."""
    rng = random.Random(3)
    for _ in range(150):
        alpha, z = 1 + domains.log_uniform(rng, 1e-3, 1e3), domains.log_uniform(rng, 0.1, 300)
        q = rng.choice((1 - domains.log_uniform(rng, 1e-9, 0.5), domains.log_uniform(rng, 1e-9, 0.5)))
        want = integrals.reverse(*map(flint.arb, (alpha, q, z)), 256)
        excess = (poisson_rdp.reverse(alpha, z, q) - want) / want
        assert want.rel_accuracy_bits() > 50 and excess > -1e-15 and excess < 1e-10, (alpha, z, q)


def test_laplace_differences_round_the_safe_way():
    """Where the probability of no loss is e^{−30}, an ulp of the exponent is 16 of δ."""
    rng = random.Random(1)
    for _ in range(3000):
        ratio = rng.uniform(40, 90)
        epsilon = rng.uniform(0, ratio - 30)
        want = enclose.context(128).log(LAPLACE.exact(enclose.context(128), epsilon, ratio)).x
        assert not LAPLACE.log_delta(epsilon, ratio) < want


def test_the_limit_is_as_near_as_its_margin():
    """It was 2e-9 above: so much had been left out of the reference, which ended at e^96."""
    bound, rng = BOUNDS["online-limit"], random.Random(2)
    for _ in range(3):
        p = domains.DRAW["online-limit"](rng)
        want = enclose.numbers(bound, p, 128)[None].log()
        excess = (oracle.value(bound, p) - want) / abs(want)
        assert excess > 0 and excess < 1.1 * online_limit._QUADRATURE


def _relative(a, doubled):
    """(64/30)·ρ^{−22}/(1 − ρ^{−2})·(g/v)^a/cos(k·aφ)^{1/k}, k = 1 or 2, at the best ρ: of the proof in online_limit.py."""
    g, k = min(2.0, 1 + 4 / (4 * a + 2)), 2 if doubled else 1
    centre, half, least = (1 + g) / 2, (g - 1) / 2, 1.0
    for i in range(1, 1000):
        reach = half + (centre - half) * i / 1000
        rho = reach / half + sqrt((reach / half) ** 2 - 1)
        across = half * (rho - 1 / rho) / 2
        angle = k * a * atan(across / sqrt(centre**2 - reach**2))
        if angle < 0.999 * pi / 2:
            least = min(least, 64 / 30 * rho**-22 / (1 - rho**-2) * (g / (centre - reach)) ** a / cos(angle) ** (1 / k))
    return least


def test_the_numbers_in_the_proof_of_the_limit():
    assert max(_relative(a, False) for a in (1.001, 1.1, 1.5, 2, 3, 6, 10, 30, 100)) < 1e-15
    assert max(_relative(a, True) for a in (1.001, 1.1, 1.5, 2, 2.5, 3)) < 7e-13
    assert 2e-11 < _relative(10, True) < 3e-11
    # K at W = 1400, the largest W of a double squared, and L·K at z = 0.01
    root = sqrt(700)
    assert sqrt(pi) / 2 * (root + sqrt(root**2 + 2)) * sqrt(1 + pi / 2800) < 50
