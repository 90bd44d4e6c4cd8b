"""Writes the completion scripts for bash, zsh and fish, and the manual page.

`python tests/generate_completions.py` writes them to `completions/`. The scripts are made by shtab from the command
tree, so that no Python starts on a Tab. A test compares the files in the repository with what this module makes.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import shtab
from manual_page import page

from dpcalc.bounds import all_bounds
from dpcalc.cli.app import load, root
from dpcalc.cli.command_line import Words
from dpcalc.commands import COMMANDS
from dpcalc.commands.catalogue import calculators, uses
from dpcalc.commands.topics import WORDS
from dpcalc.output.theorem import short_source

FOLDER = Path(__file__).parents[1] / "completions"

_REPEATABLE = ("bound", "input")
_BASH_EQUALS_SIGN = """
# Bash makes three words of --option=value; they are completed like --option value.
_dpcalc() {
  local words=() cword=$COMP_CWORD i
  for i in "${!COMP_WORDS[@]}"; do
    if [[ ${COMP_WORDS[i]} != '=' ]]; then words+=("${COMP_WORDS[i]}")
    elif ((i == COMP_CWORD)); then words+=('')
    else ((cword--)); fi
  done
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$cword
  _shtab_dpcalc
}
complete -o bashdefault -F _dpcalc dpcalc
"""


def command_tree() -> ArgumentParser:
    """The commands, their options and what their arguments can be, as a parser of the form that shtab reads."""
    parser = ArgumentParser("dpcalc", add_help=False)
    _add_parameters(parser, root(), {})
    subparsers = parser.add_subparsers()
    for name, text in COMMANDS.items():
        values: dict[str, Sequence[str]] = {"command": tuple(calculators())}
        if name in calculators():
            values["bound"] = uses(calculators()[name])
        _add_parameters(subparsers.add_parser(name, help=text, add_help=False), load(name), values)
    return parser


def _add_parameters(parser: ArgumentParser, command: Any, values: Mapping[str, Sequence[str]]) -> None:
    """Adds the options and arguments of a command; `values` holds what other options can be."""
    argument = [command.argument] if command.argument else []
    for param in (*argument, *command.options):
        settings: dict[str, Any] = {}
        if isinstance(param, Words):
            names, settings = [param.name], {"nargs": "*", "choices": tuple(command.words()) or None}
        elif param.is_flag:
            names, settings = param.own_names, {"action": "store_true"}
        else:
            names = param.own_names
            settings = {"action": "append" if param.name in _REPEATABLE else "store", "metavar": "VALUE",
                        "choices": param.choices or values.get(param.name)}
        help_text = " ".join((getattr(param, "brief", "") or param.help).split(":")[0].split())
        added = parser.add_argument(*names, help=help_text.replace("%", "%%"), **settings)
        if "FILE" in param.metavar:
            added.complete = shtab.FILE


def _with_equals_sign(zsh: str) -> str:
    """The script for zsh, in which an option with a value may also be written --option=value."""
    def with_sign(line: str) -> str:
        names, bracket, rest = line.partition("[")
        return re.sub(r"--[\w-]+", r"\g<0>=", names) + bracket + rest if ":VALUE:" in rest else line

    return "\n".join(map(with_sign, zsh.replace("\\'", "'").split("\n")))


def _with_descriptions(fish: str) -> str:
    """The script for fish, in which a value has its description in place of that of its option: a bound its source, a
    command or a topic its title, and another value what the glossary or a topic says of it."""
    def described(value: str) -> str:
        found = descriptions.get(value, "").replace("'", "").replace('"', "").replace("$", "").replace("\\", "")
        return f"{value}\\t'{found}'" if found else value

    descriptions: dict[str, str] = {word: topic.title for word, topic in WORDS.items()} | dict(COMMANDS) | {
        name: short_source(bound.source) for name, bound in all_bounds().items()}
    return re.sub(r'(ka ")([^"()]+)"', lambda m: f"{m[1]}{' '.join(map(described, m[2].split()))}\"", fish)


def render() -> dict[str, str]:
    """The text of every generated file, by its name in `completions/`."""
    tree = command_tree()
    bash, zsh, fish = (shtab.complete(tree, shell) for shell in ("bash", "zsh", "fish"))
    return {"dpcalc.bash": bash + _BASH_EQUALS_SIGN, "_dpcalc": _with_equals_sign(zsh), "dpcalc.fish": _with_descriptions(fish),
            "dpcalc.1": page()}


if __name__ == "__main__":
    for file, text in render().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
