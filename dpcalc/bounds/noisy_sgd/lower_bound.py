"""A lower bound on what any analysis of noisy SGD can report: the privacy loss of concrete one-dimensional runs.

Instances. One record's gradient is −L on one data set and +L on the other; the other losses have one slope and push
left. All losses are convex, L-Lipschitz and β-smooth on an interval whose length D′ <= D is chosen so that the walk is
cheap to compute: a theorem for diameter D holds for D′ too. With ρ > 0 every loss has the curvature ρ, and slopes are
what L leaves, L − ρD′/2. Slopes and lengths are shorter than they may be by a factor 1 − 10^−12, so that rounding does
not lead out of the class of losses.
(a) Moderate slopes hold the walk at the left wall, from where it strays to the right wall about as often as δ says:
between the walls the laws of P and Q differ by a factor that grows with the distance, and with flat others half of the
distance is lost. A long run starts from the law of Q at rest, and the slope is the best of a few. A shorter run starts
in the middle or at the right wall, from where the slope brings it to the left wall by the last step: this can show more
than rest. (b) Flat others, where the question is about all of the law: ε = 0, and RDP of a small order. (c) Others that
push as hard as they may, from the left wall or from where they bring the walk to the middle by step T: this shows a
record that is rarely used, against small noise.

Proof that the numbers are at most the true losses. walk.py bounds, for cells of the interval, Q(cell) from above and
P(cell) − Q(cell) towards 0, and for thresholds A Q(A) from above and P(A) − Q(A) from below. With d = P − Q
    ε(δ) >= log1p((d(A) − δ)/Q(A)),    δ(ε) >= d(A) − (e^ε − 1)·Q(A),
    e^{(α−1)D_α} >= 1 + Σ_cells Q·g(d/Q),  g(r) = (1 + r)^α − 1 − αr >= 0,
the last by data processing and Σd = 0. All three fall in Q, and rise in d or |d|: Q·g(d/Q) because g is convex and g(0)
= g′(0) = 0. One step has closed forms, in logarithms (one_step.py). ∎ """

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from math import exp, expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.noisy_sgd._engine import contraction, one_step
from dpcalc.bounds.noisy_sgd._engine.one_step import LEAST_PULL, Pair
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.core.bound import Choices, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.bounds.noisy_sgd._engine.walk_step import Law
    from dpcalc.numerics.arrays import Array

_AT_WALL = 0.58  # mean excess of a Gaussian walk over a level, in units of the noise
_INSIDE = 1 - 1e-12  # factor that keeps an instance in the class of losses in spite of rounding
_ROUNDING = 1e-11  # relative margin for the arithmetic of a divergence from the bounds on the laws


class _Losses(NamedTuple):
    """What the class of losses allows, in units of the noise ησ of a step."""

    batch_size: int
    rate: float  # b/n
    steps: int
    pull: float  # 1 − ηρ
    lipschitz: float  # L/σ
    curvature: float  # by how much less of a slope L leaves in the middle of an interval of length 2

    def slope(self, width: float) -> float:
        """What L leaves for the slope in the middle of an interval."""
        return (self.lipschitz - self.curvature * width / 2) * _INSIDE

    def walk(self, width: float, drift: float, start: float = 0.0, at_rest: bool = False) -> Pair:
        """A walk among others with a drift to the left of this size, or of what L leaves."""
        # Beyond, densities leave the range of doubles; those of one step are computed in logarithms.
        largest = min(self.slope(width), 36.0 if self.steps > 1 else 1e6)
        # The mean of a step has a rounding error that is b times as large in the slope of the record.
        push = min(self.slope(width) / self.batch_size, largest) * max(0.0, 1 - 1e-15 * self.batch_size)
        drift = -min(drift, largest)
        others = drift - drift / self.batch_size
        return Pair(width / 2, self.pull, drift, others + push, others - push, self.rate, start, at_rest)

    def steepest(self, width: float) -> float:
        """The drift by which a law at rest falls by e^24 from wall to wall, or has its mode at the left wall."""
        return 12 / (width + 2 * _AT_WALL) + (1 - self.pull) * width / 2

    def is_at_rest(self, width: float) -> bool:
        """Whether the run is long enough for the cells of a walk from rest."""
        return self.steps >= 4 * (width + 1) ** 2 and self.pull >= LEAST_PULL


