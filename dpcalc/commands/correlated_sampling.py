"""dpcalc correlated with cyclic Poisson batches, which amplify strategies with few bands.

The records form m groups, at least as many as C has bands, and step t draws a Poisson sample of group t mod m. The
columns of C of one record's steps have no row in common, so that its steps are ⌈n/m⌉ Poisson-sampled Gaussian
mechanisms of the sensitivity ‖c‖, the norm of the first column of C (Choquette-Choo et al. 2023, arXiv:2306.08153). """

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpcalc.accounting.answer import rows
from dpcalc.bounds.correlated import correlated_once
from dpcalc.bounds.correlated._engine import profile
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.commands import correlated_notes
from dpcalc.commands import subsample_run as run
from dpcalc.commands.asking import check_options, lower_end, shown, with_solution
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.core.numbers import SMALLEST_NORMAL
from dpcalc.core.quantities import SIGMA
from dpcalc.core.question import Question
from dpcalc.core.relations import ZERO_OUT
from dpcalc.core.results import Answer, Route, Row
from dpcalc.numerics.rounding import ratio_up

Values = Mapping[str, Any]
_UNBANDED = ("dpcalc knows an amplification by sampling only for strategies with few bands: with {label}, one use of a "
             "record shows in all later rows of Cg, so that its uses overlap; use --strategy banded-sqrt:B, or, "
             "without amplification, --separation 1 in place of --sampling-rate, as a record may be in every batch")
_COVERED = (ZERO_OUT,)  # the relations of neighbours for which the theorem about groups of records is stated
_SOURCE = "Choquette-Choo et al. 2023, arXiv:2306.08153"
_ASSUMED = ("the records form m fixed groups, at least as many as C has bands, and the batch of step t is a Poisson "
            "sample of group t mod m", *profile.SETTING[:2], "gradients may depend on earlier outputs")


def answer(given: Given, design: Design, question: Question, used: set[str]) -> Answer:
    """ε, δ or RDP of all steps, or the σ that meets a budget."""
    used = {*used, "sampling_rate", "cycle", "precision", "orders"} - {"order", "separation", "participations"}
    check_options(given, question, used, ("sigma",), "with --sampling-rate", "for this question", "by correlated")
    if given["adjacency"] not in _COVERED:
        raise DpcalcError("refused", "the theorem about cyclic Poisson batches is for zero-out neighbours; drop it",
                          "--adjacency")
    cycle = cycle_of(given, design)
    found = rows_of(given, question, design, cycle)
    values = with_solution(given, question, found)
    sampled = _sampled(values, design, cycle)
    params = run.bound_params(sampled)
    numbers = _numbers(given, question, design, found[0], values["sigma"])
    notes = (*correlated_notes.absolute(values["sigma"], given), *_notes(design, cycle, params, numbers))
    return Answer("correlated", question, shown(values, used), found, run.guarantee(sampled, params), ZERO_OUT,
                  "every step's output", notes,
                  {**numbers, **lower_end(question, found)}, promises=(_promise(cycle, params["sampling_rate"]),))


def cycle_of(given: Given, design: Design) -> int:
    """The number of groups. Raises DpcalcError where no theorem covers the strategy, or a group is too small."""
    bands = design.strategy.bands(design.steps)
    if not design.strategy.is_banded:
        raise DpcalcError("refused", _UNBANDED.format(label=design.strategy.label), "--sampling-rate")
    cycle = int(given["cycle"] or bands)
    if cycle < bands:
        raise DpcalcError("out-of-range", f"{cycle} is below {bands}, the bands of the strategy: a record would meet "
                                          "steps whose noise overlaps", "--cycle")
    if given["sampling_rate"] * cycle > 1:
        raise DpcalcError("out-of-range", f"{cycle} times the sampling rate is above 1: one of {cycle} "
                                          "groups holds fewer records than a batch; use fewer bands, or a rate of at "
                                          f"most 1/{cycle}",
                          "--sampling-rate")
    return cycle


