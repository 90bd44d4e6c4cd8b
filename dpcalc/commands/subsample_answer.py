"""The answer of subsample: ε, δ or RDP of a run, the parameter that meets a budget, or the amplification of one (ε, δ)
point."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.neighbours import NOTHING
from dpcalc.accounting.schemes import SCHEMES, by_rate, scheme_of
from dpcalc.accounting.selection import BOUNDS, is_asked, of_best
from dpcalc.bounds.sampling import amplification
from dpcalc.commands import best_of_runs
from dpcalc.commands import subsample_run as batches
from dpcalc.commands.asking import lower_end, read_question, read_unknown
from dpcalc.commands.subsample import COMMAND
from dpcalc.core import mechanism_names, noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.checks import check, check_unknown, refuse, refuse_unneeded
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Question, Route, Row, guarantee_of
from dpcalc.core.run import Run
from dpcalc.numerics.rounding import ratio_down

_LEVELS = {"noise_multiplier", *(option.name for option in q.MECHANISM_OPTIONS)}
_OF_POINT = frozenset({"sampling_rate", "n", "batch_size", "scheme", "adjacency", "epsilon", "delta"})


def answer(given: Given) -> Answer:
    run = Run(COMMAND, given, Question("guarantee"), batches.bound_params)
    adjacency = scheme_of(run).relation(run)
    if given.inputs:
        run = _with_input(run)
    # --epsilon and --delta are a point to be amplified where nothing else is described, and nothing is solved for
    described = given.inputs or any(given.has(n) for n in (*_LEVELS, "steps", "epochs", "solve"))
    if "point" in run or (not described and given.has("epsilon") and given.has("delta")):
        return _amplified_point(run, adjacency)
    if not given.inputs:
        _require_noise(given)
    run = run.asking(read_question(COMMAND, run.given))
    if run.unknown == q.PASSES.name and scheme_of(run).unit == "epoch":
        run = run.asking(run.question._replace(unknown=q.PASSES))  # which is a whole number
    promise = batches.promise(run)
    run = batches.checked(run)
    check_unknown(run.question, run.uses, f"with --scheme {run['scheme']} and --mechanism {run['mechanism']}")
    _refuse_poisson(run)
    try:
        rows = answer_rows(*of_best(run, lambda run: batches.routes(run, run.question)), run.bounds)
    except DpcalcError as error:
        if error.code != "unsupported" or run.question.asks != "rdp" or run.bounds:
            raise
        raise DpcalcError("unsupported", f"RDP of {batches.description(run)} is not supported; ask with --delta",
                          "--alpha") from None
    run = run.solved(rows)
    guarantee = batches.guarantee(run, run.params)
    found = run.answer(rows, guarantee, adjacency, "every step's output",
                       (*batches.notes(run), *_of_other_batches(run, rows)),
                       {**batches.numbers(run), **lower_end(run.question, rows)}, warnings=promise.warnings,
                       scope=batches.scope(run), promises=promise.sentences)
    return best_of_runs.with_selection(found, run, [guarantee])


# --- what is sampled -------------------------------------------------------------------------------------------------


def _with_input(run: Run) -> Run:
    """The run with a guarantee from JSON in place of the options of a mechanism: as a mechanism, as `curve` (an RDP
    curve), or as `point` (ε and δ). Raises DpcalcError for a guarantee that cannot be sampled."""
    from dpcalc.accounting.guarantee import Dp, Gdp, Mechanisms, Rdp, Zcdp  # imports pydantic
    from dpcalc.accounting.guarantee_sums import curves

    given, base = run.given, run.given.inputs[0]
    described = {*_LEVELS, "mechanism", "clipping_norm",
                 *(option for m in MECHANISMS.values() for option in (*m.options, *m.optional))} - {"n", "adjacency"}
    refuse(given, sorted(described), "not used with an input, which describes the mechanism; drop it", "contradictory")
    if (unknown := read_unknown(COMMAND, given)) and unknown.name in described:
        raise DpcalcError("contradictory", f"{unknown.option} has no effect, as the input fixes the noise; solve for "
                                           "another option", "--solve")
    if len(given.inputs) > 1:
        raise DpcalcError("contradictory", "give one mechanism; several guarantees are composed with dpcalc convert",
                          "--input")
    if base.size_of_group > 1:
        raise DpcalcError("refused", f"the input is about groups of {base.group_size} records, which a batch samples "
                          "one by one; describe one record, and give --group-size here", "--input")
    batches.promise(run)
    if isinstance(base, Dp):
        return run.completed(point=(base.epsilon, base.delta))
    if isinstance(base, Mechanisms):
        part = base.mechanisms[0]
        if len(base.mechanisms) > 1 or part.sampling or part.count != 1:
            raise DpcalcError("refused", "give one mechanism that is used once and not sampled yet", "--input")
        params = part.params(base.adjacency or batches.between(run))
        own = {name: params[name] for name in (*part.mechanism.options, *part.mechanism.optional) if name in params}
        return run.completed(mechanism=part.name, **own, attained=not base.upper_bound)
    if isinstance(base, Gdp) and base.mu > 0:  # a μ-GDP mechanism is dominated by a Gaussian one with σ = 1/μ
        sigma = min(ratio_down((1.0,), (base.mu,)), 1.7e308)  # 1/μ may overflow, and less noise is safe
        return run.completed(mechanism="gaussian", sigma=sigma, attained=False)
    if isinstance(base, Rdp) or (isinstance(base, Zcdp) and base.rho > 0):
        return run.completed(curve=curves(base)[0][0])
    raise DpcalcError("refused", f"a guarantee of kind {base.kind} cannot be sampled here; a mechanism, μ-GDP, zCDP, "
                      "an RDP curve or an (ε, δ) point can", "--input")


def _require_noise(given: Given) -> None:
    """Raises DpcalcError where no noise is given and none is solved for."""
    unknown, name = read_unknown(COMMAND, given), given["mechanism"]
    if any(given.has(level) or (unknown and unknown.name == level) for level in _LEVELS):
        return
    level, other = ("noise_multiplier", " (or --sigma)") if name == "gaussian" else (MECHANISMS[name].options[0], "")
    if given.has("epsilon") and given.has("delta") and unknown is None:
        other = f", or --solve {flag(level)[2:]} for this budget"
    raise DpcalcError("missing", f"no noise given: add {flag(level)}{other}")


# --- one (ε, δ) point ------------------------------------------------------------------------------------------------


def _amplified_point(run: Run, adjacency: str) -> Answer:
    """The (ε, δ) of a mechanism on a random batch, from the (ε, δ) of the mechanism."""
    _check_point(run, adjacency)
    rate, (epsilon, delta) = by_rate.sampling_rate(run), run["point"] or (run["epsilon"], run["delta"])
    point = {"step_epsilon": epsilon, "step_delta": delta, "sampling_rate": rate}
    promise = batches.promise(run) if run.given.inputs else NOTHING.and_of(scheme_of(run))
    amplified = Run(COMMAND, run.given, Question("epsilon", epsilon=epsilon, delta=delta), lambda _: point, _OF_POINT)
    rows = answer_rows(amplified, (Route(amplification.BOUND),), run.bounds)
    result = rows[0].result
    return amplified.having(epsilon=epsilon, delta=delta).answer(
        rows, guarantee_of(result["epsilon"], result["delta"]), adjacency, "one output",
        numbers={"sampling_rate": rate}, warnings=promise.warnings, scope="for one step", promises=promise.sentences)


def _check_point(run: Run, adjacency: str) -> None:
    """Raises DpcalcError where no theorem amplifies the point, and for options that do not belong to it."""
    scheme, given = scheme_of(run), run.given
    if scheme.pure is None or not scheme.fields:
        raise DpcalcError("refused", f"{scheme.name} sampling amplifies no (ε, δ) point; use --scheme poisson or "
                          "without-replacement", "--scheme")
    if adjacency != (usual := scheme.neighbours[0]):
        raise DpcalcError("refused", f"{adjacency}: {scheme.name} sampling amplifies an (ε, δ) point for {usual} only; "
                          f"give the mechanism (--noise-multiplier), or --adjacency {usual}", "--adjacency")
    refuse_unneeded(given, _OF_POINT, "to amplify one (ε, δ) point (dpcalc convert - --steps T composes it)")
    refuse(given, sorted({"alpha", "rdp", "solve", *(("epsilon", "delta") if given.inputs else ())}),
           "not used to amplify one (ε, δ) point, which gives one other: (log(1 + q(e^ε − 1)), qδ); drop it")
    check(run, *by_rate.EITHER_RATE)


# --- beside shuffled batches: other ways to form them, and why nothing is gained where that is so --------------------

_POISSON = ("poisson-profile", "poisson-rdp")
_LEFT_OUT, _NO_GAIN = "shuffle-profile", "shuffle-no-amplification"
_ASKED = ("epsilon", "delta", "solve", "mechanism", "format", "group_size")


def _refuse_poisson(run: Run) -> None:
    """Raises DpcalcError where --bound names a bound for Poisson batches, with its number and why it does not apply."""
    named = next((name for name in run.bounds if name in _POISSON), None)
    if run["scheme"] != "shuffle" or named is None:
        return
    poisson = _with_scheme(run, "poisson", bound=(named,))
    number = "" if poisson is None else f", for which it gives {_number(poisson)}"
    without = run.given.replace({**run.given.values, "bound": None}, run.given.provided - {"bound"})
    shuffled = answer(without)
    asks, result = shuffled.quantity, {**shuffled.extra, **shuffled.headline.result}
    lower = result.get(f"{asks}_lower")
    true = (f"whose true {symbol(asks)} is between {human(lower, upward=False)} and {human(result[asks])}" if lower else
            f"for which {_number(shuffled)} is proven")
    raise DpcalcError("refused", f"{named} is about Poisson batches{number}; that is no guarantee for shuffled "
                                 f"batches, {true}", "--bound")


def _of_other_batches(run: Run, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """Why nothing is gained from the shuffling, where that is so, and the ε of epochs that leave out records and of
    random allocation."""
    if (run["scheme"] != "shuffle" or run.question.asks != "epsilon" or run.unknown or run.bounds
            or is_asked(run)):
        return ()
    reason = _why_nothing_is_gained(run) if rows[0].route.bound.name == _NO_GAIN else ""
    allocated = _with_scheme(run, "random-allocation")
    others = ", and ".join(filter(None, (
        _if_left_out(run, rows[0].result["epsilon"]),
        allocated and f"random allocation of the records (--scheme random-allocation) has {_number(allocated)}")))
    return tuple(filter(None, (reason, f"with the same noise multiplier, {others}" if others else "")))


def _why_nothing_is_gained(run: Run) -> str:
    """The reason why no theorem proves less than one step on all records for every epoch, and the way out."""
    if run["n"] is None:
        return ("every epoch counts as one step on all records; the theorems that prove less need --n and --batch-size "
                "in place of --steps-per-epoch")
    if run["reshuffle"] == "once":
        return ("every epoch counts as one step on all records, as one order for all epochs is proven to gain only "
                "where records are left out and there is much noise; shuffle in every epoch (--reshuffle every-epoch)")
    if run["n"] < 2 * run["batch_size"]:
        return ("every epoch counts as one step on all records, as nothing is proven to be gained with fewer than two "
                "full batches; use smaller batches")
    return ""


def _if_left_out(run: Run, epsilon: float) -> str:
    """The ε of the run if every epoch leaves out records, where that is below this ε."""
    from dpcalc.accounting.schemes.shuffle import size_that_leaves_out  # imports the bounds of shuffled batches
    from dpcalc.bounds.sampling.shuffle_profile import leaves_out

    if run["n"] is None or run["reshuffle"] == "once":
        return ""
    n, b = int(run["n"]), int(run["batch_size"])
    size = size_that_leaves_out(n, b)
    if size is None or leaves_out(n, b, bool(run["drop_last"])):
        return ""
    other = _with_scheme(run, "shuffle", batch_size=size, drop_last=True, bound=(_LEFT_OUT,))
    if other is None or not other.value < epsilon:
        return ""
    options = "--drop-last" if size == b else f"--drop-last and --batch-size {size}, which does not divide {n}"
    return f"epochs that leave out the records that do not fill a batch ({options}) have {_number(other)}"


def _number(answer: Answer) -> str:
    upward = answer.question.unknown is None or answer.question.unknown.safe_direction > 0
    return f"{symbol(answer.quantity)} = {human(answer.value, upward=upward)}"


def _with_scheme(run: Run, scheme: str, **options: Any) -> Answer | None:
    """The answer for the same number of batches in an epoch, the same number of epochs, the same noise multiplier and
    the same neighbours; None where there is none."""
    own = scheme_of(run)
    multiplier = noise_multiplier.companion(run, own.base(run).relation, not run.given.inputs)
    if run.given.inputs or {"epochs", "steps"} & {str(run["solve"])} or not (multiplier or run["solve"]):
        return None
    params = own.params(own.with_sigma(run))
    batches = {"steps_per_epoch": params["steps_per_epoch"], "epochs": params["epochs"]}
    if scheme != "random-allocation":
        named = {name: run[name] for name in ("n", "batch_size", "epochs", "steps") if run[name] is not None}
        batches = named if "n" in named else {"sampling_rate": 1 / params["steps_per_epoch"],
                                              "steps": params["all_steps"]}
    asked = {name: run[name] for name in _ASKED if run[name] is not None}
    if "solve" in asked:
        asked["solve"] = "noise-multiplier"
    described = {**asked, **multiplier, **batches, "scheme": scheme, "adjacency": own.relation(run), **options}
    try:
        return answer(Given({"sensitivity": 1.0, **described}, frozenset(described)))
    except DpcalcError:
        return None


def theorems() -> Iterator[Route]:
    yield Route(amplification.BOUND)
    yield from BOUNDS
    for scheme in SCHEMES.values():
        for mechanism, adjacency in product(scheme.only or mechanism_names.ON_BATCHES, scheme.neighbours):
            yield from scheme.routes({"scheme": scheme.name, "mechanism": mechanism}, adjacency)
        yield from (route for routes in scheme.group_routes.values() for route in routes)
