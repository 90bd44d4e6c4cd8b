"""--output: the complete answer in a file, which an error or an interrupt leaves as it was."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from dpcalc.cli.standard_streams import write
from dpcalc.core import style
from dpcalc.core.errors import DpcalcError
from dpcalc.output.whole_file import reason_not_writable, whole_file

# Suffix of the file → the format where --format says no other; a table for other suffixes.
_FORMATS = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".md": "markdown",
            ".tex": "latex"}


def to_file(name: str, raw: dict[str, Any], answer: Callable[[], Any]) -> Callable[[], int]:
    """A function that writes to the file what `answer` would print, and returns the exit code.

    Sets the format in `raw` by the suffix. Raises DpcalcError where the file cannot be written.
    """
    if reason := reason_not_writable(name):
        raise _unwritable(name, reason)
    suffix = os.path.splitext(name)[1].lower()
    chosen = raw.get("format") or raw.get("json") or raw.get("quiet") or raw.get("plot") == "-"
    if not chosen and suffix in _FORMATS:
        raw["format"] = _FORMATS[suffix]
        if raw.get("batch") is not None and raw["format"] in ("markdown", "latex"):
            raise DpcalcError("contradictory", f"a batch is JSON Lines, CSV or TSV, not {suffix}", "--output")

    def run() -> int:
        try:
            # Standard output is the file, so that widths are those of a pipe.
            with whole_file(name) as file:
                stream = io.TextIOWrapper(file, "utf-8", newline="\n")
                style.never_in(stream)
                with redirect_stdout(stream):
                    code = _printed(answer())
                stream.detach()  # the file is closed by `whole_file`
            return code
        except OSError as error:
            raise _unwritable(name, error.strerror or str(error)) from None

    return run


def _printed(result: Any) -> int:
    """The exit code of an answer, after it was written to standard output."""
    if callable(result):  # --batch
        return int(result())
    text, code = result
    write(text)
    return int(code)


def _unwritable(name: str, reason: str) -> DpcalcError:
    return DpcalcError("output", f"cannot write {name!r}: {reason}", "--output")
