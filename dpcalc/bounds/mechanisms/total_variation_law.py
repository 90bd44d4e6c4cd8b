"""The record of a mechanism's exact total variation, which bounds/total_variation/exact.py evaluates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class TotalVariationLaw(NamedTuple):
    """The total variation as a function of the one ratio that a mechanism's output depends on, such as s/σ, in doubles
    and as printed.

    `composed` gives the ratio that T releases together have, where they are as good as one release of the same kind.
    """

    tv: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    composed: Callable[[float, int], float] | None = None
