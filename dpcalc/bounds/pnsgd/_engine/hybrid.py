"""Upper bounds on one record's divergence after every step: amplification by iteration and by contraction together.

With γ = e^ε let d bound E_γ(P‖Q) at some step. Then d at a later step is bounded by F(d) = d·θ(log(1 + (e^ε−1)/d), κ).

Proof. Write P − γQ = d·p − (d+γ−1)·q with probability measures p, q (the positive part has mass d, the negative one
d + γ − 1). A kernel K preserves this decomposition, so E_γ(PK‖QK) <= d·E_{1+(γ−1)/d}(pK‖qK), and by joint convexity the
last is at most its value between two starting points of K, at most D apart. K being k noisy contractions, those two are
κ-GDP: shift lemma, a shift of D brought to 0. θ increases in κ and falls in ε, and F increases in d, as 1 + (γ−1)/d
falls in d; so d may be replaced by an upper bound. r blocks in a row give at most d·θ(log(1 + (e^ε−1)/d), κ)^r, because
d never rises. ∎

By data processing a bound at some step holds at every later one: d falls along the path.
F(d) <= d·θ(ε, κ), the linear contraction of Asoodeh, Diaz & Calmon 2020: the result is never above it.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from math import exp, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.numerics.elementary import log_add, log_expm1
from dpcalc.numerics.rounding import up

# Numbers of equal blocks, and distances in nodes, from which a search for the best block begins.
BLOCK_COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, *(int(8 * 1.2**k) for k in range(2, 140))]
_DISTANCES = [0, 1, 2, 3, 4, 6, 8, 11, *(int(11 * 1.4**k) for k in range(1, 16))]
# A smaller log δ is raised to this, as ball arithmetic would need many bits for it. The claimed accuracy of the hybrids
# ends there: the reported value is still an upper bound.
LEAST_LOG = -1e30


class Link(NamedTuple):
    """How d was bounded at a node: from node `before` by `times` blocks of `block` steps each.

    before = −1: by μ-GDP. times = 0: the value of the node before.
    """

    before: int
    block: int
    times: int


Way = tuple[list[int], list[Link]]  # nodes, and how d was bounded at each


class Path(NamedTuple):
    """The steps after the record at which d is bounded, and the GDP parameters between them."""

    nodes: list[int]  # numbers of steps after the record, rising from 0
    mu: Callable[[int], float]  # node j → μ of the record there, by iteration alone; rounded up
    kappa: Callable[[int, int, int], float]  # nodes p < j, steps → κ of so many steps between them; rounded up
    approximate_kappa: Callable[[int, int, int], float]  # κ to a few percent, faster


def conditional_epsilon(epsilon: float, log_excess: float, log_d: float) -> float:
    """log(1 + (e^ε − 1)/d) rounded down, the ε at which F takes θ; `log_excess` is log(e^ε − 1). Never below ε."""
    if log_d == -inf:
        return inf
    if log_excess == -inf:
        return 0.0
    value = log_add(0.0, log_excess - log_d)
    return max(epsilon, value - 4e-16 * (1 + value + abs(log_excess) + abs(log_d) * 0.5))


def follow(epsilon: float, path: Path,
           enough: Callable[[int, float], bool] = lambda j, log_d: False) -> tuple[list[float], list[Link]]:
    """Upper bounds on log d at every node of a path, and how each was found; stops where enough(node, log d) is true.

    Each is the least of the bound at the node before, of μ-GDP, and of one choice of blocks. Any choice is sound.
    """
    log_excess = log_expm1(epsilon)
    logs, links = [log_gaussian(epsilon, path.mu(0))], [Link(-1, 0, 0)]
    levels = [conditional_epsilon(epsilon, log_excess, logs[0])]
    place = 0
    for j in range(1, len(path.nodes)):
        value, link = logs[-1], Link(j - 1, 0, 0)
        if value <= LEAST_LOG or enough(j - 1, value):
            break
        if (direct := log_gaussian(epsilon, path.mu(j))) < value:
            value, link = direct, Link(-1, 0, 0)
        if _approximate_log_theta(levels[-1], path.approximate_kappa(0, j, path.nodes[j])) < 0:
            place = _best_place(path, j, levels, logs, place)
            before, block, times = _block_at(path.nodes, j, place)
            log_theta = log_gaussian(levels[before], path.kappa(before, j, block))
            by_blocks = -inf if log_theta == -inf else max(up(logs[before] + times * log_theta, 4e-16), LEAST_LOG)
            if by_blocks < value:
                value, link = by_blocks, Link(before, block, times)
        logs.append(value)
        links.append(link)
        levels.append(conditional_epsilon(epsilon, log_excess, value))
    return logs, links


# --- the search for the best blocks: any choice is sound -------------------------------------------------------------


def _block_at(nodes: list[int], j: int, place: int) -> tuple[int, int, int]:
    """(node before, steps of a block, how many blocks) of a place in the order of block lengths.

    Place 0 is one block from the node before j, 1 from the one before that, and so on; −1, −2, … are 2, 3, … equal
    blocks from the node before j.
    """
    if place >= 0:
        return j - 1 - place, nodes[j] - nodes[j - 1 - place], 1
    times = BLOCK_COUNTS[-place]
    return j - 1, (nodes[j] - nodes[j - 1]) // times, times


def _best_place(path: Path, j: int, levels: list[float], logs: list[float], last: int) -> int:
    """The place of nearly the best block that ends at node j; `last` is the place found for the previous node.

    On a short path all places are compared. Else a descent by an approximate θ starts from the best of some places near
    the last one and, at the first nodes and then at every eighth one, of some places of all lengths.
    """
    nodes = path.nodes
    shortest = 1 - bisect_right(BLOCK_COUNTS, nodes[j] - nodes[j - 1])  # a block is a step at least
    is_short = nodes[-1] < 64  # at most 2000 evaluations of the exact θ, 10 µs each

    @cache
    def height(place: int) -> float:
        before, block, times = _block_at(nodes, j, place)
        if is_short:
            return logs[before] + times * log_gaussian(levels[before], path.kappa(before, j, block))
        return logs[before] + times * _approximate_log_theta(levels[before], path.approximate_kappa(before, j, block))

    if is_short:
        return min(range(shortest, j), key=height)
    tried = {min(max(k, shortest), j - 1) for k in (last, last + 1, last * 2 // 3, last // 3, last * 3 // 2)}
    if j <= 8 or j % 8 == 0:
        tried |= {*range(shortest, 0, max(1, -shortest // 20)), *(k for k in _DISTANCES if k < j), j - 1}
    best = min(tried, key=height)
    for direction in (1, -1):
        while shortest <= best + direction < j and height(best + direction) < height(best):
            best += direction
    return best


def _approximate_log_theta(epsilon: float, kappa: float) -> float:
    """log θ(ε, κ) to about a hundredth of θ or of 1 − θ; 0 where 1 − θ is below 1e-10.

    The Mills ratio R(x) is taken as 1/(.661x + .339√(x² + 5.51)) (Börjesson & Sundberg 1979).
    """
    if not 1e-140 < kappa < 1e140 or epsilon > 1e140:  # squares overflow
        return 0.0 if epsilon < kappa * (kappa / 2) else -inf
    a = epsilon / kappa - kappa / 2
    if not -6.5 < a < 1e70:
        return 0.0 if a < 0 else -inf
    b = a + kappa
    root_a, root_b = sqrt(a * a + 5.51), sqrt(b * b + 5.51)
    inverse_b = 0.661 * b + 0.339 * root_b
    if a < 0 and kappa > 0.1:  # 1 − θ = φ(a)(R(−a) + R(b)); for a smaller κ that is near 1
        return log1p(-min(0.9999, 0.398942 * exp(-a * a / 2) * (1 / (0.339 * root_a - 0.661 * a) + 1 / inverse_b)))
    # θ = φ(a)(R(a) − R(b)), by the difference of the roots without cancellation
    inverse_a = 0.661 * a + 0.339 * root_a
    fall = kappa * (0.661 + 0.339 * (a + b) / (root_a + root_b)) / (inverse_a * inverse_b)
    return log(fall) - 0.918939 - a * a / 2


# --- the same path at high precision ---------------------------------------------------------------------------------


def follow_exact(mp: Any, epsilon: float, links: list[Link], theta: Callable[[Any, Any, Any], Any],
                 mu: Callable[[int], Any],
                 kappa: Callable[[int, int, int], Any]) -> list[Any]:
    """The bounds d at every node along given links, at high precision; `theta` is (mp, ε, κ) → θ."""
    found: list[Any] = []
    e = mp.mpf(epsilon)
    excess = mp.expm1(e)
    for j, (before, block, times) in enumerate(links):
        if before < 0:
            found.append(theta(mp, e, mu(j)))
            continue
        d = found[before]
        if times and (d.surely_positive() if hasattr(d, "surely_positive") else d > 0):
            smaller = d * theta(mp, mp.log1p(excess / d), kappa(before, j, block)) ** times
            # A ball is not bounded where a number is too small for its exponents.
            is_bounded = smaller.surely_finite() if hasattr(smaller, "surely_finite") else True
            found.append(smaller if is_bounded else mp.between(0, d))
        else:
            found.append(d)  # a bound too, as F(d) <= d
    return found


# --- links as whole numbers, one for every node after the first, as records carry them --------------------------------
# k > 0: one block from the k-th node before. 0: the bound at the previous node. −1: μ-GDP. −t < −1: t equal blocks from
# the previous node, each as long as possible. Any such numbers are a proof: no block spans more steps than there are.


def coded(links: Sequence[Link]) -> list[int]:
    """The codes of the links after the first, without the zeros at the end."""
    codes = [-1 if x.before < 0 else j - x.before if x.times == 1 else -x.times for j, x in enumerate(links)][1:]
    last = len(codes)
    while last and not codes[last - 1]:
        last -= 1
    return codes[:last]


def decoded(nodes: Sequence[int], codes: Sequence[int]) -> list[Link]:
    """The links that the codes stand for. Raises ValueError where they are no links between these nodes."""
    if len(codes) >= len(nodes) or nodes[0] != 0 or any(a >= b for a, b in pairwise(nodes)):
        raise ValueError("its links lead to nodes that are none")
    found = [Link(-1, 0, 0)]
    for j, code in enumerate(codes, 1):
        between = nodes[j] - nodes[j - 1]
        if type(code) is not int or code > j or -code > max(1, between):
            raise ValueError(f"its link {j} is {str(code)[:20]}, none")
        if code > 0:
            found.append(Link(j - code, nodes[j] - nodes[j - code], 1))
        elif code == -1:
            found.append(Link(-1, 0, 0))
        else:
            found.append(Link(j - 1, between // -code if code else 0, -code))
    return found


def needed(codes: Sequence[int]) -> list[int]:
    """The codes that the bound at the last node depends on; the others are replaced by 0."""
    found, j = [0] * len(codes), len(codes)
    while j > 0:
        found[j - 1] = code = codes[j - 1]
        j = 0 if code == -1 else j - max(code, 1)
    return found
