"""The measured accuracy of every bound: accuracy.json, written by tests/accuracy.py, read when it is asked for."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple


class Measured(NamedTuple):
    """Values against the formula as published. `worst` is the largest error seen, in the units of `claimed` (see `Bound`):
    both relative, or for a composition on a grid an absolute width of log δ. A bound with status lower claims none
    (None): it is only never above."""

    points: int  # random points and corners
    claimed: float | None
    worst: float
    digits: int  # of the formula as published
    domain: dict[str, Any]  # parameter → [least, largest] drawn, or the values drawn


def measured(name: str) -> Measured | None:
    """What was measured for a bound, or None where nothing was."""
    record = _table().get(name)
    return Measured(**record) if record else None


@cache
def _table() -> dict[str, dict[str, Any]]:
    import json
    from importlib.resources import files

    table: dict[str, dict[str, Any]] = json.loads(files("dpcalc").joinpath("accuracy.json").read_text(encoding="utf-8"))
    return table
