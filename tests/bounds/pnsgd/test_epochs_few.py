"""Few epochs of which one falls steeply with ε, or hardly at all: next to basic composition, and not above it."""

from itertools import pairwise

import mpmath
import pytest
from answers import answer
from conftest import slow

from dpcalc.verify.report import verify

RUNS = {
    "end": "shuffle-pnsgd --lipschitz .0736 --smoothness .0153 --diameter 9.38 --learning-rate .00172 --n 219 --epochs "
           "2 --index 209",
    "begin": "shuffle-pnsgd --lipschitz .778 --smoothness .0125 --diameter 2.12 --learning-rate .127 --n 1000 --epochs "
             "4 --index 5",
    "steps": "shuffle-pnsgd --lipschitz 6090 --smoothness 4.83 --diameter .00484 --strong-convexity 5.313e-8 "
             "--learning-rate .07984 --index 493 "
    "--epochs 2 --n 1000",
}
RARE = ("shuffle-pnsgd --noise laplace --lipschitz 1.3882766627974024 --smoothness 0 --learning-rate 5 "
        "--diameter .01817404001858058 --n 1801 --c1 5.384977686608019 --c2 4.307462968946811")
SHUFFLED = "shuffle-pnsgd --lipschitz 1 --smoothness 0"
mp = mpmath.mp.clone()
mp.dps = 60


def rows(line):
    record = answer(line)
    return {row["name"]: row for row in record["bounds"]}, record


def test_a_delta_far_below_the_steps_of_a_grid():
    """Where no grid is as fine as so steep a tilt asks for, it is not basic composition's 993.6."""
    found, record = rows(f"{RUNS['end']} --sigma .00258 --delta 9.08e-92")
    assert found["fixed-order-hybrid"]["epsilon"] == pytest.approx(789.49, rel=2e-3)
    assert found["fixed-order-hybrid-basic"]["epsilon"] == pytest.approx(993.62, rel=1e-4)
    assert verify(record).holds


@pytest.mark.slow
def test_a_delta_that_few_epochs_have():
    line = "shuffle-pnsgd --lipschitz 4.15 --smoothness .694 --diameter .022 --learning-rate .00633 --n 1000 --epochs 2 --sigma .301 --index 914"
    found, record = rows(f"{line} --epsilon 12.1")
    assert found["fixed-order-hybrid"]["log_delta"] < -520 < -333 < found["fixed-order-hybrid-basic"]["log_delta"]
    assert verify(record).holds


def test_less_noise_by_a_composition_than_by_basic_composition():
    found, record = rows(f"{RUNS['begin']} --epsilon .255 --delta 3.22e-176 --solve sigma")
    assert found["fixed-order-hybrid"]["sigma"] <= 0.7578 and found["fixed-order-hybrid-basic"]["sigma"] > 0.7576
    assert verify(record).holds


def test_what_one_value_says_by_smaller_blocks_is_not_missed():
    """At the cliffs of one epoch its samples, by larger blocks, are up to a tenth of ε away."""
    found, _ = rows(f"{RUNS['steps']} --epsilon .0102 --delta 1.79e-184 --solve sigma")
    assert found["fixed-order-hybrid"]["sigma"] < 0.0061242 * 1.0005
    for sigma in (0.0061243, 0.00613, 0.0062):
        found, _ = rows(f"{RUNS['steps']} --delta 1.79e-184 --sigma {sigma}")
        assert found["fixed-order-hybrid"]["epsilon"] <= found["fixed-order-hybrid-basic"]["epsilon"]


CLIFFS = "shuffle-pnsgd --lipschitz .538 --smoothness 0 --diameter .456 --learning-rate .00144 --n 19000000000 --epochs 2 --index 947 " \
    "--epsilon .000204 --delta 2.58e-184 --solve sigma"


def test_a_solution_is_never_above_that_of_basic_composition():
    """Two epochs: there is hardly less to be found."""
    found, record = rows(CLIFFS)
    composed, basic = (found[f"fixed-order-hybrid{end}"]["sigma"] for end in ("", "-basic"))
    assert 0.98 * basic < composed <= basic
    assert verify(record).holds
    again, _ = rows(f"{CLIFFS} --bound fixed-order-hybrid")
    assert again["fixed-order-hybrid"]["sigma"] == composed  # whether or not its row is shown


LAPLACE = "--noise laplace --dimension 1 --epochs {} --delta {} --solve scale"


