"""Validation of the options of a call by the kinds and the ranges of their quantities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import lru_cache
from math import isfinite
from typing import Any

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


def validate(command: Command | Page, raw: Mapping[str, Any], inputs: tuple[Any, ...] = ()) -> Given:
    """The parameters of a call: each in its range, defaults filled in. A switch that is off counts as not given. Raises
    DpcalcError that names the option."""
    options, defaults = _options(command)
    provided = {k: v for k, v in raw.items() if v is not None and v != ()}
    if noise_multiplier.NAME in provided:
        noise_multiplier.refuse_others(noise_multiplier.NAME, provided)
    given = {name: value for name, x in provided.items() if (value := _value(options[name], x)) is not False}
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


class _Refused(Exception):
    """A value that is not allowed: what of it to show, and either why it cannot be read or its place in a list."""

    def __init__(self, shown: Any, reason: str = "", place: int = 0) -> None:
        self.shown, self.reason, self.place = shown, reason, place


def _value(option: Option, x: Any) -> Any:
    """The value of an option. Raises DpcalcError for what it cannot be."""
    try:
        return _checked(option, x)
    except _Refused as refused:
        raise _refusal(option, x, refused) from None


def _checked(option: Option, x: Any) -> Any:
    """The value of an option, which is read first, and then checked against the range of the quantity."""
    q = option.quantity
    match q.kind:
        case "number":
            return _within(q, _read(_parsed, x))
        case "count":
            return _within(q, _read(_whole, x))
        case "numbers" | "series" | "ranges":
            return tuple(_within(q, _read(_parsed, entry), place)
                         for place, entry in enumerate(_read(lambda x: _entries(q, x), x), 1))
        case "horizon":
            return _read(lambda x: _whole_or_inf(x, q), x)
        case "choice":
            choices = option.choices or q.choices
            word = x.strip().lower().replace("_", "-") if isinstance(x, str) else None
            found = word if word in choices else dict(q.spellings).get(word or "", x)
            return found if isinstance(found, str) and found in choices else _refuse(found)
        case "names":
            return _read(_names, x)
        case "share":
            return _read(_share, x)
        case "switch":  # a table of texts holds the text true
            return _of_type(bool, {"true": True, "false": False}.get(x.lower(), x) if isinstance(x, str) else x)
    # of a repeatable option one value may be given alone
    texts = (x,) if isinstance(x, str | bytes | Mapping) or not option.multiple else _of_type(Iterable, x)
    texts = tuple(_of_type(str, _read(_as_json, text) if q.reads else text) for text in texts)
    return texts if option.multiple else texts[0]


def _read(read: Callable[[Any], Any], x: Any) -> Any:
    """What a function reads from a value. Raises _Refused, with the message of its ValueError."""
    try:
        return read(x)
    except ValueError as error:
        raise _Refused(x, str(error)) from None


def _refuse(x: Any) -> Any:
    raise _Refused(x)


def _of_type(of: Any, x: Any) -> Any:
    return x if isinstance(x, of) else _refuse(x)


def _within(q: Quantity, x: float, place: int = 0) -> float:
    """A finite number in the range of the quantity. Raises _Refused for another one."""
    is_in = ((q.gt is None or x > q.gt) and (q.ge is None or x >= q.ge) and (q.lt is None or x < q.lt)
             and (q.le is None or x <= q.le))
    if not (is_in and isfinite(x)):
        raise _Refused(x, place=place)
    return x


def _entries(q: Quantity, x: Any) -> tuple[Any, ...]:
    """The entries of a list, a text or a file. Raises NotANumber."""
    if q.kind == "numbers":
        return _split(x)
    if q.kind == "series":
        return _from_file(x, q.option, _parsed)
    return tuple(n for part in _from_file(x, q.option, _whole_range) for n in part)


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


def _split(x: Any) -> tuple[Any, ...]:
    """The entries of a list, or of a text with commas, as a tuple; of any other value, the value alone."""
    if isinstance(x, str):
        return tuple(x.split(","))
    if isinstance(x, list | tuple | range) and not x:
        raise NotANumber("the list is empty; give at least one number")
    return tuple(x) if isinstance(x, list | tuple | range) else (x,)


def _refusal(option: Option, given: Any, refused: _Refused) -> DpcalcError:
    """The error about a value, in the words of the command line. Of a number in a file it says the place."""
    q, name, shown = option.quantity, option.name, refused.shown
    if instead := way_out(name, shown):
        return DpcalcError("unknown-value", f"{brief(shown)}: {instead}", q.option)
    if refused.reason:
        is_file = q.kind in ("series", "ranges") and isinstance(shown, str) and shown.strip()[:1].isalpha()
        hint = _LIST_OR_FILE if is_file else _OF_DELTA if q.name == "delta" and isinstance(shown, str) else ""
        return DpcalcError("not-a-number", f"{refused.reason}{hint}", q.option)
    if q.kind == "choice":
        choices = option.choices or q.choices
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
    if q.kind in ("series", "ranges") and (file := q.source(given)):
        shown = f"entry {refused.place} of {reading.where(file)}"
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
