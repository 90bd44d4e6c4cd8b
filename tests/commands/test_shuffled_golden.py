"""Golden values of shuffled batches, every step released: epochs that leave out records, and epochs that use all."""

import json
from itertools import pairwise

import pytest
from answers import number
from conftest import ROOT, slow, spread

CASES = json.loads((ROOT / "tests" / "golden" / "shuffled.json").read_text(encoding="utf-8"))["cases"]
BOUND = {"dropped": "shuffle-profile", "used": "shuffle-profile-used"}
NEAR = {"dropped": 1.01, "used": 1.03}  # relative: what a number may be above the golden one, which is from above
DROP_LAST = {"dropped": "--drop-last", "used": ""}
CHORDS = {"dropped": 1e-3, "used": 5e-3}  # relative: what the chords of a profile add to ε
LONG = (9999, 60_000, 60001, 250_000, 1_000_000, 1_281_167)  # n of golden values that take about half a second or more
SMALL = {"dropped": "--n 44 --batch-size 13 --drop-last", "used": "--n 39 --batch-size 13"}


def epsilon(leftover, batches, epochs, noise, delta=1e-5, adjacency="zero-out", bound=None):
    return number(f"subsample --scheme shuffle {batches} --epochs {epochs} --noise-multiplier {noise} --delta {delta} "
                  f"--adjacency {adjacency} --bound {bound or BOUND[leftover]}")


@spread("case", [slow(case) if case["leftover"] == "used" or case["n"] in LONG else case for case in CASES],
        ids=lambda case: f"{case['leftover']} n={case['n']} Z={case['noise_multiplier']}")
def test_golden(case):
    """No number is below what a run loses, nor far above an independent computation of the same theorem."""
    leftover, n, b = case["leftover"], case["n"], case["batch_size"]
    found = epsilon(leftover, f"--n {n} --batch-size {b} {DROP_LAST[leftover]}", case["epochs"],
                    case["noise_multiplier"], case["delta"], case["adjacency"])
    assert case.get("today_lower", 0.0) <= found <= NEAR[leftover] * case["epsilon_upper"]
    if "today_upper" in case:
        assert found < case["today_upper"] * (1 + CHORDS["dropped"])


@pytest.mark.parametrize("adjacency", [slow("zero-out"), "replace-one"])
@pytest.mark.parametrize("leftover", ["dropped", slow("used")])
@pytest.mark.parametrize("runs", [((1, 3), (2, 3)), slow(((1, 3), (2, 3), (2, 0.9), (5, 0.9)))], ids=["few", "all"])
def test_more_epochs_lose_more_and_more_noise_less(leftover, adjacency, runs):
    more = [epsilon(leftover, SMALL[leftover], epochs, noise, adjacency=adjacency) for epochs, noise in runs]
    assert all(a < b for a, b in pairwise(more))


@pytest.mark.slow
@pytest.mark.parametrize("leftover", BOUND)
@pytest.mark.parametrize("noise, epochs", [(0.3, 1), (1, 3), (6, 200)])
def test_never_above_what_holds_without_amplification(leftover, noise, epochs):
    found, plain = (epsilon(leftover, SMALL[leftover], epochs, noise, bound=bound)
                    for bound in (None, "shuffle-no-amplification"))
    assert found <= plain * (1 + CHORDS[leftover])


@pytest.mark.slow
def test_leaving_out_records_loses_less_than_using_all():
    for noise in (1, 3):
        assert (epsilon("dropped", SMALL["dropped"], 3, noise) < epsilon("used", SMALL["used"], 3, noise)
                < epsilon("used", SMALL["used"], 3, noise, bound="shuffle-no-amplification") * (1 + CHORDS["used"]))
