"""dpcalc convert: from the guarantee you have to the one you want, and composition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.core import quantities as q
from dpcalc.core.command import GUARANTEE, QUESTION, RUN, Command, Given, Option, refuse_unneeded, require
from dpcalc.core.errors import DpcalcError, flag

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route


class _Source(NamedTuple):
    """A kind of guarantee: what describes it, what it can be turned into, how."""

    needs: tuple[str, ...]
    may: tuple[str, ...]
    routes: Callable[[Given, Question], tuple[Route, ...]]
    derive: Callable[[Any], dict[str, Any]]
    question: Callable[[Given], Question]


def answer(given: Given) -> Answer:
    """The converted guarantee, and what it is as JSON for the next command."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.convert_inputs import with_inputs
    from dpcalc.core.results import Answer

    given = with_inputs(given)
    name = given["from"]
    if name != "rdp":
        given = _one_order(given)
    if name is None:
        raise DpcalcError("missing", "say what you have: --from rdp, gdp, zcdp, dp, tv or outcomes, or give JSON "
                          "(FILE or -): a result, a mechanism or a profile", "--from")
    source = _SOURCES[name]
    try:
        question = source.question(given)
    except DpcalcError as reason:
        raise _as_typed(given, reason) from None
    unknown = question.unknown.name if question.unknown else None
    used = {*source.needs, *source.may, "from", "to"}
    refuse_unneeded(given, used | {"alpha", "rdp", "epsilon", "delta"}, f"with --from {name}")
    require(given, source.needs, f"with --from {name}", unknown)
    _refuse_leftovers(given, name, source, question)
    try:
        found = rows(source.routes(given, question), given, source.derive, question, given["bound"] or ())
    except DpcalcError as reason:
        if name == "dp" and not given.inputs:  # there --delta is that of each step
            reason.option = {"--delta": "--slack" if given.has("slack") else "--target-delta"}.get(reason.option or "",
                                                                                                   reason.option)
        raise
    values = {**given.values, **({unknown: found[0].result[unknown]} if unknown else {})}
    read = {"from"} if given.inputs else set()
    shown = {k: v for k, v in given.values.items() if k in used | {"epsilon", "delta", "alpha", "rdp"}
             and k not in read}
    return Answer("convert", question, shown, found, _guarantee(name, question, found[0].result, values),
                  given.values.get("adjacency", "as in the given guarantee"), "as in the given guarantee",
                  _notes(given, found[0].route),
                  {"steps": values["steps"]} if "steps" in source.may else {})


def _notes(given: Given, head: Route) -> tuple[str, ...]:
    notes = []
    if head.bound.name == "pure-zcdp" and all(g.kind == "dp" for g in given.inputs) and given["from"] != "outcomes":
        notes.append("a mechanism whose privacy loss has a range of length ε, such as the exponential mechanism, is "
                     "ε²/8-zCDP: "
                     "--bound bounded-range-zcdp")
    if len(set(given.inputs)) > 1 and any(g.kind == "outcomes" for g in given.inputs):
        notes.append("the probabilities p of every input are taken to be those on the same data set")
    return tuple(notes)


_ASKED_BY = {"epsilon": {"delta", "orders"}, "delta": {"epsilon", "orders"}, "rdp": {"alpha"}, "tv": set(), "mu": set(),
             "rho": set()}
_BUDGET = {"epsilon": {"epsilon", "delta", "orders"}, "rdp": {"alpha", "rdp"}}
_TARGETS = {"epsilon": "target_epsilon", "delta": "target_delta"}


def _refuse_leftovers(given: Given, name: str, source: _Source, question: Question) -> None:
    """Options that neither describe the guarantee nor ask the question."""
    asked = _BUDGET[question.asks] | {"solve"} if question.unknown else _ASKED_BY[question.asks]
    if name == "dp":
        targets = {_TARGETS.get(n, n) for n in asked}
        asked = (targets | asked if given.inputs else targets) - {"orders"} | {"slack"}
        if question.asks != "epsilon" or question.unknown:
            asked -= {"slack"}
    describe = {*source.needs, *source.may} - {"slack", "orders", *_TARGETS.values()}
    if name == "dp" and given.inputs:
        describe -= set(_TARGETS)  # they ask
    if question.unknown and question.unknown.name not in describe:
        raise DpcalcError("unknown-value", f"{question.unknown.option} is no parameter with --from {name}", "--solve")
    always = {"from", "to", "bound", "format", "digits", "input"}
    for option in sorted(given.provided - describe - asked - always):
        raise DpcalcError("unneeded", f"not used by this question (--from {name}, asks {question.asks})",
                          f"--{option.replace('_', '-')}")


