"""Where a record says something else than follows: every leaf of it is compared with what it should be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from dpcalc import __version__
from dpcalc.verify.fresh import Expected, key
from dpcalc.verify.records import Record, is_number
from dpcalc.verify.replay import number
from dpcalc.verify.unchecked import NotComputed

# relative: of numbers that are computed anew in doubles; of claims, which follow from each other
_SAME, _COPIED = 1e-9, 4e-15
_COMPOSED = 1e-6  # relative: of numbers of bounds, which another machine's transforms may round in another way
_WORDED = 2e-5  # relative: of numbers within texts, which have six digits
_CLAIMS = ("epsilon", "delta", "log_delta", "tv", "rdp", "mu", "rho", "tpr")
_OWN = {"id": "it is a name that was given to the question", "version": "it is another one than checks it here"}
_BESIDE = frozenset({"what_if", "no_gain", "not_applicable"})  # of a comparison, which a sweep has no room for
# words that change with versions
_PROSE = frozenset({"notes", "source", "assumptions", "errata", "statements", "assumes", *_BESIDE})
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_ABSENT = object()


class Difference(NamedTuple):
    """`refuted`; or not checked, and then `matters` where a guarantee may rest on it. `value` is the recorded one."""

    path: str
    text: str
    value: Any = _ABSENT
    refuted: bool = True
    matters: bool = True


def differences(expected: Expected, record: Record, proven: Collection[tuple[int, str]]) -> Iterator[Difference]:
    """`proven` are the numbers of bounds that are: place and name."""
    yield from _own(record)
    yield from _certified(expected.record.get("certified"), record.get("certified"))
    found = (*_between(_as_recorded(expected.record, record), record, ""), *_of_bounds(expected.bounds, record, proven))
    yield from map(_of_version, found) if record.get("version") != __version__ else found


def _certified(ours: Any, theirs: Any) -> Iterator[Difference]:
    """However near to the ends that are found here: an interval that does not meet theirs is a false one."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)
            and all(is_number(theirs.get(end)) for end in ("lower", "upper"))):
        return
    for end, side, wrong in (("upper", "below", number(theirs["upper"]) < number(ours["lower"])),
                             ("lower", "above", number(theirs["lower"]) > number(ours["upper"]))):
        if wrong:
            yield Difference(f"certified.{end}",
                             f"the record says certified.{end} = {_text(theirs[end])}, which is {side} what the "
                             "theorem gives")


def _own(record: Record) -> Iterator[Difference]:
    """What nobody else can know."""
    for name, why in _OWN.items():
        x = record.get(name, __version__)
        if isinstance(x, dict | list) or (name == "version" and not isinstance(x, str)):
            yield Difference(name, f"the record says {name} = {_text(x)}, which is none", x)
        elif name in record and (name, x) != ("version", __version__):
            yield _open(name, why)


def _as_recorded(ours: dict[str, Any], record: Record) -> dict[str, Any]:
    """With the recorded numbers of bounds, which are checked for themselves; and those of the first one in the
    result."""
    theirs = [*record["bounds"], *({} for _ in ours["bounds"])]
    bounds = [{**a, **{name: x for name, x in b.items() if is_number(x)}} for a,
              b in zip(ours["bounds"], theirs, strict=False)]
    head = {name: x for bound in bounds[:1] for name, x in bound.items() if name in ours["result"]}
    return {**ours, **{name: record[name] for name in _OWN if name in record}, "bounds": bounds,
            "result": {**ours["result"], **head}}


def _of_version(difference: Difference) -> Difference:
    """Another version may have had other words, or fewer of them; what it had beside them is not known here."""
    path, value = difference.path, difference.value
    if not difference.refuted or is_number(value):
        return difference
    return _open(path, "another version wrote it", not (value is _ABSENT or _is_prose(path)))


def _is_prose(path: str) -> bool:
    return not _PROSE.isdisjoint(re.split(r"[.\[]", path))


def _open(path: str, why: str, matters: bool = False) -> Difference:
    return Difference(path, f"{path}, because {why}", refuted=False, matters=matters)


# --- trees -----------------------------------------------------------------------------------------------------------


