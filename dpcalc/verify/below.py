"""δ of a composition from below: what the lower end of a bracket claims.

Losses between two edges are merged into one, log(P/Q) of their masses, which is post-processing; and lowered to a grid, which makes δ
smaller; what lies below the grid is left out. Sums are as in composition.py, with every rounding downwards. Any edges are a proof: they
start halfway between points, and are moved once so that merged losses lie nearly on the points; then the grid is moved to suit most.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, exp, expm1, floor, inf, log, log1p
from typing import Any, NamedTuple

from dpcalc.verify import composition, gaussian_cells, laws, plans
from dpcalc.verify.cells import Grid
from dpcalc.verify.convolution import Sum, bits_for
from dpcalc.verify.laws import Use
from dpcalc.verify.plans import Plan
from dpcalc.verify.unchecked import TooLong, Unchecked

_FEW, _MOST = 80_000, 160_000  # points: as few are doubled, to surely reach what the witness did; more than that are too many
_TRIES = 4  # points at which a merged loss that is known roughly may lie
_UNDER = 1e-10  # of a step, that the grid lies below the merged losses
_RARE = 1e-40  # of all weight, in a cell that is left out of the search for edges

Masses = Callable[[Any], tuple[Any, Any]]
Parts = Sequence[tuple[Use, int]]


class Lowered(NamedTuple):
    """Masses under P at the losses offset + k·step."""

    offset: float
    masses: dict[int, Any]


def delta(mp: Any, parts: Parts, given: Mapping[str, Any], epsilon: float, claimed: float) -> Any:
    """Surely not above δ at ε: of the direction that the witness names, or of the other, where that one does not reach what is claimed."""
    if not hasattr(mp, "arb"):
        raise Unchecked("lower ends need python-flint: pip install python-flint")
    added = bool(given.get("reversed"))
    own, other = (tuple((use._replace(added=side and not use.symmetric), count) for use, count in parts) for side in (added, not added))
    infinite = [_infinite(mp, some) for some in (own, other)]
    if "grids" not in given or given.get("chernoff"):
        return max(infinite, key=float)
    plan = plans.plan(given)
    found = _delta(mp, own, plan, epsilon, claimed) + infinite[0]
    if found >= claimed or all(use.symmetric for use, _ in parts):
        return found
    return max(found, _delta(mp, other, composition.mirrored(mp, other, plan, mp.mpf(claimed)), epsilon, claimed) + infinite[1], key=float)


def _infinite(mp: Any, parts: Parts) -> Any:
    return -mp.expm1(mp.fsum(count * mp.log1p(-laws.infinite(use, mp)) for use, count in parts))


def _delta(mp: Any, parts: Parts, p: Plan, epsilon: float, claimed: float) -> Any:
    """What the finite losses make of it."""
    points = sum(grid.points for grid in p.grids)
    if points > _MOST:
        raise TooLong(f"its grids have {points} points, and lower ends are checked on at most {_MOST}")
    finer, steps = 2 if points <= _FEW else 1, sum(count for _, count in parts)
    step, bits, loss = _step(parts, p) / finer, bits_for(steps), claimed * composition.LOST / steps
    terms: list[tuple[Sum, int]] = []
    scale, start = mp.mpf(1), mp.mpf(0)
    for (use, count), grid in zip(parts, p.grids, strict=True):
        one = _lowered(mp, use, _refined(use, grid, finer, p.step, step), step, p.tilt)
        lam, h, offset = mp.arb(p.tilt), mp.arb(step), mp.arb(one.offset)
        weights = {k: mass * (lam * (offset + k * h)).exp() for k, mass in one.masses.items()}
        moment = sum(weights.values(), mp.arb(0)).mid()
        first, last = min(weights), max(weights)
        units = [_floor(weights[k] / moment, bits) if k in weights else 0 for k in range(first, last + 1)]
        height = float(moment.log() - lam * offset)
        terms.append((Sum(first, units, 0.0, bits, height, p.tilt * step), count))
        scale, start = scale * mp.mpf(moment) ** count, start + count * mp.mpf(one.offset)
    return scale * composition.read(mp, terms, p.tilt, step, start, epsilon, loss, up=False)[0]


def _atoms(use: Use) -> tuple[float, ...]:
    """The losses of the atoms of a law that has a density too: to be on the grid, if they can."""
    r, q = use.base.most, use.rate if use.scheme else 1.0
    replaced = use.scheme == "without-replacement" and q < 1
    if use.base.losses is not None or (r == inf and not replaced):
        return ()
    if r == inf:
        return (0.0,)
    high, low = log1p(q * expm1(r)), log1p(q * expm1(-r))
    return (high, 0.0) if replaced else (-low, -high) if use.added and use.scheme == "poisson" else (high, low)


def _step(parts: Parts, p: Plan) -> float:
    """That of the plan, or a little less, so that two atoms of a law are on the grid."""
    atoms = _atoms(parts[0][0]) if len(parts) == 1 else ()
    apart = atoms[0] - atoms[1] if len(atoms) == 2 else 0.0
    return apart / ceil(apart / p.step) if apart > p.step else p.step


def _refined(use: Use, grid: Grid, finer: int, coarse: float, step: float) -> Grid:
    atoms = _atoms(use)
    if not atoms:
        return grid._replace(first=grid.first * finer, points=grid.points * finer)
    first, last = (grid.offset + (grid.first + k) * coarse - atoms[0] for k in (0, grid.points))
    low = floor(first / step)
    return grid._replace(offset=atoms[0], first=low, points=ceil(last / step) - low)


def _floor(x: Any, bits: int) -> int:
    return max(0, int((x * (1 << bits)).lower().floor().unique_fmpz()))


def _lowered(mp: Any, use: Use, grid: Grid, step: float, tilt: float) -> Lowered:
    law = _law(mp, use)
    if use.whole is not None and use.whole.losses is not None:
        cells = _lumps(law, sorted(use.whole.losses(mp)))
    else:
        points = [grid.offset + (grid.first + k) * step for k in range(grid.points)]
        lowest, even = points[0] - step / 2, [x + step / 2 for x in points[:-1]]
        edges = [lowest, *_moved(_apart_at_zero(mp, use, law, [lowest, *even])[: len(points)], points, even, step)]
        cells = _apart_at_zero(mp, use, law, edges)
    held = [(mp.arb(p), mp.arb(q)) for p, q in cells if p > 0 and q > 0]
    places = [_log(p / q) for p, q in held]
    offset = grid.offset + _best_shift(places, held, grid.offset, step, tilt)
    lowest = int((grid.offset - offset) // step) + grid.first - 1
    masses: dict[int, Any] = {}
    for (p, q), place in zip(held, places, strict=True):
        k = min(int((place - offset) // step), lowest + grid.points + 2)
        for _ in range(_TRIES):
            if k >= lowest and p >= q * (mp.arb(offset) + k * mp.arb(step)).exp():  # else it is left out
                masses[k] = masses.get(k, mp.arb(0)) + p
                break
            k -= 1
    return Lowered(offset, masses)


def _law(mp: Any, use: Use) -> Masses:
    """A loss → the masses of larger finite ones, as bare numbers."""
    if gaussian_cells.applies(mp, use):
        fast = gaussian_cells.above(mp, use)
        return lambda loss: fast(mp.arb(loss))

    def above(loss: Any) -> tuple[Any, Any]:
        p, q = laws.above(use, mp, mp.mpf(loss))
        return p.x, q.x

    return above


def _merged(mp: Any, law: Masses, edges: Sequence[float]) -> list[tuple[Any, Any]]:
    """The masses between edges, and above the last."""
    above = [*(law(x) for x in edges), (mp.arb(0), mp.arb(0))]
    return [(p - x, q - y) for (p, q), (x, y) in pairwise(above)]


def _apart_at_zero(mp: Any, use: Use, law: Masses, edges: Sequence[float]) -> list[tuple[Any, Any]]:
    """The same; of a batch without replacement the atom at 0, which may hold nearly all, as a last one by itself."""
    cells = _merged(mp, law, edges)
    if use.scheme != "without-replacement" or use.rate == 1 or not edges[0] < 0 < edges[-1]:
        return cells
    p, q = law(0.0)  # of the positive losses; the negative ones are their mirror images
    atom = 1 - p - q - laws.infinite(use, mp).x
    k = bisect_left(edges, 0.0) - 1
    cells[k] = cells[k][0] - atom, cells[k][1] - atom
    return [*cells, (atom, atom)]


def _lumps(law: Masses, losses: Sequence[float]) -> list[tuple[Any, Any]]:
    """Of every atom by itself."""
    between = [losses[0] - 1.0, *((a + b) / 2 for a, b in pairwise(losses)), losses[-1] + 1.0]
    above = [law(x) for x in between]
    return [(p - x, q - y) for (p, q), (x, y) in pairwise(above)]


def _moved(cells: Sequence[tuple[Any, Any]], points: Sequence[float], even: Sequence[float], step: float) -> list[float]:
    """The edges moved so that the merged losses come to lie on the points, nearly."""
    above = [_log(p / q) - x if p > _RARE and q > 0 else 0.0 for (p, q), x in zip(cells, points, strict=True)]
    return [e - min(max((a + b) / 2, -step / 4), step / 4) for e, (a, b) in zip(even, pairwise(above), strict=True)]


def _best_shift(places: Sequence[float], held: Sequence[tuple[Any, Any]], offset: float, step: float, tilt: float) -> float:
    """How far the grid is moved, to keep most weight: what is then below its point falls by a step."""
    weighed = []
    top = max((tilt * x + _log(p) for x, (p, _) in zip(places, held, strict=True)), default=0.0)
    for x, (p, _) in zip(places, held, strict=True):
        k = round((x - offset) / step)
        weighed.append((x - offset - k * step, exp(tilt * x + _log(p) - top)))
    weighed.sort()
    total, fallen, best = sum(w for _, w in weighed), 0.0, (-inf, 0.0)
    for place, weight in weighed:
        shift = place - _UNDER * step
        best = max(best, (tilt * shift + log1p(max(fallen / total * expm1(-tilt * step), -1 + 1e-16)), shift))
        fallen += weight
    return best[1]


def _log(x: Any) -> float:
    """Roughly, of a positive ball of any size."""
    value = float(x.mid())
    return log(value) if 1e-300 < value < inf else float(x.mid().log())
