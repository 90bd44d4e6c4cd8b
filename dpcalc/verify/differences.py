"""The differences between a record and the record that is expected for its question: every value is compared."""

import re
from collections.abc import Collection, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from dpcalc import __version__
from dpcalc.accounting import older_records
from dpcalc.verify.recomputed import Expected, key_of
from dpcalc.verify.records import COPIED, SAME_DOUBLES, SAME_NUMBERS, Record, is_number, to_float
from dpcalc.verify.unchecked import NotComputed

_CLAIMS = ("epsilon", "delta", "log_delta", "tv", "rdp", "mu", "rho", "tpr")
# Keys whose values cannot be recomputed from the question, with the reason.
_OWN_KEYS = {"id": "it is a name that was given to the question",
             "version": "another version of dpcalc wrote the result"}
_KEYS_OF_COMPARISON = frozenset({"what_if", "no_gain", "not_applicable"})  # keys that the records of a sweep lack
# Keys whose values are texts, which another version may word differently.
_PROSE = frozenset({"notes", "promises", "source", "assumptions", "errata", "statements", "assumes",
                    *_KEYS_OF_COMPARISON})
_NUMBER_IN_TEXT = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_ABSENT = object()


class Difference(NamedTuple):
    """A difference that refutes the record; or, where `refuted` is false, a value that could not be checked. Such a
    value `matters` if a guarantee may depend on it. `value` is the recorded value, or _ABSENT."""

    path: str
    text: str
    value: Any = _ABSENT
    refuted: bool = True
    matters: bool = True


def differences(expected: Expected, record: Record, proven: Collection[tuple[int, str]]) -> Iterator[Difference]:
    """Yield all differences. `proven` has (index of the bound, name of the number) for each number that is proven."""
    yield from _compare_own_keys(record)
    yield from _compare_certified(expected.record.get("certified"), record.get("certified"))
    reference = _with_recorded_bounds(expected.record, record)
    found = (*_compare(reference, record, ""), *_compare_bounds(expected.bounds, record, proven))
    version = record.get("version")
    yield from found if version == __version__ else (_of_other_version(d, version) for d in found)


def _compare_certified(ours: Any, theirs: Any) -> Iterator[Difference]:
    """Refute a certified interval that is disjoint from the one computed here, however small their distance is."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)
            and all(is_number(theirs.get(end)) for end in ("lower", "upper"))):
        return
    for end, side, wrong in (("upper", "below", to_float(theirs["upper"]) < to_float(ours["lower"])),
                             ("lower", "above", to_float(theirs["lower"]) > to_float(ours["upper"]))):
        if wrong:
            yield Difference(f"certified.{end}",
                             f"the result says certified.{end} = {_shorten(theirs[end])}, which is {side} what the "
                             "theorem gives")


def _compare_own_keys(record: Record) -> Iterator[Difference]:
    """Yield malformed values of the keys that cannot be recomputed, and well-formed ones as unchecked."""
    for name, why in _OWN_KEYS.items():
        x = record.get(name, __version__)
        if isinstance(x, dict | list) or (name == "version" and not isinstance(x, str)):
            yield Difference(name, f"the result says {name} = {_shorten(x)}, which is none", x)
        elif name in record and (name, x) != ("version", __version__):
            yield _unchecked(name, why)


def _with_recorded_bounds(ours: dict[str, Any], record: Record) -> dict[str, Any]:
    """Return the expected record with the recorded numbers in place of its own: in the bounds, whose numbers are
    compared separately, and in the result, whose numbers must be those of the first bound."""
    theirs = [*record["bounds"], *({} for _ in ours["bounds"])]
    bounds = [{**a, **{name: x for name, x in b.items() if is_number(x)}}
              for a, b in zip(ours["bounds"], theirs, strict=False)]
    head = {name: x for bound in bounds[:1] for name, x in bound.items() if name in ours["result"]}
    return {**ours, **{name: record[name] for name in _OWN_KEYS if name in record}, "bounds": bounds,
            "result": {**ours["result"], **head}}


def _of_other_version(difference: Difference, version: Any) -> Difference:
    """Return the difference as it counts in a record of another version of dpcalc, which may have other keys and texts:
    it is unchecked instead of refuted. It matters unless it is prose, or a key that this version did not write."""
    path, value = difference.path, difference.value
    if not difference.refuted or is_number(value):
        return difference
    is_newer = value is _ABSENT and older_records.lacks(version, path)
    return _unchecked(path, "another version wrote it", not (is_newer or _is_prose(path)))


def _is_prose(path: str) -> bool:
    return path.endswith("].command") or not _PROSE.isdisjoint(re.split(r"[.\[]", path))


def _unchecked(path: str, why: str, matters: bool = False) -> Difference:
    return Difference(path, f"{path}, because {why}", refuted=False, matters=matters)


# --- trees -----------------------------------------------------------------------------------------------------------


def _compare(ours: Any, theirs: Any, path: str) -> Iterator[Difference]:
    if isinstance(ours, NotComputed):
        if theirs != []:
            yield _unchecked(path, ours.why, not _is_prose(path))
    elif isinstance(ours, dict) and isinstance(theirs, dict):
        yield from _compare_objects(ours, theirs, path)
    elif isinstance(ours, list) and isinstance(theirs, list):
        yield from _compare_lists(ours, theirs, path)
    elif not agree(ours, theirs, _tolerance(path)):
        if _is_prose(path) and _differ_in_last_digits(ours, theirs):
            yield _unchecked(path, f"its numbers have other last digits here: {_shorten(ours)}")
        else:
            yield Difference(path, f"the result says {path} = {_shorten(theirs)}, but its options and bounds give "
                                   f"{_shorten(ours)}", theirs)


def _compare_objects(ours: dict[str, Any], theirs: dict[str, Any], path: str) -> Iterator[Difference]:
    prefix = f"{path}." if path else ""
    optional = _KEYS_OF_COMPARISON if not path and _KEYS_OF_COMPARISON.isdisjoint(theirs) else frozenset()
    for name in sorted(ours.keys() - theirs.keys() - optional):
        yield Difference(f"{prefix}{name}", f"the result lacks {prefix}{name}")
    for name in sorted(theirs.keys() - ours.keys()):
        yield Difference(f"{prefix}{name}", f"the result has {prefix}{name}, which its question does not give",
                         theirs[name])
    for name in ours:
        if name in theirs:
            yield from _compare(ours[name], theirs[name], f"{prefix}{name}")


def _compare_lists(ours: list[Any], theirs: list[Any], path: str) -> Iterator[Difference]:
    if len(ours) != len(theirs):
        text = (f"the result has {len(theirs)} entries in {path}, but its options give {len(ours)}")
        yield Difference(path, text, theirs if len(theirs) > len(ours) else _ABSENT)
        return
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        yield from _compare(a, b, f"{path}[{k}]")


def _tolerance(path: str) -> float:
    """Return the largest relative difference at which two numbers in this place count as equal."""
    is_copied = path.startswith("guarantee") or path.rpartition(".")[2] in _CLAIMS
    return COPIED if is_copied else SAME_DOUBLES


def agree(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two values are equal, numbers up to the relative difference `tolerance`."""
    if is_number(a) and is_number(b):
        x, y = to_float(a), to_float(b)
        return x == y or abs(x - y) <= tolerance * max(abs(x), abs(y)) < inf
    return type(a) is type(b) and bool(a == b)


