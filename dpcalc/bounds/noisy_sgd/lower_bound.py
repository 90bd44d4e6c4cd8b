"""What every analysis must report at least: the computed loss of concrete one-dimensional runs.

Instances. One record's gradient is −L on one data set and +L on the other. (a) The others are flat; the walk starts in the middle of
[−D′/2, D′/2]. (b) The others push left as hard as they may, the walk starts at the left wall, or where they bring it to the middle
by step T: the record, rarely used, shows against small noise. With ρ > 0 every loss has the curvature ρ, and slopes are what L
leaves, L − ρD′/2. All losses are convex, L-Lipschitz and β-smooth on the interval, whose length D′ <= D is chosen so that the walk
stays cheap: a theorem for diameter D holds for D′ too.

Rounding. The law of the walk (walk.py) is computed on two grids. Reported is the smaller result, less twenty times their difference,
less 1e-9; events are thresholds of w only. All of this can only lower the number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bound import Bound
from dpcalc.bounds.noisy_sgd import contraction
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.bounds.noisy_sgd.walk import MIXED, Law, Walk, law
from dpcalc.errors import OutOfScope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_NODES = (12, 16)  # per panel
_WIDTH, _WIDEST, _PUSHED = 60.0, 200.0, 60.0  # widths D′ in units of the noise: any T; walks that have mixed; instance (b)
_MARGIN = 1e-9
_ROUNDING = 1e-12  # of the total mass


def instances(n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float, learning_rate: float,
              diameter: float, sigma: float) -> tuple[tuple[Walk, Walk], ...]:
    """Pairs of walks on neighbouring data sets."""
    contraction.gap(learning_rate, smoothness, strong_convexity)  # its conditions
    unit, q = learning_rate * sigma, batch_size / n
    width = min(diameter / unit, max(_WIDTH, min(_WIDEST, sqrt(iterations / MIXED))))
    if strong_convexity:
        width = min(width, lipschitz / strong_convexity / unit)
    slope = lipschitz - strong_convexity * width * unit / 2
    push = min(slope / batch_size / sigma, 1e6)
    pull = 1 - learning_rate * strong_convexity
    right = Walk(width / 2, pull, 0.0, push, q, 0.0)
    drift = min(slope / sigma, 1e6)
    push = drift / batch_size  # of the same slope
    half = min(width, _PUSHED, max(2 * push + 14, 30 / drift)) / 2
    starts = {-half, min(half, iterations * drift)}
    pushed = (Walk(half, pull, -drift, -drift + 2 * push, q, start) for start in sorted(starts))
    return (right, right.mirror), *((walk, walk._replace(kick=-drift)) for walk in pushed)


@lru_cache(maxsize=64)
def _laws(pair: tuple[Walk, Walk], iterations: int, nodes: int) -> tuple[Law, Law]:
    first = law(pair[0], iterations, nodes)
    if pair[1] == pair[0].mirror:
        return first, first.mirror
    return first, law(pair[1], iterations, nodes)


def _least(params: dict[str, Any], measure: Callable[[Law, Law], float]) -> float:
    """The best instance's result on two grids, lowered by what they leave open."""
    best = 0.0
    for pair in instances(**params):
        rough, fine = (measure(*_laws(pair, params["iterations"], nodes)) for nodes in _NODES)
        if inf > max(rough, fine) > -inf:
            best = max(best, min(rough, fine) - 20 * abs(rough - fine) - _MARGIN * abs(fine))
    return best


def rdp(alpha: float, **params: Any) -> float:
    """At most D_α of the two laws."""
    import numpy as np

    def measure(p: Law, q: Law) -> float:
        seen = (p.log_density > -inf) & (q.log_density > -inf)
        top, second = p.log_density[seen], q.log_density[seen]
        if q.blur:
            second = np.logaddexp(second, log(q.blur))
        terms = alpha * top + (1 - alpha) * second + p.log_weight[seen]
        peak = float(terms.max())
        error = alpha * (_ROUNDING + float(p.slack[-1]))
        return (peak + log(float(np.exp(terms - peak).sum())) - error) / (alpha - 1)

    return _least(params, measure)


def inverse(log_delta: float, **params: Any) -> float:
    """An ε below which no (ε, δ) guarantee holds: the largest log((P(A) − δ)/Q(A)) over thresholds A."""
    delta = exp(log_delta)

    def measure(p: Law, q: Law) -> float:
        import numpy as np

        left, against = _events(p, q)
        left = left - delta
        seen = (left > 0) & (against > 0)
        return float(np.log(left[seen] / against[seen]).max()) if seen.any() else 0.0

    return _least(params, measure)


def _events(p: Law, q: Law) -> tuple[Array, Array]:
    """P(A) from below and Q(A) from above, over the thresholds."""
    return p.above * (1 - _MARGIN) - p.slack, q.above * (1 + _MARGIN) + q.slack


def value(epsilon: float, **params: Any) -> float:
    """log of a δ below which no (ε, δ) guarantee holds: the largest P(A) − e^ε Q(A) over thresholds A."""

    def measure(p: Law, q: Law) -> float:
        left, against = _events(p, q)
        return float((left - exp(min(epsilon, 700.0)) * against).max())

    delta = _least(params, measure)
    return log(delta) if delta > 0 else -inf


def exact(mp: Any, epsilon: float, **params: Any) -> Any:
    """One step only: δ(ε) of the best instance, from the closed form of its law."""
    if params["iterations"] != 1:
        raise OutOfScope("out-of-range", "the law has a closed form after one step only", "--digits")
    return max(_exact_delta(mp, mp.mpf(epsilon), *pair) for pair in instances(**params))


def _exact_delta(mp: Any, epsilon: Any, p: Walk, q: Walk) -> Any:
    """P(w >= t) − e^ε Q(w >= t) at the t in the interval where the densities' ratio is e^ε (it rises with t)."""

    def density(walk: Walk, x: Any) -> Any:
        base, rate = walk.pull * mp.mpf(walk.start), mp.mpf(walk.rate)
        return (1 - rate) * mp.npdf(x - base - walk.drift) + rate * mp.npdf(x - base - walk.kick)

    def above(walk: Walk, x: Any) -> Any:
        base, rate = walk.pull * mp.mpf(walk.start), mp.mpf(walk.rate)
        return ((1 - rate) * mp.erfc((x - base - walk.drift) / mp.sqrt(2)) + rate * mp.erfc((x - base - walk.kick) / mp.sqrt(2))) / 2

    low, high = -mp.mpf(p.half), mp.mpf(p.half)
    for _ in range(mp.prec):
        t = (low + high) / 2
        low, high = (low, t) if density(p, t) > mp.exp(epsilon) * density(q, t) else (t, high)
    return max(mp.mpf(0), *(above(p, t) - mp.exp(epsilon) * above(q, t) for t in (low, -mp.mpf(p.half), mp.mpf(p.half))))


BOUND = Bound(
    name="lower-bound",
    kind="profile",
    statement="the computed loss of one-dimensional linear (ρ > 0: quadratic) instances, a walk clamped to an interval of length at most D",
    source="after the construction of Altschuler & Talwar 2022, Theorem 4.1, arXiv:2205.13710; computed",
    assumptions=("an instance, not a guarantee: no theorem for this class of losses can promise less",),
    params=SHARED,
    value=value,
    exact=exact,
    rtol=1e-9,
    status="lower",
    inverse=inverse,
    rdp=rdp,
)
