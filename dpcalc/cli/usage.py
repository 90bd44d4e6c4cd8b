"""Typer's usage errors as one line that names what was typed and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typer._click.exceptions import BadOptionUsage, ClickException, NoSuchOption, UsageError

from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.suggest import meant, synonym


def translated(error: ClickException, known: Mapping[str, Any]) -> DpcalcError:
    """The error as a DpcalcError. `known` has the options by each of their names."""
    for kind, translate in _TRANSLATIONS:
        if isinstance(error, kind) and (found := translate(error, known)):
            return found
    code = "usage" if isinstance(error, UsageError) else "error"
    return DpcalcError(code, error.format_message().rstrip("."), getattr(error, "option_name", None))


def _unknown_option(error: Any, known: Mapping[str, Any]) -> DpcalcError:
    name = error.option_name
    if instead := _elsewhere(error).get(name.lstrip("-").replace("_", "-")):
        return DpcalcError("unknown-option", f"no such option; {instead}", name)
    own = tuple(option for option, param in known.items() if option in param.own_names)
    commands = _commands_with(name)
    # An option of another command is hardly ever a mistyped one of this command.
    close = "dpcalc --version" if name == "--version" else synonym(name, own) if commands else meant(name, own)
    if close:
        return DpcalcError("unknown-option", f"no such option; did you mean {close}?", name)
    where = f"it belongs to {', '.join(commands)}" if commands else f"{_command_path(error)} --help lists the options"
    return DpcalcError("unknown-option", f"no such option; {where}", name)


def _commands_with(option: str) -> list[str]:
    """The calculators that have this option."""
    from dpcalc.commands.catalogue import calculators

    return [name for name, command in calculators().items()
            if any(option in map(flag, o.quantity.names) for o in command.all_options())]


def _elsewhere(error: Any) -> Mapping[str, str]:
    """What stands for options of other commands and tools in the command of the error."""
    from dpcalc.commands.catalogue import calculators

    command = calculators().get(error.ctx.info_name) if error.ctx else None
    return command.elsewhere if command else {}


def _command_path(error: Any) -> str:
    return str(error.ctx.command_path) if error.ctx else "dpcalc"


def _value_missing_or_unexpected(error: Any, known: Mapping[str, Any]) -> DpcalcError | None:
    """The error for an option without its value, or a switch with one."""
    param = known.get(error.option_name)
    if param is None:
        return None
    if param.is_flag:
        return DpcalcError("usage", "takes no value", error.option_name)
    return DpcalcError("usage", f"needs a value: {', '.join(param.choices) or param.brief}", error.option_name)


def _extra_argument(error: Any, known: Mapping[str, Any]) -> DpcalcError | None:
    """The error for an argument such as sigma=1, or another word that belongs to no option."""
    if "extra argument" not in error.format_message():
        return None
    extra = error.format_message().partition("(s) (")[2].rstrip(".").removesuffix(")")
    word = next(iter(extra.split()), extra)  # an argument of blanks alone counts as a word, too
    name, equals, value = word.partition("=")
    if f"--{name}" in known:
        return DpcalcError("usage", f"{word!r} is no option; did you mean --{name}{f' {value}' if equals else ''}?")
    path = _command_path(error)
    return DpcalcError("usage", f"unexpected {word!r}; {path} takes options only, and --help lists them")


_Translation = Callable[[Any, Mapping[str, Any]], DpcalcError | None]
_TRANSLATIONS: tuple[tuple[type[ClickException], _Translation], ...] = (
    (NoSuchOption, _unknown_option),
    (BadOptionUsage, _value_missing_or_unexpected),
    (UsageError, _extra_argument),
)
