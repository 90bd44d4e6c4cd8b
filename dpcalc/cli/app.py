"""The command line in Typer: commands are loaded on demand, and every error is one line and an exit code."""

from __future__ import annotations

import codecs
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import typer
from typer._click import Context
from typer._click.exceptions import ClickException
from typer._coercion import TypeDescriptor
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import OptionInfo

from dpcalc.cli import help
from dpcalc.cli.arguments import is_batch, wants_json, with_source_of_batch
from dpcalc.cli.standard_streams import exit_code, write
from dpcalc.commands import COMMANDS, PAGES, calculator
from dpcalc.core import style
from dpcalc.core.command import OUTPUT, Command, Option, Page
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.text import SPELLED, escaped

EXAMPLE = ("rdp --sigma 1 --delta 1e-5", "ε = 4.37718")
_TEXT = TypeDescriptor(annotation=str, parameter_info=OptionInfo(), file_annotation=None)
_SWITCH = TypeDescriptor(annotation=bool, parameter_info=OptionInfo(), file_annotation=None)


class RawOption(TyperOption):
    """An option whose text is passed on as it is, because `core.validate` checks it, with its own error messages."""

    group = OUTPUT
    choices: tuple[str, ...] = ()
    brief = ""  # the help, without symbol, range and default

    def process_value(self, ctx: Context, value: Any) -> Any:
        return value


class ColorOption(RawOption):
    """--color, which takes effect as soon as it is read and is passed to no command."""

    choices = style.CHOICES

    def __init__(self) -> None:
        super().__init__(param_decls=["color", "--color"], type_descriptor=_TEXT, multiple=True, expose_value=False,
                         metavar="|".join(style.CHOICES), is_eager=True,
                         help="colour the text: auto does so on a terminal, unless NO_COLOR is set [default: auto]")

    def process_value(self, ctx: Context, value: Any) -> Any:
        for word in value or ():
            if word not in style.CHOICES:
                raise DpcalcError("unknown-value", f"{word!r} is not one of {', '.join(style.CHOICES)}", "--color")
            style.choose(word)
        return value


class RawArgument(TyperArgument):
    """Arguments whose texts are passed on as they are."""

    def process_value(self, ctx: Context, value: Any) -> Any:
        return value or ()

    def get_usage_pieces(self, ctx: Context) -> list[str]:
        return [self.metavar] if self.metavar else []


class _LightHelp:
    """A --help option that defaults to False, because Typer imports pydantic to parse a default of None."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.default = False
        return option


class FastCommand(_LightHelp, TyperCommand):
    """A command whose help lists the options in groups, and examples below them."""

    examples: tuple[tuple[str, str], ...] = ()
    asks = ""
    words: Callable[[], Iterable[str]] = staticmethod(tuple)  # the values of its arguments, for completion

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Refuses a name with one dash: -delta 1e-5 would be parsed as the short option -d with the value elta."""
        known = {name for param in self.params for name in param.opts}
        for name in (arg.split("=")[0] for arg in args):
            if len(name) > 2 and name[1] != "-" and f"-{name}" in known:
                raise DpcalcError("unknown-option", f"one dash too few; did you mean -{name}?", name)
        return super().parse_args(ctx, with_source_of_batch(args) if "--batch" in known else args)

    def records(self, ctx: Context) -> list[help.Record]:
        """(group, name, option with its metavar, help) of every option."""
        rows = ((param, param.get_help_record(ctx)) for param in self.get_params(ctx)
                if param.param_type_name == "option")
        return [(getattr(param, "group", OUTPUT), param.name or "", *row) for param, row in rows if row is not None]

    def format_options(self, ctx: Context, formatter: Any) -> None:
        help.write(formatter, self.records(ctx), self.asks, self.examples)


