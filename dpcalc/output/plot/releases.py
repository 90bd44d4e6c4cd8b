"""What the releases of a ledger have spent of its budget, as lines to draw: over their dates where all have one, in
increasing order, else over their numbers."""

from itertools import pairwise

from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.remarks import DATE, day_of
from dpcalc.core.results import Answer
from dpcalc.output.ledger import unit_of_filter
from dpcalc.output.plot.records import Plot, Scale, Series

_WORDS = {"epsilon": "privacy loss", "rho": "zCDP", "mu": "Gaussian DP"}


def plot_releases(answer: Answer) -> Plot:
    """The total after each release, and the budget if there is one."""
    releases, adaptive = answer.releases, answer.adaptive
    of = "spent" if adaptive else releases[0].quantity
    budget = adaptive["budget"] if adaptive else answer.extra.get("budget" if of == "epsilon" else f"{of}_budget")
    days = [day_of(one.remarks[DATE]).toordinal() for one in releases if DATE in one.remarks]
    in_order = len(days) == len(releases) and all(a <= b for a, b in pairwise(days)) and days[0] < days[-1]
    x = tuple(float(at) for at in (days if in_order else range(1, len(releases) + 1)))
    totals = tuple(float(one[2]) for one in releases)
    finite = tuple(y if y < float("inf") else None for y in totals)
    at_most = "" if budget is None else human(budget, upward=False) if adaptive else plain(budget)
    lines = [Series(f"total {symbol(of)}" if of != "spent" else of, x, finite)]
    if budget is not None:
        lines.append(Series(f"budget {at_most}", x, (budget,) * len(x), proven=False))
    notes = () if in_order or not days or len(releases) == 1 else (
        "drawn over the numbers of releases: for an axis of dates all have one, in increasing order, and not all the "
        "same",)
    lost = sum(y is None for y in finite)
    delta = answer.parameters.get("delta") if of == "epsilon" else None
    at = f" at δ = {plain(delta)}" if delta is not None else ""
    return Plot(f"Total of the releases{' and their budget' if budget is not None else ''}",
                f"ledger: {len(releases)} releases{at}", Scale("date" if in_order else "release",
                                                              "dates" if in_order else "whole"),
                Scale(unit_of_filter(adaptive) if adaptive else f"total {_WORDS[of]} {symbol(of)}{at}"), tuple(lines),
                strong=0, notes=(*notes, *((f"not drawn: {lost} releases of infinite {symbol(of)}",) if lost else ())))
