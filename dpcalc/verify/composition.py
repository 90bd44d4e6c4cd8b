"""δ of a composition from above and from below, by the choices of a witness and without the calculator's code: masses
from closed forms, sums by whole numbers.

    δ(ε) <= M (Σ_{ℓ>ε} w(ℓ)e^{−λℓ}(1 − e^{ε−ℓ}) + e^{−λε}·peak·missing) + 1 − Π(1 − P(∞))

for the weights w of the composition of split laws, M the product of their moments, and peak = max_x e^{−λx}(1 −
e^{−x}). From below, the numbers of the cells are outcomes that both laws have, and every set of them says δ(ε) >= P −
e^ε Q. """

from __future__ import annotations

from collections.abc import Sequence
from math import exp, frexp, inf
from typing import Any

from dpcalc.verify import composition_cells, loss_laws, multiscale
from dpcalc.verify.composition_plans import Level, Plan
from dpcalc.verify.loss_laws import Use
from dpcalc.verify.multiscale import Merging, Points, Rounding, Splitting, decay

Parts = Sequence[tuple[Use, int]]
SPARE = 64  # bits beyond one for each use: what is rounded up is 2^−64 of all weight
SLOPES = (1.0, 1.4, 0.7, 2.0, 0.5)  # of the tilt, for a bound by moments
EDGES = 500  # of each level, for that
LEAST = -700.0  # log of the part of all weight that δ is at least


def gaussians_together(parts: Parts) -> Parts:
    """The same composition with all Gaussian uses as one, as Σμ² is what they have in common."""
    whole = [(use, count) for use, count in parts if use.base.mu is not None and use.whole is not None]
    if not whole:
        return parts

    def mu(mp: Any) -> Any:
        return mp.sqrt(mp.fsum(count * use.base.mu(mp) ** 2 for use, count in whole if use.base.mu))

    return ((Use(loss_laws.gaussian(mu)), 1), *(part for part in parts if part not in whole))


def delta(mp: Any, parts: Parts, p: Plan, epsilon: float, log_delta: float = -inf) -> Any:
    """Not less than δ at ε >= 0 of this direction."""
    parts = gaussians_together(parts)
    if len(parts) != len(p.grids):
        raise ValueError("it has another number of parts")
    splits = [composition_cells.split(mp, use, grid, p.tilt) for (use, _), grid in zip(parts, p.grids, strict=True)]
    scale, finite = mp.mpf(1), mp.mpf(0)
    for one, (_, count) in zip(splits, parts, strict=True):
        scale, finite = scale * _middle(mp, one.moment) ** count, finite + count * mp.log1p(-one.infinite)
    rounding = Rounding(_bits(mp, parts, p, scale, epsilon, log_delta), (True,))
    replay = Splitting(p, rounding, _units(mp, rounding.bits))
    sums = [multiscale.power(composition_cells.as_law(mp, grid, [one.levels], [_middle(mp, one.moment)], rounding),
                             count, replay)
            for one, grid, (_, count) in zip(splits, p.grids, parts, strict=True)]
    law = multiscale.combined(sums, replay)
    unit = mp.mpf(1) / (1 << rounding.bits)
    total = mp.fsum(_above(mp, level, p.tilt, epsilon) for level in law)
    missing = sum(level.missing for level in law) * peak(mp, p.tilt) * mp.exp(-mp.mpf(p.tilt) * mp.mpf(epsilon))
    return scale * unit * (total + missing) - mp.expm1(finite)


def delta_from_below(mp: Any, parts: Parts, p: Plan, epsilon: float) -> Any:
    """Not more than δ at ε of this direction. Sums with a loss above all cells are in the test, if that makes it
    better."""
    parts = gaussians_together(parts)
    if len(parts) != len(p.grids):
        raise ValueError("it has another number of parts")
    rounding = Rounding(SPARE + SPARE + 2 * sum(count for _, count in parts).bit_length(), (False, True))
    replay = Merging(p, rounding, _units(mp, rounding.bits))
    sums, scale_p, scale_q, log_p, log_q = [], mp.mpf(1), mp.mpf(1), mp.mpf(0), mp.mpf(0)
    for (use, count), grid in zip(parts, p.grids, strict=True):
        one = composition_cells.merged(mp, use, grid, p.tilt)
        moments = [_middle(mp, mp.fsum(x for row in rows for x in row)) for rows in (one.in_p, one.in_q)]
        log_p, log_q = (x + count * mp.log1p(-mass) for x, mass in zip((log_p, log_q), one.above, strict=True))
        scale_p, scale_q = scale_p * moments[0] ** count, scale_q * moments[1] ** count
        single = composition_cells.as_law(mp, grid, [one.in_p, one.in_q], moments, rounding, one.offsets)
        sums.append(multiscale.power(single, count, replay))
    law = multiscale.combined(sums, replay)
    unit = mp.mpf(1) / (1 << rounding.bits)
    above = mp.exp(mp.mpf(epsilon)) * mp.expm1(log_q) - mp.expm1(log_p)
    found = unit * mp.fsum(_best_test(mp, level, p.tilt, epsilon, scale_p, scale_q) for level in law)
    return found + above if float(above) > 0 else found


