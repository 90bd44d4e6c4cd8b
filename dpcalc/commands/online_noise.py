"""dpcalc online-noise: the last iterate of noisy SGD over a stream, with a noise level for each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.bounds.online._engine.levels import Levels
    from dpcalc.commands.last_iterate import Entry
    from dpcalc.core.one_record import OneRecord
    from dpcalc.core.quantities import Quantity
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_LISTS = {"gaussian": "sigmas", "laplace": "scales"}
_SCHEDULE = ("c1", "c2", "decay")
_RUN = ("lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity")
_MOST_ROWS = 1_000_000


def answer(given: Given) -> Answer:
    """ε or δ of one index, the parameter that meets a budget, or the noise levels as a table."""
    if given.has("schedule"):
        return _printed(given)
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.asking import asked
    from dpcalc.commands.last_iterate import check_step_size, chosen, expanded, guarantee, noise_note, routes, start_note
    from dpcalc.core.results import Answer

    question = asked(COMMAND, given)
    unknown = question.unknown.name if question.unknown else None
    given, used = _check(given, question)
    named = tuple(given["bound"] or ())
    entries = chosen(_entries(given["n"] == float("inf")), given.values, given["noise"], named, unknown)
    check_step_size(given.values, entries, unknown)
    ways = routes(entries, question.asks, bool(named))
    found = rows(ways, given, _derive, _in_range(question, given), expanded(named, entries, ways))
    values = {**given.values, **({unknown: found[0].result[unknown]} if unknown else {})}
    shown = {k: v for k, v in given.values.items() if k in used | {"epsilon", "delta", "alpha", "rdp"}}
    extra, notes, only = _extras(values, question, found)
    return Answer("online-noise", question, shown, found, guarantee(question, found, given["index"]), "replace-one",
                  "last iterate",
                  (noise_note(given["noise"]), *start_note(found), *notes), extra, only=only)


def _check(given: Given, question: Question) -> tuple[Given, set[str]]:
    """The call with n filled in from a list, and the options in use; refuses the useless and the missing."""
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
            raise DpcalcError("contradictory", f"{flag(own)} lists {count} steps already", "--n")
        given = given.having({**given.values, "n": count})
    hint = f" (or {flag(own)} for the schedule)" if not scheduled and own not in used else ""
    require(given, tuple(sorted(used - {"dimension"})), where + hint, unknown)
    check_place(given)
    return given, used


def _entries(endless: bool) -> tuple[Entry, ...]:
    from dpcalc.bounds import online as b
    from dpcalc.commands.last_iterate import BOTH, Entry

    if endless:
        return (Entry(b.online_contraction.BOUND._replace(status="limit"), (), BOTH, contracts=True),)
    return (
        Entry(b.online_contraction.BOUND, (), BOTH, contracts=True),
        Entry(b.online_hybrid.BOUND, (), contracts=True),
        Entry(b.online_iteration.BOUND, (), contracts=True),
        Entry(b.online_limit.BOUND, ("c1",), BOTH, usual=False, contracts=True),
    )


def _in_range(question: Question, given: Given) -> Question:
    """Where to look for the unknown."""
    unknown = question.unknown
    if unknown is None or unknown.name not in _RANGES:
        return question
    return question._replace(unknown=_RANGES[unknown.name](unknown, given))


def _range_of_n(unknown: Quantity, given: Given) -> Quantity:
    """From the index on."""
    return unknown._replace(kind="count", search=(float(given["index"]), unknown.search[1]))


def _range_of_steps(unknown: Quantity, given: Given) -> Quantity:
    from dpcalc.commands.last_iterate import downwards, steps_in_range

    return downwards(steps_in_range(unknown, given), given) if given["c1"] is not None else steps_in_range(unknown,
                                                                                                           given)


def _range_of_c1(unknown: Quantity, given: Given) -> Quantity:
    from math import log

    from dpcalc.commands.last_iterate import scales_in_range

    return scales_in_range(unknown, given, given["decay"] * log(given["index"]))


_RANGES = {"n": _range_of_n, "learning_rate": _range_of_steps, "c1": _range_of_c1}


def _derive(values: Mapping[str, Any]) -> dict[str, Any]:
    from dpcalc.bounds.pnsgd._engine.laws import LAWS

    return {**{k: values[k] for k in (*_RUN, "n", "index")}, "law": LAWS[values["noise"]], "levels": _levels(values)}


def _levels(values: Mapping[str, Any]) -> Levels:
    from dpcalc.bounds.online._engine.levels import Listed, schedule

    listed = values.get(_LISTS[values["noise"]])
    if listed is not None:
        return Listed(listed)
    return schedule(values["noise"], **{k: values[k] for k in (*_RUN[1:], *_SCHEDULE)})


def _extras(values: Mapping[str, Any], question: Question, found: tuple[Row, ...]) -> tuple[dict[str, float],
                                                                                            tuple[str, ...], OneRecord]:
    """The noise at the index, the limit of a schedule, and the worst index."""
    from math import inf

    from dpcalc.bounds.online import online_contraction, online_limit
    from dpcalc.commands.last_iterate import beside_limit, beside_worst, epsilon_beside, limit_delta
    from dpcalc.core.one_record import for_one

    params, epsilon = _derive(values), epsilon_beside(question, found[0])
    level = params["levels"].at(values["index"])
    extra: dict[str, float] = {"sigma" if values["noise"] == "gaussian" else "scale": level}
    if epsilon is None:
        return extra, (), for_one(values["index"])
    worst, log_delta = _worst(values, params, epsilon, found)
    numbers, only = beside_worst(params, worst, log_delta, epsilon, found[0], question)
    extra |= numbers
    notes = []
    if values.get("c1") is not None:
        limit = online_limit.value(epsilon, **{k: params[k] for k in online_limit.BOUND.params})
        extra |= {"delta_limit": limit_delta(limit)} | ({"log_delta_limit": limit} if limit > -inf else {})
        if values["n"] < inf:
            now = online_contraction.value(epsilon, **{k: params[k] for k in online_contraction.BOUND.params})
            numbers, note = beside_limit(limit, now, "online-contraction", _LIMIT)
            extra |= numbers
            notes.append(note)
    return extra, tuple(notes), only


_LIMIT = "an upper bound on what δ tends to as n → ∞ (eq. 13 and 15 of Sordello et al. 2021; --n inf gives the limit itself)"


def _worst(values: Mapping[str, Any], params: Mapping[str, Any], epsilon: float,
           found: tuple[Row, ...]) -> tuple[float, float]:
    """The index with the largest δ and its log δ: the last one under a schedule, else by the smaller bound for each; by
    the one that alone was asked for."""
    from math import inf

    from dpcalc.commands.last_iterate import told_log

    if values["n"] == inf:
        return inf, 0.0
    if values.get("c1") is not None:
        from dpcalc.bounds.pnsgd._engine.step import move_ratio

        return values["n"], params["law"].log_delta(epsilon,
                                                    move_ratio(params["levels"].at(values["n"]), values["lipschitz"]))
    from dpcalc.bounds.online.listed import worst

    head, names = found[0], {row.route.bound.name for row in found}
    by = names.pop() if len(names) == 1 else ""

    index, log_delta = worst(epsilon, by=by, **{k: v for k, v in params.items() if k != "index"})
    is_told = index == values["index"] and head.result.get("epsilon") == epsilon
    return index, told_log(head.result) if is_told else log_delta


def _printed(given: Given) -> Answer:
    """The noise levels of the steps FIRST:LAST."""
    from dpcalc.commands.last_iterate import noise_note
    from dpcalc.core.errors import DpcalcError, flag
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Table

    needed = {*_RUN[1:], *_SCHEDULE, "noise", "schedule"}
    if beside := sorted(given.provided - needed - {"format", "input", "plot"}):
        raise DpcalcError("unneeded", "prints the noise of the steps and answers no question; leave out "
                          f"{', '.join(flag(name) for name in beside)}", "--schedule")
    require(given, tuple(sorted(needed - {"schedule"})), "to print a schedule")
    levels, steps = _levels(given.values), _steps(given["schedule"])
    name = "sigma" if given["noise"] == "gaussian" else "scale"
    table = Table(("step", name), tuple((j, levels.at(j)) for j in steps))
    shown = {k: v for k, v in given.values.items() if k in needed}
    record = {"kind": "schedule", "step": list(steps), name: [v for _, v in table.rows]}
    return Answer("online-noise", Question("guarantee"), shown, (), record, "replace-one", "last iterate",
                  (noise_note(given["noise"]),), table=table)


def _steps(text: str) -> tuple[int, ...]:
    """FIRST:LAST, every step, or FIRST:LAST:COUNT, evenly spaced."""
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.numbers import NotANumber, number

    try:
        parts = [number(p) for p in text.split(":")]
        first, last, *rest = parts
        count = rest[0] if rest else last - first + 1
        fine = len(parts) <= 3 and all(p == int(p) for p in parts) and 1 <= first <= last <= 2**53 and count >= 1
    except (NotANumber, ValueError):
        fine = False
    if not fine:
        raise DpcalcError("not-a-number",
                          f"{text!r} is not FIRST:LAST or FIRST:LAST:COUNT, whole numbers with 1 <= FIRST <= LAST",
                          "--schedule")
    count = min(count, last - first + 1)
    if count > _MOST_ROWS:
        raise DpcalcError("out-of-range", f"{count:g} rows; at most {_MOST_ROWS:g}: add :COUNT", "--schedule")
    gaps = max(int(count) - 1, 1)
    return tuple(int(first) + (int(last - first) * k) // gaps for k in range(int(count)))


def theorems() -> Iterator[Route]:
    from dpcalc.commands.last_iterate import routes

    return (route for endless in (False, True) for route in routes(_entries(endless), "epsilon", True))


COMMAND = Command(
    "online-noise",
    "Privacy of the last iterate of noisy SGD over a stream, with noise that decays. "
    "The first iterate and the constraint set must not depend on the data",
    (
        Option(q.NOISE, MECHANISM, default="gaussian"),
        Option(q.C1, MECHANISM),
        Option(q.C2, MECHANISM),
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
        Option(q.INDEX, RUN),
    ),
    answer,
    (
        ("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 "
         "--c1 100 --c2 100 "
         "--index 100 --n 1e6 --epsilon 1", "δ = 2.15134e-08"),
        ("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 "
         "--c2 100 "
         "--index 100 --n 1e6 --epsilon 1 --delta 1e-7 --solve c1", "C1 = 87.4929"),
        ("online-noise --noise laplace --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100 "
         "--schedule 1:1e6:5 --format csv | tail -n 1", "1000000,3.10210…"),
    ),
    theorems=theorems,
    asks="Ask with --delta (prints ε) or --epsilon (prints δ), or give both and --solve; --schedule prints the noise "
         "of the steps.",
)
