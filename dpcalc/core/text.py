"""Text for terminals and shells: escaping, one line on standard error, and commands broken over several lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from dpcalc.core.errors import flag
from dpcalc.core.numbers import plain


def escaped(text: str) -> str:
    """Every character as a JSON escape (\\u03b5): inside a JSON string it is still the same text."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[k]:02x}{units[k + 1]:02x}" for k in range(0, len(units), 2))


def printable(text: str) -> str:
    """The text with every unprintable character escaped: control characters, direction marks, ends of lines."""
    return text if text.isprintable() else "".join(c if c.isprintable() else escaped(c) for c in text)


def report(text: str) -> None:
    """Writes one line on standard error. A failure is ignored, because the answer on standard output still counts."""
    try:
        sys.stderr.write(printable(text.replace("\n", " ")) + "\n")
        sys.stderr.flush()
    except OSError:
        return


def options_text(options: Mapping[str, Any]) -> str:
    """Options as they are typed. Every number is printed such that it is read back as the same double."""
    return " ".join(f"{flag(name)} {plain(one) if isinstance(one, float) else one}" for name, value in options.items()
                    for one in (value if isinstance(value, tuple) else (value,)))


def shell_lines(line: str, width: int) -> list[str]:
    """A command over as many lines as the width needs, broken before options and pipes, that a shell still reads."""
    pieces = re.split(r" (?=--[a-z]|\| )", line)
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + 1 + len(piece) + 2 <= width:
            lines[-1] += f" {piece}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {piece}")
    return lines
