"""--output: complete answers in files, which an error or an interrupt leaves as they were."""

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from typing import Any, NamedTuple

from dpcalc.cli.standard_streams import write
from dpcalc.core import style
from dpcalc.core.errors import DpcalcError
from dpcalc.output.formats import FORMATS, JSON_FORMATS, Format, format_of
from dpcalc.output.whole_file import require_writable, whole_file

QUIET = "quiet"  # the format of --quiet: numbers alone


class Outputs(NamedTuple):
    """Where an answer goes, and in which formats, which are keys of FORMATS or QUIET."""

    screen: str  # the format on standard output, "" where nothing is printed
    files: tuple[tuple[str, str], ...] = ()  # (name, format)

    @property
    def names(self) -> list[str]:
        """The formats, once each."""
        return list(dict.fromkeys(format for format in (self.screen, *(own for _, own in self.files)) if format))

    def any(self, has: Callable[[Format], bool]) -> bool:
        """Whether a format has a property. A name that is no format, which is refused later, counts as a table."""
        return any(has(FORMATS.get(name, FORMATS["table"])) for name in self.names if name != QUIET)

    def save(self, text: Callable[[str], str]) -> None:
        """Writes the files, none where an answer cannot be printed in its format, and each whole or not at all; `text`
        gives the answer in a format."""
        with ExitStack() as stack:
            for name, format in self.files:
                stack.enter_context(as_standard_output(name))
                write(text(format))


@contextmanager
def as_standard_output(name: str) -> Iterator[None]:
    """Standard output is the file, so that widths are those of a pipe."""
    with whole_file(name, "--output") as file:
        stream = io.TextIOWrapper(file, "utf-8", newline="\n")
        style.never_in(stream)
        with redirect_stdout(stream):
            yield
        stream.detach()  # the file is closed by `whole_file`


def outputs(names: tuple[str, ...], raw: Mapping[str, Any], switches: Mapping[str, bool]) -> Outputs:
    """Where the answer goes by --output, --format, --json and --quiet.

    A file has the format of its suffix, and a table is printed as well, unless --quiet silences it. With --output -
    standard output has the format that the options choose, as has a file without such a suffix. Raises DpcalcError
    where a file cannot be written, or where its suffix names another format than they do.
    """
    given = "json" if switches["json"] else raw.get("format")
    chosen = given or (QUIET if switches["quiet"] else "table")
    files = [name for name in names if name != "-"]
    on_screen = len(files) < len(names) or not files
    for name in files:
        _refuse_other_suffix(name, "" if on_screen else given or "", raw.get("batch") is not None, switches["json"])
        require_writable(name, "--output")
    return Outputs(chosen if on_screen else "" if switches["quiet"] else "table",
                   tuple((name, _format(name, chosen)) for name in files))


def _format(name: str, chosen: str) -> str:
    own = format_of(name)
    return own.name if own and chosen not in own.also_holds else chosen


# Suffixes of files that --output does not write: what to write instead.
_NOT_WRITTEN = {**dict.fromkeys((".svg", ".png", ".pdf"), "--plot {file} draws a sweep"),
                **dict.fromkeys((".jpg", ".jpeg"), "--plot {name}.png draws a sweep"),
                **dict.fromkeys((".xlsx", ".xls", ".ods"), "spreadsheets read --output {name}.csv"),
                **dict.fromkeys((".parquet", ".feather", ".pkl", ".yaml", ".yml"), "other tools make it of "
                                "{name}.json or {name}.csv"),
                **dict.fromkeys((".gz", ".zip", ".xz", ".zst"), "pipe standard output into the compressor"),
                **dict.fromkeys((".docx", ".odt", ".html"), "write --output {name}.md, {name}.tex or {name}.txt")}


def _refuse_other_suffix(file: str, given: str, in_batch: bool, is_json: bool) -> None:
    """Raises DpcalcError where no file of this suffix is written, or where it would hold another format than it says:
    the `given` one, or "" where none is, by --json where it `is_json`."""
    name, suffix = os.path.splitext(file)
    if (way_out := _NOT_WRITTEN.get(suffix.lower())) is not None:
        raise DpcalcError("unknown-value", f"{file!r}: no {suffix} is written; {way_out.format(file=file, name=name)}",
                          "--output")
    if file in FORMATS:
        raise DpcalcError("unknown-value", f"{file!r} is a format, no file: write --format {file}, or --output "
                          f"NAME.{file}", "--output")
    if (own := format_of(file)) is None:
        return
    # in a batch either kind of JSON is an object on each line
    alike = own.also_holds if not in_batch else JSON_FORMATS if own.is_json else ()
    if given and given not in (own.name, *alike):
        raise DpcalcError("contradictory", f"{file!r} has the suffix of {own.name}, and the format is {given}; give it "
                          f"another suffix, or drop {'--json' if is_json else f'--format {given}'}", "--output")
    if in_batch and not own.is_of_lines:
        raise DpcalcError("contradictory", f"a batch is JSON Lines, CSV or TSV, not {own.name}; a sweep can be a table "
                          f"in {own.name}", "--output")
