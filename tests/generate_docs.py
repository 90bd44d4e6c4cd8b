"""Fills the README's generated parts: outputs of its commands, the table of bounds, the errata."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from math import isclose
from pathlib import Path

import accuracy
from calling import call

from dpcalc.bounds import all_bounds
from dpcalc.catalogue import entries
from dpcalc.render_catalogue import cells
from dpcalc.tables import markdown

README = Path(__file__).parents[1] / "README.md"
_LONG = re.compile(r"\d+\.\d{12,}(?:e[-+]?\d+)?")  # numbers in full: their last digits depend on the processor's vector instructions
_ALIKE = 1e-9  # relative
_JQ = re.compile(r"\bjq\b")  # what commands use that pip does not install


def printed(command):
    """What a command line prints into a pipe of 80 columns, in this process where it is dpcalc alone."""
    os.environ.update(COLUMNS="80", LINES="24")
    if command.startswith("dpcalc ") and "|" not in command:
        done = call(shlex.split(command)[1:])
    else:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def settled(old, new):
    """The new lines, but an old one where only the last digits of its numbers differ."""
    old, new = old.split("\n"), new.split("\n")
    return "\n".join(a if alike(a, b) else b for a, b in zip(old, new, strict=True)) if len(old) == len(new) else "\n".join(new)


def alike(a, b):
    """Whether two lines are the same but for the last digits of numbers in full."""
    pairs = list(zip(_LONG.findall(a), _LONG.findall(b), strict=False))
    return _LONG.split(a) == _LONG.split(b) and all(isclose(float(x), float(y), rel_tol=_ALIKE) for x, y in pairs)


def console(block):
    """Each `$ command` of a block with what it prints now."""
    commands = re.findall(r"^\$ (.*)$", block.group(1), re.M)
    if any(map(_JQ.search, commands)) and not shutil.which("jq") and not os.environ.get("CI"):
        return block.group(0)  # as it was: tests/conftest.py skips like that
    now = "\n".join(f"$ {command}\n{printed(command)}" for command in commands)
    return f"```console\n{settled(block.group(1), now)}\n```"


def bounds():
    """The catalogue, as `dpcalc bounds --format markdown` prints it."""
    header, rows = cells(list(entries().values()))
    return markdown((header, [(f"`{name}`", *rest) for name, *rest in rows]))


def errata():
    return "\n".join(f"- `{b.name}`: {text}" for b in all_bounds().values() for text in b.errata)


def generated(text):
    text = re.sub(r"```console\n(.*?)\n```", console, text, flags=re.S)
    for name, make in (("bounds", bounds), ("accuracy", accuracy.table), ("errata", errata)):
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m, make=make: m.group(1) + make() + "\n" + m.group(2),
                      text, flags=re.S)
    return text


if __name__ == "__main__":
    README.write_text(generated(README.read_text(encoding="utf-8")), encoding="utf-8")
