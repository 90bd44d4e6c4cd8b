"""What --help prints: options in groups, how a question is put, examples that fit the width. Pure functions and one
writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcalc.core.command import COMMON, GROUPS, OUTPUT, QUESTION, Option
from dpcalc.core.quantities import Quantity
from dpcalc.core.text import shell_lines

Record = tuple[str, str, str, str]  # group, name, option with its metavar, help

_METAVARS = {"number": "X", "count": "N", "horizon": "N|inf", "numbers": "X,…", "series": "X,…|@FILE", "text": "NAME",
             "choice": "NAME",
             "file": "FILE"}
_LONGEST = 44  # columns of a list of choices beside the option; a longer one is in the help
_FIRST = {option.name: place for place, option in enumerate(COMMON)}


def metavar(q: Quantity, choices: Sequence[str]) -> str:
    listed = "|".join(choices)
    return listed if choices and len(listed) <= _LONGEST else q.metavar or _METAVARS[q.kind]


def describe(option: Option) -> str:
    """'σ: standard deviation of the Gaussian noise [>0]'."""
    q, default = option.quantity, option.default
    text = f"{q.symbol}: {q.help}" if q.symbol else q.help
    choices = option.choices or q.choices
    if len("|".join(choices)) > _LONGEST:
        text += f": {', '.join(choices)}"
    limits = f" [{q.limits()}]" if q.limits() else ""
    return text + limits + (f" [default: {default:g}]" if isinstance(default, float | int) else f" [default: {default}]"
                            if default else "")


def groups(records: Sequence[Record]) -> dict[str, list[tuple[str, str]]]:
    """The options of each group, in the order of GROUPS; what is asked comes first among the question's."""
    order = {name: place for place, name in enumerate(GROUPS)}
    ranked = sorted(records, key=lambda r: (order.get(r[0], order[OUTPUT] - 0.5),
                                            _FIRST.get(r[1], len(_FIRST)) if r[0] == QUESTION else 0))
    found: dict[str, list[tuple[str, str]]] = {}
    for group, _, left, right in ranked:
        found.setdefault(group, []).append((left, right))
    return found


def write(formatter: Any, records: Sequence[Record], asks: str, examples: Sequence[tuple[str, str]]) -> None:
    """The groups and the examples, by the formatter of the command line."""
    for name, rows in groups(records).items():
        with formatter.section(name):
            if name == QUESTION and asks:
                formatter.write_text(asks)
                formatter.write_paragraph()
            formatter.write_dl(rows, col_max=24)
    if examples:
        with formatter.section("Examples"):
            indent = " " * formatter.current_indent
            for line, result in examples:
                for part in shell_lines(f"dpcalc {line}", formatter.width - len(indent)):
                    formatter.write(f"{indent}{part}\n")
                formatter.write(f"{indent}    → {result}\n")
