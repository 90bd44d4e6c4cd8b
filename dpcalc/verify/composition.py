"""Upper and lower bounds on δ of a composition, by convolution of discretized privacy loss distributions.

The bounds use the free choices of a witness (the grids, the tilt λ, and the windows of truncation), and share no code
with the calculator: masses come from closed forms, and every rounding of a convolution is to the safe side.

    δ(ε) <= M (Σ_{ℓ>ε} w(ℓ)e^{−λℓ}(1 − e^{ε−ℓ}) + e^{−λε}·peak·missing) + 1 − Π(1 − P(∞))

Here w(ℓ) are the weights of the composition: the masses of the discretized losses, multiplied by e^{λℓ} and divided by
their moment; M is the product of all moments, `missing` is the weight lost by truncation, and peak = max_x
e^{−λx}(1 − e^{−x}). For the lower bound the losses are merged to cells, and every set A of cells proves
δ(ε) >= P(A) − e^ε Q(A).
"""

from collections.abc import Sequence
from math import exp, frexp, inf
from typing import Any

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.verify import composition_cells, loss_distributions, self_composition
from dpcalc.verify.arb.context import is_ball_context, midpoint
from dpcalc.verify.composition_plans import Level, Plan
from dpcalc.verify.directed_array import WORD_BITS
from dpcalc.verify.loss_distributions import Use
from dpcalc.verify.nested_grids import Merging, Rounding, Splitting, WeightedLevel

Parts = Sequence[tuple[Use, int]]


def merge_gaussians(parts: Parts) -> Parts:
    """Return an equal composition in which one Gaussian use with μ² = Σμᵢ² stands for all unsampled Gaussian uses."""
    gaussians = [(use, count) for use, count in parts if use.pair.mu is not None and use.unsampled is not None]
    if not gaussians:
        return parts

    def mu(mp: Any) -> Any:
        return mp.sqrt(mp.fsum(count * use.pair.mu(mp) ** 2 for use, count in gaussians if use.pair.mu))

    return ((Use(loss_distributions.gaussian(mu)), 1), *(part for part in parts if part not in gaussians))


def delta_from_above(mp: Any, parts: Parts, plan: Plan, epsilon: float, log_delta: float = -inf) -> Any:
    """Return an upper bound of δ at ε >= 0 in the direction of `parts`. `log_delta`, if finite, is an estimate of the
    logarithm of the result, which decides how many bits the weights have."""
    parts = _with_grids(parts, plan)
    splits = [composition_cells.split_tilted(mp, use, grid, plan.tilt)
              for (use, _), grid in zip(parts, plan.grids, strict=True)]
    scale, log_finite = mp.mpf(1), mp.mpf(0)
    for one, (_, count) in zip(splits, parts, strict=True):
        scale = scale * _near_moment(mp, one.moment) ** count
        log_finite = log_finite + count * mp.log1p(-one.infinite)
    rounding = Rounding(_words(mp, parts, plan, scale, epsilon, log_delta), (True,))
    composer = Splitting(mp, plan, rounding)
    sums = []
    for one, grid, (_, count) in zip(splits, plan.grids, parts, strict=True):
        single = composition_cells.to_weighted_grid(mp, grid, [one.levels], [_near_moment(mp, one.moment)], rounding)
        sums.append(self_composition.self_compose(single, count, composer))
    levels = self_composition.compose_all(sums, composer)
    total = mp.fsum(_hockey_stick_sum(mp, level, plan.tilt, epsilon) for level in levels)
    missing = mp.fsum(mp.mpf(level.missing) for level in levels) * _peak(mp, plan.tilt)
    return scale * (total + missing * mp.exp(-mp.mpf(plan.tilt) * mp.mpf(epsilon))) - mp.expm1(log_finite)


