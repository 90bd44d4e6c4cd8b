"""The command line: commands are loaded on demand, and every error is one line and an exit code."""

import codecs
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpcalc import __version__
from dpcalc.cli import help
from dpcalc.cli.command_line import COLOR, HELP, CommandLine, HelpRequested, Words
from dpcalc.cli.parsing import CliOption, check_format, is_batch, switch, wants_json
from dpcalc.cli.standard_streams import exit_code, write
from dpcalc.commands import COMMANDS, PAGES, calculator
from dpcalc.core import style
from dpcalc.core.command import Command, Option, Page
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.text import SPELLED, escaped

# Shown in the help of the program: the arguments, and the headline.
EXAMPLES = (
    ("rdp --sigma 1 --delta 1e-5", "ε = 4.37718"),
    ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5", "ε = 1.13403"),
    ("subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
     "Noise multiplier = 0.838801"),
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


def build(command: Command) -> CommandLine:
    """A calculator on the command line."""
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
    built = CommandLine(command.name, call, command.help, (*options, *switches(), COLOR, *helps), files)
    built.examples, built.asks, built.usual = command.examples, command.asks, command.usual
    built.sample = command.sample
    return built


def _without_repeats(raw: dict[str, Any], repeatable: set[str]) -> dict[str, Any]:
    """The options with a single value each, except repeatable ones. Raises DpcalcError for a second value.

    Every option is parsed as repeatable, because otherwise all values but the last one would silently be ignored.
    """
    for name, values in raw.items():
        if isinstance(values, tuple | list) and name not in repeatable:
            if len(values) > 1:
                raise DpcalcError("contradictory", f"given {len(values)} times ({', '.join(map(str, values))})",
                                  flag(name))
            raw[name] = values[0] if values else None
    return raw


def load(name: str) -> CommandLine:
    """The command of that name; only its own module is imported."""
    if name in PAGES:
        return _build_page(importlib.import_module(f"dpcalc.cli.pages.{name}").COMMAND)
    return build(calculator(name))


def _build_page(page: Page) -> CommandLine:
    """A page on the command line: a command that prints text but answers no privacy question."""

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
    built = CommandLine(page.name, call, page.help, (*own, COLOR, HELP), Words("words", page.metavar))
    built.examples, built.words = page.examples, page.words
    return built


class Program(CommandLine):
    """The program, which has the names and one-line helps of all commands and imports only the one that is called."""

    ends_at_word = True
    examples = EXAMPLES

    def run(self, args: Sequence[str]) -> Any:
        """Runs the command that is named, or prints the version or the help."""
        given, words = self.read(args)
        if words:
            name, *rest = words
            if name not in COMMANDS:
                raise DpcalcError("unknown-command", f"no command {name!r}; {_instead_of_command(name)}")
            return load(name).run(rest)
        if version := self.callback(**given):
            return version
        raise HelpRequested(self)


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
    """The program itself."""
    return Program("", lambda version: f"dpcalc {__version__}" if version else None,
                   "A calculator for differential privacy: ε, δ, RDP and total variation, the noise a budget needs, "
                   "and the theorem behind each number.",
                   (switch("version", ["-V", "--version"], "print the version"), COLOR, HELP))


def full_help(name: str = "") -> str:
    """The long help of a command, or of the program."""
    return _help_text(load(name) if name else root())


def _help_text(command: CommandLine, is_short: bool = False) -> str:
    from dpcalc.cli.typer_help import help_text  # takes as long to import as a simple answer

    return help_text(command, is_short)


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
        result = root().run(args if set(args) - {"--"} else ["--help"])
    except HelpRequested as request:
        result = _help_text(request.command, request.is_short)
    if callable(result):  # --batch
        return int(result())
    text, code = (result, 0) if isinstance(result, str | None) else result
    if text is not None:
        write(text)
    return int(code)
