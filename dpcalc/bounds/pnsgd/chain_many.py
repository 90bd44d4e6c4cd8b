"""chain.follow for many ε at once, by arrays: the profiles that a composition of epochs takes.

Each number is an upper bound, whatever block lengths are tried (chain.py); the search is shared by all ε.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.pnsgd.averages import mean
from dpcalc.bounds.pnsgd.chain import LOWEST, NOTHING, Path
from dpcalc.bounds.pnsgd.links import DIRECT
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Kappas = Callable[[Any], Any]  # block lengths → their κ, where the length alone says it

_RATIO, _NEXT = 1.3, 8  # between block lengths tried; as many of the shortest ones are
_NEAR = 2.5  # as far from the last best lengths they are looked for
_ALL, _OFTEN = 12, 4  # all lengths are tried at the first nodes, later at every fourth


_GONE = -700.0  # log δ: samples of a profile are rounded up to about that
_NEGLIGIBLE = 1e-5  # of a sum
def last_many(epsilon: Array, path: Path, kappas: Kappas, ways: dict[float, Any] | None = None) -> Array:
    """log d at the last node, never below it, for every ε."""
    last: Array = _followed(epsilon, path, kappas, lambda j, log_d: log_d < _GONE, ways)[-1]
    return last


def _followed(epsilon: Array, path: Path, kappas: Kappas, enough: Callable[[int, Array], Array], ways: dict[float, Any] | None) -> Array:
    """With `ways`, how: for every ε its links as whole numbers (links.py)."""
    if ways is None:
        return follow_many(epsilon, path, kappas, enough)
    codes = np.zeros((len(path.nodes), len(epsilon)), int)
    logs = follow_many(epsilon, path, kappas, enough, codes)
    ways |= zip(epsilon.tolist(), codes[1:].T, strict=True)
    return logs


def average_many(epsilon: Array, path: Path, kappas: Kappas, n: int, ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_{m<n} d_m for every ε, in blocks from above."""
    lengths = np.diff([*path.nodes, n])
    total = np.zeros(len(epsilon))
    first = np.zeros(len(epsilon))

    def enough(j: int, log_d: Array) -> Array:
        """Whether what is left is a negligible part of the sum; adds up the blocks on its way."""
        if j == 0:
            first[:] = np.maximum(log_d, LOWEST)
        height = np.exp(np.maximum(log_d - first, -745.0))
        done: Array = (n - path.nodes[j]) * height < _NEGLIGIBLE * total
        total[:] += height * lengths[j]
        return done

    return mean(_followed(epsilon, path, kappas, enough, ways), lengths)


def follow_many(epsilon: Array, path: Path, kappas_of: Kappas, enough: Callable[[int, Array], Array], codes: Array | None = None) -> Array:
    """log d at every node (rows) for every ε (columns); where enough(node, log d) says so it is not followed further: d falls. `codes`,
    zeros, take in the links (links.py)."""
    nodes = path.nodes
    tried = _candidates(tuple(nodes))
    kappas = kappas_of(tried.block)
    enters = kappas * (kappas / 2 - NOTHING)
    direct: Array = log_theta(epsilon, np.array([path.mu(j) for j in range(len(nodes))])[:, None])
    logs = direct.copy()
    levels = np.empty_like(logs)
    with np.errstate(all="ignore"):
        log_gap = np.where(epsilon < 600, np.log(np.expm1(np.minimum(epsilon, 600.0))), epsilon)
        levels[0] = _level(epsilon, log_gap, logs[0])
        highest = np.full(len(nodes), levels[0].max())  # level at a node
        go = np.arange(len(epsilon))
        e, gap, last = epsilon, log_gap, logs[0]
        shortest, longest = 1, 1
        for j in range(1, len(nodes)):
            done = enough(j - 1, logs[j - 1])[go]
            if done.any():  # these columns keep their last value
                logs[j:, go[done]] = np.minimum(logs[j:, go[done]], last[done])
                go = go[~done]
                if not len(go):
                    break
                e, gap, last = epsilon[go], log_gap[go], last[~done]
                highest[:j] = levels[:j, go].max(axis=1)
            last = np.minimum(logs[j, go], last)
            some = slice(tried.ends[j - 1], tried.ends[j])
            useful = (highest.take(tried.before[some]) >= enters[some]).nonzero()[0] + some.start
            if j >= _ALL and j % _OFTEN:
                useful = _near(useful, tried.block, shortest / _NEAR, longest * _NEAR)
            if len(useful):
                before, times = tried.before[useful], tried.times[useful]
                start, near = logs.take(before, axis=0), levels.take(before, axis=0)
                if len(go) < len(epsilon):
                    start, near = start[:, go], near[:, go]
                found = start + times[:, None] * log_theta(near, kappas[useful, None])
                best = found.argmin(axis=0)
                least = np.maximum(found[best, np.arange(len(go))] * (1 - 4e-16), LOWEST)
                gains = least < last
                if gains.any():
                    used = useful[best[gains]]
                    lengths = tried.block[used]
                    shortest, longest = int(lengths.min()), int(lengths.max())
                    if codes is not None:
                        codes[j, go[gains]] = tried.code[used]
                    last = np.minimum(last, least)
            logs[j, go] = last
            levels[j, go] = level = _level(e, gap, last)
            highest[j] = level.max()
    if codes is not None:
        codes[1:][(codes[1:] == 0) & (direct[1:] < logs[:-1])] = DIRECT
    return logs