def is_settled(mp: Any, parts: Parts, p: Plan, epsilon: float, delta: Any) -> bool:
    """Whether Chernoff's bound shows that this direction has no more than δ: T log M(λ) − λε + log max e^{−λx}(1 −
    e^{−x}) <= log δ for some λ, M being the moment of the losses split between the points of the plan's grids and their
    mirror images."""
    parts = gaussians_together(parts)
    laws_ = [composition_cells.split_between(mp, use, _edges(grid)) for (use, _),
             grid in zip(parts, p.grids, strict=True)]
    for slope in SLOPES:
        tilt = mp.mpf(p.tilt * slope)
        log_moment = mp.fsum(count * mp.log(mp.fsum(x * mp.exp(tilt * mp.mpf(loss)) for loss, x in law))
                             for (law, _), (_, count) in zip(laws_, parts, strict=True))
        lost = -mp.expm1(mp.fsum(count * mp.log1p(-infinite) for (_, infinite),
                                 (_, count) in zip(laws_, parts, strict=True)))
        if mp.exp(log_moment - tilt * mp.mpf(epsilon)) * peak(mp, p.tilt * slope) + lost <= delta:
            return True
    return False


def _edges(grid: Sequence[Level]) -> list[float]:
    """Some of the points of all levels and their mirror images."""
    points = [k * level.step for level in grid
              for k in range(level.first, level.last + 1, max(1, (level.last - level.first) // EDGES))]
    points += [level.last * level.step for level in grid]
    return sorted({*points, *(-x for x in points)})


def peak(mp: Any, tilt: float) -> Any:
    """max e^{−λx}(1 − e^{−x}) over x >= 0, which a lost weight counts at most."""
    lam = mp.mpf(tilt)
    return mp.exp(-lam * mp.log1p(1 / lam) - mp.log1p(lam))


def _above(mp: Any, x: Points, tilt: float, epsilon: float) -> Any:
    """Σ_{ℓ>ε} w(ℓ)e^{−λℓ}(1 − e^{ε−ℓ}), in units."""
    begin = x.index_of(epsilon)
    while begin and not (x.first + begin - 1) * x.step <= epsilon:
        begin -= 1
    while begin < x.size and not (x.first + begin) * x.step > epsilon:
        begin += 1
    weights = x.rows[0][begin:]
    if not weights:
        return mp.mpf(0)
    h, lam, start = mp.mpf(x.step), mp.mpf(tilt), mp.mpf((x.first + begin) * x.step)
    near = _series(mp, weights, mp.exp(-lam * h)) * mp.exp(-lam * start)
    far = _series(mp, weights, mp.exp(-(lam + 1) * h)) * mp.exp(-(lam + 1) * start + mp.mpf(epsilon))
    return near - far


def _best_test(mp: Any, x: Points, tilt: float, epsilon: float, scale_p: Any, scale_q: Any) -> Any:
    """P − e^ε Q of the cells from some number on, in units: about the best one."""
    begin, ratio = max(x.index_of(epsilon) - 3, 0), mp.log(scale_q / scale_p)
    base, odds = x.first * x.step - epsilon, float(ratio)
    best, total, at = 0.0, 0.0, x.size
    for k in range(x.size - 1, begin - 1, -1):
        above = base + k * x.step
        total += decay(-tilt * above) * (x.rows[0][k] - x.rows[1][k] * decay(odds - above)) / (1 << (SPARE // 2))
        if total > best:
            best, at = total, k
    if at == x.size:
        return mp.mpf(0)
    h, lam, start = mp.mpf(x.step), mp.mpf(tilt), mp.mpf((x.first + at) * x.step)
    in_p = scale_p * _series(mp, x.rows[0][at:], mp.exp(-lam * h)) * mp.exp(-lam * start)
    in_q = scale_q * _series(mp, x.rows[1][at:], mp.exp(-(lam + 1) * h)) * mp.exp(-(lam + 1) * start)
    return in_p - mp.exp(mp.mpf(epsilon)) * in_q


def _series(mp: Any, weights: list[int], x: Any) -> Any:
    """Σ w_k x^k."""
    if hasattr(mp, "polynomial"):
        return mp.polynomial(weights, x)
    value = mp.mpf(0)
    for w in reversed(weights):
        value = value * x + w
    return value


def _middle(mp: Any, x: Any) -> Any:
    """A number next to a moment, by which weights are divided; 1 where there are none."""
    if not float(x):
        return mp.mpf(1)
    return mp.middle(x) if hasattr(mp, "middle") else x


def _bits(mp: Any, parts: Parts, p: Plan, scale: Any, epsilon: float, log_delta: float) -> int:
    """As many that what is rounded up is next to nothing of δ."""
    part = 0
    if log_delta > -inf:
        log_part = float(mp.mpf(log_delta) + mp.mpf(p.tilt) * mp.mpf(epsilon) - mp.log(scale * peak(mp, p.tilt)))
        part = max(0, -frexp(exp(min(0.0, max(LEAST, log_part))))[1])
    return SPARE + sum(count for _, count in parts).bit_length() + part


def _units(mp: Any, bits: int) -> Any:
    return lambda exponent, up: composition_cells.units(mp, mp.exp(mp.mpf(exponent)), bits, up)
