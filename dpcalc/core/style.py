"""Colours of text on a terminal: bold for what comes first, yellow for a warning.

Text has no colours until the command line allows them, so that Python callers always get plain text.
"""

import os
import re
from typing import Literal, TextIO

When = Literal["auto", "always", "never"]
CHOICES: tuple[When, ...] = ("auto", "always", "never")  # of --color

# ANSI escape sequences ("select graphic rendition"). The yellow of most terminals cannot be read on white, so that
# this is a darker one of the 256 colours (#af8700), which can be read on white and on black.
BOLD, RED = "1", "1;31"
YELLOW_NUMBER = 136  # among the 256 colours
YELLOW = f"38;5;{YELLOW_NUMBER}"

OURS = re.compile(r"(\x1b\[(?:[012]|1;31|(?:[12];)?38;5;\d+)m)")  # the escape sequences of styles and of their ends

_when: When = "never"
_file: TextIO | None = None  # what --output writes


def choose(when: When) -> None:
    """Sets when text is coloured: `auto` colours it on a terminal, unless NO_COLOR is set."""
    global _when
    _when = when


def never_in(file: TextIO) -> None:
    """Sets the file of --output, which has no colours whatever --color and FORCE_COLOR say."""
    global _file
    _file = file


def is_coloured(stream: TextIO | None) -> bool:
    """Whether text for this stream has colours: by --color, NO_COLOR, FORCE_COLOR, TERM and the kind of stream."""
    if stream is not None and stream is _file:
        return False
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
