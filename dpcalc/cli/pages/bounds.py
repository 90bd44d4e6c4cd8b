"""dpcalc bounds: the catalogue of bounds, filtered."""

from dpcalc.commands import CALCULATORS
from dpcalc.commands.catalogue import Entry, mentioning
from dpcalc.core import quantities as q
from dpcalc.core.command import OUTPUT, Option, Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.validate import not_one_of
from dpcalc.output.catalogue import document
from dpcalc.output.formats import render

FILTER = "Filter"


def text(words: tuple[str, ...], format: str, json: bool = False, quiet: bool = False, command: str | None = None,
         status: str | None = None, assumes: str | None = None) -> str:
    """The bounds that pass every filter in a format; only their names with `quiet`. Raises DpcalcError."""
    found = chosen(words, command, status, assumes)
    if not found:
        filters = {"in its name or source": " and ".join(map(repr, words)), "as --command": command,
                   "as --status": status, "as --assumes": assumes}
        raise DpcalcError("no-match", "no bound has " + ", ".join(f"{v} {o}" for o, v in filters.items() if v)
                          + "; dpcalc bounds lists all of them")
    if quiet:
        return "\n".join(entry.bound.name for entry in found)
    return render(document(found), format)


def chosen(words: tuple[str, ...], command: str | None, status: str | None, assumes: str | None) -> list[Entry]:
    """The entries that pass every filter. Raises DpcalcError for an unknown command."""
    if command is not None and command not in CALCULATORS:
        raise DpcalcError("unknown-value", not_one_of(command, CALCULATORS), "--command")
    return [e for e in mentioning(words)
            if (command is None or command in e.commands) and status in (None, e.bound.status)
            and (assumes is None or any(assumes.casefold() in a.casefold() for a in e.bound.theorem.assumptions))]


COMMAND = Page(
    "bounds",
    "List the bounds that dpcalc knows: status, what each answers, the commands that use it, and its source. dpcalc "
    "explain NAME tells more about one. With words, list those that have each of them in their name or source.",
    "[WORD]...",
    text,
    (("bounds feldman -q", "shuffled-ldp-exact …"), ("bounds --command noise-feedback -q", "noise-feedback …"),
     ("bounds --status conjecture -q", "without-replacement-conjecture …"),
     ("bounds --assumes convex --json | jq -r '.[0].name'", "fixed-order")),
    (Option(q.USED_BY, FILTER), Option(q.STATUS, FILTER), Option(q.ASSUMES, FILTER),
     Option(q.FORMAT, OUTPUT, default="table",
            choices=tuple(format for format in q.FORMAT.choices if format != "statement"))),
    (("json", "short for --format json"), ("quiet", "print only the names")),
)
