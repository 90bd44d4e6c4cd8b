"""Every guarantee that applies to a training run, from the answers of the other commands, and the reasons why other
bounds do not apply."""

from collections.abc import Mapping
from functools import partial
from math import inf
from typing import Any, NamedTuple

from dpcalc.accounting.evaluate import evaluate
from dpcalc.bounds import all_bounds
from dpcalc.bounds.conversions import pure
from dpcalc.commands import calculator
from dpcalc.commands.asking import key_of_rows
from dpcalc.commands.interpretations import INTERPRETATIONS, Interpretation
from dpcalc.commands.training_run import EVERY, TrainingRun
from dpcalc.core import noise_multiplier
from dpcalc.core.command import Recorded
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT
from dpcalc.core.results import Answer, Question, Row, guarantee_of
from dpcalc.core.text import options_text
from dpcalc.core.validate import validate
from dpcalc.numerics.root import Unreachable

_LOSES_NO_MORE = {REPLACE_ONE: ZERO_OUT}  # a record is at most as far from zeros as from another record


class Answers(NamedTuple):
    """The cache of the answers of other commands in a comparison."""

    by_line: dict[str, DpcalcError | Answer]  # command line → answer
    recorded: Recorded | None  # where a record is verified: the function that returns its rows


class Found(NamedTuple):
    """The result of a comparison."""

    rows: tuple[Row, ...]  # sharpest first, those for the run's own neighbours before others
    guarantee: dict[str, Any]  # of the first row, for a next command
    reasons: dict[str, str]  # bound → why it does not apply
    error: DpcalcError | None  # the first one of a bound that should apply


def guarantees(run: TrainingRun, question: Question, named: tuple[str, ...], answers: Answers,
               whole: bool = True, known: TrainingRun | None = None) -> Found:
    """The guarantees by every interpretation of the run; if `whole`, with total variations and bounds from below.
    `named` are the bounds that --bound names; `answers` caches the answers of other commands. Theorems that lose no
    less than the run `known` does by them are left out."""
    rows: list[tuple[Row, Answer]] = []
    failed: list[tuple[float, str, str]] = []  # (conditions met, bound, reason)
    error: DpcalcError | None = None
    for interpretation in INTERPRETATIONS:
        bounds, why = _bounds(interpretation, run, named, question, whole)
        if bounds and question.unknown and interpretation.adjacency != run.adjacency:
            why, bounds = dict.fromkeys(bounds, _for_other_neighbours(interpretation.adjacency)), ()
        failed += [(interpretation.conditions_met(run), name, reason) for name, reason in why.items()]
        if not bounds or (known and _loses_no_less(interpretation, run, known)):
            continue
        answer = _ask(interpretation, run, bounds, _question(question, run, interpretation), answers)
        if isinstance(answer, EveryValueMeets) and interpretation.adjacency == run.adjacency:
            raise answer
        if isinstance(answer, DpcalcError):
            failed += [(inf, name, answer.message) for name in bounds]
            error = error or (answer if interpretation.adjacency == run.adjacency else None)
            continue
        tv = _tv(interpretation, run, bounds, answer, answers) if whole and not question.unknown else {}
        rows += [(_described(row, interpretation, run, question, tv), answer) for row in _best(answer, bounds)
                 if row.route.bound.status == "proven" or _may_attain(run)]
    key = key_of_rows(question)

    def rank(found: tuple[Row, Answer]) -> tuple[bool, bool, float]:
        """Of bounds from below the largest number comes first."""
        row, status = found[0], found[0].route.bound.status
        sign = -1 if status == "lower" else 1
        return row.context["adjacency"] != run.adjacency, status != "proven", sign * row.result[key]

    ranked = sorted(rows, key=rank)
    shown = {row.route.bound.name for row, _ in ranked}
    reasons = {name: reason for _, name, reason in sorted(failed, key=lambda x: x[0]) if name not in shown}
    if ranked and ranked[0][0].context["adjacency"] == run.adjacency:
        return Found(tuple(row for row, _ in ranked), _guarantee(*ranked[0], question), reasons, error)
    reasons |= {row.route.bound.name: _for_other_neighbours(row.context["adjacency"]) for row, _ in ranked}
    return Found((), {}, reasons, error)


