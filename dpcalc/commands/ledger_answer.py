"""The answer of ledger: the total ε of several releases of one data set, and what is left of a budget."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.cautions import large_delta, of_records
from dpcalc.accounting.guarantee import Mechanisms, Parallel
from dpcalc.accounting.neighbours import Composed
from dpcalc.commands import ledger_adaptive
from dpcalc.commands import ledger_budgets as budgets
from dpcalc.commands.convert_answer import Composition, composition
from dpcalc.commands.ledger import COMMAND
from dpcalc.commands.ledger_file import read
from dpcalc.commands.ledger_releases import Entry, Unknown, composed_of, find_unknown, total_of
from dpcalc.commands.ledger_totals import releases as releases_of
from dpcalc.core.bound import Params
from dpcalc.core.budgets import budget
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import FILTER, symbol
from dpcalc.core.reading import about
from dpcalc.core.results import CONVERTED, Answer, Question, Release, Row
from dpcalc.core.run import Run
from dpcalc.core.validate import validate

_WHAT_FITS = ('what is left is a difference: a release with that ε alone may or may not fit. To find what fits, add '
              'one with "?" in place of a number')
_FIXED = ("noise, rates and steps of all releases must be fixed before the first one runs, not chosen by looking at "
          "its output")
_OR_BUDGET = ("if noise, length or number of releases were chosen by looking at earlier outputs, what may be stated is "
              "the budget {}, provided that it was fixed before the first release, and that no release would have been "
              "made that exceeds it")
_UNLESS_ADAPTIVE = ("if the noise, length or number of releases are chosen by looking at outputs, use adaptive = true "
                    "from the first release on")
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
        return _with_warnings(ledger_adaptive.answer(given, entries, _parameters(given, listed)), entries)
    asks = budgets.main_quantity(given)
    found = find_unknown(entries)
    unknown = found and found.beside_budgets(given.values)
    options = {name: given[name] for name in _OF_TOTAL if given[name] is not None}
    rows, question = _solution(entries, unknown, given) if unknown else ((), None)
    value = rows[0].result[unknown.quantity.name] if unknown else None
    composed, titles = composed_of(entries, given["adjacency"], unknown, value), [entry.title for entry in entries]
    if asks != "epsilon":
        budgets.spent(composed.guarantees, titles, budgets.question_of(given, asks))  # raises the error of a release
    total = total_of(composed.guarantees, given["delta"], options, None if unknown else given, asks)
    spent = budgets.budgets(given, composed.guarantees, titles, asks, total.headline.result[asks])
    shown = _releases(entries, unknown, value, composed.guarantees, given, total.headline.result[asks])
    total = total._replace(rows=rows, question=question) if question else total
    answered = _answer(given, total, composed, listed, shown, spent)
    may_add = "budget" in answered.extra and not answered.over_budget and not unknown
    may_be_adaptive = (_UNLESS_ADAPTIVE,) if len(entries) > 1 and given["epsilon"] is not None else ()
    if len(entries) > 1 and asks != "epsilon" and not answered.over_budget:  # sums of ρ and of μ² are filters
        may_be_adaptive = (_OR_BUDGET.format(f"{symbol(asks)} = {plain(given[asks])}"),)
    notes = (*may_be_adaptive, *answered.notes, *((_WHAT_FITS,) if may_add else ()))
    return _with_warnings(answered._replace(notes=notes), entries)


def _solution(entries: Sequence[Entry], unknown: Unknown, given: Given) -> tuple[tuple[Row, ...], Question]:
    """The rows that solve for the unknown number by the tightest budget, and its question. Raises DpcalcError without a
    budget."""
    if all(given[name] is None for name in budgets.NAMES):
        raise DpcalcError("missing", f'needed for the "?" in {entries[unknown.place].title}: the budget, as --epsilon '
                          "or as epsilon = 3 in the file, or as rho or mu", "--epsilon")
    return budgets.most_restrictive(given, unknown.quantity, lambda asked: _solved(entries, unknown, given, asked))


def _releases(entries: Sequence[Entry], unknown: Unknown | None, value: float | None, guarantees: Sequence[Any],
              given: Given, total: float) -> Sequence[Release]:
    """Each release with its own number, the total up to it, its share of the budget, and what stands beside it."""
    asks, names = budgets.main_quantity(given), [entry.name(unknown, value) for entry in entries]
    if asks == "epsilon":
        found = releases_of(names, guarantees, given["delta"], total, given["epsilon"])
    else:
        found = budgets.running(names, guarantees, budgets.question_of(given, asks), given[asks], total)
    return budgets.facts(found, [entry.facts(unknown, value) for entry in entries], given[asks])


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
        in_file = header.get(name, FILTER.choices[0] if name == FILTER.name else None)
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
    for name in sorted(given.provided & {"alpha", "rdp", "solve", "digits"}):
        instead = {"solve": 'write "?" in place of the number in the file',
                   "digits": "dpcalc convert takes it"}.get(name, "a ledger is about ε at --delta")
        raise DpcalcError("unneeded", f"not for a ledger; {instead}", flag(name))


def _parameters(given: Given, listed: Sequence[Any]) -> dict[str, Any]:
    """The options that the answer depends on, and with which it can be repeated."""
    of_filter = ("adaptive", *_OF_FILTER) if given["adaptive"] else ()
    names = (*_OF_TOTAL, "delta", *budgets.NAMES, "adjacency", *of_filter)
    found = {name: given[name] for name in names if given[name] is not None}
    return found | ({"file": [{"release": list(listed)}]} if listed else {})


def _answer(given: Given, total: Answer, composed: Composed, listed: Sequence[Any],
            releases: Sequence[Release], spent: Sequence[budgets.Budget]) -> Answer:
    """The answer of the ledger, from that of the composition."""
    extra = {name: x for one in spent for name, x in one.numbers.items()}
    warnings = tuple(warning for one in spent for warning in one.warnings)
    parameters = _parameters(given, listed)
    guarantee, parts = total.guarantee, [g for g in composed.guarantees if isinstance(g, Mechanisms)]
    # mechanisms say more than a point, or than ρ
    if guarantee["kind"] in ("dp", "zcdp") and len(parts) == len(composed.guarantees):
        guarantee = {"kind": "mechanisms", "mechanisms": [part for g in parts for part in g.as_json()["mechanisms"]],
                     **({"upper_bound": True} if any(g.upper_bound for g in parts) else {})}
    elif guarantee["kind"] == "dp" and len(composed.guarantees) == 1 and isinstance(composed.guarantees[0], Parallel):
        guarantee = composed.guarantees[0].as_json()
    adjacency = composed.relation or "those that each release refers to"
    converted = (f"converted to {composed.relation} neighbours: {', '.join(composed.converted)} {CONVERTED}",)
    several = len(releases) > 1 or any(isinstance(g, Parallel) for g in composed.guarantees)
    return of_records(total._replace(
        command="ledger", adjacency=adjacency, parameters=parameters, options=parameters,
        guarantee=guarantee, extra=extra, released=_released(composed.guarantees),
        warnings=(*warnings, *composed.promise.warnings), releases=releases, over_budget=any(one.over for one in spent),
        promises=(*((_FIXED,) if several else ()), *composed.promise.sentences),
        notes=tuple(dict.fromkeys((*total.notes, *budgets.notes_on_sampling(spent, composed.guarantees),
                                   *(converted if composed.converted else ()))))), composed.guarantees)


def _released(guarantees: Sequence[Any]) -> str:
    """What the total covers."""
    tuned = any(g.kind == "selected" for g in guarantees)
    return "every output of each release" + (", and of the best of several runs that run alone" if tuned else "")


# --- the number that is "?" ------------------------------------------------------------------------------------------


def _solved(entries: Sequence[Entry], unknown: Unknown, given: Given, question: Question) -> tuple[Row, ...]:
    """The rows of the answer, by every bound for the composition, each with its own solution. Raises NoSolution where
    no value meets the budget, and where every value does."""
    names = ("orders", "precision", "bound", "delta") if question.asks == "epsilon" else ()
    options = {name: given[name] for name in names if given[name] is not None}
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
    titles = [entry.title for entry in others]
    spent = budgets.spent(composed_of(others, given["adjacency"]).guarantees, titles, question)
    if spent >= (question.target or 0.0):
        raise NoSolution("no-solution",
                         f"{entries[unknown.place].title}: no value of {unknown.key} meets the budget "
                         f"{budget(question._replace(delta=None))}: the other releases alone have "
                         f"{symbol(question.asks)} = {human(spent)}", "--file")
