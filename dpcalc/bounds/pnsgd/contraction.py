"""Projected noisy SGD by the contraction of every step: in a fixed order, stopped at random, and shuffled.

A is the divergence of a step in which a record is replaced, and every later step multiplies it by at most B (step.py).
"""

from math import exp, inf, log
from typing import Any

from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT, Law
from dpcalc.bounds.pnsgd._engine.step import (
    LAPLACE_LINE,
    RUN,
    SECRET,
    SETTING,
    STEP,
    STEP_SIZE,
    average_power_exact,
    log_average_power,
    log_shrink,
    pure,
    reach_ratio,
    step,
    step_exact,
)
from dpcalc.bounds.start import START
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import ratio_up, up

RELEASED = "the iterate at the random time"
_LEAST_LOG = -1.7e308  # a positive δ whose logarithm would overflow is reported as e to this, not as 0
_FACTOR = {"laplace": 1.0, "gaussian": 2.0}  # x of the limit is this times C1 e^{ε/2}

# --- the record at one place ------------------------------------------------------------------------------------------


def _fixed(epsilon: float, n: int, index: int, **p: Any) -> float:
    """log δ = log A + (n − i) log B, rounded up."""
    s, later = step(epsilon, **p), n - index
    if later == 0 or s.log_a == -inf:
        return s.log_a
    if s.log_b == -inf:
        return -inf
    return min(0.0, max(up(s.log_a + later * s.log_b, 2e-12), _LEAST_LOG))


def _fixed_exact(mp: Any, epsilon: float, n: int, index: int, **p: Any) -> Any:
    a, b, _ = step_exact(mp, epsilon, **p)
    return a * b ** (n - index) if n > index else a


def _fixed_pure(law: Law, level: float, lipschitz: float, n: int, index: int, **p: float) -> float:
    """The least ε with δ = 0: with A = 0 or, where steps follow, B = 0."""
    own = pure(law, level, lipschitz)
    return own if n == index else min(own, reach_ratio(level, **p))


FIXED = ProfileBound(Theorem(
    name="fixed-order", example=f"{RUN} --index 500 --epsilon 1",
    statement="δ = A·B^(n−i) for the record at position i; A, B are θ(ε, 2L/σ), θ(ε, MD/(ησ)) for Gaussian noise "
              "and (1 − e^(ε/2 − L/v))₊, (1 − e^(ε/2 − MD/(2ηv)))₊ for Laplace; M = √(1 − 2ηβρ/(β+ρ))",
    in_words="One pass of noisy projected SGD in an order that may be known, of which only the last iterate is "
             "released: every step after that of the record contracts the divergence, as all iterates lie in a set of "
             "diameter D. A record is replaced. It is for convex smooth losses without clipping. The last record of "
             "the pass gains nothing. A learning rate above 2/(β+ρ) makes it false.",
    source="Sordello, Bu & Dong 2021, Theorem 1; Asoodeh, Diaz & Calmon 2020, Theorems 3 and 4, arXiv:2001.06546",
    assumptions=(*SETTING, STEP_SIZE, LAPLACE_LINE),
    errata=("Sordello et al. 2021 omit η ≤ 2/(β+ρ): with the printed M and a larger η the theorem is violated by "
            "up to 136 times.",),
), params=(*STEP, "n", "index"), value=_fixed, exact=_fixed_exact, rtol=2e-10, pure=_fixed_pure)

# --- means over the number of later steps -----------------------------------------------------------------------------


def _mean(epsilon: float, n: int, index: int = 1, **p: Any) -> float:
    """log of (1/n)Σ_{m<n−i+1} AB^m = A(1 − B^{n−i+1})/(n(1 − B)), rounded up; 1 − B is computed without cancellation.

    m is the number of steps after the record, which is uniform on 0..n−1 where the order is random.
    """
    s, count = step(epsilon, **p), n - index + 1
    if s.log_a == -inf:
        return -inf
    left = up(log(ratio_up((count,), (n,))), 4e-16)
    return min(0.0, up(s.log_a + log_average_power(s.log_b, s.log_rest, count) + left, 4e-16))


def _mean_exact(mp: Any, epsilon: float, n: int, index: int = 1, **p: Any) -> Any:
    (a, _, rest), count = step_exact(mp, epsilon, **p), n - index + 1
    return a * average_power_exact(mp, rest, count) * count / n


def _loose(epsilon: float, n: int, **p: Any) -> float:
    """log of A/(n(1 − B)), rounded up; at most 0."""
    s = step(epsilon, **p)
    return min(0.0, up(s.log_a - log(n) - s.log_rest, 2e-12) + 1e-12) if s.log_a > -inf else -inf


def _loose_exact(mp: Any, epsilon: float, n: int, **p: Any) -> Any:
    a, _, rest = step_exact(mp, epsilon, **p)
    return min(mp.mpf(1), a / (n * rest))


_STOPPED = (*SETTING, STEP_SIZE, "the stopping time is uniform on 1..n and independent of everything", LAPLACE_LINE)

