"""Shuffled projected noisy SGD, by iteration and contraction together: the sharpest bound here.

δ(ε) <= (1/n)Σ_m d_m by joint convexity over the position of the record, d_m as in fixed-order-hybrid. d_m falls in m (data
processing), so the sum is bounded in blocks by their first terms, at most 1/64 too large, or by chords where d_m is
θ(ε, μ_m) and convex or concave. Where Theorem 2 of Sordello et al. 2021 is smaller than that (the two can only differ
by the blocks), it is the value.
"""

from collections.abc import Callable
from itertools import chain, repeat
from math import exp, inf, log
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd import shuffled_contraction
from dpcalc.bounds.pnsgd.chain import Link, Path, Way, follow
from dpcalc.bounds.pnsgd.iteration import CONSTANT, along, path, shares, walk_exact
from dpcalc.bounds.pnsgd.laws import GAUSSIAN, log_gaussian
from dpcalc.bounds.pnsgd.links import coded
from dpcalc.bounds.pnsgd.positions import COARSE, FINE, LOWEST, SURELY, block_sums, bows, invert, log_mean
from dpcalc.bounds.pnsgd.step import SETTING
from dpcalc.numerics.work import remembered


@remembered(32)  # the blocks of an answer are told after it
def _blocks(epsilon: float, n: int, fine: int, arrays: bool = False, **p: Any) -> tuple[float, list[Link], list[int]]:
    """log of the average, the links used, and the nodes they lead to; with `arrays` much faster where these are loaded."""
    walk = path(n, **p, fine=fine)
    nodes, total, top = walk.nodes, [0.0], [0.0]
    negligible = 1e-13 if fine >= FINE else 1e-5

    def enough(j: int, log_d: float) -> bool:
        """Whether what is left is a negligible part of the sum; adds up the blocks on its way."""
        if j == 0:
            top[0] = log_d
        height = exp(max(log_d - top[0], LOWEST))
        if j and (n - nodes[j]) * height < negligible * total[0]:
            return True
        total[0] += height * (nodes[j + 1] - nodes[j])
        return False

    direct = dict[int, float]()
    at_mu = _at_mu(epsilon, walk, n, fine, p) if arrays else lambda j: log_gaussian(epsilon, walk.mu(j))

    def as_mu(j: int) -> float:
        direct[j] = found = at_mu(j)
        return found

    logs, links = follow(epsilon, walk, enough, as_mu)
    first = logs[0]
    if first == -inf:
        return first, links, nodes
    mean = _log_mean(epsilon, logs, links, nodes, n, p)
    if all(link.before < 0 for link in links):
        return mean, links, nodes
    alone = _alone(direct, as_mu, nodes, n, mean - first + log(n), negligible)
    if alone and (other := _log_mean(epsilon, alone, straight := [Link(-1, 0, 0)] * len(alone), nodes, n, p)) < mean:
        return other, straight, nodes
    return mean, links, nodes


def _alone(direct: dict[int, float], as_mu: Callable[[int], float], nodes: list[int], n: int, most: float,
           negligible: float) -> list[float]:
    """log d as μ-GDP alone, to where nothing counts, if the sum may be below e^most then, in units of the first: blocks may gain less than
    chords do. Else none."""
    found, last, total = [direct[0]], 1.0, 0.0
    for j in range(1, len(nodes)):
        found.append(direct[j] if j in direct else as_mu(j))
        height = exp(max(found[-1] - found[0], LOWEST))
        total += (nodes[j] - nodes[j - 1]) * (last + height) / 2 if nodes[j] > nodes[j - 1] + 1 else last
        if total > exp(most):
            return []
        if (n - nodes[j]) * height < negligible * total:
            break
        last = height
    return found


def _at_mu(epsilon: float, walk: Path, n: int, fine: int, p: dict[str, Any]) -> Callable[[int], float]:
    """What μ-GDP says at a node, by arrays."""
    from dpcalc.bounds.pnsgd.chain_many import as_mu

    return as_mu(epsilon, along(n, fine, 0, **p)).__getitem__


def _log_mean(epsilon: float, logs: list[float], links: list[Link], nodes: list[int], n: int, p: dict[str, Any]) -> float:
    return log_mean(logs[0], _sums(epsilon, [exp(max(d - logs[0], LOWEST)) for d in logs], links, nodes, n, p, SURELY), n)


