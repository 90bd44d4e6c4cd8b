"""The profile and the Rényi divergence of a finite mechanism, given by its output distributions p and q, as finite
sums."""

from math import exp, expm1, fsum, inf, log, log1p
from typing import Any

from dpcalc.core.bound import Directions, ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import bregman, log_ratio
from dpcalc.numerics.rounding import up

Vector = tuple[float, ...]
_ROUNDING = 6e-16  # of a logarithm of a ratio and of ε, relative: more than an ulp of each


def pure(p: Vector, q: Vector) -> float:
    """max |log p_i/q_i|. Raises OutOfScope where an outcome is possible on one side only."""
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    if any(a == 0 or b == 0 for a, b in pairs):
        raise OutOfScope("no-solution", "0 has no finite ε: an outcome is possible on one data set only; give a "
                                        "positive δ",
                         "--delta")
    return max(up(abs(log_ratio(a, b)), 1e-15) for a, b in pairs)


def value(epsilon: float, p: Vector, q: Vector) -> float:
    """log δ(ε) = log max over both directions of Σ (p_i − e^ε q_i)₊."""
    return max(sided(epsilon, side, p, q) for side in (+1, -1))


def sided(epsilon: float, side: int, p: Vector, q: Vector) -> float:
    """log E_{e^ε}(p‖q), or for side −1 log E_{e^ε}(q‖p)."""
    terms = []
    for a, b in zip(*((p, q) if side > 0 else (q, p)), strict=True):
        if a > 0 and b == 0:
            terms.append(a)
        elif a > 0:
            loss = log_ratio(a, b)
            difference = epsilon - loss - _ROUNDING * (epsilon + abs(loss))  # the two may cancel
            terms.append(-a * expm1(min(difference, 0.0)))
    return min(0.0, up(log(delta), 1e-15) + 1e-15) if (delta := fsum(terms)) > 0 else -inf


def _renyi(alpha: float, p: Vector, q: Vector) -> float:
    """D_α(p‖q): Σ q (p/q)^α = Σq + α(Σp − Σq) + Σ q g(p/q − 1) with g(u) = (1+u)^α − 1 − αu >= 0."""
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return inf
    parts = [(alpha * log_ratio(a, b), log(b)) for a, b in zip(p, q, strict=True) if a > 0]
    top = max(x + y for x, y in parts)
    if top > 1:  # a term above e: the logarithm of their sum does not cancel
        weights = [exp(x + y - top) for x, y in parts]
        error = fsum(w * (abs(x) + abs(y)) for w, (x, y) in zip(weights, parts, strict=True)) / fsum(weights)
        return (top + log(fsum(weights)) + _ROUNDING * error) / (alpha - 1)
    sums = [fsum((*q, -1.0)), alpha * fsum((*p, *(-b for b in q)))]  # 0 but for the rounding of p and q
    terms = [b * (bregman(alpha, (a - b) / b, log_ratio(a, b)) if a > 0 else alpha - 1)
             for a, b in zip(p, q, strict=True) if b > 0]
    return log1p(fsum(sums + terms)) / (alpha - 1)


def rdp(alpha: float, p: Vector, q: Vector) -> float:
    """ε(α) = max(D_α(p‖q), D_α(q‖p)). Raises OutOfScope where that is infinite."""
    worst = max(_renyi(alpha, p, q), _renyi(alpha, q, p))
    if worst == inf:
        raise OutOfScope("no-solution", "an outcome is possible on one data set only, so the RDP is infinite; ask "
                                        "with --delta",
                         "--alpha")
    return max(0.0, up(worst, 1e-13))


def exact(mp: Any, epsilon: float, p: Vector, q: Vector) -> Any:
    return max(sided_exact(mp, epsilon, side, p, q) for side in (+1, -1))


def sided_exact(mp: Any, epsilon: float, side: int, p: Vector, q: Vector) -> Any:
    e = mp.exp(mp.mpf(epsilon))
    return mp.fsum(max(mp.mpf(a) - e * mp.mpf(b), 0) for a, b in zip(*((p, q) if side > 0 else (q, p)), strict=True))


def exact_rdp(mp: Any, alpha: float, p: Vector, q: Vector) -> Any:
    a1 = mp.mpf(alpha) - 1

    def side(x: Vector, y: Vector) -> Any:
        return mp.log(mp.fsum(mp.mpf(a) ** (a1 + 1) * mp.mpf(b) ** -a1 for a, b in zip(x, y, strict=True) if a)) / a1

    return max(side(p, q), side(q, p))


_ASSUMPTIONS = ("p and q are the output distributions on two neighbouring data sets",
                "no two neighbouring data sets have a larger divergence at any ε or order")

PROFILE = ProfileBound(
    Theorem(
        name="outcomes-exact",
        example="convert --from outcomes --p 5/12,1/6,5/12 --q 1/6,2/3,1/6 --delta 0",
        statement="δ(ε) = max( Σ (p_i − e^ε q_i)₊, Σ (q_i − e^ε p_i)₊ ); pure ε = max |log(p_i/q_i)|",
        in_words="The privacy profile of two output distributions that you list, one for each of two neighbouring "
                 "data sets: exact for these two, in both directions. It is a guarantee only if no other two "
                 "neighbours have a larger δ, which dpcalc cannot check.",
        source="Dwork & Roth 2014, Definition 2.4 (the definition itself)",
        assumptions=_ASSUMPTIONS,
    ),
    params=("p", "q"), value=value, exact=exact, directions=Directions(sided, sided_exact), rtol=1e-13, pure=pure)

RDP = RdpBound(
    Theorem(
        name="outcomes-rdp",
        example="convert --from outcomes --p 5/12,1/6,5/12 --q 1/6,2/3,1/6 --alpha 4",
        statement="ε(α) = max(D_α(p‖q), D_α(q‖p))",
        in_words="The Rényi divergence of two output distributions that you list, one for each of two neighbouring "
                 "data sets: the larger one of both directions, exact for these two. It is a guarantee only if no "
                 "other two neighbours have a larger one, which dpcalc cannot check.",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition itself)",
        assumptions=_ASSUMPTIONS,
    ),
    params=("p", "q"), value=rdp, exact=exact_rdp, rtol=1e-12)

BOUNDS = (PROFILE, RDP)
