"""--output: the complete answer in a file, which an error or an interrupt leaves as it was."""

import io
import os
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

from dpcalc.cli.standard_streams import write
from dpcalc.core import style
from dpcalc.core.errors import DpcalcError
from dpcalc.output.formats import JSON_FORMATS, format_of
from dpcalc.output.whole_file import require_writable, whole_file


def to_file(name: str, raw: dict[str, Any], answer: Callable[[], Any]) -> Callable[[], int]:
    """A function that writes to the file what `answer` would print, and returns the exit code.

    Sets the format in `raw` by the suffix. Raises DpcalcError where the file cannot be written, or where its suffix
    names another format than it would hold.
    """
    _refuse_other_suffix(name, raw)
    require_writable(name, "--output")
    chosen = raw.get("format") or raw.get("json") or raw.get("quiet") or raw.get("plot") == "-"
    if not chosen and (format := format_of(name)):
        raw["format"] = format.name
        if raw.get("batch") is not None and not format.is_of_lines:
            raise DpcalcError("contradictory", f"a batch is JSON Lines, CSV or TSV, not {format.name}", "--output")

    def run() -> int:
        # Standard output is the file, so that widths are those of a pipe.
        with whole_file(name, "--output") as file:
            stream = io.TextIOWrapper(file, "utf-8", newline="\n")
            style.never_in(stream)
            with redirect_stdout(stream):
                result = answer()
                if callable(result):  # --batch, or the lines of a sweep
                    code = int(result())
                else:
                    text, code = result
                    write(text)
            stream.detach()  # the file is closed by `whole_file`
        return code

    return run


# Suffixes of files that --output does not write: what to write instead.
_NOT_WRITTEN = {**dict.fromkeys((".svg", ".png", ".pdf"), "--plot {file} draws a sweep"),
                **dict.fromkeys((".jpg", ".jpeg"), "--plot {name}.png draws a sweep"),
                **dict.fromkeys((".xlsx", ".xls", ".ods"), "spreadsheets read --output {name}.csv"),
                **dict.fromkeys((".docx", ".odt", ".html"), "write --output {name}.md, {name}.tex or {name}.txt")}


def _refuse_other_suffix(file: str, raw: Mapping[str, Any]) -> None:
    """Raises DpcalcError where the file would hold something else than its suffix says. A number alone (--quiet) is in
    every format."""
    name, suffix = os.path.splitext(file)
    if (way_out := _NOT_WRITTEN.get(suffix.lower())) is not None:
        raise DpcalcError("unknown-value", f"{file!r}: no {suffix} is written; {way_out.format(file=file, name=name)}",
                          "--output")
    own, chosen = format_of(file), "json" if raw.get("json") else raw.get("format")
    if own is None:
        return
    # in a batch either kind of JSON is an object on each line
    alike = own.also_holds if raw.get("batch") is None else JSON_FORMATS if own.is_json else ()
    if chosen and chosen not in (own.name, *alike):
        raise DpcalcError("contradictory", f"{file!r} is a file of {own.name}, not of {chosen}; give it another "
                          f"suffix, or drop {'--json' if raw.get('json') else f'--format {chosen}'}", "--output")
    if raw.get("plot") == "-":
        raise DpcalcError("contradictory", f"{file!r} is a file of {own.name}, not of a plot in characters; give it "
                          "the suffix .txt", "--output")
