"""Projected noisy SGD in a fixed order, by iteration and contraction together."""

from collections.abc import Callable
from typing import Any

from dpcalc.bounds.pnsgd._engine.hybrid import Link, Path, coded, decoded, follow, needed
from dpcalc.bounds.pnsgd._engine.iteration import path, path_exact, path_nodes, step_length
from dpcalc.bounds.pnsgd._engine.positions import COARSE, FINE, invert
from dpcalc.bounds.pnsgd._engine.step import GAUSSIAN_PARAMS, RUN, SETTING, STEP_SIZE
from dpcalc.core.bound import Blocks, Choices, ProfileBound, Theorem

# Nodes of a path at most: of a value, of a grid for epochs, and of an estimate. Each takes about 50 µs. A bound by
# fewer nodes is sound; with 32 log δ is up to 3 % larger than with 128.
_MOST_NODES, _FEWER_NODES, _FEWEST_NODES = 128, 32, 20

Way = list[int]  # the distance of the nodes, and the codes of the links between them (hybrid.py)


def _path(n: int, index: int, fine: int = FINE, **p: float) -> Path:
    """The path to the last step, n − i steps after the record at the index."""
    return path(n - index + 1, step=_step(n, index, fine, **p), **p)


def _step(n: int, index: int, fine: int, *, level: float, diameter: float, learning_rate: float,
          strong_convexity: float, **_: float) -> int:
    """The distance of neighbouring nodes, in steps of the run: fewer nodes where `fine` is smaller."""
    most = {FINE: _MOST_NODES, COARSE: _FEWEST_NODES}.get(fine, _FEWER_NODES)
    return step_length(n - index + 1, most, level, diameter, learning_rate, strong_convexity)


def _follow(epsilon: float, n: int, index: int, fine: int = FINE,
            enough: Callable[[int, float], bool] = lambda j, log_d: False, **p: float) -> tuple[float, list[Link]]:
    """An upper bound on log d at the last node, and the links."""
    logs, links = follow(epsilon, _path(n, index, fine, **p), enough)
    return logs[-1], links


def value(epsilon: float, n: int, index: int, **p: Any) -> float:
    return _follow(epsilon, n, index, **p)[0]


def inverse(log_delta: float, n: int, index: int, start: float | None = None, **p: Any) -> float:
    return invert(lambda epsilon, fine: _follow(epsilon, n, index, fine, **p)[0], log_delta, start)


def blocks(epsilon: Any, fine: int, n: int, index: int, ways: dict[float, Any] | None = None, **p: Any) -> Any:
    """`value` of an array of ε, with fewer nodes where `fine` is less than FINE; `ways` receives each one's choices."""
    from numpy import array

    found = {e: _follow(e, n, index, fine, **p) for e in epsilon.tolist()}
    if ways is not None:
        step = _step(n, index, fine, **p)
        ways |= {e: [step, *needed(coded(links))] for e, (_, links) in found.items()}
    return array([log_d for log_d, _ in found.values()])


def choices(epsilon: float, log_delta: float, n: int, index: int, **p: Any) -> dict[str, Any]:
    """The free choices by which δ is proven at ε: those of `value`, up to the node where δ is reached."""
    links = _follow(epsilon, n, index, enough=lambda j, log_d: log_d <= log_delta, **p)[1]
    return {"way": [_step(n, index, FINE, **p), *needed(coded(links))]}


def _read(way: Any, n: int, index: int) -> tuple[list[int], list[Link]]:
    """The nodes and links that a record describes. Raises ValueError where it describes none."""
    later, step = n - index, way[0] if isinstance(way, list) and way else None
    if type(step) is not int or not 1 + later // 10_000 <= step <= later + 1:  # more nodes may not fit into memory
        raise ValueError(f"{str(step)[:20]} is no length of a step")
    nodes = path_nodes(later + 1, step)
    return nodes, decoded(nodes, way[1:])


def exact(mp: Any, epsilon: float, n: int, index: int, way: Way | None = None, **p: Any) -> Any:
    nodes, links = _read(way, n, index) if way is not None else (_path(n, index, **p).nodes,
                                                                 _follow(epsilon, n, index, **p)[1])
    return path_exact(mp, epsilon, links, nodes, **p)[-1]


BOUND = ProfileBound(Theorem(
    name="fixed-order-hybrid", example=f"{RUN} --index 500 --epsilon 1",
    statement="δ(ε) ≤ d_m, m = n − i; d_0 = θ(ε, 2L/σ), d_m = min{θ(ε, μ_m), F_k(d_{m−k})} over block lengths k, "
              "F_k(d) = d·θ(log(1 + (e^ε−1)/d), κ_k), κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^(2j)), c = 1 − ηρ",
    in_words="One pass of noisy projected SGD in an order that may be known, of which only the last iterate is "
             "released: the noise of later steps and the bounded set are used together, so that, but for δ too small "
             "to matter, it is never above fixed-order or fixed-order-iteration with Gaussian noise. A record is "
             "replaced. It is for convex smooth losses without clipping. The last record of the pass gains nothing.",
    source="dpcalc, bounds/pnsgd/_engine/hybrid.py (proof there), from Feldman et al. 2018, Theorem 22, and "
           "Asoodeh, Diaz & Calmon 2020, Theorem 3",
    assumptions=(*SETTING, STEP_SIZE, "Gaussian noise"),
), params=(*GAUSSIAN_PARAMS, "diameter", "n", "index"), value=value, exact=exact, rtol=2e-9, inverse=inverse,
   blocks=Blocks(_MOST_NODES + 1, blocks), choices=Choices(witness=choices))
