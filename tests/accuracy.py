"""Measures every bound against its formula as published: `python tests/accuracy.py [--jobs J] [--points N] [--seconds
S] [--more] [NAME…]` writes dpcalc/accuracy.json. Half of the points are random over the domain (domains.py), half have
corners.

Points come in chunks of 100, each with its own seed, so that a record of n points is of chunks 0 … n/100 − 1 whatever
the number of processes was; --more adds the next ones to a record. Where a bound is slow the time limit decides the
number of points, which is recorded. """

import argparse
import json
import multiprocessing
import os
import random
import sys
import time
from itertools import islice
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("oracles", "support")]

import domains
import oracle

from dpcalc.bounds import all_bounds
from dpcalc.verify.arb.ball import Undecided

FILE = Path(__file__).parents[1] / "dpcalc" / "accuracy.json"
POINTS, CHUNK = 100_000, 100
SAVED = 120.0  # seconds between two records of the same bound


class Violation(Exception):
    """A value below its theorem, or further above than claimed; or none that can be compared."""


def stream(name, seed):
    """Points without end, in turn random and with corners."""
    sources = [kind(f"accuracy {name} {seed}") for kind in (random.Random, domains.Corners)]
    while True:
        for rng in sources:
            yield domains.DRAW[name](rng)


def measure(bound, points, seed=0):
    """The record of one bound. Raises Violation with the parameters."""
    domain, worst = {}, 0.0
    for p in islice(stream(bound.name, seed), points):
        try:
            found = oracle.deviations(bound, p, worst)
        except Undecided as reason:
            raise Violation(str(reason)) from None
        for error, below in found:
            if below or (error > oracle.claimed(bound) and not bound.is_from_below):
                raise Violation(f"{bound.name}: {'below the theorem' if below else f'error {error:.3g}'} at {p}")
            worst = max(worst, error)
        for key, x in p.items():
            widen(domain, key, x)
    return {"points": points, "claimed": None if bound.is_from_below else oracle.claimed(bound), "worst": worst,
            "domain": domain}


def chunk(job):
    """Of a worker: the record of one chunk, or what is wrong with it as a text."""
    name, number = job
    try:
        return measure(all_bounds()[name], CHUNK, number)
    except Violation as violation:
        return str(violation)


def records(pool, name, points, seconds, first):
    """The record so far, after every chunk: of chunks first, first + 1, … Raises Violation."""
    end = time.monotonic() + seconds
    merged = None
    for found in pool.imap(chunk, [(name, number) for number in range(first, -(-points // CHUNK))]):
        if isinstance(found, str):
            raise Violation(found)
        merged = found if merged is None else merge(merged, found)
        yield merged
        if time.monotonic() > end:
            return


def merge(a, b):
    """Of two records of disjoint points."""
    domain = {key: set(x) for key, x in a["domain"].items()}
    for key, x in b["domain"].items():
        for one in x:
            widen(domain, key, one, known=True)
    return {**a, "points": a["points"] + b["points"], "worst": max(a["worst"], b["worst"]), "domain": domain}


def widen(domain, key, x, known=False):
    """Ends of what is a number, where it is given; names of what is one of a few; the number of entries of a list."""
    if x is None:
        return
    if isinstance(x, int | float):
        both = {x, *domain.get(key, ())}
        domain[key] = {min(both), max(both)}
    else:
        domain.setdefault(key, set()).add(x if known else word(x))


_KINDS = {"design": "strategies of up to 60 steps", "law": "laws of the number of runs"}  # what the points of a domain hold that is no number


def word(x):
    if isinstance(x, str):
        return x
    if isinstance(x, tuple) and not hasattr(x, "_fields") and not hasattr(x, "name"):
        return "a list"
    kind = type(x).__name__.lower()
    return str(getattr(x, "name", None) or _KINDS.get(kind, kind))


def plain(record):
    """For the file: the domain's ends to four digits, the error to three, upwards."""
    def ends(v):
        return sorted(v) if isinstance(next(iter(v)), str) else [float(f"{x:.4g}") for x in (min(v), max(v))]

    worst = float(f"{record['worst']:.2e}")
    if worst < record["worst"]:
        worst = float(f"{record['worst'] * 1.005:.2e}")
    limit = record["claimed"] if record["claimed"] is not None else worst
    return {**record, "worst": min(worst, limit), "domain": {k: ends(v) for k, v in record["domain"].items()}}


def write(name, record):
    """Into the file, in the order of the bounds."""
    found = {**(json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}), name: plain(record)}
    ordered = {n: found[n] for n in all_bounds() if n in found}
    lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(m, ensure_ascii=False)}" for n, m in ordered.items())
    FILE.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def recorded(name):
    return json.loads(FILE.read_text(encoding="utf-8")).get(name) if FILE.exists() else None


def table():
    """The README's table, from the file."""
    rows = ["| bound | claimed | worst seen | domain |", "| --- | --: | --: | --- |"]
    for name, m in json.loads(FILE.read_text(encoding="utf-8")).items():
        domain = ", ".join(f"`{key}` {shown(v)}" for key, v in m["domain"].items())
        claimed = "never above" if m["claimed"] is None else f"{m['claimed']:g}"
        points = "" if m["points"] == POINTS else f"; {m['points']:,} points"
        rows.append(f"| `{name}` | {claimed} | {m['worst']:.1e} | {domain}{points} |")
    return "\n".join(rows)


def shown(v):
    if isinstance(v[0], str):
        return " or ".join(v)
    return f"{v[0]:.3g}" if v[0] == v[1] else f"{v[0]:.3g}…{v[1]:.3g}"


def run(name, points, seconds, more, jobs):
    """Measures one bound and writes its record. Raises Violation."""
    known = recorded(name) if more else None
    if known and known["claimed"] not in (None, oracle.claimed(all_bounds()[name])):
        raise Violation(f"{name}: the record is of another claim; measure it anew, without --more")
    first, saved, total = (known["points"] // CHUNK if known else 0), time.monotonic(), known
    with multiprocessing.Pool(jobs) as pool:  # its own, as it may be left with chunks to do
        for record in records(pool, name, points, seconds, first):
            total = merge(known, record) if known else record
            if time.monotonic() - saved > SAVED:
                write(name, total)
                saved = time.monotonic()
    if total is not None and total is not known:
        write(name, total)
    return total


def main(args):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="bounds; all of them when left out")
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="per bound")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--more", action="store_true", help="add to the records there are")
    said = parser.parse_args(args)
    failed = 0
    for name in said.names or all_bounds():
        began = time.monotonic()
        try:
            record = run(name, said.points, said.seconds, said.more, said.jobs)
        except Violation as violation:
            failed += 1
            print(violation, file=sys.stderr, flush=True)
            continue
        if record:
            print(f"{name}: {record['points']} points, worst {record['worst']:.1e}, {time.monotonic() - began:.0f} s",
                  flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
