"""Where --plot draws: a file, or the terminal. Mistakes are reported before anything is computed."""

import os
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dpcalc.commands.sweep import can_be_swept
from dpcalc.core import style
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, MissingExtra, flag
from dpcalc.core.numbers import brief
from dpcalc.core.text import printable, report
from dpcalc.output.plot import terminal
from dpcalc.output.plot.data import has_table
from dpcalc.output.plot.records import Plot
from dpcalc.output.tables import terminal_size
from dpcalc.output.whole_file import require_writable, whole_file

SUFFIXES = ("svg", "png", "pdf")


_SIZE = re.compile(r"(\d*\.?\d+) *[x×] *(\d*\.?\d+)", re.ASCII)
_LEAST, _MOST = 1.5, 20.0  # inches: axes with numbers need so much, and more is a poster


class Target(NamedTuple):
    """A checked value of --plot: '-' for the terminal, or the name of a file that can be written; with the width and
    height in inches, the title (none: without subtitle) and the names of the curves, where these are given."""

    name: str
    size: tuple[float, float] | None = None
    title: str | None = None
    names: str | None = None

    @property
    def in_terminal(self) -> bool:
        return self.name == "-"

    def shown(self, plot: Plot) -> str:
        """The plot in characters, to be printed on standard output."""
        _warn(plot.notes)
        return terminal.draw(self._worded(plot._replace(best=None)), *terminal_size(80),
                             sys.stdout.encoding or "ascii", style.is_coloured(sys.stdout))

    def write(self, plot: Plot) -> None:
        """Writes the file, and its name on standard error."""
        from dpcalc.output.plot.figure import draw

        _warn(plot.notes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            content = draw(self._worded(plot), _suffix(self.name), self.size)
        if any("Glyph" in str(warning.message) for warning in caught):
            _warn(["the font of the picture lacks letters of the title or the names, and draws boxes in their place"])
        with whole_file(self.name, "--plot") as file:
            file.write(content)
        report(f"plot: {self.name}")

    def _worded(self, plot: Plot) -> Plot:
        """The plot with the title and the names that were given. Raises DpcalcError for too many or too few names."""
        if self.title == "none":
            plot = plot._replace(title="", subtitle="")
        elif self.title is not None:
            plot = plot._replace(title=printable(self.title))  # other characters are no XML
        if self.names is None:
            return plot
        if plot.is_map and not self.in_terminal:
            raise DpcalcError("unneeded", "a map of colours has no curves to name",
                              "--plot-names")
        names, curves = [printable(name.strip()) for name in self.names.split(",")], [s.label for s in plot.curves]
        if len(names) != len(curves):
            raise DpcalcError("contradictory", f"{len(names)} names for {len(curves)} curves; give one for each of "
                              f"these, in this order: {', '.join(curves)}", "--plot-names")
        return plot.named(names)


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        report(note, "warning")


def checked(command: Command, raw: Mapping[str, Any], given: Mapping[str, str], swept: bool,
            printed: str | None) -> Target:
    """The target of the options of plots that are given. `printed` is the option that already decides what standard
    output shows, or None.

    Raises DpcalcError where the plot could not be drawn or written.
    """
    name, size = given.get("plot"), given.get("plot_size")
    if name is None:
        raise DpcalcError("missing", "goes with --plot FILE.svg, FILE.png or FILE.pdf", flag(next(iter(given))))
    target = Target(name, None if size is None else _inches(size), given.get("plot_title"), given.get("plot_names"))
    draws = {"ledger", "audit"}  # its releases, and the rates of the attack
    if not swept and not has_table(raw) and command.name not in draws:
        option = next((o.quantity.option for o in command.all_options()
                       if can_be_swept(o.quantity) and raw.get(o.name) and o.name != "alpha"), "--delta")
        curve = ", or draw the rates of attacks by --roc 50" if command.name == "tv" else ""
        raise DpcalcError("missing", "there is no sweep to draw: give one or two options several values, as in "
                          f"{option} A,B,C or {option} START:STOP:COUNT:log{curve}", "--plot")
    if name == "-":
        if printed:
            raise DpcalcError("contradictory", f"- draws in place of the table; {printed} goes with FILE.svg, FILE.png "
                              "or FILE.pdf", "--plot")
        if size:
            raise DpcalcError("unneeded", "is for a file, as --plot FILE.svg; in a terminal its size counts",
                              "--plot-size")
        return target
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
    return target


def _inches(text: str) -> tuple[float, float]:
    """The width and height that a text gives. Raises DpcalcError for another text, or another size than is drawn."""
    found = _SIZE.fullmatch(text.strip())
    sides = tuple(map(float, found.groups())) if found else ()
    if len(sides) != 2 or not all(_LEAST <= side <= _MOST for side in sides):
        raise DpcalcError("out-of-range" if sides else "unknown-value",
                          f"{brief(text)} is not a width and height in inches from {_LEAST:g} to {_MOST:g}; write "
                          "3.3x2.5 for one column of a paper, or 6.4x4.2", "--plot-size")
    return sides


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1][1:].lower()
