"""What shuffle-pnsgd says of partial passes, every iterate released: the conjecture, and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcalc.core.command import Given

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Entry
    from dpcalc.core.bound import Bound
    from dpcalc.core.question import Question
    from dpcalc.core.results import Route, Row

_NEEDS = ("lipschitz", "tau")
Derive = Callable[[Mapping[str, Any]], dict[str, Any]]


def entries(question: Question, names: Sequence[str]) -> tuple[Entry, ...]:
    """The bounds that --bound names. Raises DpcalcError where the lower one is to give ε or δ, which do not follow from
    it."""
    from dpcalc.commands.last_iterate import Entry
    from dpcalc.core.errors import DpcalcError

    found = named(names)
    for bound in found:
        if bound.status == "lower" and question.asks != "rdp":
            raise DpcalcError("refused",
                              f"{bound.name} is what a run loses at one order: no ε or δ follows from it; give --alpha",
                              "--bound")
    return tuple(Entry(bound, _NEEDS) for bound in found)


def named(names: Sequence[str]) -> tuple[Bound, ...]:
    """Those of these bounds that --bound names."""
    return tuple(bound for bound in bounds() if bound.name in names) if names else ()


def ways() -> str:
    """Those that answer every question, for people."""
    return ", ".join(bound.name for bound in bounds() if bound.status in ("conjecture", "proven"))


def bounds() -> tuple[Bound, ...]:
    """The conjecture, the sum that it bounds, the proven bound without amplification, and a lower bound."""
    from dpcalc.bounds import pnsgd as b

    return (b.without_replacement_conjecture.BOUND, b.without_replacement_sum.BOUND,
            b.without_replacement_unamplified.BOUND,
            b.without_replacement_lower.BOUND)


def companions(given: Given, question: Question, found: tuple[Row, ...], derive: Derive) -> tuple[Row, ...]:
    """Where the conjecture was asked for, the rows beside it that were not."""
    from dpcalc.accounting.answer import rows
    from dpcalc.bounds.conversions import rdp_improved
    from dpcalc.core.question import Question
    from dpcalc.core.results import Route

    told = {row.route.bound.name for row in found}
    if bounds()[0].name not in told:
        return ()
    if question.unknown:
        question = question._replace(unknown=None, target=None)
        given = given.having({**given.values, **{k: v for k, v in found[0].result.items() if given[k] is None}},
                             inputs=())
    beside = [bound for bound in bounds() if bound.name not in told]
    if question.asks == "rdp":
        return rows(tuple(map(Route, beside)), given, derive, question, ()) if beside else ()
    *upper, lower = beside
    converted = tuple(Route(bound, rdp_improved.BOUND) for bound in upper)
    at_its_order = Question("rdp", alpha=found[0].witness["alpha"])  # what a run loses there
    return (*(rows(converted, given, derive, question, ()) if converted else ()),
            *rows((Route(lower),), given, derive, at_its_order, ()))


def refuted_where(found: tuple[Row, ...], params: Mapping[str, Any]) -> tuple[Row, ...]:
    """With a note where a concrete run contradicts what is no theorem."""
    return tuple(row._replace(notes=(*row.notes, note)) if (note := refuted(row, params)) else row for row in found)


def refuted(row: Row, params: Mapping[str, Any]) -> str:
    """What to say of a conjecture that a concrete run contradicts, at the order its number rests on."""
    from dpcalc.accounting.orders import total_rdp
    from dpcalc.bounds.pnsgd import without_replacement_lower as lower

    if row.route.bound.status != "conjecture":
        return ""
    alpha = row.witness["alpha"]
    claimed, least = row.result.get("rdp", row.witness.get("rdp", 0.0)), total_rdp(lower.BOUND, params)(alpha)
    if least * (1 - 1e-8) <= claimed:
        return ""
    return f"{row.route.label} is refuted here: at order {alpha:.6g} a concrete run loses {least:.6g}, it says {claimed:.6g}"


def theorems() -> Iterator[Route]:
    """The conjecture by every conversion, and the others."""
    from dpcalc.commands.last_iterate import Entry, routes
    from dpcalc.core.results import Route

    conjecture, *others = bounds()
    yield from routes((Entry(conjecture, _NEEDS),), "epsilon", True)
    yield from map(Route, others)
