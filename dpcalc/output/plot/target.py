"""Where --plot draws: a file, or the terminal. Mistakes are reported before anything is computed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.text import report

if TYPE_CHECKING:
    from dpcalc.output.plot.data import Plot

SUFFIXES = ("svg", "png")


class Target(NamedTuple):
    """A checked value of --plot: '-' for the terminal, or the name of a file that can be written."""

    name: str

    @property
    def in_terminal(self) -> bool:
        return self.name == "-"

    def shown(self, plot: Plot) -> str:
        """The plot in characters, to be printed on standard output."""
        from dpcalc.output.plot.terminal import draw
        from dpcalc.output.tables import terminal_size

        _warn(plot.notes)
        return draw(plot, *terminal_size(80), sys.stdout.encoding or "ascii", _coloured())

    def write(self, plot: Plot) -> None:
        """Writes the file, and its name on standard error."""
        from dpcalc.output.plot.figure import draw

        _warn(plot.notes)
        content = draw(plot, _suffix(self.name))
        try:
            _write_whole(os.path.realpath(self.name), content)
        except OSError as error:
            raise _unwritable(self.name, error.strerror or str(error)) from None
        report(f"plot: {self.name}")


def _write_whole(path: str, content: bytes) -> None:
    """Writes a temporary file in the same folder and renames it, so that a failure leaves an old file as it was.

    Raises OSError. A pipe, a device, or a file in a folder that takes no new file is written directly.
    """
    folder, old = os.path.dirname(path), os.path.exists(path)
    if old and not (os.path.isfile(path) and os.access(folder, os.W_OK)):
        with open(path, "wb") as file:
            file.write(content)
        return
    beside = os.path.join(folder, f".dpcalc-{os.urandom(8).hex()}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(content)
        if old:
            os.chmod(beside, os.stat(path).st_mode & 0o777)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.remove(beside)
        raise


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        report(note, "warning")


def checked(command: Command, raw: Mapping[str, Any], name: str, swept: bool, printed: str | None) -> Target:
    """The target of --plot. `printed` is the option that already decides what standard output shows, or None.

    Raises DpcalcError where the plot could not be drawn or written.
    """
    from dpcalc.output.plot.data import has_table

    if not swept and not has_table(raw):
        raise DpcalcError("missing",
                          f"draws a sweep: give one or two options several values, as in {_example(command, raw)}",
                          "--plot")
    if name == "-":
        if printed:
            raise DpcalcError("contradictory",
                              f"- draws instead of the table; {printed} goes with a file (FILE.svg, FILE.png)",
                              "--plot")
        return Target(name)
    if _suffix(name) not in SUFFIXES:
        raise DpcalcError("unknown-value", f"{name!r} is neither FILE.svg, FILE.png nor - (the terminal)", "--plot")
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        raise _unwritable(name, f"no directory {folder!r}")
    if os.path.isdir(name) or not os.access(name if os.path.exists(name) else folder, os.W_OK):
        raise _unwritable(name, "is a directory" if os.path.isdir(name) else "permission denied")
    try:
        import dpcalc.output.plot.figure  # noqa: F401
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == "matplotlib"
        broken = "" if absent else f" that works ({error})"
        raise DpcalcError("missing",
                          f"needs matplotlib{broken}: pip install matplotlib; --plot - draws in the terminal "
                          "without it", "--plot") from None
    return Target(name)


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1][1:].lower()


def _unwritable(name: str, why: str) -> DpcalcError:
    return DpcalcError("output", f"cannot write {name!r}: {why}", "--plot")


def _example(command: Command, raw: Mapping[str, Any]) -> str:
    """How to write a sweep, with an option of this call."""
    names = [o.quantity.option for o in command.all_options() if o.quantity.kind in ("number", "count", "horizon")
             and raw.get(o.name)]
    option = next((name for name in names if name not in ("--digits", "--alpha")), "--delta")
    return f"{option} A,B,C or {option} FROM:TO:COUNT:log"


def _coloured() -> bool:
    """Whether standard output is a terminal with colours, and NO_COLOR (no-color.org) is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in (None, "", "dumb")
