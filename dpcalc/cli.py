"""The command line: the table of commands (loaded on demand), errors → one line, exit codes. No mathematics."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer._click import Context
from typer._click.exceptions import ClickException, NoSuchOption, UsageError
from typer._coercion import TypeDescriptor
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import OptionInfo

from dpcalc.errors import DpcalcError, flag
from dpcalc.spec import OUTPUT, Command, Option, Page

COMMANDS = {
    "rdp": "Privacy of one mechanism, once or many times",
    "convert": "Convert between guarantees, and compose them",
    "subsample": "Privacy of training on random batches (DP-SGD)",
    "schema": "JSON Schema of a result, and of a command's parameters",
    "shuffle-pnsgd": "Privacy of the last iterate of noisy SGD over shuffled records",
    "online-noise": "Privacy of the last iterate of noisy SGD over a stream, with noise that decays",
    "burn-in": "Noisy SGD: when longer training costs no more privacy",
    "noise-feedback": "Affine gradients with noise feedback",
    "tv": "Total variation: what any attacker can do",
    "verify": "Recheck a result from the formulas as published",
}
_TEXT = TypeDescriptor(annotation=str, parameter_info=OptionInfo(), file_annotation=None)
_SWITCH = TypeDescriptor(annotation=bool, parameter_info=OptionInfo(), file_annotation=None)


class RawOption(TyperOption):
    """An option whose text goes to the model as it is: validated there, once, with our words."""

    group = OUTPUT
    choices: tuple[str, ...] = ()

    def process_value(self, ctx: Context, value: Any) -> Any:
        return value


class RawArgument(TyperArgument):
    def process_value(self, ctx: Context, value: Any) -> Any:
        return value or ()


class _LightHelp:
    """--help with a default of False: None would make Typer import pydantic to parse it."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.default = False
        return option


class FastCommand(_LightHelp, TyperCommand):
    """Options in groups, examples below."""

    examples: tuple[tuple[str, str], ...] = ()

    def format_options(self, ctx: Context, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, RawOption):
                groups.setdefault(param.group, []).append(record)
            elif record is not None and param.param_type_name == "option":
                groups.setdefault(OUTPUT, []).append(record)
        for name, rows in groups.items():
            with formatter.section(name):
                formatter.write_dl(rows)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl([(f"dpcalc {line}", f"→ {result}") for line, result in self.examples])


def _option(option: Option) -> RawOption:
    q = option.quantity
    choices = option.choices or q.choices
    limits = q.range()
    text = f"{q.help}{f' {q.symbol}' if q.symbol else ''}{f' [{limits}]' if limits else ''}"
    if option.default is not None:
        text += f" [default: {option.default}]"
    metavar = "|".join(choices) if choices else _METAVARS[q.kind]
    raw = RawOption(param_decls=[q.name, q.option, *_SHORT.get(q.name, ())], type_descriptor=_TEXT, help=text,
                    metavar=metavar, multiple=True)
    raw.group, raw.choices = option.group, choices
    return raw


_METAVARS = {"number": "X", "count": "N", "horizon": "N|inf", "numbers": "X,…", "series": "X,…|@FILE", "text": "NAME",
             "choice": "NAME"}
_SHORT = {"epsilon": ("-e",), "delta": ("-d",), "alpha": ("-a",)}


def _switch(name: str, decls: list[str], text: str) -> RawOption:
    return RawOption(param_decls=[name, *decls], type_descriptor=_SWITCH, help=text, is_flag=True, default=False)


def switches() -> list[RawOption]:
    return [
        _switch("json", ["--json"], "short for --format json"),
        _switch("quiet", ["-q", "--quiet"], "print the headline number alone"),
        _switch("certify", ["--certify"], "prove the headline in ball arithmetic at once (pip install 'dpcalc[certify]')"),
        _switch("explain", ["--explain"], "add statement, assumptions, source and errata of the bounds used"),
    ]


def build(command: Command) -> FastCommand:
    """A command of Typer from the description of ours."""
    options = [_option(o) for o in command.all_options()]
    for option in options:
        if option.name == "solve":
            option.metavar = "NAME"
            option.choices = command.solvable()
            option.help = f"{option.help}: {', '.join(command.solvable())}"
    several = {o.name for o in command.all_options() if o.multiple}
    arguments = [RawArgument(param_decls=["files"], type_descriptor=_TEXT, nargs=-1, metavar="[FILE|-]...",
                             help="guarantees (JSON) to read")] if command.inputs else []

    def call(files: Sequence[str] = (), **raw: Any) -> Any:
        from dpcalc.run import run

        return run(command, _once(raw, several), tuple(files))

    built = FastCommand(command.name, callback=call, params=[*arguments, *options, *switches()], help=command.help,
                        rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})
    built.examples = command.examples
    return built


