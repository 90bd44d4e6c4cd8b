"""The answer of compare: the guarantees for a training run, and how much one more assumption would improve them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dpcalc.accounting.neighbours import NOTHING
from dpcalc.accounting.schemes import SCHEMES
from dpcalc.accounting.schemes.shuffle import note_on_a_pass, note_on_an_epoch
from dpcalc.bounds import replacement_message
from dpcalc.commands.asking import lower_end, read_question
from dpcalc.commands.catalogue import calculators
from dpcalc.commands.compare import COMMAND
from dpcalc.commands.comparison import Answers, Found, bound_names, guarantees, headline
from dpcalc.commands.interpretations import INTERPRETATIONS, relations_for
from dpcalc.commands.last_iterate_companions import start_note
from dpcalc.commands.run_file import merged
from dpcalc.commands.training_run import ALLOCATION, ORDERED, POISSON, SHUFFLED, TrainingRun, describe
from dpcalc.commands.what_if import what_if
from dpcalc.core import noise_multiplier
from dpcalc.core.checks import refuse
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution
from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, OneRecord, Question, Route, Row, for_one
from dpcalc.core.validate import near

_NOT_OF_RUN = ("format", "bound", "digits", "solve", "run")
_RELEASED = {"every-iterate": "every step's output", "every-epoch": "the last iterate of every pass",
             "last-iterate": "last iterate"}


def answer(given: Given) -> Answer:
    """ε at δ (or δ at ε, or the least noise for a budget) by every theorem that covers the run, with the total
    variation, and with the improvement that one more assumption would give."""
    if given.has("run"):
        given = merged(COMMAND, given)
    _refuse(given)
    question, named = read_question(COMMAND, given), tuple(given["bound"] or ())
    values = {k: v for k, v in given.values.items() if k in given.provided}
    if question.unknown:
        values["solve"] = question.unknown.option[2:]
    run, answers = describe(values), Answers({}, given.recorded)
    if run.batches == ALLOCATION and run.steps % run.in_pass:
        raise DpcalcError("out-of-range", f"{run.steps} steps are no whole number of passes of {run.in_pass} steps, "
                                          "which random allocation needs; give whole --epochs", "--steps")
    found = guarantees(run, question, named, answers)
    if not found.rows:
        raise _no_row(run, found, named)
    head, tv, solution = found.rows[0], dict[str, float](), dict[str, float]()
    if question.unknown:
        head, tv = _settled(values, question, head, answers)
        found = found._replace(rows=(head, *found.rows[1:]))
        solution = {question.unknown.name: head.result[question.unknown.name]}
        run = run._replace(sigma=head.result["sigma"])
    of_record, worst, only = _one_record(run, question, head, answers)
    numbers = {"steps": _number_of_steps(values, run, head),
               "noise_multiplier": values.get("noise_multiplier") or run.multiplier(run.sigma or 0.0), **tv,
               **lower_end(question, found.rows), **worst}
    shown = {k: v for k, v in {**values, **solution, "release": run.release, "adjacency": run.adjacency}.items()
             if k not in _NOT_OF_RUN}
    scheme = _GAINS_FROM_SHUFFLING.get(head.route.bound.name, run.batches)
    promise = NOTHING.and_of(SCHEMES[scheme]) if scheme in SCHEMES else NOTHING
    return Answer("compare", question, shown, found.rows, {**found.guarantee, **of_record}, run.adjacency,
                  _RELEASED[run.release], _notes(values, run, found), numbers, only=only,
                  more=_more(values, question, named, found, answers), promises=promise.sentences,
                  options=given.options_given(without={"format", "digits", "run"}))  # also those of a run file


# The bounds that rest on a random order, with every step released, and the schemes that they are about.
_GAINS_FROM_SHUFFLING = {"shuffle-profile": "shuffle", "shuffle-profile-used": "shuffle",
                         "shuffle-profile-one-order": noise_multiplier.ONE_ORDER}


def _number_of_steps(values: Mapping[str, Any], run: TrainingRun, head: Row) -> int:
    """The number of steps, of which theorems about shuffled batches do not count a last, smaller batch of a pass."""
    has_smaller = run.batches == "shuffled" and bool(head.route.bound.theorem.scheme) and (
        run.n % run.batch_size > 0 and not run.drop_last and values.get("steps") is None)
    return run.steps + has_smaller * (run.steps // run.in_pass)


def _refuse(given: Given) -> None:
    """Raises DpcalcError for a question that compare does not answer, and for unknown bounds."""
    refuse(given, ("alpha", "rdp"), "compare takes --delta, --epsilon, or both with --solve; for Rényi DP ask the "
                                    "command of one bound")
    if given["epsilon"] is None and given["delta"] is None:
        raise DpcalcError("missing", "nothing to compute: give --delta (prints ε), --epsilon (prints δ), or both and "
                                     "--solve noise-multiplier (or sigma)")
    if given["solve"] is not None and (given["epsilon"] is None or given["delta"] is None):
        raise DpcalcError("missing", "needs a budget: --epsilon and --delta", "--solve")
    for name in given["bound"] or ():
        if name not in bound_names():
            others = f"{', '.join(bound_names())}{near(name, bound_names())}"
            message = replacement_message(name) or f"{name!r} is not a bound for a training run; it can be {others}"
            raise DpcalcError("unknown-value", message, "--bound")


def _no_row(run: TrainingRun, found: Found, named: tuple[str, ...]) -> Exception:
    """The error that says why no theorem gives a guarantee for this run."""
    if found.error is not None:
        code, message, option = found.error.code, found.error.message, found.error.option
        return (NoSolution if isinstance(found.error, NoSolution) else DpcalcError)(code, message, option)
    covered = relations_for(run)
    if run.adjacency not in covered and covered:
        return DpcalcError("refused", f"{run.adjacency} has no theorem for {run.batches} batches; use "
                           f"{' or '.join(covered)}", "--adjacency")
    if run.group_size > 1 and not named:
        return DpcalcError("refused", "no theorem covers groups of records for this run; those with --batches poisson, "
                           "full, shuffled, fixed-order and stream are covered", "--group-size")
    return DpcalcError("refused", "; ".join(f"{name}: {reason}" for name, reason in found.reasons.items()), "--bound")


def _settled(values: Mapping[str, Any], question: Question, head: Row,
             answers: Answers) -> tuple[Row, dict[str, float]]:
    """The headline with a solution that meets the budget also when it is given as an option, and the total variation at
    this solution by the bound of the headline.

    The conversion of a noise multiplier to σ, and a new composition, have rounding errors of their own. While these
    exceed the budget, the noise is raised by a tiny relative amount, which doubles each time."""
    assert question.unknown is not None
    name, raised_by = question.unknown.name, 1e-15
    while True:
        run = describe({**values, name: head.result[name]})
        at_delta, named = Question("epsilon", delta=question.delta), (head.route.bound.name,)
        again = guarantees(run, at_delta, named, answers).rows[0].result
        if name == "sigma" or again["epsilon"] <= max(question.epsilon or 0.0, head.result["epsilon"]):
            return head._replace(result={**head.result, "sigma": run.sigma or 0.0}), {"tv": again["tv"]}
        head = head._replace(result={**head.result, name: head.result[name] * (1 + raised_by)})
        raised_by *= 2


def _one_record(run: TrainingRun, question: Question, head: Row,
                answers: Answers) -> tuple[dict[str, Any], dict[str, float], OneRecord | None]:
    """What the answer adds where the headline holds for the record of --index only: the index, for the guarantee; the
    value for every record, by the tightest bound that does not depend on the position, as companion numbers; and both
    in words."""
    if run.record is None or " --index " not in head.context["command"]:
        return {}, {}, None
    of_record, asks = {"index": [run.record]}, question.asks
    last = (run.steps - 1) % run.in_pass + 1  # the batch of the last step
    if run.position == last:
        return of_record, {}, for_one(run.record, run.record)
    every = headline(run._replace(record=None), question._replace(unknown=None, target=None), (), answers)
    if every is None:
        return of_record, {}, for_one(run.record)
    value, worst = every.result[asks], last * run.batch_size
    only = for_one(run.record, worst, f"{symbol(asks)} = {human(value)}")
    return of_record, {"worst_index": worst, f"worst_{asks}": value}, only


def _notes(values: Mapping[str, Any], run: TrainingRun, found: Found) -> tuple[str, ...]:
    """The notes of a comparison, those that a reader needs most first."""
    notes = list[str]()
    if start_note(found.rows[:1]):  # handed on to the next command, as no option states these conditions
        notes.append(f"the bound assumes {found.rows[0].context['assumes']}")
    if other := next((row.context["adjacency"] for row in found.rows if row.context["adjacency"] != run.adjacency), ""):
        notes.append(f"rows for {other} neighbours cannot be compared with the first line")
    norm = "L" if values.get("clipping_norm") is None and not run.clipped else "C"
    size = "the expected batch size b" if run.batches == POISSON else "b"
    of_sigma = ("lengths are in units of the clipping norm, so that --lipschitz is 1" if run.scale_free
                else f"σ is the noise on a batch's sum of gradients divided by {size}; "
                     f"the noise multiplier is bσ/{norm}")
    if values.get("solve") == "sigma" or values.get("sigma"):
        notes.append(of_sigma)
    if run.batches == SHUFFLED and found.rows[0].route.bound.theorem.scheme:
        notes.append(note_on_an_epoch(run.n, run.batch_size, run.drop_last))
    elif run.batches in ORDERED:
        notes.append(note_on_a_pass(run.n, run.batch_size))
    if run.clipped and any("smoothness" in row.route.bound.params for row in found.rows):
        notes.append("clipping keeps a loss smooth: it brings no two gradients further apart")
    return tuple(dict.fromkeys((*notes, of_sigma)))


def _more(values: Mapping[str, Any], question: Question, named: tuple[str, ...], found: Found, answers: Answers) -> Any:
    """The function that computes the further keys of the JSON, which is called only when they are printed."""
    @cache
    def more() -> dict[str, Any]:
        name = question.unknown.name if question.unknown else question.asks
        gains, idle = what_if(values, question, named, found.rows[0].result[name], answers)
        return {
            "what_if": [{"assumption": w.assumption, "options": {k: v for k, v in w.options.items() if v is not None},
                         name: w.value, "bound": w.row.route.bound.name, "command": w.command} for w in gains],
            "no_gain": list(idle),
            "not_applicable": [{"name": name, "reason": reason} for name, reason in found.reasons.items()],
        }

    return more


def theorems() -> Iterator[Route]:
    return (route for i in INTERPRETATIONS for route in calculators()[i.command].theorems()
            if route.bound.name in (*i.bounds, *i.of_groups))
