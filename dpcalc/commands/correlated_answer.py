"""The answer of correlated: ε, δ or RDP of all steps, the σ that meets a budget, or the coefficients of the noise."""

from collections.abc import Iterator

from dpcalc.accounting.answer import answer_rows
from dpcalc.bounds import bounds_in, modules_of
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.strategies import BANDED_SQRT
from dpcalc.bounds.sampling import poisson_profile, poisson_rdp
from dpcalc.commands import correlated_compare, correlated_notes, correlated_sampling
from dpcalc.commands.asking import level_hints, read_question, step_range
from dpcalc.commands.correlated import COMMAND
from dpcalc.commands.correlated_design import design, mu_of, routes, run_of
from dpcalc.core.checks import Mode, check
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import human_claimed, plain
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer, Question, Route, Table
from dpcalc.core.text import MOST_NAMED
from dpcalc.numerics.rounding import ratio_up

_STRATEGY = frozenset({"strategy", "coefficients", "blt_scale", "blt_decay", "contraction"})
_USES = _STRATEGY | {"steps", "order", "separation", "participations", "sigma", "adjacency", "clipping_norm"}


def answer(given: Given) -> Answer:
    if given.has("schedule"):
        return _printed(given)
    if given.has("compare"):
        return correlated_compare.answer(given)
    found = design(given)
    if given.has("noise_multiplier"):
        raise _two_meanings(given, found)
    if given.has("clipping_norm") and given.has("sigma"):
        raise DpcalcError("contradictory", "not used with --sigma, which is in clipping norms: drop it if "
                          f"{plain(given['sigma'])} is so; if it is the noise on the sum of clipped gradients, write "
                          f"--sigma {given['sigma'] / given['clipping_norm']:.6g} (σ/C)", "--clipping-norm")
    run = run_of(given, found, read_question(COMMAND, given), _USES)
    if given.has("sampling_rate"):
        return correlated_sampling.answer(run, found)
    check(run, Mode(_USES, ("sigma",), "without --sampling-rate", "by correlated", "for this question",
                    hints=level_hints(given, run.question)))
    rows = answer_rows(run, routes(found), run.bounds)
    run = run.solved(rows)
    change, errors = RELATIONS[run["adjacency"]].sensitivity, found.errors
    mu, sensitivity = (mu_of(rows[0].route, found, change, level) for level in (run["sigma"], 1.0))
    independent = found.participations**0.5 * change * errors.rmse_of_independent
    numbers = {"sensitivity": sensitivity, "mu": mu, "rho": ratio_up((mu, mu), (2.0,)), "sigma": run["sigma"],
               **errors.at(run["sigma"]), "ratio_to_independent": sensitivity * errors.rmse / independent}
    return run.answer(rows, {"kind": "gdp", "mu": mu}, run["adjacency"], "every step's output",
                      correlated_notes.notes(found, rows[0], numbers, given), numbers,
                      warnings=correlated_notes.warnings(found, given), promises=correlated_notes.promises(found))


def _two_meanings(given: Given, design: Design) -> DpcalcError:
    """The error for a noise multiplier, which other tools give in two units, with what to write instead."""
    multiplier = given["noise_multiplier"]
    sensitivity = mu_of(routes(design)[0], design, RELATIONS[given["adjacency"]].sensitivity, 1.0)
    norm, product = (human_claimed(x, correlated_notes.SLACK) for x in (sensitivity, multiplier * sensitivity))
    return DpcalcError("refused", f"has two meanings here; where {plain(multiplier)} is σ over the clipping norm, "
                       f"write --sigma {plain(multiplier)}; where it is σ over the sensitivity of {norm} clipping "
                       f"norms, write --sigma {product}", "--noise-multiplier")


def _printed(given: Given) -> Answer:
    """The coefficients of C⁻¹ for the steps that --schedule names, as a table."""
    from dpcalc.bounds.correlated._engine.coefficients_array import noise_coefficients  # numpy

    needed = _STRATEGY | {"steps", "schedule"}
    if beside := sorted(given.provided - needed - {"format", "input", "plot"}):
        raise DpcalcError("unneeded", "prints coefficients and answers no question; drop "
                          f"{', '.join(flag(name) for name in beside)}", "--schedule")
    found, chosen = design(given), step_range(given["schedule"])
    if chosen[-1] > found.steps:
        raise DpcalcError("out-of-range", f"step {chosen[-1]} is beyond the {found.steps} steps", "--schedule")
    w = noise_coefficients(found.strategy, found.steps)
    table = Table(("step", "coefficient"), tuple((j, float(w[j - 1])) for j in chosen))
    record = {"kind": "coefficients", "step": list(chosen), "coefficient": [x for _, x in table.rows]}
    notes = ("the noise of step t is the sum of coefficient j times the independent noise of step t − j + 1, with "
             "standard deviation σ for each of these; draw them once, and keep those that are needed later",
             *_recursion(found), *correlated_notes.contraction(found))
    return Answer("correlated", Question("guarantee"), {k: v for k, v in given.values.items() if k in needed}, (),
                  record, given["adjacency"], "every step's output", notes, table=table)


def _recursion(design: Design) -> tuple[str, ...]:
    """How the noise of a banded strategy is computed from its own last values, with the coefficients of C."""
    bands = design.strategy.bands(design.steps)
    if not 1 < bands < design.steps:
        return ()
    c = [f"{x:.9g}" for x in design.columns.c[:MOST_NAMED].tolist()]
    listed = f"c = {', '.join(c[:bands])}" + ("" if bands <= MOST_NAMED else ", …")
    if design.strategy.name == BANDED_SQRT:
        r = design.strategy.contraction
        listed += f"; c_j = c_(j−1) {'' if r == 1 else f'{plain(r)} '}(2j − 1)/(2j)"
    return (f"C has {bands} bands, so that the noise n_t = (z_t − Σ_{{j=1}}^{{{bands - 1}}} c_j n_(t−j))/c_0 needs its "
            f"last {bands - 1} value{'s' if bands > 2 else ''} only, where {listed}",)


def theorems() -> Iterator[Route]:
    yield from (Route(bound) for module in modules_of("correlated") for bound in bounds_in(module))
    yield from (Route(poisson_rdp.BOUND), Route(poisson_profile.BOUND))  # the latter for --sampling-rate
