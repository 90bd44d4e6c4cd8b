"""Selections, the sparse vector technique and shuffled reports: verified, and no better answer is."""

import pytest
from verifying import ask, check

from dpcalc.bounds.mechanisms import shuffled_ldp
from dpcalc.verify import shuffled_reports
from dpcalc.verify.arb.context import Context
from dpcalc.verify.report import verify

LINES = [
    "rdp --mechanism exponential --step-epsilon .3 --epsilon .1",
    "rdp --mechanism exponential --step-epsilon .3 --delta 1e-3",
    "rdp --mechanism exponential --step-epsilon .3 --steps 30 --alpha 4",
    "rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6 --bound exponential-profile",
    "rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6",
    "subsample --mechanism exponential --step-epsilon 2 --sampling-rate .01 --steps 40 --delta 1e-6",
    "subsample --mechanism exponential --scheme without-replacement --step-epsilon 2 --sampling-rate .1 --steps 4 --alpha 3",
    "rdp --mechanism above-threshold --threshold-scale 20 --scale 30 --hits 3 --steps 5 --delta 1e-6",
    "rdp --mechanism above-threshold --threshold-scale 3 --scale 7 --queries monotone --delta 0",
    "rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6",
    "rdp --mechanism shuffled-ldp --n 1e7 --step-epsilon 3 --epsilon .003",
    "rdp --mechanism shuffled-ldp --n 40 --step-epsilon 1 --steps 7 --epsilon 1",
    "rdp --mechanism shuffled-ldp --n 40 --step-epsilon 1 --epsilon 1",  # δ = 0, from above and from below
]


@pytest.mark.parametrize("line", LINES)
def test_numbers_are_verified_and_no_better_ones(line):
    check(line)


def test_a_lower_end_that_is_too_high_is_refuted():
    for line in ("rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6 --bound exponential-lower",
                 "rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6 --bound shuffled-ldp-lower"):
        record = ask(line)
        assert verify(record).holds
        more = record["result"]["epsilon"] * 1.001
        record["result"]["epsilon"] = record["bounds"][0]["epsilon"] = more
        assert not verify(record).holds


@pytest.mark.parametrize("n, e0, epsilons", [(31, 1.0, [0.0]), (300, 0.3, [0.0, 0.01, 0.02, 0.29, 0.3, 0.4]),
                                             (301, 5.0, [1.0, 1.5, 4.9])])
def test_short_sums_of_reports_hold_the_long_ones(n, e0, epsilons):
    """In ball arithmetic, where the far terms are bounded and sums are continued from one ε to the next, and term by
    term."""
    mp = Context(192)
    for epsilon, short in zip(epsilons, shuffled_reports.deltas_at(mp, epsilons, n, e0), strict=True):
        printed = shuffled_ldp.exact(mp, epsilon, n, e0)
        assert short.x.overlaps(printed.x) and (epsilon >= e0 or short.x.rel_accuracy_bits() > 60)
