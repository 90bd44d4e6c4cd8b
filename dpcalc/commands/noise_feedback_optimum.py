"""noise-feedback --solve feedback: the coefficient with the least variance at equal privacy of every iterate."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Any

from dpcalc.bounds.noise_feedback import affine, optimum, optimum_finite
from dpcalc.commands.noise_feedback_companions import UNITS
from dpcalc.core.command import OUTPUT, Command, Given, require
from dpcalc.core.errors import DpcalcError, OutOfScope, flag
from dpcalc.core.numbers import human
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Route, Row


def answer(command: Command, given: Given) -> Answer:
    """λ* for a long run with these curvatures, or without curvature for prefix sums over the steps, and the variances
    that are left at equal privacy. Raises DpcalcError for options on which λ* does not depend."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.asking import shown

    _refuse_contradictions(given)
    by_curvature = given.has("curvature") or given.has("curvatures")
    used = {"curvature", "curvatures", "learning_rate", "steps"} if by_curvature else {"steps"}
    beside = {"solve", "bound", "release", *(o.name for o in command.all_options() if o.group == OUTPUT)}
    _refuse_unneeded(given, given.provided - used - beside)
    require(given, ("learning_rate",) if by_curvature else ("steps",), "to solve for feedback"
            if by_curvature else "to solve for feedback; or give --curvature and --learning-rate")
    steady = by_curvature and min(_bound_params(given.values)["curvatures"]) > 0
    if not steady:
        require(given, ("steps",), "to solve for feedback without curvature")
    finite = (Route(optimum_finite.BOUND, on_request=steady),) if given.has("steps") else ()
    routes = (*((Route(optimum.BOUND),) if steady else ()), *finite)
    found = rows(routes, given, _bound_params, Question("feedback"), given["bound"] or ())
    numbers, notes = _companions(found[0], given.values)
    return Answer(command.name, Question("feedback"), shown(given, used), found,
                  {"kind": "feedback", "feedback": found[0].result["feedback"]}, "replace-one", "every iterate", notes,
                  numbers, options={"solve": "feedback"})


def _refuse_unneeded(given: Given, names: frozenset[str]) -> None:
    """Raises DpcalcError for options on which the best λ does not depend, or for which it is not known."""
    for name in sorted(names & {"index", "used_at"}):
        raise DpcalcError("unneeded", "the best λ is that for records which are used at one step, the worst one; drop "
                          "it", flag(name))
    for name in sorted(names & {"learning_rate"}):
        raise DpcalcError("unneeded", "not used without --curvature; add it, or drop this", flag(name))
    if names:
        first, *others = map(flag, sorted(names))
        also = f", nor {', '.join(others)}" if others else ""
        raise DpcalcError("unneeded", f"not used with --solve feedback{also}; first find λ, then give it as --feedback "
                          "with --delta, or with a budget and --solve sigma", first)


def _refuse_contradictions(given: Given) -> None:
    """Raises DpcalcError for a λ that is given, and for the last iterate, which has no best λ."""
    if given.has("feedback"):
        raise DpcalcError("contradictory", "--feedback is given, so it cannot be solved for; drop one of them",
                          "--solve")
    if given.has("release") and given["release"] == "last-iterate":
        raise DpcalcError("unneeded", "the best λ is that of --release every-iterate; of the last iterate alone, every "
                          "λ leaves the same variance at equal privacy where there is one curvature, and noise that "
                          "is added once to the output is optimal where there are several", "--release")


def _bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the bounds; prefix sums are the run without curvature."""
    curvatures = values.get("curvatures") or (values.get("curvature") or 0.0,)
    return {"curvatures": curvatures, "learning_rate": values.get("learning_rate") or 1.0,
            "iterations": values.get("steps")}


def _companions(head: Row, values: Mapping[str, Any]) -> tuple[dict[str, float], tuple[str, ...]]:
    """The variances of other noise at equal privacy, and coefficients that are the best ones in another sense."""
    params = _bound_params(values)
    curvatures, rate, steps = params["curvatures"], params["learning_rate"], params["iterations"]
    least, notes = human(head.result["equal_privacy_variance"]), list[str]()
    if head.route.bound is optimum.BOUND:
        independent = optimum.variance_at_equal_privacy(curvatures, rate, 0.0)
        numbers = {"equal_privacy_variance_independent": independent}
        others, run = f"{human(independent)} with independent noise", "a long run"
        if len(curvatures) == 1:
            numbers["equal_privacy_variance_filter"] = optimum.least_of_all_filters(curvatures[0], rate)
            others += f", {human(numbers['equal_privacy_variance_filter'])} with the best linear filter"
        if steps is not None:
            notes += _after_steps(params, numbers)
    else:
        independent = fsum(affine.geometric(affine.decay(a, rate), steps) for a in curvatures)
        numbers = {"equal_privacy_variance_independent": independent}
        others, run = f"{human(independent)} with independent noise", "the last iterate"
        if max(curvatures) == 0:
            numbers["feedback_mean"] = optimum_finite.mean_coefficient(steps)
            notes.append(f"for the mean variance of all iterates, λ = {human(numbers['feedback_mean'])} is best (used "
                         "by dpcalc correlated --compare)")
    return numbers, (f"at equal privacy the variance of {run} is {least} with this λ, {others}, {UNITS}", *notes)


def _after_steps(params: Mapping[str, Any], numbers: dict[str, float]) -> list[str]:
    """A note on the best coefficient after the given number of steps, where it is known; it becomes a number too."""
    try:
        numbers["feedback_after_steps"] = optimum_finite.value(**params)["feedback"]
    except OutOfScope:
        return []
    return [f"after {params['iterations']} steps, λ = {human(numbers['feedback_after_steps'])} is best (--bound "
            f"{optimum_finite.BOUND.name})"]
