"""dpcalc online-noise: the last iterate of noisy SGD over a stream, with a noise level for each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.bounds.online._engine.levels import Levels
    from dpcalc.commands.last_iterate import Companions, Method, Searches
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_LISTS = {"gaussian": "sigmas", "laplace": "scales"}
_LEVEL = {"gaussian": "sigma", "laplace": "scale"}
_SCHEDULE = ("c1", "c2", "decay")
_RUN = ("lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity")
_LIMIT = "an upper bound on the limit of δ as n → ∞ (eq. 13 and 15 of Sordello et al. 2021)"


def answer(given: Given) -> Answer:
    """ε or δ of one index, the parameter that meets a budget, or the noise levels as a table."""
    if given.has("schedule"):
        return _printed(given)
    from dpcalc.commands.last_iterate import Setting, answer

    return answer(COMMAND, Setting(_check, _searches, _bound_params, _companions), given)


def _check(given: Given, question: Question) -> tuple[Given, Question, set[str]]:
    """The call with n filled in from a list. Raises DpcalcError for options that are missing or not used."""
    from dpcalc.commands.last_iterate import check_place, level_option
    from dpcalc.core.errors import DpcalcError, flag

    unknown = question.unknown.name if question.unknown else None
    scheduled = bool(given.provided & set(_SCHEDULE)) or unknown == "c1"
    own = level_option(given, scheduled, _LISTS, " and --decay")
    used = {*_RUN, "noise", "n", "index", *(_SCHEDULE if scheduled or not given.has(own) else (own,))}
    used |= {"dimension"} if given["noise"] == "laplace" else set()
    where = f"with --noise {given['noise']}{' and a schedule' if scheduled else ''}"
    refuse_unneeded(given, used, where)
    check_unknown(question, used - {own}, where)
    if own in used:
        count = len(given[own])
        if unknown == "n" or given["n"] not in (None, count):
            raise DpcalcError("contradictory", f"{flag(own)} lists {count} steps, which fixes n; drop --n", "--n")
        given = given.replace({**given.values, "n": count})
    hint = f" (or give {flag(own)} instead of a schedule)" if not scheduled and own not in used else ""
    require(given, tuple(sorted(used - {"dimension"})), where + hint, unknown)
    check_place(given)
    return given, question, used


def _searches(given: Given, question: Question) -> tuple[Searches, tuple[str, ...]]:
    from dpcalc.commands.last_iterate import searches_by

    return searches_by(_methods(given["n"] == float("inf")), given, question)


def _methods(endless: bool) -> tuple[Method, ...]:
    """The bounds for n steps, or (`endless`) for the limit n → ∞."""
    from dpcalc.bounds import online as b
    from dpcalc.commands.last_iterate import GAUSSIAN_OR_LAPLACE, Method

    if endless:
        limit = replace(b.online_contraction.BOUND, theorem=b.online_contraction.BOUND.theorem._replace(status="limit"))
        return (Method(limit, (), GAUSSIAN_OR_LAPLACE, contracts=True),)
    return (
        Method(b.online_contraction.BOUND, (), GAUSSIAN_OR_LAPLACE, contracts=True),
        Method(b.online_hybrid.BOUND, (), contracts=True),
        Method(b.online_iteration.BOUND, (), contracts=True),
        Method(b.online_limit.BOUND, ("c1",), GAUSSIAN_OR_LAPLACE, usual=False, contracts=True),
    )


def _bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
    from dpcalc.bounds.pnsgd._engine.laws import LAWS

    return {**{k: values[k] for k in (*_RUN, "n", "index")}, "law": LAWS[values["noise"]], "levels": _levels(values)}


def _levels(values: Mapping[str, Any]) -> Levels:
    """The noise level of every step: as listed, or by the schedule."""
    from dpcalc.bounds.online._engine.levels import Listed, schedule

    listed = values.get(_LISTS[values["noise"]])
    if listed is not None:
        return Listed(listed)
    return schedule(values["noise"], **{k: values[k] for k in (*_RUN[1:], *_SCHEDULE)})


def _companions(values: Mapping[str, Any], params: dict[str, Any], question: Question,
                rows: tuple[Row, ...]) -> Companions:
    """The noise at the index, the worst index, and the limit of a schedule."""
    from math import inf

    from dpcalc.bounds.online import online_contraction, online_limit
    from dpcalc.commands import last_iterate_companions as c
    from dpcalc.commands.last_iterate import Companions
    from dpcalc.core.one_record import for_one

    index, epsilon = values["index"], c.epsilon_for_companions(question, rows[0])
    numbers: dict[str, float] = {_LEVEL[values["noise"]]: params["levels"].at(index)}
    notes, only = (c.noise_note(values["noise"]), *c.start_note(rows)), for_one(index)
    if epsilon is not None:
        more, only = c.worst_companions_at_epsilon(params, *_worst(values, params, epsilon, rows), epsilon, rows[0],
                                                   question)
        numbers |= more
    if epsilon is not None and values.get("c1") is not None:
        limit = online_limit.value(epsilon, **{k: params[k] for k in online_limit.BOUND.params})
        numbers |= c.limit_numbers(limit)
        if values["n"] < inf:
            more, note = c.limit_companions(limit, epsilon, params, online_contraction.BOUND, _LIMIT)
            numbers, notes = numbers | more, (*notes, note)
    return Companions(c.guarantee(question, rows, index), notes, numbers, only)


def _worst(values: Mapping[str, Any], params: Mapping[str, Any], epsilon: float,
           rows: tuple[Row, ...]) -> tuple[float, float]:
    """The index with the largest δ and its log δ: the last one under a schedule; else by the only bound of the rows, or
    by the smaller of the bounds at each index."""
    from math import inf

    from dpcalc.bounds.pnsgd._engine.step import move_ratio
    from dpcalc.commands.last_iterate_companions import log_delta_of

    last = values["n"]
    if last == inf:
        return inf, 0.0
    if values.get("c1") is not None:
        return last, params["law"].log_delta(epsilon, move_ratio(params["levels"].at(last), values["lipschitz"]))
    from dpcalc.bounds.online.listed import worst

    head, names = rows[0], {row.route.bound.name for row in rows}
    index, log_delta = worst(epsilon, by=names.pop() if len(names) == 1 else "",
                             **{k: v for k, v in params.items() if k != "index"})
    is_headline = index == values["index"] and head.result.get("epsilon") == epsilon
    return index, log_delta_of(head.result) if is_headline else log_delta


def _printed(given: Given) -> Answer:
    """The noise levels of the steps that --schedule names, as a table."""
    from dpcalc.commands.last_iterate_companions import noise_note
    from dpcalc.commands.step_range import step_range
    from dpcalc.core.errors import DpcalcError, flag
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Table

    needed = {*_RUN[1:], *_SCHEDULE, "noise", "schedule"}
    if beside := sorted(given.provided - needed - {"format", "input", "plot"}):
        raise DpcalcError("unneeded", "prints the noise of the steps and answers no question; drop "
                                      f"{', '.join(flag(name) for name in beside)}", "--schedule")
    require(given, tuple(sorted(needed - {"schedule"})), "to print a schedule")
    levels, steps = _levels(given.values), step_range(given["schedule"])
    name = _LEVEL[given["noise"]]
    table = Table(("step", name), tuple((j, levels.at(j)) for j in steps))
    shown = {k: v for k, v in given.values.items() if k in needed}
    record = {"kind": "schedule", "step": list(steps), name: [v for _, v in table.rows]}
    return Answer("online-noise", Question("guarantee"), shown, (), record, "replace-one", "last iterate",
                  (noise_note(given["noise"]),), table=table)


def theorems() -> Iterator[Route]:
    from dpcalc.commands.last_iterate import routes_of

    return (route for endless in (False, True) for route in routes_of(_methods(endless), "epsilon", True))


COMMAND = Command(
    "online-noise",
    "Privacy of the last iterate of noisy SGD over a stream, with a noise level for each step. The first iterate and "
    "the constraint set must not depend on the data.",
    (
        Option(q.NOISE, MECHANISM, default="gaussian"),
        Option(q.C1._replace(help="C₁ of Sordello et al. 2021, Thm 6/7 (scale of the noise; larger means more noise)"),
               MECHANISM),
        Option(q.C2._replace(help="C₂ of Sordello et al. 2021, Thm 6/7 (limits the noise of early steps)"), MECHANISM),
        Option(q.DECAY, MECHANISM),
        Option(q.SIGMAS, MECHANISM),
        Option(q.SCALES, MECHANISM),
        Option(q.SCHEDULE, MECHANISM),
        Option(q.LIPSCHITZ, RUN),
        Option(q.SMOOTHNESS, RUN),
        Option(q.STRONG_CONVEXITY, RUN, default=0.0),
        Option(q.LEARNING_RATE, RUN),
        Option(q.DIAMETER, RUN),
        Option(q.DIMENSION, RUN),
        Option(q.HORIZON, RUN),
        Option(q.INDEX._replace(help="step that uses the record; from 1 to n"), RUN),
    ),
    answer,
    (
        ("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 "
         "--c1 100 --c2 100 --index 100 --n 1e6 --epsilon 1", "δ = 2.15134e-08"),
        ("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 "
         "--c2 100 --index 100 --n 1e6 --epsilon 1 --delta 1e-7 --solve c1", "C1 = 87.4929"),
        ("online-noise --noise laplace --diameter 1 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 --c1 100 "
         "--c2 100 --schedule 1:1e6:5 --format csv | tail -n 1", "1000000,3.10210…"),
    ),
    theorems=theorems,
    asks="Ask with --delta (prints ε) or --epsilon (prints δ), or give both and --solve. --schedule prints the noise "
         "of the steps.",
    usual=("epsilon", "delta", "solve", "noise", "c1", "c2", "decay", "lipschitz", "smoothness",
           "learning_rate", "diameter", "n", "index"),
)
