"""The answer of rdp: ε, δ or RDP of a mechanism and its T-fold composition, or the parameter that meets a budget."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from dpcalc.accounting import contributions, neighbours
from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.mechanisms import MECHANISMS, Mechanism
from dpcalc.accounting.mechanisms.record import unsampled
from dpcalc.accounting.selection import BOUNDS, of_best
from dpcalc.commands import best_of_runs, key_questions, noisy_values, thresholded_values
from dpcalc.commands.asking import level_hints, lower_end
from dpcalc.commands.concentrated import ROUTES, params_of, question_of
from dpcalc.commands.rdp import COMMAND
from dpcalc.core import counts, noise_multiplier, tries
from dpcalc.core.checks import Mode, check
from dpcalc.core.command import Given
from dpcalc.core.errors import NoSolution
from dpcalc.core.numbers import human
from dpcalc.core.results import Answer, Route
from dpcalc.core.run import Run

_ANSWERS = "it goes with --accuracy; for the privacy of so many answers give --steps, or --max-keys"


def answer(given: Given) -> Answer:
    mechanism = MECHANISMS[given["mechanism"]]
    question = (key_questions.question_of(COMMAND, given) or noisy_values.question_of(COMMAND, given)
                or question_of(COMMAND, given))
    needs, optional = noise_multiplier.options(mechanism, given, question.unknown.name if question.unknown else None)
    by_multiplier = noise_multiplier.NAME in needs
    contributed = noisy_values.contribution_options(mechanism, by_multiplier)
    is_contributed = any(given.has(name) or given["solve"] == name.replace("_", "-") for name in contributed)
    of_noise = ("answers",) if given.has("accuracy") else ()
    uses = {*needs, *optional, *contributed, "mechanism", "steps", "orders", "group_size", "adjacency", "accuracy",
            *of_noise, "error", *mechanism.questions, *(ROUTES.keys() & {question.asks}),
            *(() if question.asks in counts.NOT_ABOUT_PRIVACY else tries.NAMES)}
    if is_contributed:
        noisy_values.refuse_sensitivity(given)
        uses.discard("sensitivity")
    run = Run(COMMAND, given, question, partial(_params, mechanism), frozenset(uses))
    ways_out = {**key_questions.WAYS_OUT, "answers": _ANSWERS,
                **noisy_values.contribution_ways_out(mechanism, by_multiplier, is_contributed), **mechanism.ways_out}
    check(run, Mode(uses, needs, f"with --mechanism {mechanism.name}", ways_out=ways_out,
                    hints=level_hints(given, question)), *noisy_values.contribution_checks(mechanism))
    states = by_multiplier or mechanism.states_relation or is_contributed
    relation = neighbours.of_mechanism(mechanism, run, states)
    run = thresholded_values.with_range_of_noise(thresholded_values.with_usual_contributions(run, mechanism), mechanism)
    if given.has("error") and (given.has("epsilon") or given.has("delta")):
        return _with_error(_answered(noisy_values.question_at_solution(run, mechanism), mechanism, relation), run)
    return _answered(run, mechanism, relation)


def _answered(run: Run, mechanism: Mechanism, relation: str | None) -> Answer:
    """The answer to a question about one mechanism, whose options go together."""
    question, by_multiplier = run.question, run.sets(noise_multiplier.NAME)
    try:
        rows = answer_rows(*of_best(run, partial(_routes, mechanism)), run.bounds)
    except NoSolution:
        if run.unknown == "threshold" and question.delta and run["steps"] == 1 and not run["tries"]:
            raise thresholded_values.no_threshold(run, mechanism) from None
        if thresholded_values.has_threshold(mechanism) and run.unknown == mechanism.options[0]:
            raise thresholded_values.no_noise(run) from None
        raise
    if question.asks == "guarantee" and mechanism.pure:
        mechanism.pure(run.params)  # raises an error for numbers that no bound covers
    run = run.solved(rows)
    more = contributions.fields_of_part(run, mechanism.in_l2) if mechanism.noise else {}
    part = mechanism.as_part(unsampled(mechanism, run), None, int(run["steps"]) * mechanism.releases(run), **more)
    size = noisy_values.numbers(mechanism, run)
    reached = thresholded_values.notes(run, mechanism, rows[0].result) if rows else ()
    notes = noise_multiplier.notes(run.given, run, str(relation)) if by_multiplier else (
        *key_questions.notes(mechanism, run, rows), *mechanism.notes)
    numbers = {"steps": run["steps"], **noise_multiplier.companion(run, str(relation), of_sum=False),
               **(contributions.numbers(run) if mechanism.noise else {}), **size,
               **({"threshold": run["threshold"]} if thresholded_values.has_threshold(mechanism) else {}),
               **lower_end(question, rows),
               **key_questions.numbers(mechanism, run, question)}
    guarantee = {"kind": "mechanisms", "mechanisms": [part]}
    found = run.answer(rows, guarantee, relation or neighbours.UNSTATED, "every output",
                       (*noisy_values.notes(mechanism, run, size), *reached, *notes), numbers,
                       of_respondents=mechanism.query.of_respondents, warnings=thresholded_values.warnings(run),
                       promises=contributions.promises(run, not mechanism.noise))
    return best_of_runs.with_selection(found, run, [guarantee])


def _with_error(found: Answer, run: Run) -> Answer:
    """The best answer about privacy as that of a search for the noise, which --error fixes: the loss, rounded up as
    people read it, stands in place of a budget that this noise meets."""
    name, head = str(run.unknown), found.headline
    target = float(human(head.result[found.question.asks]))
    return found._replace(rows=(head._replace(result={**head.result, name: found.parameters[name]}),),
                          question=found.question._replace(unknown=run.question.unknown, target=target))


def _params(mechanism: Mechanism, run: Run) -> dict[str, Any]:
    """The parameters of the bounds."""
    if run.question.asks == noisy_values.WITHIN:
        return noisy_values.size_params(mechanism, run)
    if run.question.asks in key_questions.ANSWERS:
        return key_questions.params(run)
    return params_of(mechanism, run.question.asks, run)


def _routes(mechanism: Mechanism, run: Run) -> tuple[Route, ...]:
    """The bounds for one use of a mechanism, or for several."""
    if run.question.asks == noisy_values.WITHIN:
        return (noisy_values.SIZE,)
    if run.question.asks in key_questions.ANSWERS:
        return (key_questions.ROUTE,)
    if run.question.asks in ROUTES:
        return (ROUTES[run.question.asks][0],)
    is_once = run.unknown not in ("steps", "max_keys") and run["steps"] * mechanism.releases(run) == 1
    routes = mechanism.once if is_once else mechanism.often
    if run.unknown:  # no parameter is solved for by a bound from below
        return tuple(route for route in routes if route.bound.status != "lower")
    return routes


def theorems() -> Iterable[Route]:
    return (*(route for m in MECHANISMS.values() for route in (*m.once, *m.often)), *(x for x, _ in ROUTES.values()),
            key_questions.ROUTE, *BOUNDS, noisy_values.SIZE)
