"""Noise levels beside a threshold: too little noise shows the values, too much publishes the keys of one person."""

import pytest
from answers import answer, refusal

BUDGET = "--epsilon 1 --delta 1e-6"
RELEASES = [("sigma", "--max-keys 3 --threshold 50"), ("sigma", "--max-keys 3 --threshold 90 --steps 3"),
            ("sigma", "--max-keys 3 --threshold 60 --adjacency replace-one"),
            ("scale", "--mechanism laplace --threshold 16"), ("scale", "--mechanism discrete-laplace --threshold 40"),
            ("sigma", "--mechanism discrete-gaussian --threshold 60")]


@pytest.mark.parametrize("level, release", RELEASES)
def test_the_least_noise_is_found_that_meets_the_budget(level, release):
    got = answer(f"rdp {release} {BUDGET} --solve {level}")
    x = got["result"][level]
    least, smaller, larger = (answer(f"rdp {release} --{level} {share * x} --epsilon 1")["result"]["delta"]
                              for share in (1, 0.99, 40))
    assert least <= 1e-6 < min(smaller, larger)
    assert any("may rise and fall" in note for note in got["notes"])


@pytest.mark.parametrize("level, release", [("sigma", "--max-keys 3"), ("scale", "--mechanism laplace --max-keys 1")])
def test_there_is_a_least_threshold(level, release):
    """At which only the least noise meets the budget, and the threshold that is solved for is the given one."""
    without = answer(f"rdp {release} {BUDGET} --solve {level}")["result"][level]
    least = answer(f"rdp {release} --{level} {1.0001 * without} {BUDGET} --solve threshold")["result"]["threshold"]
    found = answer(f"rdp {release} --threshold {1.01 * least} {BUDGET} --solve {level}")["result"][level]
    assert found == pytest.approx(without, rel=1e-3)
    why = refusal(f"rdp {release} --threshold {0.98 * least} {BUDGET} --solve {level}", 3)
    assert "take a larger threshold" in why


def test_the_noise_of_a_published_value_is_not_that_of_any_value():
    """A key with one person is published where its noise is large."""
    line = "rdp --sigma 8 --max-keys 3 --epsilon 1 --accuracy 0.95"
    published = [note for note in answer(f"{line} --threshold 50")["notes"] if "15.6798" in note]
    assert published and "published or not" in published[0]
    assert all("published or not" not in note for note in answer(line)["notes"])
