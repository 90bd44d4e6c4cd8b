"""What a call prints: its text with the exit code, and warnings."""

from __future__ import annotations

from typing import NamedTuple

from dpcalc.core.text import report


class Printed(NamedTuple):
    """The text for standard output, and the exit code."""

    text: str
    code: int = 0


def warn(text: str) -> None:
    """Prints a warning on standard error."""
    report(text, "warning")
