"""dpcalc shuffle-pnsgd: the last iterate of (projected) noisy SGD, records shuffled or in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.commands import partial_passes
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.commands.last_iterate import Companions, Method, Searches
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_CONVEX = ("lipschitz", "diameter", "learning_rate", "smoothness")
_NOISE = {"gaussian": "sigma", "laplace": "scale"}


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the last iterate, or the parameter that meets a budget."""
    from dpcalc.commands.last_iterate import Setting, answer

    setting = Setting(_check, _searches, _bound_params, _companions, _one_epoch, _with_partial_passes)
    return answer(COMMAND, setting, given)


def _names(given: Given) -> tuple[str, ...]:
    return tuple(given["bound"] or ())


def _is_partial(given: Given) -> bool:
    """Whether --bound names a bound about partial passes."""
    return bool(partial_passes.named(_names(given)))


def _methods(given: Given) -> tuple[Method, ...]:
    from dpcalc.commands.shuffle_methods import methods

    placed = given["index"] is not None
    if not placed and not given["bound"]:
        # Some of the bounds for shuffled records use arrays. Where numpy is first imported deep within a search, its
        # import takes 15 ms longer: loops in it call functions across the end of a piece of CPython's stack of frames,
        # and each of those calls allocates the next piece, 16 kB, anew.
        import numpy  # noqa: F401
    return methods(placed, given["release"] == "last-iterate")


# --- options ---------------------------------------------------------------------------------------------------------


def _check(given: Given, question: Question) -> tuple[Given, Question, set[str]]:
    from dpcalc.commands.last_iterate import check_place, level_option
    from dpcalc.core.errors import DpcalcError, flag

    partial, unknown = _is_partial(given), question.unknown.name if question.unknown else None
    scheduled = bool(given.provided & {"c1", "c2"}) or unknown == "c1"
    if scheduled and partial:
        raise DpcalcError("unneeded", "not used with --tau (partial passes); give --sigma instead",
                          flag(min(given.provided & {"c1", "c2"} or {"c1"})))
    own = level_option(given, scheduled, _NOISE)
    passes_of = {"strong_convexity", "n", "index", "epochs", "steps", "release"}
    run = {"lipschitz", "n", "epochs", "tau", "constant"} if partial else {*_CONVEX, *passes_of}
    levels = {"c1", "c2"} if scheduled else {own}
    used = run | levels | {"noise"} | ({"dimension"} if given["noise"] == "laplace" else set())
    where = f"with --noise {given['noise']}{' and a schedule' if scheduled else ''}"
    if partial:
        where = "with --tau (partial passes)"
        require(given, ("tau",), where, unknown)  # before what is not used without it
    passes = given.provided & {"tau", "constant"} - used
    refuse_unneeded(given, used, f"without --bound {partial_passes.names_for_every_question()}"
                    if passes else where)
    check_unknown(question, used, where)
    require(given, tuple(sorted(levels | {"n", "lipschitz"} | (set(_CONVEX) if scheduled else set()))), where, unknown)
    if given.has("steps"):
        _check_steps(given, unknown)
    if scheduled and unknown == "n":
        raise DpcalcError("refused", "n has no unique solution, as δ under a schedule is not monotone in n; solve for "
                                     "another option", "--solve")
    check_place(given)
    return given, question, used


def _check_steps(given: Given, unknown: str | None) -> None:
    """Raises DpcalcError where --steps cannot stand. A pass may stop in the middle only where the order is secret: of a
    record whose place is known, fewer steps would follow than its place says."""
    from dpcalc.core.errors import DpcalcError

    if given.has("epochs") or unknown == "epochs":
        raise DpcalcError("contradictory", "give --steps or --epochs, not both", "--steps")
    if unknown == "n":
        raise DpcalcError("refused", "n has no unique solution with --steps; give --epochs instead", "--solve")
    if given["index"] is not None and given["steps"] % given["n"]:
        raise DpcalcError("contradictory",
                          f"{given['steps']} is not a multiple of n = {given['n']}; with --index only whole passes are "
                          "covered; give --epochs",
                          "--steps")


# --- the bounds that answer ------------------------------------------------------------------------------------------


def _searches(given: Given, question: Question) -> tuple[Searches, tuple[str, ...]]:
    from dpcalc.commands.last_iterate import searches_by

    named, partial = _names(given), _is_partial(given)
    every = partial_passes.methods(question, named) if partial else _methods(given)
    _check_order(given, named, every)
    several = _passes(given.values) > 1 or (question.unknown is not None and question.unknown.name == "epochs")
    epochs = several or any(name.endswith("-basic") for name in named)
    return searches_by(every, given, question, epochs and not partial, lambda chosen: _check_release(given, chosen))


