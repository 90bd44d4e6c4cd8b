"""chain.follow for many ε at once, by arrays: the profiles that a composition of epochs takes.

Each number is an upper bound, whatever block lengths are tried (chain.py); the search is shared by all ε.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.pnsgd.chain import LOWEST, NOTHING, Path
from dpcalc.bounds.pnsgd.averages import mean
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_RATIO = 1.3  # between block lengths tried
_NEAR = 2.5  # as far from the last best lengths they are looked for
_OFTEN = 4  # all lengths are tried at every fourth node


_GONE = -700.0  # log δ: samples of a profile are rounded up to about that
_NEGLIGIBLE = 1e-5  # of a sum


def last_many(epsilon: Array, path: Path) -> Array:
    """log d at the last node, never below it, for every ε."""
    found: Array = follow_many(epsilon, path, lambda j, log_d: log_d < _GONE)[-1]
    return found


def average_many(epsilon: Array, path: Path, n: int) -> Array:
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

    return mean(follow_many(epsilon, path, enough), lengths)


def follow_many(epsilon: Array, path: Path, enough: Callable[[int, Array], Array]) -> Array:
    """log d at every node (rows) for every ε (columns); where enough(node, log d) says so it is not followed further: d falls."""
    nodes = path.nodes
    logs = log_theta(epsilon, np.array([path.mu(j) for j in range(len(nodes))])[:, None])
    levels = np.empty_like(logs)
    with np.errstate(all="ignore"):
        log_gap = np.where(epsilon < 600, np.log(np.expm1(np.minimum(epsilon, 600.0))), epsilon)
        levels[0] = _level(epsilon, log_gap, logs[0])
        go = np.flatnonzero(~enough(0, logs[0]))
        low, high = 1.0, 1.0
        for j in range(1, len(nodes)):
            logs[j] = np.minimum(logs[j], logs[j - 1])
            if not len(go):
                logs[j:] = np.minimum(logs[j:], logs[j - 1])
                break
            wide = j < 12 or j % _OFTEN == 0
            tried = _candidates(nodes, j, *((0.0, np.inf) if wide else (low / _NEAR, high * _NEAR)))
            before, block, times = np.array(tried).T
            kappa = np.array([path.kappa(p, j, k) for p, k, _ in tried])
            near = levels[np.ix_(before, go)]
            useful = (near >= (kappa * (kappa / 2 - NOTHING))[:, None]).any(axis=1)
            if useful.any():
                picked = np.flatnonzero(useful)
                factor = log_theta(near[picked], kappa[picked, None])
                found = np.maximum((logs[np.ix_(before[picked], go)] + times[picked, None] * factor) * (1 - 4e-16), LOWEST)
                best = found.argmin(axis=0)
                least = found[best, np.arange(len(go))]
                gains = least < logs[j, go]
                if gains.any():
                    used = block[picked][best[gains]]
                    low, high = float(used.min()), float(used.max())
                    logs[j, go] = np.minimum(logs[j, go], least)
            levels[j, go] = _level(epsilon[go], log_gap[go], logs[j, go])
            go = go[~enough(j, logs[j])[go]]
    return logs


def _level(epsilon: Array, log_gap: Array, log_d: Array) -> Array:
    """log(1 + (e^ε − 1)/d), rounded down; never below ε."""
    value = np.logaddexp(0.0, log_gap - log_d)
    rounding = 4e-15 * (1 + value + np.abs(log_gap) + np.abs(log_d))
    return np.where(log_gap == -np.inf, 0.0, np.maximum(epsilon, value - rounding))


def _candidates(nodes: list[int], j: int, least: float, most: float) -> list[tuple[int, int, int]]:
    """(node before, block length, how many blocks) with lengths in a range, about _RATIO apart; the longest always."""
    found, gap, times = [], nodes[j] - nodes[j - 1], 2
    while times <= gap and gap >= times * least:
        if gap <= most * times:
            found.append((j - 1, gap // times, times))
        times = max(times + 1, int(times * _RATIO))
    last = 0.0
    for p in range(j - 1, -1, -1):
        block = nodes[j] - nodes[p]
        if block > most and found:
            break
        if block >= max(least, last * _RATIO) or block <= last + 2:
            found.append((p, block, 1))
            last = block
    if not found or found[-1][0] > 0:
        found.append((0, nodes[j], 1))
    return found
