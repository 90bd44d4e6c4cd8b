"""What the tests of plots share: the plot of a command line, without a file."""

import importlib
from types import SimpleNamespace

from dpcalc.errors import DpcalcError
from dpcalc.plot import of_sweep, of_tables
from dpcalc.render_sweep import Point
from dpcalc.run import single
from dpcalc.sweep import axes, points

LAPLACE = "--noise laplace --lipschitz 10 --diameter 1 --smoothness .5 --learning-rate"


def swept(line):
    """The plot of a command line, and the answers it is made of."""
    name, *words = line.split()
    command = importlib.import_module("dpcalc.commands." + name.replace("-", "_")).COMMAND
    raw, several = {}, {o.name for o in command.all_options() if o.multiple}
    for option, text in zip(words[::2], words[1::2], strict=True):
        key = option[2:].replace("-", "_")
        raw[key] = (*raw.get(key, ()), text) if key in several else text
    found = axes(command, raw)
    if not found:
        return SimpleNamespace(plot=of_tables(command, raw, [("", single(command, raw, ()))]))
    answers = []
    for at in points(found):
        try:
            answers.append(Point(at, single(command, {**raw, **at}, ())))
        except DpcalcError as error:
            answers.append(Point(at, error=error))
    return SimpleNamespace(plot=of_sweep(command, raw, answers), points=answers)