@pytest.mark.parametrize("line, name, most, basic", [
    # The tilt of the least Chernoff bound.
    ("--lipschitz 319 --smoothness .0425 --diameter .0121 --n 811 --learning-rate .000525 --strong-convexity .0226 "
     "--index 679 "
     f"--epsilon .017 {LAPLACE.format(2, 3.34e-286)}", "fixed-order", 749, 1030.5),
    # Composition needs less than 3/5 of the noise of basic composition.
    ("--lipschitz 8990 --smoothness 2.49 --diameter .00221 --n 4010 --learning-rate .0747 --strong-convexity 2.22 "
     f"--epsilon 7.51 {LAPLACE.format(326, 1.7e-256)}", "shuffled-hiding-laplace", 3324, 5784),
    # Its grids are too large: 203.4.
    ("--lipschitz 4.95 --smoothness 1.39 --diameter .26 --learning-rate .00203 --n 1000 --index 562 "
     f"--epsilon .0176 {LAPLACE.format(225000000, 1e-233)}", "fixed-order", 192.1, 192.1),
    slow("--lipschitz .79 --smoothness .0162 --diameter .0118 --learning-rate .047 --n 170 --index 133 "
         f"--epsilon .0769 {LAPLACE.format(96000000000, 1e-162)}", "fixed-order", 5.657, 4699),
])
def test_deep_laplace_losses(line, name, most, basic):
    found, record = rows(f"shuffle-pnsgd {line}")
    assert found[name]["scale"] < most and basic * 0.999 < found[f"{name}-basic"]["scale"] < basic
    assert verify(record).holds


def result(line):
    return answer(line)["result"]


def two_laplace(epsilon, r):
    """δ of two uses: the loss is r with probability 1/2, and has the density e^((t − r)/2)/4 below it."""
    def density(t):
        return mp.exp((t - r) / 2) / 4

    def left(t):
        return 1 - mp.exp(epsilon - t)

    one = mp.quad(lambda t: density(t) * left(r + t), [epsilon - r, r])
    two = mp.quad(lambda t: density(t) * mp.quad(lambda s: density(s) * left(s + t), [epsilon - t, r]),
                  [epsilon - r, r])
    return left(2 * r) / 4 + one + two


@pytest.mark.parametrize("line, most", [
    (f"{RARE} --epochs 2 --delta 6.992031862505267e-05", 8910),  # two losses of 8,899 together are rarer than δ
    (f"{SHUFFLED} --noise laplace --learning-rate .7014047281227582 --diameter .5422445421321556 --n 296690 --epochs 2 "
     "--scale .006260507162471546 --delta 5.3578153840575605e-11", 441),
])
def test_epsilon_at_a_delta_that_rare_losses_decide(line, most):
    """Two of the largest losses together are rarer than δ, and are not counted in its ε."""
    epsilon = result(line)["epsilon"]
    assert epsilon < most
    below = result(f"{line.partition(' --delta')[0]} --epsilon {0.99 * epsilon!r}")["delta"]
    assert below > float(line.split("--delta ")[1])  # and ε is not much too large


@pytest.mark.parametrize("line, most", [  # the composition has 3.371e-9, 3.38e-9 and 1.54e-8
    ("--smoothness 0 --learning-rate 1.6000645432458316 --diameter .37456262508667065 --n 19798 "
     "--scale .3352746050999469 --epsilon 5.973315807503144", 3.4e-9),
    ("--smoothness 0 --learning-rate 1.6000645432458316 --diameter .37456262508667065 --n 19798 "
     "--scale .3352746050999469 --epsilon 5.96734",
     3.4e-9),
    ("--smoothness .2129467014098316 --learning-rate .3308963704769439 --diameter 1.7143870547049973 --n 5616 "
     "--scale 4.66672771885117 --epsilon .42854399375843516", 1.55e-8),
    ("--smoothness .5 --learning-rate 1.077219522300589 --diameter 1 --n 94049 --strong-convexity .42831589039931883 "
     "--scale 1.3957337160060577 --epsilon 1.438", 5.46e-11),  # where the largest loss is on the grid, but 0 is not
])
def test_delta_next_to_the_largest_loss(line, most):
    """There δ falls by the probability of that loss, and is not that of an ε a little smaller."""
    found = result(f"shuffle-pnsgd --noise laplace --lipschitz 1 {line} --epochs 2 "
                   f"--bound shuffled-contraction")["delta"]
    assert 0.99 * most < found < most


def test_more_epochs_lose_no_less():
    epsilons = [result(f"{RARE} --epochs {k} --delta 6.992031862505267e-05")["epsilon"] for k in (1, 2, 3, 4, 6)]
    assert all(a <= b * (1 + 1e-3) for a, b in pairwise(epsilons))


@pytest.mark.parametrize("scale, delta", [(100.0, 5e-4), (6.45, 1.9e-3), (7.1, 5e-3)])
def test_two_uses_of_laplace_noise_next_to_their_largest_loss(scale, delta):
    """Its probability is 1/4, by which δ falls there: ε against a double integral."""
    with mp.workdps(15):
        exact = mp.findroot(lambda e: two_laplace(e, 1 / mp.mpf(scale)) / delta - 1, (1.7 / scale, 1.95 / scale),
                            solver="illinois", tol=1e-9)
    for line in (f"rdp --mechanism laplace --scale {scale} --steps 2 --bound laplace-profile",
                 "shuffle-pnsgd --noise laplace --lipschitz 1 --diameter 1 --learning-rate 1e-6 --smoothness 0 --n 1 "
                 f"--scale {2 * scale} --epochs 2"):
        assert exact <= answer(f"{line} --delta {delta}")["result"]["epsilon"] <= exact * (1 + 1e-4)
