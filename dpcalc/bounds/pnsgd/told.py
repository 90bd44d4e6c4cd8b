"""What a witness tells of epochs: the samples that one epoch's profile is composed from, and the blocks that its hybrid bound took at each.

Any samples, and any blocks, are a proof. Told are the corners of the samples' hull, the only ones that count, and for every corner the
runs of its links (links.py), on the nodes of one path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.pnsgd import fixed_order_hybrid, shuffled_hybrid
from dpcalc.bounds.pnsgd.epochs import an_epoch, surely_one
from dpcalc.bounds.pnsgd.links import needed, packed, trimmed
from dpcalc.bounds.pnsgd.positions import FINE as CLOSE
from dpcalc.bounds.pnsgd.samples import Samples, at, blocks_of, fineness, followed

if TYPE_CHECKING:
    from dpcalc.bound import Bound
    from dpcalc.question import Question

Nodes = dict[str, int]
_PATHS: dict[Any, Callable[..., Nodes]] = {  # where the nodes of links lie, for Bound.blocks of a fineness
    shuffled_hybrid.blocks: shuffled_hybrid.nodes_told, fixed_order_hybrid.blocks: fixed_order_hybrid.nodes_told,
}


def choices(one: Bound, question: Question, result: Mapping[str, float], witness: Mapping[str, Any], steps: int,
            own: dict[str, Any]) -> dict[str, Any]:
    """Of a composed row: `epoch`, or where its witness has no grid `each`: (ε/E, δ/E) an epoch proves it."""
    epsilon = result.get("epsilon", question.epsilon or 0.0)
    by_delta = question.delta is not None
    about = question.log_delta if by_delta else _followed(one, epsilon, witness, own)
    asked = 0.0 if by_delta or witness.get("by_delta") else epsilon
    if "grids" in witness:
        return _epoch(one, followed(one, about, steps, own, asked), blocks_of(one, about, steps, own, asked), own)
    if question.delta is None and surely_one(one, about, epsilon, steps, own):
        return {}
    return {"each": each(one, epsilon, steps, own)}


def each(one: Bound, epsilon: float, steps: int, own: dict[str, Any]) -> dict[str, Any]:
    """How one epoch is bounded where basic composition is by (ε/E, δ/E) each: the links of a hybrid, in the blocks of its value."""
    if one.blocks not in _PATHS:
        return {}
    ways, e = dict[float, Any](), an_epoch(epsilon, steps)
    at(one, e, own, ways)
    where = nodes(one, own, CLOSE)
    return {**where, "links": _codes(where, ways[e])}


def _codes(where: Nodes, way: Any) -> list[int]:
    """Of the steps to one record those that the last one needs."""
    codes = trimmed(way.tolist())
    return needed(codes) if "step" in where else codes


def _followed(one: Bound, epsilon: float, witness: Mapping[str, Any], own: dict[str, Any]) -> float:
    """The log δ that the profile was followed to."""
    return float(witness["followed"]) if "followed" in witness else float(one.value(epsilon, **own))


def _epoch(one: Bound, samples: Samples, ways: Mapping[float, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    from dpcalc.profiles import pairs

    corners = [e for e, _ in pairs.hull(*samples)]
    if not ways:
        return {"epoch": {"epsilon": corners}}
    if one.blocks not in _PATHS:  # sums in blocks, as fine at one ε as at another
        return {"epoch": {"fine": ways[corners[0]], "epsilon": corners}}
    where = nodes(one, own)
    return {"epoch": {**where, "epsilon": corners, "links": [packed(_codes(where, ways[e])) for e in corners]}}


def nodes(one: Bound, own: Mapping[str, Any], fine: int | None = None) -> Nodes:
    """What says where the nodes of blocks (of samples, if nothing else is said) lie; nothing where there are no links."""
    return _PATHS[one.blocks](fine or fineness(own), **own) if one.blocks in _PATHS else {}
