"""Amplification by sampling: the (ε, δ)-DP of a mechanism that runs on a random sample."""

from math import expm1, log, log1p
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import ratio_up, up


def value(step_epsilon: float, step_delta: float, sampling_rate: float) -> dict[str, float]:
    if step_epsilon < 600:
        epsilon = up(log1p(sampling_rate * expm1(step_epsilon)), 4e-16 * (4 + step_epsilon))
    else:  # e^ε overflows; log(1 + qe^ε) is above log(1 + q(e^ε − 1)), by less than an ulp
        epsilon = log_add(0.0, step_epsilon + log(sampling_rate) + 4e-16 * step_epsilon) + 1e-15
    return {"epsilon": min(max(epsilon, 5e-324), step_epsilon), "delta": ratio_up((sampling_rate, step_delta))}


def exact(mp: Any, step_epsilon: float, step_delta: float, sampling_rate: float) -> Any:
    q = mp.mpf(sampling_rate)
    return {"epsilon": mp.log(1 + q * mp.expm1(mp.mpf(step_epsilon))), "delta": q * mp.mpf(step_delta)}


BOUND = PointBound(
    Theorem(
        name="amplification",
        example="subsample --sampling-rate 0.01 --epsilon 1 --delta 1e-6",
        statement="an (ε, δ)-DP mechanism on a sample at rate q is (log(1 + q(e^ε − 1)), qδ)-DP",
        in_words="What a mechanism with a known (ε, δ) guarantees on a random sample at rate q: at small ε both "
                 "numbers are about q times as large. It holds for Poisson samples where records are added or "
                 "removed, and for samples without replacement where one is replaced. For several steps compose "
                 "profiles instead. It is false for shuffled batches.",
        source="Balle, Barthe & Gaboardi 2018, Theorems 8 and 9, arXiv:1807.01647v2",
        assumptions=("Poisson sampling with add/remove neighbours, or without replacement with replace-one neighbours; "
                     "the given (ε, δ) holds for the same neighbours",),
        errata=("The CS5562 lecture's (qε, δ) is smaller than the truth: 1.70 times at q = .01, ε = 1, 18 times at ε = "
                "5.",
                ),
    ),
    gives=("epsilon", "delta"), params=("step_epsilon", "step_delta", "sampling_rate"), value=value, exact=exact,
    rtol=3e-12)
