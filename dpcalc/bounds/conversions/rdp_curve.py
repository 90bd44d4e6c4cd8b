"""An RDP curve given at some orders, at every order between them.

Proof. (α−1)D_α(P‖Q) = log ∫ p^α q^{1−α} is convex in α (Hölder), is 0 at α = 1, and D_α increases in α. So a curve
known at α_1 < … < α_k bounds (α−1)D_α by the chord between its neighbours, where (1, 0) is the first point; D_α at
the smaller orders is also at most the value at any larger one.
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up


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


BOUND = RdpBound(
    Theorem(
        name="rdp-curve",
        example="convert --from rdp --alpha 2,4,8 --rdp 0.1,0.2,0.4 --delta 1e-5",
        statement="the given ε(α); between given orders the chord of (α−1)ε(α), which is convex",
        source="van Erven & Harremoës 2014, Theorem 11 and Corollary 2 (convexity), arXiv:1206.2459v2; proof in "
               "dpcalc/bounds/conversions/rdp_curve.py",
        assumptions=("the curve holds at every order it lists",),
    ),
    params=("alphas", "rdps"),
    value=value,
    exact=exact,
    rtol=1e-14,
)
