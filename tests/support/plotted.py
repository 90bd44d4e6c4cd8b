"""What the tests of plots share: the plot of a command line, without a file."""

from types import SimpleNamespace

from dpcalc.commands import calculator
from dpcalc.commands.ask import answer as answer_of
from dpcalc.commands.sweep import axes, points
from dpcalc.core.errors import DpcalcError
from dpcalc.output.plot.data import plot_sweep, plot_tables
from dpcalc.output.sweep_words import Point

LAPLACE = "--noise laplace --lipschitz 10 --diameter 1 --smoothness .5 --learning-rate"


def swept(line):
    """The plot of a command line, and the answers it is made of."""
    name, *words = line.split()
    command = calculator(name)
    raw, several = {}, {o.name for o in command.all_options() if o.multiple}
    for option, text in zip(words[::2], words[1::2], strict=True):
        key = option[2:].replace("-", "_")
        raw[key] = (*raw.get(key, ()), text) if key in several else text
    found = axes(command, raw)
    if not found:
        return SimpleNamespace(plot=plot_tables(command, raw, [("", answer_of(command, raw, ()))]))
    answers = []
    for at in points(found):
        try:
            answers.append(Point(at, answer_of(command, {**raw, **at}, ())))
        except DpcalcError as error:
            answers.append(Point(at, error=error))
    return SimpleNamespace(plot=plot_sweep(command, raw, answers), points=answers)
