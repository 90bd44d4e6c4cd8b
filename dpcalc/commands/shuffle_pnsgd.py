"""dpcalc shuffle-pnsgd: the last iterate of (projected) noisy SGD, records shuffled or in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.commands import partial_passes
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Entry
    from dpcalc.core.one_record import OneRecord
    from dpcalc.core.quantities import Quantity
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_CONVEX = ("lipschitz", "diameter", "learning_rate", "smoothness")
_FREE = ("lipschitz", "learning_rate", "smoothness")
_NOISE = {"gaussian": "sigma", "laplace": "scale"}


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the last iterate, or the parameter that meets a budget."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.last_iterate import check_step_size, chosen, expanded, guarantee, in_directions, routes, start_note
    from dpcalc.core.errors import EveryValueMeets, NoSolution, OutOfScope
    from dpcalc.core.results import Answer

    question = _question(given)
    unknown = question.unknown.name if question.unknown else None
    named = tuple(given["bound"] or ())
    partial = bool(partial_passes.named(named))
    used = _check(given, question, partial)
    every = partial_passes.entries(question, named) if partial else _entries(given)
    _check_order(given, named, every)
    entries = chosen(every, given.values, given["noise"], named, unknown)
    _one_release(entries)
    _check_release(given, entries)
    check_step_size(given.values, entries, unknown, every)
    epochs = unknown == "epochs" or _passes(given.values) > 1 or any(name.endswith("-basic") for name in named)
    curves = [e.bound.name for e in every if e.bound.kind == "rdp" and given["noise"] in e.noises and e.usual]
    ways = routes(entries, question.asks, bool(named), epochs and not partial, unknown is not None, curves)
    try:
        found = in_directions(_directions(question, given, ways), expanded(named, entries, ways),
                              lambda asked, some, names: rows(some, given, _derive, asked, names))
    except EveryValueMeets:
        raise
    except (NoSolution, OutOfScope):
        if unknown != "epochs" or partial or not (found := _of_one_epoch(given, question, entries, named)):
            raise
    values = {**given.values, **({unknown: found[0].result[unknown]} if unknown else {})}
    if partial:
        found = partial_passes.refuted_where(found, _derive(values))
        found += partial_passes.companions(given, question, found, _derive)
    shown = {k: v for k, v in given.values.items() if k in used | {"epsilon", "delta", "alpha", "rdp"}}
    extra, notes, only = _extras(values, question, found)
    read_next = guarantee(question, found, given["index"])
    return Answer("shuffle-pnsgd", question, shown, found, read_next, "replace-one", _released(found, values),
                  (_noise(given, found), *start_note(found), *notes), extra, only=only)


def _of_one_epoch(given: Given, question: Question, entries: tuple[Entry, ...], named: tuple[str, ...]) -> tuple[Row,
                                                                                                                 ...]:
    """The rows of one epoch that meet the budget: there more bounds apply than are composed, and one may just meet
    it."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.last_iterate import expanded, routes
    from dpcalc.core.errors import DpcalcError

    once, every = given.having({**given.values, "epochs": 1}), routes(entries, question.asks, bool(named), True)
    ways = tuple(way for way in every if named or not way.bound.name.endswith("-basic"))
    try:
        found = rows(ways, once, _derive, question._replace(unknown=None, target=None), expanded(named, entries, ways))
    except DpcalcError:
        return ()
    met = (row for row in found if row.result[question.asks] <= (question.target or 0.0)
           and row.route.bound.status == "proven")
    return tuple(row._replace(result={"epochs": 1, **row.result}) for row in met)


# --- what is asked, and what it needs --------------------------------------------------------------------------------


def _question(given: Given) -> Question:
    from dpcalc.commands.asking import asked

    return asked(COMMAND, given)


def _check(given: Given, question: Question, partial: bool) -> set[str]:
    """The options in use; refuses the useless, the contradictory and the missing."""
    from dpcalc.commands.last_iterate import check_place, level_option
    from dpcalc.core.errors import DpcalcError, flag

    scheduled = given.provided & {"c1", "c2"} or (question.unknown is not None and question.unknown.name == "c1")
    if scheduled and partial:
        raise DpcalcError("unneeded", "not used for partial passes, which take --sigma",
                          flag(min(given.provided & {"c1", "c2"} or {"c1"})))
    own = level_option(given, bool(scheduled), _NOISE)
    passes_of = {"strong_convexity", "n", "index", "epochs", "steps", "release"}
    run = {"lipschitz", "n", "epochs", "tau", "constant"} if partial else {*_CONVEX, *passes_of}
    levels = {"c1", "c2"} if scheduled else {own}
    used = run | levels | {"noise"} | ({"dimension"} if given["noise"] == "laplace" else set())
    unknown = question.unknown.name if question.unknown else None
    where = "for partial passes" if partial else f"with --noise {given['noise']}{' and a schedule' if scheduled else ''}"
    if partial:
        require(given, ("tau",), where, unknown)  # before what is not used without it
    passes = given.provided & {"tau", "constant"} - used
    refuse_unneeded(given, used, f"here, only by --bound {partial_passes.ways()}" if passes else where)
    check_unknown(question, used, where)
    require(given, tuple(sorted(levels | {"n", "lipschitz"} | (set(_CONVEX) if scheduled else set()))), where, unknown)
    if given.has("steps"):
        _check_steps(given, unknown)
    if scheduled and unknown == "n":
        raise DpcalcError("refused", "under a schedule δ is not monotone in n", "--solve")
    check_place(given)
    return used


