"""The words beside a number that holds for one record alone, and not for the whole data set."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from dpcalc.core.text import MOST_NAMED


class OneRecord(NamedTuple):
    """The words, as 'for record 100 only; the worst record, 1000, has δ = 0.507'."""

    text: str
    is_worst: bool = False  # then the number holds for every record


def for_one(index: int, worst: float | None = None, value: str = "", what: str = "record") -> OneRecord:
    """The words for the record at an index (or another `what` with an index).

    `worst` is the index of the record with the greatest loss, where it is known, and `value` its loss in words.
    """
    if worst == index:
        return OneRecord(f"for {what} {index}, which is the worst one", True)
    if worst is None:
        return OneRecord(f"for {what} {index} only")
    number = "in the limit" if worst == inf else f"{worst:.17g}"
    return OneRecord(f"for {what} {index} only; the worst {what}, {number}, has {value}")


def for_some(indices: Sequence[int]) -> OneRecord:
    """The words for guarantees that were read from JSON, each for one record of a run that is not known here."""
    if len(indices) == 1:
        return OneRecord(f"for record {indices[0]} only, as the input says")
    places = f"{len(indices)} places" if len(indices) > MOST_NAMED else f"places {' and '.join(map(str, indices))}"
    return OneRecord(f"for one record only, at {places} of its runs, as the inputs say")
