"""The answer of rdp: ε, δ or RDP of a mechanism and its T-fold composition, or the parameter that meets a budget."""

from collections.abc import Iterable
from functools import partial

from dpcalc.accounting import neighbours
from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.mechanisms import MECHANISMS, Mechanism
from dpcalc.accounting.mechanisms.record import unsampled
from dpcalc.accounting.selection import BOUNDS, of_best
from dpcalc.commands import best_of_runs, key_questions
from dpcalc.commands.asking import level_hints, lower_end
from dpcalc.commands.concentrated import ROUTES, params_of, question_of
from dpcalc.commands.rdp import COMMAND
from dpcalc.core import noise_multiplier, tries
from dpcalc.core.checks import Mode, check
from dpcalc.core.command import Given
from dpcalc.core.results import Answer, Route
from dpcalc.core.run import Run


def answer(given: Given) -> Answer:
    mechanism = MECHANISMS[given["mechanism"]]
    question = key_questions.question_of(COMMAND, given) or question_of(COMMAND, given)
    needs, optional = noise_multiplier.options(mechanism, given, question.unknown.name if question.unknown else None)
    uses = frozenset({*needs, *optional, "mechanism", "steps", "orders", "group_size", "adjacency",
                      *mechanism.questions, *(ROUTES.keys() & {question.asks}),
                      *(() if question.asks in key_questions.ANSWERS else tries.NAMES)})
    to_bounds = key_questions.params if question.asks in key_questions.ANSWERS else (
        partial(params_of, mechanism, question.asks))
    run = Run(COMMAND, given, question, to_bounds, uses)
    check(run, Mode(uses, needs, f"with --mechanism {mechanism.name}", hints=level_hints(given, question),
                    ways_out={**key_questions.WAYS_OUT, **mechanism.ways_out}))
    by_multiplier = noise_multiplier.NAME in needs
    relation = neighbours.of_mechanism(mechanism, run, by_multiplier)
    rows = answer_rows(*of_best(run, partial(_routes, mechanism)), run.bounds)
    if question.asks == "guarantee" and mechanism.pure:
        mechanism.pure(run.params)  # raises an error for numbers that no bound covers
    run = run.solved(rows)
    part = mechanism.as_part(unsampled(run), None, int(run["steps"]) * mechanism.releases(run))
    notes = noise_multiplier.notes(given, run, str(relation)) if by_multiplier else (
        *key_questions.notes(mechanism, run, rows), *mechanism.notes)
    numbers = {"steps": run["steps"], **noise_multiplier.companion(run, str(relation), of_sum=False),
               **lower_end(question, rows), **key_questions.numbers(mechanism, run, question)}
    guarantee = {"kind": "mechanisms", "mechanisms": [part]}
    found = run.answer(rows, guarantee, relation or neighbours.UNSTATED, "every output", notes, numbers,
                       of_respondents=mechanism.query.of_respondents)
    return best_of_runs.with_selection(found, run, [guarantee])


def _routes(mechanism: Mechanism, run: Run) -> tuple[Route, ...]:
    """The bounds for one use of a mechanism, or for several."""
    if run.question.asks in key_questions.ANSWERS:
        return (key_questions.ROUTE,)
    if run.question.asks in ROUTES:
        return (ROUTES[run.question.asks][0],)
    routes = mechanism.often if run.unknown == "steps" or run["steps"] > 1 else mechanism.once
    if run.unknown:  # no parameter is solved for by a bound from below
        return tuple(route for route in routes if route.bound.status != "lower")
    return routes


def theorems() -> Iterable[Route]:
    return (*(route for m in MECHANISMS.values() for route in (*m.once, *m.often)), *(x for x, _ in ROUTES.values()),
            key_questions.ROUTE, *BOUNDS)
