"""The releases of a ledger for people and programs, and the sentence on what is left of its budget."""

from typing import Any

from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Answer, Release
from dpcalc.output.tables import TextTable
from dpcalc.output.values import in_full

_MOST_PARTS = 10  # lines about the disjoint parts of one release, so that a table stays a page


def rounded_releases(answer: Answer) -> TextTable:
    """The table for people: losses are rounded up, and what is left is rounded down."""
    budget = answer.extra.get("budget")
    left = () if budget is None else (f"left of {plain(budget)}",)
    rows = list[tuple[str, ...]]()
    for k, release in enumerate(answer.releases, 1):
        rows.append((f"{k}. {release.name}", human(release.epsilon), human(release.total_epsilon),
                     *(() if release.left is None else (human(release.left, upward=False),))))
        rows += [(f"   {part}", "", "", *("" for _ in left)) for part in _parts_in_words(release)]
    return TextTable(("release", "ε alone", "total ε", *left), rows, frozenset({"release"}), frozenset({"release"}))


def _parts_in_words(release: Release) -> list[str]:
    """A line for each disjoint part of the data that a release is about; of many the first ones."""
    lines = [f"part {k}: {part}" for k, part in enumerate(release.parts or (), 1)]
    return lines if len(lines) <= _MOST_PARTS else [*lines[:_MOST_PARTS], f"… ({len(lines)} parts)"]


def full_releases(answer: Answer) -> TextTable:
    """The table for programs: numbers in full."""
    records = [{name: x for name, x in one.items() if name != "parts"} for one in release_records(answer)]
    return TextTable(tuple(records[0]), [in_full(one.values()) for one in records])


def release_records(answer: Answer) -> list[dict[str, Any]]:
    """The releases as they stand in JSON; `left` only where there is a budget."""
    return [{name: list(x) if isinstance(x, tuple) else x for name, x in release._asdict().items() if x is not None}
            for release in answer.releases]


def budget_lines(answer: Answer) -> list[str]:
    """What is left of the budget, or by how much it is exceeded; nothing without a budget."""
    numbers, delta = answer.extra, answer.question.delta or 0.0
    if "budget" not in numbers or answer.question.unknown:
        return []
    budget, at = plain(numbers["budget"]), f"at δ = {plain(delta)}"
    if answer.over_budget:
        return [f"Over the budget ε ≤ {budget} {at} by {human(numbers['over'])}."]
    left = human(numbers["left"], upward=False)
    return [f"ε left of the budget {budget} {at}: {left}."]
