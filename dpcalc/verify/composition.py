"""δ of a composition from above, on the grid of a witness, without the fast path's code: rounded laws from closed forms, convolved exactly.

Every loss is split between its two neighbours on the grid so that the masses of its cell under P and under Q stay: a worse pair
(Doroshenko et al. 2022, "connect the dots"). Only the masses of whole cells matter for that, and these are differences of the
distribution functions in laws.py. What lies above the grid counts as infinite, what lies below it moves up to its first point.
Weights are tilted, w_j ∝ p_j e^{λℓ_j}, so that typical sums are those around ε:

    δ(ε) <= M^T (Σ_{ℓ>ε} w_T(ℓ) e^{−λℓ}(1 − e^{ε−ℓ}) + e^{−λε}·peak·missing) + 1 − (1 − P(∞))^T,

with peak = max_x e^{−λx}(1 − e^{−x}).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, fsum, inf
from typing import Any, NamedTuple

from dpcalc.verify import fourier, laws
from dpcalc.verify.cells import Cells, Grid, cells, weights_of
from dpcalc.verify.convolution import SURE, Sum, bits_for, power, times
from dpcalc.verify.laws import Use
from dpcalc.verify.plans import MOST_CELLS, Level, Plan

Parts = Sequence[tuple[Use, int]]
_NUDGE = 4e-16  # of a place
_FARTHEST_POINT = 1e15  # of a grid, from the ε that it is read at
_KNOWN = 2.0**-40  # of all weight, that balls may leave open
_BEYOND = 1e-13  # of δ, that losses above a grid may have
LOST, _LEAST = 1e-13, -700.0  # of δ, what sums may leave out at their upper ends; of its log
_SLOPES = (1.0, 1.3, 1.69, 0.77, 2.2, 2.9, 0.6, 3.7, 4.8, 6.3)  # of the tilt, for a Chernoff bound


def mirrored(mp: Any, parts: Parts, p: Plan, delta: Any, coarser: int = 1) -> Plan:
    """The grids of the other direction, up to where next to nothing of δ is left above; for a rough look with fewer points."""
    grids, step = [], p.step * coarser
    steps = sum(count for _, count in parts)
    for (use, _), grid in zip(parts, p.grids, strict=True):
        first, points = grid.mirror.first // coarser - 1, grid.points // coarser + 3
        offset, more = -mp.mpf(grid.offset), 1
        while points < MOST_CELLS and not steps * laws.above(use, mp, offset + (first + points - 1) * mp.mpf(step))[0] < delta * _BEYOND:
            points, more = points + more, 2 * more
        grids.append(Grid(-grid.offset, first, points, inf))
    return Plan(p.tilt, tuple(grids), (step,) * len(grids), ((),) * len(grids))


def delta(mp: Any, parts: Parts, p: Plan, epsilon: float, log_delta: float = -inf) -> Any:
    """The upper value of δ at ε >= 0 of this direction; masses that are nothing beside e^{log_delta} may be left out of sums, and added."""
    if len(parts) != len(p.grids):
        raise ValueError("it has another number of parts")
    p, steps = _nudged(parts, p), sum(count for _, count in parts)
    terms: list[tuple[Sum, int]] = []
    scale, start, kept, whole = mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(1)
    loss = exp(max(log_delta, _LEAST)) * LOST / steps if log_delta > -inf else 0.0
    rounded: list[tuple[dict[int, Any], Any, Any]] = []
    for (use, count), grid, step in zip(parts, p.grids, p.steps, strict=True):
        one = cells(mp, use, grid, step)
        kept = kept + count * mp.log1p(-one.infinite)  # its log: 1 − Π(1 − P(∞)) would cancel
        weights, beside = weights_of(mp, one, grid, step, p.tilt)
        moment = _moment(mp, weights)
        scale = scale * moment**count
        whole = whole * _mass(mp, one) ** count
        rounded.append((weights, beside, moment))
    bits = bits_for(steps, _part(mp, p, scale, epsilon, log_delta))
    for (_, count), grid, step, levels, (weights, beside, moment) in zip(parts, p.grids, p.steps, p.levels, rounded, strict=True):
        height = float(mp.log(moment) - mp.mpf(p.tilt) * mp.mpf(grid.offset))
        single = Sum(grid.first, _units(mp, weights, moment, bits), _upper(mp, beside / moment), bits, height, p.tilt * step)
        units, fine = [_Unit(single, count, grid.offset)], Fraction(step)
        for level in levels:
            units, fine = _in_blocks(mp, units, level, fine, p.tilt, loss), fine * level.ratio
        terms += [(unit.law, unit.times) for unit in units]
        start = start + mp.fsum(unit.times * mp.mpf(unit.offset) for unit in units)
    found, lost = read(mp, terms, p.tilt, _number(mp, p.last), start, epsilon, loss)
    return scale * found + lost * (1 + 1e-12) * whole - mp.expm1(kept)


def _part(mp: Any, p: Plan, scale: Any, epsilon: float, log_delta: float) -> float:
    """About the part of all weight that δ is, at least."""
    if log_delta == -inf:
        return 1.0
    log_part = mp.mpf(log_delta) + mp.mpf(p.tilt) * mp.mpf(epsilon) - mp.log(scale * peak(mp, p.tilt))
    return exp(min(0.0, max(_LEAST, float(log_part))))


def _number(mp: Any, x: Fraction) -> Any:
    return mp.mpf(x.numerator) / mp.mpf(x.denominator)


def read(mp: Any, terms: Sequence[tuple[Sum, int]], tilt: float, step: Any, start: Any, epsilon: float, loss: float,
         up: bool = True) -> tuple[Any, float]:
    """Σ_{ℓ>ε} w(ℓ)e^{−λℓ}(1 − e^{ε−ℓ}) over the sum of all terms, from above (or below), and the mass that is not in it."""
    found = _by_frequencies(mp, terms, tilt, step, start, epsilon, up)
    if found is not None:
        return found, fsum(count * one.lost for one, count in terms)
    total = _together(terms, sum(count for _, count in terms), loss, up)
    return _read(mp, total, tilt, step, start, epsilon, up), total.lost


def _mass(mp: Any, one: Cells) -> Any:
    """Not less than the mass under P of all finite losses, and than 1."""
    total = mp.fsum(abs(x) for x in one.masses.values()) + mp.fsum(x for x, _ in (*one.between, *one.below))
    return max(mp.mpf(1), total) if not hasattr(mp, "between") else mp.between(1, max(1.0, total.ends()[1]))


def _moment(mp: Any, weights: dict[int, Any]) -> Any:
    """A number next to the sum of all weights; 1 where there are none."""
    total = mp.fsum(weights.values())
    if not float(total):
        return mp.mpf(1)
    return mp.middle(total) if hasattr(mp, "middle") else total


def _nudged(parts: Parts, p: Plan) -> Plan:
    """The grids of laws with atoms among other losses moved up by the rounding errors of a place: an atom that should be on a point, and is
    just above it, would have a share of the next one, whose weight the tilt may make very large."""

    def moved(use: Use, grid: Grid, step: float) -> Grid:
        base = use.base
        if base.mu is not None or base.losses is not None:
            return grid
        return grid._replace(offset=grid.offset + _NUDGE * (abs(grid.offset) + abs(grid.first) * step))

    return p._replace(grids=tuple(moved(use, grid, step) for (use, _), grid, step in zip(parts, p.grids, p.steps, strict=True)))


def _together(terms: Sequence[tuple[Sum, int]], steps: int, loss: float = 0.0, up: bool = True) -> Sum:
    total: Sum | None = None
    for one, count in terms:
        composed = power(one, count, loss, up)
        total = composed if total is None else times(total, composed, steps, loss, up)
    assert total is not None
    return total


def _by_frequencies(mp: Any, terms: Sequence[tuple[Sum, int]], tilt: float, step: Any, start: Any, epsilon: float,
                    up: bool = True) -> Any:
    """What `_read` gives, of many terms."""
    if not hasattr(mp, "arb") or sum(count for _, count in terms) < fourier.FEWEST:
        return None
    h, base, lam = mp.mpf(step).x, (start - mp.mpf(epsilon)).x, mp.arb(tilt)
    if not abs(float(base / h)) < _FARTHEST_POINT:
        raise ValueError("its step is too small for where it is read")
    first = int(float(-base / h)) - 2
    while base + first * h <= 0:
        first += 1
    found = fourier.summed(mp, terms, fourier.Kernel(first, base + first * h, h, lam), up)
    if found is None:
        return None
    if not up:
        return mp.exp(-mp.mpf(tilt) * mp.mpf(epsilon)) * mp.mpf(found)
    whole = most = mp.arb(1)
    for one, count in terms:
        weight = mp.arb(sum(one.weights)) / (1 << one.bits)
        whole, most = whole * weight**count, most * (weight + mp.arb(one.missing)) ** count
    return mp.exp(-mp.mpf(tilt) * mp.mpf(epsilon)) * (mp.mpf(found) + mp.mpf(most - whole) * peak(mp, tilt))


def _units(mp: Any, weights: dict[int, Any], moment: Any, bits: int) -> list[int]:
    """Whole units of every weight. Raises Undecided where they are not known well enough to be rounded."""
    if hasattr(mp, "between") and not (mp.fsum(weights.values()) / moment).x.rad() < _KNOWN:
        raise mp.undecided("the masses of a grid are known too roughly")
    found = [0] * (max(weights) + 1)
    for k, w in weights.items():
        found[k] = _ceiling(mp, w / moment, bits)
    return found


class _Unit(NamedTuple):
    """As many of a law, on a grid with this offset."""

    law: Sum
    times: int
    offset: float


def _in_blocks(mp: Any, units: list[_Unit], level: Level, step: Fraction, tilt: float, loss: float) -> list[_Unit]:
    """Blocks of the first of these, and of what is left over with all others, on the level's grids."""
    first, *rest = units
    whole, left = divmod(first.times, level.block)
    blocks = [([first._replace(times=level.block)], whole)] if whole else []
    if left or rest:
        blocks.append(([*([first._replace(times=left)] if left else []), *rest], 1))
    if len(level.offsets) != len(blocks):
        raise ValueError("its blocks have another number of grids")
    found = []
    for (inside, count), offset in zip(blocks, level.offsets, strict=True):
        steps = sum(unit.times for unit in inside)
        composed = _together([(unit.law, unit.times) for unit in inside], steps, loss)
        start = mp.fsum(unit.times * mp.mpf(unit.offset) for unit in inside)
        found.append(_Unit(_coarser(mp, composed, step, level.ratio, tilt, start, offset), count, offset))
    return found