@lru_cache(maxsize=64)
def instances(n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
              learning_rate: float, diameter: float, sigma: float) -> tuple[tuple[Pair, ...], ...]:
    """The pairs of walks on neighbouring data sets, in units of the noise ησ of a step, in groups of which one walk is
    computed.

    Every width D′ <= D is valid. A wide interval shows more of the loss of a run that is long enough to cross it. """
    contraction.gap(learning_rate, smoothness, strong_convexity)  # raises OutOfScope where the theorems do not hold
    pull = 1 - learning_rate * strong_convexity
    losses = _Losses(batch_size, batch_size / n, iterations, pull, lipschitz / sigma, strong_convexity * learning_rate)
    widest = min(diameter, lipschitz / strong_convexity if strong_convexity else inf) / learning_rate / sigma * _INSIDE
    # The time of walks step by step grows with the third power of the width; half of it gives lower bounds that are up
    # to 50 % smaller.
    narrow = min(widest, 80.0)
    hard = -losses.walk(narrow, inf).drift
    short = min(narrow, max(2 * hard / batch_size + 14, 30 / hard))
    if losses.is_at_rest(short):
        found = [losses.walk(short, inf, at_rest=True)]
    else:  # at the left wall after T steps, or brought to the middle by then
        found = [losses.walk(short, inf, -short / 2), losses.walk(short, inf, min(short / 2, iterations * hard))]
    found.append(losses.walk(narrow, 0.0, at_rest=losses.is_at_rest(narrow)))
    if iterations < (narrow + 1) ** 2:  # from the middle, or brought from wall to wall by step T and held there
        drifts = {min(narrow / iterations + more / narrow, losses.steepest(narrow)) for more in (2.0, 5.0)}
        found += [losses.walk(narrow, drift, start) for drift in sorted(drifts) for start in (0.0, narrow / 2)]
    groups: list[tuple[Pair, ...]] = [(w,) for w in found]
    if iterations > 1 and pull >= LEAST_PULL:
        # A walk from rest takes 0.2 s at a width of 400; one that contracts spreads over 12 standard deviations. It
        # should have steps for a third of D′², which suffices for the probability of an event, or for 4 D′² for those
        # of cells, whose differences are smaller.
        wide = min(widest, 400.0, 12 / sqrt(1 - pull * pull) if pull < 1 else inf)
        for width in sorted({min(wide, sqrt(iterations / crossings)) for crossings in (1 / 3, 4.0)}):
            # Where losses are curved, a narrow interval leaves more for slopes.
            groups.append(tuple(losses.walk(part * width, k / 12 * losses.steepest(part * width), at_rest=True)
                                for part in (1.0, 0.7, 0.5) for k in range(13)))
    return tuple(groups)


def laws(score: Callable[[Law], float], **params: Any) -> Iterator[tuple[Pair, Law]]:
    """Bounds on the laws of one walk of each group after T >= 2 steps: of walks at rest, of that whose score is largest
    by an approximation of its laws. Any choice proves a bound."""
    from dpcalc.bounds.noisy_sgd._engine.walk import law

    for group in instances(**params):
        pair = group[0] if len(group) == 1 else max(group, key=lambda pair: score(_sketch(pair)))
        yield pair, law(pair, params["iterations"])


def _sketch(pair: Pair) -> Law:
    """The laws at rest, nearly: the walls hold as much as a part of _AT_WALL of the density beside them."""
    import numpy as np

    from dpcalc.bounds.noisy_sgd._engine import walk_rest
    from dpcalc.bounds.noisy_sgd._engine.walk_step import Law, places

    x = places(pair) * (1 + _AT_WALL / pair.half)
    p, q = (np.exp(walk_rest.log_density(pair, x, up)) for up in (True, False))
    p, q = p / p.sum(), q / q.sum()
    above_p, above_q = (np.cumsum(m[::-1])[::-1] for m in (p, q))
    return Law(q, p - q, above_q, np.maximum(above_p - above_q, 0.0))


def rdp(alpha: float, **params: Any) -> float:
    """An ε below which no (α, ε) guarantee holds: the largest D_α of the instances, from below."""
    if params["iterations"] == 1:
        return max(_divergence(alpha, *one_step.cells(pair)) for (pair,) in instances(**params))
    return max(divergence(alpha, bounds) for _, bounds in laws(partial(divergence, alpha), **params))


def divergence(alpha: float, bounds: Law) -> float:
    """A lower bound on D_α of the two laws of a run of several steps."""
    import numpy as np

    with np.errstate(divide="ignore"):
        return _divergence(alpha, np.log(bounds.mass), np.log(np.abs(bounds.gain)), np.sign(bounds.gain))


