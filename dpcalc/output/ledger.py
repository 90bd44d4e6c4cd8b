"""The releases of a ledger for people and programs, and the sentences on what is left of its budgets."""

from collections.abc import Mapping
from typing import Any

from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.remarks import DATE, NOTE
from dpcalc.core.results import Answer, Charged, Release
from dpcalc.output.tables import TextTable
from dpcalc.output.values import in_full

_MOST_PARTS = 10  # lines about the disjoint parts of one release, so that a table stays a page
_BUDGETS = ("epsilon", "rho", "mu")  # in the order in which they are printed


def rounded_releases(answer: Answer) -> TextTable:
    """The table for people: losses and shares are rounded up, and what is left is rounded down."""
    first = answer.releases[0]
    limit = None if answer.adaptive else _numbers(answer, first.quantity).get("budget")
    has_budget = first.left is not None and (limit is not None or answer.adaptive is not None)
    remarks = [name for name in (DATE, NOTE) if any(name in one.remarks for one in answer.releases)]
    left = (f"left of {plain(limit)}" if limit is not None else "left", "share") if has_budget else ()
    numbers = ("spent", "total") if answer.adaptive else (f"{symbol(first.quantity)} alone",
                                                          f"total {symbol(first.quantity)}")
    header = ("release", *(name for name in remarks if name == DATE), *numbers, *left,
              *(name for name in remarks if name == NOTE))
    rows = list[tuple[str, ...]]()
    for k, one in enumerate(answer.releases, 1):
        beside = {name: (str(one.remarks.get(name, "")),) for name in remarks}
        budget = (human(one.left or 0.0, upward=False), _percent(one.share)) if has_budget else ()
        rows.append((f"{k}. {one.name}", *beside.get(DATE, ()), *map(human, one[1:3]), *budget,
                     *beside.get(NOTE, ())))
        rows += [(f"   {part}", *("" for _ in header[1:])) for part in _parts_in_words(one)]
    texts = frozenset({"release", *remarks})
    return TextTable(header, rows, texts, texts - {DATE})


def _percent(share: float | None) -> str:
    """A share in per cent with three digits, rounded up."""
    return "" if share is None else f"{human(100 * share, 3)} %"


def _parts_in_words(release: Release | Charged) -> list[str]:
    """A line for each disjoint part of the data that a release is about; of many the first ones."""
    lines = [f"part {k}: {part}" for k, part in enumerate(release.parts or (), 1)]
    return lines if len(lines) <= _MOST_PARTS else [*lines[:_MOST_PARTS], f"… ({len(lines)} parts)"]


def full_releases(answer: Answer) -> TextTable:
    """The table for programs: numbers in full, with a column for each remark that some release has."""
    records = [{name: x for name, x in one.items() if name != "parts"} for one in release_records(answer)]
    header = tuple(dict.fromkeys(name for one in records for name in one))
    return TextTable(header, [in_full(one.get(name, "") for name in header) for one in records])


def release_records(answer: Answer) -> list[dict[str, Any]]:
    """The releases as they stand in JSON: `left` and `share` only where there is a budget, and the remarks as they were
    written."""
    return [_record(release) for release in answer.releases]


def _record(release: Release | Charged) -> dict[str, Any]:
    of, parts = release.quantity if isinstance(release, Release) else "spent", release.parts
    found = {"name": release.name, of: release[1], f"total_{of}": release[2], "left": release.left,
             "share": release.share, "parts": None if parts is None else list(parts), **release.remarks}
    return {name: x for name, x in found.items() if x is not None}


def _numbers(answer: Answer, quantity: str) -> dict[str, float]:
    """`budget`, `left` and `over` of a quantity, and what is spent, as far as the ledger has them."""
    own = f"{quantity}_" if quantity != "epsilon" else ""
    found = {name: answer.extra[own + name] for name in ("budget", "left", "over") if own + name in answer.extra}
    return {**found, **({"spent": answer.extra[quantity]} if quantity in answer.extra else {})}


def budget_lines(answer: Answer) -> list[str]:
    """What is left of each budget, or by how much it is exceeded; nothing without a budget, and of a number that was
    solved for nothing about its only budget, which it meets."""
    if answer.adaptive:
        return [_spent(answer.adaptive, answer.parameters.get("order") is not None)]
    found = {name: numbers for name in _BUDGETS if "budget" in (numbers := _numbers(answer, name))}
    if answer.question.unknown and len(found) < 2 and not answer.over_budget:
        return []
    return [_budget_line(answer, name, numbers) for name, numbers in found.items()]


def _budget_line(answer: Answer, name: str, numbers: dict[str, float]) -> str:
    of, budget = symbol(name), plain(numbers["budget"])
    delta = answer.parameters.get("delta") if name == "epsilon" else None
    at = f" at δ = {plain(delta)}" if delta is not None else ""
    sampled = any(note.startswith("Poisson sampling does not lower") for note in answer.notes)
    said = [*([f"{of} is {human(numbers['spent'])}"] if "spent" in numbers and name != answer.question.asks else []),
            *(["Poisson sampling does not lower it"] if sampled and name != "epsilon" else [])]
    total = f" ({'; '.join(said)})" if said else ""
    if "over" in numbers:
        return f"Over the budget {of} ≤ {budget}{at} by {human(numbers['over'])}{total}."
    return f"{of} left of the budget {budget}{at}: {human(numbers['left'], upward=False)}{total}."


def unit_of_filter(adaptive: Mapping[str, Any]) -> str:
    """What the filter of an adaptive ledger adds up, in words."""
    name, order = adaptive["filter"], adaptive["order"]
    return {"pure": "sum of ε", "gdp": "sum of μ²"}.get(name) or f"Rényi divergence of order {order:.6g}"


def _spent(adaptive: Mapping[str, Any], has_order: bool) -> str:
    """What was spent of the budget of a filter, and what is left."""
    spent, budget, left = (human(adaptive[name], upward=name == "spent") for name in ("spent", "budget", "left"))
    if float(spent) > float(budget):  # by their rounding
        spent, budget = human(adaptive["spent"], 15), human(adaptive["budget"], 15)
    fixed = "" if adaptive["filter"] == "pure" else f", fixed {'beforehand' if has_order else 'by the budget'}"
    return f"Spent: {spent} of {budget} ({unit_of_filter(adaptive)}{fixed}). Left: {left}."
