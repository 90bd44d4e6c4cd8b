"""A composed number is next to what the theorem gives at its witness, and not below: found by random questions, each
loose or refuted once."""

from math import expm1, log1p

import pytest
from conftest import slow, spread
from verifying import ask, asked, better, refuted

from dpcalc.verify.report import verify

CLOSE = 1e-6  # relative
DELTAS = [
    # an atom far out, of two steps: the rounding of a transform was 300 times as large as what it was added to
    slow("shuffle-pnsgd --lipschitz 1 --smoothness .5 --sigma 6.91934 --learning-rate 0.0638933 --diameter 3.7188 "
         "--n 50 "
         "--epochs 2 --epsilon 4.50797 --bound shuffled-iteration"),
    # many steps, each off by 1e-9 of a cell at most, as it was said
    slow("subsample --mechanism discrete-laplace --scale 0.4553497761692098 --sampling-rate 0.0275289 --steps 12681 "
         "--bound "
         "poisson-profile --epsilon 0.895178"),
    "subsample --mechanism discrete-laplace --scale 0.8581254318761051 --sampling-rate 0.2374 --steps 1202 --bound "
    "poisson-profile --epsilon 18.2549",
]
EPSILONS = [
    # one loss decides, and no tilt makes it typical: ε was 1 % too large
    slow("subsample --sigma 2.34496 --sampling-rate 1.78823e-05 --steps 19 --bound poisson-profile "
         "--delta 7.6899e-189"),
    "subsample --sigma 2.34496 --sampling-rate 1.78823e-05 --steps 2 --bound poisson-profile --delta 7.6899e-189",
    # the weight that the check itself leaves out was more than what the calculator allowed for
    "subsample --scheme without-replacement --mechanism laplace --scale 1.22232 --sampling-rate 1.08486e-05 --steps 22 "
    "--bound wor-profile "
    "--delta 3.14876e-08",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", DELTAS)
def test_delta_is_next_to_its_value_at_the_witness(line):
    record = ask(line)
    verdict = verify(record)
    assert verdict.holds
    delta, (low, high) = record["result"]["delta"], verdict.head[0].decision.ends
    assert low <= high <= delta * (1 + 1e-15) and delta <= high * (1 + CLOSE)
    assert refuted(better(record))


@pytest.mark.filterwarnings("ignore")
@spread("line", EPSILONS)
def test_epsilon_is_next_to_its_value_at_the_witness(line):
    """δ at this ε is below the one asked for, and above it at an ε that is smaller by 1e-6."""
    record = ask(line)
    assert asked(record) == "epsilon" and verify(record).holds and refuted(better(record))


@pytest.mark.parametrize("steps, scale, rate, delta", [
    (31, 1.17307, 0.010557, 4.6702e-58), (150, 14.4542, 0.0160255, 4.3182e-212),
    (192, 29.2805, 3.60386e-06, 2.3742e-112)])
def test_epsilon_is_not_above_the_largest_loss(steps, scale, rate, delta):
    """δ is so small that ε is next to T times the largest loss; the sum of the grid's last points is below all
    rounding."""
    most = steps * log1p(rate * expm1(1 / scale))
    record = ask(f"subsample --mechanism laplace --scale {scale} --sampling-rate {rate} --steps {steps} --bound "
                 f"poisson-profile --delta {delta}")
    assert most * (1 - 1e-9) <= record["result"]["epsilon"] <= most * (1 + 1e-9)
    assert verify(record).holds


@pytest.mark.filterwarnings("ignore")
def test_total_variation_is_that_of_both_directions():
    """The grid of the other direction, rounded otherwise, was above the number told."""
    record = ask("tv --mechanism gaussian --sigma 0.432481 --sampling-rate 0.231376 --steps 173")
    assert verify(record).holds
