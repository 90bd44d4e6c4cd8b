"""The total variation of a mechanism as a function of one ratio, from which bounds/total_variation/exact.py answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class TotalVariationLaw(NamedTuple):
    """TV at a ratio that says all of a mechanism, in doubles and as printed.

    `composed` gives the ratio of T releases where they are a release of the same kind.
    """

    tv: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    composed: Callable[[float, int], float] | None = None
