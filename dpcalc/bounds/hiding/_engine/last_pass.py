"""Several shuffled passes of which only the last iterate is released: the Gaussian-DP parameters of places in the last
pass.

T = qn + r slots, 0 < r <= n: q whole passes, each in a fresh order, then r slots of another one. In the whole passes
both runs use the same orders, so they differ in one slot of each, at worst the last one: with r, r + n, …, r + (q−1)n
later slots. In the last pass the record has m < r later slots, or (for n − r of n orders) is absent. For c <= 1, in
units of one push and with V(k) = Σ_{j<k} c^{2j}, the least Σ a_k² (noisy_sgd/taut.py) is that of at most four segments,
from the end of the run backwards: (noise, push) =

    (V(m+1), c^m), (V(m′+1) − V(m+1), c^{m′}), (V(r+1) − V(m′+1), c^r), (V(r+(q−1)n+1) − V(r+1), Σ_{1<=i<q} c^{r+in}),

each merged with the later ones while its push per noise is not smaller; the last one stands for the pushes of all but
the last whole pass, whose push per noise does not fall backwards: the quotient of two that follow each other is c^{−n}
>= 1. The second one is left out for one place, the first two for a record that is absent. Two runs within a set of
diameter D are never more than D apart, so all may also begin j passes before the end with a push of D (`Run.earlier`;
any j is valid). For j = 1, the beginning of the last pass, the third segment is (V(r) − V(m′+1), D̂c^r) and there is no
fourth; for j >= 2 the fourth is (V(r+(j−1)n) − V(r+1), Σ_{1<=i<j−1} c^{r+in} + D̂c^{r+(j−1)n}), D̂ = D/(2ηL) >= 1,
whose first push per noise is no smaller, as D̂c^{−n}V(n)/V(n−1) >= 1. For every start a push one slot earlier in the
last pass leaves no larger distance (pushes.py), so the cost falls in m and in m′. """

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import expm1, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.hiding._engine.plan import Places, PlacesExact
from dpcalc.bounds.hiding._engine.pushes import ALONE
from dpcalc.bounds.noisy_sgd._engine.taut import Hull
from dpcalc.bounds.pnsgd._engine.positions import starts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_LONGER = 1.3  # the numbers of passes that are tried for a start within the set grow by this factor
_ROUNDING = 1e-14  # relative: of μ, but where it is far below that of m = 0, and nothing to it
_LEAST = -1e6  # of log c: a step that forgets as much forgets everything
Segments = list[tuple[Any, Any]]  # noise and push, from the end of the run backwards


class Powers(NamedTuple):
    """Powers of c in one arithmetic: k → c^k, (a, b) → V(b) − V(a), k → Σ_{i<k} c^{in}."""

    power: Callable[[Any], Any]
    noise: Callable[[Any, Any], Any]
    sums: Callable[[int], Any]


class Run(NamedTuple):
    """q whole passes of n slots and r more; `wide` = D̂, inf without a set."""

    n: int
    whole: int
    rest: int
    wide: Any = inf

    def earlier(self, c: Powers, top: Any, start: int) -> Segments:
        """What came before the `top` last slots, from the start j passes before the end; j = 0: from the beginning."""
        n, q, r = self.n, self.whole, self.rest
        if start == 1:
            return [(c.noise(top, r), self.wide * c.power(r))]
        passes = start - 2 if start else q - 1
        found: Segments = [(c.noise(top, r + 1), c.power(r))] if q else []
        if start:
            first = r + (start - 1) * n
            return [*found, (c.noise(r + 1, first), c.power(r + n) * c.sums(passes) + self.wide * c.power(first))]
        return [*found, (c.noise(r + 1, r + passes * n + 1), c.power(r + n) * c.sums(passes))] if q > 1 else found

    def starts(self) -> list[int]:
        """The starts that are tried."""
        if self.wide == inf or not self.whole:
            return [0]
        found, j = [0, 1], 2
        while j <= self.whole and self.wide >= 1:
            found.append(j)
            j = max(j + 1, int(j * _LONGER))
        return found


def in_doubles(log_c: float, n: int) -> Powers:
    """c <= 1, and c^n in sums."""
    low = max(log_c, _LEAST)

    def noise(a: Any, b: Any) -> Any:
        return np.exp(2 * a * low) * (np.expm1(2 * (b - a) * low) / expm1(2 * low) if low else b - a)

    return Powers(lambda k: np.exp(k * low), noise, lambda k: expm1(k * n * low) / expm1(n * low) if low else float(k))


def at_precision(mp: Any, c: Any, n: int) -> Powers:
    def noise(a: int, b: int) -> Any:
        return mp.mpf(b - a) if c == 1 else (c ** (2 * a) - c ** (2 * b)) / (1 - c * c)

    return Powers(lambda k: c**k, noise, lambda k: mp.mpf(k) if c == 1 else (1 - c ** (k * n)) / (1 - c**n))


