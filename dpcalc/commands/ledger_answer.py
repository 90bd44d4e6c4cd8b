"""The answer of ledger: the total ε of several releases of one data set, and what is left of a budget."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.cautions import large_delta, of_records
from dpcalc.accounting.guarantee import Mechanisms
from dpcalc.accounting.neighbours import Composed
from dpcalc.commands import ledger_adaptive
from dpcalc.commands.convert_answer import Composition, composition
from dpcalc.commands.ledger import COMMAND
from dpcalc.commands.ledger_file import read
from dpcalc.commands.ledger_releases import Entry, Unknown, composed_of, find_unknown, total_of
from dpcalc.commands.ledger_totals import releases as releases_of
from dpcalc.core.bound import Params
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import ROUNDED, human, plain
from dpcalc.core.reading import about
from dpcalc.core.results import CONVERTED, Answer, Question, Release, Row
from dpcalc.core.run import Run
from dpcalc.core.validate import validate
from dpcalc.numerics.rounding import decimal, decimal_down, decimal_up

_WHAT_FITS = ('what is left is a difference: a release with that ε alone may or may not fit. To find what fits, add '
              'one with "?" in place of a number')
_FIXED = ("noise, rates and steps of all releases must be fixed before the first one runs, not chosen by looking at "
          "its output (else use adaptive = true)")
_UNLESS_ADAPTIVE = ("holds if the noise, length and number of releases were fixed before the first output; if they "
                    "were chosen in view of outputs, use adaptive = true")
_OF_TOTAL = ("bound", "orders", "precision")  # options that the composition of all releases takes
_OF_FILTER = ("filter", "order", "delta_reserve")  # options of an adaptive ledger


def answer(given: Given) -> Answer:
    given, listed = _with_files(given)
    releases = [*listed, *({"name": f"input {k}", **g.as_json()} for k, g in enumerate(given.inputs, 1))]
    if not releases:
        raise DpcalcError("missing", "no release is given: name a TOML or JSON file that lists them, a result of "
                          "dpcalc, or - for standard input", "--file")
    _refuse(given)
    is_only = len(releases) == 1 and not given["adaptive"]
    entries = [Entry(k, data, given["delta"], is_only) for k, data in enumerate(releases, 1)]
    if given["adaptive"]:
        found = ledger_adaptive.answer(given, entries, _parameters(given, listed))
        return _with_warnings(found, entries)
    unknown = find_unknown(entries)
    options = {name: given[name] for name in _OF_TOTAL if given[name] is not None}
    rows: tuple[Row, ...] = ()
    value = None
    if unknown:
        if given["epsilon"] is None:
            raise DpcalcError("missing", f'needed for the "?" in {entries[unknown.place].title}: the budget, as '
                              "--epsilon or as epsilon = 3 in the file", "--epsilon")
        question = Question("epsilon", epsilon=given["epsilon"], delta=given["delta"], orders=given["orders"] or (),
                            unknown=unknown.quantity, target=given["epsilon"])
        rows = _solved(entries, unknown, given, question)
        value = rows[0].result[unknown.quantity.name]
    composed = composed_of(entries, given["adjacency"], unknown, value)
    total = total_of(composed.guarantees, given["delta"], options, None if unknown else given)
    shown = releases_of([entry.name(unknown, value) for entry in entries], composed.guarantees, given["delta"],
                        total.headline.result["epsilon"], given["epsilon"])
    total = total._replace(rows=rows, question=question) if unknown else total
    found = _answer(given, total, composed, listed, shown)
    may_add = "budget" in found.extra and not found.over_budget and not unknown
    may_be_adaptive = (_UNLESS_ADAPTIVE,) if len(entries) > 1 and given["epsilon"] is not None else ()
    notes = (*may_be_adaptive, *found.notes, *((_WHAT_FITS,) if may_add else ()))
    return _with_warnings(found._replace(notes=notes), entries)


def _with_warnings(found: Answer, entries: Sequence[Entry]) -> Answer:
    """The answer with a warning where δ is large for the number of records of a release."""
    sizes = [entry.parameters["n"] for entry in entries if "n" in entry.parameters]
    return found._replace(warnings=(*found.warnings, *large_delta(min(sizes, default=None), found.question.delta)))


def _with_files(given: Given) -> tuple[Given, tuple[dict[str, Any], ...]]:
    """The call with δ and the budget of the files where the command line has none, and the releases of the files."""
    ledger = read(given["file"] or (), bool(given["allow_files_anywhere"]))
    with about("in the file"):
        checked = validate(COMMAND, ledger.header)
    header = {name: checked[name] for name in ledger.header}
    if given["adaptive"] or header.get("adaptive"):
        _refuse_changes(given, header)
    both = {**given.values, **{name: x for name, x in header.items() if not given.has(name)}}
    return given.replace(both, given.provided | header.keys()), ledger.releases


def _refuse_changes(given: Given, header: Mapping[str, Any]) -> None:
    """Raises DpcalcError where the command line changes the budget or the filter of an adaptive ledger."""
    fixed = (*("epsilon", "delta", "adjacency"), *(_OF_FILTER if header.get("adaptive") else ()))
    for name in fixed:
        in_file = header.get(name)
        if given.has(name) and given[name] != in_file and (name in header or name in _OF_FILTER):
            says = f"not the {plain(in_file)}" if isinstance(in_file, float) else f"not {in_file or 'the default'}"
            raise DpcalcError("contradictory", f"{given[name]} is {says} of the file; the budget of an adaptive ledger "
                              "is fixed: change it in the file, before the first release", flag(name))


def _refuse(given: Given) -> None:
    """Raises DpcalcError for a question that a ledger does not answer."""
    for name in _OF_FILTER:
        if given[name] is not None and not given["adaptive"]:
            raise DpcalcError("unneeded", "it is of an adaptive ledger; add adaptive = true (--adaptive), or drop it",
                              flag(name))
    for name in sorted(given.provided & {"alpha", "rdp", "solve", "digits", "plot"}):
        instead = {"solve": 'write "?" in place of the number in the file',
                   "digits": "dpcalc convert takes it",
                   "plot": "it has no sweep to draw"}.get(name, "a ledger is about ε at --delta")
        raise DpcalcError("unneeded", f"not for a ledger; {instead}", flag(name))
    if given["delta"] is None:
        raise DpcalcError("missing", "needed: the δ of the total, as --delta or as delta = 1e-5 in the file", "--delta")


def _parameters(given: Given, listed: Sequence[Any]) -> dict[str, Any]:
    """The options that the answer depends on, and with which it can be repeated."""
    names = (*_OF_TOTAL, "delta", "epsilon", "adjacency", *(("adaptive", *_OF_FILTER) if given["adaptive"] else ()))
    found = {name: given[name] for name in names if given[name] is not None}
    return found | ({"file": [{"release": list(listed)}]} if listed else {})


def _answer(given: Given, total: Answer, composed: Composed, listed: Sequence[Any],
            releases: Sequence[Release]) -> Answer:
    """The answer of the ledger, from that of the composition."""
    budget, epsilon = given["epsilon"], total.headline.result["epsilon"]
    extra, warnings = dict[str, float](), tuple[str, ...]()
    over = budget is not None and epsilon > budget * (1 + ROUNDED)  # three times 1/3 is within a budget of 1
    if budget is not None:
        extra = {"budget": budget, "left": decimal_down(decimal(budget) - decimal(epsilon))}
    if over:
        extra["over"] = decimal_up(decimal(epsilon) - decimal(budget))
        warnings = (f"over the budget ε ≤ {plain(budget)} by {human(extra['over'])}",)
    parameters = _parameters(given, listed)
    guarantee, parts = total.guarantee, [g for g in composed.guarantees if isinstance(g, Mechanisms)]
    if guarantee["kind"] == "dp" and len(parts) == len(composed.guarantees):  # all mechanisms say more than a point
        guarantee = {"kind": "mechanisms", "mechanisms": [part for g in parts for part in g.as_json()["mechanisms"]],
                     **({"upper_bound": True} if any(g.upper_bound for g in parts) else {})}
    adjacency = composed.relation or "those that each release refers to"
    converted = (f"converted to {composed.relation} neighbours: {', '.join(composed.converted)} {CONVERTED}",)
    return of_records(total._replace(
        command="ledger", adjacency=adjacency, parameters=parameters, options=parameters,
        guarantee=guarantee, extra=extra, released="every output of each release",
        warnings=(*warnings, *composed.promise.warnings), releases=releases, over_budget=over,
        promises=(*((_FIXED,) if len(releases) > 1 else ()), *composed.promise.sentences),
        notes=(*total.notes, *(converted if composed.converted else ()))), composed.guarantees)


# --- the number that is "?" ------------------------------------------------------------------------------------------


def _solved(entries: Sequence[Entry], unknown: Unknown, given: Given, question: Question) -> tuple[Row, ...]:
    """The rows of the answer, by every bound for the composition, each with its own solution. Raises NoSolution where
    no value meets the budget, and where every value does."""
    options = {name: given[name] for name in ("orders", "precision", "bound", "delta") if given[name] is not None}
    options["solve"] = unknown.quantity.option[2:]
    _require_room(entries, unknown, given, question)

    @cache
    def composed_at(value: float) -> Composition:
        return composition(composed_of(entries, given["adjacency"], unknown, value).guarantees, question, options)

    kind, routes = _at_first_value(composed_at, unknown)

    def params(run: Run) -> Params:
        """The parameters of the bounds. A value that a release does not cover is out of scope, and no error."""
        try:
            found = composed_at(run[unknown.quantity.name])
        except DpcalcError as error:
            raise OutOfScope(error.code, error.message, error.option) from None
        if found.kind != kind:
            raise OutOfScope("no-solution", f"{kind} composes differently from {found.kind}", "--file")
        return found.params

    run = Run(COMMAND, given.replace(options), question, params)
    try:
        return answer_rows(run, routes, run.bounds)
    except NoSolution as error:
        error.option, error.message = "--file", f"{entries[unknown.place].title}: {error.message}"
        raise


def _at_first_value(composed_at: Any, unknown: Unknown) -> tuple[str, tuple[Any, ...]]:
    """The kind of the composition and its bounds, at the first value that the release covers. Any such value is valid,
    since neither depends on it."""
    first: DpcalcError | None = None
    # from the middle of its range to its ends, by factors of 10
    low, high = unknown.quantity.search
    start = 1.0 if low <= 1 <= high else (low * high) ** 0.5
    values = (value for exponent in range(16) for value in {start * 10.0**exponent, start / 10.0**exponent})
    for value in filter(lambda value: low <= value <= high, values):
        try:
            found = composed_at(int(value) if unknown.quantity.kind == "count" else value)
            return found.kind, found.routes
        except DpcalcError as error:
            first = first or error
    assert first is not None
    raise first


def _require_room(entries: Sequence[Entry], unknown: Unknown, given: Given, question: Question) -> None:
    """Raises NoSolution where the other releases alone exceed the budget."""
    others = [entry for k, entry in enumerate(entries) if k != unknown.place]
    if not others:
        return
    epsilon = total_of(composed_of(others, given["adjacency"]).guarantees, question.delta).headline.result["epsilon"]
    if epsilon >= (question.target or 0.0):
        raise NoSolution("no-solution",
                         f"{entries[unknown.place].title}: no value of {unknown.key} meets the budget ε ≤ "
                         f"{plain(question.target or 0.0)}: the other releases alone have ε = {human(epsilon)}",
                         "--file")
