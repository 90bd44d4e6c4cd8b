"""The table of docs/audit.md: what audits of Gaussian noise show, with counts as expected."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import dpcalc
from dpcalc.bounds.audits import counts, one_run

TEXT = (Path(__file__).parents[2] / "docs/audit.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) ((?:\| `[\d.]+` ){6})\|$", TEXT, re.M)
RUNS, CANARIES, DELTA = (100, 1000, 10_000), (100, 1000, 10_000), 1e-5


def by_counts(mu, runs):
    """At the threshold that shows most."""
    thresholds = np.linspace(-3, 6, 181)
    return max(counts.value(round(runs * norm.sf(z - mu)), runs, round(runs * norm.sf(z)), runs, DELTA, 0.95,
                            1)["epsilon_lower"] for z in thresholds)


def by_canaries(mu, canaries):
    """Scores N(±μ/2, 1), of which those far from 0 are guessed, at the distance that shows most."""
    shown = [0.0]
    for least in np.linspace(0, 6, 121):
        right, wrong = norm.sf(least - mu / 2), norm.cdf(-least - mu / 2)
        guesses = round(canaries * (right + wrong))
        if guesses:
            right = min(round(canaries * right), guesses)
            shown.append(one_run.value(canaries, guesses, right, DELTA, 0.95, 1)["epsilon_lower"])
    return max(shown)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"epsilon-{row[0]}")
def test_the_table_of_what_audits_show(row):
    epsilon, cells = int(row[0]), [float(x) for x in re.findall(r"`([\d.]+)`", row[1])]
    mu = 1 / dpcalc.answer("rdp", epsilon=epsilon, delta=DELTA, solve="sigma").value
    found = [*(by_counts(mu, runs) for runs in RUNS), *(by_canaries(mu, canaries) for canaries in CANARIES)]
    assert [int(100 * x) / 100 for x in found] == cells
    assert max(found) < epsilon


def test_the_table_has_its_rows_and_the_most_that_can_be_shown():
    assert [row[0] for row in ROWS] == ["1", "2", "4", "8"]
    most = [dpcalc.answer("audit", delta=0, **own).result["largest_epsilon_lower"] for own in (
        {"true_positives": "1/100", "false_positives": "1/100"}, {"true_positives": "1/1000", "false_positives": "1/1000"},
        {"canaries": 100, "guesses": 100, "right": 0})]
    assert all(f"`{x:.2f}`" in TEXT for x in most)