def _as_typed(given: Given, reason: DpcalcError) -> DpcalcError:
    """With a point from JSON --epsilon and --delta say what --target-epsilon and --target-delta do elsewhere."""
    for n in _TARGETS if given.inputs else ():
        if n in given.provided:
            option, reason.message = f"--target-{n}", reason.message.replace(f"--target-{n}", f"--{n}")
            reason.option = f"--{n}" if reason.option == option else reason.option
    return reason


def _one_order(given: Given) -> Given:
    """--alpha is a list where it describes a curve, one order where it asks for a value."""
    for name in ("alpha", "rdp"):
        if given.has(name) and len(given[name]) != 1:
            raise DpcalcError("contradictory", "one value is asked for here; a list describes a curve (--from rdp)",
                              f"--{name}")
    single = {n: given[n][0] for n in ("alpha", "rdp") if given.has(n)}
    return given.having({**given.values, **single})


def _guarantee(name: str, question: Question, result: dict[str, float], values: Any) -> dict[str, Any]:
    """The richest form: all that was composed, where one number or one mechanism says that; else what was computed."""
    as_whole = _WHOLE.get(name)
    return as_whole(values) if as_whole and question.asks != "rho" else _AS_GUARANTEE[question.asks](result)


def _whole_gdp(values: Any) -> dict[str, Any]:
    from math import sqrt

    from dpcalc.numerics.rounding import up

    return {"kind": "gdp", "mu": up(values["mu"] * sqrt(values["steps"]), 5e-16)}


def _whole_zcdp(values: Any) -> dict[str, Any]:
    from dpcalc.numerics.rounding import ratio_up

    return {"kind": "zcdp", "rho": ratio_up((values["rho"], int(values["steps"])))}


def _whole_outcomes(values: Any) -> dict[str, Any]:
    return {"kind": "outcomes", "p": list(values["p"]), "q": list(values["q"]), "count": uses(values)}


_WHOLE: dict[str, Callable[[Any], dict[str, Any]]] = {"gdp": _whole_gdp, "zcdp": _whole_zcdp,
                                                      "outcomes": _whole_outcomes}


def uses(values: Any) -> int:
    """How often a finite mechanism is used: a guarantee that is read may be of several uses."""
    return int(values.get("steps") or 1) * int(values.get("count") or 1)


def _point(result: dict[str, float]) -> dict[str, Any]:
    from dpcalc.core.results import guarantee_of

    return guarantee_of(result["epsilon"], result["delta"])


_AS_GUARANTEE: dict[str, Callable[[dict[str, float]], dict[str, Any]]] = {
    "epsilon": _point,
    "delta": _point,
    "rdp": lambda r: {"kind": "rdp", "alpha": [r["alpha"]], "rdp": [r["rdp"]]},
    "tv": lambda r: {"kind": "tv", "tv": r["tv"]},
    "mu": lambda r: {"kind": "gdp", "mu": r["mu"]},
    "rho": lambda r: {"kind": "zcdp", "rho": r["rho"]},
}


# --- the questions ---------------------------------------------------------------------------------------------------


def _plain_question(given: Given) -> Question:
    from dpcalc.commands.asking import asked
    from dpcalc.core.question import Question

    to = given["to"]
    if to == "tv":
        return Question("tv")
    if to == "zcdp":
        if given["from"] in _NOT_ALWAYS_PURE and not _is_pure(given):
            raise DpcalcError("refused",
                              "zcdp: ρ follows from pure ε, from μ-GDP and from zCDP, and not all that is given is one "
                              "of "
                              "these", "--to")
        return Question("rho")
    question = asked(COMMAND, given)
    _check_target(to, question)
    return question


_NOT_ALWAYS_PURE = ("outcomes", "parts", "rdp")


def _is_pure(given: Given) -> bool:
    """Whether what is given has a pure ε."""
    if given["from"] == "outcomes":
        return not _is_one_sided(given)
    return given["points"] is not None and not any(delta for _, delta, _ in given["points"])


def _is_one_sided(given: Given) -> bool:
    """Whether an outcome is possible on one data set only."""
    return any((a > 0) != (b > 0) for a, b in zip(given["p"] or (), given["q"] or (), strict=False))


