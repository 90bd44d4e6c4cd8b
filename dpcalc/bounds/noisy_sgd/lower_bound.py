"""A lower bound on what any analysis of noisy SGD can report: the privacy loss of concrete one-dimensional runs.

Instances. One record's gradient is −L on one data set and +L on the other. (a) The others are flat; the walk starts in
the middle of [−D′/2, D′/2]. (b) The others push left as hard as they may, the walk starts at the left wall, or where
they bring it to the middle by step T: this shows a record that is rarely used, against small noise. With ρ > 0 every
loss has the curvature ρ, and slopes are what L leaves, L − ρD′/2. All losses are convex, L-Lipschitz and β-smooth on
the interval, whose length D′ <= D is chosen so that the walk is cheap to compute: a theorem for diameter D holds for D′
too. Slopes and lengths are shorter than they may be by a factor 1 − 10^−12, so that rounding does not lead out of the
class of losses.

Proof that the numbers are at most the true losses. walk.py bounds, for cells of the interval, Q(cell) from above and
P(cell) − Q(cell) towards 0, and for thresholds A Q(A) from above and P(A) − Q(A) from below. With d = P − Q
    ε(δ) >= log1p((d(A) − δ)/Q(A)),    δ(ε) >= d(A) − (e^ε − 1)·Q(A),
    e^{(α−1)D_α} >= 1 + Σ_cells Q·g(d/Q),  g(r) = (1 + r)^α − 1 − αr >= 0,
the last by data processing and Σd = 0. All three fall in Q, and rise in d or |d|: Q·g(d/Q) because g is convex and g(0)
= g′(0) = 0. One step has closed forms, in logarithms (one_step.py). ∎ """

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.noisy_sgd._engine import contraction, one_step
from dpcalc.bounds.noisy_sgd._engine.walk import WIDE, law
from dpcalc.bounds.noisy_sgd._engine.walk_step import Pair
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# Widths D′ in units of the noise of a step. The time grows with the third power of the width.
_NARROW = 80.0  # of walks that are computed step by step; half gives lower bounds that are up to 50 % smaller
_WIDEST = 200.0  # of walks that are solved for their stationary law; half gives lower bounds up to 50 % smaller
_LARGEST_PUSH = 36.0  # in units of the noise: beyond, densities leave the range of doubles
_INSIDE = 1 - 1e-12  # factor that keeps an instance in the class of losses in spite of rounding
_ROUNDING = 1e-11  # relative margin for the arithmetic of a divergence from the bounds on the laws


@lru_cache(maxsize=64)
def instances(n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
              learning_rate: float, diameter: float, sigma: float) -> tuple[Pair, ...]:
    """The pairs of walks on neighbouring data sets whose losses are computed, in units of the noise ησ of a step.

    Every width D′ <= D is valid. A wide interval shows more of the loss of a run that is long enough to be stationary
    in it. """
    contraction.gap(learning_rate, smoothness, strong_convexity)  # raises OutOfScope where the theorems do not hold
    unit, q = learning_rate * sigma, batch_size / n
    largest_push = _LARGEST_PUSH if iterations > 1 else 1e6  # the densities of one step are computed in logarithms
    pull = 1 - learning_rate * strong_convexity
    width_limit = min(diameter, lipschitz / strong_convexity if strong_convexity else inf) / unit * _INSIDE

    def slope(width: float) -> float:
        """What L leaves for the slope in the middle of an interval, in units of σ."""
        return (lipschitz - strong_convexity * width * unit / 2) / sigma * _INSIDE

    def centred(width: float) -> Pair:
        """Instance (a)."""
        push = min(slope(width) / batch_size, largest_push)
        return Pair(width / 2, pull, 0.0, push, -push, q, 0.0)

    narrow = min(width_limit, _NARROW)
    # A run is nearly stationary from 32·width² steps on; a walk that contracts spreads over 12 standard deviations.
    spread = 12 / sqrt(1 - pull * pull) if abs(pull) < 1 else inf
    wide = min(width_limit, _WIDEST, sqrt(iterations / 32), spread)
    right = [centred(wide), centred(narrow)] if wide > 2 * WIDE else [centred(narrow)]
    drift = min(slope(narrow), largest_push)
    push = drift / batch_size
    half = min(narrow, max(2 * push + 14, 30 / drift)) / 2
    starts = {-half, min(half, iterations * drift)}
    return (*right, *(Pair(half, pull, -drift, -drift + 2 * push, -drift, q, start) for start in sorted(starts)))


def rdp(alpha: float, **params: Any) -> float:
    """An ε below which no (α, ε) guarantee holds: the largest D_α of the instances, from below."""
    return max(divergence(alpha, pair, params["iterations"]) for pair in instances(**params))


