"""dpcalc subsample: a mechanism on a random batch, over many steps (DP-SGD)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from dpcalc.commands import subsample_run as run
from dpcalc.commands.mechanism_options import mechanism_options
from dpcalc.core import noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.command import QUESTION, RUN, Command, Given, Option, check_unknown, refuse_unneeded

if TYPE_CHECKING:
    from dpcalc.core.results import Answer, Route

_LEVELS = {"noise_multiplier", *(option.name for option in q.MECHANISM_OPTIONS)}


def answer(given: Given) -> Answer:
    """ε, δ or RDP of a run, the parameter that meets a budget, or the amplification of one (ε, δ) point."""
    adjacency = run.neighbours(given.values)
    given = _with_input(given)
    if "point" in given.values or _asks_of_point(given):
        return _amplified_point(given, adjacency)
    if not given.inputs:
        _require_noise(given)
    return _run(given, adjacency)


def _with_input(given: Given) -> Given:
    """The call with a guarantee from JSON in place of the options of a mechanism: as a mechanism, as `curve` (an RDP
    curve), or as `point` (ε and δ). Raises DpcalcError for a guarantee that cannot be sampled."""
    from dpcalc.core.errors import DpcalcError, flag

    if not given.inputs:
        return given
    from dpcalc.accounting.guarantee import Dp, Gdp, Mechanisms, Rdp, Zcdp
    from dpcalc.accounting.guarantee_sums import curves
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.commands.asking import read_unknown
    from dpcalc.numerics.rounding import ratio_down

    described = {*_LEVELS, "mechanism", "clipping_norm", *(o for m in MECHANISMS.values() for o in m.optional)}
    for name in sorted(given.provided & described):
        raise DpcalcError("contradictory", "not used with an input, which describes the mechanism; drop it", flag(name))
    if (unknown := read_unknown(COMMAND, given)) and unknown.name in described:
        raise DpcalcError("contradictory", f"{unknown.option} has no effect, as the input fixes the noise; solve for "
                                           "another option",
                          "--solve")
    if len(given.inputs) > 1:
        raise DpcalcError("contradictory",
                          "give one mechanism; several guarantees are composed with dpcalc convert", "--input")
    base = given.inputs[0]
    if base.size_of_group > 1:
        raise DpcalcError("refused", f"the input is about groups of {base.group_size} records, which a batch samples "
                          "one by one; describe one record, and give --group-size here", "--input")
    run.promise(given, None)
    if isinstance(base, Dp):
        return given.replace({**given.values, "point": (base.epsilon, base.delta)})
    if isinstance(base, Mechanisms):
        part = base.mechanisms[0]
        if len(base.mechanisms) > 1 or part.sampling or part.count != 1:
            raise DpcalcError("refused", "give one mechanism that is used once and not sampled yet", "--input")
        params = part.params(base.adjacency or run.between(given.values))
        own = {name: params[name] for name in (*part.mechanism.options, *part.mechanism.optional) if name in params}
        return given.replace({**given.values, "mechanism": part.name, **own, "attained": not base.upper_bound})
    if isinstance(base, Gdp) and base.mu > 0:  # a μ-GDP mechanism is dominated by a Gaussian one with σ = 1/μ
        sigma = min(ratio_down(1.0, base.mu), 1.7e308)  # 1/μ may overflow, and less noise is safe
        return given.replace({**given.values, "mechanism": "gaussian", "sigma": sigma, "attained": False})
    if isinstance(base, Rdp) or (isinstance(base, Zcdp) and base.rho > 0):
        return given.replace({**given.values, "curve": curves(base)[0][0]})
    raise DpcalcError("refused",
                      f"a guarantee of kind {base.kind} cannot be sampled here; a mechanism, μ-GDP, zCDP, an RDP curve "
                      "or an (ε, δ) point can", "--input")


def _asks_of_point(given: Given) -> bool:
    """Whether --epsilon and --delta are a point to be amplified: nothing else is described, and nothing solved for."""
    described = given.has("solve") or given.inputs or any(given.has(n) for n in (*_LEVELS, "steps", "epochs"))
    return not described and given.has("epsilon") and given.has("delta")


def _require_noise(given: Given) -> None:
    """Raises DpcalcError where no noise is given and none is solved for."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.commands.asking import read_unknown
    from dpcalc.core.errors import DpcalcError, flag

    unknown = read_unknown(COMMAND, given)
    if any(given.has(name) or (unknown and unknown.name == name) for name in _LEVELS):
        return
    own, name = MECHANISMS[given["mechanism"]].options[0], given["mechanism"]
    level, other = ("noise_multiplier", " (or --sigma)") if name == "gaussian" else (own, "")
    if given.has("epsilon") and given.has("delta") and unknown is None:
        other = f", or --solve {flag(level)[2:]} for this budget"
    raise DpcalcError("missing", f"no noise given: add {flag(level)}{other}")