STOPPED = ProfileBound(Theorem(
    name="randomly-stopped", example=f"{RUN} --index 500 --epsilon 1 --bound randomly-stopped",
    statement="stopped at a uniformly random one of n records: δ = A(1 − B^(n−i+1))/(n(1 − B)) for the record at "
              "position i",
    in_words="As fixed-order, but the pass stops after a random number of records, uniform from 1 to n, and only the "
             "iterate at that time is released: δ is the mean over the times. A record is replaced. It is for convex "
             "smooth losses without clipping. It is false where the time depends on the data, as with early stopping.",
    source="Asoodeh, Diaz & Calmon 2020, Theorem 5, arXiv:2001.06546; Sordello, Bu & Dong 2021, Section 1",
    assumptions=_STOPPED, released=RELEASED,
), params=(*STEP, "n", "index"), value=_mean, exact=_mean_exact, rtol=2e-10, pure=pure)

STOPPED_LOOSE = ProfileBound(Theorem(
    name="randomly-stopped-loose", example=f"{RUN} --epsilon 1 --bound randomly-stopped-loose",
    statement="stopped at a uniformly random one of n records: δ = A/(n(1 − B)) for every position",
    in_words="A simpler form of randomly-stopped that holds for the record at any place of the order, and is never "
             "below it: for fixed σ, D and learning rate, δ falls like 1/n, but it may be 1 at a given n. A record is "
             "replaced. It is for convex smooth losses without clipping, of which only the iterate at the random time "
             "is released. It is false where the time depends on the data.",
    source="Asoodeh, Diaz & Calmon 2020, Theorem 5, arXiv:2001.06546", assumptions=_STOPPED, released=RELEASED,
), params=(*STEP, "n"), value=_loose, exact=_loose_exact, rtol=2e-10, pure=pure)

SHUFFLED = ProfileBound(Theorem(
    name="shuffled-contraction", example=f"{RUN} --epsilon 1",
    statement="records in a uniformly random order: δ = A(1 − B^n)/(n(1 − B)), A and B as in fixed-order",
    in_words="One pass of noisy projected SGD in a uniformly random order, of which only the last iterate is released: "
             "δ is the mean over the places of the record, by the contraction of every step. A record is replaced. It "
             "is for convex smooth losses without clipping. It is loose: shuffled-hiding and shuffled-iteration are "
             "usually much smaller. A learning rate above 2/(β+ρ) makes it false.",
    source="Sordello, Bu & Dong 2021, Theorem 2", assumptions=(*SETTING, SECRET, STEP_SIZE, LAPLACE_LINE),
    errata=("Sordello et al. 2021 omit η ≤ 2/(β+ρ).",
            "Their Section 5 turns (ε, δ) into RDP by a converse that does not hold; epochs are composed by the "
            "whole profile here."),
), params=(*STEP, "n"), value=_mean, exact=_mean_exact, rtol=2e-10, pure=pure)

# --- the limit of the last one under the schedules of Sordello, Bu & Dong 2021 as n grows: no guarantee ---
# It is a limit of that bound, not of the run: under the same schedules the bounds by which a record hides among the
# others are below δ* at large n. With Laplace noise, C1 = 1e5, C2 = 2, L = 10, η = .1, D = 1 and ε = 1, δ* is 6.07e-6
# and shuffled-hiding-laplace gives 6.2e-8 at n = 1e12.


def _limit(epsilon: float, law: Law, c1: float) -> float:
    """log of δ* = (1 − e^{−x})/x, rounded up."""
    log_x = log(_FACTOR[law.name] * c1) + epsilon / 2
    return up(-log_x, 1e-15) if log_x > -LEAST_EXPONENT else min(0.0, up(log_shrink(exp(log_x)), 1e-12))


def _limit_exact(mp: Any, epsilon: float, law: Law, c1: float) -> Any:
    x = _FACTOR[law.name] * mp.mpf(c1) * mp.exp(mp.mpf(epsilon) / 2)
    return (1 - mp.exp(-x)) / x


SHUFFLED_LIMIT = ProfileBound(Theorem(
    name="shuffled-limit",
    example="shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --smoothness 0.5 --learning-rate 0.1 "
            "--diameter 1 --n 1e6 --epsilon 1 --bound shuffled-limit",
    statement="as n → ∞ the δ of shuffled-contraction under the schedule tends to δ* = (1 − e^(−x))/x, x = C1 "
              "e^(ε/2) for Laplace noise and 2C1 e^(ε/2) for Gaussian; of that bound alone: those of "
              "shuffled-hiding-laplace and shuffled-hiding are smaller at large n",
    in_words="This is no guarantee at a finite n: the limit of the δ of shuffled-contraction under the noise and "
             "learning rates of Sordello, Bu and Dong, as n grows without bound. It is not the limit of the privacy "
             "loss of the run: other bounds are below it at large n.",
    source="Sordello, Bu & Dong 2021, Theorems 3 and 4",
    assumptions=(START, "says nothing at a finite n", "rate 1/n for Laplace noise only where 2Lη/(MD) ≥ 1"),
    status="limit",
    errata=("At the parameters of Figure 2 of Sordello et al. 2021, δ is 119, 13 and 2.5 times δ* at n = 1e3, 1e4, "
            "1e5.", "Sordello et al. 2021, Theorem 3: the rate O(1/n) needs 2Lη/(MD) ≥ 1."),
), params=("law", "c1"), value=_limit, exact=_limit_exact, rtol=1e-11)

BOUNDS = (FIXED, STOPPED, STOPPED_LOOSE, SHUFFLED, SHUFFLED_LIMIT)
