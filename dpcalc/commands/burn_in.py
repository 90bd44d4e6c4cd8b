"""dpcalc burn-in: the last iterate of (projected) noisy SGD, whose privacy loss stops growing with the number of
steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from dpcalc.commands.burn_in_notes import ANY, CONVEX, burn_in_steps, horizon, largest_distance, least_curvature, notes
from dpcalc.core import quantities as q
from dpcalc.core.bound import ProfileBound
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Given, Option

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Companions, Searches
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_SCHEDULED = ("n", "batch_size", "lipschitz", "smoothness")  # options that --schedule needs
_RUN = ("n", "batch_size", "steps", "lipschitz", "smoothness", "learning_rate")


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the last iterate by every bound, with the burn-in length and a lower bound."""
    from dpcalc.commands.last_iterate import Setting, answer

    setting = Setting(_check, _searches, _bound_params, _companions, _full_batch)
    return answer(COMMAND, setting, given if given["schedule"] is None else _scheduled(given))


def _scheduled(given: Given) -> Given:
    """The call of a run that --schedule describes step by step, with the T, the step sizes and the noises that follow.
    `schedule` becomes the schedule itself instead of a file name, so that the record does not depend on the file."""
    from dpcalc.commands.schedule import read, text
    from dpcalc.core.errors import DpcalcError, flag

    for name in sorted(given.provided & {"steps", "index", "solve"}):
        raise DpcalcError("contradictory", "not used with --schedule, which describes every step; drop one", flag(name))
    steps = read(given)
    if given["order"] == "random" and given["n"] != given["batch_size"]:
        raise DpcalcError("refused",
                          "a schedule needs full batches (n = b), or --order fixed with the list \"uses\" of the steps "
                          "that use the record", "--schedule")
    return given.replace({**given.values, "steps": len(steps), "step_by_step": steps, "schedule": text(steps, given),
                         "learning_rate": min(eta for eta, _, _ in steps)})


# --- options ---------------------------------------------------------------------------------------------------------


def _check(given: Given, question: Question) -> tuple[Given, Question, set[str]]:
    from dpcalc.commands.asking import check_options

    question = _ranged(question, given)
    used = {*_RUN, "diameter", "strong_convexity", "loss", "sigma", "order", "orders", "schedule"}
    used |= {"index"} if given["order"] == "fixed" else set()
    needed = (*_RUN, "sigma") if given["schedule"] is None else _SCHEDULED
    check_options(given, question, used, needed, f"with --order {given['order']}", "with --order "
                                                                                   f"{given['order']}", "by burn-in")
    _check_values(given.values)
    return given, question, (used & given.provided) | {"strong_convexity", "loss", "order"}


def _ranged(question: Question, given: Given) -> Question:
    """The question with the range of its unknown. A learning rate is searched for up to η = 2/(β+ρ), where the
    contraction is strongest: up to there a larger η loses less privacy."""
    from dpcalc.core.errors import DpcalcError

    unknown = question.unknown
    if unknown is None:
        return question
    if given["loss"] == ANY and unknown.name == "learning_rate":
        raise DpcalcError("unknown-value",
                          "learning-rate has no unique solution with --loss any; solve for another option",
                          "--solve")
    if given["order"] == "fixed" and unknown.name in ("n", "batch_size"):
        raise DpcalcError("unknown-value", f"{unknown.option[2:]} is not possible with --order fixed, where the batch "
                                           "size must divide n; solve for another option", "--solve")
    total = (given["smoothness"] or 0.0) + given["strong_convexity"]
    longest = 2 / total * (1 - 1e-15) if total else 1e15
    ranges = {
        "learning_rate": (1e-15 * min(longest, 1.0), longest),
        "batch_size": (1.0, float(given["n"] or 1)),
        "n": (float(given["batch_size"] or 1), q.LARGEST_COUNT),
    }
    return question._replace(unknown=unknown._replace(search=ranges.get(unknown.name, unknown.search)))


