"""The command line in Typer: commands are loaded on demand, and every error is one line and an exit code."""

import codecs
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from dpcalc import __version__
from dpcalc.cli import help
from dpcalc.cli.parsing import CliOption, check_format, is_batch, switch, wants_json
from dpcalc.cli.standard_streams import exit_code, write
from dpcalc.cli.typer_commands import COLOR, HELP, FastCommand, Words, help_text
from dpcalc.commands import COMMAND_GROUPS, COMMANDS, PAGES, calculator
from dpcalc.core import style
from dpcalc.core.command import Command, Option, Page
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.text import SPELLED, escaped

# Shown in the help of the program: the arguments, and the headline.
EXAMPLES = (
    ("rdp --sigma 1 --delta 1e-5", "ε = 4.37718"),
    ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5", "ε = 1.1341"),
    ("subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
     "Noise multiplier = 0.838778"),
)


def _option(option: Option) -> CliOption:
    """The option of the command line for an option of a command."""
    q = option.quantity
    choices = option.choices or q.choices
    if q.kind == "switch":
        return CliOption(q.name, [q.option], q.help, is_flag=True, group=option.group, brief=q.brief,
                         short=("", help.describe(option, brief=True)))
    return CliOption(q.name, [*map(flag, q.names), *_SHORT.get(q.name, ())], help.describe(option),
                     help.metavar(q, choices), group=option.group, choices=choices, brief=q.brief,
                     short=(help.metavar(q, ()), help.describe(option, brief=True)),
                     aliases=tuple(map(flag, q.aliases)))


# Short forms of options.
_SHORT = {"epsilon": ("-e",), "delta": ("-d",), "alpha": ("-a",), "output": ("-o",), "format": ("-f",)}


def switches() -> list[CliOption]:
    """The switches of every calculator."""
    return [
        switch("json", ["--json"], "short for --format json"),
        switch("quiet", ["-q", "--quiet"], "print only the number of the first line, with all its digits"),
        switch("certify", ["--certify"],
               "prove the number of the first line in ball arithmetic; needs python-flint (pip install python-flint)"),
        switch("all", ["--all"],
               "show every row, not only the best of each theorem; JSON and CSV always hold every row"),
        switch("explain", ["--explain"], "add statement, assumptions, source and errata of the bounds used"),
    ]


def build(command: Command) -> FastCommand:
    """The Typer command of a calculator."""
    options = [_option(o) for o in command.all_options()]
    for option in options:
        if option.name == "solve":
            option.choices = (*command.solvable(), *command.by_formula)
            option.help = ": ".join(filter(None, (option.help, ", ".join(option.choices))))
    repeatable = {o.name for o in command.all_options() if o.multiple}
    files = Words("files", "[FILE|-]...", command.option(command.files).quantity.help) if command.inputs else None

    def call(files: Sequence[str] = (), **raw: Any) -> Any:
        from dpcalc.cli.run import run

        return run(command, _without_repeats(raw, repeatable), tuple(files))

    helps = (switch("short_help", ["-h"], "print short help: the usual options and examples"),
             switch("help", ["--help"], "print this help, with every option"))
    built = FastCommand(command.name, call, command.help, (*options, *switches(), COLOR, *helps), files)
    built.examples, built.asks, built.usual = command.examples, command.asks, command.usual
    built.sample = command.sample
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

    def call(words: Sequence[str] = (), **raw: Any) -> Any:
        if not raw:
            return page.prints(tuple(words))
        from dpcalc.core.validate import validate

        raw = _without_repeats(raw, set())
        switches = {name: raw.pop(name) for name, _ in page.switches}
        check_format(raw.get("format"), switches)
        if switches.get("json") and "format" in raw:
            raw["format"] = "json"
        return page.prints(tuple(words), **validate(page, raw).values, **switches)

    declarations = {option.name: option.opts for option in switches()}
    own = [_option(o) for o in page.options] + [switch(name, declarations[name], text) for name, text in page.switches]
    built = FastCommand(page.name, call, page.help, (*own, COLOR, HELP), Words("words", page.metavar))
    built.examples, built.words = page.examples, page.words
    return built


