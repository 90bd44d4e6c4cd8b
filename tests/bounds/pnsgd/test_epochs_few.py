"""Few epochs of which one falls steeply with ε, or hardly at all: next to basic composition, and not above it."""

import pytest
from last_iterate_lines import answer

from dpcalc.verify.report import verify

RUNS = {
    "end": "shuffle-pnsgd --lipschitz .0736 --smoothness .0153 --diameter 9.38 --learning-rate .00172 --n 219 --epochs 2 --index 209",
    "begin": "shuffle-pnsgd --lipschitz .778 --smoothness .0125 --diameter 2.12 --learning-rate .127 --n 1000 --epochs 4 --index 5",
    "steps": "shuffle-pnsgd --lipschitz 6090 --smoothness 4.83 --diameter .00484 --strong-convexity 5.313e-8 --learning-rate .07984 --index 493 "
    "--epochs 2 --n 1000",
}


def rows(line):
    record, _ = answer(line)
    return {row["name"]: row for row in record["bounds"]}, record


def test_a_delta_far_below_the_steps_of_a_grid():
    """Where no grid is as fine as so steep a tilt asks for, it is not basic composition's 993.6."""
    found, record = rows(f"{RUNS['end']} --sigma .00258 --delta 9.08e-92")
    assert found["fixed-order-hybrid"]["epsilon"] == pytest.approx(789.49, rel=2e-3)
    assert found["fixed-order-hybrid-basic"]["epsilon"] == pytest.approx(993.62, rel=1e-4)
    assert verify(record).holds


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
    assert found["fixed-order-hybrid"]["sigma"] < 0.0061242 * 1.0005  # it was .0061356 at first
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
    # The tilt of the least Chernoff bound; it was 1841.8, and the row was lost where a ratio of 1e154 was squared.
    ("--lipschitz 319 --smoothness .0425 --diameter .0121 --n 811 --learning-rate .000525 --strong-convexity .0226 --index 679 "
     f"--epsilon .017 {LAPLACE.format(2, 3.34e-286)}", "fixed-order", 749, 1030.5),
    # Composition needs less than 3/5 of the noise of basic composition.
    ("--lipschitz 8990 --smoothness 2.49 --diameter .00221 --n 4010 --learning-rate .0747 --strong-convexity 2.22 "
     f"--epsilon 7.51 {LAPLACE.format(326, 1.7e-256)}", "shuffled-hiding-laplace", 3324, 5784),
    # Its grids are too large: 203.4.
    ("--lipschitz 4.95 --smoothness 1.39 --diameter .26 --learning-rate .00203 --n 1000 --index 562 "
     f"--epsilon .0176 {LAPLACE.format(225000000, 1e-233)}", "fixed-order", 192.1, 192.1),
    # It was 7487.
    ("--lipschitz .79 --smoothness .0162 --diameter .0118 --learning-rate .047 --n 170 --index 133 "
     f"--epsilon .0769 {LAPLACE.format(96000000000, 1e-162)}", "fixed-order", 5.657, 4699),
])
def test_deep_laplace_losses(line, name, most, basic):
    found, record = rows(f"shuffle-pnsgd {line}")
    assert found[name]["scale"] < most and basic * 0.999 < found[f"{name}-basic"]["scale"] < basic
    assert verify(record).holds
