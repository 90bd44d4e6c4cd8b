"""From the right guesses about the canaries of a single run to a lower bound on ε (Steinke, Nasr & Jagielski 2023,
arXiv:2305.08846, main theorem).

Each of m canaries is put into the data by its own fair coin; the auditor sees what the program released, guesses r of
the coins, a number fixed beforehand, and v guesses are right. If the program is (ε, δ)-DP for the flip of one coin, at
least v guesses are right with probability at most

    p(ε) = max over 0 <= i <= v of  (1 − c_i)₊ b + c_i Pr[Bin(r, s) >= v − i],   c_i = 2mδ/i (the term of i = 0 is b),

with s = e^ε/(1 + e^ε) and b = Pr[Bin(r, s) >= v].

Proof that p rises in ε, and that i ends where it does. The paper has 1 − c_i in place of its positive part, which
makes no term smaller. b and every Pr[Bin >= v − i] rise in s, and their factors are not negative, so p rises, and the
ε with p(ε) <= a are an interval from 0. A bound above the true ε thus has p(ε) <= a there at its v; if w is the least
such v, at least w guesses are right, which has probability at most p(ε) at w, and so at most a: also if p does not
fall in v. With several tests a is shared among them. The terms are b + 2mδ·S_i/i where c_i <= 1, and 2mδ·(b + S_i)/i
elsewhere, where S_i is the sum of Pr[Bin = j] over v − i <= j < v. From an i on, with v − i below the mode of the
binomial law and Pr[Bin = v − i] at most S_i/i, what is added is at most the mean so far, as these probabilities fall:
no later i has a larger term of either form. ∎ """

from __future__ import annotations

from math import exp, fsum, inf, log
from typing import Any

from dpcalc.bounds.audits.counts import as_mpf, error_probability, lowered
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.binomial import exact_tails
from dpcalc.numerics.clopper_pearson import log_of_level
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.root import Unreachable, boundary, bracket

# Of a probability relative to the largest one: below it, all together are negligible beside a level, which is at least
# 1e-25, as 1 less a confidence is at least 1e-16 and there are at most 1e9 tests.
_NEGLIGIBLE = 1e-40
_ERROR = 1e-15  # relative: more than the rounding errors of a ratio of neighbours, which a product of them adds up
_FEW = 20  # roundings besides, in ratios: of sums, of a mean and of a logarithm
_RANGE = (1e-12, 100.0)  # of ε in searches: with a billion guesses the largest is 20


def log_p_value(epsilon: float, canaries: int, guesses: int, right: int, delta: float) -> float:
    """log p(ε), rounded up; at most 0.

    The binomial probabilities are computed relative to the largest one by the ratios of neighbours, which are Pr[j + 1]
    = Pr[j]·e^ε(r − j)/(j + 1), and divided by their sum."""
    first, terms = _probabilities(epsilon, guesses)
    total, weight = fsum(terms), 2 * canaries * delta
    beyond = fsum(terms[max(0, right - first):])
    best = beyond
    below, i = 0.0, 0
    for j in range(min(right, first + len(terms)) - 1, first - 1, -1) if weight else ():
        below, i = below + terms[j - first], right - j
        c = weight / i
        best = max(best, max(0.0, 1 - c) * beyond + c * (beyond + below))
    return min(0.0, log(best / total) + _ERROR * (len(terms) + _FEW)) if best > 0 else -inf


def _probabilities(epsilon: float, guesses: int) -> tuple[int, list[float]]:
    """The first j and Pr[Bin(guesses, s) = j] from it on, relative to the largest one, but for negligible ones."""
    odds = exp(epsilon)
    mode = min(guesses, int((guesses + 1) / (1 + 1 / odds)))
    above, term, j = [1.0], 1.0, mode
    while j < guesses and term > _NEGLIGIBLE:
        term *= (guesses - j) / (j + 1) * odds
        above.append(term)
        j += 1
    under, term, j = list[float](), 1.0, mode
    while j > 0 and term > _NEGLIGIBLE:
        term *= j / ((guesses - j + 1) * odds)
        under.append(term)
        j -= 1
    return mode - len(under), [*reversed(under), *above]


