"""dpcalc noise-feedback: the last iterate of noisy gradient descent on an affine gradient, with and without
feedback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Companions, Searches
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_RUN = ("curvature", "learning_rate", "steps", "lipschitz")
_NOISE = "σ is the noise on the iterate, not on the gradient"
_WORST = "the record is the worst one, which is used at the last step"


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the last iterate with feedback, both variances, and what the same run without feedback would
    lose."""
    from dpcalc.commands.last_iterate import Setting, answer

    return answer(COMMAND, Setting(_check, _searches, _bound_params, _companions), given)


def _check(given: Given, question: Question) -> tuple[Given, Question, set[str]]:
    from dpcalc.commands.asking import check_options

    used = {*_RUN, "sigma", "index"}
    check_options(given, question, used, (*_RUN, "sigma"), "for this question", "for this question",
                  "by noise-feedback")
    return given, question, used


def _searches(given: Given, question: Question) -> tuple[Searches, tuple[str, ...]]:
    return ((question, theorems()),), given["bound"] or ()


def theorems() -> tuple[Route, ...]:
    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.core.results import Route

    return (Route(with_feedback.BOUND), Route(without_feedback.BOUND, on_request=True))


def _bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the bounds. Without --index the record is the worst one, used at the last step."""
    from dpcalc.core.errors import DpcalcError

    steps, index = int(values["steps"]), values.get("index")
    if index is not None and index > steps:
        raise DpcalcError("out-of-range", f"{index} is above T = {steps}, the number of steps", "--index")
    return {**{k: values[k] for k in ("curvature", "learning_rate", "sigma", "lipschitz")}, "iterations": steps,
            "index": index or steps}


def _companions(values: Mapping[str, Any], params: dict[str, Any], question: Question,
                rows: tuple[Row, ...]) -> Companions:
    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.commands.last_iterate import Companions
    from dpcalc.commands.last_iterate_companions import start_note, worst_companions
    from dpcalc.core.numbers import human

    index, last, head = values.get("index"), params["iterations"], rows[0]
    mu = (without_feedback if head.route.bound is without_feedback.BOUND else with_feedback).mu(**params)
    numbers = _variances(params)
    factor = human(numbers["sigma_factor"])
    numbers |= {"mu": mu, **_other_runs(params, question)}
    only, of_record = None, {}
    if index is not None:
        of_record = {"index": [index]}
        worst, only = worst_companions(head, {**params, "index": last}, question, index, last)
        numbers |= worst
    notes = (f"{_NOISE}; {_WORST}" if index is None else _NOISE, *start_note(rows),
             f"for the same privacy, feedback needs {factor} times the noise of the run without feedback")
    return Companions({"kind": "gdp", "mu": mu, **of_record}, notes, numbers, only)


def _variances(params: Mapping[str, Any]) -> dict[str, float]:
    """The variances of the last iterate with and without feedback, where both are in the range of doubles, and the
    factor by which σ must be larger with feedback for the privacy of the run without it."""
    from math import inf, sqrt

    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.numerics.rounding import up

    unit = {"sigma": 1.0, **{k: params[k] for k in ("curvature", "learning_rate", "iterations")}}
    fed, plain = with_feedback.variance(**unit), without_feedback.variance(**unit)
    square = params["sigma"] * params["sigma"]
    in_range = 0 < square * min(fed, plain) <= square * max(fed, plain) < inf
    variances = {"variance": square * fed, "variance_without_feedback": square * plain} if in_range else {}
    return {**variances, "sigma_factor": up(sqrt(plain / fed), 1e-14)}


def _other_runs(params: Mapping[str, Any], question: Question) -> dict[str, float]:
    """The asked quantity for the same run without feedback, and, with feedback, for the worst record."""
    from dpcalc.accounting.evaluate import evaluate
    from dpcalc.bounds.noise_feedback import with_feedback, without_feedback
    from dpcalc.core.results import Route

    question = question._replace(orders=(), unknown=None, target=None)
    plain = evaluate(Route(without_feedback.BOUND), params, question)
    worst = evaluate(Route(with_feedback.BOUND), {**params, "index": params["iterations"]}, question)
    asks = question.asks
    return {f"{asks}_without_feedback": plain.result[asks], f"{asks}_worst": worst.result[asks]}


COMMAND = Command(
    "noise-feedback",
    "Privacy of noisy gradient descent on an affine gradient aθ + β where each step takes back the noise of the step "
    "before. The first iterate must not depend on the data.",
    (
        Option(q.CURVATURE, RUN),
        Option(q.LEARNING_RATE._replace(safe_direction=0), RUN),
        Option(q.STEPS._replace(safe_direction=0, help="number of steps"), RUN),
        Option(q.LIPSCHITZ, RUN),
        Option(q.INDEX._replace(help="step that uses the record (default: the last one)"), RUN),
        Option(q.SIGMA._replace(help="standard deviation of the noise on the iterate (not on the gradient)"),
               MECHANISM),
    ),
    answer,
    (
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
         "ε = 0.337247"),
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --epsilon 0.1",
         "δ = 0.0085184"),
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --steps 6 --lipschitz 1 --epsilon 1 --delta 1e-5 --solve "
         "sigma",
         "σ = 0.739241"),
    ),
    theorems=theorems,
    usual=("epsilon", "delta", "alpha", "solve", "sigma", "curvature", "learning_rate", "steps", "lipschitz", "index"),
)
