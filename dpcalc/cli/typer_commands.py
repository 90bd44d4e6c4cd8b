"""The class of Typer commands, by public names of Typer only: values are passed on as texts, and help is grouped."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from typer.core import TyperCommand

from dpcalc.cli import help
from dpcalc.cli.parsing import CliOption, parse, switch, with_values_left_out
from dpcalc.core import style
from dpcalc.core.errors import DpcalcError

COLOR = CliOption("color", ["--color"], "colour the text: auto does so on a terminal, unless NO_COLOR is set "
                  "[default: auto]", "|".join(style.CHOICES), choices=style.CHOICES)
HELP = switch("help", ["-h", "--help"], "print this help")  # ends the call with the text of help, as `short_help` does


_SCREEN = 30  # lines, which the short help fits at 80 columns


class Words(NamedTuple):
    """The words of a command line that belong to no option: their name as a keyword, and how the help writes them."""

    name: str
    metavar: str
    help: str = ""


def help_text(ctx: Any, is_short: bool = False) -> str:
    """The long help of the command of a context of Typer, or the short one, with a second example where that fits a
    screen."""
    texts = []
    for examples in (2, 1) if is_short else (0,):
        formatter = ctx.make_formatter()
        if is_short:
            ctx.command.format_short_help(ctx, formatter, examples)
        else:
            ctx.command.format_help(ctx, formatter)
        texts.append(str(formatter.getvalue().rstrip("\n")))
    return next((text for text in texts if text.count("\n") < _SCREEN), texts[-1])


class FastCommand(TyperCommand):
    """A command whose help lists the options in groups, and examples below them.

    It reads its arguments itself, with its own error messages, so that nothing rests on the parser of Typer.
    """

    examples: tuple[tuple[str, str], ...] = ()
    asks = ""
    sample = ""  # what the file holds that the first example reads
    usual: tuple[str, ...] = ()  # the options of the short help
    words: Callable[[], Iterable[str]] = staticmethod(tuple)  # the values of its arguments, for completion
    ends_at_word = False  # whether the options end at the first word that belongs to none

    def __init__(self, name: str, callback: Callable[..., Any], help: str, options: Sequence[CliOption],
                 argument: Words | None = None) -> None:
        super().__init__(name, callback=callback, help=help, rich_markup_mode=None, add_help_option=False)
        self.options, self.argument = tuple(options), argument

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the options and words into `ctx.params`; --color takes effect at once, and --help ends the call."""
        batch = any("--batch" in option.opts for option in self.options)
        given, words = parse(with_values_left_out(args) if batch else args, self.options, ctx, self.ends_at_word)
        for word in given.pop("color", ()):
            if word not in style.CHOICES:
                raise DpcalcError("unknown-value", f"{word!r} is not one of {', '.join(style.CHOICES)}", "--color")
            style.choose(word)
        for name in ("help", "short_help"):
            if given.pop(name, False):
                raise help.Requested(help_text(ctx, is_short=name != "help"))
        ctx.params = {**given, **self.read_words(ctx, words)}
        return []

    def read_words(self, ctx: Any, words: list[str]) -> dict[str, Any]:
        """The words as a keyword of the callback. Raises DpcalcError where the command takes none."""
        if self.argument:
            return {self.argument.name: tuple(words)}
        if words:
            from dpcalc.cli.usage import unexpected_word

            raise unexpected_word(words[0], [name for o in self.options for name in o.opts], ctx.command_path)
        return {}

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *([self.argument.metavar] if self.argument and self.argument.metavar else [])]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records = [(o.group, o.name, *o.help_record) for o in self.options]
        help.write_options(formatter, records, self.asks)
        help.write_examples(formatter, self.examples, self.sample)

    def format_short_help(self, ctx: Any, formatter: Any, examples: int) -> None:
        """Writes the usage, how to ask, the usual options with a line each, and so many examples."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        records = [(o.group, o.name, f"{o.own_names[0]} {o.short[0]}", o.short[1]) for o in self.options
                   if o.name in self.usual]
        with help.section(formatter, "Usual options"):
            formatter.write_text(self.asks)
            help.write_list(formatter, [row for rows in help.in_groups(records).values() for row in rows], lines=1)
        help.write_examples(formatter, self.examples[:examples], self.sample)
        formatter.write_paragraph()
        formatter.write_text(f"{ctx.command_path} --help shows every option.")
