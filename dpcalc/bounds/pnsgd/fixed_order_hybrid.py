"""Projected noisy SGD in a fixed order, by iteration and contraction together: the sharpest bound here."""

from collections.abc import Callable
from typing import Any

from dpcalc.bounds.pnsgd._engine.hybrid import Link, Path, follow
from dpcalc.bounds.pnsgd._engine.iteration import CONSTANT, nodes, path, suited, walk_exact
from dpcalc.bounds.pnsgd._engine.links import coded, decoded, needed
from dpcalc.bounds.pnsgd._engine.positions import COARSE, FINE, invert
from dpcalc.bounds.pnsgd._engine.step import SETTING
from dpcalc.core.bound import Bound

# to the last node, at most: of the value, of its faster form; of samples: .5 ms each
_STEPS, _SAMPLES = {FINE: 128, COARSE: 20}, 32
_MOST_STEPS = 10_000  # of a way: else there could be more nodes than memory

Way = list[int]  # the length of a step, and the links between the nodes (links.py)


def _path(n: int, index: int, fine: int = FINE, **p: float) -> Path:
    """To the last step: the record at the index has n − i steps after it."""
    return path(n - index + 1, step=_step(n, index, fine, **p), **p)


def _step(n: int, index: int, fine: int, *, level: float, diameter: float, learning_rate: float,
          strong_convexity: float,
          **_: float) -> int:
    return suited(n - index + 1, _STEPS.get(fine, _SAMPLES), level, diameter, learning_rate, strong_convexity)


def _never(j: int, log_d: float) -> bool:
    return False


def _follow(epsilon: float, n: int, index: int, fine: int = FINE, enough: Callable[[int, float], bool] = _never,
            **p: float) -> tuple[float, list[Link]]:
    """log d at the last node, and the links."""
    logs, links = follow(epsilon, _path(n, index, fine, **p), enough)
    return logs[-1], links


def value(epsilon: float, n: int, index: int, **p: Any) -> float:
    """log d_m, m = n − i."""
    return _follow(epsilon, n, index, **p)[0]


def inverse(log_delta: float, n: int, index: int, **p: Any) -> float:
    return invert(lambda epsilon, fine: _follow(epsilon, n, index, fine, **p)[0], log_delta)


def blocks(epsilon: Any, fine: int, n: int, index: int, ways: dict[float, Any] | None = None, **p: Any) -> Any:
    """`value` for many ε, with larger steps where `fine` is less than FINE."""
    from numpy import array

    found = {e: _follow(e, n, index, fine, **p) for e in epsilon.tolist()}
    if ways is not None:
        step = _step(n, index, fine, **p)
        ways |= {e: [step, *needed(coded(links))] for e, (_, links) in found.items()}
    return array([log_d for log_d, _ in found.values()])


def choices(epsilon: float, log_delta: float, n: int, index: int, **p: Any) -> dict[str, Any]:
    """The free choices that prove δ at ε: those of the value, as far as they are needed."""
    links = _follow(epsilon, n, index, enough=lambda j, log_d: log_d <= log_delta, **p)[1]
    return {"way": [_step(n, index, FINE, **p), *needed(coded(links))]}


def _told(way: Any, n: int, index: int) -> tuple[list[int], list[Link]]:
    """Nodes and links. Raises ValueError where a way is none."""
    later, step = n - index, way[0] if isinstance(way, list) and way else None
    if type(step) is not int or not 1 + later // _MOST_STEPS <= step <= later + 1:
        raise ValueError(f"{str(step)[:20]} is no length of a step")
    at = nodes(later + 1, step)
    return at, decoded(at, way[1:])


def exact(mp: Any, epsilon: float, n: int, index: int, way: Way | None = None, **p: Any) -> Any:
    at, links = _told(way, n, index) if way is not None else (_path(n, index, **p).nodes,
                                                              _follow(epsilon, n, index, **p)[1])
    return walk_exact(mp, epsilon, links, at, **{k: v for k, v in p.items() if k != "smoothness"})[-1]


BOUND = Bound(
    name="fixed-order-hybrid",
    example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n "
    "1000 --index 500 --epsilon 1",
    kind="profile",
    statement="δ(ε) <= d_m, m = n − i; d_0 = θ(ε, 2L/σ), d_m = min{θ(ε, μ_m), F_k(d_{m−k})} over block lengths k, "
    "F_k(d) = d·θ(log(1 + (e^ε−1)/d), κ_k), κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^(2j)), c = 1 − ηρ",
    source="dpcalc, bounds/pnsgd/_engine/hybrid.py (proof there), from Feldman et al. 2018, Theorem 22, and Asoodeh, "
           "Diaz & Calmon 2020, "
    "Theorem 3",
    assumptions=(*SETTING, "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "diameter", "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-9,
    in_blocks_beyond=_STEPS[FINE] + 1,
    inverse=inverse,
    blocks=blocks,
    choices=choices,
)
