"""Validation of the options of a call, by a schema of pydantic_core that is made on demand from the quantities.

The package pydantic is not imported for that: it would take as long as all other imports of a short call. Every
installation of pydantic contains pydantic_core.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpcalc.core import noise_multiplier, reading
from dpcalc.core.audits import LARGEST
from dpcalc.core.command import Command, Given, Option, Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.mechanism_names import form
from dpcalc.core.numbers import NotANumber, brief, number
from dpcalc.core.quantities import BATCHES, LARGEST_COUNT, SCHEME, Quantity
from dpcalc.core.strict_json import dumps
from dpcalc.core.suggest import NO_THEOREM, meant, way_out

_LONGEST_RANGE = 10_000_000  # numbers, as many as a file holds
_OF_DELTA = "; usual is a tenth of 1/n or less, as 1/600000 for n = 60000 (dpcalc help delta)"
_LIST_OR_FILE = "; give numbers with commas between them, or @FILE for a file that holds numbers only"

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, SchemaValidator


def validate(command: Command | Page, raw: Mapping[str, Any], inputs: tuple[Any, ...] = ()) -> Given:
    """The parameters of a call: each in its range, defaults filled in. A switch that is off counts as not given. Raises
    DpcalcError that names the option."""
    options, defaults = _options(command)
    provided = {k: v for k, v in raw.items() if v is not None and v != ()}
    if noise_multiplier.NAME in provided:
        noise_multiplier.refuse_others(noise_multiplier.NAME, provided)
    given: dict[str, Any] = {}
    if provided:
        from pydantic_core import ValidationError

        try:
            found = _validator(command, tuple(provided)).validate_python(provided)
        except ValidationError as e:
            raise _first_error(e, options, provided) from None
        given = {k: v for k, v in found.items() if v is not False}
    values = {**defaults, **given}
    if "mechanism" in values:  # the form of it that the options, given or solved for, name
        solved = str(values.get("solve")).removeprefix("--").replace("-", "_")
        values["mechanism"] = form(values["mechanism"], {*given, solved})
    return Given(values, frozenset(given), inputs)


@lru_cache(maxsize=64)
def _options(command: Command) -> tuple[Mapping[str, Option], Mapping[str, Any]]:
    """The options of a command by name, and the defaults of those that have one."""
    options = {o.name: o for o in command.all_options()}
    return options, {name: o.default for name, o in options.items() if o.default is not None}


@lru_cache(maxsize=256)
def _validator(command: Command | Page, names: tuple[str, ...]) -> SchemaValidator:
    """The validator of a call that gives these options; the lines of a batch share it."""
    from pydantic_core import SchemaValidator

    options, _ = _options(command)
    return SchemaValidator(schema_of(options[name] for name in names))


def schema_of(options: Iterable[Option]) -> CoreSchema:
    """The schema of a mapping with values of these options; the JSON Schema is made from it too."""
    from pydantic_core import core_schema as core

    fields = {o.name: core.typed_dict_field(_schema(o), required=False) for o in options}
    return core.typed_dict_schema(fields, extra_behavior="forbid", config={"allow_inf_nan": False})


def _schema(option: Option) -> CoreSchema:
    """The schema of a value: it is parsed first, and then checked against the range of the quantity."""
    from pydantic_core import core_schema as core

    q = option.quantity
    before = core.no_info_before_validator_function
    number = before(_parsed, core.float_schema(gt=q.gt, ge=q.ge, lt=q.lt, le=q.le))
    match q.kind:
        case "number":
            return number
        case "count":
            gt, ge, lt, le = (None if limit is None else int(limit) for limit in (q.gt, q.ge, q.lt, q.le))
            return before(_whole, core.int_schema(gt=gt, ge=ge, lt=lt, le=le))
        case "numbers":
            return before(_split, core.tuple_variable_schema(number))
        case "ranges":
            return before(lambda x: tuple(n for part in _from_file(x, q.option, _whole_range) for n in part),
                          core.tuple_variable_schema(number))
        case "series":
            return before(lambda x: _from_file(x, q.option, _parsed), core.tuple_variable_schema(number))
        case "horizon":  # not a float, because infinities are refused there
            return before(lambda x: _whole_or_inf(x, q), core.any_schema())
        case "choice":
            names = {name: name for name in option.choices or q.choices} | dict(q.spellings)
            return before(lambda x: names.get(x.strip().lower().replace("_", "-"), x) if isinstance(x, str) else x,
                          core.literal_schema(list(option.choices or q.choices)))
        case "names":
            return before(_names, core.str_schema())
        case "share":
            return before(_share, core.str_schema(pattern="^[0-9]+/[0-9]+$"))
        case "switch":
            return before(lambda x: {"true": True, "false": False}.get(x.lower(), x) if isinstance(x, str) else x,
                          core.bool_schema(strict=True))  # a table of texts holds the text true
        case _:
            text = before(_as_json, core.str_schema()) if q.reads else core.str_schema()
            # of a repeatable option one value may be given alone
            return before(lambda x: (x,) if isinstance(x, str | Mapping) else x,
                          core.tuple_variable_schema(text)) if option.multiple else text


def _whole_or_inf(x: Any, q: Quantity) -> float:
    """A whole number as int, or infinity."""
    if str(x).strip().lower() in ("inf", "infinity", "∞"):
        return float("inf")
    value = _whole(x)
    if not 1 <= value <= LARGEST_COUNT:
        raise NotANumber(f"{x} is not a whole number from 1 to 2^53, nor inf ({describe(q)})")
    return value


def _from_file(x: Any, option: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """What `read` makes of the entries of a list, or of those in the file that @FILE names (@- is standard input),
    between commas or white space. Errors name the place of an entry in a file, and do not repeat its text."""
    if not isinstance(x, str) or not x.startswith("@"):
        return tuple(map(read, _split(x)))
    # 100 MB are some ten million numbers.
    found = list[Any]()
    for k, entry in enumerate(reading.text(x[1:], 100, option).replace(",", " ").split(), 1):
        try:
            found.append(read(entry))
        except NotANumber:
            raise NotANumber(f"entry {k} of {reading.where(x[1:])} is not a finite number") from None
    if not found:
        raise NotANumber(f"{reading.where(x[1:])} holds no numbers")
    return tuple(found)


def _whole_range(x: Any) -> Iterable[Any]:
    """The whole numbers of FIRST:LAST; of another text or number, itself alone."""
    if not isinstance(x, str) or ":" not in x:
        return (_parsed(x),)
    first, *rest = [_whole(part) for part in x.split(":")]
    if len(rest) != 1 or not first <= rest[0] < first + _LONGEST_RANGE:
        raise NotANumber(f"{brief(x)} is not FIRST:LAST with FIRST ≤ LAST and at most {_LONGEST_RANGE:g} numbers")
    return range(first, rest[0] + 1)


def _share(x: Any) -> str:
    """Hits of trials, as 500/1000, from a text or from a pair of counts. Raises NotANumber."""
    pair = x.split("/") if isinstance(x, str) else list(x) if isinstance(x, list | tuple) else [x]
    parts = [int(part) if isinstance(part, float) and part.is_integer() else part for part in pair]
    if len(parts) == 1:
        is_count = str(parts[0]).strip().isdecimal() and int(parts[0]) >= 1
        raise NotANumber(f"{brief(x)} lacks the number of runs; give hits/runs, as 500/1000" if is_count else
                         f"{brief(x)} is not hits/runs, as 500/1000; a rate is not enough, as the number of runs "
                         "decides what it shows")
    if len(parts) > 2 or not all(re.fullmatch(r" *-?[0-9][0-9_]* *", str(part)) for part in parts):
        raise NotANumber(f"{brief(x)} is not hits/runs, two whole numbers as 500/1000; several values go into --batch")
    hits, trials = map(_whole, parts)
    if not 1 <= trials <= LARGEST or hits < 0:
        raise NotANumber(f"{brief(x)}: give hits/runs with 1 to {LARGEST:g} runs, as 500/1000")
    if hits > trials:
        raise NotANumber(f"{hits}/{trials} has more hits than runs; give hits/runs, as 500/1000")
    return f"{hits}/{trials}"


def _names(x: Any) -> Any:
    """Names with commas between them, which may be a list; True stands for the usual ones."""
    if isinstance(x, list | tuple) and x and all(isinstance(name, str) for name in x):
        return ",".join(x)
    if not isinstance(x, str) and x is not True:
        raise NotANumber("give a name, a list of names, or true for the usual ones")
    return "usual" if x is True else x


def _as_json(x: Any) -> Any:
    """A mapping given in place of a file, as the JSON text that the file would hold."""
    try:
        return dumps(_with_texts(x)) if isinstance(x, Mapping) else x
    except (TypeError, ValueError, RecursionError) as e:
        raise NotANumber(f"this is not JSON: {e}") from None


def _with_texts(x: Any) -> Any:
    """A value in which dates, as TOML has them, are texts."""
    if isinstance(x, Mapping):
        return {key: _with_texts(y) for key, y in x.items()}
    return list(map(_with_texts, x)) if isinstance(x, list) else x.isoformat() if isinstance(x, date) else x


def describe(q: Quantity) -> str:
    """What a quantity is, with its symbol, for a message and for the JSON Schema."""
    return f"{q.symbol}: {q.help}" if q.symbol else q.help


def _parsed(x: Any) -> Any:
    """The double that a number or a text denotes. Raises NotANumber."""
    if isinstance(x, bool) or not isinstance(x, str | int | float):
        once = ": ask once for each value" if isinstance(x, list | tuple | range) else ""
        raise NotANumber(f"{brief(x)} is not a number{once}")
    try:
        return number(x) if isinstance(x, str) else float(x)
    except OverflowError:
        raise NotANumber(f"{brief(x)} is not a finite number") from None


def _whole(x: Any) -> int:
    """The whole number that a number or a text denotes. Raises NotANumber."""
    value = _parsed(x)
    if LARGEST_COUNT < value < float("inf"):
        raise NotANumber(f"{brief(x)} is above 2^53 − 1, the largest whole number allowed")
    if value != value or value in (float("inf"), float("-inf")) or value != int(value):
        raise NotANumber(f"{brief(x)} is not a whole number")
    return int(value)


def _split(x: Any) -> Any:
    """The entries of a list, or of a text with commas, as a tuple; of any other value, the value alone."""
    if isinstance(x, str):
        return tuple(x.split(","))
    if isinstance(x, list | tuple | range) and not x:
        raise NotANumber("the list is empty; give at least one number")
    return tuple(x) if isinstance(x, list | tuple | range) else (x,)


def _first_error(error: Any, options: Mapping[str, Option], provided: Mapping[str, Any]) -> DpcalcError:
    """The first error that pydantic found, in the words of the command line. Of a number in a file it says the place.
    """
    issue = error.errors(include_url=False)[0]
    name = str(issue["loc"][0])
    q = options[name].quantity
    shown = issue["input"]
    if instead := way_out(name, shown):
        return DpcalcError("unknown-value", f"{brief(shown)}: {instead}", q.option)
    if issue["type"] == "value_error":
        is_file = q.kind in ("series", "ranges") and isinstance(shown, str) and shown.strip()[:1].isalpha()
        hint = _LIST_OR_FILE if is_file else _OF_DELTA if q.name == "delta" and isinstance(shown, str) else ""
        return DpcalcError("not-a-number", f"{issue['ctx']['error']}{hint}", q.option)
    if q.kind == "choice":
        choices = options[name].choices or q.choices
        is_shuffled = name == "scheme" and str(shown).startswith("shuffl") and "shuffle" not in choices
        close = near(str(shown), choices) if q.hints else ""
        other, command = _BATCHES_ELSEWHERE.get(name, ((), ""))
        close = f"; {shown} is for dpcalc {command} {shown}" if shown in other and shown not in choices else close
        close = "; for shuffled batches use dpcalc compare --batches shuffled" if is_shuffled else close
        if name == "mechanism" and isinstance(shown, str) and not close and shown not in q.choices:
            close = f"; {NO_THEOREM}"
        return DpcalcError("unknown-value", f"{brief(shown)} is not one of {', '.join(choices)}{close}", q.option)
    if q.kind == "switch":
        return DpcalcError("unknown-value", f"{brief(shown)} is not true or false", q.option)
    if q.kind in ("text", "names", "file"):
        return DpcalcError("unknown-value", f"{brief(shown)} is not a name", q.option)
    shown = f"{shown:g}" if isinstance(shown, float | int) else shown
    if q.kind in ("series", "ranges") and (file := q.source(provided[name])):
        shown = f"entry {issue['loc'][1] + 1} of {reading.where(file)}"
    symbol = f"{q.symbol}: " if q.symbol else ""
    return DpcalcError("out-of-range", f"{shown} is not {q.range()} ({symbol}{q.brief})", q.option)


# Option about batches → the values that another command has, and that command.
_BATCHES_ELSEWHERE: dict[str, tuple[tuple[str, ...], str]] = {
    "scheme": (BATCHES.choices, "compare --batches"), "batches": (SCHEME.choices, "subsample --scheme")}


def not_one_of(word: str, choices: tuple[str, ...]) -> str:
    """The message about a word that is none of the choices, with the one that it probably stands for."""
    return f"{word!r} is not one of {', '.join(choices)}{near(word, choices)}"


def near(word: str, choices: tuple[str, ...]) -> str:
    """'; did you mean …?' where the word probably stands for one of the choices, else nothing."""
    close = meant(word, choices)
    return f"; did you mean {close}?" if close else ""
