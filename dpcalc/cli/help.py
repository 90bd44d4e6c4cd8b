"""The text of help: the options in groups, how to ask a question, and examples fitted to the width.

The short help (-h) shows the usual options of a command, and the long one (--help) shows all of them.
"""

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dpcalc.core import style
from dpcalc.core.command import COMMON, GROUPS, OUTPUT, QUESTION, Option
from dpcalc.core.quantities import Quantity
from dpcalc.core.text import shell_lines, spelled

Record = tuple[str, str, str, str]  # group, name, option with its metavar, help

_METAVARS = {"number": "X", "count": "N", "horizon": "N|inf", "numbers": "X,…", "series": "X,…|@FILE",
             "ranges": "N,…|@FILE", "text": "NAME", "choice": "NAME", "names": "NAME,…", "file": "FILE",
             "switch": "", "share": "H/N"}
_LONGEST_CHOICES = 44  # characters of a list of choices as a metavar; a longer list is part of the help
_NO_BREAK = "\x00"  # stands for a space at which a line is not broken
_COLUMN = 24  # characters of an option and its metavar, up to which the help stands on the same line
# Name of a common option → its place in the help.
_COMMON_ORDER = {option.name: place for place, option in enumerate(COMMON)}


def metavar(q: Quantity, choices: Sequence[str]) -> str:
    """The placeholder for the value of an option: the list of choices where it is short, else a general name."""
    listed = "|".join(choices)
    return listed if choices and len(listed) <= _LONGEST_CHOICES else q.metavar or _METAVARS[q.kind]


def describe(option: Option, brief: bool = False) -> str:
    """The help of an option, for example 'σ: standard deviation of the noise on the query [>0]'; in brief for one line,
    without the range and with all choices."""
    q = option.quantity
    choices = option.choices or q.choices
    symbol = f"{q.symbol}: " if q.symbol else ""
    listed = f": {', '.join(choices)}" if choices and (brief or len("|".join(choices)) > _LONGEST_CHOICES) else ""
    limits = f" [{q.limits()}]" if q.limits() and not brief else ""
    default = f"{option.default:g}" if isinstance(option.default, float | int) else option.default
    return f"{symbol}{q.brief if brief else q.help}{listed}{limits}{f' [default: {default}]' if default else ''}"


def in_groups(records: Sequence[Record]) -> dict[str, list[tuple[str, str]]]:
    """Group → (option, help) of its options, in the order of GROUPS. In QUESTION the common options come first."""
    order = {name: place for place, name in enumerate(GROUPS)}  # another group stands before the last one, OUTPUT
    ranked = sorted(records, key=lambda r: (order.get(r[0], order[OUTPUT] - 0.5), _COMMON_ORDER.get(
        r[1], len(_COMMON_ORDER)) if r[0] == QUESTION else 0))
    found: dict[str, list[tuple[str, str]]] = {}
    for group, _, left, right in ranked:
        found.setdefault(group, []).append((left, right))
    return found


def bold(text: str) -> str:
    """A title or the name of an option, bold on a terminal."""
    return style.styled(text, style.BOLD, sys.stdout)


@contextmanager
def section(formatter: Any, title: str) -> Iterator[None]:
    """An indented section below its title."""
    with formatter.section(bold(title)):
        yield


def write_options(formatter: Any, records: Sequence[Record], asks: str) -> None:
    """Writes the options in their groups with a formatter of Typer."""
    for name, rows in in_groups(records).items():
        with section(formatter, name):
            if name == QUESTION and asks:
                formatter.write_text(asks)
                formatter.write_paragraph()
            write_list(formatter, rows)


def write_list(formatter: Any, rows: Sequence[tuple[str, str]], lines: int | None = None) -> None:
    """Writes names with their help in two columns; of the help at most that many lines, with "…" where words are left
    out."""
    encoding = getattr(sys.stdout, "encoding", None)
    rows = [(spelled(left, encoding), spelled(right, encoding)) for left, right in rows]  # before they are aligned
    column = min(max(len(left) for left, _ in rows), _COLUMN) + 2
    indent, room = " " * formatter.current_indent, formatter.width - formatter.current_indent - column
    for left, right in rows:
        next_line = f"\n{indent}{' ' * column}"
        space = " " * (column - len(left)) if len(left) + 2 <= column else next_line
        whole = re.sub(r"(?<=\[default:) (?=\S+\])", _NO_BREAK, right)
        shown = textwrap.wrap(whole, room, break_on_hyphens=False, break_long_words=False, max_lines=lines,
                              placeholder=" …")
        formatter.write(f"{indent}{bold(left)}{space}{next_line.join(shown).replace(_NO_BREAK, ' ')}\n")


def write_examples(formatter: Any, examples: Sequence[tuple[str, str]], sample: str = "") -> None:
    """Writes commands, broken so that a shell still reads them, each with its result, and below them the file
    that they read."""
    if not examples:
        return
    with section(formatter, "Examples"):
        indent = " " * formatter.current_indent
        for line, result in examples:
            for part in shell_lines(f"dpcalc {line}", formatter.width - len(indent)):
                formatter.write(f"{indent}{part}\n")
            formatter.write(f"{indent}    → {result}\n")
        for line in sample.splitlines():
            formatter.write(f"{indent}{line}\n")


def write_commands(formatter: Any, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Writes the commands in their groups, with names in one column."""
    longest = max(len(name) for commands in groups.values() for name in commands)
    for title, commands in groups.items():
        with section(formatter, title):
            write_list(formatter, [(name.ljust(longest), text) for name, text in commands.items()])