def _between(ours: Any, theirs: Any, path: str) -> Iterator[Difference]:
    if isinstance(ours, NotComputed):
        if theirs != []:
            yield _open(path, ours.why, not _is_prose(path))
    elif isinstance(ours, dict) and isinstance(theirs, dict):
        dot = f"{path}." if path else ""
        optional = _BESIDE if not path and _BESIDE.isdisjoint(theirs) else frozenset()
        for name in sorted(ours.keys() - theirs.keys() - optional):
            yield Difference(f"{dot}{name}", f"the record says nothing of {dot}{name}")
        for name in sorted(theirs.keys() - ours.keys()):
            yield Difference(f"{dot}{name}", f"the record says {dot}{name}, which does not belong there", theirs[name])
        for name in ours:
            if name in theirs:
                yield from _between(ours[name], theirs[name], f"{dot}{name}")
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield Difference(path,
                             f"the record says {path} has {len(theirs)} entries, where {len(ours)} follow from its "
                             f"options",
                             theirs if len(theirs) > len(ours) else _ABSENT)
        else:
            for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                yield from _between(a, b, f"{path}[{k}]")
    elif not agree(ours, theirs, _COPIED if path.startswith("guarantee") or path.rpartition(".")[2] in _CLAIMS
                   else _SAME):
        if _is_prose(path) and _worded_alike(ours, theirs):
            yield _open(path, f"its numbers have other last digits here: {_text(ours)}")
        else:
            said = f"the record says {path} = {_text(theirs)}, where {_text(ours)} follows from its options and bounds"
            yield Difference(path, said, theirs)


def agree(a: Any, b: Any, off: float) -> bool:
    """Whether values are the same; numbers but for a relative difference."""
    if is_number(a) and is_number(b):
        x, y = number(a), number(b)
        return x == y or abs(x - y) <= off * max(abs(x), abs(y)) < inf
    return type(a) is type(b) and bool(a == b)


def _worded_alike(a: Any, b: Any) -> bool:
    """Whether texts are the same but for the last digits of their numbers, which another machine may round in another
    way."""
    if not (isinstance(a, str) and isinstance(b, str) and _NUMBER.sub("0", a) == _NUMBER.sub("0", b)):
        return False
    return all(agree(float(x), float(y), _WORDED) for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True))


# --- bounds ----------------------------------------------------------------------------------------------------------


def _of_bounds(found: Mapping[Any, Mapping[str, Any]] | NotComputed, record: Record,
               proven: Collection[tuple[int, str]]) -> Iterator[Difference]:
    """What is not proven of the numbers of bounds; whether these are all; and what is proven by other choices than are
    made here."""
    bounds = {f"bounds[{k}]": (bound, {name for place, name in proven if place == k}) for k,
              bound in enumerate(record["bounds"])}
    if isinstance(found, NotComputed):
        yield _open("bounds", f"it is not known whether these are all: {found.why}", found.matters)
        for path, (bound, sure) in bounds.items():
            yield _open(f"{path}.witness", found.why)
            yield from (_open(f"{path}.{name}", found.why, True) for name,
                        x in bound.items() if is_number(x) and name not in sure)
        return
    keys = [key(bound) for bound in record["bounds"]]
    if absent := [" ".join(filter(None, other)) for other in found if other not in keys]:
        yield _open("bounds", f"there are others here: {', '.join(absent)}")
    if keys != list(found) and sorted(keys) == sorted(found):
        yield _open("bounds", "their order is another one here")
    for path, (bound, sure) in bounds.items():
        if (here := found.get(key(bound))) is None:
            yield Difference(path,
                             f"the record says {path} = {_text(bound['name'])}, which is no bound for its question",
                             bound)
        else:
            yield from _of_numbers(bound, here, path, sure)
            yield from _of_witness(bound["witness"], here["witness"], f"{path}.witness")


def _of_numbers(bound: Mapping[str, Any], here: Mapping[str, Any], path: str,
                sure: Collection[str]) -> Iterator[Difference]:
    for name, x in here.items():
        if is_number(x) and name not in bound:
            yield Difference(f"{path}.{name}", f"the record says nothing of {path}.{name}")
    for name, x in bound.items():
        at = f"{path}.{name}"
        if is_number(x) and name not in here:
            yield Difference(at, f"the record says {at}, which does not belong there", x)
        elif is_number(x) and name not in sure and not agree(here[name], x, _COMPOSED):
            yield _open(at,
                        f"it is not proven, and is {_text(here[name])} where the question is asked again, not "
                        f"{_text(x)}", True)


def _of_witness(witness: Mapping[str, Any], here: Mapping[str, Any], path: str) -> Iterator[Difference]:
    for name in sorted(witness.keys() | here.keys()):
        if name not in witness or name not in here or next(_between(here[name], witness[name], ""), None):
            yield _open(f"{path}.{name}", "any choice may prove a number, and another one is made here")


def _text(x: Any) -> str:
    text = str(x)
    return text if len(text) <= 60 else text[:57] + "…"
