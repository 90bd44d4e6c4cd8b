"""dpcalc correlated --compare: the noise and the errors of strategies at the same privacy, as a table."""

from dpcalc.accounting.answer import answer_rows
from dpcalc.bounds.correlated._engine import strategies as s
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.noise_feedback.optimum_finite import mean_coefficient
from dpcalc.commands import correlated_notes, correlated_sampling
from dpcalc.commands.correlated_design import design as design_of
from dpcalc.commands.correlated_design import routes, run_of
from dpcalc.core.budgets import budget
from dpcalc.core.checks import require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import plain
from dpcalc.core.quantities import SIGMA
from dpcalc.core.results import Answer, Question, Table

USUAL = "usual"
_SEPARATED = {"steps", "order", "separation", "participations", "contraction", "adjacency", "clipping_norm"}
_SAMPLED = {"steps", "sampling_rate", "precision", "contraction", "adjacency", "clipping_norm"}
_BUFFERS = {"blt_scale", "blt_decay"}
_OWN = ("strategy", "coefficients")  # options that name one more strategy
_FEW = (8, 64)  # noises that a step remembers: few, and as many as fit in memory


def answer(given: Given) -> Answer:
    """For each strategy the σ of the budget, the errors of prefix sums, and their ratio to those of independent noise;
    the least error first."""
    sampled = given["sampling_rate"] is not None
    used = (_SAMPLED if sampled else _SEPARATED) | {"compare", "epsilon", "delta", *_OWN}
    if s.BLT in (*_split(given["compare"]), given["strategy"]):
        used |= _BUFFERS
    if beside := sorted(given.provided - used - {"format"}):
        raise DpcalcError("unneeded", f"not used with --compare{' and --sampling-rate' if sampled else ''}; drop it",
                          flag(beside[0]))
    require(given, ("epsilon", "delta", "steps"), "with --compare, to compare at the same privacy")
    if s.LISTED in _split(given["compare"]):
        require(given, ("coefficients",), f"with --compare {s.LISTED}")
    question = Question("epsilon", given["epsilon"], given["delta"], unknown=SIGMA, target=given["epsilon"])
    independent = _design(given, s.INDEPENDENT)
    of_independent = _sigma(given, independent, question) * independent.errors.rmse
    rows = []
    named = (*([given["strategy"]] if given.has("strategy") else ()),
             *([s.LISTED] if given.has("coefficients") else ()))
    for label in dict.fromkeys((*named, *_labels(given, independent))):
        design = _design(given, label)
        sigma, errors = _sigma(given, design, question), design.errors
        rows.append((label, sigma, sigma * errors.rmse, sigma * errors.largest, sigma * errors.rmse / of_independent))
    rows.sort(key=lambda row: row[2])
    table = Table(("strategy", "sigma", "rmse", "max_error", "ratio_to_independent"), tuple(rows),
                  f"Strategies for {budget(question)}, {independent.steps} steps")
    record = {"kind": "comparison", **{name: [row[k] for row in rows] for k, name in enumerate(table.header)}}
    shown = {name: x for name, x in given.values.items() if name in used}
    return Answer("correlated", Question("guarantee"), shown, (), record, given["adjacency"], "every step's output",
                  _notes(given, rows[0], independent, [row[0] for row in rows]), table=table,
                  warnings=() if sampled else correlated_notes.warnings(independent, given))


def _design(given: Given, label: str) -> Design:
    """The run with another strategy."""
    others = {"compare", *_OWN, *(() if label == s.BLT else _BUFFERS)}
    own = "coefficients" if label == s.LISTED else "strategy"
    try:
        return design_of(given.replace({**given.values, "strategy": label}, given.provided - others | {own}))
    except DpcalcError as error:
        if error.option != "--strategy" or label == given["strategy"]:
            raise
        raise DpcalcError(error.code, error.message, "--compare") from None


def _sigma(given: Given, design: Design, question: Question) -> float:
    """The least σ that meets the budget."""
    given = Given(given.values, given.provided)  # `recorded` is left out: a record has no rows of this table
    if given["sampling_rate"] is None:
        run = run_of(given, design, question)
        return answer_rows(run, routes(design), run.bounds)[0].result["sigma"]
    cycle = correlated_sampling.cycle_of(given, design)
    run = correlated_sampling.run_of(given, design, cycle, question)
    return correlated_sampling.rows_of(run, design, cycle)[0].result["sigma"]


def _labels(given: Given, independent: Design) -> tuple[str, ...]:
    """The strategies that --compare names, or the usual ones."""
    if given["compare"] != USUAL:
        return tuple(label for word in _split(given["compare"])
                     for label in (_labels(given.replace({**given.values, "compare": USUAL}), independent)
                                   if word == USUAL else (word,)))
    if given["sampling_rate"] is not None:
        rate = given["sampling_rate"]
        most = round(1 / rate) if rate * round(1 / rate) <= 1 else int(1 / rate)
        return (s.INDEPENDENT, *_banded(min(most, independent.steps)))
    few, steps = [k for k in _FEW if k < independent.steps], independent.steps
    # with the λ of the least RMSE where a record takes part once
    feedback = [f"{s.FEEDBACK}:{mean_coefficient(steps, independent.strategy.contraction):.6g}"] if steps > 1 else ()
    always = (s.INDEPENDENT, s.SQUARE_ROOT, *feedback,
              *(f"{s.BANDED_INVERSE_SQRT}:{k}" for k in few), *(f"{s.BANDED_SQRT}:{k}" for k in few))
    most = min(independent.separation, steps)
    return always if independent.order == "once" else (*always, *_banded(most))


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label.strip() for label in text.split(",")))


def _banded(most: int) -> tuple[str, ...]:
    """banded-sqrt with 2, 4, 8, … bands, and with the most."""
    bands = [2**k for k in range(1, most.bit_length()) if 2**k < most] + [most] * (most > 1)
    return tuple(f"{s.BANDED_SQRT}:{b}" for b in bands)


def _notes(given: Given, best: tuple[str, float, float, float, float], run: Design,
           labels: list[str]) -> tuple[str, ...]:
    """What a reader must know to use the table."""
    found = []
    if best[0] in (s.INDEPENDENT, f"{s.BANDED_SQRT}:1"):
        found.append("no correlated noise of this table has a smaller RMSE than independent noise")
    else:
        found.append(f"{best[0]} has the least RMSE, {best[4]:.4g} times that of independent noise")
    found.append("all rows have the same privacy; errors are standard deviations of the noise in "
                 f"{correlated_notes.sums(run)}, in clipping norms")
    if given["clipping_norm"]:
        found.append(f"with the clipping norm {plain(given['clipping_norm'])}, σ and the errors are that many times "
                     "these numbers in the units of the gradients")
    if run.strategy.contraction < 1 and any(label.partition(":")[0] in s.MADE_FOR_CONTRACTION for label in labels):
        found.append("--contraction changes the coefficients of the square roots: train with those that --schedule "
                     "prints with the same --contraction")
    if given["sampling_rate"] is not None:
        found.append("Poisson batches are drawn from as many fixed groups in turn as there are bands, at a rate within "
                     "the group that is higher by that factor")
    elif run.order == "once":
        found.append(correlated_notes.ONE_PASS)
    return tuple(found)