def _amplified_point(given: Given, adjacency: str) -> Answer:
    """The (ε, δ) of a mechanism on a random batch, from the (ε, δ) of the mechanism."""
    from dpcalc.accounting.answer import rows
    from dpcalc.accounting.neighbours import NOTHING
    from dpcalc.accounting.schemes import by_rate, scheme_of
    from dpcalc.bounds.sampling import amplification
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, guarantee_of

    used = {"sampling_rate", "n", "batch_size", "scheme", "adjacency"}
    _check_point(given, adjacency, used)
    rate = by_rate.sampling_rate(given.values)
    epsilon, delta = given["point"] or (given["epsilon"], given["delta"])
    params = {"step_epsilon": epsilon, "step_delta": delta, "sampling_rate": rate}
    question = Question("epsilon", epsilon=epsilon, delta=delta)
    found = rows((Route(amplification.BOUND),), given.replace(params), lambda p: p, question, given["bound"] or ())
    parameters = {**{k: v for k, v in given.values.items() if k in used}, "epsilon": epsilon, "delta": delta}
    promise = run.promise(given, None) if given.inputs else NOTHING.and_of(scheme_of(given.values))
    return Answer("subsample", question, parameters, found,
                  guarantee_of(found[0].result["epsilon"], found[0].result["delta"]), adjacency, "one output",
                  extra={"sampling_rate": rate}, warnings=promise.warnings, scope="for one step",
                  promises=promise.sentences)


def _check_point(given: Given, adjacency: str, used: set[str]) -> None:
    """Raises DpcalcError where no theorem amplifies the point, and for options that do not belong to it."""
    from dpcalc.accounting.schemes import by_rate, scheme_of
    from dpcalc.core.errors import DpcalcError, flag

    scheme = scheme_of(given.values)
    if scheme.pure is None or not scheme.fields:
        raise DpcalcError("refused",
                          f"{scheme.name} sampling amplifies no (ε, δ) point; use --scheme poisson or "
                          "without-replacement", "--scheme")
    if adjacency != scheme.neighbours[0]:
        raise DpcalcError("refused",
                          f"{adjacency}: {scheme.name} sampling amplifies an (ε, δ) point for "
                          f"{scheme.neighbours[0]} only; give the mechanism (--noise-multiplier), or --adjacency "
                          f"{scheme.neighbours[0]}", "--adjacency")
    refuse_unneeded(given, used, "to amplify one (ε, δ) point (dpcalc convert - --steps T composes it)")
    for name in sorted(given.provided & {"alpha", "rdp", "solve", *(("epsilon", "delta") if given.inputs else ())}):
        raise DpcalcError("unneeded",
                          "not used to amplify one (ε, δ) point, which gives one other: (log(1 + q(e^ε − 1)), qδ); "
                          "drop "
                          "it", flag(name))
    if given.has("sampling_rate") and given.provided & {"n", "batch_size"}:
        raise DpcalcError("contradictory", by_rate.ONE_RATE, "--sampling-rate")