def _coarser(mp: Any, fine: Sum, step: Fraction, ratio: int, tilt: float, start: Any, offset: float) -> Sum:
    """The law on the coarse grid, each point split between its neighbours so that both masses stay (under the tilt)."""
    h, wide, lam = _number(mp, step), _number(mp, step * ratio), mp.mpf(tilt)
    # Point k lies at start + k·h = offset + wide·j + above.
    base = mp.mpf(start) - mp.mpf(offset)
    shift = int(float((base + fine.first * h) / wide)) - 2
    found: dict[int, int] = {}
    shares: dict[int, tuple[int, int, int]] = {}
    most = 1.0
    unit = (1 << fine.bits) - 1
    for k, weight in enumerate(fine.weights):
        if not weight:
            continue
        turn, place = divmod(k, ratio)
        if place not in shares:
            above = base + (fine.first + place) * h - shift * wide
            cell = int(float(above / wide))
            above = above - cell * wide
            if above < 0:
                cell, above = cell - 1, above + wide
            elif above >= wide:
                cell, above = cell + 1, above - wide
            high = mp.expm1(-above) / mp.expm1(-wide)
            low = 1 - high
            parts = low * mp.exp(-lam * above), high * mp.exp(lam * (wide - above))
            most = max(most, float(parts[0] + parts[1]) * (1 + 1e-9))
            shares[place] = cell, _ceiling(mp, parts[0], fine.bits), _ceiling(mp, parts[1], fine.bits)
        cell, low_share, high_share = shares[place]
        at = cell + turn
        found[at] = found.get(at, 0) + ((weight * low_share + unit) >> fine.bits)
        found[at + 1] = found.get(at + 1, 0) + ((weight * high_share + unit) >> fine.bits)
    first, last = min(found), max(found)
    moved = tilt * float(mp.mpf(start) - mp.mpf(offset))
    height = fine.height + moved + SURE * (abs(fine.height) + abs(moved))  # these may cancel, and what they were rounded by is left
    weights = [found.get(j, 0) for j in range(first, last + 1)]
    return Sum(shift + first, weights, fine.missing * most, fine.bits, height, tilt * float(step * ratio), fine.lost)


