"""The answer of shuffle-pnsgd: ε, δ or RDP of the last iterate, or the parameter that meets a budget."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from dpcalc.bounds.conversions import composition_basic
from dpcalc.bounds.hiding import (
    output_perturbation_shuffled_hiding,
    shuffled_hiding,
    shuffled_hiding_laplace,
    shuffled_hiding_last,
    smooth_nonconvex_shuffled_hiding,
)
from dpcalc.bounds.pnsgd import contraction, fixed_order_hybrid, iteration, output_perturbation, smooth_nonconvex
from dpcalc.bounds.pnsgd._engine.laws import LAWS
from dpcalc.bounds.pnsgd._engine.schedules import level
from dpcalc.bounds.pnsgd.output_perturbation import RELEASED
from dpcalc.commands import last_iterate_companions as c
from dpcalc.commands.asking import lipschitz_hint, read_question
from dpcalc.commands.last_iterate import GAUSSIAN_OR_LAPLACE, PLACE, Method, levels, routes_of, rows_by
from dpcalc.commands.shuffle_pnsgd import CHECKS, COMMAND, FOR_EVERY_QUESTION, OF_PARTIAL_PASSES
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Mode, check, require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.results import Answer, OneRecord, Route, Row, for_one
from dpcalc.core.run import Run

_CONVEX = ("lipschitz", "diameter", "learning_rate", "smoothness")
_NOISE = {"gaussian": "sigma", "laplace": "scale"}
_FREE = ("lipschitz", "learning_rate", "smoothness")

_STOPPED = (Method(contraction.STOPPED, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True),
            Method(contraction.STOPPED_LOOSE, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True))
_FIXED_ORDER = (
    Method(fixed_order_hybrid.BOUND, _CONVEX, contracts=True),
    Method(contraction.FIXED, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(iteration.FIXED, _FREE, contracts=True),
    Method(iteration.FIXED_RDP, _FREE, contracts=True),
    Method(smooth_nonconvex.FIXED, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.FIXED_RDP, _FREE),
    *_STOPPED,
    Method(output_perturbation.FIXED, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.FIXED_RDP, _FREE, usual=False),
)
_SHUFFLED = (
    Method(shuffled_hiding.BOUND, _FREE, contracts=True),
    Method(shuffled_hiding_laplace.BOUND, _CONVEX, ("laplace",), contracts=True),
    Method(contraction.SHUFFLED, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(iteration.SHUFFLED, _FREE, contracts=True),
    Method(iteration.SHUFFLED_RDP, _FREE, contracts=True),
    Method(contraction.SHUFFLED_LIMIT, (*_CONVEX, "c1"), GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(smooth_nonconvex_shuffled_hiding.BOUND, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.SHUFFLED, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.SHUFFLED_RDP, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.HIGH_NOISE, _FREE, usual=False),
    *_STOPPED,
    Method(output_perturbation_shuffled_hiding.BOUND, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.SHUFFLED, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.SHUFFLED_RDP, _FREE, family="output-perturbation", usual=False),
)


def answer(given: Given) -> Answer:
    run = Run(COMMAND, given, read_question(COMMAND, given), _params)
    partial = bool(OF_PARTIAL_PASSES.intersection(run.bounds))
    run = _checked(run, partial)
    if partial:
        from dpcalc.commands import partial_passes  # with bounds that other questions do not need

        every = partial_passes.methods(run)
    else:
        every = _methods_of(run)
    _check_order(run, every)
    several = _passes(run) > 1 or run.unknown == "epochs" or any(name.endswith("-basic") for name in run.bounds)
    rows = rows_by(run, every, several and not partial, lambda chosen: _check_release(run, chosen),
                   lambda: () if partial else _one_epoch(run))
    run = run.solved(rows)
    if partial:
        rows = partial_passes.with_others(run, rows)
    numbers, notes, only = _beside(run, rows)
    released = rows[0].route.bound.theorem.released
    noise = c.noise_note(run["noise"]) if released != RELEASED else "σ is the noise that is added once, to the output"
    if _passes(run) > 1 and run["tau"] is None and run["release"] != "last-iterate":
        released += " in every epoch, from which the next one starts" if released == RELEASED else " of every epoch"
    return run.answer(rows, c.guarantee(run, rows), "replace-one", released,
                      (*c.setting_note(rows[0]), noise, *c.start_note(rows), *notes),
                      {_NOISE[run["noise"]]: run.params["level"], **numbers},
                      only=only)


def _checked(run: Run, partial: bool) -> Run:
    """The run with the options that it uses. Raises DpcalcError for options that are missing or not used."""
    noise, given = run["noise"], run.given
    schedule = given.provided & {"c1", "c2"} or ({"c1"} if run.unknown == "c1" else set())
    own = {"c1", "c2"} if schedule else {_NOISE[noise]}
    where = f"with --noise {noise}{' and a schedule' if schedule else ''}"
    of_run = {*_CONVEX, "strong_convexity", "n", "index", "epochs", "steps", "release"}
    if partial:
        of_run, where = {"lipschitz", "n", "epochs", "tau", "constant"}, "with --tau (partial passes)"
        if schedule:
            raise DpcalcError("unneeded", f"not used {where}; give --sigma instead", flag(min(schedule)))
        require(given, ("tau",), where, run.unknown)  # before what is not used without it
    uses = frozenset(of_run | own | {"noise"} | ({"dimension"} if noise == "laplace" else set()))
    passes = given.provided & {"tau", "constant"} - uses
    twice = Check(("steps",), lambda _: given.has("epochs") or run.unknown == "epochs",
                  "give --steps or --epochs, not both", "contradictory")
    check(run, *levels(_NOISE, bool(schedule), "--c1 with --c2"),
          Mode(uses, sorted(own | {"n", "lipschitz"} | (set(_CONVEX) if schedule else set())),
               f"without --bound {' or '.join(FOR_EVERY_QUESTION)}" if passes else where, where, where,
               hints=lipschitz_hint(given)), twice, *CHECKS, *PLACE)
    return replace(run, uses=uses)


# --- the bounds that answer ------------------------------------------------------------------------------------------


def _methods(placed: bool, last_iterate: bool, all_computed: bool = False) -> tuple[Method, ...]:
    """The bounds for records in a fixed order, where the place of the record is known (`placed`), or for shuffled
    records; with those for a run that releases only its last iterate where it does. `all_computed` says that no bound
    is named: then numpy is imported here."""
    if placed:
        return _FIXED_ORDER
    if all_computed:
        # Some of the bounds for shuffled records use arrays. Where numpy is first imported in the middle of a search,
        # its import takes 15 ms longer: loops in it call functions across the end of a piece of CPython's stack of
        # frames, and each of those calls allocates the next piece, 16 kB, anew.
        import numpy  # noqa: F401
    return (Method(shuffled_hiding_last.BOUND, _FREE, contracts=True), *_SHUFFLED) if last_iterate else _SHUFFLED


def _methods_of(run: Run) -> tuple[Method, ...]:
    # Within one pass the last iterate of every epoch is that of the run.
    last = run["release"] == "last-iterate" or (run["steps"] is not None and run["steps"] < (run["n"] or 0))
    return _methods(run["index"] is not None, last, not run.bounds)


def _one_epoch(run: Run) -> tuple[Row, ...]:
    """The rows of one epoch that meet the budget, where the number of epochs is solved for. More bounds apply to one
    epoch than can be composed, and one of them may meet the budget where no composition does."""
    if run.unknown != "epochs":
        return ()
    once = run.having(epochs=1).asking(run.question._replace(unknown=None, target=None))
    try:
        found = rows_by(once, _methods_of(run), epochs=True)
    except DpcalcError:
        return ()
    return tuple(row._replace(result={"epochs": 1, **row.result}) for row in found
                 if row.result[run.question.asks] <= (run.question.target or 0.0)
                 and row.route.bound.status == "proven"
                 and (run.bounds or not row.route.bound.name.endswith("-basic")))


def _check_order(run: Run, every: tuple[Method, ...]) -> None:
    """Raises DpcalcError where --index is missing for a named bound about one position of a fixed order, or given
    beside one about shuffled records."""
    placed = run["index"] is not None
    others = {n for m in _methods(not placed, False) for n in m.names} - {n for m in every for n in m.names}
    for name in run.bounds:
        if name.removesuffix("-basic") not in others:
            continue
        if placed:
            raise DpcalcError("unneeded", f"not used by {name}, which is about shuffled records; drop it", "--index")
        raise DpcalcError("missing", f"needed by {name}; give the position of the record in the fixed order", "--index")


def _check_release(run: Run, chosen: tuple[Method, ...]) -> None:
    """Raises DpcalcError for bounds about different releases, of which the smallest would be the headline; and for an
    option about the last iterate beside a bound about another release, once in every pass."""
    kinds = sorted({m.bound.theorem.released for m in chosen})
    if len(kinds) > 1:
        raise DpcalcError("contradictory", f"these bounds are about different releases ({'; '.join(kinds)}); name "
                                           "bounds of one kind", "--bound")
    for name in ("steps", "release"):
        if kinds and kinds[0] != "last iterate" and run.given.has(name) and run[name] != "every-epoch":
            raise DpcalcError("contradictory", f"not used by {chosen[0].bound.name}, which releases {kinds[0]} once in "
                                               "every pass", flag(name))


def _beside(run: Run, rows: tuple[Row, ...]) -> tuple[dict[str, float], tuple[str, ...], OneRecord | None]:
    """The worst record, where the place of the record is known; else the limit of a schedule: as companion numbers, in
    notes, and in words."""
    head, index, epsilon = rows[0], run["index"], c.epsilon_for_companions(run, rows[0])
    if index is not None and run.question.asks == "rdp":
        worst = c.worst_index(run.params, head)
        numbers, only = c.worst_companions(run, head, {**run.params, "index": worst}, worst)
        return numbers, (), only
    if epsilon is None or epsilon == inf:
        return {}, (), None if index is None else for_one(index)
    if index is not None:
        numbers, only = c.worst_companions_at_epsilon(run, head, epsilon, *c.worst_log_delta(run, head, epsilon))
        return numbers, (), only
    if run["c1"] is None or _passes(run) > 1:
        return {}, (), None
    limit = contraction.SHUFFLED_LIMIT.value(epsilon, run.params["law"], run["c1"])
    numbers, note = c.limit_companions(limit, epsilon, run.params, contraction.SHUFFLED, "the limit as n → ∞")
    return numbers, (note,), None


# --- the parameters of the bounds ------------------------------------------------------------------------------------


def _params(run: Run) -> Params:
    """The parameters of the bounds: the options, the noise level (of a schedule, where there is one), and the law of
    the noise."""
    passes, own = _passes(run), ("n", "diameter", "learning_rate", "smoothness", "strong_convexity", "c1", "c2")
    same = {k: run[k] for k in (*_CONVEX, "strong_convexity", "n", "tau", "constant", "c1")}
    noise = run["noise"]
    return {**same, "law": LAWS[noise], "index": run["index"] or 1,
            "level": float(run[_NOISE[noise]]) if run["c1"] is None else level(noise, **{k: run[k] for k in own}),
            "passes": passes, "steps": passes if run["tau"] is None else 1,
            "iterations": run["steps"] or passes * (run["n"] or 1)}


def _passes(run: Run) -> int:
    """The number of passes, the last one perhaps incomplete."""
    return -(-run["steps"] // (run["n"] or 1)) if run["steps"] else int(run["epochs"])


def theorems() -> Iterator[Route]:
    from dpcalc.commands import partial_passes

    for placed in (False, True):
        yield from routes_of(_methods(placed, True), "epsilon", True)
    yield Route(composition_basic.BOUND)  # of epochs
    yield from partial_passes.theorems()
