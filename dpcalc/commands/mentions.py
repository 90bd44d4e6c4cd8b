"""The search of `dpcalc help` and `dpcalc explain` for a word that is no name of dpcalc: what mentions it, and similar
names."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from dpcalc.commands.catalogue import calculators, entries, mentioning, named_quantities, option_record
from dpcalc.commands.glossary import comparable, words
from dpcalc.commands.topics import TOPICS, WORDS

_SIMILAR = 0.85  # of 2·(letters in common)/(letters of both): two slips in twelve letters, one in six


def mentions(word: str) -> dict[str, Any] | None:
    """The JSON record of everything that mentions a word or the beginning of one: names with a line each; and the
    options that it is a value of. None where nothing does, or where the word has fewer than three letters."""
    if len(comparable(word)) < 3:
        return None
    has_word = _finder(word)
    options = (option_record(quantity.name) for quantity in named_quantities().values())
    found = {
        "topics": {t.name: t.title for t in TOPICS if has_word(" ".join((t.title, *t.text)))},
        "words": {w.title: w.text for w in words() if has_word(f"{w.title} {w.text}")},
        "commands": {c.name: c.help for c in calculators().values() if has_word(c.help)},
        "options": {o["name"]: o["meaning"] for o in options if o and has_word(f"{o['meaning']} {o['range']}")},
        "bounds": {entry.bound.name: entry.bound.source for entry in mentioning((word.replace("-", " "),))
                   or mentioning((comparable(word),))},
    }
    value_of = [q.option for q in named_quantities().values() if comparable(word) in q.choices]
    return {"name": word, "kind": "search", "value_of": value_of, **found} if any(found.values()) else None


def _finder(word: str) -> Callable[[str], bool]:
    """Whether a text has a word that begins so."""
    pattern = re.compile(rf"(?<!\w){re.escape(comparable(word))}")
    return lambda text: bool(pattern.search(comparable(text)))


def similar(word: str) -> str | None:
    """The most similar name of a bound, a topic, a word, a command or an option, or None where none is similar."""
    quantities = named_quantities()
    names = {comparable(name) for name in (
        *entries(), *calculators(), *quantities, *WORDS, *(name for entry in words() for name in entry.names),
        *(value for quantity in quantities.values() for value in quantity.choices))}
    close = get_close_matches(comparable(word)[:80], sorted(names), 1, _SIMILAR)  # of 80 letters: no name is longer
    return close[0] if close else None