def _ceiling(mp: Any, x: Any, bits: int) -> int:
    """The least whole number of units of 2^−bits that is surely not below x."""
    if hasattr(mp, "between"):
        top = (x * (mp.mpf(1) * (1 << bits))).real.x.upper()
        return max(0, int(top.ceil().unique_fmpz()) + (0 if top.is_exact() else 1)) if top.is_finite() else _none()
    return max(0, int(mp.ceil(x * (1 << bits))))


def _upper(mp: Any, x: Any) -> float:
    """A double that is surely not below x."""
    return float(x.ends()[1] if hasattr(mp, "between") else x) * (1 + 1e-12)


def _none() -> int:
    raise ValueError("its masses are not finite")


def _read(mp: Any, total: Sum, tilt: float, step: float, start: Any, epsilon: float, up: bool = True) -> Any:
    """Σ_{ℓ>ε} w(ℓ)e^{−λℓ}(1 − e^{ε−ℓ}) + e^{−λε}·peak·missing."""
    total = total if up else total._replace(missing=0.0)
    h, lam, unit = mp.mpf(step), mp.mpf(tilt), mp.mpf(1) / (1 << total.bits)
    gap = start + total.first * h - mp.mpf(epsilon)  # of the first point above ε
    skip = max(0, int(-float(gap) / float(h)) - 1)
    while skip < len(total.weights) and not gap + skip * h > 0:
        skip += 1
    weights, gap, beside = total.weights[skip:], gap + skip * h, mp.mpf(total.missing) * peak(mp, tilt)
    if not weights:
        return mp.exp(-lam * mp.mpf(epsilon)) * beside
    near = _series(mp, weights, mp.exp(-lam * h)) * mp.exp(-lam * gap)
    far = _series(mp, weights, mp.exp(-(lam + 1) * h)) * mp.exp(-(lam + 1) * gap)
    return mp.exp(-lam * mp.mpf(epsilon)) * ((near - far) * unit + beside)


