"""A comparison for people: the rows with their neighbours and assumptions, and what one more assumption would buy."""

from __future__ import annotations

from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer
from dpcalc.core.text import shell_lines
from dpcalc.output.tables import Cells, width
from dpcalc.output.values import row_label, shown


def columns(answer: Answer) -> Cells:
    """Header and rows, numbers rounded for people."""
    from dpcalc.accounting.digits import shown as digits_of

    answer = answer.for_people
    asked = answer.asked
    tv, digits = "tv" in answer.headline.result and not answer.question.unknown, any(row.digits for row in answer.rows)
    header = ("bound", "neighbours", symbol(asked), *(("TV",) if tv else ()),
              *(("published formula",) if digits else ()), "assumes")
    rows = [(row_label(row), row.said["adjacency"], shown(answer, asked, row),
             *((human(row.result["tv"]),) if tv else ()),
             *((digits_of(row),) if digits else ()), row.said["assumes"]) for row in answer.rows]
    return header, rows


def below(answer: Answer) -> list[str]:
    """What each row is computed by, what other assumptions would give, and why other bounds do not apply."""
    assert answer.more is not None
    more, asked = answer.more(), answer.asked
    lines = ["", "Each row by itself:"]
    for row in answer.rows:
        lines += [f"  {row_label(row)}:", *(f"    {part}" for part in shell_lines(row.said["command"], width() - 4))]
    if more["what_if"]:
        lines += ["",
                  f"What more assumptions would give, instead of {symbol(asked)} = "
                  f"{shown(answer, asked, answer.headline)}:"]
        lines += [f"  {symbol(asked)} = {human(w[asked])} ({w['bound']}) if {w['assumption']}" for w in more["what_if"]]
    if more["no_gain"]:
        lines += ([] if more["what_if"] else [""]) + [f"None of these alone lowers it: {'; '.join(more['no_gain'])}."]
    reasons: dict[str, list[str]] = {}
    for item in more["not_applicable"]:
        reasons.setdefault(item["reason"], []).append(item["name"])
    return lines + [""] * bool(reasons) + [f"Not applicable: {', '.join(names)}: {reason}." for reason,
                                           names in reasons.items()]