def delta_from_below(mp: Any, parts: Parts, plan: Plan, epsilon: float, log_delta: float = -inf) -> Any:
    """Return a lower bound of δ at ε in the direction of `parts`, with an estimate `log_delta` as for the upper bound.
    The event also contains the outcomes of which some loss is above all cells, if that makes the bound larger."""
    parts = _with_grids(parts, plan)
    cells, scale_p, scale_q, log_p, log_q = [], mp.mpf(1), mp.mpf(1), mp.mpf(0), mp.mpf(0)
    for (use, count), grid in zip(parts, plan.grids, strict=True):
        one = composition_cells.merge_tilted(mp, use, grid, plan.tilt)
        moments = [_near_moment(mp, mp.fsum(x for row in rows for x in row)) for rows in (one.in_p, one.in_q)]
        log_p, log_q = (x + count * mp.log1p(-mass) for x, mass in zip((log_p, log_q), one.above, strict=True))
        scale_p, scale_q = scale_p * moments[0] ** count, scale_q * moments[1] ** count
        cells.append((one, moments))
    rounding = Rounding(_words(mp, parts, plan, scale_p, epsilon, log_delta), (False, True))
    composer, sums = Merging(mp, plan, rounding), []
    for (one, moments), grid, (_, count) in zip(cells, plan.grids, parts, strict=True):
        single = composition_cells.to_weighted_grid(mp, grid, [one.in_p, one.in_q], moments, rounding, one.offsets)
        sums.append(self_composition.self_compose(single, count, composer))
    levels = self_composition.compose_all(sums, composer)
    above_all_cells = mp.exp(mp.mpf(epsilon)) * mp.expm1(log_q) - mp.expm1(log_p)
    within_cells = mp.fsum(_threshold_test(mp, level, plan.tilt, epsilon, scale_p, scale_q) for level in levels)
    return within_cells + above_all_cells if float(above_all_cells) > 0 else within_cells


def is_below_by_chernoff(mp: Any, parts: Parts, plan: Plan, epsilon: float, delta: Any) -> bool:
    """Whether a Chernoff bound proves that δ(ε) in the direction of `parts` is at most `delta`.

    The bound is δ(ε) <= Π M(λ)·e^{−λε}·max_x e^{−λx}(1 − e^{−x}) + 1 − Π(1 − P(∞)), where M(λ) is the moment of one
    use, whose losses are split between points of the plan's grids and their mirror images. It is tried at a few λ; it
    holds for every λ and all points.
    """
    parts = merge_gaussians(parts)
    splits = [composition_cells.split_between(mp, use, _coarse_points(grid))
              for (use, _), grid in zip(parts, plan.grids, strict=True)]
    log_finite = mp.fsum(count * mp.log1p(-infinite)
                         for (_, infinite), (_, count) in zip(splits, parts, strict=True))
    for factor in (1.0, 1.4, 0.7, 2.0, 0.5):
        tilt = plan.tilt * factor
        log_moment = mp.fsum(count * mp.log(mp.fsum(x * mp.exp(mp.mpf(tilt) * mp.mpf(loss)) for loss, x in masses))
                             for (masses, _), (_, count) in zip(splits, parts, strict=True))
        if mp.exp(log_moment - mp.mpf(tilt) * mp.mpf(epsilon)) * _peak(mp, tilt) - mp.expm1(log_finite) <= delta:
            return True
    return False


def _with_grids(parts: Parts, plan: Plan) -> Parts:
    """Return the parts with merged Gaussians. Raises ValueError where the plan has not one grid for each of them."""
    parts = merge_gaussians(parts)
    if len(parts) != len(plan.grids):
        raise ValueError("it has another number of parts")
    return parts


