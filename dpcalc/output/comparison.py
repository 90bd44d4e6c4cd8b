"""The text below a comparison for people: the command of each row, and the effect of further assumptions."""

from __future__ import annotations

from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer
from dpcalc.core.text import shell_lines
from dpcalc.output.tables import width
from dpcalc.output.values import row_label, shown_value


def lines_below(answer: Answer) -> list[str]:
    """The lines below a comparison: the command that computes each row, the number that one more assumption would give,
    and the reason why each other bound does not apply."""
    assert answer.more is not None
    more, quantity = answer.more(), answer.quantity
    lines = ["", "Each row by itself:"]
    for row in answer.rows:
        lines += [f"  {row_label(row)}:", *(f"    {part}" for part in shell_lines(row.context["command"], width() - 4))]
    if more["what_if"]:
        now = shown_value(answer, quantity, answer.headline)
        lines += ["", f"What more assumptions would give, instead of {symbol(quantity)} = {now}:"]
        lines += [f"  {symbol(quantity)} = {human(w[quantity])} ({w['bound']}) if {w['assumption']}"
                  for w in more["what_if"]]
    if more["no_gain"]:
        lines += ([] if more["what_if"] else [""]) + [f"None of these alone lowers it: {'; '.join(more['no_gain'])}."]
    names_by_reason: dict[str, list[str]] = {}
    for item in more["not_applicable"]:
        names_by_reason.setdefault(item["reason"], []).append(item["name"])
    if names_by_reason:
        lines.append("")
    return lines + [f"Not applicable: {', '.join(names)}: {reason}." for reason, names in names_by_reason.items()]
