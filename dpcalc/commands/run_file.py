"""--run: the description of a training run in TOML or JSON, from a file or standard input. Options take precedence over
it."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from dpcalc.core import reading
from dpcalc.core.command import OUTPUT, Command, Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.strict_json import finite
from dpcalc.core.validate import near, validate

_MEGABYTES = 1  # of the largest file of TOML that is read; parsing it takes some seconds
_MOST_DOTS = 50  # in a line, besides decimal points; a key of n parts with dots between them takes memory of order n²
_DECIMAL = re.compile(r"\b\d[\d_]*\.\d[\d_]*(?:[eE][-+]?\d+)?\b(?!\.)")
# Options of which each takes the place of the others: one that is given replaces those of the file.
_ALTERNATIVES = (("steps", "epochs"), ("sigma", "noise_multiplier", "solve"))
_ASKED = {"epsilon", "delta"}  # each of them alone asks for the other one
_NOT_IN_FILE = ("run", "input", "bound")


def merged(command: Command, given: Given) -> Given:
    """The call with the parameters of the file filled in. Raises DpcalcError that names the file and the key."""
    data, where = read(given["run"])
    in_file = _options(command, data, where)
    options = {name: given.values[name] for name in given.provided - {"run"}}
    for group in _ALTERNATIVES:
        if options.keys() & set(group):
            in_file = {k: v for k, v in in_file.items() if k not in group or k in options}
    # ε and δ together need --solve
    if "solve" not in in_file.keys() | options.keys() and len(options.keys() & _ASKED) == 1:
        in_file = {k: v for k, v in in_file.items() if k not in _ASKED}
    try:
        both = validate(command, {**in_file, **options})
    except DpcalcError as error:
        name = (error.option or "").removeprefix("--").replace("-", "_")
        prefix = f"{where}: " if name in in_file and name not in options else ""
        raise DpcalcError(error.code, prefix + error.message, error.option) from None
    return Given(both.values, both.provided, given.inputs, given.recorded)


def _options(command: Command, data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Option name → value, from keys in any spelling. Raises DpcalcError for a key that is no option, and for a value
    that is not one number or word."""
    options = [o for o in command.all_options() if o.group != OUTPUT and o.name not in _NOT_IN_FILE]
    switches = {o.name for o in options if o.quantity.kind == "switch"}
    names, spelled = tuple(o.name for o in options), {name: o.name for o in options for name in o.quantity.names}
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = spelled.get(key.replace("-", "_"))
        if name is None:
            raise DpcalcError("unknown-key", f"{source}: there is no parameter {key!r}; the parameters are "
                              f"{', '.join(names)}{near(key, names)}", "--run")
        if name in found:
            raise DpcalcError("contradictory", f"{source} gives {name} twice", "--run")
        if (isinstance(value, bool) and name not in switches) or not isinstance(value, str | int | float):
            raise DpcalcError("not-a-number", f"{source}: {value!r} is not one number or word", flag(name))
        found[name] = value
    return found


def read(source: str) -> tuple[Mapping[str, Any], str]:
    """(The object, its source): from the file, or from JSON that stands in place of the file's name."""
    text, where = reading.inline_or_text(source, _MEGABYTES, "--run")
    if text.lstrip().startswith("{"):
        return reading.json_value(text, where, "--run"), where
    return toml(text, where, "--run", "give parameters such as n = 60000"), where


def toml(text: str, source: str, option: str, expected: str) -> dict[str, Any]:
    """The table in a TOML text. Raises DpcalcError that names the source and the line of a mistake."""
    # Both of these would take seconds, or hundreds of megabytes of memory, to parse.
    if len(text) > _MEGABYTES * reading.MEGABYTE:
        raise DpcalcError("unreadable", f"{source} has more than {_MEGABYTES} MB, the most that is read of TOML",
                          option)
    for k, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS and _DECIMAL.sub("", line).count(".") > _MOST_DOTS:
            raise DpcalcError("bad-toml", f"{source}: line {k} has more than {_MOST_DOTS} dots that are no decimal "
                              "points; break it into several lines", option)
    try:
        data = tomllib.loads(text, parse_float=finite)
    except RecursionError:
        raise DpcalcError("bad-toml", f"{source} is nested too deeply", option) from None
    except (tomllib.TOMLDecodeError, ValueError) as e:
        of_csv = ("; a table of releases is answered line by line, and then composed: dpcalc rdp --batch FILE.csv "
                  "--format jsonl | dpcalc ledger -") if source.endswith(".csv") else ""
        raise DpcalcError("bad-toml", f"{source} is neither a JSON object nor TOML: {e}{of_csv}", option) from None
    if not data:
        raise DpcalcError("bad-toml", f"{source} is empty; {expected}", option)
    return data
