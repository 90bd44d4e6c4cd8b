"""dpcalc correlated with cyclic Poisson batches, which amplify strategies with few bands.

The records form m groups, at least as many as C has bands, and step t draws a Poisson sample of group t mod m. The
columns of C of one record's steps have no row in common, so that its steps are ⌈n/m⌉ Poisson-sampled Gaussian
mechanisms of the sensitivity ‖c‖, the norm of the first column of C (Choquette-Choo et al. 2023, arXiv:2306.08153). """

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpcalc.accounting.answer import answer_rows
from dpcalc.bounds.correlated import participation
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.strategies import INDEPENDENT, Strategy
from dpcalc.commands import correlated_notes, subsample_run
from dpcalc.commands.asking import level_hints, lower_end
from dpcalc.commands.correlated import COMMAND
from dpcalc.core.bound import Params
from dpcalc.core.checks import Mode, check
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.core.numbers import SMALLEST_NORMAL
from dpcalc.core.quantities import SIGMA
from dpcalc.core.relations import ZERO_OUT
from dpcalc.core.results import Answer, Question, Route, Row
from dpcalc.core.run import Run
from dpcalc.numerics.rounding import ratio_up

_UNBANDED = ("dpcalc knows an amplification by sampling only for strategies with few bands: with {label}, one use of a "
             "record shows in all later rows of Cg, so that its uses overlap; use --strategy banded-sqrt:B, or, "
             "without amplification, --separation 1 in place of --sampling-rate, as a record may be in every batch")
_COVERED = (ZERO_OUT,)  # the relations of neighbours for which the theorem about groups of records is stated
_SOURCE = "Choquette-Choo et al. 2023, arXiv:2306.08153"
_ASSUMED = ("the records form m fixed groups, at least as many as C has bands, and the batch of step t is a Poisson "
            "sample of group t mod m", *participation.SETTING[:2], "gradients may depend on earlier outputs")


def answer(run: Run, design: Design) -> Answer:
    """ε, δ or RDP of all steps, or the σ that meets a budget."""
    uses = run.uses - {"order", "separation", "participations"} | {"sampling_rate", "cycle", "precision", "orders"}
    check(run, Mode(uses, ("sigma",), "with --sampling-rate", "by correlated", "for this question",
                    hints=level_hints(run.given, run.question)))
    if run["adjacency"] not in _COVERED:
        raise DpcalcError("refused", "the theorem about cyclic Poisson batches is for zero-out neighbours; drop it",
                          "--adjacency")
    cycle = cycle_of(run.given, design)
    run = run_of(run.given, design, cycle, run.question, uses)
    rows = rows_of(run, design, cycle)
    run = run.solved(rows)
    numbers = _numbers(run, design, rows[0])
    drawn = f"with probability {run.params['sampling_rate']:.6g}, independently"
    promise = f"each batch must take every record {drawn}" if cycle == 1 else (
        f"the records must form {cycle} fixed groups of the same size, to which the steps come in turn, and each batch "
        f"must take every record of its group {drawn}")
    notes = (*correlated_notes.absolute(run["sigma"], run.given), *_notes(design, cycle, run.params, numbers))
    return run.answer(rows, subsample_run.guarantee(_as_subsample(run, design, cycle), run.params), ZERO_OUT,
                      "every step's output", notes, {**numbers, **lower_end(run.question, rows)}, promises=(promise,))


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
        raise DpcalcError("out-of-range", f"{cycle} times the sampling rate is above 1: one of {cycle} groups holds "
                                          "fewer records than a batch; use fewer bands, or a rate of at most "
                                          f"1/{cycle}", "--sampling-rate")
    return cycle


def _as_subsample(run: Run, design: Design, cycle: int) -> dict[str, Any]:
    """The same steps as options of dpcalc subsample."""
    rate = min(ratio_up((run["sampling_rate"], float(cycle))), 1.0)
    return {"scheme": "cyclic-poisson", "bands": cycle, "sampling_rate": rate, "steps": design.steps,
            "mechanism": "gaussian", "sigma": run["sigma"],
            "sensitivity": participation.sensitivity_of_orthogonal(design),
            # whether the last step of a record in the first group changes as many steps as the others do
            "adjacency": ZERO_OUT, "attained": (design.steps - 1) % cycle + 1 >= design.strategy.bands(design.steps),
            **{name: run[name] for name in ("precision", "orders", "bound")}}


def run_of(given: Given, design: Design, cycle: int, question: Question, uses: frozenset[str] = frozenset()) -> Run:
    """The run of a design on such batches."""
    return Run(COMMAND, given, question,
               lambda run: subsample_run.bound_params(_as_subsample(run, design, cycle)), uses)


def rows_of(run: Run, design: Design, cycle: int) -> tuple[Row, ...]:
    """The rows of the theorems about Poisson batches."""
    some_noise = run.having(sigma=run["sigma"] or 1.0)  # the theorems are the same with any
    same = {**run, **_as_subsample(some_noise, design, cycle)}
    found = answer_rows(run, subsample_run.routes(same, run.question), run.bounds)
    return tuple(row._replace(route=of_groups(row.route)) for row in found)


def of_groups(route: Route) -> Route:
    """A theorem about Poisson batches with the one by which correlated noise on groups of records follows from it."""
    theorem = route.bound.theorem
    both = theorem._replace(source=f"{theorem.source}; {_SOURCE}", assumptions=(*_ASSUMED, *theorem.assumptions))
    return route._replace(bound=replace(route.bound, theorem=both))


def _numbers(run: Run, design: Design, head: Row) -> dict[str, float]:
    """The sensitivity of one step, and the errors of prefix sums; with their ratio to those of independent noise at the
    same privacy, which is solved for, where the answer has an ε at a δ that a double holds."""
    errors, asked, sigma = design.errors, run.question, run["sigma"]
    numbers = {"sensitivity": participation.sensitivity_of_orthogonal(design), "sigma": sigma, **errors.at(sigma)}
    epsilon, delta = (head.result.get(name, getattr(asked, name)) for name in ("epsilon", "delta"))
    if asked.asks == "rdp" or not epsilon or (delta or 0.0) < SMALLEST_NORMAL:
        return numbers
    same = Design(Strategy(INDEPENDENT), design.steps)  # independent noise on Poisson batches of the same rate
    others = {name: x for name, x in run.given.values.items() if name not in ("sigma", "bound", "cycle")}
    question = Question("epsilon", epsilon, delta, unknown=SIGMA, target=epsilon)
    try:
        plain = rows_of(run_of(Given(others, frozenset()), same, 1, question), same, 1)[0].result["sigma"]
    except (NoSolution, OutOfScope):  # out of the range of σ that is searched: then there is nothing to compare with
        return numbers
    return {**numbers, "ratio_to_independent": numbers["rmse"] / (plain * errors.rmse_of_independent)}


def _notes(design: Design, cycle: int, params: Params, numbers: Mapping[str, float]) -> tuple[str, ...]:
    often = (f"a record may be drawn at {params['steps']} of {design.steps} steps (Choquette-Choo et al. 2023)",
             ) if cycle > 1 else ()
    multiplier, norms = correlated_notes.multiplier(numbers), correlated_notes.norms(numbers["sensitivity"])
    column = (f"one use of a record counts as a Gaussian step with the noise multiplier {multiplier}, σ over the "
              f"sensitivity of {norms}")
    return (*correlated_notes.contraction(design), correlated_notes.errors(design, numbers), *often, column,
            "holds for Poisson-sampled batches only; for batches in a fixed order, use --separation in place of "
            "--sampling-rate")
