"""From the hits and false alarms of an attack in independent runs to a lower bound on ε.

Proof of audit-counts. Let a be the probability of an error, 1 − confidence, over the number of tests. The attack says
"member" in tp of n₁ runs on D and in fp of n₀ runs on D′. By the limits of Clopper & Pearson the true-positive rate is
below t with tp or more hits in at most a share a/2 of all audits, and the false-positive rate above f with fp or fewer
false alarms in at most a/2 of them: outside of these, which are at most a together, TPR >= t and FPR <= f hold at once.
(ε, δ)-DP in both directions gives TPR <= e^ε·FPR + δ and 1 − FPR <= e^ε(1 − TPR) + δ, whose right-hand sides are
monotone in the rates. So e^ε >= (t − δ)/f and e^ε >= (1 − f − δ)/(1 − t) hold for every ε that is true, both by the
same event. With several tests the largest of their bounds is too large only if one of them is. ∎ """

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any, NamedTuple

from dpcalc.core.bound import Params, PointBound, Theorem
from dpcalc.numerics.binomial import exact_tails
from dpcalc.numerics.clopper_pearson import (
    exact_lower_limit,
    exact_upper_limit,
    log_of_level,
    lower_limit,
    upper_limit,
)
from dpcalc.numerics.rounding import decimal, difference_down

# What a bound is lowered by, relative to max(1, |x|): more than the rounding errors of logarithms, and more than limits
# that are found on another machine differ.
MARGIN = 1e-12
PARAMS = ("true_positives", "members", "false_positives", "non_members")
INDEPENDENT = "the runs are independent, with fresh noise and fresh sampling in each"
FIXED = "attack, threshold, δ and the numbers of runs were fixed before the runs that are counted"


def error_probability(confidence: float, tests: int) -> Fraction:
    """The probability with which one test may be wrong: 1 − confidence, over the number of tests."""
    return (1 - decimal(confidence)) / tests


class Limits(NamedTuple):
    """Rates that hold at once at the confidence: TPR >= tpr, FPR <= fpr, and the complements 1 − TPR <= missed and
    1 − FPR >= spared, each to full accuracy."""

    tpr: float
    fpr: float
    missed: float
    spared: float


def limits(true_positives: int, members: int, false_positives: int, non_members: int, confidence: float,
           tests: int) -> Limits:
    """The limits of Clopper & Pearson, each at half of the probability of an error, rounded to the safe side."""
    log_level = log_of_level(error_probability(confidence, tests) / 2)
    return Limits(lower_limit(true_positives, members, log_level),
                  upper_limit(false_positives, non_members, log_level),
                  upper_limit(members - true_positives, members, log_level),
                  lower_limit(non_members - false_positives, non_members, log_level))


def without_delta(params: Params) -> Params:
    """The parameters of the limits, from those of a bound: all but δ."""
    return {name: x for name, x in params.items() if name != "delta"}


def lowered(x: float) -> float:
    """A bound on ε or μ that is not above x, a number with rounding errors; never below 0."""
    return max(0.0, x - MARGIN * max(1.0, abs(x)))


def value(true_positives: int, members: int, false_positives: int, non_members: int, delta: float, confidence: float,
          tests: int) -> dict[str, float]:
    found = limits(true_positives, members, false_positives, non_members, confidence, tests)
    by_hits, by_misses = difference_down(found.tpr, delta), difference_down(found.spared, delta)
    shown = [log(share) - log(rate) for share, rate in ((by_hits, found.fpr), (by_misses, found.missed)) if share > 0]
    return {"epsilon_lower": lowered(max(shown, default=0.0))}


def exact(mp: Any, true_positives: int, members: int, false_positives: int, non_members: int, delta: float,
          confidence: float, tests: int) -> dict[str, Any]:
    level = as_mpf(mp, error_probability(confidence, tests) / 2)
    t, f = exact_rates(mp, true_positives, members, false_positives, non_members, level)
    pairs = ((t - mp.mpf(delta), f), (1 - f - mp.mpf(delta), 1 - t))
    return {"epsilon_lower": max([mp.mpf(0), *(mp.log(share / rate) for share, rate in pairs if share > 0)])}


def exact_rates(mp: Any, true_positives: int, members: int, false_positives: int, non_members: int,
                level: Any) -> tuple[Any, Any]:
    """The limits t of the true-positive rate and f of the false-positive rate, at high precision."""
    return (exact_lower_limit(mp, true_positives, members, level),
            exact_upper_limit(mp, false_positives, non_members, level))


def as_mpf(mp: Any, x: Fraction) -> Any:
    return mp.mpf(x.numerator) / x.denominator


def limits_hold(mp: Any, found: Limits, true_positives: int, members: int, false_positives: int, non_members: int,
                confidence: float, tests: int) -> Any:
    """What is at least 0 where the limits are such limits: by how much the least certain of the four is within its
    level. They may have been found in any way."""
    level = as_mpf(mp, error_probability(confidence, tests) / 2)
    missed, spared = members - true_positives, non_members - false_positives
    tails = (exact_tails(mp, true_positives, members, found.tpr)[1] if true_positives else 0,
             exact_tails(mp, false_positives + 1, non_members, found.fpr)[0] if spared else 0,
             exact_tails(mp, missed + 1, members, found.missed)[0] if true_positives else 0,
             exact_tails(mp, spared, non_members, found.spared)[1] if spared else 0)
    return min(level - tail for tail in tails)


def condition(mp: Any, claimed: float, true_positives: int, members: int, false_positives: int, non_members: int,
              delta: float, confidence: float, tests: int) -> Any:
    """What is at least 0 where the counts show the claimed ε: by the limits, whose probabilities are computed anew."""
    own = true_positives, members, false_positives, non_members, confidence, tests
    found = limits(*own)
    grown = mp.exp(mp.mpf(claimed))
    excess = max(mp.mpf(found.tpr) - delta - grown * found.fpr, mp.mpf(found.spared) - delta - grown * found.missed)
    return mp.mpf(0) if claimed == 0 else min(excess, limits_hold(mp, found, *own))


BOUND = PointBound(
    Theorem(
        name="audit-counts",
        example="audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5",
        statement="if a test says yes in tp of n₁ runs on one data set and in fp of n₀ on its neighbour, then with "
                  "confidence 1 − a: ε ≥ log((t − δ)/f) and ε ≥ log((1 − f − δ)/(1 − t)), where P(Bin(n₁, t) ≥ tp) = "
                  "P(Bin(n₀, f) ≤ fp) = a/2",
        in_words="This is a lower bound on the true ε, at the given δ, of the program that was run, from an attack on "
                 "many independent runs: at most a share a of all audits (5 % by default) give a number above it. A "
                 "result of 0 proves nothing, as the attack may be weak. It is false where threshold or attack were "
                 "chosen by the counted runs.",
        source="Clopper & Pearson 1934; Jagielski, Ullman & Oprea 2020, arXiv:2006.07709; proof in "
               "dpcalc/bounds/audits/counts.py",
        assumptions=(INDEPENDENT, FIXED),
        released="what the attack was given",
        status="lower",
    ),
    gives=("epsilon_lower",), params=(*PARAMS, "delta", "confidence", "tests"), value=value, exact=exact,
    condition=condition, rtol=1e-9)
