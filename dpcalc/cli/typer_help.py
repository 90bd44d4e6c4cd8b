"""The help of a command, written by Typer, by public names of Typer only: options in groups, and examples below."""

from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand

from dpcalc.cli import help
from dpcalc.cli.command_line import CommandLine
from dpcalc.commands import COMMAND_GROUPS

_SCREEN = 30  # lines, which the short help fits at 80 columns


def help_text(command: CommandLine, is_short: bool = False) -> str:
    """The long help of a command or of the program itself, or the short one, with a second example where that fits a
    screen."""
    page = _Help(command) if command.name else _ProgramHelp(command)
    ctx = typer.Context(page, info_name=f"dpcalc {command.name}".rstrip())
    texts = []
    for examples in (2, 1) if is_short else (0,):
        formatter = ctx.make_formatter()
        if is_short:
            page.format_short_help(ctx, formatter, examples)
        else:
            page.format_help(ctx, formatter)
        texts.append(str(formatter.getvalue().rstrip("\n")))
    return next((text for text in texts if text.count("\n") < _SCREEN), texts[-1])


def in_list(groups: Mapping[str, Mapping[str, str]]) -> str:
    """Title → name → text as a list, in the form of the help."""
    formatter = typer.Context(TyperCommand("dpcalc")).make_formatter()
    help.write_commands(formatter, groups)
    return str(formatter.getvalue().strip("\n"))


class _Help(TyperCommand):
    """A command for Typer, which writes its help."""

    def __init__(self, command: CommandLine) -> None:
        super().__init__(command.name, help=command.help, rich_markup_mode=None, add_help_option=False)
        self.line = command

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        argument = self.line.argument
        return ["[OPTIONS]", *([argument.metavar] if argument and argument.metavar else [])]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records = [(o.group, o.name, *o.help_record) for o in self.line.options]
        help.write_options(formatter, records, self.line.asks)
        help.write_examples(formatter, self.line.examples, self.line.sample)

    def format_short_help(self, ctx: Any, formatter: Any, examples: int) -> None:
        """Writes the usage, how to ask, the usual options with a line each, and so many examples."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        records = [(o.group, o.name, f"{o.own_names[0]} {o.short[0]}", o.short[1]) for o in self.line.options
                   if o.name in self.line.usual]
        with help.section(formatter, "Usual options"):
            formatter.write_text(self.line.asks)
            help.write_list(formatter, [row for rows in help.in_groups(records).values() for row in rows], lines=1)
        help.write_examples(formatter, self.line.examples[:examples], self.line.sample)
        formatter.write_paragraph()
        formatter.write_text(f"{ctx.command_path} --help shows every option.")


class _ProgramHelp(_Help):
    """The program for Typer."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", "COMMAND [ARGS]..."]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands in groups with their one-line helps, examples, options, and where to read more."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        help.write_commands(formatter, COMMAND_GROUPS)
        help.write_examples(formatter, self.line.examples)
        with help.section(formatter, "Options"):
            help.write_list(formatter, [option.help_record for option in self.line.options])
        formatter.write_paragraph()
        formatter.write_text("dpcalc COMMAND -h shows the usual options of a command, dpcalc COMMAND --help all of "
                             "them, and dpcalc help the topics.")
