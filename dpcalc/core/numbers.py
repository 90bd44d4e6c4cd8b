"""Text → number: 1e-5, 1/3, 2^-20, sqrt(2), a small grammar of bounded size, nothing evaluated; and back."""

from __future__ import annotations

import math
import re
from functools import lru_cache

_LONGEST = 200
_TINY = 1e-300
_LEAST = 1e-300  # nearer to 0, what is lost on the way is looked at
_DIGITS = r"\d+(?:_\d+)*"  # 10_000 is 10000, as in Python and TOML
_DECIMAL = rf"(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(rf"\s*(?:({_DECIMAL})|([a-z]+)|(\*\*|[-+*/^()]))", re.ASCII)
_PLAIN = re.compile(rf"[+-]?{_DECIMAL}", re.ASCII)
_FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "ln": math.log, "exp": math.exp}
_CONSTANTS = {"pi": math.pi, "e": math.e}


class _Underflow(ArithmeticError):
    """A non-zero number below the least positive double."""


class NotANumber(ValueError):
    """The text is no finite number expression; the message says why."""


@lru_cache(maxsize=256)  # the defaults of a batch are read again on every line
def number(text: str) -> float:
    """The finite double a text denotes. Raises NotANumber, also where a non-zero number underflows to 0."""
    if len(text) > _LONGEST:
        raise NotANumber(f"an expression longer than {_LONGEST} characters")
    if _PLAIN.fullmatch(text) and _LEAST < abs(value := float(text)) < math.inf:  # lists of numbers are long
        return value
    try:
        value = _Parser(text).value()
    except _Underflow:
        raise NotANumber(f"{_short(text)} is (or passes through) a number below the least positive double, 5e-324") from None
    except (ValueError, ZeroDivisionError, OverflowError, RecursionError, TypeError):
        value = math.nan
    if not math.isfinite(value):
        raise NotANumber(f"{_short(text)} is not a finite number (1e-5, 1/3, 2^-20 and sqrt(2) are)")
    return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "…")


def brief(x: object) -> str:
    """What was said, for a message of one line: its beginning, where it is long."""
    if isinstance(x, str):
        return _short(x)
    if isinstance(x, int) and not isinstance(x, bool) and abs(x) >= 10**40:
        return "a number of more than 40 digits"
    if isinstance(x, dict | list | tuple):
        return "an object" if isinstance(x, dict) else "a list"
    text = str(x).lower() if isinstance(x, bool) else repr(x)  # as JSON writes it
    return text if len(text) <= 40 else text[:37] + "…"


class _Parser:
    """sum := product (± product)*; product := power (*,/ power)*; power := sign* atom (^ power)?"""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at, text = 0, text.strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError
            kind = ("number", "name", "sign")[match.lastindex - 1] if match.lastindex else "sign"
            self.tokens.append((kind, match.group(match.lastindex or 0)))
            at = match.end()
        self.at = 0

    def value(self) -> float:
        result = self._sum()
        if self.at != len(self.tokens):
            raise ValueError
        return result

    def _take(self, *signs: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def _sum(self) -> float:
        result = self._product()
        while sign := self._take("+", "-"):
            result += self._product() if sign == "+" else -self._product()
        return result

    def _product(self) -> float:
        result = self._signed()
        while sign := self._take("*", "/"):
            other = self._signed()
            result = _nonzero(result * other, result, other) if sign == "*" else _nonzero(result / other, result)
        return result

    def _signed(self) -> float:
        if sign := self._take("+", "-"):
            return self._signed() if sign == "+" else -self._signed()
        base = self._atom()
        if self._take("^", "**"):
            power = base ** self._signed()
            if isinstance(power, complex):
                raise ValueError
            return _nonzero(power, base)
        return base

    def _atom(self) -> float:
        if self.at >= len(self.tokens):
            raise ValueError
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            digits = re.sub(r"[eE].*", "", text)
            return _nonzero(float(text), float(digits.strip("0._") != ""))
        if kind == "name" and text in _CONSTANTS:
            return _CONSTANTS[text]
        if kind == "name" and text in _FUNCTIONS and self._take("("):
            result = _FUNCTIONS[text](self._sum())
        elif text == "(":
            result = self._sum()
        else:
            raise ValueError
        if not self._take(")"):
            raise ValueError
        return result


def _nonzero(result: float, *factors: float) -> float:
    """A δ of 1e-400 must not become a silent 0."""
    if result == 0 and all(factors):
        raise _Underflow
    return result


def human(x: float, digits: int = 6, upward: bool = True) -> str:
    """A decimal of `digits` significant digits on the safe side: never below x (or never above, not upward), as JSON
    writes x."""
    if isinstance(x, int) or math.isinf(x) or x == 0:
        return f"{x:.0f}" if not math.isinf(x) else ("inf" if x > 0 else "-inf")
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    context = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    value = context.create_decimal(Decimal(repr(float(x))))  # 0.1 is 0.1
    exponent = value.adjusted()
    if -5 < exponent < digits + 3:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa = f"{value.scaleb(-exponent):f}"
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{exponent:+03d}"


def human_claimed(x: float, rtol: float) -> str:
    """A number that is computed from above, to `rtol` of itself: the short decimal next below it, where it may be just
    that, else as `human` has it."""
    short = float(f"{x:.6g}") if math.isfinite(x) else x
    return human(short if short <= x <= short * (1 + rtol) else x)


def plain(x: float) -> str:
    """A number as a person gave it: short where that is exact, else in full."""
    short = f"{x:g}"
    return short if float(short) == x else repr(x)


def human_probability(x: float, log_x: float) -> str:
    """A probability, by its logarithm where it is next to the least doubles, or below them."""
    return human_log(log_x) if x < _TINY and log_x > -math.inf else human(x)


def human_log(log_x: float) -> str:
    """e^{log_x} as a decimal, rounded up, also where the double underflows."""
    if log_x == -math.inf:
        return "0"
    if log_x < -1e14:
        return f"exp(−{human(-log_x, upward=False)})"
    tens = log_x / math.log(10)
    exponent = math.floor(tens)
    mantissa = human(10 ** (tens - exponent) * (1 + 1e-12 + 3e-16 * abs(log_x)), 5)
    return f"{mantissa}e{exponent:+03d}" if mantissa != "10" else f"1e{exponent + 1:+03d}"
