"""The companion numbers, notes and warnings of noise-feedback: both releases, the variances, and what other noise would
give."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, inf, sqrt
from typing import Any

from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.noise_feedback import every_iterate, optimum, with_feedback, without_feedback
from dpcalc.commands.last_iterate import Companions
from dpcalc.commands.last_iterate_companions import worst_companions
from dpcalc.core.bound import ProfileBound
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.numbers import human
from dpcalc.core.one_record import OneRecord
from dpcalc.core.quantities import symbol
from dpcalc.core.question import Question
from dpcalc.core.results import Route, Row
from dpcalc.numerics.rounding import up

Params = Mapping[str, Any]
NOISE = "σ is the noise on the iterate, not on the gradient"
UNITS = "in units of (s/μ)², s = 2Lη"
_MOST_NAMED = 8  # steps that are named
_MUCH_LARGER = 2.0  # ratio of the μ of all iterates to that of the last one from which on a warning says so


def companions(values: Mapping[str, Any], params: dict[str, Any], question: Question,
               rows: tuple[Row, ...]) -> Companions:
    """What stands beside the rows of an answer."""
    head, index, steps = rows[0], values.get("index"), params["iterations"]
    bound, by_default = head.route.bound, index is None and values.get("used_at") is None
    assert isinstance(bound, ProfileBound) and bound.mu is not None
    if bound is without_feedback.BOUND:
        params = {**params, "feedback": 0.0}
    every, at_uses = bound is every_iterate.BOUND, question._replace(orders=(), unknown=None, target=None)
    worst_step = 1 if every else steps
    releases = _releases(params, at_uses, by_default)
    numbers = {**_variances(params), "feedback": params["feedback"], "mu": bound.mu.mu(**own_params(bound, params)),
               **releases, **_without_feedback(head, params, at_uses), **_at_equal_privacy(params)}
    only, of_record = None, {}
    if index is not None:
        of_worst, only = worst_companions(head, {**params, "uses": (worst_step,)}, question, index, worst_step)
        numbers |= of_worst
    if by_default or index is not None:
        worst = evaluate(head.route, {**params, "uses": (worst_step,)}, at_uses)
        numbers[f"{question.asks}_worst"] = worst.result[question.asks]
    else:
        only = OneRecord(f"for records that are used {_at(params['uses'])} only")
    if not by_default:
        of_record = {"index": list(params["uses"])}
    first = f"{NOISE}; the record is the worst one, that of the {'first' if every else 'last'} step"
    notes = (first if by_default else NOISE, _assumed(every, values.get("used_at") is None),
             *(_of_every(numbers) if every else _of_last(numbers, params)))
    warnings = () if every else _warnings(numbers, question.asks)
    return Companions({"kind": "gdp", "mu": numbers["mu"], **of_record}, notes, numbers, only,
                      "every iterate" if every else "last iterate", warnings=warnings)


def _at(uses: tuple[int, ...]) -> str:
    """The steps in words, or their number where they are many."""
    if len(uses) > _MOST_NAMED:
        return f"at the {len(uses)} given steps"
    first = ", ".join(map(str, uses[:-1]))
    return f"at steps {first} and {uses[-1]}" if first else f"at step {uses[-1]}"


def _assumed(every: bool, once: bool) -> str:
    """What no output of a run shows: on the start, the uses of a record, and the steps."""
    parts = ["the first iterate does not depend on the data" if not every else
             "neither the first iterate nor a constraint set depends on the data"]
    parts += ["a record is used at one step only (--used-at lists more)"] if once else []
    parts += [] if every else ["no iterate is projected on a constraint set", "no gradient is clipped"]
    *others, last = (f"that {part}" for part in parts)
    return f"the bound assumes {', '.join(others)}{' and ' if others else ''}{last}"


# --- numbers ---------------------------------------------------------------------------------------------------------


def _variances(params: Params) -> dict[str, float]:
    """The variances of the last iterate with and without feedback, added up over the curvatures, where both are in the
    range of doubles, and the factor by which σ must be larger with feedback for the same privacy of the last iterate
    (of the record of the last step). Nothing without curvature."""
    if not params["curvatures"]:
        return {}
    fed, plain = _modes(params), _modes(params, feedback=False)
    square, sums = params["sigma"] * params["sigma"], (fsum(fed), fsum(plain))
    in_range = 0 < square * min(sums) <= square * max(sums) < inf
    variances = {"variance": square * sums[0], "variance_without_feedback": square * sums[1]} if in_range else {}
    return {**variances, "sigma_factor": up(sqrt(min(plain) / min(fed)), 1e-14) if params["feedback"] else 1.0}


def _modes(params: Params, feedback: bool = True) -> list[float]:
    """The variance of the last iterate for each curvature, with or without feedback, in units of σ²."""
    runs = [(a, params["learning_rate"], 1.0, params["iterations"]) for a in params["curvatures"]]
    if feedback:
        return [with_feedback.variance(*run, params["feedback"]) for run in runs]
    return [without_feedback.variance(*run) for run in runs]


def _releases(params: Params, question: Question, by_default: bool) -> dict[str, float]:
    """μ and the asked quantity of the last iterate, where a curvature is known, and of all iterates: for the record
    that is given, or else for the worst one of each."""
    found = dict[str, float]()
    for name, bound, step in (("last_iterate", with_feedback.BOUND, params["iterations"]),
                              ("every_iterate", every_iterate.BOUND, 1)):
        if not params["curvatures"] and bound is with_feedback.BOUND:
            continue
        own = {**params, "uses": (step,)} if by_default else params
        # where double precision does not suffice
        found |= {f"mu_{name}": inf, f"{question.asks}_{name}": 1.0 if question.asks == "delta" else inf}
        try:
            assert bound.mu is not None
            found[f"mu_{name}"] = bound.mu.mu(**own_params(bound, own))
            found[f"{question.asks}_{name}"] = evaluate(Route(bound), own, question).result[question.asks]
        except (DpcalcError, OverflowError):
            continue
    return found


def _without_feedback(head: Row, params: Params, question: Question) -> dict[str, float]:
    """The asked quantity for the same run without feedback."""
    every = head.route.bound is every_iterate.BOUND
    route = Route(every_iterate.BOUND if every else without_feedback.BOUND)
    plain = evaluate(route, {**params, "feedback": 0.0}, question)
    return {f"{question.asks}_without_feedback": plain.result[question.asks]}


def _at_equal_privacy(params: Params) -> dict[str, float]:
    """The variances that noise leaves at equal privacy, in units of (s/μ)². Of all iterates, after a long run, where
    every curvature is positive: for this λ, independent noise, λ*, and for one curvature the best linear filter. Of the
    last iterate, after this run, where there are several curvatures: for this λ and for independent noise; noise added
    once to the output leaves 1 for each."""
    curvatures, rate, found = params["curvatures"], params["learning_rate"], dict[str, float]()
    if curvatures and min(curvatures) > 0:
        name = "equal_privacy_variance"
        found = {name: optimum.variance_at_equal_privacy(curvatures, rate, params["feedback"]),
                 f"{name}_independent": optimum.variance_at_equal_privacy(curvatures, rate, 0.0),
                 **_best(curvatures, rate)}
        if len(curvatures) == 1:
            found[f"{name}_filter"] = optimum.least_of_all_filters(curvatures[0], rate)
    if len(curvatures) > 1:
        for name, feedback in (("", True), ("_independent", False)):
            modes = _modes(params, feedback)
            found[f"equal_privacy_variance_last_iterate{name}"] = fsum(modes) / min(modes)
    return found


def _best(curvatures: tuple[float, ...], rate: float) -> dict[str, float]:
    """λ* and the variance that it leaves; nothing where λ* is 1 in double precision."""
    try:
        best = optimum.value(curvatures, rate)
    except (OutOfScope, OverflowError):
        return {}
    return {"equal_privacy_variance_optimal": best["equal_privacy_variance"], "optimal_feedback": best["feedback"]}


# --- notes -----------------------------------------------------------------------------------------------------------


def _of_last(numbers: Mapping[str, float], params: Params) -> tuple[str, ...]:
    """What feedback means where only the last iterate is released."""
    factor, modes = human(numbers["sigma_factor"]), len(params["curvatures"])
    same = "this holds where both data sets have the same known Hessian"
    if modes == 1:
        needs = f"with it, σ must be {factor} times that of the run without feedback; " if params["feedback"] else ""
        return (f"with one curvature, the last iterate has the same variance for every λ at the same privacy, so that "
                f"feedback is neither gain nor loss: {needs}{same}",
                "with several curvatures (--curvature as a list), noise that is added once to the output is optimal, "
                "and λ = 1 leaves at most twice its variance where ηa ≤ 1")
    fed, plain = (human(numbers[f"equal_privacy_variance_last_iterate{name}"]) for name in ("", "_independent"))
    return (f"at equal privacy of the last iterate, for records that are used at one step, the sum of its variances "
            f"over the curvatures is {fed} with this feedback, {plain} without it, and {modes} with noise that is "
            f"added once to the output, which is optimal, {UNITS}; {same}",
            "λ = 1 leaves at most twice the least variance where ηa ≤ 1")


def _of_every(numbers: Mapping[str, float]) -> tuple[str, ...]:
    """What other noise would leave where every iterate is released."""
    name = "equal_privacy_variance"
    if f"{name}_optimal" not in numbers:
        return ("with λ = 1 each iterate is a sum of exact gradients with one fresh noise, which an observer of all of "
                "them can average out; --solve feedback finds the λ with the least variance at equal privacy",
                ) if numbers["feedback"] == 1 else ()
    shown = {key: human(x) for key, x in numbers.items() if key.startswith(name)}
    this = f"{shown[name]} with this feedback" if numbers[name] < inf else "without bound for λ = 1"
    best = f"{shown[f'{name}_optimal']} with λ = {human(numbers['optimal_feedback'])}"
    best += f", and {shown[f'{name}_filter']} with the best linear filter" if f"{name}_filter" in shown else ""
    return (f"at equal privacy of records that are used at one step, the variance of a long run is {this}, "
            f"{shown[f'{name}_independent']} with independent noise, {best}, {UNITS}",)


def _warnings(numbers: Mapping[str, float], asks: str) -> tuple[str, ...]:
    """A warning where only the last iterate's privacy loss is small."""
    if numbers["mu_every_iterate"] < _MUCH_LARGER * numbers["mu"] or not numbers[f"{asks}_every_iterate"]:
        return ()
    loss = f"{symbol(asks)} = {human(numbers[f'{asks}_every_iterate'])}"
    return (f"only the last iterate is covered: an observer of all iterates gets {loss} (--release every-iterate)",)