def _check_values(values: Mapping[str, Any]) -> None:
    """Raises DpcalcError where the given options describe an impossible run, or one that no theorem covers."""
    from dpcalc.bounds.noisy_sgd._engine import contraction
    from dpcalc.core.errors import DpcalcError

    n, b = values.get("n"), values.get("batch_size")
    if n is not None and b is not None and b > n:
        raise DpcalcError("out-of-range", f"{b} is above n = {n}, the number of records", "--batch-size")
    if values["order"] == "fixed" and n is not None and b is not None and n % b:
        raise DpcalcError("out-of-range", f"{b} does not divide n = {n}; --order fixed needs batches of equal size",
                          "--batch-size")
    if values["loss"] == ANY and values["strong_convexity"]:
        raise DpcalcError("contradictory",
                          f"{values['strong_convexity']:g} needs convex losses; give --loss convex, or drop "
                          "it", "--strong-convexity")
    if values.get("learning_rate") is not None:
        contraction.gap(values["learning_rate"], values["smoothness"], least_curvature(values))


def _bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the bounds."""
    from dpcalc.core.errors import OutOfScope

    n, b = int(values["n"]), int(values["batch_size"])
    if b > n:
        raise OutOfScope("no-solution", f"{b} is above n = {n}, the number of records", "--batch-size")
    run = {"batch_size": b, "diameter": values.get("diameter") or largest_distance(values),
           **{k: values[k] for k in ("lipschitz", "smoothness", "strong_convexity")}}
    if values.get("step_by_step"):
        return {**run, "schedule": values["step_by_step"]}
    period, steps = -(-n // b), int(values["steps"])
    index = values.get("index")
    if index is not None and index > period:
        raise OutOfScope("out-of-range", f"{index} is above n/b = {period}, the number of batches in a pass", "--index")
    return {**run, "learning_rate": values["learning_rate"], "sigma": values["sigma"], "n": n, "iterations": steps,
            "period": period, "last": 1 if index is None else (steps - index) % period + 1}


# --- the bounds that answer ------------------------------------------------------------------------------------------


def _searches(given: Given, question: Question) -> tuple[Searches, tuple[str, ...]]:
    return ((question, _routes(given, question)),), given["bound"] or ()


def _routes(given: Given, question: Question) -> tuple[Route, ...]:
    """The bounds for this order of the batches and these assumptions on the losses."""
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds import noisy_sgd as b
    from dpcalc.core.results import Route

    convex, by_steps = given["loss"] != ANY, _deterministic_batches(given)
    if given["schedule"] is not None:
        return (Route(b.iteration_schedule.BOUND if convex else b.nonconvex.SCHEDULE),)
    if given["order"] == "fixed":
        return (by_steps,)
    full = (by_steps,) if given["n"] is not None and given["n"] == given["batch_size"] else ()
    rdp = b.burn_in_rdp.BOUND if convex else b.nonconvex.BURN_IN_RDP
    profile = b.burn_in_profile.BOUND if convex else b.nonconvex.BURN_IN_PROFILE
    # Without a set D grows with the number of steps, and a bound for every number of steps would be worse.
    bounded = given["diameter"] is not None or (question.unknown is not None and question.unknown.name == "diameter")
    contraction = (Route(b.burn_in_contraction.BOUND),) if convex and bounded else ()
    lower = () if question.unknown or given["diameter"] is None else (Route(b.lower_bound.BOUND),)
    as_published = tuple(r._replace(on_request=True) for r in converted(b.as_published.BOUND)) if convex else ()
    return (*full, *converted(rdp), *converted(b.composition.BOUND), *contraction, Route(profile),
            Route(b.burn_in_profile.COMPOSITION), *lower, *as_published)


def _deterministic_batches(given: Given) -> Route:
    """The route for batches that are not random: it is known which steps use the record."""
    from dpcalc.bounds.noisy_sgd import iteration, iteration_nonconvex
    from dpcalc.core.results import Route

    return Route(iteration_nonconvex.BOUND if given["loss"] == ANY else iteration.BOUND)


def _full_batch(given: Given, question: Question) -> tuple[Row, ...]:
    """The rows for the batch of all records, where the batch size is solved for and no smaller batch meets the budget:
    a theorem of its own covers full batches."""
    from dpcalc.accounting.answer import rows

    unknown, n, named, route = question.unknown, given["n"], given["bound"], _deterministic_batches(given)
    if unknown is None or unknown.name != "batch_size" or n is None or (named and route.bound.name not in named):
        return ()
    only = unknown._replace(search=(float(n), float(n)))
    return rows((route,), given, _bound_params, question._replace(unknown=only), ())


# --- companions of the rows ------------------------------------------------------------------------------------------


def _companions(values: Mapping[str, Any], params: dict[str, Any], question: Question,
                rows: tuple[Row, ...]) -> Companions:
    from dpcalc.commands.last_iterate import Companions
    from dpcalc.commands.last_iterate_companions import worst_companions
    from dpcalc.core.one_record import OneRecord

    head, steps, index = rows[0], values.get("step_by_step"), values.get("index")
    numbers = _numbers(values, question, rows)
    guarantee, only, options = _guarantee(question, head), None, {}
    if steps:
        options = {"schedule": values["schedule"]}
        if not all(uses for _, _, uses in steps):
            only = OneRecord("for records that are used only at the steps in the schedule")
    elif index is not None:
        guarantee["index"] = [index]
        worst = (params["iterations"] - 1) % params["period"] + 1  # the batch of the last step
        of_worst, only = worst_companions(head, {**params, "last": 1}, question, index, worst, "batch")
        numbers |= of_worst
    return Companions(guarantee, notes(values, rows), numbers, only, options=options)


def _numbers(values: Mapping[str, Any], question: Question, rows: tuple[Row, ...]) -> dict[str, float]:
    """The companion numbers: the burn-in length; the horizon, or without a constraint set the largest distance of two
    runs; and the lower bound."""
    numbers: dict[str, float] = {"burn_in_steps": burn_in_steps(values, rows[0])}
    if not values.get("diameter"):
        numbers["distance"] = largest_distance(values)
    elif values["loss"] != ANY:
        numbers["horizon"] = horizon(values)
    asks = question.asks
    lower = [row.result[asks] for row in rows if row.route.bound.status == "lower"]
    return {**numbers, **({f"{asks}_lower": lower[0]} if lower else {})}


def _guarantee(question: Question, head: Row) -> dict[str, Any]:
    """The guarantee for the next command: μ-GDP, where the bound of the headline proves it, else the computed point."""
    from dpcalc.accounting.orders import own_params
    from dpcalc.commands.last_iterate_companions import point_guarantee

    bound = head.route.bound
    if isinstance(bound, ProfileBound) and bound.mu is not None and question.unknown is None:
        return {"kind": "gdp", "mu": bound.mu.mu(**own_params(bound, head.params), r=int(head.witness["r"]))}
    return point_guarantee(question, head.result)


def theorems() -> Iterator[Route]:
    from dpcalc.core.question import Question

    for schedule, order, n, loss in product((None, "steps.json"), q.ORDER.choices, (1, 2), q.LOSS.choices[::-1]):
        given = {"schedule": schedule, "order": order, "n": n, "batch_size": 1, "loss": loss, "diameter": 1.0}
        yield from _routes(Given(given, frozenset()), Question("epsilon"))


COMMAND = Command(
    "burn-in",
    "Privacy of the last iterate of noisy SGD in batches. On convex losses ε stops growing with the number of steps. "
    "The first iterate and the constraint set must not depend on the data.",
    (
        Option(q.N, RUN),
        Option(q.BATCH_SIZE._replace(safe_direction=+1,
                                     help="records in a batch; each step uses their mean gradient"), RUN),
        Option(q.STEPS._replace(help="number of steps"), RUN),
        Option(q.LIPSCHITZ, RUN),
        Option(q.SMOOTHNESS, RUN),
        Option(q.STRONG_CONVEXITY, RUN, default=0.0),
        Option(q.LOSS._replace(help="what is known of every record's smooth loss"), RUN,
               default=CONVEX),
        Option(q.LEARNING_RATE, RUN),
        Option(q.DIAMETER._replace(safe_direction=-1,
                                   help="diameter of the constraint set; without one, leave it out"), RUN),
        Option(q.ORDER, RUN, default="random"),
        Option(q.INDEX._replace(help="position of the record's batch in a pass; for --order fixed"), RUN),
        Option(q.SIGMA._replace(help="standard deviation of the noise on the mean gradient of a batch"),
               MECHANISM),
        Option(q.NOISE_SCHEDULE, RUN),
        Option(q.ORDERS, QUESTION),
    ),
    answer,
    (
        ("burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter "
         "2 --sigma 0.1 --delta 1e-5", "ε = 0.623559"),
        ("burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter "
         "2 --sigma 0.1 --epsilon 0.7", "δ = 1.89519e-06"),
        ("burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter "
         "2 --epsilon 1 --delta 1e-5 --solve sigma", "σ = 0.0815818"),
    ),
    theorems=theorems,
    usual=("epsilon", "delta", "solve", "sigma", "n", "batch_size", "steps", "lipschitz", "smoothness",
           "learning_rate", "diameter", "loss"),
)