def headline(run: TrainingRun, question: Question, named: tuple[str, ...], answers: Answers,
             known: TrainingRun | None = None) -> Row | None:
    """The tightest row for the run's own adjacency, or None; without theorems that lose no less than for `known`."""
    found = guarantees(run, question, named, answers, whole=False, known=known).rows
    return found[0] if found else None


def _loses_no_less(interpretation: Interpretation, run: TrainingRun, known: TrainingRun) -> bool:
    """Whether the run `known` has a number by the same theorem with the same options, but for neighbours by which no
    theorem loses more."""
    def options(x: Interpretation, of: TrainingRun) -> dict[str, Any]:
        return {name: value for name, value in x.parameters(of).items() if name != "adjacency"}

    return known.adjacency == _LOSES_NO_MORE.get(run.adjacency) and any(
        x.adjacency == known.adjacency and x.bounds[0] == interpretation.bounds[0] and x.unmet(known) is None
        and options(x, known) == options(interpretation, run) for x in INTERPRETATIONS)


def _for_other_neighbours(adjacency: str) -> str:
    return f"needs --adjacency {adjacency}"


# --- the questions to other commands ---------------------------------------------------------------------------------


def _bounds(interpretation: Interpretation, run: TrainingRun, named: tuple[str, ...], question: Question,
            whole: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """The bounds of an interpretation that apply, and bound → reason where they do not."""
    wanted = tuple(name for name in interpretation.bounds_for(run) if not named or name in named)
    if reason := interpretation.unmet(run):
        return (), dict.fromkeys(wanted, reason)
    below = [name for name in wanted if (question.unknown or not whole) and all_bounds()[name].status == "lower"]
    return (tuple(name for name in wanted if name not in below),
            dict.fromkeys(below, "a bound from below, by which no parameter is solved for"))


def _question(question: Question, run: TrainingRun, interpretation: Interpretation) -> dict[str, Any]:
    """The options with which another command asks this question."""
    if question.unknown:
        unknown = "noise-multiplier" if interpretation.by_multiplier else "sigma"
        return {"epsilon": question.epsilon, "delta": question.delta, "solve": unknown}
    return {**_noise(run, interpretation),
            **({"delta": question.delta} if question.asks == "epsilon" else {"epsilon": question.epsilon})}


def _noise(run: TrainingRun, interpretation: Interpretation) -> dict[str, Any]:
    return {noise_multiplier.NAME: run.own_multiplier} if interpretation.by_multiplier else {"sigma": run.sigma}


def _ask(interpretation: Interpretation, run: TrainingRun, bounds: tuple[str, ...], question: Mapping[str, Any],
         answers: Answers) -> Answer | DpcalcError:
    """The answer of the command, or the error that says why it has none."""
    conversion = ("rdp-optimal",) if any(name.endswith("-rdp") for name in bounds) else ()
    options = {**interpretation.parameters(run), **question, "bound": (*bounds, *conversion)}
    line = command_line(interpretation.command, options)
    if line not in answers.by_line:
        # The rows of a record that belong to this interpretation are those whose command begins like this.
        beginning = command_line(interpretation.command, interpretation.parameters(run)) + " "
        given = validate(calculator(interpretation.command), options)
        given.recorded = answers.recorded and partial(answers.recorded, beginning=beginning)
        try:
            answers.by_line[line] = calculator(interpretation.command).answer(given)
        except (OutOfScope, NoSolution) as reason:
            answers.by_line[line] = reason
        except (OverflowError, ZeroDivisionError, Unreachable):
            answers.by_line[line] = NoSolution("no-solution", "leads outside the range of double precision")
    return answers.by_line[line]


def command_line(command: str, options: Mapping[str, Any]) -> str:
    """The call of a command as text."""
    return f"dpcalc {command} {options_text(options)}"


def _best(answer: Answer, bounds: tuple[str, ...]) -> list[Row]:
    """The tightest row of each of the bounds, if it is proven or a bound from below."""
    first: dict[str, Row] = {}
    for row in answer.rows:
        if row.route.bound.status in ("proven", "lower") and row.route.bound.name in bounds:
            first.setdefault(row.route.bound.name, row)
    return list(first.values())


def _tv(interpretation: Interpretation, run: TrainingRun, bounds: tuple[str, ...], found: Answer,
        answers: Answers) -> dict[str, float]:
    """Bound → total variation, which is δ at ε = 0, for the bounds that give it. Where the answer rests on the law of a
    whole epoch, which may take seconds, it is that of the same law."""
    rows = _best(found, bounds)
    if any("tail" in row.route.bound.params for row in (found.headline, *found.rows)):
        return {row.route.bound.name: evaluate(row.route, row.params, Question("tv")).result["tv"] for row in rows}
    answer = _ask(interpretation, run, bounds, {**_noise(run, interpretation), "epsilon": 0.0}, answers)
    if not isinstance(answer, Answer):
        return {}
    return {row.route.bound.name: row.result["delta"] for row in _best(answer, bounds)}


def _described(row: Row, interpretation: Interpretation, run: TrainingRun, question: Question,
               tv: Mapping[str, float]) -> Row:
    """The row with its total variation, its adjacency, its assumptions, and the command that computes it alone."""
    name = row.route.bound.name
    via = (row.route.conversion.name,) if row.route.conversion else ()
    options = {**interpretation.parameters(run), **_question(question, run, interpretation), "bound": (name, *via)}
    if question.unknown and interpretation.by_multiplier:
        row = row._replace(result={**row.result, "sigma": run.sigma_of(row.result[noise_multiplier.NAME])})
    is_found = interpretation.by_multiplier and run.norm == run.lipschitz
    if question.unknown and question.unknown.name == noise_multiplier.NAME and not is_found:
        row = row._replace(result={**row.result, noise_multiplier.NAME: run.multiplier(row.result["sigma"])})
    if not question.unknown:
        of_point = pure.tv(row.result["epsilon"], row.result["delta"])["tv"]
        row = row._replace(result={**row.result, "tv": tv.get(name, of_point)})
    if not _may_attain(run):
        row = row._replace(result={key: x for key, x in row.result.items() if not key.endswith("_lower")})
    context = {"adjacency": interpretation.adjacency, "assumes": interpretation.assumes(run),
               "command": command_line(interpretation.command, options)}
    return row._replace(context=context, notes=tuple(f"{name}: {note}" for note in row.notes))


def _may_attain(run: TrainingRun) -> bool:
    """Whether a lower end holds for the run: it is for all outputs of any losses, with nothing projected."""
    return run.release == EVERY and run.diameter is None and not run.strong_convexity


def _guarantee(row: Row, answer: Answer, question: Question) -> dict[str, Any]:
    """The guarantee of the command's answer, where the row is its headline; else the (ε, δ) of the row."""
    first, of_command = answer.rows[0], answer.guarantee
    if first.route == row.route and of_command["kind"] == "mechanisms":
        # Without a lower end of its own, the run may lose less than the mechanisms that bound it.
        is_upper = not any(name.endswith("_lower") for name in row.result)
        return {**of_command, **({"upper_bound": True} if is_upper else {})}
    if first.route == row.route and of_command["kind"] != "dp":
        return of_command
    epsilon = question.epsilon if question.asks == "delta" else row.result["epsilon"]
    return guarantee_of(epsilon, row.result["delta"])


def bound_names() -> tuple[str, ...]:
    """The bounds that --bound can name."""
    return tuple(sorted({name for interpretation in INTERPRETATIONS
                         for name in (*interpretation.bounds, *interpretation.of_groups)}))
