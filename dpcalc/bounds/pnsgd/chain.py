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
from math import expm1, inf, log
from typing import Any, NamedTuple

from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import up

_NOTHING = 6.5  # standard deviations
LOWEST = -1.7e308  # a positive δ below e^LOWEST is reported as that, not as 0


class Link(NamedTuple):
    """How d was bounded at a node: from node `before` by `times` blocks of `block` steps; before = −1: as μ-GDP;
    times = 0: the value of the node before."""

    before: int
    block: int
    times: int


class Path(NamedTuple):
    """The nodes (steps after the record), μ at node j, and κ of `block` steps anywhere between nodes p and j."""

    nodes: list[int]
    mu: Callable[[int], float]
    kappa: Callable[[int, int, int], float]


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


def follow(epsilon: float, path: Path, enough: Callable[[int, float], bool] = lambda j, d: False) -> tuple[list[float], list[Link]]:
    """log d at every node, each an upper bound, and how it was found; stops early where enough(node, log d) says so.

    The block length is searched among powers of two, mostly near the last best one: any choice is sound.
    """
    nodes, log_gap = path.nodes, _log_gap(epsilon)
    logs, links = [log_gaussian(epsilon, path.mu(0))], [Link(-1, 0, 0)]
    levels = [_level(epsilon, log_gap, logs[0]) if logs[0] > -inf else inf]
    exponent, by_mu = 0, 0.0
    for j in range(1, len(nodes)):
        best, link = logs[-1], Link(j - 1, 0, 0)
        if best == -inf or enough(j - 1, best):
            break
        if by_mu < 30 or j % 16 == 0:  # far behind: looked at now and then only
            direct = log_gaussian(epsilon, path.mu(j))
            by_mu = direct - best
            if direct < best:
                best, link = direct, Link(-1, 0, 0)
        top = nodes[j].bit_length() - 1
        for e in _lengths(exponent, top, j, stuck=links[-1].times == 0):
            block = 1 << e
            p = min(bisect_right(nodes, nodes[j] - block) - 1, j - 1)
            span = nodes[j] - nodes[p]
            times = span // block
            kappa = path.kappa(p, j, span // times)
            if levels[p] < kappa * (kappa / 2 - _NOTHING):
                continue  # θ is 1 to ten digits
            factor = log_gaussian(levels[p], kappa)
            candidate = factor if factor == -inf else max(up(logs[p] + times * factor, 4e-16), LOWEST)
            if candidate < best:
                best, link, exponent = candidate, Link(p, span // times, times), e
        logs.append(best)
        links.append(link)
        levels.append(_level(epsilon, log_gap, best) if best > -inf else inf)
    return logs, links


def _lengths(last: int, top: int, j: int, stuck: bool) -> list[int]:
    """Exponents of the block lengths to try: those around the last best one; the longest where d did not fall (it starts to
    where blocks become long enough); now and then all."""
    if j % 8 == 0:
        return list(range(top + 1))
    near = list(range(max(0, last - 2), min(top, last + 2) + 1))
    return [*near, top] if stuck and top > last + 2 else near


def _surely_positive(x: Any) -> bool:
    """x > 0; of balls, whether that is sure."""
    return bool(x.surely_positive()) if hasattr(x, "surely_positive") else bool(x > 0)


def _surely_finite(x: Any) -> bool:
    """False of a ball that holds anything: of a number too small for its exponents."""
    return bool(x.surely_finite()) if hasattr(x, "surely_finite") else True


def follow_exact(mp: Any, epsilon: float, links: list[Link], theta: Callable[[Any, Any, Any], Any], mu: Callable[[int], Any],
                 kappa: Callable[[int, int, int], Any]) -> list[Any]:
    """d at every node along the same links, at high precision."""
    found: list[Any] = []
    e = mp.mpf(epsilon)
    for j, (before, block, times) in enumerate(links):
        if before < 0:
            found.append(theta(mp, e, mu(j)))
        elif times == 0 or not _surely_positive(found[before]):
            found.append(found[before])  # F(d) <= d
        else:
            d = found[before]
            smaller = d * theta(mp, mp.log1p(mp.expm1(e) / d), kappa(before, j, block)) ** times
            found.append(smaller if _surely_finite(smaller) else mp.between(0, d))
    return found


