"""What the command line's own errors become: one line that names what was said and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typer._click.exceptions import BadOptionUsage, ClickException, NoSuchOption, UsageError

from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.suggest import meant


def told(error: ClickException, args: Sequence[str], known: Mapping[str, Any]) -> DpcalcError:
    """The error in our form. `args` are what was typed, `known` the options that there are, by every name."""
    for kind, tell in _TOLD:
        if isinstance(error, kind) and (found := tell(error, args, known)):
            return found
    code = "usage" if isinstance(error, UsageError) else "error"
    return DpcalcError(code, error.format_message().rstrip("."), getattr(error, "option_name", None))


def _unknown(error: Any, args: Sequence[str], known: Mapping[str, Any]) -> DpcalcError:
    name = error.option_name
    close = "dpcalc --version" if name == "--version" else meant(name, tuple(known))
    if close:
        return DpcalcError("unknown-option", f"no such option; did you mean {close}?", name)
    having = _having(name)
    where = f"it belongs to {', '.join(having)}" if having else f"{_path(error)} --help lists the options"
    return DpcalcError("unknown-option", f"no such option; {where}", name)


def _having(option: str) -> list[str]:
    """The commands that have this option."""
    from dpcalc.commands.catalogue import calculators

    return [name for name, command in calculators().items()
            if any(option in map(flag, o.quantity.names) for o in command.all_options())]


def _path(error: Any) -> str:
    return str(error.ctx.command_path) if error.ctx else "dpcalc"


def _value(error: Any, args: Sequence[str], known: Mapping[str, Any]) -> DpcalcError | None:
    """An option without its value, or a switch with one."""
    param = known.get(error.option_name)
    if param is None:
        return None
    if param.is_flag:
        return DpcalcError("usage", "takes no value", error.option_name)
    return DpcalcError("usage", f"needs a value: {', '.join(param.choices) or param.brief}", error.option_name)


def _extra(error: Any, args: Sequence[str], known: Mapping[str, Any]) -> DpcalcError | None:
    """sigma=1, or a word that no option takes."""
    if "extra argument" not in error.format_message():
        return None
    extra = error.format_message().partition("(s) (")[2].rstrip(".").removesuffix(")")
    word = next(iter(extra.split()), extra)  # blanks alone are a word, too
    name, equals, value = word.partition("=")
    if f"--{name}" in known:
        return DpcalcError("usage", f"{word!r} is no option; did you mean --{name}{f' {value}' if equals else ''}?")
    return DpcalcError("usage", f"unexpected {word!r}; {_path(error)} takes options only, and --help lists them")


_TOLD: tuple[tuple[type[ClickException], Callable[[Any, Sequence[str], Mapping[str, Any]], DpcalcError | None]],
             ...] = (
    (NoSuchOption, _unknown),
    (BadOptionUsage, _value),
    (UsageError, _extra),
)
