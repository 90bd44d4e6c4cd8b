"""Running totals of a ledger of many releases: each is close above the ε of those releases alone, and the last one is
the total."""

import random

import pytest
from conftest import slow

from dpcalc import answer

CLOSE = 1.003  # of a running total over the ε of the same releases alone
RELEASES = {
    "gaussian": lambda rng: {"command": "rdp", "sigma": rng.uniform(2, 20)},
    "gdp": lambda rng: {"kind": "gdp", "mu": round(rng.uniform(0.05, 0.5), 3)},
    "zcdp": lambda rng: {"kind": "zcdp", "rho": round(rng.uniform(0.001, 0.1), 4)},
    "laplace": lambda rng: {"command": "rdp", "mechanism": "laplace", "scale": rng.uniform(3, 60)},
    "point": lambda rng: {"kind": "dp", "epsilon": round(rng.uniform(0.01, 0.5), 3), "delta": 1e-8},
    "pure": lambda rng: {"kind": "dp", "epsilon": round(rng.uniform(0.01, 0.5), 3), "delta": 0},
    "sampled": lambda rng: {
        "command": "subsample",
        "sampling-rate": rng.uniform(0.001, 0.05),
        "noise-multiplier": rng.uniform(0.8, 3),
        "steps": rng.randint(1, 300),
    },
    "outcomes": lambda rng: {"kind": "outcomes", "p": [0.45, 0.55], "q": [0.55, 0.45], "count": rng.randint(1, 20)},
}


def drawn(kinds, number, seed=1):
    rng = random.Random(seed)
    return [RELEASES[kinds[k % len(kinds)]](rng) for k in range(number)]


def ledger(releases, delta):
    return answer("ledger", file={"release": releases}, delta=delta)


CASES = [
    ("gaussian", 1e-5),
    ("gdp gaussian", 1e-30),
    ("zcdp gaussian", 1e-5),
    ("laplace", 1e-5),
    ("point", 1e-5),
    ("pure laplace", 1e-5),
    ("laplace gdp", 1e-30),
    ("outcomes", 1e-5),
    ("outcomes", 1e-30),
    ("sampled gaussian point", 1e-5),
    slow("sampled", 1e-5),
    slow("sampled", 1e-30),
    slow("outcomes sampled", 1e-5),
]


@pytest.mark.parametrize(("kinds", "delta"), CASES)
def test_running_totals_are_close_above_the_loss_of_the_first_releases(kinds, delta):
    """Near the largest loss that is possible (δ = 1e-30 of `outcomes`) shared grids are too coarse."""
    releases = drawn(kinds.split(), 7)
    found = ledger(releases, delta)
    listed = found.record()["releases"]
    assert listed[-1]["total_epsilon"] == found.value
    totals = [release["total_epsilon"] for release in listed]
    assert totals == sorted(totals) and listed[0]["epsilon"] == totals[0]
    alone = ledger(releases[:5], delta)
    assert alone.result.get("epsilon_lower", alone.value * (1 - 1e-3)) <= totals[4] <= alone.value * CLOSE
    own = ledger(releases[5:6], delta)
    assert own.result.get("epsilon_lower", own.value * (1 - 1e-3)) <= listed[5]["epsilon"] <= own.value * CLOSE


def test_gaussian_running_totals_are_those_of_the_root_of_the_sum_of_squares():
    releases = drawn(("gaussian", "gdp"), 40)
    totals = [release["total_epsilon"] for release in ledger(releases, 1e-5).record()["releases"]]
    for k in (2, 17, 39):
        expected = ledger(releases[:k], 1e-5).value
        assert totals[k - 1] == pytest.approx(expected, rel=1e-11)


def test_a_pure_ledger_adds_up_its_prefixes():
    totals = [release["total_epsilon"] for release in ledger(drawn(("pure",), 6), 0).record()["releases"]]
    epsilons = [release["epsilon"] for release in drawn(("pure",), 6)]
    assert totals == pytest.approx([sum(epsilons[: k + 1]) for k in range(6)], rel=1e-14)


@pytest.mark.slow
def test_a_tiny_first_release_and_a_large_last_one_do_not_share_grids():
    small = [
        {"command": "subsample", "sampling-rate": 0.001, "noise-multiplier": 2 + k / 10, "steps": 10} for k in range(6)
    ]
    releases = [*small, {"command": "rdp", "mechanism": "laplace", "scale": 0.2}]
    totals = [release["total_epsilon"] for release in ledger(releases, 1e-5).record()["releases"]]
    for k in (5, 6):
        alone = ledger(releases[:k], 1e-5)
        assert alone.result["epsilon_lower"] <= totals[k - 1] <= alone.value * CLOSE
