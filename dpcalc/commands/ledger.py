"""dpcalc ledger: the total ε of several releases of one data set, and what is left of a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import QUESTION, RUN, Command, Given, Option
from dpcalc.core.errors import DpcalcError, flag

if TYPE_CHECKING:
    from dpcalc.accounting.neighbours import Composed
    from dpcalc.commands.ledger_releases import Entry
    from dpcalc.core.results import Answer, Release, Route

_WHAT_FITS = ('what is left is a difference: a release with that ε alone may or may not fit. To find what fits, add '
              'one with "?" in place of a number')
_FIXED = ("noise, rates and steps of all releases must be fixed before the first one runs, not chosen by looking at "
          "its output")
_OF_TOTAL = ("bound", "orders", "precision")  # options that the composition of all releases takes


def answer(given: Given) -> Answer:
    """The total ε at δ, with the ε of each release and the total up to it; or the number that is "?"."""
    from dpcalc.commands.ledger_releases import Entry, composed_of, find_unknown, total_of
    from dpcalc.core.question import Question

    given, listed = _with_files(given)
    releases = [*listed, *({"name": f"input {k}", **g.as_json()} for k, g in enumerate(given.inputs, 1))]
    if not releases:
        raise DpcalcError("missing", "no release is given: name a TOML or JSON file that lists them, a result of "
                          "dpcalc, or - for standard input", "--file")
    _refuse(given)
    entries = [Entry(k, data, given["delta"], len(releases) == 1) for k, data in enumerate(releases, 1)]
    unknown = find_unknown(entries)
    options = {name: given[name] for name in _OF_TOTAL if given[name] is not None}
    if unknown is None:
        composed = composed_of(entries, given["adjacency"])
        total = total_of(composed.guarantees, given["delta"], options, given)
        shown = _releases(entries, total, composed.guarantees, given)
        return _with_notes(_answer(given, total, composed, listed, shown), entries)
    if given["epsilon"] is None:
        raise DpcalcError("missing", f'needed for the "?" in {entries[unknown.place].title}: the budget, as --epsilon '
                          "or as epsilon = 3 in the file", "--epsilon")
    from dpcalc.commands.ledger_solve import solved

    question = Question("epsilon", epsilon=given["epsilon"], delta=given["delta"], orders=given["orders"] or (),
                        unknown=unknown.quantity, target=given["epsilon"])
    rows = solved(entries, unknown, given, question)
    value = rows[0].result[unknown.quantity.name]
    composed = composed_of(entries, given["adjacency"], unknown, value)
    total = total_of(composed.guarantees, given["delta"], options)
    shown = _releases(entries, total, composed.guarantees, given, [entry.name(unknown, value) for entry in entries])
    solved_total = total._replace(rows=rows, question=question)
    return _with_notes(_answer(given, solved_total, composed, listed, shown), entries)


def _with_files(given: Given) -> tuple[Given, tuple[dict[str, Any], ...]]:
    """The call with δ and the budget of the files where the command line has none, and the releases of the files."""
    from dpcalc.commands.ledger_file import read
    from dpcalc.core.validate import validate

    ledger = read(given["file"] or (), bool(given["allow_files_anywhere"]))
    header = {name: x for name, x in ledger.header.items() if not given.has(name)}
    try:
        checked = validate(COMMAND, header)
    except DpcalcError as error:
        raise DpcalcError(error.code, f"in the file: {error.message}", error.option) from None
    both = {**given.values, **{name: checked[name] for name in header}}
    return given.replace(both, given.provided | header.keys()), ledger.releases


def _refuse(given: Given) -> None:
    """Raises DpcalcError for a question that a ledger does not answer."""
    for name in sorted(given.provided & {"alpha", "rdp", "solve", "digits", "plot"}):
        instead = {"solve": 'write "?" in place of the number in the file',
                   "digits": "dpcalc convert takes it",
                   "plot": "it has no sweep to draw"}.get(name, "a ledger is about ε at --delta")
        raise DpcalcError("unneeded", f"not for a ledger; {instead}", flag(name))
    if given["delta"] is None:
        raise DpcalcError("missing", "needed: the δ of the total, as --delta or as delta = 1e-5 in the file", "--delta")


def _releases(entries: Sequence[Entry], total: Answer, guarantees: Sequence[Any], given: Given,
              names: Sequence[str] | None = None) -> tuple[Release, ...]:
    """Each release with its own ε, the total ε up to it, and what is left of the budget.

    Fewer releases lose no more, so that the total of more of them bounds theirs. Each number is the least of its own
    and of those after it, as the rounding of numerical compositions may differ.
    """
    from dpcalc.core.results import Release
    from dpcalc.numerics.rounding import decimal, decimal_down

    delta, budget, last = given["delta"], given["epsilon"], total.headline.result["epsilon"]
    found: list[Release] = []
    for k in range(len(entries), 0, -1):
        last = min(last, _epsilon(guarantees[:k], delta)) if k < len(entries) else last
        own = last if k == 1 else min(last, _epsilon(guarantees[k - 1:k], delta))
        left = None if budget is None else decimal_down(decimal(budget) - decimal(last))
        found.append(Release(names[k - 1] if names else entries[k - 1].name(), own, last, left))
    return tuple(reversed(found))


def _epsilon(guarantees: Sequence[Any], delta: float) -> float:
    """ε at δ of some of the releases; infinity where no bound gives one."""
    from dpcalc.commands.ledger_releases import total_of

    try:
        return total_of(guarantees, delta).headline.result["epsilon"]
    except DpcalcError:
        return float("inf")


def _answer(given: Given, total: Answer, composed: Composed, listed: Sequence[Any],
            releases: tuple[Release, ...]) -> Answer:
    """The answer of the ledger, from that of the composition."""
    from dpcalc.accounting.cautions import of_records
    from dpcalc.core.numbers import ROUNDED, human, plain
    from dpcalc.numerics.rounding import decimal, decimal_up

    budget, epsilon = given["epsilon"], releases[-1].total_epsilon
    extra, warnings = dict[str, float](), tuple[str, ...]()
    over = budget is not None and epsilon > budget * (1 + ROUNDED)  # three times 1/3 is within a budget of 1
    if budget is not None:
        extra = {"budget": budget, "left": releases[-1].left or 0.0}
    if over:
        extra["over"] = decimal_up(decimal(epsilon) - decimal(budget))
        warnings = (f"over the budget ε ≤ {plain(budget)} by {human(extra['over'])}",)
    parameters = {name: given[name] for name in (*_OF_TOTAL, "delta", "epsilon", "adjacency")
                  if given[name] is not None}
    parameters |= {"file": [{"release": list(listed)}]} if listed else {}
    adjacency = composed.relation or "those that each release refers to"
    return of_records(total._replace(
        command="ledger", adjacency=adjacency, parameters=parameters, options=parameters,
        guarantee=_guarantee(total, composed.guarantees), extra=extra, released="every output of each release",
        warnings=(*warnings, *composed.promise.warnings),
        releases=releases, over_budget=over,
        promises=(*((_FIXED,) if len(releases) > 1 else ()), *composed.promise.sentences),
        notes=(*total.notes, *_converted(composed))), composed.guarantees)


def _converted(composed: Composed) -> tuple[str, ...]:
    """A note on the releases that were converted to other neighbours."""
    from dpcalc.core.results import CONVERTED

    return (f"converted to {composed.relation} neighbours: {', '.join(composed.converted)} {CONVERTED}",
            ) if composed.converted else ()


def _with_notes(answer: Answer, entries: Sequence[Entry]) -> Answer:
    """The answer with the warnings of its releases, and with a note on how to find what still fits."""
    from dpcalc.accounting.cautions import large_delta

    delta, sizes = answer.question.delta, [entry.parameters["n"] for entry in entries if "n" in entry.parameters]
    warnings = large_delta(min(sizes, default=None), delta)
    fits = "budget" in answer.extra and not answer.over_budget and not answer.question.unknown
    return answer._replace(notes=(*answer.notes, *((_WHAT_FITS,) if fits else ())),
                           warnings=(*answer.warnings, *warnings))


def _guarantee(total: Answer, guarantees: Sequence[Any]) -> dict[str, Any]:
    """The guarantee for the next command: all mechanisms where every release has them, else that of `convert`."""
    from dpcalc.accounting.guarantee import Mechanisms

    if total.guarantee["kind"] != "dp" or not all(isinstance(g, Mechanisms) for g in guarantees):
        return total.guarantee
    return {"kind": "mechanisms", "mechanisms": [part for g in guarantees for part in g.as_json()["mechanisms"]],
            **({"upper_bound": True} if any(g.upper_bound for g in guarantees) else {})}


def theorems() -> Iterator[Route]:
    from dpcalc.commands.convert_answer import theorems as of_convert

    return of_convert()


# What releases.toml holds in the first example of the help.
_SAMPLE = """\
where releases.toml is
    delta = 1e-5
    epsilon = 3             # the budget, if there is one
    [[release]]
    name = "model"          # optional
    command = "subsample"   # a command and its options
    n = 50_000
    batch-size = 1024
    epochs = 10
    noise-multiplier = 2    # or "?", to find it
    [[release]]
    command = "rdp"         # or file = "earlier.json"
    mechanism = "laplace"
    scale = 20
