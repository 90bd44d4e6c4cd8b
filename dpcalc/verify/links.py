"""The blocks of a hybrid bound (dpcalc.bounds.pnsgd.chain) that a witness tells of. Any links are a proof: only their form is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.bounds.online import online_contraction, online_hybrid, shift
from dpcalc.bounds.pnsgd import fixed_order_hybrid, iteration, shuffled_contraction, shuffled_hybrid
from dpcalc.bounds.pnsgd.chain import Way
from dpcalc.bounds.pnsgd.links import decoded

_FINEST, _MOST_SINGLE = 1000, 10_000  # else there could be more nodes than memory

Nodes = Callable[[Mapping[str, Any], int, int], list[int]]


def _shuffled(p: Mapping[str, Any], fine: int, single: int) -> list[int]:
    return iteration.nodes(p["n"], fine, single)


def _fixed(p: Mapping[str, Any], fine: int, single: int) -> list[int]:
    return iteration.nodes(p["n"] - p["index"] + 1, fine, single)


def _stream(p: Mapping[str, Any], fine: int, single: int) -> list[int]:
    return [t - p["index"] for t in shift.ends(p["n"] - p["index"], p["index"], fine)]


_NODES: Mapping[str, tuple[Nodes, str]] = {  # and the bound that may be smaller
    shuffled_hybrid.BOUND.name: (_shuffled, shuffled_contraction.BOUND.name),
    fixed_order_hybrid.BOUND.name: (_fixed, ""),
    online_hybrid.BOUND.name: (_stream, online_contraction.BOUND.name),
}


def way(name: str, params: Mapping[str, Any], witness: Mapping[str, Any]) -> Way | None:
    """Nodes and links; none where another bound is to be taken; None where the witness tells of none. Raises ValueError where what it
    tells is no way."""
    if name not in _NODES or not ("links" in witness or "by" in witness):
        return None
    nodes, other = _NODES[name]
    if "by" in witness:
        if not other or witness["by"] != other:
            raise ValueError(f"{str(witness['by'])[:40]} is no part of it")
        return [], []
    fine, single, codes = _whole(witness["fine"], 1, _FINEST), _whole(witness.get("single", 0), 0, _MOST_SINGLE), witness["links"]
    if not isinstance(codes, list):
        raise ValueError("its links are no list")
    at = nodes({**params, "n": int(params["n"])}, fine, single)
    return at, decoded(at, codes)


def _whole(x: Any, least: int, most: int) -> int:
    if type(x) is not int or not least <= x <= most:
        raise ValueError(f"{str(x)[:20]} is no number from {least} to {most}")
    return x
