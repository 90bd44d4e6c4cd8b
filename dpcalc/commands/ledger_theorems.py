"""The theorems by which ledger answers: those of convert, and the filters of adaptive ledgers."""

from collections.abc import Iterator

from dpcalc.bounds.conversions import filters
from dpcalc.commands import convert_answer
from dpcalc.core.results import Route


def theorems() -> Iterator[Route]:
    yield from convert_answer.theorems()
    yield from map(Route, filters.BOUNDS)
