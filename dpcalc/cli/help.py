"""The text of --help: the options in groups, how to ask a question, and examples fitted to the width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcalc.core.command import COMMON, GROUPS, OUTPUT, QUESTION, Option
from dpcalc.core.quantities import Quantity
from dpcalc.core.text import shell_lines

Record = tuple[str, str, str, str]  # group, name, option with its metavar, help

_METAVARS = {"number": "X", "count": "N", "horizon": "N|inf", "numbers": "X,…", "series": "X,…|@FILE", "text": "NAME",
             "choice": "NAME", "file": "FILE"}
_LONGEST_CHOICES = 44  # characters of a list of choices as a metavar; a longer list is part of the help
# Name of a common option → its place in the help.
_COMMON_ORDER = {option.name: place for place, option in enumerate(COMMON)}


def metavar(q: Quantity, choices: Sequence[str]) -> str:
    """The placeholder for the value of an option: the list of choices where it is short, else a general name."""
    listed = "|".join(choices)
    return listed if choices and len(listed) <= _LONGEST_CHOICES else q.metavar or _METAVARS[q.kind]


def describe(option: Option) -> str:
    """The help of an option, for example 'σ: standard deviation of the Gaussian noise [>0]'."""
    q, default = option.quantity, option.default
    text = f"{q.symbol}: {q.help}" if q.symbol else q.help
    choices = option.choices or q.choices
    if len("|".join(choices)) > _LONGEST_CHOICES:
        text += f": {', '.join(choices)}"
    limits = f" [{q.limits()}]" if q.limits() else ""
    shown_default = f"{default:g}" if isinstance(default, float | int) else default
    return text + limits + (f" [default: {shown_default}]" if shown_default else "")


def groups(records: Sequence[Record]) -> dict[str, list[tuple[str, str]]]:
    """Group → (option, help) of its options, in the order of GROUPS. In QUESTION the common options come first."""
    order = {name: place for place, name in enumerate(GROUPS)}  # another group stands before the last one, OUTPUT
    ranked = sorted(records, key=lambda r: (order.get(r[0], order[OUTPUT] - 0.5), _COMMON_ORDER.get(
        r[1], len(_COMMON_ORDER)) if r[0] == QUESTION else 0))
    found: dict[str, list[tuple[str, str]]] = {}
    for group, _, left, right in ranked:
        found.setdefault(group, []).append((left, right))
    return found


def write(formatter: Any, records: Sequence[Record], asks: str, examples: Sequence[tuple[str, str]]) -> None:
    """Writes the groups and the examples with a formatter of Typer."""
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
