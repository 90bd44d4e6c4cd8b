"""dpcalc explain: a bound, a topic, a word of the field, a command or an option in short, and the search for a word."""

from collections.abc import Iterable
from typing import Any

from dpcalc.bounds import all_bounds, replacement_message
from dpcalc.commands import PAGES
from dpcalc.commands.catalogue import bound_named, command_record, entries, option_record, record
from dpcalc.commands.glossary import comparable, glossary_record
from dpcalc.commands.mentions import mentions, similar
from dpcalc.commands.topics import NAMES, NAMES_OF_BOUNDS, topic_record
from dpcalc.core import quantities as q
from dpcalc.core.bound import Bound
from dpcalc.core.command import OUTPUT, Option, Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import brief
from dpcalc.output.catalogue import explained
from dpcalc.output.formats import Document, render
from dpcalc.output.theorem import bibtex


def text(words: tuple[str, ...], format: str, json: bool = False, all: bool = False) -> str:
    """What is known of each name; of bounds, with `all`, also the parameters, the proof and the accuracy. Raises
    DpcalcError with a similar name for one that is unknown."""
    if not words:
        raise DpcalcError("missing", "name a bound, a command, an option, a topic or a word of the field; dpcalc "
                                     "bounds lists the bounds, dpcalc help the topics")
    if "" in map(comparable, words):
        raise DpcalcError("unknown-value", "a name has a letter or a digit")
    phrase = "-".join(words)
    names = (phrase,) if len(words) > 1 and named(phrase) else tuple(dict.fromkeys(words))
    found = [thing for name in names for thing in named(name) or [_search(name)]]

    def records() -> list[dict[str, Any]]:
        return [record(entries()[thing.name]) if isinstance(thing, Bound) else thing for thing in found]

    def sources() -> str:
        """Of the bounds that are named, and of those by which the named commands answer."""
        used = ([thing] if isinstance(thing, Bound) else map(bound_named, thing.get("bounds", [thing["name"]]))
                for thing in found)
        return bibtex(bound for bounds in used for bound in bounds if bound)

    return render(Document(lambda: "\n\n".join(explained(thing, all) for thing in found), records, bibtex=sources),
                  format)


def named(word: str) -> list[Bound | dict[str, Any]]:
    """What a name stands for, which may be several things: a bound, or the JSON record of a topic, a word of the
    glossary, a command, an option. A composition of epochs has the bound of one epoch."""
    name = comparable(word)
    topic, may_be_bound = topic_record(name), name in NAMES_OF_BOUNDS
    bound = bound_named(name) or bound_named(name.removesuffix("-basic")) if may_be_bound or not topic else None
    things = (bound, topic) if bound else (topic or glossary_record(word), command_record(name), option_record(name))
    return [thing for thing in things if thing]


def _search(word: str) -> dict[str, Any]:
    """What mentions a word that is no name. Raises DpcalcError where nothing does, with a similar name."""
    if word in PAGES:
        raise DpcalcError("unknown-value", f"{word} answers no question; dpcalc help {word} shows its help")
    if gone := replacement_message(word):
        raise DpcalcError("unknown-value", gone)
    close = similar(word)
    is_value = close is not None and comparable(close) == comparable(word)  # of an option, as the name of a mechanism
    if (is_value or not close) and (found := mentions(word)):
        return found
    instead = f"did you mean {close}?" if close else "dpcalc bounds lists the bounds, dpcalc help the topics"
    raise DpcalcError("unknown-value", f"{brief(word)} is no bound, command, option, topic or word of the glossary; "
                                        f"{instead}")


def names() -> Iterable[str]:
    return (*all_bounds(), *NAMES)


COMMAND = Page(
    "explain",
    "Explain a bound (what it states and assumes, its source, an example), a topic, a word of the field, a command or "
    "an option. For another word, list what mentions it.",
    "NAME...",
    text,
    (("explain rdp-optimal", "rdp-optimal [proven]: …"), ("explain burn-in-rdp --json | jq -r '.[0].status'", "proven"),
     ("explain delta", "delta: what δ means, …"), ("explain dominating pair", "Dominating pair: two distributions …")),
    (Option(q.FORMAT, OUTPUT, default="table", choices=("table", "json", "jsonl", "bibtex")),),
    (("json", "short for --format json"),
     ("all", "of a bound, also its parameters, proof and accuracy; JSON always holds them")),
    names,
)
