"""What the words of a command line say before Typer parses them."""

from __future__ import annotations

from collections.abc import Mapping

from dpcalc.core.errors import DpcalcError


def wants_json(args: list[str]) -> bool:
    """Whether errors are to be printed as JSON."""
    line = " ".join(args).replace("--format=", "--format ")
    return "--json" in args or "--format json" in line


def is_batch(args: list[str]) -> bool:
    return any(arg.partition("=")[0] == "--batch" for arg in args)


# The values that stand for options without one, because Typer has no options whose value may be left out.
_LEFT_OUT = {"--batch": "-", "--compare": "usual"}


def with_values_left_out(args: list[str]) -> list[str]:
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
