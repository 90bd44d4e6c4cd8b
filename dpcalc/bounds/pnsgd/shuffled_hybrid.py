"""Shuffled projected noisy SGD, by iteration and contraction together: the sharpest bound here.

δ(ε) <= (1/n)Σ_m d_m by joint convexity over the position of the record, d_m as in fixed-order-hybrid. d_m falls in m (data
processing), so the sum is bounded in blocks by their first terms, at most 1/64 too large. Where Theorem 2 of Sordello
et al. 2021 is smaller than that (the two can only differ by the blocks), it is the value.
"""

from math import exp, fsum, log
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd import shuffled_contraction
from dpcalc.bounds.pnsgd.chain import Link, Way, follow
from dpcalc.bounds.pnsgd.iteration import CONSTANT, along, path, walk_exact
from dpcalc.bounds.pnsgd.laws import GAUSSIAN
from dpcalc.bounds.pnsgd.links import coded
from dpcalc.bounds.pnsgd.positions import COARSE, FINE, invert, rounding
from dpcalc.bounds.pnsgd.step import SETTING
from dpcalc.numerics.rounding import up
from dpcalc.numerics.work import remembered


@remembered(4)  # the blocks of an answer are told after it
def _blocks(epsilon: float, n: int, fine: int, arrays: bool = False, **p: Any) -> tuple[float, list[Link], list[int]]:
    """log of the average, the links used, and the nodes they lead to; with `arrays` much faster where these are loaded."""
    walk = path(n, **p, fine=fine)
    nodes, total, top = walk.nodes, [0.0], [0.0]
    negligible = 1e-13 if fine >= FINE else 1e-5

    def enough(j: int, log_d: float) -> bool:
        """Whether what is left is a negligible part of the sum; adds up the blocks on its way."""
        if j == 0:
            top[0] = log_d
        height = exp(max(log_d - top[0], -745.0))
        if j and (n - nodes[j]) * height < negligible * total[0]:
            return True
        total[0] += height * (nodes[j + 1] - nodes[j])
        return False

    if arrays:
        from dpcalc.bounds.pnsgd.chain_many import as_mu

        logs, links = follow(epsilon, walk, enough, as_mu(epsilon, along(n, fine, 0, **p)).__getitem__)
    else:
        logs, links = follow(epsilon, walk, enough)
    if logs[0] == float("-inf"):
        return logs[0], links, nodes
    ends = [*nodes[1 : len(logs)], n]
    terms = [(b - a) * exp(max(d - logs[0], -745.0)) for a, b, d in zip(nodes, ends, logs, strict=False)]
    return min(logs[0], up(logs[0] + log(fsum(terms)) - log(n), 4e-16) + rounding(n)), links, nodes


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
    ends = [*nodes[1 : len(d)], n]
    return mp.fsum((b - a) * x for a, b, x in zip(nodes, ends, d, strict=False)) / n


BOUND = Bound(
    name="shuffled-hybrid",
    kind="profile",
    statement="δ(ε) <= (1/n)Σ_{m<n} d_m, d_m as in fixed-order-hybrid; the sum is taken from above in blocks of at most 1/64 of the "
    "positions before them, at most 1.6 % above it; at most the value of shuffled-contraction",
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
