"""Measures every bound against its formula as published: `python tests/accuracy.py [--points N] [--seconds S] [NAME…]`
writes dpcalc/accuracy.json. Half of the points are random over the domain (domains.py), half have corners.

Where the formula is slow the time limit decides the number of points, which is recorded. gmpy2 makes mpmath faster.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import domains
import oracle

from dpcalc.bounds import all_bounds

FILE = Path(__file__).parents[1] / "dpcalc" / "accuracy.json"
NO_CORNERS = {"composition", "burn-in-rdp", "burn-in-as-published"}  # there the quadrature of the oracle itself misses the peak
POINTS, SECONDS = 100_000, 45.0


class Violation(Exception):
    """A value below its theorem, or further above than claimed."""


def stream(name, seed):
    """Points without end, in turn random and with corners."""
    kinds = (random.Random,) if name in NO_CORNERS else (random.Random, domains.Corners)
    sources = [kind(f"accuracy {name} {seed}") for kind in kinds]
    while True:
        for rng in sources:
            yield domains.DRAW[name](rng)


def measure(bound, points, seconds=float("inf"), seed=0):
    """The record of one bound. Raises Violation with the parameters."""
    domain, worst, count, end = {}, 0.0, 0, time.process_time() + seconds
    for p in stream(bound.name, seed):
        for error, below in oracle.deviations(bound, p, worst):
            if below or (error > oracle.claimed(bound) and bound.status != "lower"):
                raise Violation(f"{bound.name}: {'below the theorem' if below else f'error {error:.3g}'} at {p}")
            worst = max(worst, error)
        for key, x in p.items():
            widen(domain, key, x)
        count += 1
        if count >= points or time.process_time() > end:
            break
    return {"points": count, "claimed": None if bound.status == "lower" else oracle.claimed(bound), "worst": float(f"{worst:.2e}"),
            "digits": oracle.DIGITS.get(bound.name, 60), "domain": {k: plain(v) for k, v in domain.items()}}


def widen(domain, key, x):
    """Ends of what is a number; names of what is one of a few; the number of entries of a list."""
    if isinstance(x, int | float):
        low, high = domain.get(key, (x, x))
        domain[key] = (min(low, x), max(high, x))
    else:
        domain.setdefault(key, set()).add(word(x))


def word(x):
    if isinstance(x, str):
        return x
    if isinstance(x, tuple) and not hasattr(x, "_fields"):
        return "a list"
    return str(getattr(x, "name", None) or type(x).__name__.lower())


def plain(v):
    return [float(f"{x:.4g}") for x in v] if isinstance(v, tuple) else sorted(v)


def table():
    """The README's table, from the file."""
    rows = ["| bound | domain | points | claimed | worst seen |", "| --- | --- | --: | --: | --: |"]
    for name, m in json.loads(FILE.read_text(encoding="utf-8")).items():
        domain = ", ".join(f"`{key}` {shown(v)}" for key, v in m["domain"].items())
        claimed = "never above" if m["claimed"] is None else f"{m['claimed']:g}"
        rows.append(f"| `{name}` | {domain} | {m['points']:,} | {claimed} | {m['worst']:.1e} |")
    return "\n".join(rows)


def shown(v):
    if isinstance(v[0], str):
        return " or ".join(v)
    return f"{v[0]:.3g}" if v[0] == v[1] else f"{v[0]:.3g} … {v[1]:.3g}"


def main(args):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="bounds; all of them when left out")
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time, per bound")
    said = parser.parse_args(args)
    bounds = all_bounds()
    failed = 0
    for name in said.names or bounds:
        try:
            record = measure(bounds[name], said.points, said.seconds)
        except Violation as violation:
            failed += 1
            print(violation, file=sys.stderr, flush=True)
            continue
        print(f"{name}: {record['points']} points, worst {record['worst']:.1e}", flush=True)
        found = {**(json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}), name: record}
        ordered = {n: found[n] for n in bounds if n in found}
        FILE.write_text("{\n" + ",\n".join(f" {json.dumps(n)}: {json.dumps(m, ensure_ascii=False)}" for n, m in ordered.items()) + "\n}\n",
                        encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