def divergence(alpha: float, pair: Pair, steps: int) -> float:
    """A lower bound on D_α of the two laws of one run."""
    import numpy as np

    if steps == 1:
        log_q, log_d, signs = one_step.cells(pair)
    else:
        bounds = law(pair, steps)
        with np.errstate(divide="ignore"):
            log_q, log_d, signs = np.log(bounds.mass), np.log(np.abs(bounds.gain)), np.sign(bounds.gain)
    differing = log_d > -inf
    if not differing.any():
        return 0.0
    log_q, log_d, signs = log_q[differing], log_d[differing], signs[differing]
    logs = log_q + one_step.log_g(alpha, np.where(signs < 0, np.minimum(log_d - log_q, 0.0), log_d - log_q), signs)
    peak = float(logs.max())
    if peak == -inf:
        return 0.0
    total = peak + log(float(np.exp(logs - peak).sum()))
    return (log1p(exp(total)) if total < 40 else total) / (alpha - 1) * (1 - _ROUNDING * (1 + abs(min(total, 0.0))))


def inverse(log_delta: float, **params: Any) -> float:
    """An ε below which no (ε, δ) guarantee holds."""
    return max(_epsilon(log_delta, pair, params["iterations"]) for pair in instances(**params))


def _epsilon(log_delta: float, pair: Pair, steps: int) -> float:
    import numpy as np

    if steps == 1:
        return one_step.epsilon(pair, log_delta)
    bounds = law(pair, steps)
    ratio = float(((bounds.lead * _INSIDE - exp(log_delta) * (1 + 1e-12)) / bounds.above).max())
    return max(0.0, log1p(ratio) * (1 - _ROUNDING)) if ratio > 0 and np.isfinite(ratio) else 0.0


def value(epsilon: float, **params: Any) -> float:
    """log of a δ below which no (ε, δ) guarantee holds."""
    return min(0.0, max(_log_delta(epsilon, pair, params["iterations"]) for pair in instances(**params)))


def _log_delta(epsilon: float, pair: Pair, steps: int) -> float:
    if steps == 1:
        return one_step.log_delta(pair, epsilon)
    bounds = law(pair, steps)
    delta = float((bounds.lead * _INSIDE - expm1(min(epsilon, 700.0)) * (1 + 1e-12) * bounds.above).max())
    return log(delta) if delta > 0 else -inf


def exact(mp: Any, epsilon: float, **params: Any) -> Any:
    """δ(ε) of the best instance at high precision, from the closed form of its laws after one step; no more steps."""
    if params["iterations"] != 1:
        raise OutOfScope("out-of-range", "not used by lower-bound for several steps, which has no closed form; drop "
                                         "it", "--digits")
    return max(_exact_delta(mp, mp.mpf(epsilon), pair) for pair in instances(**params))


def _exact_delta(mp: Any, epsilon: Any, pair: Pair) -> Any:
    """P(w >= t) − e^ε Q(w >= t) at the t in the interval where the ratio of the densities, which rises, is e^ε."""
    base, rate = pair.pull * mp.mpf(pair.start), mp.mpf(pair.rate)

    def density(push: float, x: Any) -> Any:
        return (1 - rate) * mp.npdf(x - base - pair.drift) + rate * mp.npdf(x - base - push)

    def above(push: float, x: Any) -> Any:
        return ((1 - rate) * mp.erfc((x - base - pair.drift) / mp.sqrt(2))
                + rate * mp.erfc((x - base - push) / mp.sqrt(2))) / 2

    low, high = -mp.mpf(pair.half), mp.mpf(pair.half)
    for _ in range(mp.prec):
        t = (low + high) / 2
        low, high = (low, t) if density(pair.up, t) > mp.exp(epsilon) * density(pair.down, t) else (t, high)
    walls = (-mp.mpf(pair.half), mp.mpf(pair.half))
    return max(mp.mpf(0), *(above(pair.up, t) - mp.exp(epsilon) * above(pair.down, t) for t in (low, *walls)))


BOUND = ProfileBound(
    Theorem(
        name="lower-bound",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --epsilon 1",
        statement="at most the loss of one-dimensional linear (ρ > 0: quadratic) instances, a walk clamped to an "
                  "interval of length at most D",
        source="after the construction of Altschuler & Talwar 2022, Theorem 4.1, arXiv:2205.13710; computed, with a "
               "proof in its file",
        assumptions=("an instance, not a guarantee: no theorem for this class of losses can promise less",),
        status="lower",
    ),
    params=SHARED,
    value=value,
    exact=exact,
    rtol=1e-9,
    inverse=inverse,
    rdp=rdp,
)