def _check_steps(given: Given, unknown: str | None) -> None:
    """A pass may stop in the middle where the order is secret: a record of a known place would be nearer to the end
    than its place says."""
    from dpcalc.core.errors import DpcalcError

    if given.has("epochs") or unknown == "epochs":
        raise DpcalcError("contradictory", "--epochs already says the number of steps", "--steps")
    if unknown == "n":
        raise DpcalcError("refused", "with --steps δ is not monotone in n; give --epochs", "--solve")
    if given["index"] is not None and given["steps"] % given["n"]:
        raise DpcalcError("contradictory",
                          f"{given['steps']} is no multiple of n = {given['n']}: where a pass stops in the middle, "
                          "fewer steps follow a record of a known place (--index) than its place says; give --epochs",
                          "--steps")


def _check_release(given: Given, entries: tuple[Entry, ...]) -> None:
    """Bounds about another release than the last iterate of a pass know of whole passes only, each released."""
    from dpcalc.core.errors import DpcalcError

    others = [e.bound for e in entries if e.bound.released != "last iterate"]
    asked = [name for name in ("steps", "release") if given.has(name) and given[name] != "every-epoch"]
    if others and asked:
        raise DpcalcError("contradictory", f"{others[0].name} is about {others[0].released}, once in every pass",
                          f"--{asked[0]}")


def _directions(question: Question, given: Given, ways: tuple[Route, ...]) -> tuple[tuple[Question, tuple[Route, ...]],
                                                                                    ...]:
    """Where to look for the unknown, by which bounds: a learning rate downwards by those that lose less with smaller
    steps, which come second; under a schedule, whose noise falls with it, by all."""
    from dpcalc.commands.last_iterate import downwards

    unknown = question.unknown
    if unknown is None or unknown.name not in _RANGES:
        return ((question, ways),)
    ranged = _RANGES[unknown.name](unknown, given)
    if unknown.name != "learning_rate":
        return ((question._replace(unknown=ranged), ways),)
    down = {r: given["c1"] is not None or unknown.name in r.bound.riskier for r in ways}
    free = unknown.search if all(unknown.name in r.bound.riskier for r in ways) else ranged.search
    both = ((unknown._replace(search=ranged.search), False), (downwards(unknown._replace(search=free), given), True))
    return tuple((question._replace(unknown=u), some) for u, way in both
                 if (some := tuple(r for r in ways if down[r] == way)))


def _range_of_n(unknown: Quantity, given: Given) -> Quantity:
    """From the index on."""
    return unknown._replace(search=(float(given["index"] or unknown.search[0]), unknown.search[1]))


def _range_of_steps(unknown: Quantity, given: Given) -> Quantity:
    from dpcalc.commands.last_iterate import steps_in_range

    return steps_in_range(unknown, given)


def _range_of_c1(unknown: Quantity, given: Given) -> Quantity:
    from math import log

    from dpcalc.commands.last_iterate import scales_in_range

    return scales_in_range(unknown, given, log(given["n"]))


_RANGES = {"n": _range_of_n, "learning_rate": _range_of_steps, "c1": _range_of_c1}


# --- the bounds ------------------------------------------------------------------------------------------------------


