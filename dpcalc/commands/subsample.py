"""dpcalc subsample: a mechanism on a random batch, over many steps (DP-SGD)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from dpcalc.core import noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.core.results import Answer, Route

_LEVELS = {"noise_multiplier", *(option.name for option in q.MECHANISM_OPTIONS)}
_MOST_NOISE = 1.7e308  # a multiplier


def answer(given: Given) -> Answer:
    """ε, δ or RDP of a run, the parameter that meets a budget, or the amplification of one (ε, δ) point."""
    given = _with_input(given)
    adjacency = neighbours(given)
    if _is_point(given):
        return _amplified(given, adjacency)
    return _run(given, adjacency)


def neighbours(given: Given) -> str:
    """The adjacency of the run. Raises DpcalcError where the scheme has another."""
    from dpcalc.core.errors import DpcalcError

    scheme = given["scheme"]
    wanted = noise_multiplier.adjacency_of(given.values)
    if wanted == "add-remove" and scheme != "poisson":
        raise DpcalcError("refused",
                          "add-remove does not fit batches of fixed size: the batch size is public and n changes; "
                          "use replace-one", "--adjacency")
    return wanted


def _with_input(given: Given) -> Given:
    """A guarantee from JSON takes the place of the mechanism's options."""
    from dpcalc.core.errors import DpcalcError, flag

    if not given.inputs:
        return given
    from dpcalc.accounting.guarantee import Dp, Gdp, Mechanisms, Rdp, Zcdp, curves
    from dpcalc.commands.asking import unknown_of
    from dpcalc.numerics.rounding import ratio_down

    described = {*_LEVELS, "mechanism", "sensitivity", "clipping_norm"}
    for name in sorted(given.provided & described):
        raise DpcalcError("contradictory", "the mechanism is read from the input already", flag(name))
    if (unknown := unknown_of(COMMAND, given)) and unknown.name in described:
        raise DpcalcError("contradictory", f"the input says the noise already; {unknown.option} is no parameter",
                          "--solve")
    if len(given.inputs) > 1:
        raise DpcalcError("contradictory",
                          "one base mechanism can be sampled, not several; compose with dpcalc convert", "--input")
    base = given.inputs[0]
    if base.adjacency not in (None, of := neighbours(given)):
        raise DpcalcError("refused",
                          f"the input is a guarantee for {base.adjacency} neighbours, and says nothing about {of} "
                          f"ones; "
                          f"ask for it again with --adjacency {of}, where its command has that option",
                          "--input")
    if isinstance(base, Dp):
        said = {"step_epsilon": base.epsilon, "step_delta": base.delta}
        return given.having({**given.values, **said})
    if isinstance(base, Mechanisms):
        part = base.mechanisms[0]
        if len(base.mechanisms) > 1 or part.sampling or part.count != 1:
            raise DpcalcError("refused", "the input must be one mechanism, used once and not sampled yet", "--input")
        said = {name: part.params[name] for name in part.mechanism.options}
        return given.having({**given.values, "mechanism": part.name, **said})
    if isinstance(base, Gdp) and base.mu > 0:  # dominated by a Gaussian mechanism
        sigma = min(ratio_down(1.0, base.mu), _MOST_NOISE)
        return given.having({**given.values, "mechanism": "gaussian", "sigma": sigma})
    if isinstance(base, Rdp) or (isinstance(base, Zcdp) and base.rho > 0):
        return given.having({**given.values, "curve": curves(base)[0][0]})
    raise DpcalcError("refused",
                      f"a guarantee of kind {base.kind} cannot be sampled here; a mechanism, μ-GDP, zCDP, an RDP curve "
                      f"or an "
                      "(ε, δ) point can", "--input")


def _is_point(given: Given) -> bool:
    if "step_epsilon" in given.values:
        return True
    described = given.has("solve") or given.inputs or any(given.has(n) for n in (*_LEVELS, "steps", "epochs"))
    return not described and given.has("epsilon") and given.has("delta")