def _outcome_question(given: Given) -> Question:
    """A finite mechanism says all by itself: its pure ε, or its TV where an outcome is possible on one side only."""
    from dpcalc.core.question import Question

    if any(given[name] is not None for name in ("epsilon", "delta", "alpha", "rdp", "solve", "to")):
        return _plain_question(given)
    return Question("tv") if _is_one_sided(given) else Question("epsilon", delta=0.0)


def _check_target(to: str | None, question: Question) -> None:
    gives = {"epsilon": "dp", "delta": "dp", "rdp": "rdp", "tv": "tv", "mu": "gdp", "rho": "zcdp"}[question.asks]
    if to is not None and to != gives:
        raise DpcalcError("contradictory",
                          f"{to} is not what the other options ask for ({gives}); --to rdp goes with --alpha, "
                          "--to dp with --delta or --epsilon", "--to")


def _curve_question(given: Given) -> Question:
    """--alpha and --rdp describe the curve here; ε, δ or TV is asked."""
    from dpcalc.commands.asking import asked

    free = given.having({**given.values, "alpha": None, "rdp": None}, given.provided - {"alpha", "rdp"}, ())
    if given["to"] in ("tv", "zcdp"):
        return _plain_question(free)
    question = asked(COMMAND, free)
    _check_target(given["to"], question)
    return question


def _dp_question(given: Given) -> Question:
    """--epsilon and --delta describe each step; --target-…, --slack, --alpha or --to say what is asked."""
    from dpcalc.commands.asking import asked
    from dpcalc.core.question import Question
    from dpcalc.numerics.rounding import ratio_up, sum_up

    to, delta, said = given["to"], given["delta"], "--input" if given.inputs else "--delta"
    if to == "rdp" or given["alpha"] is not None:
        if delta:
            raise DpcalcError("refused",
                              f"δ = {delta:g} > 0: an (ε, δ) guarantee has no Rényi divergence; Mironov 2017, Prop. 3, "
                              f"has no "
                              "converse (Sordello et al. 2021, §5, prints one that is negative: −10.5 at ε = 1, δ = "
                              "1e-5, α = 2)",
                              said)
        if given["alpha"] is None:
            raise DpcalcError("missing", "needed for --to rdp", "--alpha")
        return Question("rdp", alpha=given["alpha"])
    if to in ("gdp", "zcdp"):
        if delta:
            symbol = "μ" if to == "gdp" else "ρ"
            raise DpcalcError("refused",
                              f"δ = {delta:g} > 0: one (ε, δ) point does not bound the other points, so no {symbol} "
                              f"follows "
                              "from it; from pure ε (δ = 0) one does", said)
        return Question("mu" if to == "gdp" else "rho")
    if to == "tv":
        return Question("tv")
    if given["slack"] is not None:
        if given["target_delta"] is not None or given["target_epsilon"] is not None:
            said = "target_delta" if given["target_delta"] is not None else "target_epsilon"
            raise DpcalcError("contradictory", "--slack already says the total δ = Tδ + δ′, and asks for ε", flag(said))
        require(given, ("epsilon", "delta"), "with --from dp")
        total = sum_up((ratio_up((given["steps"], delta)), given["slack"]))
        if total >= 1:
            raise DpcalcError("out-of-range", f"Tδ + δ′ = {total:g} is not below 1", "--slack")
        return Question("epsilon", delta=total)
    if given["solve"] or given["target_delta"] is not None or given["target_epsilon"] is not None:
        return asked(COMMAND, given.having({**given.values, "alpha": None}, inputs=()), "target_epsilon",
                     "target_delta")
    raise DpcalcError("missing",
                      "nothing to compute: --target-delta (prints the total ε), --target-epsilon (prints the total δ), "
                      "--slack, --to tv, and for pure ε --to gdp, --to zcdp or --alpha")


# --- the routes ------------------------------------------------------------------------------------------------------


def _dp_routes(given: Given, question: Question) -> tuple[Route, ...]:
    from dpcalc.accounting.routes import COMPOSITION, converted
    from dpcalc.bounds.conversions import composition_advanced, composition_optimal, dp_tv, pure_gdp, pure_rdp
    from dpcalc.core.results import Route

    if question.asks == "mu":
        return (Route(pure_gdp.BOUND),)
    if question.asks == "rho":
        return _pure_zcdp(True)
    if question.asks == "rdp":
        return (Route(pure_rdp.BOUND),)
    if question.asks == "tv":
        return (Route(composition_optimal.BOUND),) if given["steps"] > 1 else (Route(dp_tv.BOUND),)
    if given["slack"] is not None:
        return (Route(composition_advanced.BOUND), Route(composition_optimal.BOUND))
    return COMPOSITION + (converted(pure_rdp.BOUND) if given["delta"] == 0 else ())


