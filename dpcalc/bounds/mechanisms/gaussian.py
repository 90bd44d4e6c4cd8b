"""The Gaussian mechanism: the exact privacy profile, the RDP curve, and the classic calibration."""

from math import log, sqrt
from sys import float_info
from typing import Any

from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta
from dpcalc.numerics.rounding import ratio_up, up

NOISE = ("the query changes by at most s in ℓ2 between neighbouring data sets", "noise N(0, σ²I)")
_REASON = "the classic formula holds for 0 < ε < 1 only (Dwork & Roth 2014, Theorem A.1); use gaussian-exact"


def _relative_error(log_theta: float) -> float:
    """The relative error of log θ: near θ = 1 the exponent of 1 − θ (up to 700) costs two digits."""
    return 3e-13 if log_theta > -0.5 else 4e-15


def ratio(sigma: float, sensitivity: float, steps: int) -> float:
    """r = s√T/σ, rounded up, as θ increases in r; at least the least normal double times √T."""
    return up(max(sensitivity / sigma, float_info.min) * sqrt(steps), 5e-16)


def value(epsilon: float, sigma: float, sensitivity: float, steps: int) -> float:
    log_delta = log_theta(epsilon, ratio(sigma, sensitivity, steps))
    return up(log_delta, _relative_error(log_delta))


def inverse(log_delta: float, sigma: float, sensitivity: float, steps: int) -> float:
    """The least ε with δ(ε) <= δ, at most 1e-13 above it and never below."""
    return epsilon_for(log_delta * (1 + 1.5 * _relative_error(log_delta)), ratio(sigma, sensitivity, steps))


def theta(mp: Any, epsilon: Any, r: Any) -> Any:
    """θ(ε, r) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2) as printed, at high precision."""

    def tail(x: Any) -> Any:
        return mp.erfc(x / mp.sqrt(2)) / 2

    e, r = mp.mpf(epsilon), mp.mpf(r)
    if r == 0:
        return r
    if hasattr(mp, "theta") and (enclosed := mp.theta(e, r)) is not None:  # ball arithmetic has a form of its own
        return enclosed
    # The two terms agree to about r/a relative: so many more digits are needed as cancel (0.302 of a digit a bit).
    a = abs(e / r - r / 2) + 1
    extra = int(0.302 * (2 * abs(mp.mag(r)) + 3 * mp.mag(a))) + 15
    if extra > 20_000:  # more take seconds
        raise OverflowError("a ratio too far from 1 to be evaluated as printed")
    with mp.workdps(mp.dps + extra):
        return tail(e / r - r / 2) - mp.exp(e) * tail(e / r + r / 2)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps: int) -> Any:
    return theta(mp, epsilon, mp.mpf(sensitivity) * mp.sqrt(steps) / mp.mpf(sigma))


def rdp(alpha: float, sigma: float, sensitivity: float) -> float:
    """ε(α) = αs²/(2σ²), rounded up exactly."""
    return ratio_up((alpha, sensitivity, sensitivity), (2.0, sigma, sigma))


def classic(epsilon: float, sigma: float, sensitivity: float, steps: int) -> float:
    """log δ, rounded up, with σ = (s√T/ε)√(2 log(1.25/δ)). Raises OutOfScope unless 0 < ε < 1."""
    if not 0 < epsilon < 1:
        raise OutOfScope("out-of-range", f"{epsilon:g} is not in (0, 1): {_REASON}", "--epsilon")
    x = epsilon / ratio(sigma, sensitivity, steps)
    square = x * (x / 2) * (1 - 2e-15)
    return min(log(1.25) - square + 3e-16 * (1 + square), 0.0)


def inverse_classic(log_delta: float, sigma: float, sensitivity: float, steps: int) -> float:
    """ε = (s√T/σ)√(2 log(1.25/δ)), rounded up. Raises OutOfScope where that is not below 1."""
    epsilon = up(ratio(sigma, sensitivity, steps) * sqrt(2 * (log(1.25) - log_delta)), 4e-15)
    if epsilon >= 1:
        raise OutOfScope("out-of-range", f"the formula gives ε = {epsilon:g}: {_REASON}", "--bound")
    return epsilon