def _amplified(given: Given, adjacency: str) -> Answer:
    from dpcalc.accounting.answer import rows
    from dpcalc.bounds.sampling import amplification
    from dpcalc.core.errors import DpcalcError, flag
    from dpcalc.core.question import Question
    from dpcalc.core.results import NOT_SHUFFLED, Answer, Route, guarantee_of

    if adjacency != noise_multiplier.NEIGHBOURS[given["scheme"]]:
        raise DpcalcError("refused",
                          f"{adjacency}: amplification by Poisson sampling is a theorem about add-remove neighbours; a "
                          "mechanism can be sampled for replace-one ones", "--adjacency")
    used = {"sampling_rate", "n", "batch_size", "scheme", "adjacency"}
    refuse_unneeded(given, used, "to amplify an (ε, δ) point (compose afterwards: dpcalc convert - --steps T)")
    if given["scheme"] == "weighted":
        raise DpcalcError("refused",
                          "amplification is a theorem for Poisson sampling and for sampling without replacement",
                          "--scheme")
    for name in sorted(given.provided & {"alpha", "rdp", "solve", *(("epsilon", "delta") if given.inputs else ())}):
        raise DpcalcError("unneeded",
                          "not used to amplify an (ε, δ) point, from which one other follows: (log(1 + q(e^ε − 1)), qδ)",
                          flag(name))
    if given.has("sampling_rate") and given.provided & {"n", "batch_size"}:
        raise DpcalcError("contradictory", "--n and --batch-size already say the sampling rate", "--sampling-rate")
    rate = _rate(given.values)
    values = {"step_epsilon": given["epsilon"], "step_delta": given["delta"], **given.values}
    point = {k: values[k] for k in ("step_epsilon", "step_delta")} | {"sampling_rate": rate}
    question = Question("epsilon", epsilon=point["step_epsilon"], delta=point["step_delta"])
    found = rows((Route(amplification.BOUND),), given.having(point), lambda p: p, question, given["bound"] or ())
    parameters = {k: v for k, v in given.values.items() if k in used} | {"epsilon": question.epsilon,
                                                                         "delta": question.delta}
    amplified = guarantee_of(found[0].result["epsilon"], found[0].result["delta"])
    notes = (NOT_SHUFFLED,) if given["scheme"] == "poisson" and given.has("batch_size") else ()
    return Answer("subsample", question, parameters, found, amplified, adjacency, "one output", notes,
                  {"sampling_rate": rate})


def _run(given: Given, adjacency: str) -> Answer:
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.asking import asked
    from dpcalc.core.results import Answer

    question = asked(COMMAND, given)
    unknown = question.unknown.name if question.unknown else None
    used = check(given, unknown)
    check_unknown(question, used, f"with --scheme {given['scheme']} and --mechanism {given['mechanism']}")
    named = given["bound"] or ()
    found = rows(routes(given), given, derive, question, named)
    values = {**given.values, **({unknown: found[0].result[unknown]} if unknown else {})}
    params = derive(values)
    rate = params.get("sampling_rate", params.get("max_weight"))
    shown = {k: v for k, v in given.values.items() if k in used | {"epsilon", "delta", "alpha", "rdp"}}
    # of which the Gaussian mechanism is only the worst case
    of_sum = not any(base.kind == "gdp" for base in given.inputs)
    extra = {"sampling_rate": float(rate or 0), "steps": params["steps"], **noise_multiplier.companion(values, of_sum)}
    return Answer("subsample", question, shown, found, guarantee(values, params), adjacency, "every step's output",
                  notes(given, values), extra, scope=scope(given, unknown))


