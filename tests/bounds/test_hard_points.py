"""Points of a bound's domain where rounding or a narrow integrand makes the printed formula hard to evaluate."""

import mpmath
import oracle
import pytest
from conftest import slow

from dpcalc.bounds import all_bounds
from dpcalc.bounds.curve import of_bound
from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE

LEVELS = Listed((
    0.5694398475268148, 0.5726597479783165, 0.29134942120238444, 0.08149176630836763, 0.10896901354502952,
    0.12605951566712909, 0.44228398337170466, 0.3033703872745725, 0.7188628563688481, 0.30624026775511454,
    0.09109687925855832, 0.7188628563688481, 0.5789805322743053, 0.2820996658725395, 0.4191372883152152,
    0.287515801082704, 0.2419902495843036, 0.1469846571025345, 0.7188628563688481, 0.14642559626089072,
    0.07188628563688479, 0.24006996033750977, 0.10255190042713058, 0.1348933677091058, 0.7188628563688481,
    0.12805311764707744, 0.07396536980396178, 0.07188628563688479, 0.7188628563688481, 0.17411038163241363,
    0.23134179333517227))
STEP = {"level": 0.01360538215601717, "lipschitz": 5.523050721011463, "learning_rate": 0.05833845840476959,
        "smoothness": 2.595706761073128, "strong_convexity": 0.3909413002107687}
ENCLOSED = [
    # the minimum of H is nearer to 1 − δ than doubles can separate
    ("rdp-optimal", {"alpha": 1.0014623193514625, "rdp": 2.8851886744593447, "delta": 0.9421947860088906}),
    # D_α(N‖mix) with nearly all records in the batch: the mass of its integral lies at the left end of its range
    ("burn-in-as-published", {
        "alpha": 11.000000000000002, "n": 1259, "batch_size": 1257, "iterations": 1, "lipschitz": 1.9740368460558593,
        "smoothness": 49.59514461217769, "strong_convexity": 49.59514461217769, "learning_rate": 0.040326528244640225,
        "diameter": 36.783462560739494, "sigma": 0.00560665026700422, "r": 1, "sigma1": 0.0}),
    # log H near 0 with p/q beyond doubles, as a difference of logarithms of size 40
    ("rdp-optimal", {"alpha": 1.0000000070498007, "rdp": 1.928144848512777, "delta": 3.961644099986016e-13}),
    ("rdp-optimal", {"alpha": 1.0000000020503228, "rdp": 0.004181755966154081, "delta": 3.087571862882372e-09}),
    # two logarithms that cancel by half, and a margin relative to what is left
    ("shuffled-contraction", {"level": 0.0003905519982465551, "lipschitz": 0.3755412830881617,
                              "diameter": 0.013587869698487262, "learning_rate": 4.393879577205149, "smoothness": 0.0,
                              "strong_convexity": 0.0, "n": 2, "epsilon": 0.0, "law": LAPLACE}),
    # log of a mean near 1: both its logarithms are rounded, to log n each
    ("output-perturbation-shuffled-exact", {"epsilon": 0.0, "n": 74, **STEP}),
    # ε − r of a Laplace law, rounded, may come nearer to 0
    ("fixed-order", {"level": 0.5328561370827373, "lipschitz": 20.484096044650208, "diameter": 4.058008313664145,
                     "learning_rate": 100.0, "smoothness": 0.0, "strong_convexity": 0.0, "n": 382341899,
                     "epsilon": 8.673859746279128, "law": LAPLACE, "index": 382341899}),
    # the noise of a few quiet steps after loud ones, as a difference of two sums
    ("online-hybrid", {"lipschitz": 0.010000000000000004, "diameter": 31.090116605410774, "learning_rate": 100.0,
                       "smoothness": 0.0, "strong_convexity": 0.0, "n": 31, "index": 12, "epsilon": 0.0,
                       "levels": LEVELS}),
]
BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60
PRINTED = [
    # the integrand of Poisson batches has a second rise beside its peak
    *(("poisson-rdp", {"alpha": alpha, "noise_multiplier": z, "sampling_rate": q}) for alpha, z, q in (
        (155.0, 6.0, 0.1), (154.0, 6.0, 0.1), (69.0, 4.0, 0.1), (39.0, 3.0, 0.1),
        (267.0, 8.295697757737065, 0.10844547852039839))),
    # δ of a composition next to the last step of its profile
    ("composition-optimal", {"epsilon": 0.2872385320032528, "step_epsilon": 0.0957461773913486, "step_delta": 0.0,
                             "steps": 3}),
    ("composition-optimal", {"epsilon": 9.965496087471212, "step_epsilon": 0.9965496377138113, "step_delta": 0.0,
                             "steps": 10}),
    # sums over all orders, in blocks of summands that are bounded from above
    *(("wor-rdp", {"alpha": alpha, "sampling_rate": q, "base": of_bound(BOUNDS["gaussian-rdp"], sigma=sigma,
                                                                        sensitivity=1.0)})
      for alpha, q, sigma in ((3000.0, 0.001, 100.0), (3000.0, 0.3, 100.0), (4000.0, 0.5, 2.0), (1234.0, 0.01, 20.0),
                              (49.0, 0.1, 3.0),
                              (7.0, 0.1, 3.0))),
    # one rounding decides on which side of the theorem the value lies
    ("laplace-exact", {"scale": 0.007691013114077646, "sensitivity": 0.6397425561693715,
                       "epsilon": 18.030132901462515}),
    ("outcomes-exact", {"p": (0.9332562106892743, 0.0667437893107257), "q": (0.25753934852714166, 0.7424606514728583),
                        "epsilon": 2.3780381312243297}),
    ("composition-basic", {"points": ((0.00011669506515188399, 0.012080861717922841, 75),),
                           "epsilon": 0.009210349433748427}),
]


@pytest.mark.parametrize("name, p", ENCLOSED, ids=[f"{name}-{k}" for k, (name, _) in enumerate(ENCLOSED)])
def test_a_value_is_not_below_its_enclosed_formula_and_as_near_as_the_bound_claims(name, p):
    bound = BOUNDS[name]
    for error, below in oracle.deviations(bound, p):
        assert not below and error <= bound.rtol


@pytest.mark.parametrize("name, p", [slow(*point) if k in (7, 8, 9) else point for k, point in enumerate(PRINTED)], ids=[f"{name}-{k}" for k, (name, _) in enumerate(PRINTED)])
def test_a_value_is_between_the_formula_at_60_digits_and_the_accuracy_that_the_bound_claims(name, p):
    """The claim is relative for an RDP value, and for log δ where that is below −1."""
    bound = BOUNDS[name]
    want = bound.exact(mp, **p)
    want, size = (mp.log(want), max(1, abs(mp.log(want)))) if bound.kind == "profile" else (want, abs(want))
    assert want <= bound.value(**p) <= want + bound.rtol * size


def test_the_composition_of_huge_losses_has_a_delta_of_nearly_1():
    assert BOUNDS["composition-optimal"].value(100.0, 720.0, 0.0, 1000) > -1e-9
