"""dpcalc explain: everything about a bound, and a summary of a command or an option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpcalc.core import quantities as q
from dpcalc.core.command import OUTPUT, Option, Page


def text(words: tuple[str, ...], format: str, json: bool = False) -> str:
    """What is known of each name. Raises DpcalcError with a similar name for one that is unknown."""
    from dpcalc.core.errors import DpcalcError
    from dpcalc.output.catalogue import explained
    from dpcalc.output.formats import Document, render

    if not words:
        raise DpcalcError("missing", "name a bound: dpcalc explain rdp-optimal; dpcalc bounds lists them")
    found = [record for word in dict.fromkeys(words) for record in named(word)]
    return render(Document(lambda: "\n\n".join(map(explained, found)), lambda: found, bibtex=lambda: _sources(found)),
                  format)


def _sources(found: Iterable[dict[str, Any]]) -> str:
    """The sources of bounds as BibTeX: of those named, and of those by which the named commands answer."""
    from dpcalc.commands.catalogue import entries
    from dpcalc.output.bibtex import bibtex

    known = entries()
    return bibtex(known[name].bound for record in found for name in record.get("bounds", (record["name"],))
                  if name in known)


def named(word: str) -> list[dict[str, Any]]:
    """The JSON records of a name: of a bound, or of a command and an option. A composition of epochs has the record of
    one epoch."""
    from dpcalc.bounds import replacement_message
    from dpcalc.commands.catalogue import calculators, command_record, entries, named_quantities, option_record, record
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.validate import near

    known = entries()
    if bound := known.get(word) or known.get(word.removesuffix("-basic")):
        return [record(bound)]
    found = [r for r in (command_record(word), option_record(word)) if r]
    if not found:
        if gone := replacement_message(word):
            raise DpcalcError("unknown-value", gone)
        close = near(word, (*known, *calculators(), *named_quantities()))
        raise DpcalcError("unknown-value",
                          f"{word!r} is no bound, command or option{close or '; dpcalc bounds lists the bounds'}")
    return found


def names() -> Iterable[str]:
    from dpcalc.bounds import all_bounds

    return all_bounds()


COMMAND = Page(
    "explain",
    "All about a bound: what it states and assumes, its parameters, source and proof, errata with evidence, accuracy, "
    "and an example. "
    "Commands and options are explained in short",
    "NAME...",
    text,
    (("explain rdp-optimal", "rdp-optimal [proven]: …"), ("explain burn-in-rdp --json | jq -r '.[0].status'", "proven"),
     ("explain delta", "--delta δ: failure probability; …")),
    (Option(q.FORMAT, OUTPUT, default="table", choices=("table", "json", "jsonl", "bibtex")),),
    (("json", "short for --format json"),),
    names,
)