def peak(mp: Any, tilt: float) -> Any:
    """max e^{−λx}(1 − e^{−x}) over x >= 0, which a lost weight counts at most."""
    lam = mp.mpf(tilt)
    return mp.exp(-lam * mp.log1p(1 / lam) - mp.log1p(lam))


def _series(mp: Any, weights: list[int], x: Any) -> Any:
    """Σ w_k x^k."""
    if hasattr(mp, "polynomial"):
        return mp.polynomial(weights, x)
    value = mp.mpf(0)
    for w in reversed(weights):
        value = value * x + w
    return value


def settled(mp: Any, parts: Parts, p: Plan, epsilon: float, log_delta: Any) -> bool:
    """Whether Chernoff's bound shows this direction to lose no more: T log M(λ) − λε + log max e^{−λx}(1 − e^{−x}) <= log δ."""
    p = _nudged(parts, p)
    found = _all_cells(mp, parts, p)
    return any(_chernoff(mp, parts, p, found, epsilon, p.tilt * slope) < mp.exp(log_delta) for slope in _SLOPES)


def chernoff(mp: Any, parts: Parts, p: Plan, epsilon: float) -> Any:
    """Not less than δ of this direction, by the tilt of the plan."""
    p = _nudged(parts, p)
    return _chernoff(mp, parts, p, _all_cells(mp, parts, p), epsilon, p.tilt)


def _all_cells(mp: Any, parts: Parts, p: Plan) -> list[Cells]:
    return [cells(mp, use, grid, step) for (use, _), grid, step in zip(parts, p.grids, p.steps, strict=True)]


def _chernoff(mp: Any, parts: Parts, p: Plan, found: Sequence[Cells], epsilon: float, tilt: float) -> Any:
    """M(λ)^T e^{−λε} max_x e^{−λx}(1 − e^{−x}), and what is infinite."""
    lam = mp.mpf(tilt)
    total = mp.log(peak(mp, tilt)) - lam * mp.mpf(epsilon)
    for one, (_, count), grid, step in zip(found, parts, p.grids, p.steps, strict=True):
        total = total + count * mp.log(_whole(mp, *weights_of(mp, one, grid, step, tilt)))
    return mp.exp(total) + mp.fsum(count * one.infinite for one, (_, count) in zip(found, parts, strict=True))


def _whole(mp: Any, weights: dict[int, Any], beside: Any) -> Any:
    return mp.fsum(weights.values()) + beside
