"""A command of the command line: the options and the words that it takes, the function that it calls with them, and
what its help shows. Typer writes the help and is imported for that alone: it takes as long as a simple answer."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dpcalc.cli.parsing import CliOption, parse, switch, with_values_left_out
from dpcalc.core import style
from dpcalc.core.errors import DpcalcError

COLOR = CliOption("color", ["--color"], "colour the text: auto does so on a terminal, unless NO_COLOR is set "
                  "[default: auto]", "|".join(style.CHOICES), choices=style.CHOICES)
HELP = switch("help", ["-h", "--help"], "print this help")  # ends the call with the text of help, as `short_help` does


class Words(NamedTuple):
    """The words of a command line that belong to no option: their name as a keyword, and how the help writes them."""

    name: str
    metavar: str
    help: str = ""


class CommandLine:
    """A command, or under the name "" the program itself."""

    examples: tuple[tuple[str, str], ...] = ()
    asks = ""
    sample = ""  # what the file holds that the first example reads
    usual: tuple[str, ...] = ()  # the options of the short help
    words: Callable[[], Iterable[str]] = staticmethod(tuple)  # the values of its arguments, for completion
    ends_at_word = False  # whether the options end at the first word that belongs to none

    def __init__(self, name: str, callback: Callable[..., Any], help: str, options: Sequence[CliOption],
                 argument: Words | None = None) -> None:
        self.name, self.callback, self.help = name, callback, help
        self.options, self.argument = tuple(options), argument

    def run(self, args: Sequence[str]) -> Any:
        """What the function returns. Raises HelpRequested, and DpcalcError for a mistake."""
        given, words = self.read(args)
        if self.argument:
            given[self.argument.name] = tuple(words)
        elif words:
            from dpcalc.cli.usage import unexpected_word

            raise unexpected_word(words[0], [name for o in self.options for name in o.opts], f"dpcalc {self.name}")
        return self.callback(**given)

    def read(self, args: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
        """The options and the words; --color takes effect at once, and --help ends the call."""
        batch = any("--batch" in option.opts for option in self.options)
        given, words = parse(with_values_left_out(args) if batch else args, self.options, self.name, self.ends_at_word)
        for word in given.pop("color", ()):
            if word not in style.CHOICES:
                raise DpcalcError("unknown-value", f"{word!r} is not one of {', '.join(style.CHOICES)}", "--color")
            style.choose(word)
        for name in ("help", "short_help"):
            if given.pop(name, False):
                raise HelpRequested(self, is_short=name != "help")
        return given, words


class HelpRequested(Exception):
    """A call that asks for help, which is printed in place of an answer."""

    def __init__(self, command: CommandLine, is_short: bool = False) -> None:
        self.command, self.is_short = command, is_short
