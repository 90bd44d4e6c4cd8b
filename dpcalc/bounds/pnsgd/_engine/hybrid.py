"""The sharpest bound on one record's divergence, step by step: amplification by iteration and by contraction together.

With γ = e^ε let d bound E_γ(P‖Q) at some step. Then d at a later step is bounded by F(d) = d·θ(log(1 + (e^ε−1)/d), κ).

Proof. Write P − γQ = d·p − (d+γ−1)·q with probability measures p, q (the positive part has mass d, the negative one
d + γ − 1). A kernel K commutes with that, so E_γ(PK‖QK) <= d·E_{1+(γ−1)/d}(pK‖qK), and by joint convexity the last
is at most its value between two starting points of K, at most D apart. K being k noisy contractions, those two are
κ-GDP: shift lemma, shift D brought to 0. θ increases in κ and falls in ε, and F increases in d: 1 + (γ−1)/d falls in
d. So bounds may be put in for d. r blocks in a row give at most d·θ(log(1 + (e^ε−1)/d), κ)^r: d only falls. ∎

By data processing a bound at some step holds at every later one: d falls along the path.
F(d) <= d·θ(ε, κ), the linear contraction of Asoodeh, Diaz & Calmon 2020: the result is never above it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import up

NOTHING = 6.5  # standard deviations
_SMALL = 0.1  # κ, where 1 − θ does not tell θ
_ALL, _FEW = 32, 64  # nodes that all block lengths are tried for; where there are no more than that
_PARTS, _FIRST = 20, 4  # of a step; nodes that all of them are tried for
_OFF = 0.03  # of θ, or of 1 − θ, that a rough look may be off by
_APART = 1.5  # nodes at which blocks are tried where none is of use
TIMES = [1, 2, 3, 4, 5, 6, 7, 8, *(int(8 * 1.2**k) for k in range(2, 140))]
_SPREAD = [0, 1, 2, 3, 4, 6, 8, 11, *(int(11 * 1.4**k) for k in range(1, 16))]
LOWEST = -1.7e308  # a positive δ below e^LOWEST is reported as that, not as 0


class Link(NamedTuple):
    """How d was bounded at a node: from node `before` by `times` blocks of `block` steps; before = −1: as μ-GDP;
    times = 0: the value of the node before."""

    before: int
    block: int
    times: int


Way = tuple[list[int], list[Link]]  # nodes, and how d was bounded at each


class Path(NamedTuple):
    """The nodes (steps after the record), μ at node j, κ of `block` steps anywhere between nodes p and j, and about
    that κ, faster."""

    nodes: list[int]
    mu: Callable[[int], float]
    kappa: Callable[[int, int, int], float]
    near: Callable[[int, int, int], float]


def _log_gap(epsilon: float) -> float:
    """log(e^ε − 1)."""
    if epsilon == 0:
        return -inf
    return log(expm1(epsilon)) if epsilon < 600 else epsilon


def _level(epsilon: float, log_gap: float, log_d: float) -> float:
    """log(1 + (e^ε − 1)/d), rounded down; never below ε."""
    if log_gap == -inf:
        return 0.0
    value = log_add(0.0, log_gap - log_d)
    return max(epsilon, value - 4e-16 * (1 + value + abs(log_gap) + abs(log_d) * 0.5))


def follow(epsilon: float, path: Path, enough: Callable[[int, float], bool] = lambda j, d: False,
           as_mu: Callable[[int], float] | None = None) -> tuple[list[float], list[Link]]:
    """log d at every node, each an upper bound, and how it was found; stops early where enough(node, log d) says so.
    `as_mu` is what μ-GDP says at a node, where that is known.

    The blocks are chosen by a rough θ: any choice is sound. Where none was of use at the node before, they are tried
    now and then (seldom as long as d falls as μ-GDP); if one is of use again, at the nodes since as well. """
    nodes, log_gap = path.nodes, _log_gap(epsilon)
    direct_at = as_mu or (lambda j: log_gaussian(epsilon, path.mu(j)))
    logs, links = [direct_at(0)], [Link(-1, 0, 0)]
    levels = [_level(epsilon, log_gap, logs[0]) if logs[0] > -inf else inf]
    place, by_mu, tried = 0, 0.0, 0

    def by_block(j: int, lost: bool) -> None:
        """The number of node j, if it is less by blocks."""
        nonlocal place
        place = _place(path, j, levels, logs, place, lost)
        p, block, times = _blocks(nodes, j, place)
        kappa = path.kappa(p, j, block)
        if levels[p] < kappa * (kappa / 2 - NOTHING):
            return
        factor = log_gaussian(levels[p], kappa)
        candidate = factor if factor == -inf else max(up(logs[p] + times * factor, 4e-16), LOWEST)
        if candidate < logs[j]:
            logs[j], links[j] = candidate, Link(p, block, times)
            levels[j] = _level(epsilon, log_gap, candidate) if candidate > -inf else inf

    for j in range(1, len(nodes)):
        best, link = logs[-1], Link(j - 1, 0, 0)
        if best <= LOWEST or enough(j - 1, best):
            break
        if by_mu < 30 or j % 16 == 0:  # far behind: looked at now and then only
            direct = direct_at(j)
            by_mu = direct - best
            if direct < best:
                best, link = direct, Link(-1, 0, 0)
        lost = links[-1].times == 0 and j > _ALL and len(nodes) > _FEW
        logs.append(best)
        links.append(link)
        levels.append(_level(epsilon, log_gap, best) if best > -inf else inf)
        if lost and j < len(nodes) - 1:
            soon = nodes[j] < _APART * nodes[tried] or not _in_reach(path, j, levels[-1]) if link.before < 0 else j % 4
            if soon:
                continue
        by_block(j, lost)
        if lost and links[j].times:
            for k in range(tried + 1, j + 1):
                if logs[k] > logs[k - 1]:
                    logs[k], links[k], levels[k] = logs[k - 1], Link(k - 1, 0, 0), levels[k - 1]
                by_block(k, True)
        tried = j
    return logs, links


def _in_reach(path: Path, j: int, level: float) -> bool:
    """Whether the longest block is of use to that level."""
    kappa = path.near(0, j, path.nodes[j])
    return level >= kappa * (kappa / 2 - NOTHING)


# --- where to look for the best blocks -------------------------------------------------------------------------------


def _blocks(nodes: list[int], j: int, place: int) -> tuple[int, int, int]:
    """(node before, block length, how many blocks). Place 0 is one block from the node before j, 1 from the one before
    that, and so on; −1, −2, … are 2, 3, … blocks from the node before j."""
    if place >= 0:
        return j - 1 - place, nodes[j] - nodes[j - 1 - place], 1
    times = TIMES[-place]
    return j - 1, (nodes[j] - nodes[j - 1]) // times, times


def _place(path: Path, j: int, levels: list[float], logs: list[float], last: int, lost: bool) -> int:
    """About the best place: all are looked at near the record, later those next to the last best one, now and then
    (more often where no block was of use) some of all lengths; from there on downhill."""
    nodes = path.nodes
    least = 1 - bisect_right(TIMES, nodes[j] - nodes[j - 1])  # a block is a step at least
    found: dict[int, float] = {}

    def height(place: int) -> float:
        if place not in found:
            p, block, times = _blocks(nodes, j, place)
            found[place] = logs[p] + times * _rough(levels[p], path.near(p, j, block))
        return found[place]

    if j <= (_FEW if len(nodes) <= _FEW else _ALL) and nodes[j] == nodes[j - 1] + 1:
        best = min(range(least, j), key=height)
        return _of_alike(path, j, levels, logs, {k: height(k) for k in range(least, j)},
                         best) if len(nodes) <= _FEW else best
    tried = {min(max(k, least), j - 1) for k in (last, last + 1, last * 2 // 3, last // 3, last * 3 // 2)}
    if least >= -_PARTS and (j <= _FIRST or j % 8 == 0):  # few parts of short steps, of which one suits
        tried |= {*range(least, 0)}
    if lost or j % 8 == 0:
        sparse = 2 if lost else 1
        tried |= {*range(least, 0, 3 * sparse), *(k for k in _SPREAD[::sparse] if k < j), j - 1}
    best = min(tried, key=height)
    for way in (1, -1):
        while least <= best + way < j and height(best + way) < height(best):
            best += way
    return best


def _of_alike(path: Path, j: int, levels: list[float], logs: list[float], heights: dict[int, float], best: int) -> int:
    """The best of the places that are within what a rough look may be off by of the one that seems best."""

    def off(place: int) -> float:
        p, _, times = _blocks(path.nodes, j, place)
        return _OFF * min(logs[p] - heights[place], times)

    def exactly(place: int) -> float:
        p, block, times = _blocks(path.nodes, j, place)
        return logs[p] + times * log_gaussian(levels[p], path.kappa(p, j, block))

    most = heights[best] + off(best)
    return min((k for k, x in heights.items() if x - off(k) <= most), key=exactly)


def _rough(level: float, kappa: float) -> float:
    """log θ(level, κ) to about a hundredth of θ or 1 − θ; R is near 1/g."""
    if not 1e-140 < kappa < 1e140 or level > 1e140:
        return 0.0 if level < kappa * (kappa / 2) else -inf
    a = level / kappa - kappa / 2
    if not -NOTHING < a < 1e70:
        return 0.0 if a < 0 else -inf
    b = a + kappa
    root_a, root_b = sqrt(a * a + 5.51), sqrt(b * b + 5.51)
    far = 0.661 * b + 0.339 * root_b
    if a < 0 and kappa > _SMALL:
        return log1p(-min(0.9999, 0.398942 * exp(max(-a * a / 2, -700.0))
                          * (1 / (0.339 * root_a - 0.661 * a) + 1 / far)))
    near = 0.661 * a + 0.339 * root_a
    return log(kappa * (0.661 + 0.339 * (a + b) / (root_a + root_b)) / (near * far)) - 0.918939 - a * a / 2


def _surely_positive(x: Any) -> bool:
    """x > 0; of balls, whether that is sure."""
    return bool(x.surely_positive()) if hasattr(x, "surely_positive") else bool(x > 0)


def _surely_finite(x: Any) -> bool:
    """False of a ball that holds anything: of a number too small for its exponents."""
    return bool(x.surely_finite()) if hasattr(x, "surely_finite") else True


def follow_exact(mp: Any, epsilon: float, links: list[Link], theta: Callable[[Any, Any, Any], Any],
                 mu: Callable[[int], Any],
                 kappa: Callable[[int, int, int], Any]) -> list[Any]:
    """d at every node along the same links, at high precision."""
    found: list[Any] = []
    e = mp.mpf(epsilon)
    gap = mp.expm1(e)
    for j, (before, block, times) in enumerate(links):
        if before < 0:
            found.append(theta(mp, e, mu(j)))
        elif times == 0 or not _surely_positive(found[before]):
            found.append(found[before])  # F(d) <= d
        else:
            d = found[before]
            smaller = d * theta(mp, mp.log1p(gap / d), kappa(before, j, block)) ** times
            found.append(smaller if _surely_finite(smaller) else mp.between(0, d))
    return found


