"""The classes of Typer commands and parameters: values are passed on as texts, and help is grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from typer._click import Context
from typer._coercion import TypeDescriptor
from typer.core import TyperArgument, TyperCommand, TyperOption
from typer.models import OptionInfo

from dpcalc.cli import help
from dpcalc.cli.arguments import with_values_left_out
from dpcalc.core import style
from dpcalc.core.command import OUTPUT
from dpcalc.core.errors import DpcalcError

TEXT = TypeDescriptor(annotation=str, parameter_info=OptionInfo(), file_annotation=None)
SWITCH = TypeDescriptor(annotation=bool, parameter_info=OptionInfo(), file_annotation=None)


class RawOption(TyperOption):
    """An option whose text is passed on as it is, because `core.validate` checks it, with its own error messages."""

    group = OUTPUT
    choices: tuple[str, ...] = ()
    brief = ""  # the help in one line, without symbol, range and default
    short: tuple[str, str] = ("", "")  # (metavar, help in one line), as the short help shows them
    aliases: tuple[str, ...] = ()  # names in other tools, which the help does not list

    @property
    def own_names(self) -> list[str]:
        """Its names without those in other tools."""
        return [name for name in self.opts if name not in self.aliases]

    def process_value(self, ctx: Context, value: Any) -> Any:
        return value

    def get_help_record(self, ctx: Context) -> tuple[str, str]:
        """(names with the metavar, help)."""
        names = ", ".join(sorted(self.own_names, key=len))
        return names if self.is_flag else f"{names} {self.metavar}", self.help or ""


class ColorOption(RawOption):
    """--color, which takes effect as soon as it is read and is passed to no command."""

    choices = style.CHOICES

    def __init__(self) -> None:
        super().__init__(param_decls=["color", "--color"], type_descriptor=TEXT, multiple=True, expose_value=False,
                         metavar="|".join(style.CHOICES), is_eager=True,
                         help="colour the text: auto does so on a terminal, unless NO_COLOR is set [default: auto]")

    def process_value(self, ctx: Context, value: Any) -> Any:
        for word in value or ():
            if word not in style.CHOICES:
                raise DpcalcError("unknown-value", f"{word!r} is not one of {', '.join(style.CHOICES)}", "--color")
            style.choose(word)
        return value


class HelpOption(RawOption):
    """-h or --help, which ends the call with the text of help."""

    def __init__(self, names: list[str], text: str, is_short: bool = False) -> None:
        super().__init__(param_decls=["short_help" if is_short else "help", *names], type_descriptor=SWITCH,
                         is_flag=True, default=False, expose_value=False, help=text)
        self.is_short = is_short

    def process_value(self, ctx: Context, value: Any) -> Any:
        if value and not ctx.resilient_parsing:
            raise help.Requested(help_text(ctx, self.is_short))
        return value


def help_text(ctx: Context, is_short: bool = False) -> str:
    """The long or the short help of the command of a context."""
    formatter = ctx.make_formatter()
    if is_short:
        ctx.command.format_short_help(ctx, formatter)  # type: ignore[attr-defined]
    else:
        ctx.command.format_help(ctx, formatter)
    return formatter.getvalue().rstrip("\n")


class RawArgument(TyperArgument):
    """Arguments whose texts are passed on as they are."""

    def process_value(self, ctx: Context, value: Any) -> Any:
        return value or ()

    def get_usage_pieces(self, ctx: Context) -> list[str]:
        return [self.metavar] if self.metavar else []


class FastCommand(TyperCommand):
    """A command whose help lists the options in groups, and examples below them."""

    examples: tuple[tuple[str, str], ...] = ()
    asks = ""
    sample = ""  # what the file holds that the first example reads
    usual: tuple[str, ...] = ()  # the options of the short help
    words: Callable[[], Iterable[str]] = staticmethod(tuple)  # the values of its arguments, for completion

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Refuses a name with one dash: -delta 1e-5 would be parsed as the short option -d with the value elta."""
        known = {name for param in self.params for name in param.opts}
        for name in (arg.split("=")[0] for arg in args):
            if len(name) > 2 and name[1] != "-" and f"-{name}" in known:
                raise DpcalcError("unknown-option", f"one dash too few; did you mean -{name}?", name)
        return super().parse_args(ctx, with_values_left_out(args) if "--batch" in known else args)

    def options(self) -> list[RawOption]:
        """The options and switches, without arguments."""
        return [param for param in self.params if isinstance(param, RawOption)]

    def format_options(self, ctx: Context, formatter: Any) -> None:
        records = [(o.group, str(o.name), *o.get_help_record(ctx)) for o in self.options()]
        help.write_options(formatter, records, self.asks)
        help.write_examples(formatter, self.examples, self.sample)

    def format_short_help(self, ctx: Context, formatter: Any) -> None:
        """Writes the usage, the usual options with a line each, and the examples."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        records = [(o.group, str(o.name), f"{o.own_names[0]} {o.short[0]}", o.short[1]) for o in self.options()
                   if o.name in self.usual]
        help.write_options(formatter, records, self.asks)
        help.write_examples(formatter, self.examples[:3], self.sample)
        formatter.write_paragraph()
        formatter.write_text(f"{ctx.command_path} --help shows every option.")
