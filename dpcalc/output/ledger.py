"""The releases of a ledger for people and programs, and the sentence on what is left of its budget."""

from collections.abc import Mapping
from typing import Any

from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Answer
from dpcalc.output.tables import TextTable
from dpcalc.output.values import in_full


def rounded_releases(answer: Answer) -> TextTable:
    """The table for people: losses are rounded up, and what is left is rounded down."""
    if answer.adaptive:
        spent = [(f"{k}. {one[0]}", *map(human, one[1:-1]), human(one[-1], upward=False))
                 for k, one in enumerate(answer.releases, 1)]
        return TextTable(("release", "spent", "total", "left"), spent, frozenset({"release"}), frozenset({"release"}))
    budget = answer.extra.get("budget")
    left = () if budget is None else (f"left of {plain(budget)}",)
    rows = [(f"{k}. {release.name}", human(release.epsilon), human(release.total_epsilon),
             *(() if release.left is None else (human(release.left, upward=False),)))
            for k, release in enumerate(answer.releases, 1)]
    return TextTable(("release", "ε alone", "total ε", *left), rows, frozenset({"release"}), frozenset({"release"}))


def full_releases(answer: Answer) -> TextTable:
    """The table for programs: numbers in full."""
    records = release_records(answer)
    return TextTable(tuple(records[0]), [in_full(one.values()) for one in records])


def release_records(answer: Answer) -> list[dict[str, Any]]:
    """The releases as they stand in JSON; `left` only where there is a budget."""
    return [{name: x for name, x in release._asdict().items() if x is not None} for release in answer.releases]


def budget_lines(answer: Answer) -> list[str]:
    """What is left of the budget, or by how much it is exceeded; nothing without a budget."""
    if answer.adaptive:
        return [_spent(answer.adaptive)]
    numbers, delta = answer.extra, answer.question.delta or 0.0
    if "budget" not in numbers or answer.question.unknown:
        return []
    budget, at = plain(numbers["budget"]), f"at δ = {plain(delta)}"
    if answer.over_budget:
        return [f"Over the budget ε ≤ {budget} {at} by {human(numbers['over'])}."]
    left = human(numbers["left"], upward=False)
    return [f"ε left of the budget {budget} {at}: {left}."]


def unit_of_filter(adaptive: Mapping[str, Any]) -> str:
    """What the filter of an adaptive ledger adds up, in words."""
    name, order = adaptive["filter"], adaptive["order"]
    return {"pure": "sum of ε", "gdp": "sum of μ²"}.get(name) or f"Rényi divergence of order {order:.6g}"


def _spent(adaptive: Mapping[str, Any]) -> str:
    """What was spent of the budget of a filter, and what is left."""
    spent, budget, left = (human(adaptive[name], upward=name != "left") for name in ("spent", "budget", "left"))
    fixed = "" if adaptive["filter"] == "pure" else ", fixed by the budget"
    return f"Spent: {spent} of {budget} ({unit_of_filter(adaptive)}{fixed}). Left: {left}."
