"""The catalogue of bounds as a document, and the text of `dpcalc explain` about one bound, topic, command or option."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from dpcalc.bounds import ROOMS, bounds_in, modules_of
from dpcalc.commands.catalogue import Entry, answers, entries
from dpcalc.commands.catalogue import record as record_of
from dpcalc.core.bound import Bound
from dpcalc.core.text import shell_lines
from dpcalc.output.formats import Document
from dpcalc.output.tables import PIPE_WIDTH, TextTable, heading, paragraph, width
from dpcalc.output.theorem import bibtex, lines, short_source


def document(found: Sequence[Entry]) -> Document:
    """The entries of the catalogue as a document. The page for people has the name, the status and a short source."""
    def table() -> TextTable:
        return _table(found)

    return Document(lambda: _page(found), lambda: [record_of(entry) for entry in found], table, table,
                    bibtex=lambda: bibtex(entry.bound for entry in found))


def _table(found: Sequence[Entry]) -> TextTable:
    header = ("bound", "status", "answers", "commands", "rtol", "source")
    rows = [(e.bound.name, e.bound.status, answers(e.bound), ", ".join(e.commands), f"{e.bound.rtol:g}", e.bound.source)
            for e in found]
    return TextTable(header, rows, left=frozenset(header), sentences=frozenset({"source"}))


def _page(found: Sequence[Entry]) -> str:
    """The bounds in groups, by what they are about: name, source, and status unless it is proven or in the name. Where
    the terminal is too narrow for a line each, the source stands below the name."""
    names = {entry.bound.name for entry in found}
    groups = []
    for family, title in ROOMS.items():
        bounds = [bound for module in modules_of(family) for bound in bounds_in(module) if bound.name in names]
        sources = [short_source(b.source) + ("" if b.status == "proven" or b.status in b.name else f" [{b.status}]")
                   for b in bounds]
        column = max((len(b.name) for b in bounds), default=0)
        room = [width() - 4 - len(source) for source in sources]  # for the name, without the spaces
        below = any(len(b.name) > columns for b, columns in zip(bounds, room, strict=True))
        rows = [f"  {b.name}\n      {source}" if below else f"  {b.name:{min(column, columns)}}  {source}"
                for b, source, columns in zip(bounds, sources, room, strict=True)]
        groups += ["\n".join([heading(f"{title}:"), *rows])] if rows else []
    return "\n\n".join(groups)


# --- one name --------------------------------------------------------------------------------------------------------


def explained(record: Bound | dict[str, Any], in_full: bool = True) -> str:
    """The text about a bound, or about a topic, a word, a command or an option, or the findings of a search, from its
    JSON record; of a bound without `in_full`, its theorem and an example."""
    if isinstance(record, Bound):
        return _bound(record, in_full)
    if record["kind"] == "topic":
        return _topic(record)
    if record["kind"] == "search":
        return _findings(record)
    if record["kind"] == "word":
        said = [f"{record['name']}: {record['meaning']}"]
    elif record["kind"] == "command":
        said = [f"dpcalc {record['name']}: {record['help']}", f"  {record['asks']}",
                f"  Bounds: {', '.join(record['bounds'])}" if in_full else
                f"  Bounds: {len(record['bounds'])}; dpcalc bounds --command {record['name']} lists them"]
    else:
        said = [_quantity(record), f"  Option of: {', '.join(record['commands'])}"]
    return "\n".join([paragraph(said, "  "), *_examples(record.get("examples", ()))])


def _examples(examples: Iterable[str]) -> list[str]:
    return [part for line in examples for part in shell_lines(f"  Example: {line}", width())]


def _bound(bound: Bound, in_full: bool) -> str:
    """The theorem and an example; with `in_full` also parameters, proof, accuracy, and the commands that use it."""
    more = [*shell_lines(f"  dpcalc explain {bound.name} --all", width()), "    → parameters, proof and accuracy, too"]
    said = paragraph([*lines(bound), *(_more_lines(bound) if in_full else ())], "  ")
    return "\n".join([said, *_examples([f"dpcalc {bound.theorem.example}"]), *([] if in_full else more)])


_LISTED = 8  # names of a kind that a search lists; of more, their number
_KINDS = {"topics": "help", "words": "explain", "commands": "help", "options": "explain", "bounds": "explain"}


def _findings(record: dict[str, Any]) -> str:
    """What mentions a word: names with the beginning of their text, a line each."""
    wide = min(width(), PIPE_WIDTH)
    what = f"a value of {', '.join(record['value_of'])}" if record["value_of"] else "not a name in dpcalc"
    found = [heading(f"{record['name']!r} is {what}. What mentions it:")]
    for kind, command in _KINDS.items():
        rows = [(name, short_source(text) if kind == "bounds" else text) for name, text in record[kind].items()]
        column = max((len(name) for name, _ in rows[:_LISTED]), default=0)
        lines = [f"  {name:{column}}  {textwrap.shorten(text, max(wide - column - 4, 20), placeholder=' …')}"
                 for name, text in rows[:_LISTED]]
        if rows:
            all_of_them = f" (dpcalc bounds {record['name']})" if kind == "bounds" else ""
            more = [f"  and {len(rows) - _LISTED} more{all_of_them}"] if len(rows) > _LISTED else []
            found.append("\n".join([f"{kind.capitalize()} (dpcalc {command} NAME):", *lines, *more]))
    return "\n\n".join(found)


def _topic(record: dict[str, Any]) -> str:
    """The title, the paragraphs, and commands with the results that they print."""
    wide = min(width(), PIPE_WIDTH)  # longer lines of prose are hard to read
    text = [textwrap.fill(part, wide, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            for part in record["text"]]
    shown = [f"  {part}" for line, result in zip(record["examples"], record["results"], strict=True)
             for part in (*shell_lines(line, wide - 2), f"    → {result}")]
    return "\n\n".join([heading(f"{record['name']}: {record['title']}"), *text, "\n".join(shown)])


def _quantity(record: dict[str, Any]) -> str:
    """A parameter or option: its name, its symbol where that differs from the name, its meaning and its range."""
    name, symbol = record["name"], record["symbol"]
    named = f"{name} {symbol}" if symbol not in ("", name) else name
    limits = f" [{record['range']}]" if record["range"] else ""
    return f"{named}: {record['meaning']}{limits}"


def _more_lines(bound: Bound) -> list[str]:
    record = record_of(entries()[bound.name])
    found = [f"  Answers: {record['answers']}",
             *(f"  Parameter: {_quantity(parameter)}" for parameter in record["parameters"])]
    for proof in record["proofs"]:
        found += [f"  Proof (with the statement), {proof['file']}:",
                  *(f"    {line}" if line else "" for line in _unwrapped(proof["text"]))]
    if not record["proofs"]:
        found.append(f"  Proof: {record['proof']}; computed in {record['file']}")
    found.append(f"  Accuracy: {record['accuracy']}")
    if measured := record["measured"]:
        allowed = "" if measured["claimed"] is None else f" ({measured['claimed']:g} allowed)"
        found.append(f"  Measured: at worst {measured['worst']:g}{allowed}, in the same units, over "
                     f"{measured['points']} points against the formula enclosed in ball arithmetic")
    return [*found, f"  Used by: {', '.join(record['commands'])}"]


def _unwrapped(docstring: str) -> list[str]:
    """The paragraphs of a docstring as one line each; displayed formulas as they are."""
    found: list[str] = []
    for part in docstring.split("\n\n"):
        found += ["", *(part.split("\n") if part.startswith(" ") else [part.replace("\n", " ")])]
    return found[1:]