def cost(segments: Segments) -> Array:
    """The least Σ a_k² of at most four segments, from the end of the run backwards, whose numbers are arrays of one
    shape: segments are merged from the end (pool adjacent violators)."""
    stack: list[list[Any]] = []  # noise, push, and where it still stands
    for noise, push in segments:
        noise, push = noise + 0.0, push + 0.0
        active = np.ones(noise.shape, bool)
        for later in reversed(stack):
            merged = active & later[2] & (push * later[0] >= later[1] * noise)
            active = active & (~later[2] | merged)
            noise, push = np.where(merged, noise + later[0], noise), np.where(merged, push + later[1], push)
            later[2] = later[2] & ~merged
        stack.append([noise, push, np.ones(noise.shape, bool)])
    with np.errstate(under="ignore"):
        found: Array = np.sum([np.where(stands, push**2 / np.where(stands, noise, 1.0), 0.0) for noise, push,
                               stands in stack], axis=0)
    return found


def _segments(run: Run, c: Powers, slots: list[Any], start: int) -> Segments:
    """Of pushes with these numbers of later slots in the last pass, and all earlier ones."""
    found: Segments = []
    top = 0
    for m in slots:
        found.append((c.noise(top, m + 1), c.power(m)))
        top = m + 1
    return found + run.earlier(c, top, start)


def _least(run: Run, c: Powers, slots: list[Array]) -> tuple[Array, Array]:
    """The least cost over all starts, for arrays of places, and the starts that give it."""
    shape = np.broadcast_shapes(*(x.shape for x in slots))
    tried = run.starts()
    costs = np.stack([cost([(np.broadcast_to(noise, shape), np.broadcast_to(push, shape))
                            for noise, push in _segments(run, c, slots, start)]) for start in tried])
    return costs.min(axis=0), np.array(tried)[costs.argmin(axis=0)]


class Blocks(NamedTuple):
    """The last pass in blocks: their starts and lengths, and the least costs (with their starts of the run) of one
    place and of two."""

    at: Array
    lengths: Array
    own: tuple[Array, Array]
    pair: tuple[Array, Array]


@lru_cache(maxsize=8)
def _blocks(log_c: float, run: Run, fine: int) -> Blocks:
    c, r = in_doubles(log_c, run.n), run.rest
    at = np.array(starts(r, fine, ALONE), float)
    rows, columns = np.minimum(at[:, None], np.maximum(at - 1, 0)), np.maximum(at, 1) + 0 * at[:, None]
    return Blocks(at, np.diff(np.append(at, r)), _least(run, c, [at]), _least(run, c, [rows, columns]))


@lru_cache(maxsize=8)
def places(first: float, log_c: float, run: Run, fine: int) -> Places:
    """The places of the last pass in blocks, each at its last slots, where μ is larger; a record that is absent comes
    last."""
    blocks = _blocks(log_c, run, fine)

    def mu(cost: Array) -> Array:
        found: Array = first * np.sqrt(cost) * (1 + _ROUNDING)
        return found

    own, pair = mu(blocks.own[0]), mu(blocks.pair[0])
    if run.rest == run.n:
        return Places(blocks.lengths, own, pair)
    absent = mu(_least(run, in_doubles(log_c, run.n), [])[0]) if run.whole else np.array(0.0)
    pair = np.block([[pair, own[:, None]], [own[None, :], absent.reshape(1, 1)]])
    return Places(np.append(blocks.lengths, run.n - run.rest), np.append(own, absent), pair)


def places_exact(mp: Any, first: Any, c: Any, run: Run, fine: int, log_c: float, doubles: Run) -> PlacesExact:
    """The same at high precision, with the starts of the run that doubles choose: any are valid."""
    powers, blocks = at_precision(mp, c, run.n), _blocks(log_c, doubles, fine)
    at, lengths = [int(x) for x in blocks.at], [int(x) for x in blocks.lengths]

    def mu(slots: list[int], start: Any) -> Any:
        hull, last = Hull(), None
        for noise, push in _segments(run, powers, slots, int(start)):
            last = hull.put(noise, push)
        return first * mp.sqrt(last[2]) if last else mp.mpf(0)

    def own(j: int) -> Any:
        if j < len(at):
            return mu([at[j]], blocks.own[1][j])
        return mu([], _least(doubles, in_doubles(log_c, run.n), [])[1] if run.whole else 0)

    def pair(i: int, j: int) -> Any:
        return mu([at[i], at[j]], blocks.pair[1][i, j]) if j < len(at) else own(i)

    return PlacesExact(lengths + ([run.n - run.rest] if run.rest < run.n else []), own, pair)
