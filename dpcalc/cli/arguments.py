"""What the words of a command line say before Typer parses them."""

from __future__ import annotations


def wants_json(args: list[str]) -> bool:
    """Whether errors are to be printed as JSON."""
    line = " ".join(args).replace("--format=", "--format ")
    return "--json" in args or "--format json" in line


def is_batch(args: list[str]) -> bool:
    return any(arg.partition("=")[0] == "--batch" for arg in args)


def with_source_of_batch(args: list[str]) -> list[str]:
    """The arguments with --batch alone as --batch -, because Typer has no options whose value may be left out."""
    return [word for arg, after in zip(args, [*args, "--"][1:], strict=True)
            for word in ((arg, "-") if arg == "--batch" and after.startswith("-") and after != "-" else (arg,))]
