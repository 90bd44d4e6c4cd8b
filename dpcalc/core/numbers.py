"""Numbers from text (1e-5, 1/3, 2^-20, sqrt(2)), and decimals for people that are rounded to their safe side."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decimal import Decimal

LONGEST_EXPRESSION = 200  # characters; bounds the work and the depth of an expression from an untrusted source
LONGEST_QUOTE = 40  # characters of what was typed that an error message repeats
LONGEST_WHOLE = 1e9  # a whole number from here on is written with an exponent
LONGEST_IN_COLUMN = 8  # characters of a decimal without an exponent, where others of its column have one
SMALLEST_NORMAL = 1e-300  # below, doubles lose digits: a probability is written from its logarithm
ROUNDED = 1e-14  # relative: more than by which closed forms are rounded up; six digits show a millionth
FEW_ULPS = 2.0**-50  # relative: the same of those without logarithms, which are all but probabilities
_DIGITS = r"\d+(?:_\d+)*"  # 10_000 is 10000, as in Python and TOML
_DECIMAL = re.compile(rf"(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?\d+)?", re.ASCII)
_SIGNED_DECIMAL = re.compile(rf"[+-]?{_DECIMAL.pattern}", re.ASCII)
_CHARACTERS = re.compile(r"[\w\s.+\-*/^()]*", re.ASCII)
_CONSTANTS = {"pi": math.pi, "e": math.e}
_FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "ln": math.log, "exp": math.exp}
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow}


class _Underflow(ArithmeticError):
    """A non-zero number below the least positive double."""


class NotANumber(ValueError):
    """The text is no finite number expression; the message says why."""


@lru_cache(maxsize=256)  # every line of a batch repeats the defaults
def number(text: str) -> float:
    """The finite double that a text denotes. Raises NotANumber, also where a non-zero number underflows to 0."""
    if len(text) > LONGEST_EXPRESSION:
        raise NotANumber(f"an expression longer than {LONGEST_EXPRESSION} characters")
    if _SIGNED_DECIMAL.fullmatch(text) and SMALLEST_NORMAL < abs(value := float(text)) < math.inf:
        return value  # a shortcut: lists of numbers are long
    try:
        value = _evaluate(text)
    except _Underflow:
        reason = "needs a number below the least positive double, 5e-324"
        raise NotANumber(f"{_quoted(text)} {reason}") from None
    except (ValueError, SyntaxError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        value = math.nan
    if text.rstrip().endswith("%"):
        raise NotANumber(f"{_quoted(text)} is a percentage; write {text.rstrip()[:-1].strip()}/100")
    if not math.isfinite(value):
        raise NotANumber(f"{_quoted(text)} is not a finite number (1e-5, 1/3, 2^-20 and sqrt(2) are)")
    return value


def _evaluate(expression: str) -> float:
    """The value of an arithmetic expression. Python parses it, and only the nodes that `_value` lists are computed.

    Every decimal is first replaced by the double it rounds to, so that no other literal of Python (0x10, 1j) counts.
    """
    if not _CHARACTERS.fullmatch(expression):
        raise ValueError
    python = _DECIMAL.sub(lambda match: f" {_decimal(match.group())!r} ", expression).replace("^", "**")
    return _value(ast.parse(" ".join(python.split()), mode="eval").body)


def _decimal(text: str) -> float:
    """The double that a decimal rounds to. Raises _Underflow where that is 0 and the decimal is not."""
    value = float(text)
    if value == 0 and text.lower().partition("e")[0].strip("0._"):
        raise _Underflow
    return value


def _value(node: ast.expr) -> float:
    """The value of a node of a parsed expression. Raises ValueError for what is not arithmetic of real numbers."""
    match node:
        case ast.Constant(value=float(value)):
            return value
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            operands = _value(left), _value(right)
            result = _OPERATIONS[type(sign)](*operands)
            if isinstance(result, complex):  # a fractional power of a negative number
                raise ValueError
            if result == 0 and all(operands) and not isinstance(sign, ast.Add | ast.Sub):
                raise _Underflow
            return float(result)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            result = _FUNCTIONS[name](_value(argument))
            if result == 0 and name == "exp":
                raise _Underflow
            return result
    raise ValueError


def _quoted(text: str) -> str:
    return repr(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE - 3] + "…"


def brief(x: object) -> str:
    """What was typed, for an error message of one line: its beginning where it is long."""
    if isinstance(x, str):
        return _quoted(x)
    if isinstance(x, int) and not isinstance(x, bool) and abs(x) >= 10**LONGEST_QUOTE:
        return f"a number of more than {LONGEST_QUOTE} digits"
    if isinstance(x, dict | list | tuple):
        return "an object" if isinstance(x, dict) else "a list"
    return _shortened(str(x).lower() if isinstance(x, bool) else repr(x))  # as JSON writes it


def human(x: float, digits: int = 6, upward: bool = True, rounded: float = FEW_ULPS) -> str:
    """A decimal of `digits` significant digits that is never below x; with `upward` False, never above x. A double that
    is beyond such a decimal by rounding errors alone, at most `rounded` of itself, is printed as that decimal."""
    if isinstance(x, int) or math.isinf(x) or x == 0:
        return f"{x:.0f}"
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    context = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    value = context.create_decimal(Decimal(repr(float(x))))  # the shortest decimal of x, as in JSON: 0.1 stays 0.1
    if abs(float(short := f"{x:.{digits}g}") - x) <= rounded * abs(x):
        value = Decimal(short)
    if -5 < value.adjusted() < digits + 3:
        return _without_zeros(f"{value:f}")
    return _scientific(value)


def _scientific(value: Decimal) -> str:
    exponent = value.adjusted()
    return f"{_without_zeros(f'{value.scaleb(-exponent):f}')}e{exponent:+03d}"


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def human_claimed(x: float, rtol: float) -> str:
    """A decimal for a number that was computed from above, up to `rtol` of itself.

    It is the nearest short decimal where that is within `rtol` below x, since the number may be just that; else it is
    rounded up as in `human`.
    """
    short = float(f"{x:.6g}") if math.isfinite(x) else x
    return human(short if short <= x <= short * (1 + rtol) else x)


def plain(x: float) -> str:
    """A number as a person gave it: in six digits where these are exact, else in full. A whole number has no exponent
    below a billion."""
    if float(x).is_integer() and abs(x) < LONGEST_WHOLE:
        return f"{x:.0f}"
    short = f"{x:g}"
    return short if float(short) == x else repr(x)


def in_one_notation(texts: Sequence[str]) -> list[str]:
    """Decimals that are all written with an exponent or all without one: without where that is short. Texts that
    agree already stay, as do those of which one is no decimal."""
    if len({"e" in text.lower() for text in texts}) == 1 or not all(map(_SIGNED_DECIMAL.fullmatch, texts)):
        return list(texts)
    from decimal import Decimal

    values = [Decimal(text) for text in texts]
    in_full = [f"{value:f}" for value in values]
    if max(map(len, in_full)) <= LONGEST_IN_COLUMN:
        return in_full
    return [_scientific(value) if value else "0" for value in values]


def in_percent(probability: float) -> str:
    """A probability as a person gave it, in percent: 95 %, and 99.9999999 % where that is no 100 %."""
    from decimal import Decimal

    return f"{plain(float(100 * Decimal(repr(float(probability)))))} %"


def human_probability(x: float, log_x: float) -> str:
    """A probability rounded up; from its natural logarithm where the double is subnormal or 0."""
    return human_log(log_x) if x < SMALLEST_NORMAL and log_x > -math.inf else human(x)


def human_log(log_x: float) -> str:
    """exp(log_x) as a decimal of five digits, rounded up, also where the double underflows."""
    if log_x == -math.inf:
        return "0"
    if log_x < -1e14:  # the exponent has more digits than a double tells apart from its mantissa
        return f"exp(−{human(-log_x, upward=False)})"
    tens = log_x / math.log(10)
    exponent = math.floor(tens)
    mantissa = human(10 ** (tens - exponent) * (1 + 1e-12 + 3e-16 * abs(log_x)), 5)
    return f"{mantissa}e{exponent:+03d}" if mantissa != "10" else f"1e{exponent + 1:+03d}"
