"""--schedule of burn-in: for every step its step size, its noise and whether it uses the record, from JSON. An entry
[COUNT, VALUE] stands for that many steps with the value."""

import json
import sys
from typing import Any

from dpcalc.bounds.noisy_sgd.iteration_schedule import LONGEST, Schedule
from dpcalc.core import reading
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import brief

_KEYS = ("sigma", "learning_rate", "uses")
_MEGABYTES = 100  # of the largest file that is read


def read(given: Given) -> Schedule:
    """(η, σ, used) of every step, from the file, or from JSON that stands in place of its name, as in a record. Raises
    DpcalcError that says what is wrong."""
    lists = _lists(given["schedule"])
    length = {len(x) for x in lists.values()}
    if len(length) != 1:
        raise _error("its lists differ in length: " + ", ".join(f"{k} has {len(v)}" for k, v in lists.items()))
    steps = length.pop()
    columns = [_column(given, lists, name, steps) for name in ("learning_rate", "sigma")]
    uses = lists.get("uses", [1] * steps)
    if any(use not in (0, 1) for use in uses):
        raise _error("uses: each entry is 1 (the record is used at that step) or 0")
    return tuple((eta, sigma, bool(use)) for eta, sigma, use in zip(*columns, uses, strict=True))


def text(steps: Schedule, given: Given) -> str:
    """The schedule as JSON, without the lists that options of the call give."""
    lists = {"learning_rate": [eta for eta, _, _ in steps], "sigma": [sigma for _, sigma, _ in steps],
             "uses": [int(use) for _, _, use in steps]}
    return json.dumps({name: column for name, column in lists.items() if not given.has(name)})


def _lists(source: str) -> dict[str, list[Any]]:
    """The lists of the JSON, by name, with an entry for every step."""
    text, where = reading.inline_or_text(source, _MEGABYTES, "--schedule")
    data = reading.json_value(text, where, "--schedule")
    if not isinstance(data, dict) or not data or not set(data) <= set(_KEYS) or not all(isinstance(v, list)
                                                                                        for v in data.values()):
        raise _error(f"{where} must be an object of lists with one entry a step; the lists are {', '.join(_KEYS)}")
    lists = {name: _repeated(name, entries) for name, entries in data.items()}
    if not all(0 < len(v) <= LONGEST for v in lists.values()):
        raise _error(f"{where} must have 1 to {LONGEST} steps")
    return lists


def _repeated(name: str, entries: list[Any]) -> list[Any]:
    """The entries with every [COUNT, VALUE] written out, up to just more steps than are allowed."""
    found: list[Any] = []
    for entry in entries:
        if not isinstance(entry, list):
            found.append(entry)
        elif len(entry) == 2 and _is_count(entry[0]):
            found += entry[1:] * min(int(entry[0]), LONGEST + 1)
        else:
            raise _error(f"{name}: an entry that is a list is [COUNT, VALUE], with a whole COUNT ≥ 1")
        if len(found) > LONGEST:
            break
    return found


def _is_count(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and x >= 1 and x == x // 1


def _column(given: Given, lists: dict[str, list[Any]], name: str, steps: int) -> list[float]:
    if name not in lists:
        if given[name] is None:
            raise DpcalcError("missing", f"the schedule has no list {name}; add the list or this option", flag(name))
        return [given[name]] * steps
    if given.has(name):
        raise DpcalcError("contradictory", "the schedule has this list too; drop one of them", flag(name))
    for k, x in enumerate(lists[name], 1):
        if isinstance(x, bool) or not isinstance(x, int | float) or not 0 < x <= sys.float_info.max:
            raise _error(f"{name}, step {k}: {brief(x)} is not a number > 0")
    return [float(x) for x in lists[name]]


def _error(message: str) -> Exception:
    return DpcalcError("bad-json", message, "--schedule")
