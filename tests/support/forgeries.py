"""Changes of a record, one field each; and whether what verify says of it lets them pass in silence."""

import copy
import json

from verifying import WORSE_IF_MORE

from dpcalc.core.errors import DpcalcError
from dpcalc.verify.records import check_shape
from dpcalc.verify.report import verify

LONGEST = 3  # entries of a list that are changed each


def nodes(x, path=()):
    """Every value in it, and where it is."""
    yield path, x
    inner = x.items() if isinstance(x, dict) else enumerate(x[:LONGEST]) if isinstance(x, list) else ()
    for name, value in inner:
        yield from nodes(value, (*path, name))


def changes(x):
    """What may stand in place of a value: a hundredth more or less, another text, a shorter list, more in an object."""
    if isinstance(x, bool) or x is None:
        return (not x,)
    if isinstance(x, int):
        return x + 1, x - 1
    if isinstance(x, float):
        return (x * 1.01, x * 0.99) if x else (0.01, -0.01)
    if isinstance(x, str):
        return f"{x}x", x[:-1], ""
    if isinstance(x, list):
        return (x[:-1], [*x, 1]) if x else ([1], ["more"])
    return {**x, "more": 1.0}, {**x, "more": "text"}


def changed(record, path, *value):
    """The record with another value there, or without any."""
    if not path:
        return value[0]
    found = copy.deepcopy(record)
    at = found
    for name in path[:-1]:
        at = at[name]
    if value:
        at[path[-1]] = value[0]
    else:
        del at[path[-1]]
    return found


def forgeries(record):
    """(where, the record with a change there)."""
    for path, x in nodes(record):
        for y in changes(x):
            yield path, changed(record, path, y)
        if path and isinstance(path[-1], str):
            yield path, changed(record, path)


def name_of(path):
    return "".join(f"[{x}]" if isinstance(x, int) else f".{x}" for x in path).removeprefix(".")


def passes(record, path):
    """Whether verify finds nothing wrong, and does not say that it left this field unchecked."""
    record = json.loads(json.dumps(record))
    try:
        check_shape(record, "it")
        verdict = verify(record)
    except DpcalcError:
        return False
    name = name_of(path)
    # the question is another one, and the bounds that it has too are missing
    if path[:1] == ("options",) and verdict.unchecked:
        return False
    return verdict.holds and not any(f"{name}.".startswith((f"{x}.", f"{x}[")) or x.startswith((f"{name}.", f"{name}["))
                                     for x in verdict.unchecked)


def is_weaker(record, path, forged):
    """Whether the change is of a number beside the headline, and makes a true claim a weaker one, which is true."""
    if len(path) != 3 or path[0] != "bounds" or (path[1] == 0 and path[2] in record["result"]):
        return False
    bound, name = forged["bounds"][path[1]], path[2]
    before, after = record["bounds"][path[1]].get(name), bound.get(name)
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return False
    solved = (record["solved"] or "").replace("-", "_")
    down = name.endswith("_lower") or bound["status"] == "lower" or (name == solved
                                                                     and name in {*WORSE_IF_MORE, "steps", "epochs"})
    return after < before if down else after > before
