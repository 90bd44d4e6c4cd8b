"""dpcalc explain: all about one bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dpcalc import quantities as q
from dpcalc.spec import OUTPUT, Option, Page

if TYPE_CHECKING:
    from dpcalc.catalogue import Entry


def text(words: tuple[str, ...], format: str, json: bool = False) -> str:
    """What the named bounds say. Raises DpcalcError with the near name for one that is none."""
    from dpcalc.errors import DpcalcError
    from dpcalc.render_catalogue import as_json, as_jsonl, explained

    if not words:
        raise DpcalcError("missing", "name a bound: dpcalc explain rdp-optimal; dpcalc bounds lists them")
    found = [named(word) for word in dict.fromkeys(words)]
    if format == "table":
        return "\n\n".join(map(explained, found))
    return (as_jsonl if format == "jsonl" else as_json)(found)


def named(word: str) -> Entry:
    """The entry of that name; that of one epoch for the composition of epochs."""
    from dpcalc.catalogue import calculators, entries
    from dpcalc.errors import DpcalcError
    from dpcalc.params import near

    known = entries()
    if found := known.get(word) or known.get(word.removesuffix("-basic")):
        return found
    if word in calculators():
        raise DpcalcError("unknown-value", f"{word} is a command: dpcalc bounds --command {word} lists its bounds, "
                          f"dpcalc {word} --help its options")
    raise DpcalcError("unknown-value", f"{word!r} is no bound{near(word, tuple(known)) or '; dpcalc bounds lists them'}")


def names() -> Iterable[str]:
    from dpcalc.bounds import all_bounds

    return all_bounds()


COMMAND = Page(
    "explain",
    "All about a bound: what it states and assumes, its parameters, source and proof, errata with evidence, accuracy, and an example",
    "NAME...",
    text,
    (("explain rdp-optimal", "rdp-optimal [proven]: …"), ("explain burn-in-rdp --json | jq -r '.[0].status'", "proven")),
    (Option(q.FORMAT, OUTPUT, default="table", choices=("table", "json", "jsonl")),),
    (("json", "short for --format json"),),
    names,
)
