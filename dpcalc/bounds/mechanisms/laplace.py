"""The Laplace mechanism: the exact privacy profile, which is composed numerically, and the RDP curve."""

from math import exp, expm1, inf, log1p, nextafter
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.numerics.elementary import expm1mx, log1mexp
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

NOISE = ("the query changes by at most s in ℓ1 between neighbouring data sets", "noise Laplace(0, v) per coordinate")


def pure(scale: float, sensitivity: float) -> float:
    """ε = s/v with δ = 0, rounded up exactly."""
    return ratio_up((sensitivity,), (scale,))


def value(epsilon: float, scale: float, sensitivity: float) -> float:
    """log δ(ε) = log(1 − e^{(ε − s/v)/2})₊, rounded up; −inf from ε = s/v on."""
    difference = epsilon - pure(scale, sensitivity)
    # Near δ = 1 log δ is −e^{difference/2}, so that the rounding of the difference decides: it goes down.
    return up(log1mexp(nextafter(difference, -inf) / 2), 4e-16) if difference < 0 else -inf


def inverse(log_delta: float, scale: float, sensitivity: float) -> float:
    """ε = (s/v + 2 log(1 − δ))₊, rounded up."""
    t = pure(scale, sensitivity)
    return min(t, max(0.0, t + 2 * log1mexp(log_delta) + 1e-15 * t))


def exact(mp: Any, epsilon: float, scale: float, sensitivity: float) -> Any:
    return max(-mp.expm1((mp.mpf(epsilon) - mp.mpf(sensitivity) / mp.mpf(scale)) / 2), mp.mpf(0))


def pair(scale: float, sensitivity: float) -> "Pair":
    from dpcalc.pld.pair import Laplace

    return Laplace(pure(scale, sensitivity))


def rdp(alpha: float, scale: float, sensitivity: float) -> float:
    """ε(α) = log{ α/(2α−1)·e^{(α−1)t} + (α−1)/(2α−1)·e^{−αt} }/(α−1), t = s/v."""
    t = sensitivity / scale
    a1, w = alpha - 1, 2 * alpha - 1
    if alpha * t < 1:
        # The terms linear in t cancel exactly; what is left is a sum of positive terms.
        raw = log1p((alpha * expm1mx(a1 * t) + a1 * expm1mx(-alpha * t)) / w) / a1
    elif a1 * t < 1:
        # α near 1, t large: the linear term is carried by expm1.
        raw = log1p((alpha * expm1(a1 * t) + a1 * expm1(-alpha * t)) / w) / a1
    else:
        # e^{(α−1)t} taken out of the log, so that it cannot overflow.
        raw = t + log1p(a1 * (exp(-w * t) - 1) / w) / a1
    # t² may underflow, but the divergence is positive
    return max(min(up(raw, 4e-15), up(t, 2e-16)), 5e-324 if sensitivity > 0 else 0.0)


def exact_rdp(mp: Any, alpha: float, scale: float, sensitivity: float) -> Any:
    a, t = mp.mpf(alpha), mp.mpf(sensitivity) / mp.mpf(scale)
    w = 2 * a - 1
    return mp.log(a / w * mp.exp((a - 1) * t) + (a - 1) / w * mp.exp(-a * t)) / (a - 1)


EXACT = ProfileBound(
    Theorem(
        name="laplace-exact",
        example="rdp --mechanism laplace --scale 2 --epsilon 0.1",
        statement="δ(ε) = max(0, 1 − e^((ε − s/v)/2)); pure ε = s/v",
        in_words="The privacy profile of one release with Laplace noise: pure DP with ε = s/v, and at a smaller ε the "
                 "δ that is needed. It is tight: where the answers of two neighbouring data sets differ by s in one "
                 "coordinate, no smaller δ is true. For vectors, s must bound the change in ℓ1; with the change in ℓ2 "
                 "it is false.",
        source="Sordello, Bu & Dong 2021, eq. 5; Berthier 2019, Proposition 2.1 (pure)",
        assumptions=(*NOISE, "one release"),
    ),
    params=("scale", "sensitivity"), value=value, exact=exact, rtol=1e-14, pure=pure, inverse=inverse)

PROFILE = ProfileBound(
    Theorem(
        name="laplace-profile",
        example="rdp --mechanism laplace --scale 20 --steps 100 --delta 1e-5",
        statement="the profile max(0, 1 − e^((ε − s/v)/2)) of each release, composed numerically through its "
                  "dominating pair",
        in_words="Several releases with Laplace noise, which may be chosen in view of earlier outputs: the exact "
                 "profile of one is composed numerically, with every error on the safe side. It is tight up to that "
                 "error where the answers of neighbours differ by s in one coordinate of every release. For vectors, "
                 "s must bound the change in ℓ1.",
        source="Sordello, Bu & Dong 2021, eq. 5; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=NOISE,
    ),
    params=("scale", "sensitivity"), value=value, exact=exact, rtol=1e-14, pair=pair)

RDP = RdpBound(
    Theorem(
        name="laplace-rdp",
        example="rdp --mechanism laplace --scale 2 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = log( α/(2α−1)·e^((α−1)t) + (α−1)/(2α−1)·e^(−αt) ) / (α−1), t = s/v",
        in_words="The Rényi divergence of Laplace noise on a query, at an order α; those of several releases add up. "
                 "It is exact where the answers of neighbours differ by s in one coordinate; for vectors, s must "
                 "bound the change in ℓ1. The ε to which it is converted is usually above that of laplace-profile.",
        source="Mironov 2017, Proposition 6, arXiv:1702.07476v3",
        assumptions=NOISE,
    ),
    params=("scale", "sensitivity"), value=rdp, exact=exact_rdp, rtol=1e-14)

BOUNDS = (EXACT, PROFILE, RDP)