def _near(useful: Array, block: Array, low: float, high: float) -> Array:
    """The last one, the longest, and those of about these lengths."""
    lengths = block[useful]
    some = (lengths >= low) & (lengths <= high)
    some[-1:] = True
    return useful[some]


def _level(epsilon: Array, log_gap: Array, log_d: Array) -> Array:
    """log(1 + (e^ε − 1)/d), rounded down; never below ε."""
    value = np.logaddexp(0.0, log_gap - log_d)
    rounding = 4e-15 * (1 + value + np.abs(log_gap) - log_d)
    level: Array = np.maximum(epsilon, value - rounding)  # at ε = 0 the logarithm of the gap, and its rounding, are infinite
    return level


class _Candidates(NamedTuple):
    """Node before, block length, how many blocks, and the link as a whole number (links.py); those to node j end at ends[j]."""

    before: Array
    block: Array
    times: Array
    code: Array
    ends: list[int]


@lru_cache(maxsize=4)
def _candidates(nodes: tuple[int, ...]) -> _Candidates:
    """At every node, by length, lengths about _RATIO apart: many blocks from the node before, and one from each of some nodes."""
    at = np.array(nodes)
    gap = np.diff(at, prepend=0)[:, None]
    many = _spread(2, gap.max())[::-1]
    longer = _spread(1, at[-1] / max(1, gap[1:].min(initial=1)))
    lengths = np.sort(np.concatenate((gap + np.arange(_NEXT), np.minimum(gap * longer.astype(float), at[-1]).astype(int)), axis=1), axis=1)
    one = np.maximum(at.searchsorted(at[:, None] - lengths, "right") - 1, 0)
    first = np.diff(one, prepend=len(nodes), axis=1) < 0  # each node once
    before = np.concatenate((np.broadcast_to(np.arange(len(nodes))[:, None] - 1, (len(nodes), len(many))), one), axis=1)
    block = np.concatenate((gap // many, at[:, None] - at[one]), axis=1)
    times = np.concatenate((np.broadcast_to(many, (len(nodes), len(many))), np.ones_like(one)), axis=1)
    some = np.concatenate((many <= gap, first), axis=1)
    some[0] = False
    code = np.where(times == 1, np.arange(len(nodes))[:, None] - before, -times)
    return _Candidates(before[some], block[some], times[some], code[some], np.cumsum(some.sum(axis=1)).tolist())


def _spread(low: int, high: float) -> Array:
    """Whole numbers about _RATIO apart."""
    found = [low]
    while found[-1] < high:
        found.append(max(found[-1] + 1, int(found[-1] * _RATIO)))
    return np.array(found)