def _one_epoch(given: Given, question: Question) -> tuple[Row, ...]:
    """The rows of one epoch that meet the budget, where the number of epochs is solved for. More bounds apply to one
    epoch than can be composed, and one of them may meet the budget where no composition does."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.last_iterate import searches_by
    from dpcalc.core.errors import DpcalcError

    if question.unknown is None or question.unknown.name != "epochs" or _is_partial(given):
        return ()
    once, fixed = given.replace({**given.values, "epochs": 1}), question._replace(unknown=None, target=None)
    ((_, routes),), names = searches_by(_methods(given), once, fixed, epochs=True)
    routes = tuple(route for route in routes if names or not route.bound.name.endswith("-basic"))
    try:
        found = rows(routes, once, _bound_params, fixed, names)
    except DpcalcError:
        return ()
    return tuple(row._replace(result={"epochs": 1, **row.result}) for row in found
                 if row.result[question.asks] <= (question.target or 0.0) and row.route.bound.status == "proven")


def _with_partial_passes(given: Given, question: Question, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows; for partial passes with notes on refuted conjectures, and with the rows of the other bounds."""
    from dpcalc.commands.asking import with_solution

    if not _is_partial(given):
        return rows
    rows = partial_passes.with_refutations(rows, _bound_params(with_solution(given, question, rows)))
    return rows + partial_passes.companions(given, question, rows, _bound_params)


def _check_order(given: Given, named: tuple[str, ...], every: tuple[Method, ...]) -> None:
    """Raises DpcalcError where --index is missing for a named bound about one position of a fixed order, or given
    beside one about shuffled records."""
    from dpcalc.commands.shuffle_methods import methods
    from dpcalc.core.errors import DpcalcError

    placed = given["index"] is not None
    others = {n for m in methods(not placed, False) for n in m.names} - {n for m in every for n in m.names}
    for name in named:
        if name.removesuffix("-basic") not in others:
            continue
        if placed:
            raise DpcalcError("unneeded", f"not used by {name}, which is about shuffled records; drop it", "--index")
        raise DpcalcError("missing", f"needed by {name}; give the position of the record in the fixed order", "--index")


def _check_release(given: Given, methods: tuple[Method, ...]) -> None:
    """Raises DpcalcError for bounds about different releases, of which the smallest would be the headline; and for
    options about the release beside bounds about another one than the last iterate, which know of whole passes only,
    each released."""
    from dpcalc.core.errors import DpcalcError

    kinds = sorted({m.bound.theorem.released for m in methods})
    if len(kinds) > 1:
        raise DpcalcError("contradictory",
                          f"these bounds are about different releases ({'; '.join(kinds)}); name bounds of one "
                          "kind", "--bound")
    others = [m.bound for m in methods if m.bound.theorem.released != "last iterate"]
    last_only = [name for name in ("steps", "release") if given.has(name) and given[name] != "every-epoch"]
    if others and last_only:
        raise DpcalcError("contradictory",
                          f"not used by {others[0].name}, which releases {others[0].theorem.released} once in every "
                          "pass",
                          f"--{last_only[0]}")


# --- the parameters of the bounds ------------------------------------------------------------------------------------