def _divergence(alpha: float, log_q: Array, log_d: Array, signs: Array) -> float:
    """A lower bound on D_α from log Q(cell), log|P(cell) − Q(cell)| and the signs of the differences."""
    import numpy as np

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
    if params["iterations"] == 1:
        return max(one_step.epsilon(pair, log_delta) for (pair,) in instances(**params))
    return max(epsilon_at(log_delta, bounds) for _, bounds in laws(partial(epsilon_at, log_delta), **params))


def epsilon_at(log_delta: float, bounds: Law) -> float:
    import numpy as np

    ratio = float(((bounds.lead * _INSIDE - exp(log_delta) * (1 + 1e-12)) / bounds.above).max())
    return max(0.0, log1p(ratio) * (1 - _ROUNDING)) if ratio > 0 and np.isfinite(ratio) else 0.0


def value(epsilon: float, **params: Any) -> float:
    """log of a δ below which no (ε, δ) guarantee holds."""
    if params["iterations"] == 1:
        return min(0.0, max(one_step.log_delta(pair, epsilon) for (pair,) in instances(**params)))
    largest = max(delta_at(epsilon, bounds) for _, bounds in laws(partial(delta_at, epsilon), **params))
    return min(0.0, log(largest)) if largest > 0 else -inf


def delta_at(epsilon: float, bounds: Law) -> float:
    """A lower bound on δ at ε of a run of several steps; negative where there is none."""
    return float((bounds.lead * _INSIDE - expm1(min(epsilon, 700.0)) * (1 + 1e-12) * bounds.above).max())


def choices(epsilon: float, log_delta: float, **params: Any) -> dict[str, Any]:
    """The walk that proves a number after several steps, by its place in `instances`."""
    if params["iterations"] == 1:
        return {}
    found = [*laws(partial(epsilon_at, log_delta), **params), *laws(partial(delta_at, epsilon), **params)]
    best, _ = max(found, key=lambda walk: delta_at(epsilon, walk[1]))
    return {"way": 1 + walks(**params).index(best)}


def walks(**params: Any) -> list[Pair]:
    """The walks of all groups."""
    return [pair for group in instances(**params) for pair in group]


def exact(mp: Any, epsilon: float, way: int | None = None, **params: Any) -> Any:
    """δ(ε) of the best instance at high precision, from the closed form of its laws after one step; no more steps."""
    if params["iterations"] != 1:
        raise OutOfScope("out-of-range", "not used by lower-bound for several steps, which has no closed form; drop "
                                         "it", "--digits")
    return max((_exact_delta(mp, mp.mpf(epsilon), pair) for (pair,) in instances(**params)), key=float)


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
        is_above = float(density(pair.up, t) / density(pair.down, t) - mp.exp(epsilon)) > 0  # any t proves a bound
        low, high = (low, t) if is_above else (t, high)
    walls = (-mp.mpf(pair.half), mp.mpf(pair.half))
    return max((mp.mpf(0), *(above(pair.up, t) - mp.exp(epsilon) * above(pair.down, t) for t in (low, *walls))),
               key=float)


BOUND = ProfileBound(
    Theorem(
        name="lower-bound",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --epsilon 1",
        statement="at most the loss of one-dimensional linear (ρ > 0: quadratic) instances, a walk clamped to an "
                  "interval of length at most D",
        in_words="This is a lower bound, and no guarantee: the loss of concrete one-dimensional runs of noisy SGD "
                 "whose last iterate is released, with linear losses, or quadratic ones for strong convexity. No "
                 "bound for this class of losses can be smaller. A run with losses that are not the worst ones may "
                 "lose less than this.",
        source="after the construction of Altschuler & Talwar 2022, Theorem 4.1, arXiv:2205.13710; computed, with a "
               "proof in its file",
        assumptions=("an instance, not a guarantee: no theorem for this class of losses can promise less",),
        status="lower",
        errata=("The proof of Theorem 4.1 of Altschuler & Talwar 2022 refutes (100, .005)-RDP, as (4.1) is greater "
                "than .005; to refute every ε up to (4.1) it would have to be smaller. (4.1) is at least .0056 at all "
                "admitted σ, and grows as 1/σ².",),
    ),
    params=SHARED, value=value, exact=exact, rtol=1e-9, inverse=inverse, rdp=rdp, choices=Choices(witness=choices))
