"""The μ that a record hands on: proven by what a bound of its rows says, not only computed anew."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.results import Answer, Row
from dpcalc.verify.claims import Claim, above
from dpcalc.verify.records import Record, is_number
from dpcalc.verify.replay import number


def claim(answer: Answer, record: Record) -> tuple[Row, Claim] | None:
    """The row whose bound says μ-GDP in closed form, and that its μ is not above the one handed on; None where there is
    no such."""
    told, row = record.get("guarantee"), next((row for row in answer.rows if row.route.bound.mu_exact is not None),
                                              None)
    if row is None or not isinstance(told, dict) or told.get("kind") != "gdp" or not is_number(told.get("mu")):
        return None
    bound, own = row.route.bound, own_params(row.route.bound, answer.rows[0].params)

    def exact(mp: Any) -> Any:
        assert bound.mu_exact is not None
        return bound.mu_exact(mp, **own)

    return row, above("mu", number(told["mu"]), exact)