class Program(FastCommand):
    """The program, which has the names and one-line helps of all commands and imports only the one that is called."""

    ends_at_word = True

    def read_words(self, ctx: Any, words: list[str]) -> dict[str, Any]:
        """Keeps the name and the arguments of the command for `invoke`."""
        ctx.args = words
        return {}

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that is named, or prints the version or the help."""
        if not ctx.args:
            return super().invoke(ctx) or help_text(ctx)
        name, *rest = ctx.args
        if name not in COMMANDS:
            raise DpcalcError("unknown-command", f"no command {name!r}; {_instead_of_command(name)}")
        command = load(name)
        with command.make_context(name, rest, parent=ctx) as called:
            return command.invoke(called)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", "COMMAND [ARGS]..."]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands in groups with their one-line helps, examples, options, and where to read more."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        help.write_commands(formatter, COMMAND_GROUPS)
        help.write_examples(formatter, EXAMPLES)
        with help.section(formatter, "Options"):
            help.write_list(formatter, [option.help_record for option in self.options])
        formatter.write_paragraph()
        formatter.write_text("dpcalc COMMAND -h shows the usual options of a command, dpcalc COMMAND --help all of "
                             "them, and dpcalc help the topics.")


def _instead_of_command(word: str) -> str:
    """What to write instead of a word that is no command: a similar one, or how the calculators are asked."""
    from dpcalc.commands.catalogue import option_record
    from dpcalc.commands.topics import WORDS
    from dpcalc.core.validate import near

    there_are = f"there are {', '.join(COMMANDS)}"
    if close := near(word, (*COMMANDS, "--help", "--version")):
        return there_are + close
    known = f"dpcalc help {word} explains it, and " if word in WORDS or option_record(word) else ""
    asked = {"delta": "rdp --sigma 1 --epsilon 1 asks for δ",
             "batch": "rdp --batch FILE answers a file of questions"}.get(
                 word, f"{EXAMPLES[0][0]} asks for ε, dpcalc subsample for that of a training run")
    return f"{known}dpcalc {asked}; {there_are}"


def root() -> Program:
    """The program as a Typer command."""
    return Program("dpcalc", lambda version: f"dpcalc {__version__}" if version else None,
                   "A calculator for differential privacy: ε, δ, RDP and total variation, the noise a budget needs, "
                   "and the theorem behind each number.",
                   (switch("version", ["-V", "--version"], "print the version"), COLOR, HELP))


def full_help(name: str = "") -> str:
    """The long help of a command, or of the program."""
    program = typer.Context(root(), info_name="dpcalc")
    return help_text(typer.Context(load(name), info_name=name, parent=program) if name else program)


def in_list(groups: Mapping[str, Mapping[str, str]]) -> str:
    """Title → name → text as a list, in the form of the help."""
    formatter = typer.Context(root()).make_formatter()
    help.write_commands(formatter, groups)
    return formatter.getvalue().strip("\n")


def _written(spelled: Mapping[str, str]) -> Callable[[UnicodeError], tuple[str, int]]:
    """A handler of errors that spells out characters which an encoding lacks, or escapes them as JSON does."""
    def text(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        return "".join(spelled.get(c) or escaped(c) for c in error.object[error.start : error.end]), error.end

    return text


codecs.register_error("dpcalc-escaped", _written({}))  # in JSON, where an escape keeps the meaning
codecs.register_error("dpcalc-spelled-out", _written(SPELLED))  # eps for ε


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
            # JSON must be valid UTF-8, of which ASCII is a part
            is_utf_8 = codecs.lookup(stream.encoding).name == "utf-8"
            stream.reconfigure(encoding=None if is_utf_8 or not prints_json else "ascii",
                               errors="dpcalc-escaped" if prints_json else "dpcalc-spelled-out")
    try:
        result = root().main(args if set(args) - {"--"} else ["--help"], prog_name="dpcalc", standalone_mode=False)
    except help.Requested as request:
        result = request.text
    except typer.Abort:
        raise KeyboardInterrupt from None
    if isinstance(result, int):  # of an interrupt
        return result
    if callable(result):  # --batch
        return int(result())
    text, code = (result, 0) if isinstance(result, str | None) else result
    if text is not None:
        write(text)  # not inside Typer, which answers a closed pipe with exit code 1
    return int(code)
