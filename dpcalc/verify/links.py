"""The blocks of a hybrid bound (dpcalc.bounds.pnsgd.chain) that a witness tells of. Any links are a proof: only their form is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from dpcalc.bound import Bound
from dpcalc.bounds.online import online_contraction, online_hybrid, shift
from dpcalc.bounds.pnsgd import (
    fixed_order_hybrid,
    iteration,
    shuffled_contraction,
    shuffled_hiding,
    shuffled_hiding_last,
    shuffled_hybrid,
)
from dpcalc.bounds.pnsgd.chain import Way
from dpcalc.bounds.pnsgd.links import decoded, unpacked
from dpcalc.bounds.pnsgd.told import nodes
from dpcalc.rows import Row

_FINEST, _MOST_STEPS = 1000, 10_000  # else there could be more nodes than memory
_MOST_SAMPLES = 2000

Nodes = Callable[[Mapping[str, Any], Mapping[str, Any]], list[int]]


def _shuffled(p: Mapping[str, Any], said: Mapping[str, Any]) -> list[int]:
    return iteration.nodes(p["n"], _fine(said))


def _fixed(p: Mapping[str, Any], said: Mapping[str, Any]) -> list[int]:
    later = p["n"] - p["index"]
    return iteration.nodes(later + 1, step=_whole(said.get("step"), 1 + later // _MOST_STEPS, later + 1))


def _stream(p: Mapping[str, Any], said: Mapping[str, Any]) -> list[int]:
    return [t - p["index"] for t in shift.ends(p["n"] - p["index"], p["index"], _fine(said))]


def _fine(said: Mapping[str, Any]) -> int:
    return _whole(said.get("fine"), 1, _FINEST)


_NODES: Mapping[str, tuple[Nodes, str]] = {  # and the bound that may be smaller
    shuffled_hybrid.BOUND.name: (_shuffled, shuffled_contraction.BOUND.name),
    fixed_order_hybrid.BOUND.name: (_fixed, ""),
    online_hybrid.BOUND.name: (_stream, online_contraction.BOUND.name),
}


_PLANNED = (shuffled_hiding.BOUND.name, shuffled_hiding_last.BOUND.name)


def _plan(said: Mapping[str, Any]) -> tuple[int, shuffled_hiding.Way]:
    """How fine the blocks of places are, and the number Z of a plan, or where a set contracts. Any such numbers are a proof."""
    return _fine(said), one_plan(said["way"])


def one_plan(way: Any) -> shuffled_hiding.Way:
    """Raises ValueError where that is none."""
    if way is None or (type(way) in (int, float) and 0 < way < inf):
        return way  # type: ignore[no-any-return]
    if isinstance(way, list) and len(way) == 2 and all(type(x) is int for x in way) and 0 <= way[0] < way[1]:
        return way
    raise ValueError(f"its plan {str(way)[:40]} is none")


def way(name: str, params: Mapping[str, Any], witness: Mapping[str, Any]) -> Any:
    """Nodes and links; none where another bound is to be taken; None where the witness tells of none. Raises ValueError where what it
    tells is no way."""
    if name in _PLANNED:
        return _plan(witness) if "way" in witness else None
    if name not in _NODES or not ("links" in witness or "by" in witness):
        return None
    other = _NODES[name][1]
    if "by" in witness:
        if not other or witness["by"] != other:
            raise ValueError(f"{str(witness['by'])[:40]} is no part of it")
        return [], []
    return _decoded(name, params, witness, witness["links"])


def of_row(row: Row) -> dict[str, Any]:
    """The `way` of a row's formula; none where its bound has none, or an older record tells of none: it is looked for then."""
    bound = row.route.bound.one or row.route.bound
    found = way(bound.name.removesuffix("-basic"), row.params, row.proof)
    return {} if found is None else {"way": found}


def _decoded(name: str, params: Mapping[str, Any], said: Mapping[str, Any], codes: Any) -> Way:
    """`said`: what tells where the nodes are."""
    if not isinstance(codes, list):
        raise ValueError("its links are no list")
    at = _NODES[name][0]({**params, "n": int(params["n"])}, said)
    return at, decoded(at, codes)


class Epoch(NamedTuple):
    """The ε at which one epoch's profile is taken, and the `way` of its bound there, if any is told: of a hybrid its links, else how fine
    the blocks of a sum are."""

    epsilons: tuple[float, ...]
    ways: Mapping[float, Any]


def epoch(one: Bound, params: Mapping[str, Any], said: Any) -> Epoch:
    """Raises ValueError where the record's `epoch` is none."""
    if not isinstance(said, Mapping) or not isinstance(said.get("epsilon"), list):
        raise ValueError("its epoch has no list of ε")
    epsilons = tuple(float(e) for e in said["epsilon"] if type(e) in (int, float))
    if not 0 < len(epsilons) == len(said["epsilon"]) <= _MOST_SAMPLES:
        raise ValueError(f"its epoch has {len(said['epsilon'])} ε, not 1 to {_MOST_SAMPLES} numbers")
    if not (epsilons[0] >= 0 and epsilons[-1] < inf and all(a < b for a, b in pairwise(epsilons))):
        raise ValueError("the ε of its epoch do not rise from 0 on")
    if one.name not in _NODES:
        fine = said.get("fine") if one.blocks else None
        return Epoch(epsilons, {} if fine is None else dict.fromkeys(epsilons, _whole(fine, 1, _FINEST)))
    if not isinstance(said.get("links"), list) or len(said["links"]) != len(epsilons):
        raise ValueError("its epoch has not as many links as ε")
    return Epoch(epsilons, {e: _decoded(one.name, params, said, unpacked(text)) for e, text in zip(epsilons, said["links"], strict=True)})


def found(one: Bound, params: Mapping[str, Any], ways: Mapping[float, Any]) -> Mapping[float, Any]:
    """The `way` of the bound at every ε, from what its blocks tell."""
    at = nodes(one, params)
    return {e: _decoded(one.name, params, at, way.tolist()) for e, way in ways.items()} if at else ways


def _whole(x: Any, least: int, most: int) -> int:
    if type(x) is not int or not least <= x <= most:
        raise ValueError(f"{str(x)[:20]} is no number from {least} to {most}")
    return x
