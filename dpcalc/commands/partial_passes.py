"""The bounds of shuffle-pnsgd for partial passes with every iterate released: a conjecture, and bounds to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcalc.core.command import Given

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Method
    from dpcalc.core.bound import RdpBound
    from dpcalc.core.question import Question
    from dpcalc.core.results import Route, Row

_NEEDS = ("lipschitz", "tau")
BoundParams = Callable[[Mapping[str, Any]], dict[str, Any]]


def methods(question: Question, names: Sequence[str]) -> tuple[Method, ...]:
    """The methods that --bound names. Raises DpcalcError where a lower bound on the RDP is to give ε or δ, which do not
    follow from it."""
    from dpcalc.commands.last_iterate import Method
    from dpcalc.core.errors import DpcalcError

    found = named(names)
    for bound in found:
        if bound.status == "lower" and question.asks != "rdp":
            raise DpcalcError("refused",
                              f"{bound.name} is a lower bound on the RDP, which gives no ε or δ; ask with --alpha",
                              "--bound")
    return tuple(Method(bound, _NEEDS) for bound in found)


def named(names: Sequence[str]) -> tuple[RdpBound, ...]:
    """The bounds about partial passes that --bound names."""
    return tuple(bound for bound in bounds() if bound.name in names) if names else ()


def names_for_every_question() -> str:
    """The bounds that answer every question, in words."""
    return " or ".join(bound.name for bound in bounds() if bound.status in ("conjecture", "proven"))


def bounds() -> tuple[RdpBound, ...]:
    """The conjecture; the sum that it bounds; a proven bound without amplification; a lower bound."""
    from dpcalc.bounds import pnsgd as b

    return (b.without_replacement_conjecture.BOUND, b.without_replacement_sum.BOUND,
            b.without_replacement_unamplified.BOUND,
            b.without_replacement_lower.BOUND)


def companions(given: Given, question: Question, found: tuple[Row, ...], bound_params: BoundParams) -> tuple[Row, ...]:
    """The rows of the other bounds, which are shown with the conjecture where that answers."""
    from dpcalc.accounting.answer import rows
    from dpcalc.bounds.conversions import rdp_improved
    from dpcalc.core.question import Question
    from dpcalc.core.results import Route

    shown = {row.route.bound.name for row in found}
    if bounds()[0].name not in shown:
        return ()
    if question.unknown:
        question = question._replace(unknown=None, target=None)
        given = given.replace({**given.values, **{k: v for k, v in found[0].result.items() if given[k] is None}},
                             inputs=())
    beside = [bound for bound in bounds() if bound.name not in shown]
    if question.asks == "rdp":
        return rows(tuple(map(Route, beside)), given, bound_params, question, ()) if beside else ()
    *upper, lower = beside
    converted = tuple(Route(bound, rdp_improved.BOUND) for bound in upper)
    at_its_order = Question("rdp", alpha=found[0].witness["alpha"])  # what a run loses there
    return (*(rows(converted, given, bound_params, question, ()) if converted else ()),
            *rows((Route(lower),), given, bound_params, at_its_order, ()))


def with_refutations(found: tuple[Row, ...], params: Mapping[str, Any]) -> tuple[Row, ...]:
    """The rows, with a note on each conjecture that a concrete run contradicts."""
    return tuple(row._replace(notes=(*row.notes, *_refutation(row, params))) for row in found)


def _refutation(row: Row, params: Mapping[str, Any]) -> tuple[str, ...]:
    """The note on a conjecture that a concrete run contradicts at the order of the row; none where none does."""
    from dpcalc.accounting.orders import total_rdp
    from dpcalc.bounds.pnsgd import without_replacement_lower as lower

    if row.route.bound.status != "conjecture":
        return ()
    alpha = row.witness["alpha"]
    claimed, lost = row.result.get("rdp", row.witness.get("rdp", 0.0)), total_rdp(lower.BOUND, params)(alpha)
    if lost * (1 - 1e-8) <= claimed:  # a difference by rounding is not a refutation
        return ()
    return (f"{row.route.label} is refuted here: at α = {alpha:.6g} it claims RDP {claimed:.6g}, but a concrete run "
            "has "
            f"{lost:.6g}",)


def theorems() -> Iterator[Route]:
    """The conjecture by every conversion, and the others."""
    from dpcalc.commands.last_iterate import Method, routes_of
    from dpcalc.core.results import Route

    conjecture, *others = bounds()
    yield from routes_of((Method(conjecture, _NEEDS),), "epsilon", True)
    yield from map(Route, others)
