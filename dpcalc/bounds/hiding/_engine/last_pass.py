"""The Gaussian-DP parameters of the places of a record in the last of several shuffled passes.

Only the last iterate of T = qn + r slots is released, 0 < r <= n: q whole passes, each in a fresh order, then r slots
of another one. In the whole passes both runs use the same orders, so they differ in one slot of each, at worst the last
one: with r, r + n, …, r + (q−1)n later slots. In the last pass the record has m < r later slots, or (for n − r of n
orders) is absent. For c <= 1, in units of one push and with V(k) = Σ_{j<k} c^{2j}, the least Σ a_k² (see
bounds/noisy_sgd/_engine/taut.py) is that of at most four segments, from the end of the run backwards: (noise, push) =

    (V(m+1), c^m), (V(m′+1) − V(m+1), c^{m′}), (V(r+1) − V(m′+1), c^r), (V(r+(q−1)n+1) − V(r+1), Σ_{1<=i<q} c^{r+in}),

each merged with the later ones while its push per noise is not smaller; the last one stands for the pushes of all but
the last whole pass, whose push per noise does not fall backwards: the quotient of two that follow each other is c^{−n}
>= 1. The second one is left out for one place, the first two for a record that is absent. Two runs within a set of
diameter D are never more than D apart, so the shifts may also begin j passes before the end with a push of D
(`Run.earlier`; any j is valid). For j = 1, the beginning of the last pass, the third segment is (V(r) − V(m′+1), D̂c^r)
and there is no fourth; for j >= 2 the fourth is (V(r+(j−1)n) − V(r+1), Σ_{1<=i<j−1} c^{r+in} + D̂c^{r+(j−1)n}), D̂ =
D/(2ηL) >= 1, whose first push per noise is no smaller, as D̂c^{−n}V(n)/V(n−1) >= 1. For every start a push one slot
earlier in the last pass leaves no larger distance (pushes.py), so the cost falls in m and in m′."""

from collections.abc import Callable
from functools import lru_cache
from math import expm1, inf
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.hiding._engine.plan import Places, PlacesExact
from dpcalc.bounds.hiding._engine.pushes import SINGLE_PLACES
from dpcalc.bounds.noisy_sgd._engine.taut import Hull
from dpcalc.bounds.pnsgd._engine.positions import starts
from dpcalc.numerics.arrays import Array

Segments = list[tuple[Any, Any]]  # noise and push, from the end of the run backwards


class Powers(NamedTuple):
    """power(k) = c^k, noise(a, b) = V(b) − V(a) and sums(k) = Σ_{i<k} c^{in}, in doubles or at high precision."""

    power: Callable[[Any], Any]
    noise: Callable[[Any, Any], Any]
    sums: Callable[[int], Any]


class Run(NamedTuple):
    """q whole passes of n slots and r more slots; `relative_diameter` is D̂ = D/(2ηL), inf without a set."""

    n: int
    whole: int
    rest: int
    relative_diameter: Any = inf

    def earlier(self, c: Powers, top: Any, start: int) -> Segments:
        """The segments before the last `top` slots of the run, for shifts that begin `start` = j passes before the end,
        or at the beginning of the run for j = 0."""
        n, q, r = self.n, self.whole, self.rest
        if start == 1:
            return [(c.noise(top, r), self.relative_diameter * c.power(r))]
        passes = start - 2 if start else q - 1
        found: Segments = [(c.noise(top, r + 1), c.power(r))] if q else []
        if start:
            first = r + (start - 1) * n
            push = c.power(r + n) * c.sums(passes) + self.relative_diameter * c.power(first)
            return [*found, (c.noise(r + 1, first), push)]
        return [*found, (c.noise(r + 1, r + passes * n + 1), c.power(r + n) * c.sums(passes))] if q > 1 else found

    def starts(self) -> list[int]:
        """The starts that are tried. Any start is valid, and the best one is within a factor 1.3 of one of these."""
        if self.relative_diameter == inf or not self.whole:
            return [0]
        found, j = [0, 1], 2
        while j <= self.whole and self.relative_diameter >= 1:
            found.append(j)
            j = max(j + 1, int(1.3 * j))
        return found


def in_doubles(log_c: float, n: int) -> Powers:
    """`Powers` for c <= 1 in doubles."""
    low = max(log_c, -1e6)  # finite for c = 0, too; c^k is 0 in doubles for k >= 1 where log c <= −1e6

    def noise(a: Any, b: Any) -> Any:
        return np.exp(2 * a * low) * (np.expm1(2 * (b - a) * low) / expm1(2 * low) if low else b - a)

    return Powers(lambda k: np.exp(k * low), noise, lambda k: expm1(k * n * low) / expm1(n * low) if low else float(k))


def at_precision(mp: Any, c: Any, n: int) -> Powers:
    """`Powers` at high precision."""

    def noise(a: int, b: int) -> Any:
        return mp.mpf(b - a) if c == 1 else (c ** (2 * a) - c ** (2 * b)) / (1 - c * c)

    return Powers(lambda k: c**k, noise, lambda k: mp.mpf(k) if c == 1 else (1 - c ** (k * n)) / (1 - c**n))