def value(canaries: int, guesses: int, right: int, delta: float, confidence: float, tests: int) -> dict[str, float]:
    log_level = log_of_level(error_probability(confidence, tests))

    def excess(epsilon: float) -> float:
        return log_p_value(epsilon, canaries, guesses, right, delta) - log_level

    if excess(0.0) > 0:
        return {"epsilon_lower": 0.0}
    start = min(max(log(max(right, 1) / max(guesses - right, 1)), 0.01), 10.0)  # any start is valid
    try:
        return {"epsilon_lower": lowered(boundary(excess, *bracket(excess, start, -1, *_RANGE)))}
    except Unreachable:
        return {"epsilon_lower": 0.0}


def exact_p_value(mp: Any, epsilon: Any, canaries: int, guesses: int, right: int, delta: float) -> Any:
    """p(ε) as printed, at the precision of a context; in ball arithmetic a ball that contains it."""
    odds = mp.exp(mp.mpf(epsilon))
    s = odds / (1 + odds)
    beyond, weight, mode = exact_tails(mp, right, guesses, s)[1], 2 * canaries * mp.mpf(delta), float(s) * guesses
    best, below = beyond, mp.mpf(0)
    if not delta or right == 0:
        return beyond
    term = mp.binomial(guesses, right - 1) * s ** (right - 1) * (1 - s) ** (guesses - right + 1)
    for i in range(1, right + 1):
        j = right - i
        below += term
        c = weight / i
        best = max(best, (1 - c) * beyond + c * (beyond + below) if c <= 1 else c * (beyond + below))
        if j < mode and (i == 1 or term * i <= below):
            break
        term *= mp.mpf(j) / (guesses - j + 1) / odds
    return min(best, mp.mpf(1))


def exact(mp: Any, canaries: int, guesses: int, right: int, delta: float, confidence: float,
          tests: int) -> dict[str, Any]:
    level = as_mpf(mp, error_probability(confidence, tests))

    def excess(epsilon: Any) -> Any:
        return exact_p_value(mp, epsilon, canaries, guesses, right, delta) - level

    near = mp.mpf(value(canaries, guesses, right, delta, confidence, tests)["epsilon_lower"])
    if near == 0 and excess(mp.mpf(0)) > 0:
        return {"epsilon_lower": mp.mpf(0)}
    width = mp.mpf("1e-7")
    return {"epsilon_lower": root(mp, excess, max(mp.mpf(0), near - width), near + width)}


def condition(mp: Any, claimed: float, canaries: int, guesses: int, right: int, delta: float, confidence: float,
              tests: int) -> Any:
    """What is at least 0 where the guesses refute every ε below the claimed one: the p-value there is within the
    level."""
    if claimed == 0:
        return mp.mpf(0)
    return as_mpf(mp, error_probability(confidence, tests)) - exact_p_value(mp, claimed, canaries, guesses, right,
                                                                           delta)


BOUND = PointBound(
    Theorem(
        name="audit-one-run",
        example="audit --canaries 1000 --guesses 200 --right 180 --delta 1e-5",
        statement="of m canaries, each put in by its own fair coin, v of r guesses are right with probability at most "
                  "p = max_i (1 − c_i)₊ P(Bin(r, s) ≥ v) + c_i P(Bin(r, s) ≥ v − i), c_i = 2mδ/i, s = e^ε/(1 + e^ε); "
                  "with confidence 1 − a, ε is at least the first one with p > a",
        in_words="This is a lower bound on the true ε, at the given δ, from a single run: m canaries are put in or "
                 "left out by fair coins, and the surest guesses about them are counted. At most a share a of all "
                 "audits (5 % by default) give a number above it. All canaries count in m, guessed or not. It is false "
                 "where the number of guesses was chosen by the output.",
        source="Steinke, Nasr & Jagielski 2023, arXiv:2305.08846; that p rises is proven in "
               "dpcalc/bounds/audits/one_run.py",
        assumptions=("each canary was put in by its own fair coin, which the auditor does not see",
                     "the number of guesses was fixed before the output was seen",
                     "the run was not chosen by its result",
                     "ε and δ are for the flip of one coin: neighbours that are add-remove or zero-out, or replace-one "
                     "if a coin chooses between two records"),
        released="what the auditor was given",
        status="lower",
    ),
    gives=("epsilon_lower",), params=("canaries", "guesses", "right", "delta", "confidence", "tests"), value=value,
    exact=exact, condition=condition, rtol=1e-9)
