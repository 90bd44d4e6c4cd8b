"""The table of docs/audit.md: what audits of Gaussian noise show, with counts as expected."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

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


def power(runs, mu, refuted):
    """The probability that the claim is refuted, at the threshold where it is largest."""
    k = np.arange(runs + 1)
    at_least = np.where(k > 0, beta.ppf(0.025, np.maximum(k, 1), runs - k + 1), 0.0)[:, None]
    at_most = np.where(k < runs, beta.isf(0.025, k + 1, np.maximum(runs - k, 1)), 1.0)[None, :]
    thresholds = np.arange(-1, 4.01, 0.25)
    of_hits, of_alarms = (binom.pmf(k[:, None], runs, norm.sf(thresholds - shift)) for shift in (mu, 0))
    found = np.zeros(len(thresholds))
    for rows in np.array_split(k, 1 + runs // 200):  # all at once would take a gigabyte
        found += (of_hits[rows] * (refuted(at_least[rows], at_most) @ of_alarms)).sum(axis=0)
    return found.max()


def exceeds_one(t, f):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.fmax(np.log(t - DELTA) - np.log(f), np.log(1 - f - DELTA) - np.log(1 - t)) > 1


@pytest.mark.parametrize("row", re.findall(r"^\| (\d) \| ([\d,]+) runs \| (.*) \|$", TEXT, re.M), ids=lambda row: row[0])
def test_the_table_of_runs_that_refute_a_claim(row):
    """By the trade-off curve of the claim, and by ε alone."""
    claimed, mu = (1 / dpcalc.answer("rdp", epsilon=e, delta=DELTA, solve="sigma").value for e in (1, int(row[0])))
    by_curve = int(row[1].replace(",", ""))

    def above_curve(t, f):
        return t > norm.cdf(norm.ppf(f) + claimed)

    assert power(by_curve, mu, above_curve) >= 0.9 > power(by_curve // 2, mu, above_curve)
    by_epsilon = int(re.sub(r"\D", "", row[2]))
    if "more than" in row[2]:
        assert power(by_epsilon, mu, exceeds_one) < 0.9
    else:
        assert power(by_epsilon, mu, exceeds_one) >= 0.9 > power(by_epsilon // 2, mu, exceeds_one)


def test_the_table_has_its_rows_and_the_most_that_can_be_shown():
    assert [row[0] for row in ROWS] == ["1", "2", "4", "8"]
    most = [dpcalc.answer("audit", delta=0, **own).result["largest_epsilon_lower"] for own in (
        {"true_positives": "1/100", "false_positives": "1/100"}, {"true_positives": "1/1000", "false_positives": "1/1000"},
        {"canaries": 100, "guesses": 100, "right": 0})]
    assert all(f"`{x:.2f}`" in TEXT for x in most)