def _run(given: Given, adjacency: str) -> Answer:
    """ε, δ or RDP of a run, or the parameter that meets a budget."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands import shuffled_batches
    from dpcalc.commands.asking import read_question, shown, with_solution
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.results import Answer

    question = run.in_whole_epochs(given, read_question(COMMAND, given))
    unknown = question.unknown.name if question.unknown else None
    promise = run.promise(given, unknown)
    used = run.check(given, unknown)
    check_unknown(question, used, f"with --scheme {given['scheme']} and --mechanism {given['mechanism']}")
    shuffled_batches.refuse_poisson(given)
    try:
        found = rows(run.routes(given, question), given, run.bound_params, question, given["bound"] or ())
    except DpcalcError as error:
        if error.code != "unsupported" or question.asks != "rdp" or given["bound"]:
            raise
        raise DpcalcError("unsupported", f"RDP of {run.description(given)} is not supported; ask with --delta",
                          "--alpha") from None
    values = with_solution(given, question, found)
    params = run.bound_params(values)
    # of μ-GDP from JSON the Gaussian mechanism is only the worst case, and σ no noise on a sum
    of_sum = not any(base.kind == "gdp" for base in given.inputs)
    numbers = {**run.run_numbers(values, params), **noise_multiplier.companion(values, run.between(values), of_sum),
               **run.lower_end(question, found)}
    return Answer("subsample", question, shown(values, used), found, run.guarantee(values, params), adjacency,
                  "every step's output", (*run.notes(given, values), *shuffled_batches.notes(given, question, found)),
                  numbers, promise.warnings, scope=run.scope(given, unknown), promises=promise.sentences)


def theorems() -> Iterator[Route]:
    from dpcalc.accounting.schemes import SCHEMES
    from dpcalc.bounds.sampling import amplification
    from dpcalc.core.results import Route

    yield Route(amplification.BOUND)
    for scheme in SCHEMES.values():
        for mechanism, adjacency in product(scheme.only or q.MECHANISM.choices, scheme.neighbours):
            yield from scheme.routes(Given({"scheme": scheme.name, "mechanism": mechanism}, frozenset()), adjacency)
        yield from (route for routes in scheme.group_routes.values() for route in routes)


COMMAND = Command(
    "subsample",
    "Privacy of training on random batches that are drawn afresh at every step (DP-SGD). Every step is released.",
    (
        Option(q.SCHEME, RUN, default="poisson"),
        Option(q.SAMPLING_RATE, RUN),
        Option(q.N, RUN),
        Option(q.BATCH_SIZE, RUN),
        Option(q.MAX_BATCH_SIZE, RUN),
        Option(q.BANDS, RUN),
        Option(q.STEPS, RUN),
        Option(q.EPOCHS, RUN),
        Option(q.STEPS_PER_EPOCH, RUN),
        Option(q.DROP_LAST, RUN),
        Option(q.RESHUFFLE, RUN),
        Option(q.PARTICIPATIONS, RUN),
        Option(q.MAX_WEIGHT, RUN),
        Option(q.ADJACENCY, RUN),
        Option(q.GROUP_SIZE, RUN),
        *mechanism_options("standard deviation of the noise on the sum of a batch (in the units of --sensitivity)"),
        Option(q.ORDERS, QUESTION),
        Option(q.PRECISION, QUESTION),
    ),
    answer,
    (
        ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5", "ε = 1.1341"),
        ("subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
         "Noise multiplier = 0.838778"),
        ("subsample --scheme without-replacement --n 60000 --batch-size 256 --steps 3516 --noise-multiplier 2 "
         "--delta 1e-5", "ε = 1.69797"),
    ),
    inputs=True,
    describes=True,
    theorems=theorems,
    elsewhere=noise_multiplier.PARTS_OF_BATCHES,
    usual=("epsilon", "delta", "solve", "noise_multiplier", "mechanism", "scale", "scheme", "n", "batch_size", "epochs",
           "steps"),
)
