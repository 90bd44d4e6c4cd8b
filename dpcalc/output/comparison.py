"""The text below a comparison for people: what would lower its number; and with --all, what each row assumes, the
command that gives it, and why other bounds do not apply."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpcalc.core import style
from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer
from dpcalc.core.text import NO_BREAK, options_text, shell_lines
from dpcalc.output.tables import paragraph, width
from dpcalc.output.values import row_label


def lines_below(answer: Answer) -> list[str]:
    """The lines below a comparison, wrapped to the width."""
    assert answer.more is not None
    more = answer.more()
    lines = _next_steps(answer.quantity, more["what_if"], more["no_gain"])
    if not answer.every_row:
        return [*lines, "", *_wrapped("--all shows the command of each row and the bounds that do not apply.")]
    lines += ["", _title("Each row by itself:")]
    for row in answer.rows:
        lines += _wrapped(f"  {row_label(row)} assumes: {row.context['assumes']}.")
        lines += [f"    {part}" for part in shell_lines(row.context["command"], width() - 4)]
    names_by_reason: dict[str, list[str]] = {}
    for item in more["not_applicable"]:
        names_by_reason.setdefault(item["reason"], []).append(item["name"])
    if names_by_reason:
        lines += ["", _title("Not applicable:")]
    return lines + [line for reason, names in names_by_reason.items()
                    for line in _wrapped(f"  {reason[:1].upper()}{reason[1:]}: {', '.join(names)}.")]


def _next_steps(quantity: str, gains: Sequence[Mapping[str, Any]], no_gain: Iterable[str]) -> list[str]:
    """The options to add for a smaller number, each with its assumption; and the options that are in none of these, as
    they have no effect."""
    name, useful = symbol(quantity), [options_text(w["options"]) for w in gains]
    lines = [_wrapped((f"  {_unbroken(options)}: {name} = {human(w[quantity])} ({w['bound']}), "
                       f"if {_enumerated(w['assumption'].split('; '))}.").replace(" = ", f"{NO_BREAK}={NO_BREAK}"))
             for options, w in zip(useful, gains, strict=True)]
    if lines:
        lines.insert(0, ["", _title(f"What would lower {f'the {name}' if ' ' in name else name}:")])
    idle = [_unbroken(options) for options in no_gain if not any(options in others for others in useful)]
    if idle:
        lines.append([*([] if lines else [""]), *_wrapped(f"Would not help: {', '.join(idle)}.")])
    return [line for part in lines for line in part]


def _enumerated(parts: list[str]) -> str:
    """The clauses as one: 'a, b, and c'."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _unbroken(options: str) -> str:
    """The options with spaces at which a line is broken only between two of them."""
    return options.replace(" ", NO_BREAK).replace(f"{NO_BREAK}--", " --")


def _title(text: str) -> str:
    return style.styled(text, style.BOLD, sys.stdout)


def _wrapped(line: str) -> list[str]:
    return paragraph([line], "  ").replace(NO_BREAK, " ").split("\n")
