"""Errors about options and words that a command does not have, as one line that names what was probably meant."""

from collections.abc import Iterable
from typing import Any

from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.suggest import meant, synonym


def unknown_option(name: str, own: tuple[str, ...], ctx: Any) -> DpcalcError:
    """The error for an option that the command of a context of Typer does not have; `own` are the names of those that
    it has."""
    from dpcalc.commands.catalogue import calculators

    command = calculators().get(ctx.info_name)
    if command and (instead := command.elsewhere.get(name.lstrip("-").replace("_", "-"))):
        return DpcalcError("unknown-option", f"no such option; {instead}", name)
    commands = [other.name for other in calculators().values()
                if any(name in map(flag, o.quantity.names) for o in other.all_options())]
    # An option of another command is hardly ever a mistyped one of this command.
    close = "dpcalc --version" if name == "--version" else synonym(name, own) if commands else meant(name, own)
    if close:
        return DpcalcError("unknown-option", f"no such option; did you mean {close}?", name)
    where = f"it belongs to {', '.join(commands)}" if commands else f"{ctx.command_path} --help lists the options"
    return DpcalcError("unknown-option", f"no such option; {where}", name)


def unexpected_word(word: str, known: Iterable[str], path: str) -> DpcalcError:
    """The error for an argument such as sigma=1, or another word that belongs to no option of the command `path`;
    `known` are the names of its options."""
    name, equals, value = word.partition("=")
    if f"--{name}" in known:
        return DpcalcError("usage", f"{word!r} is no option; did you mean --{name}{f' {value}' if equals else ''}?")
    return DpcalcError("usage", f"unexpected {word!r}; {path} takes options only, and --help lists them")