def _sums(epsilon: float, d: list[Any], links: list[Link], nodes: list[int], n: int, p: dict[str, Any], surely: float) -> list[Any]:
    """Σ d_m over the blocks between nodes, from above; by chords where d is θ(ε, μ_m)."""
    straight = [link.before < 0 for link in links]
    last = next((j for j in reversed(range(len(d))) if straight[j]), 0)
    mu = shares(**{name: p[name] for name in CONSTANT if name != "smoothness"})
    return block_sums(d, nodes, n, chain(bows(epsilon, mu, nodes[: last + 2]), repeat(0)), straight, surely)


def value(epsilon: float, level: float, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int) -> float:
    """log of (1/n)Σ_m d_m, in blocks from above."""
    return _value(epsilon, FINE, n, level=level, lipschitz=lipschitz, diameter=diameter, learning_rate=learning_rate, smoothness=smoothness,
                  strong_convexity=strong_convexity)


def _value(epsilon: float, fine: int, n: int, **p: Any) -> float:
    return min(_blocks(epsilon, n, fine, **p)[0], shuffled_contraction.value(epsilon, GAUSSIAN, n=n, **p))


def inverse(log_delta: float, n: int, **p: float) -> float:
    return invert(lambda epsilon, fine: _value(epsilon, fine, n, **p), log_delta)


def coarse(epsilon: float, n: int, **p: float) -> float:
    """`value` in larger blocks, near it."""
    return _value(epsilon, COARSE, n, **p)


def blocks(epsilon: Any, fine: int, n: int, ways: dict[float, Any] | None = None, **p: float) -> Any:
    """`value` for many ε, in blocks of at most 1/fine, from above; in those of `value` one by one."""
    from dpcalc.bounds.pnsgd.chain_many import average_many, one_by_one

    if fine < FINE:
        return average_many(epsilon, along(n, fine, 0, **p), n, ways)
    return one_by_one(epsilon, lambda e: _blocks(e, n, fine, True, **p)[:2], ways)


def nodes_told(fine: int, **_: float) -> dict[str, int]:
    """What says where the nodes of links lie."""
    return {"fine": fine}


def _way(epsilon: float, n: int, **p: Any) -> Way:
    """The nodes and links of the value; none where it is that of shuffled-contraction."""
    average, links, nodes = _blocks(epsilon, n, FINE, **p)
    return ([], []) if shuffled_contraction.value(epsilon, GAUSSIAN, n=n, **p) < average else (nodes, links)


def choices(epsilon: float, log_delta: float, n: int, **p: Any) -> dict[str, Any]:
    """The free choices of the value."""
    links = _way(epsilon, n, **p)[1]
    return {**nodes_told(FINE), "links": coded(links)} if links else {"by": shuffled_contraction.BOUND.name}


def exact(mp: Any, epsilon: float, n: int, way: Way | None = None, **p: Any) -> Any:
    nodes, links = way or _way(epsilon, n, **p)
    if not nodes:
        return shuffled_contraction.exact(mp, epsilon, n, law=GAUSSIAN, **p)
    d = walk_exact(mp, epsilon, links, nodes, **{k: v for k, v in p.items() if k != "smoothness"})
    return mp.fsum(_sums(float(epsilon), d, links, nodes, n, p, 1)) / n


BOUND = Bound(
    name="shuffled-hybrid",
    kind="profile",
    statement="δ(ε) <= (1/n)Σ_{m<n} d_m, d_m as in fixed-order-hybrid; the sum is taken from above in blocks of at most 1/64 of the "
    "positions before them, at most 1.6 % above it, by chords of θ where d_m is θ(ε, μ_m); at most the value of shuffled-contraction",
    source="dpcalc, bounds/pnsgd/chain.py (proof there), from Feldman et al. 2018, Theorem 22, and Asoodeh, Diaz & Calmon 2020, Theorem 3",
    assumptions=(*SETTING, "the order is uniformly random and secret", "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "diameter", "n"),
    value=value,
    exact=exact,
    rtol=2e-9,
    in_blocks_beyond=FINE,
    inverse=inverse,
    blocks=blocks,
    choices=choices,
    coarse=coarse,
    margin=3e-10,
)
