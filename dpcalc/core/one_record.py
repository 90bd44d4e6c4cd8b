"""A guarantee for one record alone says so where its number stands, and what the worst record has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class OneRecord(NamedTuple):
    """What is said beside the number: 'for record 100 only; the worst record, 1000, has δ = 0.507'."""

    text: str
    is_worst: bool = False  # then the number is no better than that of any other record


def for_one(index: int, worst: float | None = None, value: str = "", what: str = "record") -> OneRecord:
    """For the record at an index; `value` is what the worst one has, in words, where it is known. `what` has a place by
    that index."""
    if worst == index:
        return OneRecord(f"for {what} {index}, which is the worst one", True)
    if worst is None:
        return OneRecord(f"for {what} {index} only")
    return OneRecord(f"for {what} {index} only; the worst {what}, {worst:.17g}, has {value}")


def for_some(indices: Sequence[int]) -> OneRecord:
    """For the records of guarantees that were read, whose runs are not known."""
    if len(indices) == 1:
        return OneRecord(f"for record {indices[0]} only, as the input says")
    return OneRecord(f"for a record at places {' and '.join(map(str, indices))} of its runs only, as the inputs say")
