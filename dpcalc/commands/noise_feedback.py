"""dpcalc noise-feedback: noisy gradient descent where each step takes back a part of the noise of the step before. The
last iterate on an affine gradient, every iterate for any loss, and the best part to take back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Searches
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route

_NEEDED = ("learning_rate", "steps", "lipschitz", "sigma")
_LAST, _EVERY = "last-iterate", "every-iterate"
_EITHER = {"curvature": "curvatures", "index": "used_at"}  # an option, and its list for several values


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the iterates that are released, with that of the other release, the variances, and what the same
    run without feedback would lose; or the best coefficient of the feedback."""
    from dpcalc.commands.last_iterate import Setting, answer
    from dpcalc.commands.noise_feedback_companions import companions

    _refuse_both(given)
    if str(given["solve"]).removeprefix("--") == "feedback":
        from dpcalc.commands.noise_feedback_optimum import answer as best_coefficient

        return best_coefficient(COMMAND, given)
    return answer(COMMAND, Setting(_check, _searches, _bound_params, companions), given)


def _refuse_both(given: Given) -> None:
    from dpcalc.core.errors import DpcalcError, flag

    for one, several in _EITHER.items():
        if given.has(one) and given.has(several):
            raise DpcalcError("contradictory", f"give {flag(one)} or {flag(several)}, not both", flag(several))


def _check(given: Given, question: Question) -> tuple[Given, Question, set[str]]:
    from dpcalc.commands.asking import check_options

    used, not_used = {*_NEEDED, *_EITHER, *_EITHER.values(), "feedback", "release"}, "for this question"
    if given["bound"] == ("without-feedback",):
        used.remove("feedback")
        not_used = "with --bound without-feedback"
    by_curvature = given["release"] == _LAST and not given.has("curvatures")
    needed_by = "by noise-feedback"
    if by_curvature and not given.has("curvature"):
        needed_by += " for the last iterate (--release every-iterate holds for any loss)"
    check_options(given, question, used, ("curvature", *_NEEDED) if by_curvature else _NEEDED, not_used,
                  "for this question", needed_by)
    return given, question, used


def _searches(given: Given, question: Question) -> tuple[Searches, tuple[str, ...]]:
    return ((question, _routes(given["release"])),), given["bound"] or ()


def _routes(release: str) -> tuple[Route, ...]:
    from dpcalc.bounds.noise_feedback import every_iterate, with_feedback, without_feedback
    from dpcalc.core.results import Route

    if release == _EVERY:
        return (Route(every_iterate.BOUND),)
    return (Route(with_feedback.BOUND), Route(without_feedback.BOUND, on_request=True))


def _bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the bounds. Without --index or --used-at the record is the worst one: of the last iterate the
    one of the last step, of all iterates that of the first."""
    curvatures = values.get("curvatures") or (() if values.get("curvature") is None else (values["curvature"],))
    steps = int(values["steps"])
    return {**{k: values[k] for k in ("feedback", "learning_rate", "sigma", "lipschitz")}, "curvatures": curvatures,
            "iterations": steps, "uses": _uses(values, steps) or (steps if values["release"] == _LAST else 1,)}


def _uses(values: Mapping[str, Any], steps: int) -> tuple[int, ...]:
    """The steps that use the record; none where they are not given. Raises DpcalcError for what is no list of
    steps."""
    from dpcalc.core.errors import DpcalcError

    index, listed = values.get("index"), values.get("used_at") or ()
    option = "--used-at" if listed else "--index"
    found = tuple(sorted(listed)) if listed else () if index is None else (index,)
    for i, after in zip(found, (*found[1:], None), strict=False):
        if i > steps:
            raise DpcalcError("out-of-range", f"{i:.17g} is above T = {steps}, the number of steps", option)
        if i != int(i):
            raise DpcalcError("not-a-number", f"{i:g} is not a whole number", option)
        if i == after:
            raise DpcalcError("contradictory", f"step {i:.17g} is listed twice", option)
    return tuple(map(int, found))


def theorems() -> tuple[Route, ...]:
    from dpcalc.bounds.noise_feedback import optimum, optimum_finite
    from dpcalc.core.results import Route

    return (*_routes(_LAST), *_routes(_EVERY), Route(optimum.BOUND), Route(optimum_finite.BOUND))


COMMAND = Command(
    "noise-feedback",
    "Privacy of noisy gradient descent where each step takes back a part of the noise of the step before: of the last "
    "iterate on an affine gradient aθ + β, or of every iterate for any loss with clipped gradients. The first iterate "
    "must not depend on the data.",
    (
        Option(q.CURVATURE, RUN),
        Option(q.CURVATURES, RUN),
        Option(q.LEARNING_RATE._replace(safe_direction=0), RUN),
        Option(q.STEPS._replace(safe_direction=0, help="number of steps"), RUN),
        Option(q.LIPSCHITZ._replace(help="clipping norm, or Lipschitz constant of every record's loss; for the last "
                                         "iterate, half of the most that one record changes β"), RUN),
        Option(q.INDEX._replace(help="step that uses the record (default: the worst one; the last, or of every "
                                     "iterate the first)"), RUN),
        Option(q.USED_AT, RUN),
        Option(q.RELEASE._replace(help="what is released (default: last-iterate)", choices=(_LAST, _EVERY)), RUN,
               default=_LAST),
        Option(q.SIGMA._replace(help="standard deviation of the noise on the iterate (not on the gradient)"),
               MECHANISM),
        Option(q.FEEDBACK, MECHANISM, default=1.0),
    ),
    answer,
    (
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
         "ε = 0.337247"),
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --epsilon 0.1",
         "δ = 0.0085184"),
        ("noise-feedback --learning-rate 0.1 --sigma 2 --steps 1000 --lipschitz 1 --feedback 0.9 --delta 1e-5 "
         "--release every-iterate", "ε = 0.84308"),
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --steps 6 --lipschitz 1 --epsilon 1 --delta 1e-5 --solve "
         "sigma",
         "σ = 0.739241"),
        ("noise-feedback --curvature 0.7 --learning-rate 0.1 --solve feedback", "λ = 0.680044"),
    ),
    theorems=theorems,
    asks="Ask with --delta (prints ε), --epsilon (prints δ) or --alpha (prints the RDP), or give a budget and --solve "
         "sigma. --solve feedback prints the best λ for every iterate.",
    usual=("epsilon", "delta", "alpha", "solve", "sigma", "feedback", "release", "curvature", "learning_rate", "steps",
           "lipschitz", "index"),
    by_formula=("feedback",),
)