def _pure_zcdp(range_unknown: bool) -> tuple[Route, ...]:
    """Of pure ε. A bounded range is an assumption about a mechanism, which one that is described is known not to meet
    with that ε: the losses of Laplace noise and of randomised response have a range of 2ε."""
    from dpcalc.bounds.conversions import bounded_range_zcdp, pure_zcdp
    from dpcalc.core.results import Route

    return (Route(pure_zcdp.BOUND), *((Route(bounded_range_zcdp.BOUND, on_request=True),) if range_unknown else ()))


def _dp_params(values: Any) -> dict[str, Any]:
    from dpcalc.bounds.conversions import composition_basic

    return composition_basic.repeated(values["epsilon"], values["delta"], int(values["steps"]))


def _gdp_routes(given: Given, question: Question) -> tuple[Route, ...]:
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.conversions import gdp_exact, gdp_rdp, gdp_zcdp
    from dpcalc.core.results import Route

    if question.asks == "rho":
        return (Route(gdp_zcdp.BOUND),)
    return (Route(gdp_exact.BOUND), *converted(gdp_rdp.BOUND))


def curve_routes(given: Given, question: Question) -> tuple[Route, ...]:
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.conversions import rdp_curve, zcdp_composition, zcdp_rdp
    from dpcalc.core.results import Route

    if question.asks == "rho":
        return (Route(zcdp_composition.BOUND),)
    bounds = {"rdp": rdp_curve.BOUND, "zcdp": zcdp_rdp.BOUND}
    return converted(bounds[given["from"]], by_conversion=True)


def part_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """By RDP where all parts have curves, by profiles, which all parts have, and by sums where all have an (ε, δ) of
    their own."""
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.conversions import composition_basic, profile_composition, rdp_composition
    from dpcalc.core.results import Route

    if question.asks == "rho":
        return _pure_zcdp(all(part["kind"] == "dp" for part in given["described"] or ()))
    rdp = converted(rdp_composition.BOUND, by_conversion=True) if "parts" in given.values else ()
    profile = (Route(profile_composition.BOUND),) if "pairs" in given.values and question.asks != "rdp" else ()
    sums = (Route(composition_basic.BOUND),) if "points" in given.values and question.asks in ("epsilon",
                                                                                               "delta") else ()
    if not rdp + profile + sums:
        raise given["reason"]
    return rdp + profile + sums


def part_params(values: Any) -> dict[str, Any]:
    steps = int(values["steps"])
    sums = {"points": tuple((e, d, count * steps) for e, d, count in values["points"])} if "points" in values else {}
    return {"parts": values.get("parts", ()), "pairs": values.get("pairs", ()), "described": values["described"],
            "steps": steps, "precision": values.get("precision"), **sums, "no_pure": values.get("no_pure")}


def _outcome_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """Of one use in closed form; of several by their RDP, by composing the mechanism's own pair, and by the sum of
    their pure ε."""
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.conversions import composition_basic, outcomes, profile_composition
    from dpcalc.core.results import Route

    if question.asks == "rho":
        return _pure_zcdp(False)
    often = question.unknown is not None or uses(given.values) > 1
    if question.asks == "rdp":
        return (Route(outcomes.RDP),) if often else (Route(outcomes.PROFILE), Route(outcomes.RDP))
    if not often:
        return (Route(outcomes.PROFILE),)
    if _is_one_sided(given):  # no Rényi divergence is finite, and no ε pure
        return (Route(profile_composition.BOUND),)
    sums = () if question.asks == "tv" else (Route(composition_basic.BOUND),)
    return (*converted(outcomes.RDP), Route(profile_composition.BOUND), *sums)


def rdp_params(values: Any) -> dict[str, Any]:
    alphas, rdps = values["alpha"], values["rdp"]
    if len(rdps) == 1:
        rdps = rdps * len(alphas)
    if len(alphas) != len(rdps):
        raise DpcalcError("contradictory",
                          f"{len(alphas)} orders but {len(rdps)} values; one value each, or one for all", "--rdp")
    return {"alphas": alphas, "rdps": rdps, "steps": int(values["steps"])}


