"""The ways of bounds that a witness tells of (Bound.blocks). Any way is a proof: only its form is checked, here and by
`exact`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.online import online_contraction, online_hybrid
from dpcalc.bounds.online._engine import shift
from dpcalc.bounds.pnsgd import fixed_order_hybrid
from dpcalc.bounds.pnsgd._engine.hybrid import Way
from dpcalc.bounds.pnsgd._engine.links import decoded
from dpcalc.core.results import Row

_FINEST = 1000  # blocks: else there could be more nodes than memory
_MOST_SAMPLES, _LONGEST = 2000, 20_000  # numbers of a way


def way(name: str, params: Mapping[str, Any], witness: Mapping[str, Any]) -> Any:
    """The `way` that `exact` of a bound takes; None where the witness tells of none. Raises ValueError where what it
    tells is no way."""
    if "way" in witness:
        return _checked(witness["way"])
    if name == online_hybrid.BOUND.name and ("links" in witness or "by" in witness):
        return _of_stream(params, witness)
    if name == fixed_order_hybrid.BOUND.name and "links" in witness:  # a record of an earlier version
        return _checked([witness.get("step"), *_listed(witness["links"])])
    return None


def _of_stream(params: Mapping[str, Any], witness: Mapping[str, Any]) -> Way:
    """Nodes and links; none where online-contraction is to be taken."""
    if "by" in witness:
        if witness["by"] != online_contraction.BOUND.name:
            raise ValueError(f"{str(witness['by'])[:40]} is no part of it")
        return [], []
    codes, n, index = _listed(witness["links"]), int(params["n"]), params["index"]
    nodes = [t - index for t in shift.ends(n - index, index, _whole(witness.get("fine"), 1, _FINEST))]
    return nodes, decoded(nodes, codes)


def of_row(row: Row) -> dict[str, Any]:
    """The `way` of a row's formula; none where its bound has none, or an older record tells of none: it is looked for
    then."""
    bound = row.route.bound.one or row.route.bound
    found = way(bound.name.removesuffix("-basic"), row.params, row.proof)
    return {} if found is None else {"way": found}


class Epoch(NamedTuple):
    """The ε at which one epoch's profile is taken, and the `way` of its bound there, if any is told."""

    epsilons: tuple[float, ...]
    ways: Mapping[float, Any]


def epoch(said: Any) -> Epoch:
    """Raises ValueError where the record's `epoch` is none."""
    if not isinstance(said, Mapping) or not isinstance(said.get("epsilon"), list):
        raise ValueError("its epoch has no list of ε")
    epsilons = tuple(float(e) for e in said["epsilon"] if type(e) in (int, float))
    if not 0 < len(epsilons) == len(said["epsilon"]) <= _MOST_SAMPLES:
        raise ValueError(f"its epoch has {len(said['epsilon'])} ε, not 1 to {_MOST_SAMPLES} numbers")
    if not (epsilons[0] >= 0 and epsilons[-1] < inf and all(a < b for a, b in pairwise(epsilons))):
        raise ValueError("the ε of its epoch do not rise from 0 on")
    if "fine" in said and "ways" not in said:  # a record of an earlier version: the same way at every ε
        return Epoch(epsilons, dict.fromkeys(epsilons, _checked(said["fine"])))
    if "ways" not in said:
        return Epoch(epsilons, {})
    if not isinstance(said["ways"], list) or len(said["ways"]) != len(epsilons):
        raise ValueError("its epoch has not as many ways as ε")
    return Epoch(epsilons, dict(zip(epsilons, map(_checked, said["ways"]), strict=True)))


def _checked(x: Any) -> Any:
    """A way: a whole number says how fine blocks are; other numbers, and lists, are checked where they are read."""
    if type(x) is int:
        return _whole(x, 1, _FINEST)
    if type(x) is float and abs(x) < inf:
        return x
    if isinstance(x, list) and len(x) <= _LONGEST and all(type(y) in (int, float) for y in x):
        return x
    raise ValueError(f"{str(x)[:40]} is no way")


def _listed(codes: Any) -> list[Any]:
    if not isinstance(codes, list):
        raise ValueError("its links are no list")
    return codes


def _whole(x: Any, least: int, most: int) -> int:
    if type(x) is not int or not least <= x <= most:
        raise ValueError(f"{str(x)[:20]} is no number from {least} to {most}")
    return x
