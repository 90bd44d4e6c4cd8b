"""The μ of a record's μ-GDP guarantee as a claim, which the closed form of a bound proves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import ProfileBound
from dpcalc.core.results import Answer, Row
from dpcalc.verify.claim import Claim, claim_upper_bound
from dpcalc.verify.records import Record, is_number, to_float


def claim_of_mu(answer: Answer, record: Record) -> tuple[Row, Claim] | None:
    """Return the first row whose bound gives μ-GDP in closed form, and the claim that its μ is at most the recorded
    one; None where there is no such row, or the record has no μ."""
    guarantee = record.get("guarantee")
    row = next((row for row in answer.rows if _exact_mu(row) is not None), None)
    if row is None or not isinstance(guarantee, dict):
        return None
    if guarantee.get("kind") != "gdp" or not is_number(guarantee.get("mu")):
        return None
    mu_exact, own = _exact_mu(row), own_params(row.route.bound, answer.rows[0].params)

    def exact(mp: Any) -> Any:
        assert mu_exact is not None
        return mu_exact(mp, **own)

    return row, claim_upper_bound("mu", to_float(guarantee["mu"]), exact)


def _exact_mu(row: Row) -> Callable[..., Any] | None:
    """Return the closed form of μ of the row's bound, if it has one."""
    bound = row.route.bound
    return bound.mu.exact if isinstance(bound, ProfileBound) and bound.mu is not None else None