def outcome_params(values: Any) -> dict[str, Any]:
    from dpcalc.accounting.guarantee import UNIT

    p, r = values["p"], values["q"]
    if len(p) != len(r):
        raise DpcalcError("contradictory", f"{len(p)} outcomes in --p but {len(r)} in --q", "--q")
    for name, vector in (("--p", p), ("--q", r)):
        if abs(fsum(vector) - 1) > UNIT:
            raise DpcalcError("out-of-range", f"the probabilities add up to {fsum(vector):g}, not 1", name)
    steps = uses(values)
    described = ({"kind": "outcomes", "p": p, "q": r, "count": 1},)
    parts = _finite_parts(p, r, steps, bool(values.get("solve")))
    return {"p": p, "q": r, "steps": steps, "described": described, "precision": values.get("precision"), **parts}


def _finite_parts(p: tuple[float, ...], q: tuple[float, ...], steps: int, solved: bool) -> dict[str, Any]:
    """What several uses of a finite mechanism are composed from: its pure ε, where it has one, and its pair."""
    from dpcalc.bounds.conversions import outcomes
    from dpcalc.core.errors import OutOfScope

    try:
        sums: dict[str, Any] = {"points": ((outcomes.pure(p, q), 0.0, steps),)}
    except OutOfScope as reason:
        sums = {"no_pure": reason}
    if steps == 1 and not solved:
        return sums
    from dpcalc.pld import atoms

    return {**sums, "pairs": ((atoms.outcomes(p, q), 1),)}


def _params(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda values: {**{n: values[n] for n in names}, "steps": int(values["steps"])}


_SOURCES: dict[str, _Source] = {
    "rdp": _Source(("alpha", "rdp"), ("steps",), curve_routes, rdp_params, _curve_question),
    "gdp": _Source(("mu",), ("steps", "orders"), _gdp_routes, _params("mu"), _plain_question),
    "zcdp": _Source(("rho",), ("steps", "orders"), curve_routes, _params("rho"), _plain_question),
    "dp": _Source(("epsilon", "delta"), ("steps", "slack", "target_epsilon", "target_delta"), _dp_routes, _dp_params,
                  _dp_question),
    "outcomes": _Source(("p", "q"), ("steps", "orders", "precision"), _outcome_routes, outcome_params,
                        _outcome_question),
    "parts": _Source((), ("tv", "steps", "orders", "precision"), part_routes, part_params, _plain_question),
}



def theorems() -> Iterator[Route]:
    from dpcalc.core.question import Question

    for name, source in _SOURCES.items():
        for asks, steps, slack, delta in product(_ASKED_BY, (1, 2), (None, 0.5), (0.0, 0.5)):
            given = {"from": name, "steps": steps, "slack": slack, "delta": delta, "parts": (), "pairs": (),
                     "points": ()}
            yield from source.routes(Given(given, frozenset()), Question(asks))


COMMAND = Command(
    "convert",
    "Convert between guarantees (RDP, GDP, zCDP, (ε, δ), TV, outcomes) and compose them",
    (
        Option(q.FROM, GUARANTEE),
        Option(q.TO, QUESTION),
        Option(q.ALPHAS, GUARANTEE),
        Option(q.RDPS, GUARANTEE),
        Option(q.MU, GUARANTEE),
        Option(q.RHO, GUARANTEE),
        Option(q.TV, GUARANTEE),
        Option(q.P, GUARANTEE),
        Option(q.Q, GUARANTEE),
        Option(q.STEPS, RUN, default=1),
        Option(q.SLACK, QUESTION),
        Option(q.TARGET_EPSILON, QUESTION),
        Option(q.TARGET_DELTA, QUESTION),
        Option(q.ORDERS, QUESTION),
        Option(q.PRECISION, QUESTION),
    ),
    answer,
    (
        ("convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5", "ε = 1.70974"),
        ("convert --from gdp --mu 1 --delta 1e-5", "ε = 4.37718"),
        ("rdp --sigma 2 --json | dpcalc subsample - --sampling-rate 0.01 --steps 1000 --json | dpcalc convert - "
         "--delta 1e-5",
         "ε = 0.622123"),
    ),
    inputs=True,
    theorems=theorems,
    asks="Say what you have (--from, or a JSON result), then ask with --delta (prints ε), --epsilon (prints δ), "
         "--alpha (prints the RDP) "
    "or --to tv. With --from dp, --epsilon and --delta are each step's: ask with --target-delta or --target-epsilon. "
    "--from outcomes alone prints the pure ε, or the TV where an outcome is possible on one side only.",
)
