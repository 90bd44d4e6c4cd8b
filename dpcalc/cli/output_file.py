"""--output: the complete answer in a file, which an error or an interrupt leaves as it was."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from dpcalc.cli.standard_streams import write
from dpcalc.core import style
from dpcalc.core.errors import DpcalcError
from dpcalc.output.formats import format_of
from dpcalc.output.whole_file import require_writable, whole_file


def to_file(name: str, raw: dict[str, Any], answer: Callable[[], Any]) -> Callable[[], int]:
    """A function that writes to the file what `answer` would print, and returns the exit code.

    Sets the format in `raw` by the suffix. Raises DpcalcError where the file cannot be written.
    """
    require_writable(name, "--output")
    chosen = raw.get("format") or raw.get("json") or raw.get("quiet") or raw.get("plot") == "-"
    if not chosen and (format := format_of(name)):
        raw["format"] = format
        if raw.get("batch") is not None and format in ("markdown", "latex"):
            raise DpcalcError("contradictory", f"a batch is JSON Lines, CSV or TSV, not {format}", "--output")

    def run() -> int:
        # Standard output is the file, so that widths are those of a pipe.
        with whole_file(name, "--output") as file:
            stream = io.TextIOWrapper(file, "utf-8", newline="\n")
            style.never_in(stream)
            with redirect_stdout(stream):
                code = _printed(answer())
            stream.detach()  # the file is closed by `whole_file`
        return code

    return run


def _printed(result: Any) -> int:
    """The exit code of an answer, after it was written to standard output."""
    if callable(result):  # --batch
        return int(result())
    text, code = result
    write(text)
    return int(code)
