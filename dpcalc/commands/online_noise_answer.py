"""The answer of online-noise: ε or δ of one index, the parameter that meets a budget, or a table of noise levels."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from dpcalc.bounds.online import online_contraction, online_hybrid
from dpcalc.bounds.online._engine.levels import Levels, Listed, schedule
from dpcalc.bounds.pnsgd._engine.laws import LAWS
from dpcalc.bounds.pnsgd._engine.step import move_ratio
from dpcalc.commands import last_iterate_companions as c
from dpcalc.commands.asking import lipschitz_hint, read_question, step_range
from dpcalc.commands.last_iterate import GAUSSIAN_OR_LAPLACE, PLACE, Method, levels, routes_of, rows_by
from dpcalc.commands.online_noise import COMMAND
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Mode, check, require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.results import Answer, Question, Route, Row, Table, for_one
from dpcalc.core.run import Run

_LISTS, _LEVEL = {"gaussian": "sigmas", "laplace": "scales"}, {"gaussian": "sigma", "laplace": "scale"}
_SCHEDULE = ("c1", "c2", "decay")
_RUN = ("lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity")
_METHODS = (
    Method(online_contraction.BOUND, (), GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(online_hybrid.BOUND, (), contracts=True),
    Method(online_hybrid.ITERATION, (), contracts=True),
    Method(online_contraction.LIMIT, ("c1",), GAUSSIAN_OR_LAPLACE, usual=False, contracts=True),
)
_ENDLESS = (Method(replace(online_contraction.BOUND, theorem=online_contraction.BOUND.theorem._replace(status="limit")),
                   (), GAUSSIAN_OR_LAPLACE, contracts=True),)


def answer(given: Given) -> Answer:
    if given.has("schedule"):
        return _printed(given)
    run = _checked(given)
    rows = rows_by(run, _ENDLESS if run["n"] == inf else _METHODS)
    run, head = run.solved(rows), rows[0]
    params, noise, index = run.params, run["noise"], run["index"]
    epsilon = c.epsilon_for_companions(run, head)
    numbers: dict[str, float] = {_LEVEL[noise]: params["levels"].at(index)}
    notes = (*c.setting_note(rows[0]), c.noise_note(noise), *c.start_note(rows))
    only = for_one(index)
    if epsilon is not None:
        more, only = c.worst_companions_at_epsilon(run, head, epsilon, *_worst(run, epsilon, rows))
        numbers |= more
    if epsilon is not None and run["c1"] is not None:
        limit = online_contraction.LIMIT.value(epsilon, **{k: params[k] for k in online_contraction.LIMIT.params})
        numbers |= c.limit_numbers(limit)
        if run["n"] < inf:
            more, note = c.limit_companions(limit, epsilon, params, online_contraction.BOUND, "an upper bound on the "
                                            "limit of δ as n → ∞ (eq. 13 and 15 of Sordello et al. 2021)")
            numbers, notes = numbers | more, (*notes, note)
    return run.answer(rows, c.guarantee(run, rows), "replace-one", "last iterate", notes, numbers, only=only)


def _checked(given: Given) -> Run:
    """The run with the options that it uses, and with n filled in from a list. Raises DpcalcError for options that are
    missing or not used."""
    run = Run(COMMAND, given, read_question(COMMAND, given), _params)
    noise, own = run["noise"], _LISTS[run["noise"]]
    scheduled = bool(given.provided & set(_SCHEDULE)) or run.unknown == "c1"
    listed = given.has(own) and not scheduled
    needs = {*_RUN, "noise", "n", "index", *((own,) if listed else _SCHEDULE)}
    uses = frozenset(needs | ({"dimension"} if noise == "laplace" else set()))
    where = f"with --noise {noise}{' and a schedule' if scheduled else ''}"
    by = where if scheduled or listed else f"{where} (or give {flag(own)} instead of a schedule)"
    count = len(run[own]) if listed else None
    fixed = Check((own,), lambda _: listed and (run.unknown == "n" or run["n"] not in (None, count)),
                  f"{flag(own)} lists {count} steps, which fixes n; drop --n", "contradictory", "--n")
    check(run, *levels(_LISTS, scheduled, "--c1 with --c2 and --decay"), fixed,
          Mode(uses, sorted(needs - {"n"} if listed else needs), where, by, hints=lipschitz_hint(given)))
    run = replace(run.completed(n=count) if listed else run, uses=uses)
    check(run, *PLACE)
    return run


def _params(run: Run) -> Params:
    return {**{k: run[k] for k in (*_RUN, "n", "index")}, "law": LAWS[run["noise"]], "levels": _levels(run)}


def _levels(options: Mapping[str, Any]) -> Levels:
    """The noise level of every step: as listed, or by the schedule."""
    listed = options.get(_LISTS[options["noise"]])
    if listed is not None:
        return Listed(listed)
    return schedule(options["noise"], **{k: options[k] for k in (*_RUN[1:], *_SCHEDULE)})


def _worst(run: Run, epsilon: float, rows: tuple[Row, ...]) -> tuple[float, float]:
    """The index with the largest δ and its log δ: the last one under a schedule; else by the only bound of the rows, or
    by the smaller of the bounds at each index."""
    params, last = run.params, run["n"]
    if last == inf:
        return inf, 0.0
    if run["c1"] is not None:
        return last, params["law"].log_delta(epsilon, move_ratio(params["levels"].at(last), run["lipschitz"]))
    from dpcalc.bounds.online.listed import worst  # imports numpy

    head, names = rows[0], {row.route.bound.name for row in rows}
    index, log_delta = worst(epsilon, by=names.pop() if len(names) == 1 else "",
                             **{k: v for k, v in params.items() if k != "index"})
    is_headline = index == run["index"] and head.result.get("epsilon") == epsilon
    return index, c.log_delta_of(head.result) if is_headline else log_delta


def _printed(given: Given) -> Answer:
    """The noise levels of the steps that --schedule names, as a table."""
    needed = {*_RUN[1:], *_SCHEDULE, "noise", "schedule"}
    if beside := sorted(given.provided - needed - {"format", "input", "plot"}):
        raise DpcalcError("unneeded", "prints the noise of the steps and answers no question; drop "
                                      f"{', '.join(map(flag, beside))}", "--schedule")
    require(given, sorted(needed - {"schedule"}), "to print a schedule")
    levels, steps, name = _levels(given.values), step_range(given["schedule"]), _LEVEL[given["noise"]]
    table = Table(("step", name), tuple((j, levels.at(j)) for j in steps))
    record = {"kind": "schedule", "step": list(steps), name: [v for _, v in table.rows]}
    run = Run(COMMAND, given, Question("guarantee"), _params, frozenset(needed))
    return run.answer((), record, "replace-one", "last iterate", (c.noise_note(given["noise"]),), table=table)


def theorems() -> Iterator[Route]:
    return (route for methods in (_METHODS, _ENDLESS) for route in routes_of(methods, "epsilon", True))
