"""Colours of text on a terminal: bold for what comes first, yellow for a warning, dim for what may be skipped.

Text has no colours until the command line allows them, so that Python callers always get plain text.
"""

from __future__ import annotations

import os
from typing import Literal, TextIO

When = Literal["auto", "always", "never"]
CHOICES: tuple[When, ...] = ("auto", "always", "never")  # of --color

# ANSI escape sequences ("select graphic rendition"), which every colour terminal understands.
BOLD, DIM, YELLOW, RED = "1", "2", "33", "1;31"

_when: When = "never"


def choose(when: When) -> None:
    """Sets when text is coloured: `auto` colours it on a terminal, unless NO_COLOR is set."""
    global _when
    _when = when


def is_coloured(stream: TextIO | None) -> bool:
    """Whether text for this stream has colours: by --color, NO_COLOR, FORCE_COLOR, TERM and the kind of stream."""
    if _when != "auto":
        return _when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream is not None and stream.isatty()


def styled(text: str, style: str, stream: TextIO | None) -> str:
    """The text in a style, each line by itself, where the stream has colours; else the text as it is."""
    if not is_coloured(stream):
        return text
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if line else line for line in text.split("\n"))
