"""The options and the words of a command line, whose values all stay texts; and what its words alone tell before it is
parsed: whether JSON is asked for, and whether it is a batch.

Read are --name VALUE, --name=VALUE, -n VALUE, -nVALUE, switches together (-qn1), and -- before words that begin with a
dash."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcalc.core.command import OUTPUT
from dpcalc.core.errors import DpcalcError


@dataclass
class CliOption:
    """An option of the command line. Its value is a text, because `core.validate` checks it, with its own errors."""

    name: str
    opts: list[str]  # its names, as --sigma and -s
    help: str
    metavar: str = ""
    is_flag: bool = False  # a switch, without a value
    group: str = OUTPUT
    choices: tuple[str, ...] = ()
    brief: str = ""  # the help in one line, without symbol, range and default
    short: tuple[str, str] = ("", "")  # (metavar, help in one line), as the short help shows them
    aliases: tuple[str, ...] = ()  # names in other tools, which the help does not list

    @property
    def own_names(self) -> list[str]:
        """Its names without those in other tools."""
        return [name for name in self.opts if name not in self.aliases]

    @property
    def help_record(self) -> tuple[str, str]:
        """(names with the metavar, help)."""
        names = ", ".join(sorted(self.own_names, key=len))
        return names if self.is_flag else f"{names} {self.metavar}", self.help


def switch(name: str, names: list[str], text: str) -> CliOption:
    """An option without a value."""
    return CliOption(name, names, text, is_flag=True)


def parse(args: Sequence[str], options: Sequence[CliOption], command: str,
          ends_at_word: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Name → True for a switch that is given and None for another one, or the values of an option, for all options, in
    the order of the command line, which is that of the axes of a sweep; and the words that belong to none. Raises
    DpcalcError, which names the command ("" for the program itself)."""
    known = {name: option for option in options for name in option.opts}
    values = dict[str, list[str]]()
    words, pending = list[str](), deque(args)
    while pending:
        arg = pending.popleft()
        if arg == "--" or (ends_at_word and (arg == "-" or arg[:1] != "-")):
            words += pending if arg == "--" else [arg, *pending]
            break
        if arg == "-" or arg[:1] != "-":
            words.append(arg)
            continue
        name, equals, value = _split(arg, known)
        option = known.get(name) or known.get(name.replace("_", "-"))
        if option is None:
            from dpcalc.cli.usage import unknown_option

            raise unknown_option(name, tuple(own for o in options for own in o.own_names), command)
        if option.is_flag and value and not arg.startswith("--"):
            pending.appendleft(f"-{value}")  # the other letters of short switches
        elif option.is_flag and equals:
            raise DpcalcError("usage", "takes no value", name)
        elif not (option.is_flag or equals or pending):
            raise DpcalcError("usage", f"needs a value: {', '.join(option.choices) or option.brief}", name)
        values.setdefault(option.name, []).append("" if option.is_flag else value if equals else pending.popleft())
    flags, names = {o.name for o in options if o.is_flag}, (*values, *(o.name for o in options))
    return {n: (n in values or None) if n in flags else tuple(values.get(n, ())) for n in names}, words


def _split(arg: str, known: dict[str, CliOption]) -> tuple[str, bool, str]:
    """The name of an option, whether its value follows in the same argument, and that value. Raises DpcalcError for a
    name with one dash: -delta 1e-5 would be read as the short option -d with the value elta."""
    name, equals, value = arg.partition("=")
    if arg.startswith("--"):
        return name, bool(equals), value
    if len(name) > 2 and f"-{name}" in known:
        raise DpcalcError("unknown-option", f"one dash too few; did you mean -{name}?", name)
    return arg[:2], len(arg) > 2, arg[2:]


# --- what the words say before they are parsed -----------------------------------------------------------------------


def wants_json(args: list[str]) -> bool:
    """Whether errors are to be printed as JSON."""
    line = " ".join(args).replace("--format=", "--format ")
    return "--json" in args or "--format json" in line


def is_batch(args: list[str]) -> bool:
    return any(arg.partition("=")[0] == "--batch" for arg in args)


# The values that stand for options without one.
_LEFT_OUT = {"--batch": "-", "--compare": "usual"}


def with_values_left_out(args: Sequence[str]) -> list[str]:
    """The arguments with --batch alone as --batch -, and --compare alone as --compare usual."""
    return [word for arg, after in zip(args, [*args, "--"][1:], strict=True)
            for word in ((arg, _LEFT_OUT[arg]) if arg in _LEFT_OUT and after.startswith("-") and after != "-"
                         else (arg,))]


def check_format(format: str | None, switches: Mapping[str, bool], of_json: tuple[str, ...] = ("json",)) -> None:
    """Raises DpcalcError where two of --format, --json and --quiet contradict each other. `of_json` are the formats
    that --json may stand for."""
    if switches.get("json") and format not in (None, *of_json):
        raise DpcalcError("contradictory", "--json is --format json", "--format")
    if switches.get("quiet") and (switches.get("json") or format):
        other = "--json" if switches.get("json") else f"--format {format}"
        raise DpcalcError("contradictory", f"prints the number alone; drop {other} or --quiet", "--quiet")