def _entries(given: Given) -> tuple[Entry, ...]:
    """By order of the records."""
    from dpcalc.bounds import hiding as h
    from dpcalc.bounds import pnsgd as b
    from dpcalc.commands.last_iterate import BOTH, Entry

    stopped = (Entry(b.randomly_stopped.BOUND, _CONVEX, BOTH, usual=False, contracts=True),
               Entry(b.randomly_stopped_loose.BOUND, _CONVEX, BOTH, usual=False, contracts=True))
    if given["index"] is not None:
        return (
            Entry(b.fixed_order_hybrid.BOUND, _CONVEX, contracts=True),
            Entry(b.fixed_order.BOUND, _CONVEX, BOTH, contracts=True),
            Entry(b.fixed_order_iteration.BOUND, _FREE, contracts=True),
            Entry(b.fixed_order_iteration_rdp.BOUND, _FREE, contracts=True),
            Entry(b.smooth_nonconvex_exact.BOUND, _FREE, family="smooth-nonconvex"),
            Entry(b.smooth_nonconvex.BOUND, _FREE),
            *stopped,
            Entry(b.output_perturbation_exact.BOUND, _FREE, family="output-perturbation", usual=False),
            Entry(b.output_perturbation.BOUND, _FREE, usual=False),
        )
    last = (Entry(h.shuffled_hiding_last.BOUND, _FREE, contracts=True),) if given["release"] == "last-iterate" else ()
    return (
        *last,
        Entry(h.shuffled_hiding.BOUND, _FREE, contracts=True),
        Entry(h.shuffled_hiding_laplace.BOUND, _CONVEX, ("laplace",), contracts=True),
        Entry(b.shuffled_contraction.BOUND, _CONVEX, BOTH, contracts=True),
        Entry(b.shuffled_iteration.BOUND, _FREE, contracts=True),
        Entry(b.shuffled_iteration_rdp.BOUND, _FREE, contracts=True),
        Entry(b.shuffled_limit.BOUND, (*_CONVEX, "c1"), BOTH, contracts=True),
        Entry(h.smooth_nonconvex_shuffled_hiding.BOUND, _FREE, family="smooth-nonconvex"),
        Entry(b.smooth_nonconvex_shuffled_exact.BOUND, _FREE, family="smooth-nonconvex"),
        Entry(b.smooth_nonconvex_shuffled.BOUND, _FREE, family="smooth-nonconvex"),
        Entry(b.smooth_nonconvex_high_noise.BOUND, _FREE, usual=False),
        *stopped,
        Entry(h.output_perturbation_shuffled_hiding.BOUND, _FREE, family="output-perturbation", usual=False),
        Entry(b.output_perturbation_shuffled_exact.BOUND, _FREE, family="output-perturbation", usual=False),
        Entry(b.output_perturbation_shuffled.BOUND, _FREE, family="output-perturbation", usual=False),
    )


