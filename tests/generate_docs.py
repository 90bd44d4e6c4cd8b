"""Fills in what is generated in README.md and docs/: the outputs of commands, the tables of bounds, errata and
accuracy, and the glossary.

`python tests/generate_docs.py [PAGE…]` writes the pages (all of them when none is named), and the pictures that do not
exist yet. """

import os
import re
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import accuracy
from calling import shell

from dpcalc.bounds import ROOMS, all_bounds, bounds_in, modules_of
from dpcalc.commands.catalogue import answers, entries
from dpcalc.commands.glossary import source
from dpcalc.output.formats import markdown
from dpcalc.output.tables import TextTable
from dpcalc.output.theorem import short_source

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
WIDTH = 80  # columns of the terminal that the outputs are printed for
# of a number in full: its last digits depend on the processor, as another one may add in another order
SHOWN_DIGITS = 7
_DECIMAL = re.compile(r"\d+\.\d+")
_IN_FULL = range(13, 18)  # significant digits; more are asked for by --digits, and are the same everywhere


def commands(block):
    """The commands of a console block, each as it is written there: with its continuation lines."""
    found, lines = [], iter(block.split("\n"))
    for line in lines:
        if line.startswith("$ "):
            parts = [line[2:]]
            while parts[-1].endswith("\\"):
                parts.append(next(lines))
            found.append("\n".join(parts))
    return found


def printed(command, directory):
    """What a command prints into a pipe."""
    with chdir(directory):
        done = shell(re.sub(r" *\\\n *", " ", command))
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return rounded(done.stdout.rstrip("\n"))


def rounded(text):
    """A text with its numbers in full cut to a few digits and an ellipsis."""
    return _DECIMAL.sub(lambda found: _cut(found.group(0)), text)


def _cut(number):
    significant = [k for k, c in enumerate(number) if c.isdigit() and number[: k + 1].strip("0.")]
    if len(significant) not in _IN_FULL:
        return number
    return number[: max(significant[SHOWN_DIGITS - 1] + 1, number.index(".") + 2)] + "…"


def console(block, directory):
    """Each command of a block with what it prints now."""
    found = commands(block.group(1))
    now = "\n".join(f"$ {command}\n{printed(command, directory)}".rstrip("\n") for command in found)
    return f"```console\n{now}\n```"


def bounds():
    """The catalogue of `dpcalc bounds`, a table for each family."""
    parts, header = [], ("bound", "source", "answers", "commands")
    for room, title in ROOMS.items():
        family = [entries()[bound.name] for module in modules_of(room) for bound in bounds_in(module)]
        rows = [(f"`{e.bound.name}`" + ("" if e.bound.status == "proven" else f" ({e.bound.status})"), short_source(e.bound.source),
                 answers(e.bound), ", ".join(e.commands)) for e in family]
        parts += [f"## {title}",
                  markdown(TextTable(header, rows, left=frozenset(header)))]
    return "\n\n".join(parts)


def errata():
    """Every statement once, with the bounds that it concerns."""
    concerned = {}
    for bound in all_bounds().values():
        for text in bound.theorem.errata:
            concerned.setdefault(text, []).append(f"`{bound.name}`")
    return "\n".join(f"- {', '.join(names)}: {text}" for text, names in concerned.items())


def generated(text, directory):
    """A page with its generated parts as they are now; commands run in the directory."""
    text = re.sub(r"```console\n(.*?)\n```", lambda block: console(block, directory), text, flags=re.S)
    for name, make in (("bounds", bounds), ("accuracy", accuracy.table), ("errata", errata), ("glossary", source)):
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m,
                      make=make: f"{m.group(1)}\n{make()}\n\n{m.group(2)}",
                      text, flags=re.S)
    return text


def main(names):
    os.environ.update(COLUMNS=str(WIDTH), LINES="24")
    chosen = {Path(name).stem for name in names}
    for page in [p for p in PAGES if not names or p.stem in chosen]:
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "figures").mkdir()
            page.write_text(generated(page.read_text(encoding="utf-8"), directory), encoding="utf-8")
            for picture in (Path(directory) / "figures").iterdir():
                if not (DOCS / "figures" / picture.name).exists():
                    shutil.copy(picture, DOCS / "figures" / picture.name)


if __name__ == "__main__":
    main(sys.argv[1:])