def _option(option: Option) -> RawOption:
    """The Typer option of an option of a command."""
    q = option.quantity
    choices = option.choices or q.choices
    raw = RawOption(param_decls=[q.name, *map(flag, q.names), *_SHORT.get(q.name, ())], type_descriptor=_TEXT,
                    help=help.describe(option),
                    metavar=help.metavar(q, choices), multiple=True)
    raw.group, raw.choices, raw.brief = option.group, choices, q.help
    return raw


# Short forms of options.
_SHORT = {"epsilon": ("-e",), "delta": ("-d",), "alpha": ("-a",)}


def _switch(name: str, declarations: list[str], text: str) -> RawOption:
    return RawOption(param_decls=[name, *declarations], type_descriptor=_SWITCH, help=text, is_flag=True, default=False)


def switches() -> list[RawOption]:
    """The switches of every calculator."""
    return [
        _switch("json", ["--json"], "short for --format json"),
        _switch("quiet", ["-q", "--quiet"], "print the headline number alone"),
        _switch("certify", ["--certify"], "prove the headline in ball arithmetic at once (pip install python-flint)"),
        _switch("all", ["--all"],
                "show every row in a table, not only the best of each theorem (JSON and CSV always hold every row)"),
        _switch("explain", ["--explain"], "add statement, assumptions, source and errata of the bounds used"),
    ]


def build(command: Command) -> FastCommand:
    """The Typer command of a calculator."""
    options = [_option(o) for o in command.all_options()]
    for option in options:
        if option.name == "solve":
            option.metavar = "NAME"
            option.choices = command.solvable()
            option.help = ": ".join(filter(None, (option.help, ", ".join(command.solvable()))))
    repeatable = {o.name for o in command.all_options() if o.multiple}
    arguments = [RawArgument(param_decls=["files"], type_descriptor=_TEXT, nargs=-1, metavar="[FILE|-]...",
                             help=command.option(command.files).quantity.help)] if command.inputs else []

    def call(files: Sequence[str] = (), **raw: Any) -> Any:
        from dpcalc.cli.run import run

        return run(command, _without_repeats(raw, repeatable), tuple(files))

    built = FastCommand(command.name, callback=call, params=[*arguments, *options, *switches(), ColorOption()],
                        help=command.help,
                        rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})
    built.examples, built.asks = command.examples, command.asks
    return built


def _without_repeats(raw: dict[str, Any], repeatable: set[str]) -> dict[str, Any]:
    """The options with a single value each, except repeatable ones. Raises DpcalcError for a second value.

    Typer parses every option as repeatable, because otherwise it would silently ignore all values but the last one.
    """
    for name, values in raw.items():
        if isinstance(values, tuple | list) and name not in repeatable:
            if len(values) > 1:
                raise DpcalcError("contradictory", f"given {len(values)} times ({', '.join(map(str, values))})",
                                  flag(name))
            raw[name] = values[0] if values else None
    return raw


def load(name: str) -> FastCommand:
    """The Typer command of that name; only its own module is imported."""
    if name in PAGES:
        return _build_page(importlib.import_module(f"dpcalc.cli.pages.{name}").COMMAND)
    return build(calculator(name))


def _build_page(page: Page) -> FastCommand:
    """The Typer command of a page, a command that prints text but answers no privacy question."""
    words = RawArgument(param_decls=["words"], type_descriptor=_TEXT, nargs=-1, metavar=page.metavar)

    def call(words: Sequence[str] = (), **raw: Any) -> Any:
        if not raw:
            return page.prints(tuple(words))
        from dpcalc.cli.paging import options_of

        return page.prints(tuple(words), **options_of(page, _without_repeats(raw, set())))

    declarations = {switch.name: switch.opts for switch in switches()}
    own = [_option(o) for o in page.options] + [_switch(name, declarations[name], text) for name, text in page.switches]
    built = FastCommand(page.name, callback=call, params=[words, *own, ColorOption()], help=page.help,
                        rich_markup_mode=None,
                        context_settings={"help_option_names": ["-h", "--help"]})
    built.examples, built.words = page.examples, page.words
    return built


