"""The answer of ledger where later releases were chosen in view of earlier outputs: the budget, as long as a filter
lets every release through."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.cautions import of_records
from dpcalc.accounting.guarantee import Dp, Gdp, Mechanisms, Rdp, Sampled, Selected, Tv, Zcdp
from dpcalc.accounting.guarantee_sums import curves, mus, points, pure_points
from dpcalc.accounting.neighbours import Composed
from dpcalc.bounds.conversions import composition_basic, filters, rdp_curves
from dpcalc.bounds.conversions.filters import Charges
from dpcalc.commands import selected_inputs
from dpcalc.commands.convert_answer import one_run
from dpcalc.commands.ledger import COMMAND
from dpcalc.commands.ledger_releases import Entry, Unknown, composed_of, find_unknown, total_of
from dpcalc.core.bound import PointBound, ProfileBound
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import human, plain
from dpcalc.core.results import CONVERTED, Answer, Charged, Question, Route, Row
from dpcalc.core.run import Run
from dpcalc.numerics.root import Unreachable
from dpcalc.numerics.rounding import decimal, decimal_down, decimal_up, difference_down, quotient_down, quotient_up

_FIXED = ("ε, δ, the neighbours and the filter must be fixed before the first release, and the guarantee of each "
          "release must hold for whatever the outputs before it were")
# What a search for the largest release adds up, as a curve at the order of the filter.
_SPENT = replace(rdp_curves.COMPOSITION, params=("charges",), coarse=None, value=lambda alpha, charges: _up(
    filters.total(charges)))
_SQUARES = 2.0  # the order at which the RDP of μ-GDP is μ²


class _Filter(NamedTuple):
    """A filter: its name, bound, order (None where there is none), budget and the parameters of the bound."""

    name: str
    bound: PointBound | ProfileBound
    order: float | None
    budget: Fraction
    params: dict[str, Any]

    def charges(self, guarantee: Any) -> Charges:
        """What a pure, Gaussian or Rényi guarantee takes from the budget. Raises DpcalcError where it has none."""
        if self.name == "pure":
            found = points(guarantee)
            if any(delta for _, delta, _ in found):
                raise DpcalcError("refused", "it has a positive δ")
            return tuple((filters.of_number(decimal(epsilon)), count) for epsilon, _, count in found)
        if self.name == "gdp":
            if isinstance(guarantee, Mechanisms) and any(part.sampling for part in guarantee.mechanisms):
                raise DpcalcError("refused", "sampled batches have no μ here")
            return (*((filters.of_gaussian(top, bottom), count) for top, bottom, count in mus(guarantee)),
                    *((filters.of_pure(epsilon), count) for epsilon, _, count in pure_points(guarantee)))
        assert self.order is not None
        if isinstance(guarantee, Selected):
            own = selected_inputs.curve(guarantee, one_run(guarantee.of_one_run))
            return ((filters.of_curve(own, self.order), 1),)
        alpha = decimal(self.order)
        if isinstance(guarantee, Zcdp):
            return ((filters.of_number(decimal(guarantee.rho) * alpha), 1),)
        if isinstance(guarantee, Gdp):
            return ((filters.of_number(decimal(guarantee.mu) ** 2 * alpha / 2), 1),)
        if isinstance(guarantee, Rdp) and self.order in guarantee.alpha:
            least = min(x for a, x in zip(guarantee.alpha, guarantee.rdp, strict=True) if a == self.order)
            return ((filters.of_number(decimal(least)), 1),)
        return tuple((filters.of_curve(curve, self.order), count) for curve, count in curves(guarantee))

    @property
    def words(self) -> str:
        """The unit of the budget."""
        return {"pure": "sum of ε", "gdp": "sum of μ²"}.get(self.name) or f"Rényi divergence of order {self.order:.6g}"

    @property
    def in_numbers(self) -> float:
        return _down(self.budget)


def _up(x: Fraction) -> float:
    return quotient_up(x.numerator, x.denominator)


def _down(x: Fraction) -> float:
    return quotient_down(x.numerator, x.denominator)


def _filter(given: Given) -> _Filter:
    """The filter of a call, which follows from what was fixed before the first release. Raises DpcalcError where its
    budget lets nothing through."""
    epsilon, delta, reserve = given["epsilon"], given["delta"], given["delta_reserve"] or 0.0
    if not delta:
        for name in ("filter", "order", "delta_reserve"):
            if given[name]:
                raise DpcalcError("unneeded", "not used where delta = 0: the ε of the releases add up; drop it, or "
                                  "give a positive delta", flag(name))
        return _Filter("pure", composition_basic.BOUND, None, decimal(epsilon), {})
    if decimal(reserve) >= decimal(delta):
        raise DpcalcError("out-of-range", f"{reserve:g} is not below delta = {delta:g}; give a part of delta, for "
                          f"example {delta / 10:.6g}", "--delta-reserve")
    log_delta = Question("epsilon", delta=difference_down(delta, reserve)).log_delta
    params = {"most_epsilon": epsilon, "reserve": reserve}
    try:
        if given["filter"] == "gdp":
            if given["order"]:
                raise DpcalcError("unneeded", 'not used with filter = "gdp", which has no order; drop it', "--order")
            mu = filters.largest_mu(epsilon, log_delta)
            return _Filter("gdp", filters.GDP, None, Fraction(mu) ** 2, {**params, "most_mu": mu})
        order = given["order"] or filters.best_order(epsilon, log_delta)
        budget = filters.budget(order, epsilon, log_delta)
    except Unreachable:
        budget, order = 0.0, None
    if budget <= 0:
        raise DpcalcError("out-of-range", f"{epsilon:g} at δ = {delta:g} is a budget too small for any release"
                          f"{f' at order {order:g}' if order else ''}; give a larger budget, or another order, "
                          "before the first release", "--epsilon")
    return _Filter("rdp", filters.RDP, order, Fraction(budget), {**params, "order": order, "rdp_budget": budget})


def _refuse(given: Given) -> None:
    """Raises DpcalcError for options that an adaptive ledger cannot have."""
    if given["epsilon"] is None or given["delta"] is None:
        missing = "epsilon" if given["epsilon"] is None else "delta"
        raise DpcalcError("missing", "an adaptive ledger needs epsilon and delta: they must be fixed before the first "
                          "release", f"--{missing}")
    for name in ("rho", "mu"):
        if given[name] is not None:
            raise DpcalcError("unneeded", "an adaptive ledger has epsilon and delta as its budget; drop it", flag(name))
    if given["orders"]:
        raise DpcalcError("unneeded", "one order, fixed in advance: write order = X in the file", "--orders")
    if given["bound"]:
        raise DpcalcError("unneeded", 'the filter is the bound: write filter = "rdp" or "gdp" in the file', "--bound")


# --- what the releases take ------------------------------------------------------------------------------------------


def _without_delta(guarantee: Any) -> tuple[Any, Fraction]:
    """The pure part of a guarantee that is (ε, δ), and its δ; of others all of it, and 0."""
    if not isinstance(guarantee, Dp | Tv | Sampled):
        return guarantee, Fraction(0)
    (epsilon, delta, _), = points(guarantee)
    return Dp(kind="dp", epsilon=epsilon, delta=0.0), decimal(delta)


def _charged(filter_: _Filter, guarantee: Any, entry: Entry, delta: float) -> tuple[Charges, Fraction]:
    """What a release takes from the budget, and from the reserve of δ. Raises DpcalcError that names it."""
    pure, used = _without_delta(guarantee)
    if used and not filter_.params.get("reserve"):
        raise DpcalcError("missing", f"{entry.title}: (ε, δ) counts against delta-reserve; add delta-reserve = "
                          f"{delta / 10:.6g} (fixed before the first release)" if delta else
                          f"{entry.title}: it has δ > 0, and the δ of the ledger is 0", "--delta-reserve")
    try:
        return filter_.charges(pure), used
    except DpcalcError as error:
        own = entry.parameters.get("delta")
        if own and delta:  # as one (ε, δ), which is charged whole
            epsilon = total_of((guarantee,), own).value
            return _charged(filter_, Dp(kind="dp", epsilon=epsilon, delta=own), entry, delta)
        words = {"pure": "has no pure ε", "gdp": 'is not GDP; use filter = "rdp"'}.get(filter_.name) or (
            f"has no {filter_.words}; give it a δ of its own, as delta = {delta / 100:.6g}, which counts against "
            "delta-reserve")
        raise DpcalcError(error.code, f"{entry.title} {words} ({error.message})", "--file") from None


def _within(filter_: _Filter, entries: Sequence[Entry], taken: Sequence[tuple[Charges, Fraction]],
            names: Sequence[str] = ()) -> tuple[Charged, ...]:
    """What each release takes, and what is left after it. Raises NoSolution at the first one that does not fit."""
    spent, used, found = Fraction(0), Fraction(0), list[Charged]()
    reserve = decimal(filter_.params.get("reserve", 0.0))
    for entry, (charges, delta), name in zip(entries, taken, names or [""] * len(taken), strict=True):
        own, left = filters.total(charges), filter_.budget - spent
        spent, used = spent + own, used + delta
        if spent > filter_.budget or used > reserve:
            what, takes, rest = ((filter_.words, own, left) if spent > filter_.budget else
                                 ("δ-reserve", delta, reserve - used + delta))
            raise NoSolution("no-solution", f"{entry.title} would exceed the budget: it must not be made. It takes "
                             f"{human(decimal_up(takes))} ({what}), and {human(decimal_down(rest), upward=False)} is "
                             'left; "?" in place of a number finds what fits', "--file")
        found.append(Charged(name, _up(own), _up(spent), decimal_down(filter_.budget - spent)))
    return tuple(found)


def _largest(filter_: _Filter, entries: Sequence[Entry], unknown: Unknown, given: Given) -> float:
    """The value of the unknown number with which its release takes what the others leave. Raises NoSolution."""
    entry, target = entries[unknown.place], decimal_down(filter_.budget) * (1 - 1e-15)
    if others := [other for other in entries if other is not entry]:
        fixed = composed_of(others, given["adjacency"]).guarantees
        _within(filter_, others, [_charged(filter_, g, e, given["delta"]) for g, e in zip(fixed, others, strict=True)])

    def params(run: Run) -> dict[str, Any]:
        try:
            composed = composed_of(entries, given["adjacency"], unknown, run[unknown.quantity.name])
            taken = [_charged(filter_, g, e, given["delta"])[0]
                     for g, e in zip(composed.guarantees, entries, strict=True)]
        except DpcalcError as error:  # a value that the release does not cover
            raise OutOfScope(error.code, error.message, error.option) from None
        return {"charges": tuple(charge for charges in taken for charge in charges)}

    question = Question("rdp", alpha=filter_.order or _SQUARES, unknown=unknown.quantity, target=target)
    options = {"solve": unknown.quantity.option[2:], "adjacency": given["adjacency"]}
    try:
        rows = answer_rows(Run(COMMAND, Given(options, frozenset()), question, params), (Route(_SPENT),), ())
    except EveryValueMeets as error:
        error.option, error.message = "--file", f"{entry.title}: every value of {unknown.key} fits into what is left"
        raise
    except NoSolution as error:
        error.option, error.message = "--file", (
            f"{entry.title}: no value of {unknown.key} fits into what is left of the budget of {human(target)} "
            f"({filter_.words})")
        raise
    return rows[0].result[unknown.quantity.name]


# --- the answer ------------------------------------------------------------------------------------------------------


def answer(given: Given, entries: Sequence[Entry], parameters: dict[str, Any]) -> Answer:
    """The budget, what of it was spent, and what is left. Raises NoSolution where a release does not fit."""
    _refuse(given)
    filter_, unknown, value = _filter(given), find_unknown(entries), None
    question = Question("epsilon", epsilon=given["epsilon"] if unknown else None, delta=given["delta"],
                        unknown=unknown.quantity if unknown else None, target=given["epsilon"] if unknown else None)

    def composed_at(value: float | None) -> Composed:
        return composed_of(entries, given["adjacency"], unknown, value)

    def params(run: Run) -> dict[str, Any]:
        guarantees = composed_at(run[unknown.quantity.name] if unknown else None).guarantees
        taken = [_charged(filter_, g, e, given["delta"])[0] for g, e in zip(guarantees, entries, strict=True)]
        pure = {"points": tuple(point for g in guarantees for point in points(g))} if filter_.name == "pure" else {}
        return {**filter_.params, **pure, "charges": tuple(charge for charges in taken for charge in charges)}

    run, route = Run(COMMAND, given, question, params), Route(filter_.bound)
    recorded = given.recorded((route,), run) if given.recorded else ()
    if unknown:
        value = (recorded[0].result[unknown.quantity.name] if recorded else _largest(filter_, entries, unknown, given))
        value = int(value) if unknown.quantity.kind == "count" else value
    composed = composed_at(value)
    names = [entry.name(unknown, value) for entry in entries]
    releases = _within(filter_, entries, [_charged(filter_, g, e, given["delta"]) for g, e in
                                       zip(composed.guarantees, entries, strict=True)], names)
    releases = tuple(one._replace(share=decimal_up(decimal(one.spent) / filter_.budget), **entry.facts(unknown, value))
                     for one, entry in zip(releases, entries, strict=True))
    result = {"epsilon": given["epsilon"], "delta": given["delta"],
              **({} if filter_.name == "pure" else {"spent": releases[-1].total_spent}),
              **({unknown.quantity.name: value} if unknown and value is not None else {})}
    # What is promised is the budget, also where a record claims less.
    rows = tuple(row._replace(result={**row.result, "epsilon": given["epsilon"]}) for row in recorded) or (
        Row(route, result, params=run.at(value).params if unknown and value else run.params),)
    return _answer(given, filter_, composed, parameters, question, rows, releases)


def _answer(given: Given, filter_: _Filter, composed: Composed, parameters: dict[str, Any], question: Question,
            rows: tuple[Row, ...], releases: tuple[Charged, ...]) -> Answer:
    left, delta, reserve = releases[-1].left, given["delta"], filter_.params.get("reserve", 0.0)
    notes = [f'the guarantee is the budget. "Spent" is no smaller guarantee: if you stop because of what you saw, ε = '
             f"{plain(given['epsilon'])} is what you may state"]
    if composed.converted:
        notes.append(f"converted to {composed.relation} neighbours: {', '.join(composed.converted)} {CONVERTED}")
    try:
        fixed = total_of(composed.guarantees, delta, {"precision": given["precision"]} if given["precision"] else {})
        notes.append(f"had this list been fixed before the first output, ε = {human(fixed.value)} at δ = "
                     f"{plain(delta)} ({fixed.headline.route.label})")
    except DpcalcError:  # no number to compare with
        pass
    guarantee: dict[str, Any] = {"kind": "dp", "epsilon": given["epsilon"], "delta": delta}
    if filter_.name == "rdp" and not reserve:
        guarantee = {"kind": "rdp", "alpha": [filter_.order], "rdp": [filter_.in_numbers]}
    elif filter_.name == "gdp" and not reserve:
        guarantee = {"kind": "gdp", "mu": filter_.params["most_mu"]}
    adaptive = {"filter": filter_.name, "order": filter_.order, "budget": filter_.in_numbers,
                "spent": releases[-1].total_spent, "left": left, "delta_reserve": reserve}
    return of_records(Answer(
        "ledger", question, parameters, rows, guarantee, composed.relation or "those that each release refers to",
        "every output of each release", tuple(notes), {"left": left}, composed.promise.warnings, options=parameters,
        releases=releases, promises=(_FIXED, *composed.promise.sentences), adaptive=adaptive), composed.guarantees)
