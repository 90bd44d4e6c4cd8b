"""dpcalc noise-feedback: the last iterate of noisy gradient descent on an affine gradient, with and without
feedback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.core.one_record import OneRecord
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_RUN = ("curvature", "learning_rate", "steps", "lipschitz")
_NOTES = (
    "σ is the noise added to the iterate itself, not to the gradient",
    "feedback takes back each noise at the next step: the variance tends to 2σ²/(2 − ηa), for the curvature a",
)


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the last iterate with feedback, both variances, and what the same run without feedback would
    lose."""
    from dpcalc.accounting.answer import rows
    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.commands.asking import asked
    from dpcalc.commands.last_iterate import start_note
    from dpcalc.core.results import Answer

    question = asked(COMMAND, given)
    unknown = question.unknown.name if question.unknown else None
    used = {*_RUN, "sigma", "index"}
    refuse_unneeded(given, used, "by this question")
    check_unknown(question, used, "of noise feedback")
    require(given, (*_RUN, "sigma"), "by noise feedback", unknown)
    found = rows(theorems(), given, _derive, question, given["bound"] or ())
    values = {**given.values, **({unknown: found[0].result[unknown]} if unknown else {})}
    params = _derive(values)
    shown = {k: v for k, v in given.values.items() if k in used | {"epsilon", "delta", "alpha", "rdp"}}
    mu = (without_feedback if found[0].route.bound is without_feedback.BOUND else with_feedback).mu(**params)
    of, worst, only = _one_record(given["index"], params, question, found[0])
    extra = {**_companions(params), "mu": mu, **_compared(params, question), **worst}
    return Answer("noise-feedback", question, shown, found, {"kind": "gdp", "mu": mu, **of}, "replace-one",
                  "last iterate",
                  (*_NOTES, *start_note(found), *(() if only else (_WORST,)), _comparison(params)), extra, only=only)


def theorems() -> tuple[Route, ...]:
    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.core.results import Route

    return (Route(with_feedback.BOUND), Route(without_feedback.BOUND, on_request=True))


def _derive(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the bounds read. Without --index the record is the worst one, used at the last step."""
    from dpcalc.core.errors import DpcalcError

    steps, index = int(values["steps"]), values.get("index")
    if index is not None and index > steps:
        raise DpcalcError("out-of-range", f"{index} > T = {steps}: the record is used at one of the steps", "--index")
    return {**{k: values[k] for k in ("curvature", "learning_rate", "sigma", "lipschitz")}, "iterations": steps,
            "index": index or steps}


def _companions(params: Mapping[str, Any]) -> dict[str, float]:
    from math import inf, sqrt

    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.numerics.rounding import up

    law = {k: params[k] for k in ("curvature", "learning_rate", "sigma", "iterations")}
    fed, plain = (bound.variance(**{**law, "sigma": 1.0}) for bound in (with_feedback, without_feedback))
    square = law["sigma"] * law["sigma"]
    beyond = not 0 < square * min(fed, plain) <= square * max(fed, plain) < inf  # the doubles
    variances = {} if beyond else {"variance": square * fed, "variance_without_feedback": square * plain}
    return {**variances, "sigma_factor": up(sqrt(plain / fed), 1e-14)}


def _compared(params: Mapping[str, Any], question: Question) -> dict[str, float]:
    """The asked quantity for the same run without feedback, and, with feedback, for the worst record."""
    from dpcalc.accounting.evaluate import evaluate
    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.core.question import Question as Plain
    from dpcalc.core.results import Route

    asks = Plain(question.asks, question.epsilon, question.delta, question.alpha)
    plain = evaluate(Route(without_feedback.BOUND), params, asks)
    worst = evaluate(Route(with_feedback.BOUND), {**params, "index": params["iterations"]}, asks)
    return {f"{asks.asks}_without_feedback": plain.result[asks.asks], f"{asks.asks}_worst": worst.result[asks.asks]}


_WORST = "the record is the worst one, used at the last step; --index chooses another"


def _one_record(index: int | None, params: Mapping[str, Any], question: Question,
                head: Row) -> tuple[dict[str, Any], dict[str, float], OneRecord | None]:
    """For the guarantee, the companions and the headline, where a record is chosen by its step."""
    from dpcalc.commands.last_iterate import value_of_worst

    if index is None:
        return {}, {}, None
    last = params["iterations"]
    return {"index": [index]}, *value_of_worst(head, {**params, "index": last}, question, index, last)


def _comparison(params: Mapping[str, Any]) -> str:
    from dpcalc.core.numbers import human

    factor = _companions(params)["sigma_factor"]
    return f"for the privacy of the run without feedback, feedback needs {human(factor)} times the noise"


COMMAND = Command(
    "noise-feedback",
    "Noisy gradient descent on an affine gradient aθ + β: what taking the noise back costs. "
    "The first iterate must not depend on the data",
    (
        Option(q.CURVATURE, RUN),
        Option(q.LEARNING_RATE._replace(safer=0), RUN),
        Option(q.STEPS._replace(safer=0, help="number of iterations"), RUN),
        Option(q.LIPSCHITZ, RUN),
        Option(q.INDEX._replace(help="step at which the record is used, 1 to T; the last one if not given"), RUN),
        Option(q.SIGMA._replace(help="standard deviation of the Gaussian noise on the iterate, not on the gradient"),
               MECHANISM),
    ),
    answer,
    (
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
         "ε = 0.337247"),
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --steps 6 --lipschitz 1 --epsilon 1 --delta 1e-5 --solve "
         "sigma",
         "σ = 0.739241"),
    ),
    theorems=theorems,
)
