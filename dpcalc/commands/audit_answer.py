"""The answer of audit: a lower bound on ε, and beside a claim whether the attack refutes it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from dpcalc.accounting.answer import answer_rows
from dpcalc.bounds.audits import counts, curves, gaussian_counts, one_run
from dpcalc.commands.audit import COMMAND
from dpcalc.commands.audit_claim import Claim, claim_of, delta_of
from dpcalc.commands.audit_scores import counts_of_file
from dpcalc.core import audits
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Mode, Test, check, refuse
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer, Question, Route
from dpcalc.core.run import Run

_OF_COUNTS = ("true_positives", "false_positives", "scores", "score_threshold", "roc")
_REPEATED = ("true_positives", "false_positives", "score_threshold")  # of a file of scores
_OF_ONE_RUN = ("canaries", "guesses", "right")
_ALWAYS = ("confidence", "tests", "delta", "epsilon")
_POINTS = 40  # of each curve in a picture, on either kind of axis
_NEIGHBOURS = "those that the attack told apart"
_NO_ORDER = "not used in an audit: the probability of an error is 1 − --confidence; drop it"
_MEANING = ("confidence {percent}: whatever the program is, at most {rest} of all such audits give a number above its "
            "true ε; it is no probability about ε after the counts are known")
_ABOUT = ("it is about the program that was run and the data sets or canaries of the attack; an attack that shows "
          "little proves nothing about privacy")


class _Kind(NamedTuple):
    """A kind of audit: which options it takes, its bounds, the counts of an attack that is always right, from those of
    the question, and what must hold."""

    tests: tuple[Test, ...]
    uses: tuple[str, ...]
    routes: tuple[Route, ...]
    best: Callable[[Params], Mapping[str, int]]
    trials: str  # what limits what can be shown, for messages
    holds_if: str


COUNTS = _Kind(
    (Mode((*_OF_COUNTS, *_ALWAYS), ("true_positives", "false_positives"), "in an audit by counts of independent runs",
          hints={"false_positives": ": an attack that always says yes has a true-positive rate of 1"}),
     Check(("delta", "true_positives"), lambda delta, share: curves.rate(share) and delta >= curves.rate(share),
           "{delta:g} is not below the observed true-positive rate {true_positives}, and so no such count shows "
           "anything; give a δ well below 1/n")),
    (*_OF_COUNTS, *_ALWAYS), (Route(counts.BOUND), Route(gaussian_counts.BOUND)),
    lambda own: {"true_positives": own["members"], "false_positives": 0}, "runs",
    f"{counts.INDEPENDENT}; canaries of one training are not independent (--canaries)")
ONE_RUN = _Kind(
    (Mode((*_OF_ONE_RUN, *_ALWAYS), _OF_ONE_RUN, "in an audit by the canaries of one run"),
     Check(("guesses", "canaries"), lambda guesses, canaries: guesses > canaries,
           "{guesses} is more than the {canaries} canaries; all canaries count, and guesses are about some of them"),
     Check(("right", "guesses"), lambda right, guesses: right > guesses,
           "{right} is more than the {guesses} guesses")),
    (*_OF_ONE_RUN, *_ALWAYS), (Route(one_run.BOUND),), lambda own: {"right": own["guesses"]}, "guesses",
    "each canary was put in by a fair coin of its own, and the number of guesses was fixed before the output was seen")


def answer(given: Given) -> Answer:
    refuse(given, ("alpha", "rdp", "solve"), _NO_ORDER)
    kind = _kind_of(given)
    delta = delta_of(given)
    claim = claim_of(given, delta)
    counted, of_scores = _counted(given, delta)
    run = Run(COMMAND, counted.having(delta=delta), Question(audits.ASKS, delta=delta), _params, frozenset(kind.uses))
    check(run, *kind.tests)
    rows = answer_rows(run, kind.routes, run.bounds)
    rates = _rates(run) if kind is COUNTS else {}
    shown, most = (kind.routes[0].bound.value(**{**run.params, **counted})[audits.ASKS]
                   for counted in ({}, kind.best(run.params)))
    verdict = _verdict(run, kind, shown, most, claim)
    numbers = {"delta": delta, "confidence": run["confidence"], **of_scores, **rates, **verdict.numbers,
               "largest_epsilon_lower": most}
    promised = claim.answer if claim else None
    repeats = {"scores": None, "delta": delta, **{name: run[name] for name in _REPEATED if kind is COUNTS}}
    found = run.answer(
        rows, {"kind": "audit"}, promised.adjacency if promised and promised.adjacency in RELATIONS else _NEIGHBOURS,
        "what the attack was given", (*verdict.lines, *_notes(run, kind, most, promised)), numbers,
        warnings=promised.warnings if promised else (), promises=promised.promises if promised else (),
        refuted=verdict.refuted, options=repeats)
    if kind is not COUNTS:
        return found
    curves_at = partial(curves.table, run.params, claimed=claim.largest_rates if claim else None)
    return found._replace(roc=curves_at(curves.even_rates(int(run["roc"]))) if run["roc"] else None,
                          curves=lambda: curves_at(_rates_of_picture(rates["fpr_high"])))


def _rates_of_picture(corner: float) -> list[float]:
    """The false-positive rates at which curves are drawn: dense on a logarithmic and on a linear axis, and the corner
    of the curve that the counts show."""
    linear = (k / _POINTS for k in range(1, _POINTS))
    return sorted({*curves.even_rates(_POINTS), *linear, *((corner,) if corner < 1 else ())})


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


def _counted(given: Given, delta: float) -> tuple[Given, dict[str, float]]:
    """The call with the counts of a file of scores as options, and the threshold that gives them."""
    if not given.has("scores"):
        known = given["score_threshold"]
        return given, {} if known is None else {"score_threshold": known}
    refuse(given, _OF_COUNTS[:2], "--scores gives these counts; drop one of them", "contradictory")
    found = counts_of_file(given["scores"], given["score_threshold"], delta)
    known = {"true_positives": found.true_positives, "false_positives": found.false_positives,
             "score_threshold": found.threshold}
    values = {name: x for name, x in given.values.items() if name != "scores"}
    return given.replace({**values, **known}, (given.provided | known.keys()) - {"scores"}), {
        "score_threshold": found.threshold}


def _params(run: Run) -> Params:
    """The parameters of the bounds: the counts, δ, and how sure the bound is."""
    common = {"delta": run["delta"], "confidence": run["confidence"], "tests": int(run["tests"])}
    if run["canaries"]:
        return {**{name: int(run[name]) for name in _OF_ONE_RUN}, **common}
    hits, members = audits.hits_and_trials(run["true_positives"])
    alarms, others = audits.hits_and_trials(run["false_positives"])
    return {"true_positives": hits, "members": members, "false_positives": alarms, "non_members": others, **common}


# --- what the counts show, beside the claim --------------------------------------------------------------------------


def _limits(params: Params) -> counts.Limits:
    return counts.limits(**{name: x for name, x in params.items() if name != "delta"})


def _rates(run: Run) -> dict[str, float]:
    """The limits of the rates, and the bound on the μ of Gaussian differential privacy."""
    own = {name: x for name, x in run.params.items() if name != "delta"}
    found = counts.limits(**own)
    return {"tpr_low": found.tpr, "fpr_high": found.fpr, "mu_lower": gaussian_counts.mu_lower(**own)}


class _Verdict(NamedTuple):
    """Whether the attack refutes the claim (None where there is none), in words, and the numbers of the claim."""

    refuted: bool | None
    lines: tuple[str, ...]
    numbers: dict[str, float]


def _verdict(run: Run, kind: _Kind, shown: float, most: float, claim: Claim | None) -> _Verdict:
    """The verdict by ε at δ, and for counts also by the trade-off curve of what is promised: a true-positive rate that
    no attack has at this false-positive rate refutes it."""
    below = (_line_of_rates(run),) if kind is COUNTS else ()
    if claim is None:
        return _Verdict(None, below, {})
    numbers = {} if claim.epsilon is None else {"claimed_epsilon": claim.epsilon}
    by_epsilon, can_refute = (claim.epsilon is not None and x > claim.epsilon for x in (shown, most))
    by_rates = False
    if kind is COUNTS:
        here, best = (_limits({**run.params, **more}) for more in ({}, kind.best(run.params)))
        largest, largest_of_best = claim.largest_rates((here.fpr, best.fpr))
        by_rates, can_refute = here.tpr > largest, can_refute or best.tpr > largest_of_best
        numbers["claimed_tpr"] = largest
        below = (*below, f"{audits.BEST} that the claim allows has a TPR of {human(largest)} at an FPR of "
                 f"{human(here.fpr)}")
    at_most = f"so many {kind.trials} can show at most ε ≥ {human(most, upward=False)}"
    if by_epsilon:
        text = f"{audits.REFUTED} the claim is {claim.in_words}, and the attack shows more"
    elif by_rates:
        text = f"{audits.REFUTED} the attack has a larger TPR than any on a program with the claim, {claim.in_words}"
    elif can_refute:
        text = f"{audits.CONSISTENT} the claim, {claim.in_words}; {at_most}"
    else:
        text = f"{audits.CONSISTENT} the claim, {claim.in_words}, as is every result of so few {kind.trials}: {at_most}"
    return _Verdict(by_epsilon or by_rates, (text, *below), numbers)


def _line_of_rates(run: Run) -> str:
    own, found = run.params, _limits(run.params)
    at = "" if run["score_threshold"] is None else f" with scores of {run['score_threshold']:.6g} or more"
    return (f"{audits.RATES} the attack has a TPR of at least {human(found.tpr, upward=False)} and an FPR of at most "
            f"{human(found.fpr)}; seen were {own['true_positives']} of {own['members']} and {own['false_positives']} "
            f"of {own['non_members']}{at}")


def _notes(run: Run, kind: _Kind, most: float, promised: Answer | None) -> tuple[str, ...]:
    own, tests, percent = run.params, int(run["tests"]), 100 * run["confidence"]
    several = f"its probability of an error is shared among {tests} tests" if tests > 1 else (
        "attack, threshold, δ and numbers were fixed beforehand; give the best of several with --tests")
    is_swapped = kind is COUNTS and own["true_positives"] * own["non_members"] < own["false_positives"] * own["members"]
    swapped = ("the attack says yes less often where it should; if it was fixed beforehand that its no means the "
               "record, count its noes",) if is_swapped else ()
    can_show = () if promised else (f"so many {kind.trials} can show at most ε ≥ {human(most, upward=False)}",)
    meaning = _MEANING.format(percent=f"{percent:.6g} %", rest=f"{100 - percent:.6g} %")
    played = () if promised is None or promised.adjacency not in RELATIONS else (
        f"the claim is for neighbours: {promised.neighbours}; the attack must tell apart data sets that differ so",)
    return (*swapped, *played, f"it holds if {kind.holds_if}", several, meaning, _ABOUT, *can_show)


def theorems() -> Iterator[Route]:
    yield from (*COUNTS.routes, *ONE_RUN.routes)