def _sampled(values: Values, design: Design, cycle: int) -> dict[str, Any]:
    """The same steps as options of dpcalc subsample."""
    rate = min(ratio_up((values["sampling_rate"], float(cycle))), 1.0)
    return {"scheme": "cyclic-poisson", "bands": cycle, "sampling_rate": rate, "steps": design.steps,
            "mechanism": "gaussian", "sigma": values["sigma"], "sensitivity": correlated_once.sensitivity(design),
            "adjacency": ZERO_OUT, "attained": _is_attained(design, cycle),
            **{name: values.get(name) for name in ("precision", "orders", "bound")}}


def _is_attained(design: Design, cycle: int) -> bool:
    """Whether the last step of a record in the first group changes as many steps as the others do."""
    return (design.steps - 1) % cycle + 1 >= design.strategy.bands(design.steps)


def rows_of(given: Given, question: Question, design: Design, cycle: int) -> tuple[Row, ...]:
    """The rows of the theorems about Poisson batches."""
    call = given.replace({**given.values, **_sampled({**given.values, "sigma": given["sigma"] or 1.0}, design, cycle)})
    found = rows(run.routes(call.values, question), given,
                 lambda values: run.bound_params(_sampled(values, design, cycle)), question, given["bound"] or ())
    return tuple(row._replace(route=of_groups(row.route)) for row in found)


def of_groups(route: Route) -> Route:
    """A theorem about Poisson batches with the one by which correlated noise on groups of records follows from it."""
    theorem = route.bound.theorem
    both = theorem._replace(source=f"{theorem.source}; {_SOURCE}", assumptions=(*_ASSUMED, *theorem.assumptions))
    return route._replace(bound=replace(route.bound, theorem=both))


def _numbers(given: Given, question: Question, design: Design, head: Row, sigma: float) -> dict[str, float]:
    """The sensitivity of one step, and the errors of prefix sums; with their ratio to those of independent noise at the
    same privacy, which is solved for, where the answer has an ε at a δ that a double holds."""
    errors = design.errors
    numbers = {"sensitivity": correlated_once.sensitivity(design), "sigma": sigma, **errors.at(sigma)}
    epsilon, delta = (head.result.get(name, getattr(question, name)) for name in ("epsilon", "delta"))
    if question.asks == "rdp" or not epsilon or (delta or 0.0) < SMALLEST_NORMAL:
        return numbers
    try:
        plain = independent_sigma(given, design, epsilon, delta)
    except (NoSolution, OutOfScope):  # out of the range of σ that is searched: then there is nothing to compare with
        return numbers
    return {**numbers, "ratio_to_independent": numbers["rmse"] / (plain * errors.rmse_of_independent)}


def independent_sigma(given: Given, design: Design, epsilon: float, delta: float) -> float:
    """The σ of independent noise on Poisson batches of the same rate that has this (ε, δ)."""
    from dpcalc.bounds.correlated._engine.strategies import INDEPENDENT, Strategy

    same = Design(Strategy(INDEPENDENT), design.steps)
    question = Question("epsilon", epsilon, delta, unknown=SIGMA, target=epsilon)
    values = {name: x for name, x in given.values.items() if name not in ("sigma", "bound", "cycle")}
    return rows_of(Given(values, frozenset()), question, same, 1)[0].result["sigma"]


def _promise(cycle: int, rate: float) -> str:
    """What must hold of the batches."""
    drawn = f"with probability {rate:.6g}, independently"
    if cycle == 1:
        return f"each batch must take every record {drawn}"
    return (f"the records must form {cycle} fixed groups of the same size, to which the steps come in turn, and each "
            f"batch must take every record of its group {drawn}")


def _notes(design: Design, cycle: int, params: Values, numbers: Values) -> tuple[str, ...]:
    often = (f"a record may be drawn at {params['steps']} of {design.steps} steps (Choquette-Choo et al. 2023)",
             ) if cycle > 1 else ()
    multiplier, norms = correlated_notes.multiplier(numbers), correlated_notes.norms(numbers["sensitivity"])
    column = (f"one use of a record counts as a Gaussian step with the noise multiplier {multiplier}, σ over the "
              f"sensitivity of {norms}")
    return (*correlated_notes.contraction(design), correlated_notes.errors(design, numbers), *often, column,
            "holds for Poisson-sampled batches only; for batches in a fixed order, use --separation in place of "
            "--sampling-rate")
