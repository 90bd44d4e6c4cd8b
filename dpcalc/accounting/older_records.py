"""Results of version 0.1.0: what they called by other names, and those whose number no theorem covers."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.conversions.pure import BOUNDED_RANGE_LOSS, BOUNDED_RANGE_ZCDP
from dpcalc.core import noise_multiplier
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import ADD_REMOVE, RELATIONS, REPLACE_ONE, ZERO_OUT

OLDER = "0.1.0"
UNCOVERED = "made by an earlier dpcalc by a theorem that does not cover it; ask again"
_RELATIONS = {"one respondent's answer": REPLACE_ONE}
_RELEASED = {"every iterate": "every step's output", "every output of each input": "every output of each release"}
# Keys of a result that version 0.1.0 did not write. What they say of its neighbours stands in `adjacency`, too, and the
# standard deviation follows from the noise.
_ADDED = frozenset({"promises", "guarantee.promises", "guarantee.adjacency", "result.standard_deviation"})
_POISSON, _FIXED_SIZE = "poisson", "without-replacement"


def as_today(record: Mapping[str, Any]) -> dict[str, Any]:
    """A result in the words of today. What an older version said of Poisson batches with replaced records was the
    answer about batches of a fixed size, which is larger, and today it is the answer to that question. Of shuffled
    batches compare meant replaced records where no neighbours were named."""
    if record.get("version") != OLDER:
        return dict(record)
    found, own = {**record, "adjacency": relation_of(record)}, record.get("parameters")
    found["released"] = _RELEASED.get(str(record.get("released")), record.get("released"))
    if not isinstance(own, Mapping):
        return found
    # The solution is a parameter: there an older version had the default of the option. A ledger shows its releases as
    # they were given.
    name, result = str(record.get("solved")).replace("-", "_"), record.get("result")
    if isinstance(result, Mapping) and record.get("command") != "ledger" and result.get(name) is not None:
        found["parameters"] = own = {**own, name: result[name]}
    if own.get("adjacency") != REPLACE_ONE:
        return found
    if own.get("batches") == "shuffled" and isinstance(record.get("options"), Mapping):
        found["options"] = {**record["options"], "adjacency": REPLACE_ONE}
    for name in ("scheme", "batches"):
        if own.get(name) == _POISSON:
            found |= {key: {**found[key], name: _FIXED_SIZE} for key in ("parameters", "options")}
    return found


def guarantee_of(record: Mapping[str, Any]) -> Any:
    """The guarantee of a result, with the promise that earlier versions left out of it."""
    found, own, inputs = record.get("guarantee"), record.get("parameters"), record.get("inputs") or ()
    of_points = (isinstance(own, Mapping) and own.get("from") == "dp") or (inputs and all(
        isinstance(g, Mapping) and g.get("kind") == "dp" for g in inputs))
    if record.get("bound") != BOUNDED_RANGE_ZCDP.name or not of_points or not isinstance(found, Mapping):
        return found
    known = found.get("promises", [])
    if not isinstance(known, list) or BOUNDED_RANGE_LOSS in known:
        return found
    return {**found, "promises": [*known, BOUNDED_RANGE_LOSS]}


def lacks(version: Any, path: str) -> bool:
    """Whether results of this version do not have this key."""
    return version == OLDER and path in _ADDED


def relation_of(record: Mapping[str, Any]) -> Any:
    """The relation of neighbours that a result states, by its name of today. Monotone queries state it, too."""
    own, said = record.get("parameters"), record.get("adjacency")
    if isinstance(own, Mapping) and own.get("queries") == "monotone" and said not in RELATIONS:
        return ADD_REMOVE
    return _RELATIONS.get(str(said), said)


def refuse_uncovered(record: Mapping[str, Any], where: str) -> None:
    """Raises DpcalcError for a result of an earlier version whose number no theorem covers."""
    own = record.get("parameters")
    if not isinstance(own, Mapping):
        return
    parts = list(_parts(record))
    schemes = [part["sampling"].get("scheme") for part in parts]
    is_replaced = own.get("adjacency") == REPLACE_ONE
    inputs = [g for g in record.get("inputs") or () if isinstance(g, Mapping)] if "scheme" in own else []
    if (any(part.get("name") in MECHANISMS and MECHANISMS[part["name"]].query.of_respondents for part in parts)
            or (_FIXED_SIZE in schemes and _is_replaced_by_sensitivity(own, record.get("solved")))
            or (is_replaced and own.get("queries") == "monotone")
            or any(g.get("index") for g in inputs)
            or (own.get("adjacency") == ZERO_OUT and any(g.get("kind") != "mechanisms" for g in inputs))):
        raise DpcalcError("refused", f"{where} was {UNCOVERED}", "--input")


def _parts(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The mechanisms on samples in the guarantee of a result, and in those that it was made of."""
    for guarantee in (record.get("guarantee"), *(record.get("inputs") or ())):
        parts = guarantee.get("mechanisms") if isinstance(guarantee, Mapping) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, Mapping) and isinstance(part.get("sampling"), Mapping):
                yield part


def _is_replaced_by_sensitivity(own: Mapping[str, Any], solved: Any) -> bool:
    """Whether options describe Poisson batches for replaced records without a noise multiplier; of a ledger, whether
    one of its releases does."""
    runs: list[Mapping[str, Any]] = [{**own, str(solved): None}] if "scheme" in own else []
    files = own.get("file")
    for file in files if isinstance(files, list) else ():
        releases = file.get("release") if isinstance(file, Mapping) else None
        runs += [r for r in releases or () if isinstance(r, Mapping) and r.get("command") == "subsample"]
    return any(run.get("adjacency") == REPLACE_ONE and run.get("scheme", _POISSON) == _POISSON
               and not {noise_multiplier.NAME, "noise-multiplier"} & run.keys() for run in runs)