def _cost(segments: Segments) -> Array:
    """The least Σ a_k² of at most four segments, from the end of the run backwards; noise and push are arrays of one
    shape. Segments are merged from the end (pool adjacent violators), as in taut.py."""
    hull: list[list[Any]] = []  # noise, push, and where the segment is not merged with an earlier one
    for noise, push in segments:
        noise, push = noise + 0.0, push + 0.0
        active = np.ones(noise.shape, bool)
        for later in reversed(hull):
            merged = active & later[2] & (push * later[0] >= later[1] * noise)
            active = active & (~later[2] | merged)
            noise, push = np.where(merged, noise + later[0], noise), np.where(merged, push + later[1], push)
            later[2] = later[2] & ~merged
        hull.append([noise, push, np.ones(noise.shape, bool)])
    with np.errstate(under="ignore"):
        terms = [np.where(separate, push**2 / np.where(separate, noise, 1.0), 0.0) for noise, push, separate in hull]
        found: Array = np.sum(terms, axis=0)
    return found


def _segments(run: Run, c: Powers, slots: list[Any], start: int) -> Segments:
    """The segments of pushes with these numbers of later slots in the last pass, and of all earlier pushes."""
    found: Segments = []
    top = 0
    for m in slots:
        found.append((c.noise(top, m + 1), c.power(m)))
        top = m + 1
    return found + run.earlier(c, top, start)


def _least_cost(run: Run, c: Powers, slots: list[Array]) -> tuple[Array, Array]:
    """The least cost over the starts that are tried, for arrays of places, and the starts that attain it."""
    shape = np.broadcast_shapes(*(x.shape for x in slots))
    tried = run.starts()
    costs = np.stack([_cost([(np.broadcast_to(noise, shape), np.broadcast_to(push, shape))
                             for noise, push in _segments(run, c, slots, start)]) for start in tried])
    return costs.min(axis=0), np.array(tried)[costs.argmin(axis=0)]


class Blocks(NamedTuple):
    """The places of the last pass in blocks."""

    begins: Array
    lengths: Array
    own: tuple[Array, Array]  # the least costs of one place, and the starts of the shifts that attain them
    pair: tuple[Array, Array]  # the least costs of two exchanged places, and the starts of their shifts


@lru_cache(maxsize=8)
def _blocks(log_c: float, run: Run, fine: int) -> Blocks:
    c, r = in_doubles(log_c, run.n), run.rest
    begins = np.array(starts(r, fine, SINGLE_PLACES), float)
    rows = np.minimum(begins[:, None], np.maximum(begins - 1, 0))
    columns = np.maximum(begins, 1) + 0 * begins[:, None]
    return Blocks(begins, np.diff(np.append(begins, r)), _least_cost(run, c, [begins]),
                  _least_cost(run, c, [rows, columns]))


@lru_cache(maxsize=8)
def places(first: float, log_c: float, run: Run, fine: int) -> Places:
    """The places of the last pass in blocks, each with the μ of its last slots, which is the largest. Where the last
    pass is not whole, a record that is absent from it is one more block, the last one."""
    blocks = _blocks(log_c, run, fine)

    def mu(cost: Array) -> Array:
        found: Array = first * np.sqrt(cost) * (1 + 1e-14)  # for the rounding of the cost
        return found

    own, pair = mu(blocks.own[0]), mu(blocks.pair[0])
    if run.rest == run.n:
        return Places(blocks.lengths, own, pair)
    absent = mu(_least_cost(run, in_doubles(log_c, run.n), [])[0]) if run.whole else np.array(0.0)
    pair = np.block([[pair, own[:, None]], [own[None, :], absent.reshape(1, 1)]])
    return Places(np.append(blocks.lengths, run.n - run.rest), np.append(own, absent), pair)


def places_exact(mp: Any, first: Any, c: Any, run: Run, fine: int, log_c: float, doubles: Run) -> PlacesExact:
    """The blocks of `places` at high precision, with the starts that are best for `doubles`, the run in doubles; any
    starts are valid."""
    powers, blocks = at_precision(mp, c, run.n), _blocks(log_c, doubles, fine)
    begins, lengths = [int(x) for x in blocks.begins], [int(x) for x in blocks.lengths]

    def mu(slots: list[int], start: Any) -> Any:
        hull, last = Hull(), None
        for noise, push in _segments(run, powers, slots, int(start)):
            last = hull.put(noise, push)
        return first * mp.sqrt(last[2]) if last else mp.mpf(0)

    def own(j: int) -> Any:
        if j < len(begins):
            return mu([begins[j]], blocks.own[1][j])
        return mu([], _least_cost(doubles, in_doubles(log_c, run.n), [])[1] if run.whole else 0)

    def pair(i: int, j: int) -> Any:
        return mu([begins[i], begins[j]], blocks.pair[1][i, j]) if j < len(begins) else own(i)

    return PlacesExact(lengths + ([run.n - run.rest] if run.rest < run.n else []), own, pair)