def _derive(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the bounds read: the noise level, from a schedule where there is one, and the law of the noise."""
    from dpcalc.bounds.pnsgd._engine.laws import LAWS

    params = {k: values.get(k) for k in (*_CONVEX, "strong_convexity", "n", "tau", "constant", "c1")}
    partial = values.get("tau") is not None
    passes = _passes(values)
    params |= {"law": LAWS[values["noise"]], "level": _level(values), "index": values.get("index") or 1,
               "passes": passes, "steps": 1 if partial else passes,
               "iterations": values.get("steps") or passes * (values.get("n") or 1)}
    return params


def _passes(values: Mapping[str, Any]) -> int:
    """The number of passes, the last one perhaps cut short."""
    return -(-values["steps"] // (values.get("n") or 1)) if values.get("steps") else int(values["epochs"])


def _level(values: Mapping[str, Any]) -> float:
    from dpcalc.bounds.pnsgd._engine.schedules import level

    if values.get("c1") is None:
        return float(values[_NOISE[values["noise"]]])
    p = {k: values[k] for k in ("n", "diameter", "learning_rate", "smoothness", "strong_convexity", "c1", "c2")}
    return level(values["noise"], **p)


# --- what is said beside the numbers ---------------------------------------------------------------------------------


def _extras(values: Mapping[str, Any], question: Question,
            found: tuple[Row, ...]) -> tuple[dict[str, float], tuple[str, ...], OneRecord | None]:
    """The noise level; the limit of a schedule; the worst index."""
    from dpcalc.commands.last_iterate import epsilon_beside
    from dpcalc.core.one_record import for_one

    params = _derive(values)
    extra: dict[str, float] = {_NOISE[values["noise"]]: params["level"]}
    notes: list[str] = []
    epsilon = epsilon_beside(question, found[0])
    placed = values.get("index") is not None and values.get("tau") is None
    only = for_one(values["index"]) if placed else None
    if placed and question.asks == "rdp":
        return _worst_rdp(values, params, question, found[0], extra)
    if epsilon is None or epsilon == float("inf"):
        return extra, (), only
    once = _passes(values) == 1
    if once and values.get("c1") is not None and values.get("index") is None:
        from dpcalc.bounds.pnsgd import shuffled_contraction, shuffled_limit
        from dpcalc.commands.last_iterate import beside_limit

        limit = shuffled_limit.value(epsilon, params["law"], values["c1"])
        now = shuffled_contraction.value(epsilon, **{k: params[k] for k in shuffled_contraction.BOUND.params})
        numbers, note = beside_limit(limit, now, "shuffled-contraction", "the limit of shuffled-contraction as n → ∞")
        extra |= numbers
        notes.append(note)
    if placed:
        from dpcalc.commands.last_iterate import beside_worst, worst_position

        worst, log_delta = worst_position(epsilon, params, found[0])
        numbers, only = beside_worst(params, worst, log_delta, epsilon, found[0], question)
        extra |= numbers
    return extra, tuple(notes), only


def _worst_rdp(values: Mapping[str, Any], params: Mapping[str, Any], question: Question, head: Row,
               extra: dict[str, float]) -> tuple[dict[str, float], tuple[str, ...], OneRecord]:
    """The worst position, where an RDP value is asked for."""
    from dpcalc.commands.last_iterate import value_of_worst, worst_index

    worst = worst_index(params, head)
    numbers, only = value_of_worst(head, {**params, "index": worst}, question, params["index"], worst)
    return {**extra, **numbers}, (), only


def _released(found: tuple[Row, ...], values: Mapping[str, Any]) -> str:
    from dpcalc.bounds.pnsgd._engine.output import RELEASED

    released = found[0].route.bound.released
    if values.get("tau") is not None or _passes(values) == 1 or values.get("release") == "last-iterate":
        return released
    return f"{released} in every epoch, from which the next one starts" if released == RELEASED else f"{released} of every epoch"


def _check_order(given: Given, named: tuple[str, ...], every: tuple[Entry, ...]) -> None:
    """Bounds that are about one position of a fixed order need it; those over shuffled records have none."""
    from dpcalc.core.errors import DpcalcError

    placed = given["index"] is not None
    other_way = _entries(Given({"index": None if placed else 1}, frozenset()))
    others = {n for e in other_way for n in e.names} - {n for e in every for n in e.names}
    for name in named:
        if name.removesuffix("-basic") in others:
            raise DpcalcError(*(("unneeded", f"not used by {name}, which is about shuffled records", "--index")
                                if placed else
                                ("missing", f"needed by {name}: the position of the record in the fixed order",
                                 "--index")))


def _one_release(entries: tuple[Entry, ...]) -> None:
    """Bounds that are about different algorithms do not belong in one table: the smallest would be the headline."""
    from dpcalc.core.errors import DpcalcError

    kinds = sorted({e.bound.released for e in entries})
    if len(kinds) > 1:
        raise DpcalcError("contradictory",
                          f"these bounds are about different releases: {'; '.join(kinds)}; name one kind", "--bound")


def _noise(given: Given, found: tuple[Row, ...]) -> str:
    from dpcalc.bounds.pnsgd._engine.output import RELEASED
    from dpcalc.commands.last_iterate import noise_note

    once = found[0].route.bound.released == RELEASED
    return "σ is the standard deviation of the noise added once, to the output" if once else noise_note(given["noise"])


def theorems() -> Iterator[Route]:
    from dpcalc.bounds.conversions import composition_basic
    from dpcalc.commands.last_iterate import routes
    from dpcalc.core.results import Route

    for index in (None, 1):
        yield from routes(_entries(Given({"index": index, "release": "last-iterate"}, frozenset())), "epsilon", True)
    yield Route(composition_basic.BOUND)  # of epochs
    yield from partial_passes.theorems()


COMMAND = Command(
    "shuffle-pnsgd",
    "Privacy of the last iterate of (projected) noisy SGD, records shuffled or in a fixed order. "
    "The first iterate and the constraint set must not depend on the data",
    (
        Option(q.NOISE, MECHANISM, default="gaussian"),
        Option(q.SIGMA._replace(help="standard deviation of the Gaussian noise on every gradient, or added once to the "
                                     "output"), MECHANISM),
        Option(q.SCALE, MECHANISM),
        Option(q.C1, MECHANISM),
        Option(q.C2, MECHANISM),
        Option(q.LIPSCHITZ, RUN),
        Option(q.SMOOTHNESS, RUN),
        Option(q.STRONG_CONVEXITY, RUN, default=0.0),
        Option(q.LEARNING_RATE, RUN),
        Option(q.DIAMETER, RUN),
        Option(q.DIMENSION, RUN),
        Option(q.N, RUN),
        Option(q.INDEX, RUN),
        Option(q.PASSES, RUN, default=1),
        Option(q.STEPS_OF_PASSES, RUN),
        Option(q.RELEASE_OF_PASSES, RUN),
        Option(q.TAU, RUN),
        Option(q.CONSTANT, RUN, default=16.0),
    ),
    answer,
    (
        ("shuffle-pnsgd --sigma .5 --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1000 --epsilon 1",
         "δ = 0.00165979"),
        ("shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --smoothness .5 --learning-rate .1 --diameter 1 "
         "--n 1e6 --epsilon 1",
         "δ = 1.48377e-10"),
    ),
    theorems=theorems,
)
