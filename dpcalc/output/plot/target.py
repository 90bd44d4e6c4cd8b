"""Where --plot draws: a file, or the terminal. Mistakes are reported before anything is computed."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dpcalc.commands.sweep import can_be_swept
from dpcalc.core import style
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, MissingExtra
from dpcalc.core.text import report
from dpcalc.output.plot import terminal
from dpcalc.output.plot.data import Plot, has_table
from dpcalc.output.tables import terminal_size
from dpcalc.output.whole_file import require_writable, whole_file

SUFFIXES = ("svg", "png", "pdf")


class Target(NamedTuple):
    """A checked value of --plot: '-' for the terminal, or the name of a file that can be written."""

    name: str

    @property
    def in_terminal(self) -> bool:
        return self.name == "-"

    def shown(self, plot: Plot) -> str:
        """The plot in characters, to be printed on standard output."""
        _warn(plot.notes)
        return terminal.draw(plot, *terminal_size(80), sys.stdout.encoding or "ascii", style.is_coloured(sys.stdout))

    def write(self, plot: Plot) -> None:
        """Writes the file, and its name on standard error."""
        from dpcalc.output.plot.figure import draw

        _warn(plot.notes)
        content = draw(plot, _suffix(self.name))
        with whole_file(self.name, "--plot") as file:
            file.write(content)
        report(f"plot: {self.name}")


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        report(note, "warning")


def checked(command: Command, raw: Mapping[str, Any], name: str, swept: bool, printed: str | None) -> Target:
    """The target of --plot. `printed` is the option that already decides what standard output shows, or None.

    Raises DpcalcError where the plot could not be drawn or written.
    """
    draws = {"ledger", "audit"}  # its releases, and the rates of the attack
    if not swept and not has_table(raw) and command.name not in draws:
        option = next((o.quantity.option for o in command.all_options()
                       if can_be_swept(o.quantity) and raw.get(o.name) and o.name != "alpha"), "--delta")
        raise DpcalcError("missing", "there is no sweep to draw: give one or two options several values, as in "
                          f"{option} A,B,C or {option} START:STOP:COUNT:log", "--plot")
    if name == "-":
        if printed:
            raise DpcalcError("contradictory", f"- draws in place of the table; {printed} goes with FILE.svg, FILE.png "
                              "or FILE.pdf", "--plot")
        return Target(name)
    if _suffix(name) not in SUFFIXES:
        raise DpcalcError("unknown-value", f"{name!r} is not FILE.svg, FILE.png, FILE.pdf or - (the terminal)",
                          "--plot")
    require_writable(name, "--plot")
    try:
        import dpcalc.output.plot.figure  # noqa: F401
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == "matplotlib"
        broken = "" if absent else f" that works ({error})"
        raise MissingExtra("missing-extra",
                           f"needs matplotlib{broken}: pip install matplotlib (--plot - draws in the terminal without "
                           "it)", "--plot") from None
    return Target(name)


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1][1:].lower()
