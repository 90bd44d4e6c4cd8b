"""dpcalc correlated: noise that is correlated between steps (DP-FTRL, matrix factorisation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Given, Option
from dpcalc.core.relations import RELATIONS

if TYPE_CHECKING:
    from dpcalc.bounds.correlated._engine.design import Design
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

LONGEST = 10**7  # steps: so many coefficients take seconds, and a gigabyte of memory
_MOST_SHOWN = 8  # coefficients of C in a note
_STRATEGY = ("strategy", "coefficients", "blt_scale", "blt_decay", "contraction")
_USED = {*_STRATEGY, "steps", "order", "separation", "participations", "sigma", "adjacency", "clipping_norm"}


def answer(given: Given) -> Answer:
    """ε, δ or RDP of all steps, the σ that meets a budget, or the coefficients of the noise as a table."""
    from dpcalc.commands.asking import read_question
    from dpcalc.commands.correlated_design import design

    if given.has("schedule"):
        return _printed(given)
    if given.has("compare"):
        from dpcalc.commands import correlated_compare

        return correlated_compare.answer(given)
    found = design(given)
    _refuse_noise_multiplier(given, found)
    _refuse_clipping_norm(given)
    question = read_question(COMMAND, given)
    if given.has("sampling_rate"):
        from dpcalc.commands import correlated_sampling

        return correlated_sampling.answer(given, found, question, _USED)
    return _unsampled(given, found, question)


def _unsampled(given: Given, design: Design, question: Question) -> Answer:
    """The answer for batches whose order is fixed."""
    from dpcalc.commands import correlated_notes
    from dpcalc.commands.asking import check_options, shown, with_solution
    from dpcalc.commands.correlated_theorems import rows_of
    from dpcalc.core.results import Answer

    check_options(given, question, _USED, ("sigma",), "without --sampling-rate", "for this question", "by correlated")
    change = RELATIONS[given["adjacency"]].sensitivity
    found = rows_of(given, design, question)
    values = with_solution(given, question, found)
    numbers = _numbers(found[0], design, change, values["sigma"])
    return Answer("correlated", question, shown(values, _USED), found, {"kind": "gdp", "mu": numbers["mu"]},
                  given["adjacency"], "every step's output",
                  correlated_notes.notes(design, found[0], numbers, given), numbers,
                  warnings=correlated_notes.warnings(design, given), promises=correlated_notes.promises(design))


def _numbers(head: Row, design: Design, change: float, sigma: float) -> dict[str, float]:
    """The numbers beside an answer: the sensitivity, μ and ρ, and the errors of prefix sums."""
    from dpcalc.core.bound import ProfileBound
    from dpcalc.numerics.rounding import ratio_up

    bound = head.route.bound
    assert isinstance(bound, ProfileBound) and bound.mu is not None
    mu, sensitivity = (bound.mu.mu(design, change, level) for level in (sigma, 1.0))
    errors = design.errors
    independent = design.participations**0.5 * change * errors.rmse_of_independent
    return {"sensitivity": sensitivity, "mu": mu, "rho": ratio_up((mu, mu), (2.0,)), "sigma": sigma,
            **errors.at(sigma), "ratio_to_independent": sensitivity * errors.rmse / independent}


def _refuse_noise_multiplier(given: Given, design: Design) -> None:
    """Raises DpcalcError for a noise multiplier, which other tools give in two units, with what to write instead."""
    if not given.has("noise_multiplier"):
        return
    from dpcalc.commands.correlated_notes import SLACK
    from dpcalc.commands.correlated_theorems import routes
    from dpcalc.core.bound import ProfileBound
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.numbers import human_claimed, plain

    multiplier, bound = given["noise_multiplier"], routes(design)[0].bound
    assert isinstance(bound, ProfileBound) and bound.mu is not None
    sensitivity = bound.mu.mu(design, RELATIONS[given["adjacency"]].sensitivity, 1.0)
    norm, product = (human_claimed(x, SLACK) for x in (sensitivity, multiplier * sensitivity))
    raise DpcalcError("refused", f"has two meanings here; where {plain(multiplier)} is σ over the clipping norm, write "
                                 f"--sigma {plain(multiplier)}; where it is σ over the sensitivity of {norm} clipping "
                                 f"norms, write --sigma {product}", "--noise-multiplier")


def _refuse_clipping_norm(given: Given) -> None:
    """Raises DpcalcError for a clipping norm beside σ, which may then be meant in other units."""
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.numbers import plain

    if given.has("clipping_norm") and given.has("sigma"):
        sigma = given["sigma"]
        raise DpcalcError("contradictory", "not used with --sigma, which is in clipping norms: drop it if "
                          f"{plain(sigma)} is so; if it is the noise on the sum of clipped gradients, write --sigma "
                          f"{sigma / given['clipping_norm']:.6g} (σ/C)", "--clipping-norm")


def _printed(given: Given) -> Answer:
    """The coefficients of C⁻¹ for the steps that --schedule names, as a table."""
    from dpcalc.bounds.correlated._engine.coefficients_array import noise_coefficients
    from dpcalc.commands import correlated_notes
    from dpcalc.commands.correlated_design import design
    from dpcalc.commands.step_range import step_range
    from dpcalc.core.errors import DpcalcError, flag
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Table

    needed = {*_STRATEGY, "steps", "schedule"}
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
    from dpcalc.bounds.correlated._engine.strategies import BANDED_SQRT
    from dpcalc.core.numbers import plain

    bands = design.strategy.bands(design.steps)
    if not 1 < bands < design.steps:
        return ()
    c = [f"{x:.9g}" for x in design.columns.c[:_MOST_SHOWN].tolist()]
    listed = f"c = {', '.join(c[:bands])}" + ("" if bands <= _MOST_SHOWN else ", …")
    if design.strategy.name == BANDED_SQRT:
        r = design.strategy.contraction
        listed += f"; c_j = c_(j−1) {'' if r == 1 else f'{plain(r)} '}(2j − 1)/(2j)"
    return (f"C has {bands} bands, so that the noise n_t = (z_t − Σ_{{j=1}}^{{{bands - 1}}} c_j n_(t−j))/c_0 needs its "
            f"last {bands - 1} value{'s' if bands > 2 else ''} only, where {listed}",)


def theorems() -> tuple[Route, ...]:
    from dpcalc.bounds import bounds_in, modules_of
    from dpcalc.bounds.sampling import poisson_profile, poisson_rdp
    from dpcalc.core.results import Route

    own = (Route(bound) for module in modules_of("correlated") for bound in bounds_in(module))
    return (*own, Route(poisson_rdp.BOUND), Route(poisson_profile.BOUND))  # the latter for --sampling-rate


COMMAND = Command(
    "correlated",
    "Privacy of noise that is correlated between steps (DP-FTRL, matrix factorisation): each step takes back earlier "
    "noise by fixed coefficients. Every step is released.",
    (
        Option(q.STRATEGY, MECHANISM),
        Option(q.COEFFICIENTS, MECHANISM),
        Option(q.BLT_SCALE, MECHANISM),
        Option(q.BLT_DECAY, MECHANISM),
        Option(q.SIGMA._replace(help="standard deviation of each independent noise, in clipping norms; "
                                     "step t adds (C⁻¹z)_t to its sum of clipped gradients",
                                unit="clipping norms"), MECHANISM),
        Option(q.NOISE_MULTIPLIER._replace(help="refused, with what to write instead: other tools divide σ by the "
                                                "clipping norm, or by the sensitivity", safe_direction=0), MECHANISM),
        Option(q.SCHEDULE._replace(help="print the coefficients of C⁻¹ of steps FIRST to LAST, or of COUNT of them"),
               MECHANISM),
        Option(q.STRATEGIES, MECHANISM),
        Option(q.STEPS._replace(help="number of steps", safe_direction=0, le=float(LONGEST)), RUN),
        Option(q.TAKES_PART, RUN),
        Option(q.SEPARATION, RUN),
        Option(q.MIN_SEPARATION, RUN),
        Option(q.PARTICIPATIONS._replace(help="most steps that a record takes part in (default: as many as the "
                                              "separation leaves room for)"), RUN),
        Option(q.SAMPLING_RATE._replace(help="probability that a record is in a batch, of all data; for strategies "
                                             "with few bands, and cyclic Poisson batches", safe_direction=0), RUN),
        Option(q.CYCLE, RUN),
        Option(q.CONTRACTION, RUN),
        Option(q.CLIPPING_NORM._replace(help="norm that every record's gradient is clipped to; with --solve sigma "
                                             "or --compare, for a note on the noise in absolute units"), RUN),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours: zero-out removes the gradients of a record, "
                                         "replace-one counts twice", choices=("zero-out", "replace-one")), RUN,
               default="zero-out"),
        Option(q.ORDERS, QUESTION),
        Option(q.PRECISION, QUESTION),
    ),
    answer,
    (
        ("correlated --steps 2052 --separation 342 --participations 6 --strategy banded-sqrt:342 --epsilon 8 "
         "--delta 1e-5 --solve sigma", "σ = 2.51381"),
        ("correlated --steps 1000 --order once --strategy square-root --sigma 5 --delta 1e-5", "ε = 1.38972"),
        ("correlated --steps 2000 --order once --epsilon 8 --delta 1e-5 --compare", "Strategies for ε ≤ 8"),
        ("correlated --steps 1000 --strategy square-root --schedule 1:3 --format csv | tail -n 1", "3,-0.125"),
    ),
    theorems=theorems,
    asks="Ask with --delta (prints ε), --epsilon (prints δ) or --alpha (prints the RDP), or give a budget and --solve "
         "sigma. --schedule prints the coefficients of the noise, and --compare a table of strategies.",
    elsewhere={
        "epochs": "passes are steps: with e passes of T/e steps in a fixed order, --separation T/e (1 where the passes "
                  "are shuffled) and --participations e",
        "n": "ε depends on which steps use a record, not on n; for Poisson batches give --sampling-rate, batch size/n",
        "batch-size": "ε depends on which steps use a record; for Poisson batches give --sampling-rate, batch size/n",
        "bands": "write --strategy banded-sqrt:B",
        "scheme": "for Poisson batches give --sampling-rate, for batches in a fixed order --separation",
        "rho": "ask with --delta and --json: ρ is among the results",
        "mu": "ask with --delta and --json: μ is among the results",
        "momentum": "momentum is computed from the released steps, and changes no ε",
        "weight-decay": "it changes the errors, and no ε by itself: --contraction is 1 − learning rate · weight decay",
    },
    usual=("epsilon", "delta", "solve", "strategy", "compare", "sigma", "steps", "order", "separation",
           "participations", "sampling_rate"),
)
