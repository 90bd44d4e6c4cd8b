"""The answer of convert: the converted guarantee, also as JSON for the next command."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.neighbours import NOTHING
from dpcalc.accounting.selection import BOUNDS, OneRun, is_asked, of_best
from dpcalc.bounds.conversions import composition_basic, group_privacy, pure, rdp_curves, to_replace_one
from dpcalc.commands import best_of_runs
from dpcalc.commands import convert_questions as questions
from dpcalc.commands import convert_routes as r
from dpcalc.commands.convert import COMMAND
from dpcalc.commands.convert_inputs import EVERY_OUTPUT, THOSE_OF_INPUT, with_inputs
from dpcalc.core.bound import Params
from dpcalc.core.checks import refuse_unneeded, require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.quantities import symbol
from dpcalc.core.results import CONVERTED, Answer, Question, Route, guarantee_of
from dpcalc.core.run import Run
from dpcalc.core.tries import NAMES
from dpcalc.numerics.rounding import ratio_up


class _Source(NamedTuple):
    """A kind of guarantee that can be converted."""

    needs: tuple[str, ...]  # options that describe it
    may: tuple[str, ...]  # further options that it allows
    routes: Callable[[Run], tuple[Route, ...]]
    params: Callable[[Run], Params]
    question: Callable[[Given], Question]


def answer(given: Given) -> Answer:
    given, name = _described(given)
    source, option = SOURCES[name], f"with {_option_of(name)}"
    try:
        question = source.question(given)
    except DpcalcError as reason:
        # About an (ε, δ) point from JSON, --epsilon and --delta ask what --target-epsilon and --target-delta ask
        # elsewhere; the message names the options as they were given.
        for n in given.provided & _TARGETS.keys() if given.inputs else ():
            option, reason.message = f"--target-{n}", reason.message.replace(f"--target-{n}", f"--{n}")
            reason.option = f"--{n}" if reason.option == option else reason.option
        raise
    uses = frozenset({*source.needs, *source.may, "to", "group_size", *NAMES})
    uses |= {"adjacency"} if given.has("adjacency") else set()
    uses |= set() if given.inputs else {"from"}
    run = Run(COMMAND, given, question, source.params, uses)
    refuse_unneeded(given, uses | {"from", "alpha", "rdp", "epsilon", "delta"}, option)
    require(run, source.needs, option, run.unknown)
    _refuse_leftovers(run, name, source)
    try:
        rows = answer_rows(*of_best(run, source.routes), run.bounds)
    except DpcalcError as reason:
        if name in _BY_TARGETS and not given.inputs and reason.option == "--delta":  # --delta is that of each step
            reason.option = "--slack" if given.has("slack") else "--target-delta"
        raise
    run, promise = run.solved(rows), run["promise"] or NOTHING
    # The guarantee in JSON: one number or one finite mechanism where that describes the whole composition.
    asks = question.asks
    as_whole = name in _WHOLE and asks not in ("rho", "mu") and not is_asked(run)
    guarantee = _WHOLE[name](run) if as_whole else _AS_GUARANTEE[asks](rows[0].result)
    found = run.answer(rows, guarantee, run.get("adjacency", THOSE_OF_INPUT), EVERY_OUTPUT,
                       _notes(run, rows[0].route), {"steps": run["steps"]} if "steps" in source.may else {},
                       warnings=promise.warnings, promises=(*promise.sentences, *_promised(run, rows[0].route)),
                       of_respondents=bool(run["respondents"]))
    return best_of_runs.with_selection(found, run, _of_one_run(run, name))


def _of_one_run(run: Run, name: str) -> list[dict[str, Any]]:
    """The guarantees that one run composes, as JSON, where the best of several runs is asked for; none where they are
    used very often, or known for groups only by their (ε, δ)."""
    steps = int(run["steps"] or 1)
    once = steps == 1
    if run.given.inputs and name != "group":
        return [g.as_json() for g in run.given.inputs] * steps if steps <= _MOST_TIMES else []
    if name in _WHOLE:
        return [_WHOLE[name](run)]
    if once and name == "dp":
        return [guarantee_of(run["epsilon"], run["delta"])]
    if once and name == "rdp":
        return [{"kind": "rdp", "alpha": list(run.params["alphas"]), "rdp": list(run.params["rdps"])}]
    return []


def _described(given: Given) -> tuple[Given, str]:
    """The call with its inputs, and the name of its source. Raises DpcalcError where it has none, and for a list where
    the source takes one value."""
    given = with_inputs(given, one_run)
    name = given["source"] or ("mixture" if given["from"] == "rdp" and given.has("weights") else given["from"])
    if name not in ("rdp", "mixture"):
        for option in ("alpha", "rdp"):
            if given.has(option) and len(given[option]) != 1:
                raise DpcalcError("contradictory", "give one value; a list describes a curve, with --from rdp",
                                  flag(option))
            if given.has(option):
                given = given.having(**{option: given[option][0]})
    if name is None:
        raise DpcalcError("missing", "say what you have: --from rdp, gdp, zcdp, dp, tv or outcomes, or a JSON file (- "
                                     "for standard input)", "--from")
    return given, name


def _option_of(name: str) -> str:
    """The option that names a source."""
    return {"group": "--group-size", "to-replace-one": "--adjacency replace-one", "mixture": "--weights"
            }.get(name, f"--from {name}")


class Composition(NamedTuple):
    """How several guarantees compose: the kind of guarantee that describes them together, the bounds that answer a
    question about it, and the parameters of these bounds."""

    kind: str
    routes: tuple[Route, ...]
    params: Params


def composition(guarantees: tuple[Any, ...], question: Question, options: Mapping[str, Any]) -> Composition:
    """The composition of guarantees by the bounds that also answer the same question about them as inputs."""
    given = with_inputs(Given({**options, "steps": 1}, frozenset(), guarantees), one_run)
    source = SOURCES[given["from"]]
    asked, routes = of_best(Run(COMMAND, given, question, source.params), source.routes)
    return Composition(given["from"], routes, asked.params)


@lru_cache(maxsize=64)
def one_run(guarantees: tuple[Any, ...]) -> OneRun:
    """What is proven about one run that composes these guarantees."""
    given = with_inputs(Given({"steps": 1}, frozenset(), guarantees), one_run)
    source = SOURCES[given["from"]]
    run = Run(COMMAND, given, Question("epsilon"), source.params)
    return OneRun(lambda question: source.routes(run.asking(question)), run.params)


def _notes(run: Run, head: Route) -> tuple[str, ...]:
    """Notes on assumptions that the given guarantee does not settle."""
    notes = [f"converted to {run['adjacency']} neighbours: {', '.join(run['converted'])} {CONVERTED}"
             ] if run["converted"] else []
    if run.question.asks in ("rho", "mu") and run["from"] == "parts" and any(
            part.sampling and part.mechanism.zcdp for g in run.given.inputs for part in getattr(g, "mechanisms", ())):
        notes.append(f"Poisson sampling does not lower {symbol(run.question.asks)}: it is that of the same noise on "
                     "all records in every step")
    if head.bound.name == "pure-zcdp" and _is_of_points(run):
        notes.append("the exponential mechanism is ε²/8-zCDP: --bound bounded-range-zcdp")
    return tuple(notes)


def _is_of_points(run: Run) -> bool:
    """Whether (ε, δ) alone is known of what is converted."""
    return all(g.kind == "dp" for g in run.given.inputs) and run["from"] != "outcomes"


def _promised(run: Run, head: Route) -> tuple[str, ...]:
    """The assumption of a theorem that holds for some of the mechanisms with such a guarantee."""
    return (pure.BOUNDED_RANGE_LOSS,) if head.bound is pure.BOUNDED_RANGE_ZCDP and _is_of_points(run) else ()


_MOST_TIMES = 100  # that a guarantee is repeated in JSON
# Quantity that is asked for → the options that ask for it, without a budget (_ASKED_BY) and with one (_BUDGET).
_ASKED_BY = {"epsilon": {"delta", "orders"}, "delta": {"epsilon", "orders"}, "rdp": {"alpha"}, "tv": set(), "mu": set(),
             "rho": set()}
_BUDGET = {"epsilon": {"epsilon", "delta", "orders"}, "rdp": {"alpha", "rdp"}}
_BY_TARGETS = ("dp", "group", "to-replace-one")  # sources of which --epsilon and --delta describe the guarantee
_TARGETS = {"epsilon": "target_epsilon", "delta": "target_delta"}


def _refuse_leftovers(run: Run, name: str, source: _Source) -> None:
    """Raises DpcalcError for options that neither describe the guarantee nor ask the question."""
    question, given = run.question, run.given
    asks = _BUDGET[question.asks] | {"solve"} if question.unknown else _ASKED_BY[question.asks]
    if name in _BY_TARGETS:
        targets = {_TARGETS.get(n, n) for n in asks}
        asks = (targets | asks if given.inputs else targets) - {"orders"}
        asks |= {"slack"} if name == "dp" and question.asks == "epsilon" and not question.unknown else set()
    describe = {*source.needs, *source.may, *NAMES} - {"slack", "orders", *_TARGETS.values()}
    if name in _BY_TARGETS and given.inputs:
        describe -= set(_TARGETS)  # these options ask about an input in JSON
    if question.unknown and question.unknown.name not in describe:
        raise DpcalcError("unknown-value", f"{question.unknown.option} has no effect with {_option_of(name)}; solve "
                                           "for another option", "--solve")
    always = {"from", "to", "bound", "format", "digits", "input", "group_size", "adjacency"}
    for option in sorted(given.provided - describe - asks - always):
        raise DpcalcError("unneeded", f"not used with {_option_of(name)} to find {symbol(question.asks)}; drop it",
                          flag(option))


_WHOLE: dict[str, Callable[[Run], dict[str, Any]]] = {
    "gdp": r.gdp_guarantee,
    "zcdp": lambda run: {"kind": "zcdp", "rho": ratio_up((run["rho"], int(run["steps"])))},
    "outcomes": lambda run: {"kind": "outcomes", "p": list(run["p"]), "q": list(run["q"]),
                             "count": r.total_count(run)},
}
_AS_GUARANTEE: dict[str, Callable[[dict[str, float]], dict[str, Any]]] = {
    **dict.fromkeys(("epsilon", "delta"), lambda result: guarantee_of(result["epsilon"], result["delta"])),
    "rdp": lambda result: {"kind": "rdp", "alpha": [result["alpha"]], "rdp": [result["rdp"]]},
    "tv": lambda result: {"kind": "tv", "tv": result["tv"]},
    "mu": lambda result: {"kind": "gdp", "mu": result["mu"]},
    "rho": lambda result: {"kind": "zcdp", "rho": result["rho"]},
}


# --- the sources -----------------------------------------------------------------------------------------------------


SOURCES: dict[str, _Source] = {
    "rdp": _Source(("alpha", "rdp"), ("steps",), r.curve_routes, r.rdp_params, questions.curve_question),
    "mixture": _Source(("alpha", "rdp", "weights"), (), lambda run: (Route(rdp_curves.MIXTURE),), r.mixture_params,
                       questions.mixture_question),
    "gdp": _Source(("mu",), ("steps", "orders"), r.gdp_routes, r.gdp_params, questions.plain_question),
    "zcdp": _Source(("rho",), ("steps", "orders"), r.curve_routes,
                    lambda run: {"rho": run["rho"], "steps": int(run["steps"])}, questions.plain_question),
    "dp": _Source(("epsilon", "delta"), ("steps", "slack", *_TARGETS.values()), r.dp_routes,
                  lambda run: composition_basic.repeated(run["epsilon"], run["delta"], int(run["steps"])),
                  questions.dp_question),
    "group": _Source(("group_size",), ("epsilon", "delta", *_TARGETS.values()),
                     lambda run: (Route(group_privacy.BOUND),),
                     lambda run: {"profile_points": run["profile_points"] or ((run["epsilon"], run["delta"]),),
                                  "group_size": run["group_size"]}, questions.group_question),
    "to-replace-one": _Source(("epsilon", "delta"), (), lambda run: (Route(to_replace_one.BOUND),),
                              lambda run: {name: run[name] for name in ("step_epsilon", "step_delta")},
                              lambda given: Question("epsilon", delta=given["delta"])),
    "outcomes": _Source(("p", "q"), ("steps", "orders", "precision"), r.outcome_routes, r.outcome_params,
                        questions.outcome_question),
    "parts": _Source((), ("tv", "steps", "orders", "precision"), r.part_routes, r.part_params,
                     questions.plain_question),
}


def theorems() -> Iterator[Route]:
    yield from BOUNDS
    for name, source in SOURCES.items():
        for asks, steps, slack, delta in product(_ASKED_BY, (1, 2), (None, 0.5), (0.0, 0.5)):
            options = {"from": name, "steps": steps, "slack": slack, "delta": delta, "parts": (), "pairs": (),
                       "points": (), "terms": (((), (), 1),)}
            yield from source.routes(Run(COMMAND, Given(options, frozenset()), Question(asks), source.params))
