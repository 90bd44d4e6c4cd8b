"""The answer of audit: a lower bound on ε, and beside a claim whether the attack refutes it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from dpcalc.accounting.answer import answer_rows
from dpcalc.bounds.audits import counts, curves, gaussian_counts, one_run
from dpcalc.commands import audit_verdict
from dpcalc.commands.audit import COMMAND
from dpcalc.commands.audit_claim import claim_of, delta_of
from dpcalc.commands.audit_scores import counts_of_file
from dpcalc.core import audits
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Mode, check, refuse
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer, Question, Route
from dpcalc.core.run import Run

_OF_COUNTS = ("true_positives", "false_positives", "scores", "score_threshold", "roc")
_REPEATED = ("true_positives", "false_positives", "score_threshold")  # of a file of scores
_OF_ONE_RUN = ("canaries", "guesses", "right")
_ALWAYS = ("confidence", "tests", "delta", "epsilon", "adjacency")
_POINTS = 40  # of each curve in a picture, on either kind of axis
_UNSURE = 0.5  # a confidence below it is probably meant as the probability of an error


class _Kind(NamedTuple):
    """A kind of audit: which options it takes, its bounds, and the counts of an attack that is always right, from those
    of the question."""

    trials: audit_verdict.Trials
    mode: Mode
    checks: tuple[Check, ...]
    routes: tuple[Route, ...]
    best: Callable[[Params], Mapping[str, int]]


COUNTS = _Kind(
    audit_verdict.Trials("counts", "runs"),
    Mode((*_OF_COUNTS, *_ALWAYS), ("true_positives", "false_positives"), "in an audit by counts of independent runs",
         hints={"true_positives": ", or --scores FILE",
                "false_positives": ": an attack that always says yes has a true-positive rate of 1"}),
    (Check(("delta", "true_positives"), lambda delta, share: curves.rate(share) and delta >= curves.rate(share),
           "{delta:g} is not below the observed true-positive rate {true_positives}, and so no such count shows "
           "anything; give a δ well below 1/n"),),
    (Route(counts.BOUND), Route(gaussian_counts.BOUND)),
    lambda own: {"true_positives": own["members"], "false_positives": 0})
ONE_RUN = _Kind(
    audit_verdict.Trials("one run", "guesses"),
    Mode((*_OF_ONE_RUN, *_ALWAYS), _OF_ONE_RUN, "in an audit by the canaries of one run"),
    (Check(("guesses", "canaries"), lambda guesses, canaries: guesses > canaries,
           "{guesses} is more than the {canaries} canaries; all canaries count, and guesses are about some of them"),
     Check(("right", "guesses"), lambda right, guesses: right > guesses,
           "{right} is more than the {guesses} guesses")),
    (Route(one_run.BOUND),), lambda own: {"right": own["guesses"]})


def answer(given: Given) -> Answer:
    kind = _kind_of(given)
    delta = delta_of(given)
    claim = claim_of(given, delta)
    counted, of_scores, warnings = _counted(given, delta)
    run = Run(COMMAND, counted.having(delta=delta), Question(audits.ASKS, delta=delta), _params,
              frozenset(kind.mode.uses))
    check(run, kind.mode, *kind.checks)
    rows = answer_rows(run, kind.routes, run.bounds)
    here, best = (_limits({**run.params, **more}) for more in ({}, kind.best(run.params)))
    shown, most = (kind.routes[0].bound.value(**{**run.params, **more})[audits.ASKS]
                   for more in ({}, kind.best(run.params)))
    verdict = audit_verdict.verdict_of(shown, most, claim, here, best)
    promised = claim.about if claim else None
    adjacency = promised.adjacency if promised and promised.adjacency in RELATIONS else audits.NEIGHBOURS
    trials = kind.trials._replace(is_by_model=rows[0].status == "model")
    notes = (*audit_verdict.lines(verdict, trials, run, here),
             *audit_verdict.notes(verdict, trials, run, any(row.status == "model" for row in rows)))
    found = run.answer(
        rows, {"kind": "audit"}, adjacency, audits.RELEASED, notes, _numbers(run, here) | of_scores | verdict.numbers,
        warnings=(*warnings, *_unsure(run), *(promised.warnings if promised else ())),
        promises=promised.promises if promised else (), refuted=verdict.refuted,
        options={"scores": None, "delta": delta, **{name: run[name] for name in _REPEATED if kind is COUNTS}})
    if here is None:
        return found
    curves_at = partial(curves.table, run.params, claimed=claim.largest_rates if claim else None)
    return found._replace(roc=curves_at(curves.even_rates(int(run["roc"]))) if run["roc"] else None,
                          curves=lambda: curves_at(_rates_of_picture(here.fpr)))


def _numbers(run: Run, here: counts.Limits | None) -> dict[str, float]:
    """The numbers beside ε: δ and the confidence, and of counts the limits of the rates, and the bound on the μ of
    Gaussian differential privacy."""
    numbers = {"delta": run["delta"], "confidence": run["confidence"]}
    if here is None:
        return numbers
    return {**numbers, "tpr_low": here.tpr, "fpr_high": here.fpr,
            "mu_lower": gaussian_counts.mu_lower(**counts.without_delta(run.params))}


def _unsure(run: Run) -> tuple[str, ...]:
    if run["confidence"] >= _UNSURE:
        return ()
    return (f"the confidence {run['confidence']:g} is below 1/2; --confidence is 1 less the probability of an error",)


def _rates_of_picture(corner: float) -> list[float]:
    """The false-positive rates at which curves are drawn: dense on a logarithmic and on a linear axis, and near the
    corner of the curve that the counts show."""
    linear = (k / _POINTS for k in range(1, _POINTS))
    bend = (corner * 0.8**k for k in range(10)) if corner < 1 else ()
    return sorted({*curves.even_rates(_POINTS), *linear, *bend})


# --- the question ----------------------------------------------------------------------------------------------------


def _kind_of(given: Given) -> _Kind:
    """The kind of audit that the options describe. Raises DpcalcError for none, and for both."""
    of_one_run, of_counts = (next((name for name in names if given.has(name)), None)
                             for names in (_OF_ONE_RUN, _OF_COUNTS))
    if of_one_run and of_counts:
        raise DpcalcError("contradictory", "canaries are of one run, and hits and false alarms of independent runs; "
                          "give --canaries, --guesses and --right, or --true-positives and --false-positives",
                          f"--{of_one_run}")
    if not of_one_run and not of_counts:
        raise DpcalcError("missing", "needed: the counts of an attack, as --true-positives 500/1000 --false-positives "
                          "10/1000, or --scores FILE, or of one run --canaries 1000 --guesses 200 --right 180",
                          "--true-positives")
    return ONE_RUN if of_one_run else COUNTS


def _counted(given: Given, delta: float) -> tuple[Given, dict[str, float], tuple[str, ...]]:
    """The call with the counts of a file of scores as options, the threshold that gives them, and warnings."""
    if not given.has("scores"):
        known = given["score_threshold"]
        return given, {} if known is None else {"score_threshold": known}, ()
    refuse(given, _OF_COUNTS[:2], "--scores gives these counts; drop one of them", "contradictory")
    found = counts_of_file(given["scores"], given["score_threshold"], delta)
    options = {"true_positives": found.true_positives, "false_positives": found.false_positives,
               "score_threshold": found.threshold}
    values = {name: x for name, x in given.values.items() if name != "scores"}
    counted = given.replace({**values, **options}, (given.provided | options.keys()) - {"scores"})
    return counted, {"score_threshold": found.threshold}, found.warnings


def _params(run: Run) -> Params:
    """The parameters of the bounds: the counts, δ, and how sure the bound is."""
    common = {"delta": run["delta"], "confidence": run["confidence"], "tests": int(run["tests"])}
    if run["canaries"]:
        return {**{name: int(run[name]) for name in _OF_ONE_RUN}, **common}
    hits, members = audits.hits_and_trials(run["true_positives"])
    alarms, others = audits.hits_and_trials(run["false_positives"])
    return {"true_positives": hits, "members": members, "false_positives": alarms, "non_members": others, **common}


def _limits(params: Params) -> counts.Limits | None:
    """The limits of the rates; None for one run, which has no rates."""
    if "canaries" in params:
        return None
    return counts.limits(**counts.without_delta(params))


def theorems() -> Iterator[Route]:
    yield from (*COUNTS.routes, *ONE_RUN.routes)