def _differ_in_last_digits(a: Any, b: Any) -> bool:
    """Whether two texts are equal up to the last digits of their numbers, which another machine may round
    differently."""
    if not (isinstance(a, str) and isinstance(b, str)):
        return False
    if _NUMBER_IN_TEXT.sub("0", a) != _NUMBER_IN_TEXT.sub("0", b):
        return False
    numbers = zip(_NUMBER_IN_TEXT.findall(a), _NUMBER_IN_TEXT.findall(b), strict=True)
    return all(agree(float(x), float(y), 2e-5) for x, y in numbers)


# --- bounds ----------------------------------------------------------------------------------------------------------


def _compare_bounds(found: Mapping[Any, Mapping[str, Any]] | NotComputed, record: Record,
                    proven: Collection[tuple[int, str]]) -> Iterator[Difference]:
    """Compare the set of bounds and their order, their numbers that are not proven, and their witnesses."""
    bounds = {f"bounds[{k}]": (bound, {name for index, name in proven if index == k})
              for k, bound in enumerate(record["bounds"])}
    if isinstance(found, NotComputed):
        yield _unchecked("bounds", f"it is not known whether these are all: {found.why}", found.matters)
        for path, (bound, proven_names) in bounds.items():
            yield _unchecked(f"{path}.witness", found.why)
            yield from (_unchecked(f"{path}.{name}", found.why, True)
                        for name, x in bound.items() if is_number(x) and name not in proven_names)
        return
    keys = [key_of(bound) for bound in record["bounds"]]
    if absent := [" ".join(filter(None, other)) for other in found if other not in keys]:
        yield _unchecked("bounds", f"there are others here: {', '.join(absent)}")
    if keys != list(found) and sorted(keys) == sorted(found):
        yield _unchecked("bounds", "their order is another one here")
    for path, (bound, proven_names) in bounds.items():
        if (ours := found.get(key_of(bound))) is None:
            yield Difference(path,
                             f"the result says {path} = {_shorten(bound['name'])}, which is no bound for its question",
                             bound)
        else:
            yield from _compare_numbers(bound, ours, path, proven_names)
            yield from _compare_witness(bound["witness"], ours["witness"], f"{path}.witness")


def _compare_numbers(bound: Mapping[str, Any], ours: Mapping[str, Any], path: str,
                     proven_names: Collection[str]) -> Iterator[Difference]:
    for name, x in ours.items():
        if is_number(x) and name not in bound:
            yield Difference(f"{path}.{name}", f"the result lacks {path}.{name}")
    for name, x in bound.items():
        at = f"{path}.{name}"
        if is_number(x) and name not in ours:
            yield Difference(at, f"the result has {at}, which its question does not give", x)
        elif is_number(x) and name not in proven_names and not agree(ours[name], x, SAME_NUMBERS):
            yield _unchecked(at, f"it is not proven, and is {_shorten(ours[name])} where the question is asked again, "
                                 f"not {_shorten(x)}", True)


def _compare_witness(witness: Mapping[str, Any], ours: Mapping[str, Any], path: str) -> Iterator[Difference]:
    for name in sorted(witness.keys() | ours.keys()):
        if name not in witness or name not in ours or next(_compare(ours[name], witness[name], ""), None):
            yield _unchecked(f"{path}.{name}", "any choice may prove a number, and another one is made here")


def _shorten(x: Any) -> str:
    text = str(x)
    return text if len(text) <= 60 else text[:57] + "…"