def _bound_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the bounds: the options, the noise level (of a schedule, where there is one), and the law of
    the noise."""
    from dpcalc.bounds.pnsgd._engine.laws import LAWS

    same = {k: values.get(k) for k in (*_CONVEX, "strong_convexity", "n", "tau", "constant", "c1")}
    passes = _passes(values)
    return {**same, "law": LAWS[values["noise"]], "level": _level(values), "index": values.get("index") or 1,
            "passes": passes, "steps": passes if values.get("tau") is None else 1,
            "iterations": values.get("steps") or passes * (values.get("n") or 1)}


def _passes(values: Mapping[str, Any]) -> int:
    """The number of passes, the last one perhaps incomplete."""
    return -(-values["steps"] // (values.get("n") or 1)) if values.get("steps") else int(values["epochs"])


def _level(values: Mapping[str, Any]) -> float:
    from dpcalc.bounds.pnsgd._engine.schedules import level

    if values.get("c1") is None:
        return float(values[_NOISE[values["noise"]]])
    p = {k: values[k] for k in ("n", "diameter", "learning_rate", "smoothness", "strong_convexity", "c1", "c2")}
    return level(values["noise"], **p)


# --- companions of the rows ------------------------------------------------------------------------------------------


def _companions(values: Mapping[str, Any], params: dict[str, Any], question: Question,
                rows: tuple[Row, ...]) -> Companions:
    """The noise level; the worst record, where the place of the record is known; else the limit of a schedule."""
    from math import inf

    from dpcalc.bounds.pnsgd import shuffled_contraction, shuffled_limit
    from dpcalc.commands import last_iterate_companions as c
    from dpcalc.commands.last_iterate import Companions
    from dpcalc.core.one_record import for_one

    head, index, one_pass = rows[0], values.get("index"), _passes(values) == 1
    level, more, notes = {_NOISE[values["noise"]]: params["level"]}, dict[str, float](), list[str]()
    only, epsilon = None, c.epsilon_for_companions(question, head)
    if index is not None and question.asks == "rdp":
        worst = c.worst_index(params, head)
        more, only = c.worst_companions(head, {**params, "index": worst}, question, index, worst)
    elif index is not None and (epsilon is None or epsilon == inf):
        only = for_one(index)
    elif index is not None and epsilon is not None:
        worst, log_delta = c.worst_log_delta(epsilon, params, head)
        more, only = c.worst_companions_at_epsilon(params, worst, log_delta, epsilon, head, question)
    elif epsilon is not None and epsilon < inf and values.get("c1") is not None and one_pass:
        limit = shuffled_limit.value(epsilon, params["law"], values["c1"])
        more, note = c.limit_companions(limit, epsilon, params, shuffled_contraction.BOUND,
                                        "the limit as n → ∞")
        notes.append(note)
    noise, released = _noise_and_release(values, head, one_pass)
    return Companions(c.guarantee(question, rows, index), (noise, *c.start_note(rows), *notes), {**level, **more}, only,
                      released)


def _noise_and_release(values: Mapping[str, Any], head: Row, one_pass: bool) -> tuple[str, str]:
    """The meaning of the noise level, and what is released, in words."""
    from dpcalc.bounds.pnsgd._engine.output import RELEASED
    from dpcalc.commands.last_iterate_companions import noise_note

    released = head.route.bound.theorem.released
    noise = "σ is the noise that is added once, to the output"
    if released != RELEASED:
        noise = noise_note(values["noise"])
    if one_pass or values.get("tau") is not None or values.get("release") == "last-iterate":
        return noise, released
    when = "in every epoch, from which the next one starts" if released == RELEASED else "of every epoch"
    return noise, f"{released} {when}"


def theorems() -> Iterator[Route]:
    from dpcalc.bounds.conversions import composition_basic
    from dpcalc.commands.last_iterate import routes_of
    from dpcalc.commands.shuffle_methods import methods
    from dpcalc.core.results import Route

    for placed in (False, True):
        yield from routes_of(methods(placed, True), "epsilon", True)
    yield Route(composition_basic.BOUND)  # of epochs
    yield from partial_passes.theorems()


COMMAND = Command(
    "shuffle-pnsgd",
    "Privacy of the last iterate of noisy SGD on convex losses, one record a step, shuffled or in a fixed order. The "
    "first iterate and the constraint set must not depend on the data.",
    (
        Option(q.NOISE, MECHANISM, default="gaussian"),
        Option(q.SIGMA._replace(help="standard deviation of the noise on every gradient (for output perturbation, "
                                     "of the noise added once to the output)"), MECHANISM),
        *(Option(quantity, MECHANISM) for quantity in (q.SCALE, q.C1, q.C2)),
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
        ("shuffle-pnsgd --sigma 0.5 --lipschitz 1 --smoothness 0.5 --learning-rate 0.01 --diameter 2 --n 1000 "
         "--epsilon 1", "δ = 0.00165979"),
        ("shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --smoothness 0.5 --learning-rate 0.1 "
         "--diameter 1 --n 1e6 --epsilon 1", "δ = 1.48377e-10"),
        ("shuffle-pnsgd --lipschitz 1 --smoothness 0.5 --learning-rate 0.01 --diameter 2 --n 1000 --epsilon 1 --delta "
         "1e-5 --solve sigma", "σ = 0.979099"),
    ),
    theorems=theorems,
    usual=("epsilon", "delta", "solve", "noise", "sigma", "scale", "lipschitz", "smoothness", "learning_rate",
           "diameter", "n", "epochs"),
)
