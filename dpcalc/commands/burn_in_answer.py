"""The answer of burn-in: ε, δ or RDP of the last iterate by every bound, with the burn-in length and a lower bound."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.orders import own_params
from dpcalc.accounting.routes import converted
from dpcalc.bounds.noisy_sgd import (
    as_published,
    burn_in_contraction,
    burn_in_profile,
    burn_in_rdp,
    composition,
    iteration,
    iteration_schedule,
    lower_bound,
    nonconvex,
)
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.commands import schedule
from dpcalc.commands.asking import level_hints, lipschitz_hint, read_question
from dpcalc.commands.burn_in import ANY, COMMAND, RUN_OPTIONS, SCHEDULE, SCHEDULED, SOLVABLE, STRONGLY_CONVEX, VALUES
from dpcalc.commands.last_iterate_companions import point_guarantee, worst_companions
from dpcalc.core import quantities as q
from dpcalc.core.bound import Params, ProfileBound
from dpcalc.core.checks import Mode, check
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope
from dpcalc.core.numbers import human_claimed
from dpcalc.core.results import Answer, OneRecord, Question, Route, Row
from dpcalc.core.run import Run


def answer(given: Given) -> Answer:
    run = _checked(given)
    rows = _rows(run)
    run, head, asks = run.solved(rows), rows[0], run.question.asks
    numbers: dict[str, float] = {"burn_in_steps": _burn_in_steps(run, head)}
    if not run["diameter"]:
        numbers["distance"] = largest_distance(run)
    elif run["loss"] != ANY:
        numbers["horizon"] = _horizon(run)
    numbers |= {f"{asks}_lower": row.result[asks] for row in rows[::-1] if row.route.bound.status == "lower"}
    guarantee, only, options, bound = point_guarantee(run.question, head.result), None, {}, head.route.bound
    if isinstance(bound, ProfileBound) and bound.mu is not None:
        mu = bound.mu.mu(**own_params(bound, head.params), r=int(head.witness["r"]))
        guarantee = {"kind": "gdp", "mu": mu}
    if run["step_by_step"]:
        options = {"schedule": run["schedule"]}
        if not all(uses for _, _, uses in run["step_by_step"]):
            only = OneRecord("for records that are used only at the steps in the schedule")
    elif run["index"] is not None:
        guarantee["index"] = [run["index"]]
        worst = (run.params["iterations"] - 1) % run.params["period"] + 1  # the batch of the last step
        of_worst, only = worst_companions(run, head, {**run.params, "last": 1}, worst, "batch")
        numbers |= of_worst
    return run.answer(rows, guarantee, "replace-one", "last iterate", _notes(run, head), numbers, only=only,
                      options=options)


# --- options ---------------------------------------------------------------------------------------------------------


def _checked(given: Given) -> Run:
    """The run, with the range of its unknown. Raises DpcalcError where its options do not describe one."""
    run = Run(COMMAND, given, Question("guarantee"), _params)
    if run["schedule"] is not None:
        run = _scheduled(run)
    run = run.asking(read_question(COMMAND, run.given))
    uses = {*RUN_OPTIONS, "diameter", "strong_convexity", "loss", "sigma", "order", "orders", "schedule",
            *(["index"] if run["order"] == "fixed" else [])}
    needs, where = (*RUN_OPTIONS, "sigma") if run["schedule"] is None else SCHEDULED, f"with --order {run['order']}"
    hints = {**level_hints(given, run.question), **lipschitz_hint(given)}
    check(run, *SOLVABLE, Mode(uses, needs, where, "by burn-in", where, hints=hints), *VALUES)
    if run["learning_rate"] is not None:
        contraction.gap(run["learning_rate"], run["smoothness"], _least_curvature(run))
    shown = {name for name in uses if given.has(name) or name == run.unknown}
    return replace(_ranged(run), uses=frozenset(shown | {"strong_convexity", "loss", "order"}))


def _scheduled(run: Run) -> Run:
    """The run that --schedule describes step by step, with the T, the step sizes and the noises that follow. `schedule`
    becomes the schedule itself instead of a file name, so that the record does not depend on the file."""
    check(run, *SCHEDULE)
    steps = schedule.read(run.given)
    if run["order"] == "random" and run["n"] != run["batch_size"]:
        raise DpcalcError("refused",
                          "a schedule needs full batches (n = b), or --order fixed with the list \"uses\" of the steps "
                          "that use the record", "--schedule")
    return run.completed(steps=len(steps), step_by_step=steps, schedule=schedule.text(steps, run.given),
                         learning_rate=min(eta for eta, _, _ in steps))


def _ranged(run: Run) -> Run:
    """The run with the range of its unknown. A learning rate is searched for up to η = 2/(β+ρ), where the contraction
    is strongest: up to there a larger η loses less privacy."""
    unknown = run.question.unknown
    if unknown is None:
        return run
    total = (run["smoothness"] or 0.0) + run["strong_convexity"]
    longest = 2 / total * (1 - 1e-15) if total else 1e15
    ranges = {
        "learning_rate": (1e-15 * min(longest, 1.0), longest),
        "batch_size": (1.0, float(run["n"] or 1)),
        "n": (float(run["batch_size"] or 1), q.LARGEST_COUNT),
    }
    search = ranges.get(unknown.name, unknown.search)
    return run.asking(run.question._replace(unknown=unknown._replace(search=search)))


def _params(run: Run) -> Params:
    """The parameters of the bounds."""
    n, b, index = int(run["n"]), int(run["batch_size"]), run["index"]
    if b > n:
        raise OutOfScope("no-solution", f"{b} is above n = {n}, the number of records", "--batch-size")
    same = {"batch_size": b, "diameter": run["diameter"] or largest_distance(run),
            **{k: run[k] for k in ("lipschitz", "smoothness", "strong_convexity")}}
    if run["step_by_step"]:
        return {**same, "schedule": run["step_by_step"]}
    period, steps = -(-n // b), int(run["steps"])
    if index is not None and index > period:
        raise OutOfScope("out-of-range", f"{index} is above n/b = {period}, the number of batches in a pass", "--index")
    return {**same, "learning_rate": run["learning_rate"], "sigma": run["sigma"], "n": n, "iterations": steps,
            "period": period, "last": 1 if index is None else (steps - index) % period + 1}


def largest_distance(run: Mapping[str, Any]) -> float:
    """A bound on the distance between the iterates of two runs on neighbouring data sets with equal noise, for runs
    without a constraint set. For dpcalc compare, too, which describes a run by its options."""
    own = (int(run["batch_size"]), run["lipschitz"], run["smoothness"], _least_curvature(run))
    if run.get("step_by_step"):
        return contraction.largest_distance_along(run["step_by_step"], *own)
    steps = int(run["steps"])
    uses = -(-steps // -(-int(run["n"]) // own[0])) if run.get("order") == "fixed" else steps
    return contraction.largest_distance(*own, run["learning_rate"], steps, uses)


def _least_curvature(run: Mapping[str, Any]) -> float:
    """The least curvature that a loss can have: ρ, or −β where it is only known to be smooth."""
    return float(-run["smoothness"] if run.get("loss") == ANY else run["strong_convexity"])


# --- the bounds that answer ------------------------------------------------------------------------------------------


def _rows(run: Run) -> tuple[Row, ...]:
    """The rows of the bounds. Where the batch size is solved for and no smaller batch meets the budget, those for the
    batch of all records, which a theorem of its own covers."""
    try:
        return answer_rows(run, _routes(run), run.bounds)
    except EveryValueMeets:
        raise
    except (OutOfScope, NoSolution):
        n, route, unknown = run["n"], _deterministic_batches(run), run.question.unknown
        if run.unknown != "batch_size" or n is None or (run.bounds and route.bound.name not in run.bounds):
            raise
        assert unknown is not None
        only = run.question._replace(unknown=unknown._replace(search=(float(n), float(n))))
        return answer_rows(run.asking(only), (route,), ())


def _routes(run: Run) -> tuple[Route, ...]:
    """The bounds for this order of the batches and these assumptions on the losses."""
    convex, by_steps = run["loss"] != ANY, _deterministic_batches(run)
    if run["schedule"] is not None:
        return (Route(iteration_schedule.BOUND if convex else nonconvex.SCHEDULE),)
    if run["order"] == "fixed":
        return (by_steps,)
    full = (by_steps,) if run["n"] is not None and run["n"] == run["batch_size"] else ()
    rdp = burn_in_rdp.BOUND if convex else nonconvex.BURN_IN_RDP
    profile = burn_in_profile.BOUND if convex else nonconvex.BURN_IN_PROFILE
    # Without a set D grows with the number of steps, and a bound for every number of steps would be worse.
    bounded = run["diameter"] is not None or run.unknown == "diameter"
    any_length = (Route(burn_in_contraction.BOUND),) if convex and bounded else ()
    lower = () if run.unknown or run["diameter"] is None else (Route(lower_bound.BOUND),)
    published = tuple(r._replace(on_request=True) for r in converted(as_published.BOUND)) if convex else ()
    return (*full, *converted(rdp), *converted(composition.BOUND), *any_length, Route(profile),
            Route(composition.PROFILE), *lower, *published)


def _deterministic_batches(run: Run) -> Route:
    """The route for batches that are not random: it is known which steps use the record."""
    return Route(nonconvex.ITERATION if run["loss"] == ANY else iteration.BOUND)


def theorems() -> Iterator[Route]:
    for file, order, n, loss in product((None, "steps.json"), q.ORDER.choices, (1, 2), q.LOSS.choices[::-1]):
        options = {"schedule": file, "order": order, "n": n, "batch_size": 1, "loss": loss, "diameter": 1.0}
        yield from _routes(Run(COMMAND, Given(options, frozenset()), Question("epsilon"), _params))


# --- beside the rows -------------------------------------------------------------------------------------------------


def _burn_in_steps(run: Run, row: Row) -> int:
    """The number R of last steps that prove a row: that of its witness, or T where every step counts."""
    return int(row.witness.get("r", run["steps"]))


def _horizon(run: Run) -> int:
    """The horizon T̄ = ⌈Dn/(Lη)⌉ of Altschuler & Talwar 2022, computed exactly."""
    d, lipschitz, eta = (Fraction(run[k]) for k in ("diameter", "lipschitz", "learning_rate"))
    return ceil(d * int(run["n"]) / (lipschitz * eta))


_SMOOTH = "β-Lipschitz gradients of norm at most L"
_CONVEX = "convex, β-smooth, L-Lipschitz losses"
_ALL = "gradients of norm at most L; all iterates may be released"
_ASSUMES = {
    "composition": _ALL,
    "composition-profile": _ALL,
    **dict.fromkeys(("burn-in-rdp", "burn-in-profile", "burn-in-contraction", "iteration", "iteration-schedule"),
                    _CONVEX),
    **dict.fromkeys(("burn-in-rdp-nonconvex", "burn-in-profile-nonconvex", "iteration-nonconvex",
                     "iteration-schedule-nonconvex"), _SMOOTH),
}


def _losses(run: Run, name: str) -> str:
    """The assumptions on the losses and, where only the last iterate is released, on the start."""
    if _ASSUMES[name] == _ALL:
        return _ALL
    if run["diameter"]:
        return f"{_ASSUMES[name]}; w₀ lies in K, and both do not depend on the data"
    losses = STRONGLY_CONVEX if _ASSUMES[name] == _CONVEX and run["strong_convexity"] else _ASSUMES[name]
    return f"{losses}; w₀ does not depend on the data"


def _notes(run: Run, head: Row) -> tuple[str, ...]:
    """All notes of an answer: the assumptions of the headline, a missing set, the noise, and the steps that count."""
    steps, r, name, order = int(run["steps"]), _burn_in_steps(run, head), head.route.bound.name, run["order"]
    full = run["schedule"] is not None or run["n"] == run["batch_size"]
    batches = "" if full else "; batches are drawn afresh at every step"
    if not full and order != "random":
        which = "the last batch used" if run["index"] is None else f"batch {run['index']} of each pass"
        batches = f"; every pass has the same order, and the record is in {which}"
    assumed = (f"the bound assumes {_losses(run, name)}{batches}",) if name in _ASSUMES else ()
    distance = () if run["diameter"] else (
        "without --diameter, D is the largest distance between two runs, "
        f"{human_claimed(largest_distance(run), 1e-12)} (Altschuler & Talwar 2022, Remark 5.2)",)
    counted = f"the bound depends on all T = {steps} steps"
    if r < steps:
        convex = order == "random" and run["n"] != run["batch_size"] and _least_curvature(run) == 0
        counted = f"the bound depends on the last R = {r} of T = {steps} steps"
        if convex and run["diameter"]:
            counted += f"; the horizon of Altschuler & Talwar 2022 is T̄ = {_horizon(run)}"
    if name == "burn-in-contraction":
        counted = "the bound is the same for every number of steps: training longer costs no more privacy"
    noise = "σ is the noise on the mean gradient of a batch; the noise on the iterate is ησ"
    return *assumed, *distance, noise, counted