class LazyGroup(_LightHelp, TyperGroup):
    """The program: it has the names and one-line helps of all commands, and imports only the command that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {n: FastCommand(n, help=h, rich_markup_mode=None) for n, h in COMMANDS.items()}

    def format_commands(self, ctx: Context, formatter: Any) -> None:
        """Writes the one-line helps, untruncated, an example, and where to read more."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("Examples"):
            formatter.write(f"  dpcalc {EXAMPLE[0]}\n      → {EXAMPLE[1]}\n")
        formatter.write_paragraph()
        formatter.write_text("dpcalc COMMAND --help shows the options and examples of a command; dpcalc explain NAME "
                             "what a bound states.")

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from dpcalc.core.validate import near

            close = near(args[0], (*COMMANDS, "--help", "--version"))
            raise DpcalcError("unknown-command", f"no command {args[0]!r}; there are {', '.join(COMMANDS)}{close}")
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def root() -> LazyGroup:
    """The program as a Typer group."""
    version = _switch("version", ["-V", "--version"], "print the version")
    group = LazyGroup(name="dpcalc", params=[version, ColorOption()],
                      help="A calculator for differential privacy: ε, δ, RDP and total variation, "
                      "the noise a budget needs, and the theorem behind each number.",
                      rich_markup_mode=None, invoke_without_command=True, callback=_root,
                      context_settings={"help_option_names": ["-h", "--help"]})
    return group


def _root(version: bool) -> str | None:
    from dpcalc import __version__

    return f"dpcalc {__version__}" if version else None


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Escapes characters that the encoding lacks as JSON does, which keeps its meaning."""
    assert isinstance(error, UnicodeEncodeError)
    return escaped(error.object[error.start : error.end]), error.end


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spells out characters that the encoding lacks: eps for ε."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(SPELLED.get(c) or escaped(c) for c in error.object[error.start : error.end]), error.end


def _for_json(encoding: str) -> str | None:
    """The encoding to set for JSON, which must be valid UTF-8: None where the stream is UTF-8 already, else ASCII."""
    return None if codecs.lookup(encoding).name == "utf-8" else "ascii"


_ESCAPED, _SPELLED_OUT = "dpcalc-escaped", "dpcalc-spelled-out"  # names of error handlers for encodings
codecs.register_error(_ESCAPED, _escape)
codecs.register_error(_SPELLED_OUT, _spell)


def main(args: list[str]) -> int:
    """Runs a call and returns its exit code. Every error is one line on standard error."""
    style.choose("auto")
    try:
        return exit_code(lambda: _run(args), f"dpcalc {args[0]}" if args and args[0] in COMMANDS else "dpcalc",
                         wants_json(args))
    finally:
        style.choose("never")  # a program that calls this function gets plain text from the Python API


def _run(args: list[str]) -> int:
    prints_json = wants_json(args) or is_batch(args)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=_for_json(stream.encoding) if prints_json else None,
                               errors=_ESCAPED if prints_json else _SPELLED_OUT)
    try:
        result = root().main(args if set(args) - {"--"} else ["--help"], prog_name="dpcalc", standalone_mode=False)
    except ClickException as error:
        from dpcalc.cli.usage import translated

        raise translated(error, _known_options(args)) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    if isinstance(result, int):  # of --help
        return result
    if callable(result):  # --batch
        return int(result())
    text, code = (result, 0) if isinstance(result, str | None) else result
    if text is not None:
        write(text)  # not inside Typer, which answers a closed pipe with exit code 1
    return int(code)


def _known_options(args: Sequence[str]) -> dict[str, Any]:
    """The options of the command that was called, or else of the program, by each of their names."""
    command = load(args[0]) if args and args[0] in COMMANDS else root()
    names = {name: param for param in command.params for name in param.opts if name.startswith("-")}
    return {**names, "-h": None, "--help": None}
