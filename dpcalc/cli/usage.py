"""Errors about options and words that a command does not have, as one line that names what was probably meant."""

import re
from collections.abc import Iterable

from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.suggest import meant, synonym

# Options that no calculator has, or only dpcalc convert: what to write instead.
_IN_EVERY_COMMAND = {
    **{name: f"write --format {name}" for name in ("csv", "tsv", "jsonl", "markdown", "latex", "statement", "bibtex")},
    "to": "pipe the result: dpcalc {command} … --json | dpcalc convert - --to zcdp",
    "best": "-q prints the best number alone, and --batch prints it for each question of a file",
    **dict.fromkeys(("max-epsilon", "epsilon-budget", "max-eps", "fail-above"), "to check a budget: dpcalc {command} … "
                    "--json | dpcalc ledger - --epsilon X --delta D, whose exit code is 3 where it is exceeded"),
}


def unknown_option(name: str, own: tuple[str, ...], called: str) -> DpcalcError:
    """The error for an option that the command that is called ("" for the program itself) does not have; `own` are the
    names of those that it has."""
    from dpcalc.commands.catalogue import calculators

    command, word = calculators().get(called), name.lstrip("-").replace("_", "-")
    if command and command.elsewhere and re.search(r"per-(user|patient|person|client|subject|customer)$", word):
        word = "images-per-patient"
    if command and (instead := command.elsewhere.get(word) or _IN_EVERY_COMMAND.get(word)):
        return DpcalcError("unknown-option", f"no such option; {instead.format(command=called)}", name)
    commands = [other.name for other in calculators().values()
                if any(name in map(flag, o.quantity.names) for o in other.all_options())]
    if commands and called in ("explain", "help"):
        return DpcalcError("unknown-option", f"write it without dashes: dpcalc {called} {word}", name)
    # An option of another command is hardly ever a mistyped one of this command.
    close = "dpcalc --version" if name == "--version" else synonym(name, own) if commands else meant(name, own)
    if close:
        return DpcalcError("unknown-option", f"no such option; did you mean {close}?{_letters(command, word)}", name)
    if not called and (commands or name in ("--json", "-q", "--quiet", "--all", "--explain", "--certify")):
        after = commands[0] if commands else "rdp"
        return DpcalcError("unknown-option", f"options stand after the command, as in dpcalc {after} {name}", name)
    path = f"dpcalc {called}".rstrip()
    where = f"it belongs to {', '.join(commands)}" if commands else f"{path} --help lists the options"
    return DpcalcError("unknown-option", f"no such option; {where}{_letters(command, word)}", name)


def _letters(command: Command | None, word: str) -> str:
    """For an option of one letter, as papers write it: the letters of the usual options of the command."""
    if command is None or len(word) > 1:
        return ""
    usual = (command.option(name).quantity for name in command.usual)
    return f"; here {', '.join(f'{quantity.symbol} is {quantity.option}' for quantity in usual if quantity.symbol)}"


def unexpected_word(word: str, known: Iterable[str], path: str) -> DpcalcError:
    """The error for an argument such as sigma=1, or another word that belongs to no option of the command `path`;
    `known` are the names of its options."""
    name, equals, value = word.partition("=")
    if f"--{name}" in known:
        return DpcalcError("usage", f"{word!r} is no option; did you mean --{name}{f' {value}' if equals else ''}?")
    return DpcalcError("usage", f"unexpected {word!r}; {path} takes options only, and --help lists them")