def _once(raw: dict[str, Any], several: set[str]) -> dict[str, Any]:
    """Every option is read as repeatable, so that a second value is refused instead of taken in silence."""
    for name, said in raw.items():
        if isinstance(said, tuple | list) and name not in several:
            if len(said) > 1:
                raise DpcalcError("contradictory", f"given {len(said)} times ({', '.join(map(str, said))})", flag(name))
            raw[name] = said[0] if said else None
    return raw


def load(name: str) -> FastCommand:
    """The command of that name, from its module."""
    module = importlib.import_module("dpcalc.commands." + name.replace("-", "_"))
    return _page(module.COMMAND) if isinstance(module.COMMAND, Page) else build(module.COMMAND)


def _page(page: Page) -> FastCommand:
    words = RawArgument(param_decls=["words"], type_descriptor=_TEXT, nargs=-1, metavar=page.metavar)

    def call(words: Sequence[str] = (), **said: bool) -> Any:
        return page.prints((*words, *(flag(name) for name, on in said.items() if on)))

    short = [s for s in switches() if s.name in ("json", "quiet")] if page.switches else []
    for switch in short:
        switch.help = {"json": "print JSON", "quiet": "print the verdicts alone, one a line"}[str(switch.name)]
    built = FastCommand(page.name, callback=call, params=[words, *short], help=page.help, rich_markup_mode=None,
                        context_settings={"help_option_names": ["-h", "--help"]})
    built.examples = page.examples
    return built


class LazyGroup(_LightHelp, TyperGroup):
    """Only names and one-line helps are known until a command is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {n: FastCommand(n, help=h, rich_markup_mode=None) for n, h in COMMANDS.items()}

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from dpcalc.params import near

            raise DpcalcError("unknown-command", f"no command {args[0]!r}; there are {', '.join(COMMANDS)}"
                              f"{near(args[0], tuple(COMMANDS))}")
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def root() -> LazyGroup:
    version = _switch("version", ["-V", "--version"], "print the version")
    group = LazyGroup(name="dpcalc", params=[version], help="A calculator for differential privacy.",
                      rich_markup_mode=None, invoke_without_command=True, callback=_root,
                      context_settings={"help_option_names": ["-h", "--help"]})
    return group


def _root(version: bool) -> str | None:
    from dpcalc import __version__

    return f"dpcalc {__version__}" if version else None


def write(text: str) -> None:
    """One write, flushed here, so that a full disk or a closed pipe is met inside `main`."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(args: list[str]) -> int:
    """Exit code of a call. Whatever goes wrong is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        result = root().main(args or ["--help"], prog_name="dpcalc", standalone_mode=False)
        if isinstance(result, int):  # of --help
            return result
        text, code = (result, 0) if isinstance(result, str | None) else result
        if text is not None:
            write(text)  # not inside Typer, which answers a closed pipe with exit code 1
        return int(code)
    except DpcalcError as error:
        return _fail(error, args)
    except ClickException as error:
        return _fail(_translated(error), args)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        return _fail(DpcalcError("output", f"cannot write the answer: {error.strerror or error}"), args)
    except Exception as error:
        if "DPCALC_DEBUG" in os.environ:
            raise
        return _fail(DpcalcError("internal", f"a fault of dpcalc, please report it: {type(error).__name__}: {error} "
                                 "(DPCALC_DEBUG=1 shows where)"), args)


def _translated(error: ClickException) -> DpcalcError:
    """Typer's usage errors in our form, with the near option where there is one."""
    if isinstance(error, NoSuchOption):
        from dpcalc.params import near

        known = tuple(o for p in error.ctx.command.get_params(error.ctx) for o in p.opts) if error.ctx else ()
        return DpcalcError("unknown-option", f"no such option{near(error.option_name, known)}", error.option_name)
    option = getattr(error, "option_name", None)
    code = "usage" if isinstance(error, UsageError) else "error"
    return DpcalcError(code, error.format_message().rstrip("."), option)


def _fail(error: DpcalcError, args: list[str]) -> int:
    if _wants_json(args):
        import json

        text = json.dumps(error.record(), ensure_ascii=False)
    else:
        command = f" {args[0]}" if args and args[0] in COMMANDS else ""
        text = f"dpcalc{command}: {error.line()}"
    try:
        sys.stderr.write(text.replace("\n", " ") + "\n")
    except OSError:
        return error.exit_code
    return error.exit_code


def _wants_json(args: list[str]) -> bool:
    said = " ".join(args).replace("--format=", "--format ")
    return "--json" in args or "--format json" in said


def _drop_output() -> None:
    """Nothing more can be written: keep the interpreter's own flush at exit silent."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