"""

COMMAND = Command(
    "ledger",
    "Total privacy loss of several releases of one data set, and what is left of a budget. A file lists the releases: "
    'each is a command with its options, or an earlier result. One number may be "?", and is solved for.',
    (
        Option(q.FILE, RUN, multiple=True),
        Option(q.ALLOW_FILES_ANYWHERE, RUN),
        Option(q.EPSILON._replace(help="the budget on the total ε"), QUESTION),
        Option(q.DELTA._replace(help="δ of the total"), QUESTION),
        Option(q.SOLVE._replace(help='not for a ledger: write "?" in the file for the number to find'), QUESTION),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours: releases that do not say it are bound to it, "
                                         "and replace-one converts those for other ones"), RUN),
        Option(q.ORDERS, QUESTION),
        Option(q.PRECISION, QUESTION),
    ),
    answer,
    (
        ("ledger releases.toml", "ε = 0.951868"),
        ("rdp --sigma 2 --json | dpcalc ledger - --delta 1e-5 --epsilon 3", "ε = 1.9931"),
        ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --json | dpcalc ledger - --delta "
         "1e-5", "ε = 1.1341"),
    ),
    inputs=True,
    files="file",
    usual=("epsilon", "delta", "file"),
    theorems=theorems,
    asks='Give --delta, or delta = 1e-5 in the file; --epsilon is the budget. Write "?" in the file for the number to '
         "find.",
    sample=_SAMPLE,
)
