"""The glossary: letters and words of the field in one or two sentences each, for `dpcalc explain` and `dpcalc help`. It
stands in glossary.md, which is the documentation's page, too."""

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Word(NamedTuple):
    """An entry: its title, the other names and options that it answers to, and its text without markup."""

    title: str
    names: tuple[str, ...]
    text: str


_LETTERS = re.compile(r"^\| (?!letter|---)(.+?) \| (.+?) \| (.+?) \|$", re.M)
_WORD = re.compile(r"^- \*\*(.+?)\*\*(?: \((.+?)\))?: (.+)$")  # - **Title** (`--option`; also name, name): text


def comparable(word: str) -> str:
    """A word as it is compared with others: case, accents, spaces, hyphens and underscores do not matter."""
    letters = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return re.sub(r"[\s_-]+", "-", letters).strip("-")


def source() -> str:
    """The glossary in Markdown."""
    return files("dpcalc").joinpath("commands/glossary.md").read_text(encoding="utf-8")


@cache
def words() -> tuple[Word, ...]:
    """All entries: those of letters, and then those of words."""
    markdown = source()
    letters = [Word(names, tuple(names.split(", ")), meaning if options == "none" else f"{meaning}; options: {options}")
               for names, options, meaning in _LETTERS.findall(markdown)]
    entries = (" ".join(part.split()) for part in re.split(r"\n(?=- \*\*)", markdown.partition("## Words")[2]))
    found = [_WORD.match(entry) for entry in entries if entry]
    named = [Word(match[1], _names(match[1], match[2] or ""), match[3]) for match in found if match]
    return tuple(word._replace(text=plain(word.text)) for word in (*letters, *named))


def _names(title: str, brackets: str) -> tuple[str, ...]:
    """The title, its parts where it has an "and", and the names behind "also" in the brackets."""
    also = brackets.partition("also ")[2].split(", ") if "also " in brackets else []
    return (title, *title.split(" and "), *also)


def plain(markdown: str) -> str:
    """A text without the markup of Markdown; a link to a page names the page."""
    linked = re.sub(r"\[([^\]]*)\]\((\S+?\.md)[^)\s]*\)", r"docs/\2", markdown)
    return re.sub(r"\[([^\]]*)\]\(\S+?\)|\*([^*\s][^*]*)\*|`([^`]*)`", lambda m: m[1] or m[2] or m[3], linked)


def glossary_record(word: str) -> dict[str, Any] | None:
    """The JSON record of the entry that a word names, also in the plural; None where there is none. The letters K and k
    are different names."""
    key = comparable(word)
    spelled: dict[str, Word] = {}
    for entry in words():
        for name in entry.names:
            spelled.setdefault(name, entry)
            spelled.setdefault(comparable(name), entry)
    found = next((spelled[name] for name in (word.strip(), key, key.removesuffix("s"), f"{key}s")
                  if name in spelled), None)
    return {"name": found.title, "kind": "word", "meaning": found.text} if found else None
