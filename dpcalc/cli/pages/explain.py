"""dpcalc explain: everything about a bound, a topic in short, and a summary of a command or an option."""

from collections.abc import Iterable
from typing import Any

from dpcalc.bounds import all_bounds, replacement_message
from dpcalc.commands import COMMANDS, PAGES
from dpcalc.commands.catalogue import (
    calculators,
    command_record,
    entries,
    mentioning,
    named_quantities,
    option_record,
    quantity_named,
    record,
)
from dpcalc.commands.topics import NAMES, NAMES_OF_BOUNDS, WORDS, topic_record
from dpcalc.core import quantities as q
from dpcalc.core.command import OUTPUT, Option, Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.validate import near
from dpcalc.output.catalogue import explained
from dpcalc.output.formats import Document, render
from dpcalc.output.theorem import bibtex


def text(words: tuple[str, ...], format: str, json: bool = False) -> str:
    """What is known of each name. Raises DpcalcError with a similar name for one that is unknown."""
    if not words:
        raise DpcalcError("missing", "name a bound, a command, an option or a topic; dpcalc bounds lists the bounds, "
                                     "dpcalc help the topics")
    found = [record for word in dict.fromkeys(words) for record in named(word)]

    def sources() -> str:
        """Of the bounds that are named, and of those by which the named commands answer."""
        known = entries()
        return bibtex(known[name].bound for record in found for name in record.get("bounds", (record["name"],))
                      if name in known)

    return render(Document(lambda: "\n\n".join(map(explained, found)), lambda: found, bibtex=sources), format)


def named(word: str) -> list[dict[str, Any]]:
    """The JSON records of a name, which may name several things: a bound, a topic, a command, an option. A composition
    of epochs has the record of one epoch."""
    topic = topic_record(word)
    is_no_bound = (topic or quantity_named(word)) and word not in (*NAMES_OF_BOUNDS, *COMMANDS)
    known = {} if is_no_bound else entries()  # for which every bound is imported
    if bound := known.get(word) or known.get(word.removesuffix("-basic")):
        return [r for r in (record(bound), topic) if r]
    found = [r for r in (topic, command_record(word), option_record(word)) if r]
    if not found:
        if word in PAGES:
            raise DpcalcError("unknown-value", f"{word} answers no question; dpcalc help {word} shows its help")
        if gone := replacement_message(word):
            raise DpcalcError("unknown-value", gone)
        raise DpcalcError("unknown-value", f"{word!r} is no bound, command, option or topic{_instead(word)}")
    return found


def _instead(word: str) -> str:
    """What to ask instead of an unknown word: about the bounds that mention it, or about a similar name."""
    if len(word) > 2 and (found := [entry.bound.name for entry in mentioning((word,))]):
        return (f"; dpcalc bounds {word} lists the bounds with it in their name or source: "
                f"{', '.join(found[:5])}{', …' if len(found) > 5 else ''}")
    return (near(word, (*entries(), *calculators(), *named_quantities(), *WORDS))
            or "; dpcalc bounds lists the bounds, dpcalc help the topics")


def names() -> Iterable[str]:
    return (*all_bounds(), *NAMES)


COMMAND = Page(
    "explain",
    "Explain a bound: what it states and assumes, its source and proof, errata, accuracy and an example. Explain a "
    "topic, a command or an option in short.",
    "NAME...",
    text,
    (("explain rdp-optimal", "rdp-optimal [proven]: …"), ("explain burn-in-rdp --json | jq -r '.[0].status'", "proven"),
     ("explain delta", "delta: what δ means, …")),
    (Option(q.FORMAT, OUTPUT, default="table", choices=("table", "json", "jsonl", "bibtex")),),
    (("json", "short for --format json"),),
    names,
)
