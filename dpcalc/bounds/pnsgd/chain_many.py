"""chain.follow for many ε at once, by arrays: the profiles that a composition of epochs takes.

Each number is an upper bound, whatever block lengths are tried (chain.py); the search is shared by all ε.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.pnsgd.averages import LEAST_HEIGHT, blocks_of, bows_many, mean
from dpcalc.bounds.pnsgd.chain import LOWEST, NOTHING, TIMES, Link
from dpcalc.bounds.pnsgd.links import DIRECT, coded
from dpcalc.bounds.pnsgd.positions import Ratio
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Along(NamedTuple):
    """A path (chain.py) where the length of a block alone says its κ, by arrays: the nodes, μ, and κ of block lengths."""

    nodes: list[int]
    mu: Ratio
    kappas: Callable[[Any], Any]


_RATIO, _NEXT = 1.3, 8  # between block lengths tried; as many of the shortest ones are
_NEAR = 2.5  # as far from the last best lengths they are looked for
_ALL, _OFTEN = 12, 4  # all lengths are tried at the first nodes, later at every fourth
_DENSE, _APART, _LENGTHS, _COLUMNS = 32, 1.6, 2, 16  # nodes, lengths, and ε, with which it is seen where blocks begin to be of use
_GAIN = 1e-4  # of log d, by a block that is of use
_AT_ONCE = 32  # nodes
_ROUNDING = 4e-15  # of a level, relative to what it is made from
_GONE = -700.0  # log δ: samples of a profile are rounded up to about that
_NEGLIGIBLE, _NOTHING_LEFT = 1e-5, 1e-9  # of a sum


def last_many(epsilon: Array, along: Along, ways: dict[float, Any] | None = None) -> Array:
    """log d at the last node, never below it, for every ε."""
    codes = _codes(epsilon, along, ways)
    last: Array = follow_many(epsilon, along, np.array([*[0.0] * (len(along.nodes) - 1), 1.0]), codes)[0][-1]
    _tell(ways, epsilon, codes)
    return last


def _codes(epsilon: Array, along: Along, ways: dict[float, Any] | None) -> Array | None:
    """What takes in the links, where these are to be told."""
    return None if ways is None else np.zeros((len(along.nodes), len(epsilon)), int)


def _tell(ways: dict[float, Any] | None, epsilon: Array, codes: Array | None) -> None:
    """For every ε its links as whole numbers (links.py)."""
    if ways is not None and codes is not None:
        ways |= zip(epsilon.tolist(), codes[1:].T, strict=True)


def average_many(epsilon: Array, along: Along, n: int, ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_{m<n} d_m for every ε, in blocks from above."""
    blocks = blocks_of(tuple(along.nodes), n)
    codes = _codes(epsilon, along, ways)
    logs, direct = follow_many(epsilon, along, blocks.lengths.astype(float), codes)
    bows, falls = bows_many(epsilon, along.mu, along.mu.many(blocks.at), blocks), np.ones(logs.shape, bool)
    falls[1:] = direct[1:] < logs[:-1]
    found = mean(logs, blocks, bows, falls & (logs == direct))
    mixed = (logs != direct).any(axis=0).nonzero()[0]
    if len(mixed):  # blocks may gain less than chords do
        alone, falls = direct[:, mixed], falls[:, mixed]
        falls[1:] = alone[1:] < alone[:-1]
        other = mean(alone, blocks, bows.of(mixed), falls)
        better = other < found[mixed]
        found[mixed[better]] = other[better]
        if codes is not None:
            codes[1:, mixed[better]] = np.where(falls[1:, better], DIRECT, 0)
    _tell(ways, epsilon, codes)
    return found


def one_by_one(epsilon: Array, at: Callable[[float], tuple[float, list[Link]]], ways: dict[float, Any] | None) -> Array:
    """The numbers that are found one by one, with their links, for every ε."""
    found = {e: at(e) for e in epsilon.tolist()}
    if ways is not None:
        ways |= {e: np.array(coded(links)) for e, (_, links) in found.items()}
    return np.array([log_d for log_d, _ in found.values()])


def as_mu(epsilon: float, along: Along) -> list[float]:
    """log d as μ-GDP at every node."""
    found: list[float] = log_theta(np.array([epsilon]), along.mu.many(np.array(along.nodes))).tolist()
    return found


def follow_many(epsilon: Array, along: Along, lengths: Array, codes: Array | None = None) -> tuple[Array, Array]:
    """log d at every node (rows) for every ε (columns, rising): as μ-GDP, and by blocks from where these are of use; and as μ-GDP alone.
    What counts is the sum of d by `lengths`: where nothing of it is left, the last number holds on. `codes`, zeros, take in the links, as
    whole numbers (links.py)."""
    tried = _candidates(tuple(along.nodes))
    kappas = along.kappas(tried.block)
    with np.errstate(all="ignore"):
        logs = _direct(epsilon, along, lengths)
        direct = logs.copy()
        starts = _starts(epsilon, logs, along.nodes, tried, kappas, lengths)
        some = (starts < len(logs)).nonzero()[0]
        if len(some):
            links = None if codes is None else np.zeros((len(logs), len(some)), int)
            logs[:, some] = _by_blocks(epsilon[some], logs[:, some], starts[some], tried, kappas, lengths, links)
            if codes is not None:
                codes[:, some] = links
        if codes is not None:
            codes[1:][(codes[1:] == 0) & (direct[1:] < logs[:-1])] = DIRECT
    return logs, direct