def check(given: Given, unknown: str | None) -> set[str]:
    """The options in use; refuses the useless and the missing."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.core.errors import DpcalcError, flag

    mechanism = None if "curve" in given.values else MECHANISMS[given["mechanism"]]
    required, optional = noise_multiplier.options(mechanism, given, unknown) if mechanism else ((), ())
    own = {*required, *optional}
    weighted = given["scheme"] == "weighted"
    run = {"max_weight"} if weighted else {"sampling_rate", "n", "batch_size"}
    used = own | run | {"scheme", "adjacency", "steps", "epochs", "orders", "mechanism", "precision"}
    refuse_unneeded(given, used, f"with --scheme {given['scheme']} and --mechanism {given['mechanism']}")
    if mechanism:
        require(given, required, f"by the {given['mechanism']} mechanism", unknown)
    if (given.has("epochs") and given.has("steps")) or {"steps", "epochs"} <= given.provided | {unknown}:
        raise DpcalcError("contradictory", "--epochs already says the number of steps", "--steps")
    if weighted:
        require(given, ("max_weight",), "with --scheme weighted", unknown)
        return used
    by_batch = given.provided & {"n", "batch_size"} or unknown in ("n", "batch_size")
    if by_batch and (given.has("sampling_rate") or unknown == "sampling_rate"):
        raise DpcalcError("contradictory", "--n and --batch-size already say the sampling rate", "--sampling-rate")
    if by_batch:
        require(given, ("n", "batch_size"), "for the sampling rate b/n", unknown)
        if given["n"] is not None and given["batch_size"] is not None and given["batch_size"] > given["n"]:
            raise DpcalcError("out-of-range",
                              f"{given['batch_size']} > n = {given['n']}: a batch cannot exceed the data",
                              "--batch-size")
        if _says_no_steps(given, unknown):
            raise DpcalcError("missing", "needed: the number of iterations, or --epochs", "--steps")
    elif unknown != "sampling_rate" and given["sampling_rate"] is None:
        raise DpcalcError("missing", f"needed: --sampling-rate, or {flag('n')} and {flag('batch_size')}",
                          "--sampling-rate")
    return used


def _says_no_steps(given: Given, unknown: str | None) -> bool:
    return not {"steps", "epochs"} & (given.provided | {unknown})


def scope(given: Given, unknown: str | None) -> str:
    """What the headline says of a run that is described by a sampling rate alone."""
    return "for one step" if _says_no_steps(given, unknown) else ""


def _rate(values: Mapping[str, Any]) -> float:
    """q, from --sampling-rate or b/n (rounded up)."""
    from dpcalc.core.errors import DpcalcError, OutOfScope
    from dpcalc.numerics.rounding import ratio_up

    if values.get("sampling_rate") is not None:
        return float(values["sampling_rate"])
    n, b = values.get("n"), values.get("batch_size")
    if n is None or b is None:
        raise DpcalcError("missing", "needed: --sampling-rate, or --n and --batch-size", "--sampling-rate")
    if b > n:
        raise OutOfScope("no-solution", f"a batch of {b} exceeds n = {n}", "--batch-size")
    return ratio_up((b,), (n,))


def derive(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the bounds read: q, T, the noise multiplier and the base curve."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.numerics.rounding import ratio_down

    values = noise_multiplier.with_sigma(values)
    weighted = values["scheme"] == "weighted"
    rate = values["max_weight"] if weighted else _rate(values)
    params: dict[str, Any] = {"max_weight" if weighted else "sampling_rate": rate, "steps": _steps(values, rate)}
    if "curve" in values:
        return params | {"base": values["curve"]}
    mechanism = MECHANISMS[values["mechanism"]]
    params |= {"base": mechanism.curve(values), "profile": mechanism.profile(values),
               "part": {"name": mechanism.name, **mechanism.part.write(values)}}
    if values.get("precision"):
        params["precision"] = values["precision"]
    if values["mechanism"] == "gaussian":
        params["noise_multiplier"] = ratio_down(values["sigma"], values["sensitivity"])
    elif mechanism.pure is not None and not weighted:
        from dpcalc.bounds.conversions import composition_basic
        from dpcalc.bounds.sampling import amplification

        params |= composition_basic.repeated(amplification.value(mechanism.pure(values), 0.0, rate)["epsilon"], 0.0,
                                             params["steps"])
    return params


def _steps(values: Mapping[str, Any], rate: float) -> int:
    """T: as given, or ⌈E/q⌉ (exactly ⌈E·n/b⌉). A rate that is the double of a simple ratio, as 1/49, is that ratio."""
    from fractions import Fraction

    epochs = values.get("epochs")
    if epochs is None:
        return int(values.get("steps") or 1)
    a, b = float(epochs).as_integer_ratio()
    if values.get("sampling_rate") is None and values.get("batch_size"):
        a, b = a * values["n"], b * values["batch_size"]
    else:
        # so large is no number of batches that a person writes as 1/49
        simple = Fraction(rate).limit_denominator(10**6)
        p, r = (simple if float(simple) == rate else Fraction(rate)).as_integer_ratio()
        a, b = a * r, b * p
    return max(1, -(-a // b))


def routes(given: Given) -> tuple[Route, ...]:
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.routes import PURE_COMPOSITION, converted
    from dpcalc.bounds.sampling import poisson_profile, poisson_rdp, weighted_rdp, wor_profile, wor_rdp
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.results import Route

    scheme, has_curve = given["scheme"], "curve" in given.values
    pure = PURE_COMPOSITION if not has_curve and MECHANISMS[given["mechanism"]].pure is not None else ()
    if scheme == "weighted":
        return converted(weighted_rdp.BOUND)
    if scheme == "without-replacement":
        profile = () if has_curve else (Route(wor_profile.BOUND),)
        return (*converted(wor_rdp.BOUND), *pure, *profile)
    if has_curve:
        raise DpcalcError("refused", "the RDP of Poisson sampling is known here for Gaussian noise, not for a curve; "
                          "--scheme without-replacement takes any curve", "--scheme")
    if given["adjacency"] == "replace-one":
        return (Route(wor_profile.BOUND),)
    rdp = () if pure else converted(poisson_rdp.BOUND)
    return (*rdp, *pure, Route(poisson_profile.BOUND))


_CURVE_ORDERS = (*range(2, 33), 40, 48, 64, 96, 128, 256)


def guarantee(values: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The run for the next command: its mechanism, or an RDP curve."""
    from dpcalc.accounting.mechanisms import MECHANISMS

    rate = params.get("sampling_rate", params.get("max_weight"))
    if "curve" not in values:
        # For replace-one neighbours a Poisson batch is analysed like one without replacement.
        scheme = "without-replacement" if values.get("adjacency") == "replace-one" and values["scheme"] == "poisson" else values["scheme"]
        sampling = {"scheme": scheme, "rate": rate}
        mechanism = MECHANISMS[values["mechanism"]]
        return {"kind": "mechanisms",
                "mechanisms": [mechanism.as_part(noise_multiplier.with_sigma(values), sampling, params["steps"])]}
    from dpcalc.accounting.orders import total_rdp
    from dpcalc.bounds.sampling import weighted_rdp, wor_rdp

    curve = total_rdp({"weighted": weighted_rdp.BOUND}.get(values["scheme"], wor_rdp.BOUND), params)
    points = [(a, r) for a in _CURVE_ORDERS if (r := curve(float(a))) < float("inf")]
    return {"kind": "rdp", "alpha": [a for a, _ in points], "rdp": [r for _, r in points]}


