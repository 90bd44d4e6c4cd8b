"""Projected noisy SGD in a fixed order, by iteration and contraction together: the sharpest bound here."""

from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.chain import Link, Path, Way, follow
from dpcalc.bounds.pnsgd.iteration import CONSTANT, along, path, suited, walk_exact
from dpcalc.bounds.pnsgd.links import coded, needed
from dpcalc.bounds.pnsgd.positions import COARSE, FINE, invert
from dpcalc.bounds.pnsgd.step import SETTING

_STEPS, _SAMPLES = {FINE: 128, COARSE: 20}, 70  # to the last node, at most: of the value, of its faster form; of samples


def _path(n: int, index: int, fine: int = FINE, **p: float) -> Path:
    return path(**_nodes(n, index, fine, **p), **p)


def _nodes(n: int, index: int, fine: int, **p: float) -> dict[str, int]:
    """To the last step: the record at the index has n − i steps after it."""
    return {"n": n - index + 1, **nodes_told(fine, n=n, index=index, **p)}


def nodes_told(fine: int, *, n: int, index: int, level: float, diameter: float, learning_rate: float, strong_convexity: float,
               **_: float) -> dict[str, int]:
    """What says where the nodes of links lie."""
    return {"step": suited(n - index + 1, _STEPS.get(fine, _SAMPLES), level, diameter, learning_rate, strong_convexity)}


def value(epsilon: float, n: int, index: int, **p: Any) -> float:
    """log d_m, m = n − i."""
    return follow(epsilon, _path(n, index, **p))[0][-1]


def coarse(epsilon: float, n: int, index: int, **p: Any) -> float:
    """`value` with larger steps, near it."""
    return follow(epsilon, _path(n, index, COARSE, **p))[0][-1]


def inverse(log_delta: float, n: int, index: int, **p: Any) -> float:
    return invert(lambda epsilon, fine: follow(epsilon, _path(n, index, fine, **p))[0][-1], log_delta)


def blocks(epsilon: Any, fine: int, n: int, index: int, ways: dict[float, Any] | None = None, **p: Any) -> Any:
    """`value` for many ε, by fewer steps the larger those may be, from above; by those of `value` one by one."""
    from dpcalc.bounds.pnsgd.chain_many import as_mu, last_many, one_by_one

    arrays = along(**_nodes(n, index, fine, **p), **p)
    if fine < FINE:
        return last_many(epsilon, arrays, ways)

    def last(e: float) -> tuple[float, list[Link]]:
        logs, links = follow(e, _path(n, index, fine, **p), as_mu=as_mu(e, arrays).__getitem__)
        return logs[-1], links

    return one_by_one(epsilon, last, ways)


def choices(epsilon: float, log_delta: float, n: int, index: int, **p: Any) -> dict[str, Any]:
    """The free choices that prove δ at ε: those of the value, as far as they are needed."""
    links = follow(epsilon, _path(n, index, **p), lambda j, log_d: log_d <= log_delta)[1]
    return {**nodes_told(FINE, n=n, index=index, **p), "links": needed(coded(links))}


def exact(mp: Any, epsilon: float, n: int, index: int, way: Way | None = None, **p: Any) -> Any:
    along = _path(n, index, **p)
    nodes, links = way or (along.nodes, follow(epsilon, along)[1])
    return walk_exact(mp, epsilon, links, nodes, **{k: v for k, v in p.items() if k != "smoothness"})[-1]


BOUND = Bound(
    name="fixed-order-hybrid",
    kind="profile",
    statement="δ(ε) <= d_m, m = n − i; d_0 = θ(ε, 2L/σ), d_m = min{θ(ε, μ_m), F_k(d_{m−k})} over block lengths k, "
    "F_k(d) = d·θ(log(1 + (e^ε−1)/d), κ_k), κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^(2j)), c = 1 − ηρ",
    source="dpcalc, bounds/pnsgd/chain.py (proof there), from Feldman et al. 2018, Theorem 22, and Asoodeh, Diaz & Calmon 2020, Theorem 3",
    assumptions=(*SETTING, "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "diameter", "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-9,
    in_blocks_beyond=_STEPS[FINE] + 1,
    inverse=inverse,
    blocks=blocks,
    choices=choices,
    coarse=coarse,
    margin=3e-10,
)
