"""What the tests of `verify` share: a record, a better one that must be refuted, and what a verdict says."""

import copy
import json
from functools import cache

from dpcalc.cli.app import load
from dpcalc.verify.report import REFUTED, verify

KEYS = ("tpr", "rdp", "tv", "mu", "rho", "delta", "epsilon")
WORSE_IF_MORE = {"sensitivity", "rho", "mu", "probability"}


@cache
def _text(line):
    name, *args = line.split()
    return load(name).run([*args, "--json"])[0]


def ask(line):
    """The JSON record of a command line: computed once, and a new copy for everyone who asks."""
    return json.loads(_text(line))


def asked(record):
    """What the headline is about."""
    if record["solved"]:
        return record["solved"].replace("-", "_")
    row = record["bounds"][0]
    return next(k for k in KEYS if k in row and not (k == "delta" and "log_delta" not in row))


def better(record, share=1e-6):
    """The record with its headline better by this share of itself (a whole number by one); None where it is 0
    already."""
    found, name = copy.deepcopy(record), asked(record)
    x = record["result"][name]
    if name in ("steps", "epochs"):
        y = x + 1
    elif name == "n":
        y = x - 1
    else:
        more = (name in WORSE_IF_MORE and record["solved"]) or record["bounds"][0]["status"] == "lower"
        y = x * (1 + share) if more else x * (1 - share)
    if y == x or x < 1e-300:
        return None
    for row in (found["result"], found["bounds"][0]):
        row[name] = y
        if f"{name}_lower" in row:  # so that it is refuted by itself, and not for being below its lower end
            row[f"{name}_lower"] = min(row[f"{name}_lower"], y)
    return found


def refuted(record):
    """Whether the number itself does not follow, and not only what is said of it."""
    return any(f.verdict == REFUTED and "result says" not in f.text for f in verify(record).head)


def texts(verdict):
    return [(f.verdict, f.text) for f in (*verdict.head, *verdict.others, *verdict.record)]


HEAD, ALL_BUT_LOWER_ENDS, ALL = range(3)  # what is proven of a record, and not only computed again


def check(line, share=1e-6, proven=ALL_BUT_LOWER_ENDS):
    """The numbers of its answer are proven, and a headline that is better by a share of itself is refuted."""
    record = ask(line)
    verdict = verify(record)
    claims = verdict.head if proven == HEAD else (*verdict.head, *verdict.others)
    assert verdict.holds and all(f.verdict == "verified" or (proven == ALL_BUT_LOWER_ENDS and "lower end" in f.text)
                                 for f in claims), texts(verdict)
    if record["bounds"][0]["status"] == "lower":
        assert all("≥" in f.text for f in verdict.head), texts(verdict)
    low = better(record, share) if share else None
    assert low is None or refuted(low), texts(verify(low))