def notes(given: Given, values: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader must know; `values` are the parameters with the solution."""
    if "curve" in given.values:
        return ("the base curve is read from the input",)
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.core.results import NOT_SHUFFLED

    notes = noise_multiplier.notes(given, values) or (MECHANISMS[given["mechanism"]].noise,)
    if given["mechanism"] == "gaussian" and not given.inputs and values.get("sigma") is not None:
        norm, of = ("twice the clipping norm", "2σ/s") if _replaces(values) else ("the clipping norm", "σ/s")
        multiplier = f"{noise_multiplier.companion(values, of_sum=True)[noise_multiplier.NAME]:.6g}"
        notes += (f"DP-SGD: σ is the noise on the sum of clipped gradients, s {norm}, and the noise multiplier {of} = "
                  f"{multiplier}",)
    elif given["mechanism"] != "gaussian" and given["scheme"] == "poisson":
        notes += ("each step: ε′ = log(1 + q(e^ε − 1)) by amplification (Balle, Barthe & Gaboardi 2018), then composed",
                  )
    in_batches = given["scheme"] == "poisson" and values.get("batch_size") is not None
    return (*notes, NOT_SHUFFLED) if in_batches else notes


def _replaces(values: Mapping[str, Any]) -> bool:
    return noise_multiplier.adjacency_of(values) == "replace-one"


def theorems() -> Iterator[Route]:
    from dpcalc.bounds.sampling import amplification
    from dpcalc.core.results import Route

    yield Route(amplification.BOUND)
    for scheme, mechanism, adjacency in product(q.SCHEME.choices, q.MECHANISM.choices, q.ADJACENCY.choices):
        yield from routes(Given({"scheme": scheme, "mechanism": mechanism, "adjacency": adjacency}, frozenset()))


_SIGMA = q.SIGMA._replace(help="standard deviation of the Gaussian noise on the sum of a batch's clipped gradients, in "
                               "the units of "
                          "--sensitivity")
_NOISE = tuple(Option(_SIGMA if option is q.SIGMA else option, MECHANISM) for option in q.MECHANISM_OPTIONS)

COMMAND = Command(
    "subsample",
    "Privacy of a mechanism on random batches, step after step (DP-SGD)",
    (
        Option(q.SCHEME, RUN, default="poisson"),
        Option(q.SAMPLING_RATE, RUN),
        Option(q.N, RUN),
        Option(q.BATCH_SIZE, RUN),
        Option(q.STEPS, RUN),
        Option(q.EPOCHS, RUN),
        Option(q.MAX_WEIGHT, RUN),
        Option(q.ADJACENCY, RUN),
        Option(q.MECHANISM, MECHANISM, default="gaussian"),
        *_NOISE,
        Option(q.SENSITIVITY, MECHANISM, default=1.0),
        Option(q.NOISE_MULTIPLIER, MECHANISM),
        Option(q.CLIPPING_NORM, MECHANISM),
        Option(q.ORDERS, QUESTION),
        Option(q.PRECISION, QUESTION),
    ),
    answer,
    (
        ("subsample --n 60000 --batch-size 256 --epochs 15 --sigma 1.1 --delta 1e-5", "ε = 1.1341"),
        ("subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve sigma", "σ = 0.838778"),
    ),
    inputs=True,
    describes=True,
    theorems=theorems,
)