def _coarse_points(grid: Sequence[Level]) -> list[float]:
    """Return about 500 points of each level, and their mirror images."""
    points = [k * level.step for level in grid
              for k in range(level.first, level.last + 1, max(1, (level.last - level.first) // 500))]
    points += [level.last * level.step for level in grid]
    return sorted({*points, *(-x for x in points)})


def _peak(mp: Any, tilt: float) -> Any:
    """Return max e^{−λx}(1 − e^{−x}) over x >= 0, which times e^{−λε} is the most that a unit of weight adds to
    δ(ε)."""
    lam = mp.mpf(tilt)
    return mp.exp(-lam * mp.log1p(1 / lam) - mp.log1p(lam))


def _hockey_stick_sum(mp: Any, x: WeightedLevel, tilt: float, epsilon: float) -> Any:
    """Return Σ_{ℓ>ε} w(ℓ)e^{−λℓ}(1 − e^{ε−ℓ}) over the points of a level."""
    begin = x.index_of(epsilon)
    while begin and not (x.first + begin - 1) * x.step <= epsilon:
        begin -= 1
    while begin < x.size and not (x.first + begin) * x.step > epsilon:
        begin += 1
    in_p, in_q = _sums_from(mp, x, begin, tilt)
    return in_p - mp.exp(mp.mpf(epsilon)) * in_q


def _threshold_test(mp: Any, x: WeightedLevel, tilt: float, epsilon: float, scale_p: Any, scale_q: Any) -> Any:
    """Return P(A) − e^ε Q(A), where A are the cells of a level from a threshold on. Every threshold gives a valid
    bound; the best one is searched for in doubles without bounds of their errors."""
    p, q = x.rows
    log_ratio = float(mp.log(scale_q / scale_p)) + epsilon
    losses = np.minimum(x.step * (x.first + np.arange(x.size)), LARGEST_EXPONENT)

    def from_here_on(row: Array, exponent: Array) -> Array:
        return np.cumsum((row * np.exp(np.clip(exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT)))[::-1])[::-1]

    tilted = -tilt * (losses - epsilon)
    gain = from_here_on(p, tilted) - from_here_on(q, tilted + log_ratio - losses)
    threshold = int(gain.argmax()) if x.size else 0
    if not x.size or not gain[threshold] > 0:
        return mp.mpf(0)
    in_p, in_q = _sums_from(mp, x, threshold, tilt)
    return scale_p * in_p - mp.exp(mp.mpf(epsilon)) * scale_q * in_q


def _sums_from(mp: Any, x: WeightedLevel, begin: int, tilt: float) -> tuple[Any, Any]:
    """Return Σ w(ℓ)e^{−λℓ} and Σ w(ℓ)e^{−(λ+1)ℓ} over the points of a level from an index on, the latter by the last
    row."""
    found = []
    for row, rate in ((x.rows[0], mp.mpf(tilt)), (x.rows[-1], mp.mpf(tilt) + 1)):
        weights, ratio = row[begin:].tolist(), mp.exp(-rate * mp.mpf(x.step))
        value = mp.mpf(0)
        if is_ball_context(mp):
            value = mp.polynomial(weights, ratio)
        else:
            for w in reversed(weights):
                value = value * ratio + w
        found.append(value * mp.exp(-rate * mp.mpf(x.step) * (x.first + begin)))
    return found[0], found[1]


def _near_moment(mp: Any, moment: Any) -> Any:
    """Return the midpoint of the ball of a moment, an exact number by which weights are divided; 1 where that is 0."""
    return midpoint(mp, moment) if float(moment) else mp.mpf(1)


def _words(mp: Any, parts: Parts, plan: Plan, scale: Any, epsilon: float, log_delta: float) -> int:
    """Return the number of words of the factors of products, so that all roundings of products together are negligible
    beside δ, provided that it is at least e^−700 of its largest possible value."""
    log_share = 0.0
    if log_delta > -inf:
        log_all = mp.log(scale * _peak(mp, plan.tilt)) - mp.mpf(plan.tilt) * mp.mpf(epsilon)
        log_share = min(0.0, max(-LARGEST_EXPONENT, float(mp.mpf(log_delta) - log_all)))
    uses = sum(count for _, count in parts)
    # The roundings of products add about 2^−36 of the result for each point of a grid, less than the 1e-8 by which
    # recorded numbers are above it.
    bits = 36 * max(1, mp.prec // 128) + uses.bit_length() - frexp(exp(log_share))[1] + 1
    return int(-(-bits // WORD_BITS))