def exact_classic(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps: int) -> Any:
    x = mp.mpf(epsilon) * mp.mpf(sigma) / (mp.mpf(sensitivity) * mp.sqrt(steps))
    return min(mp.mpf(5) / 4 * mp.exp(-x * x / 2), mp.mpf(1))


EXACT = ProfileBound(
    Theorem(
        name="gaussian-exact",
        example="rdp --sigma 1 --delta 1e-5",
        statement="δ(ε) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2), r = s√T/σ",
        in_words="The privacy profile of Gaussian noise on a query with a number or a vector as its answer, for all T "
                 "releases together. It is tight: where the answers of two neighbouring data sets differ by s in "
                 "every release, no smaller δ is true. It is false where neighbours may differ by more than s in ℓ2, "
                 "as without clipping.",
        source="Balle & Wang 2018, Theorem 8, arXiv:1805.06530v2; Sordello, Bu & Dong 2021, eq. 3",
        assumptions=(*NOISE, "each of the T releases may be chosen in view of the outputs before it"),
        errata=("The CS5562 lecture defines (ε, δ)-DP by Pr[loss > ε] < δ, which is sufficient, not necessary: at s = "
                "σ = 1, δ = 1e-5 it asks for ε = 4.765 where 4.377 holds. Its form for single outputs y, Pr[y|x] ≤ "
                "e^ε Pr[y|x′] + δ, is necessary, not sufficient: two uniform distributions on disjoint sets of 1/δ "
                "outputs satisfy it at ε = 0.",),
    ),
    params=("sigma", "sensitivity", "steps"), value=value, exact=exact, rtol=2e-12, inverse=inverse)

RDP = RdpBound(
    Theorem(
        name="gaussian-rdp",
        example="rdp --sigma 1 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = α s² / (2σ²)",
        in_words="The Rényi divergence of Gaussian noise on a query, at an order α; those of several releases add up. "
                 "It is exact where the answers of neighbours differ by s in ℓ2. The ε to which it is converted is "
                 "never below that of gaussian-exact: 4.73 in place of 4.38 at σ = s and δ = 1e-5.",
        source="Mironov 2017, Proposition 7, arXiv:1702.07476v3",
        assumptions=NOISE,
        errata=("Berthier 2019, §3.2.2, prints σ² = αs²/(2ε²); it must be αs²/(2ε).",),
    ),
    params=("sigma", "sensitivity"), value=rdp,
    exact=lambda mp, alpha, sigma, sensitivity: mp.mpf(alpha) * mp.mpf(sensitivity) ** 2 / (2 * mp.mpf(sigma) ** 2),
    rtol=2.3e-16)

CLASSIC = ProfileBound(
    Theorem(
        name="gaussian-classic",
        example="rdp --sigma 20 --delta 1e-5",
        statement="σ = (s√T/ε) √(2 log(1.25/δ)) gives (ε, δ)-DP for 0 < ε < 1",
        in_words="The textbook formula for the noise that makes a query (ε, δ)-DP. It is a theorem for ε below 1 only, "
                 "so dpcalc refuses it elsewhere: at δ = 1e-5 the formula first fails at ε = 8.42. For ε below 1, "
                 "gaussian-exact never needs more noise, and it holds for every ε.",
        source="Dwork & Roth 2014, Theorem A.1; Berthier 2019, Proposition 2.2",
        assumptions=(*NOISE, "0 < ε < 1"),
        errata=(
            "Berthier 2019, Prop. 2.2, omits ε < 1 and is unsound above: at δ = 1e-5 it first fails at ε = 8.42, and "
            "at ε = 16 the true δ is 33.6 times the target.",
            "The proof in the CS5562 lecture bounds the tail under the wrong measure; a correct Markov argument proves "
            "only ε ≤ 2 log 1.25 ≈ 0.446. The formula itself is right on (0, 1).",
        ),
    ),
    params=("sigma", "sensitivity", "steps"), value=classic, exact=exact_classic, rtol=1e-13, inverse=inverse_classic)

BOUNDS = (EXACT, RDP, CLASSIC)
