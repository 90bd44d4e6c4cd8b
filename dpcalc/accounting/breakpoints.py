"""Reads from a witness how a bound took its sum or chain in blocks (core/bound.py, Blocks): the `way` of `exact`.

Every choice of blocks proves a bound, so only the form of a `way` is checked, here and by `exact`.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.online import online_contraction, online_hybrid
from dpcalc.bounds.online._engine import shift
from dpcalc.bounds.pnsgd import fixed_order_hybrid
from dpcalc.bounds.pnsgd._engine.hybrid import Way, decoded
from dpcalc.core.bound import ProfileBound
from dpcalc.core.results import Row

_FINEST = 1000  # blocks per unit: finer ones in a hostile record could have more nodes than fit into memory
_MOST_SAMPLES, _LONGEST = 2000, 20_000  # samples of an epoch, and numbers of a way, of a record that is read


def read_way(name: str, params: Mapping[str, Any], witness: Mapping[str, Any]) -> Any:
    """The `way` for `exact` of a bound; None where the witness has none. Raises ValueError where it is malformed."""
    if "way" in witness:
        return _checked(witness["way"])
    if name == online_hybrid.BOUND.name and ("links" in witness or "by" in witness):
        return _of_stream(params, witness)
    if name == fixed_order_hybrid.BOUND.name and "links" in witness:  # a record of an earlier version
        return _checked([witness.get("step"), *_listed(witness["links"])])
    return None


def _of_stream(params: Mapping[str, Any], witness: Mapping[str, Any]) -> Way:
    """The nodes and links of a stream's chain; both empty where online-contraction alone is to be used."""
    if "by" in witness:
        if witness["by"] != online_contraction.BOUND.name:
            raise ValueError(f"{str(witness['by'])[:40]} is no part of it")
        return [], []
    codes, n, index = _listed(witness["links"]), int(params["n"]), params["index"]
    nodes = [t - index for t in shift.ends(n - index, index, _whole(witness.get("fine"), 1, _FINEST))]
    return nodes, decoded(nodes, codes)


def choices_of_row(row: Row) -> dict[str, Any]:
    """The `way` for the formula of a row, as a keyword argument; empty where its bound has none, or an older record
    lacks it: then `exact` searches for one."""
    bound = row.route.bound
    if isinstance(bound, ProfileBound) and bound.one is not None:
        bound = bound.one
    found = read_way(bound.name.removesuffix("-basic"), row.params, row.proof)
    return {} if found is None else {"way": found}


class Epoch(NamedTuple):
    """The ε at which the profile of one epoch is sampled, and the `way` of its bound at each, where there is one."""

    epsilons: tuple[float, ...]
    ways: Mapping[float, Any]


def read_epoch(recorded: Any) -> Epoch:
    """The epoch of a record. Raises ValueError where it is malformed."""
    if not isinstance(recorded, Mapping) or not isinstance(recorded.get("epsilon"), list):
        raise ValueError("its epoch has no list of ε")
    epsilons = tuple(float(e) for e in recorded["epsilon"] if type(e) in (int, float))
    if not 0 < len(epsilons) == len(recorded["epsilon"]) <= _MOST_SAMPLES:
        raise ValueError(f"its epoch has {len(recorded['epsilon'])} ε, not 1 to {_MOST_SAMPLES} numbers")
    if not (epsilons[0] >= 0 and epsilons[-1] < inf and all(a < b for a, b in pairwise(epsilons))):
        raise ValueError("the ε of its epoch do not rise from 0 on")
    if "fine" in recorded and "ways" not in recorded:  # a record of an earlier version: the same way at every ε
        return Epoch(epsilons, dict.fromkeys(epsilons, _checked(recorded["fine"])))
    if "ways" not in recorded:
        return Epoch(epsilons, {})
    if not isinstance(recorded["ways"], list) or len(recorded["ways"]) != len(epsilons):
        raise ValueError("its epoch has not as many ways as ε")
    return Epoch(epsilons, dict(zip(epsilons, map(_checked, recorded["ways"]), strict=True)))


def _checked(x: Any) -> Any:
    """A way: a whole number is how fine blocks are; other numbers, and lists, are checked by `exact`."""
    if type(x) is int:
        return _whole(x, 1, _FINEST)
    if type(x) is float and abs(x) < inf:
        return x
    if isinstance(x, list) and len(x) <= _LONGEST and all(type(y) in (int, float) for y in x):
        return x
    raise ValueError(f"{str(x)[:40]} is no way")


def _listed(codes: Any) -> list[Any]:
    """The argument if it is a list. Raises ValueError otherwise."""
    if not isinstance(codes, list):
        raise ValueError("its links are no list")
    return codes


def _whole(x: Any, least: int, most: int) -> int:
    """The argument if it is a whole number in this range. Raises ValueError otherwise."""
    if type(x) is not int or not least <= x <= most:
        raise ValueError(f"{str(x)[:20]} is no number from {least} to {most}")
    return x
