"""The theorems about correlated noise that cover a design, and their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcalc.accounting.answer import rows
from dpcalc.bounds.correlated import correlated_bands, correlated_cyclic, correlated_once, correlated_separated
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.core.command import Given
from dpcalc.core.question import Question
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Route, Row


def routes(design: Design) -> tuple[Route, ...]:
    """The theorems that cover a design."""
    if design.participations == 1:
        return (Route(correlated_once.BOUND),)
    if design.is_banded:
        return (Route(correlated_bands.BOUND),)
    cyclic = (Route(correlated_cyclic.BOUND),) if design.order == "cyclic" else ()
    return (Route(correlated_separated.BOUND), *cyclic)


def rows_of(given: Given, design: Design, question: Question) -> tuple[Row, ...]:
    """The rows of a call for batches whose order is fixed."""
    change = RELATIONS[given["adjacency"]].sensitivity

    def bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
        return {"design": design, "change": change, "sigma": values["sigma"]}

    return rows(routes(design), given, bound_params, question, given["bound"] or ())
