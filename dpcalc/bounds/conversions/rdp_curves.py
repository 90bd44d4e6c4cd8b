"""RDP curves: given at some orders, of a composition, and of an algorithm that draws one of several mechanisms.

Proof of rdp-curve. (α−1)D_α(P‖Q) = log ∫ p^α q^{1−α} is convex in α (Hölder), is 0 at α = 1, and D_α increases in α. So
a curve known at α_1 < … < α_k bounds (α−1)D_α by the chord between its neighbours, where (1, 0) is the first point; D_α
at the smaller orders is also at most the value at any larger one.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import exp, fsum, inf, log, log1p
from typing import Any

from dpcalc.bounds.curve import Curve
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import log_expm1, log_sum
from dpcalc.numerics.rounding import up

Parts = tuple[tuple[Curve, int], ...]


def value(alpha: float, alphas: tuple[float, ...], rdps: tuple[float, ...]) -> float:
    """ε(α) by the chord, and as given at the given orders. Raises OutOfScope above the largest of them."""
    return follow(alphas, rdps)(alpha)


def follow(alphas: tuple[float, ...], rdps: tuple[float, ...]) -> Callable[[float], float]:
    """The function α → `value`, with the orders sorted once."""
    points = sorted(zip(alphas, rdps, strict=True))
    orders = [a for a, _ in points]
    least_from = [*accumulate((r for _, r in reversed(points)), min)][::-1]  # the least ε(α) from each order on

    def epsilon_at(alpha: float) -> float:
        k = bisect_left(orders, alpha)
        if k == len(orders):
            raise OutOfScope("out-of-range", f"{alpha:g} is above the largest order of the curve, {orders[-1]:g}",
                             "--alpha")
        (a1, r1), (a0, r0) = points[k], points[k - 1] if k else (1.0, 0.0)
        if a1 == alpha:
            return r1  # the least one given at that order, as they are sorted
        t = (alpha - a0) / (a1 - a0)
        chord = ((1 - t) * (a0 - 1) * r0 + t * (a1 - 1) * r1) / (alpha - 1)
        return min(up(chord, 4e-15), least_from[k])

    return epsilon_at


def exact(mp: Any, alpha: float, alphas: tuple[float, ...], rdps: tuple[float, ...]) -> Any:
    points = sorted((mp.mpf(a), mp.mpf(r)) for a, r in zip(alphas, rdps, strict=True))
    a = mp.mpf(alpha)
    same = [r for x, r in points if x == a]
    if same:
        return min(same)
    a1, r1 = next((x, r) for x, r in points if x > a)
    a0, r0 = max(((x, r) for x, r in points if x < a), default=(mp.mpf(1), mp.mpf(0)))
    chord = ((a1 - a) * (a0 - 1) * r0 + (a - a0) * (a1 - 1) * r1) / ((a1 - a0) * (a - 1))
    return min(chord, *(r for x, r in points if x > a))


def composition(alpha: float, parts: Parts) -> float:
    """Σ_i count_i · ε_i(α)."""
    return up(sum(count * curve.rdp(alpha) for curve, count in parts), 2e-16 * (1 + len(parts)))


def coarse_composition(alpha: float, parts: Parts) -> float:
    """`composition` by the faster forms of the curves, for the search over orders."""
    return sum(count * curve.approximate_rdp(alpha) for curve, count in parts)


def exact_composition(mp: Any, alpha: float, parts: Parts) -> Any:
    return mp.fsum(count * curve.exact(mp, alpha) for curve, count in parts)


def mixture(alpha: float, rdps: Sequence[float], weights: Sequence[float]) -> float:
    """ε(α) = log(Σ_j q_j e^{(α−1)ε_j})/(α−1), at most the largest ε_j. The weights q_j are scaled to add up to 1.

    Computed as log(1 + Σ_j q_j(e^{(α−1)ε_j} − 1)), where nothing cancels. """
    terms = [log(q) + _log_expm1(alpha - 1, d) for q, d in zip(weights, rdps, strict=True) if q]
    total = log_sum(terms) - log(fsum(weights))
    raw = (log1p(exp(total)) if total < 700 else total) / (alpha - 1)
    if total < -40:  # log(1 + x) <= x, and equal in doubles; the quotient may be in their range where x is not
        raw = exp(total - log(alpha - 1))
    return min(max(up(raw, 4e-12), 5e-324 if total > -inf else 0.0), max(rdps))


def _log_expm1(a: float, d: float) -> float:
    """log(e^{ad} − 1), also where the product ad underflows; −inf at d = 0."""
    if d and (x := a * d) < 1e-6:  # log((e^x − 1)/x) = x/2 + x²/24 − …
        return log(a) + log(d) + x / 2 + x * x / 24
    return log_expm1(a * d)


def exact_mixture(mp: Any, alpha: float, rdps: Sequence[float], weights: Sequence[float]) -> Any:
    a, q = mp.mpf(alpha), [mp.mpf(w) for w in weights]
    total = mp.fsum(w * mp.expm1((a - 1) * mp.mpf(d)) for w, d in zip(q, rdps, strict=True))
    return mp.log1p(total / mp.fsum(q)) / (a - 1)


CURVE = RdpBound(
    Theorem(
        name="rdp-curve",
        example="convert --from rdp --alpha 2,4,8 --rdp 0.1,0.2,0.4 --delta 1e-5",
        statement="the given ε(α); between given orders the chord of (α−1)ε(α), which is convex",
        in_words="An RDP curve that you give at some orders, with the values between them that follow, as (α−1)ε(α) "
                 "is convex. It is as true as the curve: every order must hold for all neighbours in both directions. "
                 "Beyond the largest order nothing is known.",
        source="van Erven & Harremoës 2014, Theorem 11 and Corollary 2 (convexity), arXiv:1206.2459v2; proof in "
               "dpcalc/bounds/conversions/rdp_curves.py",
        assumptions=("the curve holds at every order it lists",),
    ),
    params=("alphas", "rdps"), value=value, exact=exact, rtol=1e-14)

COMPOSITION = RdpBound(
    Theorem(
        name="rdp-composition",
        example="rdp --mechanism laplace --scale 9 --steps 9 --json | dpcalc convert - --alpha 4",
        statement="the RDP at α of adaptively composed mechanisms is at most the sum of their RDP at α",
        in_words="The RDP of several mechanisms together, at one order: the sum of theirs, also where a mechanism is "
                 "chosen in view of earlier outputs. All of them must use the same notion of neighbours: curves for "
                 "added and for replaced records must not be added up. The sum is exact where the same two data sets "
                 "are the worst for every part.",
        source="Mironov 2017, Proposition 1, arXiv:1702.07476v3",
        assumptions=("all parts use the same notion of neighbouring data sets",),
    ),
    params=("parts",), value=composition, exact=exact_composition, coarse=coarse_composition, rtol=1e-10)

MIXTURE = RdpBound(
    Theorem(
        name="rdp-mixture",
        example="convert --from rdp --alpha 8 --rdp 0.5,0.1 --weights 1/4,3/4",
        statement="ε(α) = log(Σ_j q_j e^((α−1)ε_j)) / (α−1) for an algorithm that runs mechanism j, whose RDP at α is "
                  "ε_j, with probability q_j",
        source="Chen, Lee & Kifer 2019; Berthier 2019, Lemma 3.1",
        assumptions=("which mechanism is drawn does not depend on the data",
                     "all mechanisms use the same notion of neighbouring data sets"),
        in_words="The RDP of an algorithm that draws one of several mechanisms at random, with probabilities that do "
                 "not depend on the data, and runs it. It holds even where the output shows which mechanism was "
                 "drawn, and can then be attained. It is false where the probabilities depend on the data.",
    ),
    params=("rdps", "weights"), value=mixture, exact=exact_mixture, rtol=1e-11)

BOUNDS = (CURVE, COMPOSITION, MIXTURE)