def _direct(epsilon: Array, along: Along, lengths: Array) -> Array:
    """log d as μ-GDP, as far as it counts, at all ε."""
    mu = along.mu.many(np.array(along.nodes))[:, None]
    logs = np.empty((len(mu), len(epsilon)))
    rest = lengths[::-1].cumsum()[::-1]
    go, total, first = np.arange(len(epsilon)), np.zeros(len(epsilon)), np.zeros(len(epsilon))
    for a in range(0, len(mu), _AT_ONCE):
        b = min(a + _AT_ONCE, len(mu))
        logs[a:b, go] = some = log_theta(epsilon[go], mu[a:b])
        if a == 0:
            first = some[0]
        height = np.exp(np.maximum(some - first[go], LEAST_HEIGHT))
        total[go] += lengths[a:b] @ height
        if b == len(mu):
            break
        done = (rest[b] * height[-1] < _NOTHING_LEFT * total[go]) | (some[-1] < _GONE)
        if done.any():
            logs[b:, go[done]] = some[-1, done]
            go = go[~done]
            if not len(go):
                break
    return logs


def _starts(epsilon: Array, logs: Array, nodes: list[int], tried: _Candidates, kappas: Array, lengths: Array) -> Array:
    """The node from which on blocks are of use, about, for every ε: seen at some nodes, by some lengths, at some ε."""
    tested = _apart(tuple(nodes))
    columns = np.array(sorted({*range(0, len(epsilon), -(-len(epsilon) // _COLUMNS)), len(epsilon) - 1}))
    e, known = epsilon[columns], logs[:, columns]
    ends = _ends(known, lengths)
    tested = tested[tested < ends.max()]
    levels = _columns(e).levels(known)
    each = [np.arange(tried.ends[j - 1], tried.ends[j])[:: -_LENGTHS if j >= _DENSE else 1] for j in tested.tolist()]
    rows, at = np.concatenate([*each, np.zeros(0, int)]), np.repeat(tested, [len(x) for x in each])
    before = tried.before[rows]
    highest = np.where(np.arange(len(logs))[:, None] < ends, levels, 0.0).max(axis=1)
    useful = highest[before] >= kappas[rows] * (kappas[rows] / 2 - NOTHING)
    rows, at, before = rows[useful], at[useful], before[useful]
    found = known[before] + tried.times[rows, None] * log_theta(levels[before], kappas[rows, None])
    first = np.where((found < known[at] - _GAIN) & (at[:, None] < ends), at[:, None], len(logs)).min(axis=0, initial=len(logs))
    last_without = np.append(0, tested)[np.searchsorted(tested, first)]
    start = np.where(first < len(logs), last_without + 1, len(logs))
    right = np.searchsorted(columns, np.arange(len(epsilon)))
    starts: Array = np.minimum(start[right], start[np.maximum(right - 1, 0)])
    return starts


def _ends(logs: Array, lengths: Array) -> Array:
    """The node from which on a negligible part of the sum is left, for every ε."""
    height = np.exp(np.maximum(logs - logs[0], LEAST_HEIGHT))
    total, rest = (height * lengths[:, None]).cumsum(axis=0), lengths[::-1].cumsum()[::-1, None]
    over = logs < _GONE
    over[1:] |= rest[1:] * height[1:] < _NEGLIGIBLE * total[:-1]
    ends: Array = np.where(over.any(axis=0), over.argmax(axis=0), len(logs))
    return ends


@lru_cache(maxsize=4)
def _apart(nodes: tuple[int, ...]) -> Array:
    """Nodes at which blocks are tested: the first ones, the last one, some between."""
    found, least = [], 1.0
    for j, m in enumerate(nodes[1:], 1):
        if m >= least or j < _DENSE or j == len(nodes) - 1:
            found.append(j)
            least = _APART * m
    return np.array(found, int)


def _by_blocks(epsilon: Array, logs: Array, starts: Array, tried: _Candidates, kappas: Array, lengths: Array, codes: Array | None) -> Array:
    """log d, as μ-GDP so far, bounded by blocks too from the starts on."""
    enters, begin, columns = kappas * (kappas / 2 - NOTHING), int(starts.min()), _columns(epsilon)
    so_far, levels = logs.copy(), np.empty_like(logs)  # of the columns that go on
    levels[:begin] = columns.levels(logs[:begin])
    highest = levels[begin - 1].max()  # at the last node
    rest, total = lengths[::-1].cumsum()[::-1], np.zeros(len(epsilon))
    go, last, counted = np.arange(len(epsilon)), logs[begin - 1], 0
    here: Any = slice(None)  # where to go on: a slice is faster than all columns one by one
    shortest, longest, begins = 1, 1, set(starts.tolist())
    for j in range(begin, len(logs)):
        every = j < _ALL or j % _OFTEN == 0 or j in begins
        if every:
            height = np.exp(np.maximum(logs[counted:j] - logs[0], LEAST_HEIGHT))
            total += lengths[counted:j] @ height
            done = ((rest[j] * height[-1] < _NEGLIGIBLE * total) | (logs[j - 1] < _GONE))[go]
            counted = j
            if done.any():  # these columns keep their last value
                logs[j:, go[done]] = np.minimum(logs[j:, go[done]], last[done])
                here = go = go[~done]
                if not len(go):
                    break
                columns, last = _columns(epsilon[go]), last[~done]
                so_far, levels = so_far.compress(~done, axis=1), levels.compress(~done, axis=1)
        last = np.minimum(so_far[j], last)
        first, end = tried.ends[j - 1], tried.ends[j]
        if every:
            first += int((enters[first:end] > highest).sum())  # the shortest ones
        else:
            first, end = (bisect_left(tried.lengths, x, first, end) for x in (shortest / _NEAR, longest * _NEAR))
        if first < end:
            before = tried.before[first:end]
            found = log_theta(levels.take(before, axis=0), kappas[first:end, None])
            found *= tried.times[first:end, None]
            found += so_far.take(before, axis=0)
            least = found.min(axis=0)
            least *= 1 - 4e-16
            np.maximum(least, LOWEST, out=least)
            gains = least < last
            if (every or codes is not None) and gains.any():
                used = found.argmin(axis=0)[gains] + first
                if every:
                    blocks = tried.block[used]
                    shortest, longest = int(blocks.min()), int(blocks.max())
                if codes is not None:
                    codes[j, go[gains]] = tried.code[used]
            last = np.minimum(last, least)
        logs[j, here] = so_far[j] = last
        levels[j] = level = columns.levels(last)
        highest = level.max()
    return logs


class _Columns(NamedTuple):
    """ε, log(e^ε − 1), and what of the rounding of a level depends on it alone."""

    epsilon: Array
    log_gap: Array
    rounding: Array

    def levels(self, log_d: Array) -> Array:
        """log(1 + (e^ε − 1)/d), rounded down; never below ε."""
        value = np.logaddexp(0.0, self.log_gap - log_d)
        value *= 1 - _ROUNDING
        value += _ROUNDING * log_d
        value -= self.rounding  # at ε = 0 infinite, as the logarithm of the gap
        level: Array = np.maximum(self.epsilon, value, out=value)
        return level


def _columns(epsilon: Array) -> _Columns:
    log_gap = np.where(epsilon < 600, np.log(np.expm1(np.minimum(epsilon, 600.0))), epsilon)
    return _Columns(epsilon, log_gap, _ROUNDING * (1 + np.abs(log_gap)))


class _Candidates(NamedTuple):
    """Node before, block length, how many blocks, and the link as a whole number (links.py); those to node j end at ends[j]."""

    before: Array
    block: Array
    times: Array
    code: Array
    ends: list[int]
    lengths: list[int]  # `block` once more, for single looks


@lru_cache(maxsize=4)
def _candidates(nodes: tuple[int, ...]) -> _Candidates:
    """At every node, by length, lengths about _RATIO apart: many blocks from the node before, and one from each of some nodes."""
    at = np.array(nodes)
    gap = np.diff(at, prepend=0)
    many = np.array(TIMES[bisect_left(TIMES, int(gap.max()) + 1) - 1 : 0 : -1], int)
    longer = _spread((at[1:] / gap[1:]).max(initial=1))  # the longest one is from the start
    lengths = np.concatenate((gap[:, None] + np.arange(_NEXT), np.minimum(gap[:, None] * longer.astype(float), at[-1]).astype(int)), axis=1)
    lengths.sort(axis=1)
    one = np.maximum(at.searchsorted(at[:, None] - lengths, "right") - 1, 0)
    first = np.diff(one, prepend=len(nodes), axis=1) < 0  # each node once
    some = np.concatenate((many <= gap[:, None], first), axis=1)
    some[0] = False
    node, column = some.nonzero()
    several = (column < len(many)).nonzero()[0]
    before, times = one[node, np.maximum(column - len(many), 0)], np.ones_like(node)
    before[several], times[several] = node[several] - 1, many[column[several]]
    block = (at[node] - at[before]) // times
    code = np.where(times == 1, node - before, -times)
    return _Candidates(before, block, times, code, some.sum(axis=1).cumsum().tolist(), block.tolist())


def _spread(high: float) -> Array:
    """Whole numbers from 1 on, about _RATIO apart."""
    found = [1]
    while found[-1] < high:
        found.append(max(found[-1] + 1, int(found[-1] * _RATIO)))
    return np.array(found)
