"""Text for terminals and shells: letters that an encoding lacks, one line on standard error, commands over several
lines."""

import os
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from dpcalc.core import style
from dpcalc.core.errors import flag
from dpcalc.core.numbers import plain

NO_BREAK = "\xa0"  # a space at which a line is not broken
MOST_NAMED = 8  # names or numbers in a sentence; where there are more, it says how many

# What people write for letters and signs that an encoding lacks.
SPELLED = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "eps", "η": "eta", "κ": "kappa", "λ": "lambda",
    "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "Φ": "Phi", "Δ": "Delta", "Σ": "sum",
    "θ": "theta", "ω": "omega", "χ": "chi", "ξ": "xi", "ζ": "zeta", "Γ": "Gamma", "Π": "prod", "Ω": "Omega",
    "ℓ": "l", "é": "e", "ö": "oe", "ü": "ue", "ä": "ae", "₀": "_0", "₁": "_1", "₂": "_2", "₃": "_3", "ₜ": "_t",
    "ᵢ": "_i", "ₙ": "_n", "²": "^2", "³": "^3", "⁻": "^-", "¹": "1", "′": "'", "½": "1/2", "·": "*", "×": "x",
    "−": "-", "–": "-", "—": "-", "…": "...", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "±": "+/-", "∞": "inf",
    "√": "sqrt", "∑": "sum", "→": "->", "←": "<-", "∈": "in", "‖": "||", "⌈": "ceil(", "⌉": ")", "⌊": "floor(",
    "⌋": ")", "“": '"', "”": '"', "‘": "'", "’": "'", "─": "-", "§": "Sec. ", "∪": "u", "∩": "n", "⋅": "*",
    "\u0304": "",
}


def spelled(text: str, encoding: str | None) -> str:
    """The text with every letter or sign that the encoding lacks spelled out: eps for ε, <= for ≤."""
    if can_encode(text, encoding):
        return text
    return "".join(c if can_encode(c, encoding) else SPELLED.get(c, c) for c in text)


def can_encode(text: str, encoding: str | None) -> bool:
    """Whether an encoding has every letter and sign of the text."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def escaped(text: str) -> str:
    """Every character as a JSON escape (\\u03b5): inside a JSON string it is still the same text."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[k]:02x}{units[k + 1]:02x}" for k in range(0, len(units), 2))


def printable(text: str) -> str:
    """The text with every unprintable character escaped: control characters, direction marks, ends of lines."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == NO_BREAK else escaped(c) for c in text)


def printable_line(text: str) -> str:
    """A line for standard output in which everything is printable but our own styles."""
    if text.isprintable() or not style.is_coloured(sys.stdout):
        return printable(text)
    return "".join(part if k % 2 else printable(part) for k, part in enumerate(style.OURS.split(text)))


def report(text: str, prefix: str = "", colour: str = style.YELLOW) -> None:
    """Writes one line on standard error: a prefix such as 'warning' in colour, and the text. On a terminal a long line
    is broken between words.

    A failure is ignored, because the answer on standard output still counts.
    """
    text = printable(text.replace("\n", " "))
    try:
        if prefix:
            prefix = f"{prefix}: "
            text = style.styled(prefix, colour, sys.stderr) + _between_words(prefix + text)[len(prefix):]
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        return


def _between_words(text: str) -> str:
    """The text, broken between words to the width of the terminal where standard error is one."""
    if not sys.stderr.isatty():
        return text
    width = max(os.get_terminal_size(sys.stderr.fileno()).columns, 40)  # columns: fewer hold a word or two
    return "\n".join(textwrap.wrap(spelled(text, sys.stderr.encoding), width, break_on_hyphens=False,
                                   break_long_words=False))


def listed(names: Sequence[str], conjunction: str = "and") -> str:
    """Names as an enumeration: 'a', 'a and b', 'a, b and c'."""
    return f" {conjunction} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def option_words(name: str, value: Any) -> list[str]:
    """The words of an option as they are typed: a tuple of texts repeats it, and one of numbers is a list with commas.
    Every number is written such that it is read back as the same double. A switch has no value."""
    if isinstance(value, bool):
        return [flag(name)] if value else []
    several = value if isinstance(value, tuple) else (value,)
    if several and all(isinstance(x, str) for x in several):
        return [word for x in several for word in (flag(name), x)]
    return [flag(name), ",".join(plain(x) if isinstance(x, float) else str(x) for x in several)]


def options_text(options: Mapping[str, Any]) -> str:
    """Options as they are typed in a line."""
    return " ".join(word for name, value in options.items() for word in option_words(name, value))


def shell_lines(line: str, width: int) -> list[str]:
    """A command over as many lines as the width needs, broken before options and pipes, that a shell still reads."""
    # Each piece ends before the space of the next break; within quotes, where a text stands, there is none.
    pieces = re.findall(r"""(?:'[^']*'|"[^"]*"|(?! --[a-z]| \| ).)+""", printable(line))
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + 1 + len(piece) + 2 <= width:
            lines[-1] += f" {piece}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {piece}")
    return lines
