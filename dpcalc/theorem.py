"""A theorem in lines of text, as --explain and `dpcalc explain` print it."""

from __future__ import annotations

from dpcalc.bound import Bound


def lines(bound: Bound) -> list[str]:
    """Statement, source, assumptions and errata."""
    return [f"{bound.name} [{bound.status}]: {bound.statement}", f"  Source: {bound.source}",
            *(f"  Assumes: {a}" for a in bound.assumptions), *(f"  Erratum: {e}" for e in bound.errata)]
