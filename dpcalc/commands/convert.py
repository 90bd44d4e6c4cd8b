"""dpcalc convert: one kind of guarantee from another one, or from several composed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.commands import convert_questions as questions
from dpcalc.commands import convert_routes as r
from dpcalc.core import quantities as q
from dpcalc.core.checks import refuse_unneeded, require
from dpcalc.core.command import GUARANTEE, QUESTION, RUN, Command, Given, Option
from dpcalc.core.errors import DpcalcError
from dpcalc.core.quantities import symbol

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route


class _Source(NamedTuple):
    """A kind of guarantee that can be converted."""

    needs: tuple[str, ...]  # options that describe it
    may: tuple[str, ...]  # further options that it allows
    routes: Callable[[Given, Question], tuple[Route, ...]]
    bound_params: Callable[[Any], dict[str, Any]]
    question: Callable[[Command, Given], Question]


def answer(given: Given) -> Answer:
    """The converted guarantee, also as JSON for the next command."""
    from dpcalc.accounting.answer import rows
    from dpcalc.accounting.neighbours import NOTHING
    from dpcalc.commands.asking import shown, with_solution
    from dpcalc.commands.convert_inputs import EVERY_OUTPUT, THOSE_OF_INPUT, with_inputs
    from dpcalc.core.results import Answer

    given = with_inputs(given)
    name = given["source"] or ("mixture" if given["from"] == "rdp" and given.has("weights") else given["from"])
    if name not in ("rdp", "mixture"):
        given = _one_order(given)
    if name is None:
        raise DpcalcError("missing", "say what you have: --from rdp, gdp, zcdp, dp, tv or outcomes, or a JSON file (- "
                                     "for "
                                     "standard input)", "--from")
    source = _SOURCES[name]
    try:
        question = source.question(COMMAND, given)
    except DpcalcError as reason:
        raise _with_options_as_given(given, reason) from None
    used = {*source.needs, *source.may, "from", "to", "group_size", *(("adjacency",) if given.has("adjacency") else ())}
    refuse_unneeded(given, used | {"alpha", "rdp", "epsilon", "delta"}, f"with {_option_of(name)}")
    require(given, source.needs, f"with {_option_of(name)}", question.unknown.name if question.unknown else None)
    _refuse_leftovers(given, name, source, question)
    try:
        found = rows(source.routes(given, question), given, source.bound_params, question, given["bound"] or ())
    except DpcalcError as reason:
        if name in _BY_TARGETS and not given.inputs and reason.option == "--delta":  # --delta is that of each step
            reason.option = "--slack" if given.has("slack") else "--target-delta"
        raise
    values, promise = with_solution(given, question, found), given["promise"] or NOTHING
    parameters = {k: v for k, v in shown(values, used).items() if k != "from" or not given.inputs}
    return Answer("convert", question, parameters, found, _guarantee(name, question, found[0].result, values),
                  given.values.get("adjacency", THOSE_OF_INPUT), EVERY_OUTPUT,
                  _notes(given, found[0].route),
                  {"steps": values["steps"]} if "steps" in source.may else {}, promise.warnings,
                  promises=promise.sentences, of_respondents=bool(given["respondents"]))


def _option_of(name: str) -> str:
    """The option that names a source."""
    return {"group": "--group-size", "to-replace-one": "--adjacency replace-one", "mixture": "--weights"
            }.get(name, f"--from {name}")


class Composition(NamedTuple):
    """How several guarantees compose: the kind of guarantee that describes them together, the bounds that answer a
    question about it, and the parameters of these bounds."""

    kind: str
    routes: tuple[Route, ...]
    params: dict[str, Any]


def composition(guarantees: tuple[Any, ...], question: Question, options: Mapping[str, Any]) -> Composition:
    """The composition of guarantees by the bounds that also answer the same question about them as inputs."""
    from dpcalc.commands.convert_inputs import with_inputs

    given = with_inputs(Given({**options, "steps": 1}, frozenset(), guarantees))
    source = _SOURCES[given["from"]]
    return Composition(given["from"], source.routes(given, question), source.bound_params(given.values))


def _notes(given: Given, head: Route) -> tuple[str, ...]:
    """Notes on assumptions that the given guarantee does not settle."""
    from dpcalc.core.results import CONVERTED

    notes = [f"converted to {given['adjacency']} neighbours: {', '.join(given['converted'])} {CONVERTED}"
             ] if given["converted"] else []
    if head.bound.name == "pure-zcdp" and all(g.kind == "dp" for g in given.inputs) and given["from"] != "outcomes":
        notes.append("the exponential mechanism is ε²/8-zCDP: --bound bounded-range-zcdp")
    return tuple(notes)


# Quantity that is asked for → the options that ask for it, without a budget (_ASKED_BY) and with one (_BUDGET).
_ASKED_BY = {"epsilon": {"delta", "orders"}, "delta": {"epsilon", "orders"}, "rdp": {"alpha"}, "tv": set(), "mu": set(),
             "rho": set()}
_BUDGET = {"epsilon": {"epsilon", "delta", "orders"}, "rdp": {"alpha", "rdp"}}
_BY_TARGETS = ("dp", "group", "to-replace-one")  # sources of which --epsilon and --delta describe the guarantee
_TARGETS = {"epsilon": "target_epsilon", "delta": "target_delta"}


def _refuse_leftovers(given: Given, name: str, source: _Source, question: Question) -> None:
    """Raises DpcalcError for options that neither describe the guarantee nor ask the question."""
    asks = _BUDGET[question.asks] | {"solve"} if question.unknown else _ASKED_BY[question.asks]
    if name in _BY_TARGETS:
        targets = {_TARGETS.get(n, n) for n in asks}
        asks = (targets | asks if given.inputs else targets) - {"orders"}
        asks |= {"slack"} if name == "dp" and question.asks == "epsilon" and not question.unknown else set()
    describe = {*source.needs, *source.may} - {"slack", "orders", *_TARGETS.values()}
    if name in _BY_TARGETS and given.inputs:
        describe -= set(_TARGETS)  # these options ask about an input in JSON
    if question.unknown and question.unknown.name not in describe:
        raise DpcalcError("unknown-value", f"{question.unknown.option} has no effect with {_option_of(name)}; solve "
                                           "for another option", "--solve")
    always = {"from", "to", "bound", "format", "digits", "input", "group_size", "adjacency"}
    for option in sorted(given.provided - describe - asks - always):
        raise DpcalcError("unneeded", f"not used with {_option_of(name)} to find {symbol(question.asks)}; drop it",
                          f"--{option.replace('_', '-')}")


def _with_options_as_given(given: Given, reason: DpcalcError) -> DpcalcError:
    """The error with the names of the options as they were given: for an (ε, δ) point from JSON, --epsilon and --delta
    stand for --target-epsilon and --target-delta."""
    for n in _TARGETS if given.inputs else ():
        if n in given.provided:
            option, reason.message = f"--target-{n}", reason.message.replace(f"--target-{n}", f"--{n}")
            reason.option = f"--{n}" if reason.option == option else reason.option
    return reason


def _one_order(given: Given) -> Given:
    """The call with a single order, and a single RDP, in place of lists with one entry. Raises DpcalcError for longer
    lists, which describe a curve."""
    for name in ("alpha", "rdp"):
        if given.has(name) and len(given[name]) != 1:
            raise DpcalcError("contradictory", "give one value; a list describes a curve, with --from rdp",
                              f"--{name}")
    single = {n: given[n][0] for n in ("alpha", "rdp") if given.has(n)}
    return given.replace({**given.values, **single})


def _guarantee(name: str, question: Question, result: dict[str, float], values: Any) -> dict[str, Any]:
    """The guarantee for the next command: the whole composition, where one number or one finite mechanism describes it;
    else the computed number."""
    as_whole = _WHOLE.get(name)
    return as_whole(values) if as_whole and question.asks not in ("rho", "mu") else _AS_GUARANTEE[question.asks](result)


def _whole_zcdp(values: Any) -> dict[str, Any]:
    from dpcalc.numerics.rounding import ratio_up

    return {"kind": "zcdp", "rho": ratio_up((values["rho"], int(values["steps"])))}


def _whole_outcomes(values: Any) -> dict[str, Any]:
    return {"kind": "outcomes", "p": list(values["p"]), "q": list(values["q"]), "count": r.total_count(values)}


_WHOLE: dict[str, Callable[[Any], dict[str, Any]]] = {"gdp": r.gdp_guarantee, "zcdp": _whole_zcdp,
                                                      "outcomes": _whole_outcomes}


def _point(result: dict[str, float]) -> dict[str, Any]:
    from dpcalc.core.results import guarantee_of

    return guarantee_of(result["epsilon"], result["delta"])


_AS_GUARANTEE: dict[str, Callable[[dict[str, float]], dict[str, Any]]] = {
    "epsilon": _point,
    "delta": _point,
    "rdp": lambda result: {"kind": "rdp", "alpha": [result["alpha"]], "rdp": [result["rdp"]]},
    "tv": lambda result: {"kind": "tv", "tv": result["tv"]},
    "mu": lambda result: {"kind": "gdp", "mu": result["mu"]},
    "rho": lambda result: {"kind": "zcdp", "rho": result["rho"]},
}


# --- the command -----------------------------------------------------------------------------------------------------


_SOURCES: dict[str, _Source] = {
    "rdp": _Source(("alpha", "rdp"), ("steps",), r.curve_routes, r.rdp_params, questions.curve_question),
    "mixture": _Source(("alpha", "rdp", "weights"), (), r.mixture_routes, r.mixture_params, questions.mixture_question),
    "gdp": _Source(("mu",), ("steps", "orders"), r.gdp_routes, r.gdp_params, questions.plain_question),
    "zcdp": _Source(("rho",), ("steps", "orders"), r.curve_routes, r.scalar_params("rho"), questions.plain_question),
    "dp": _Source(("epsilon", "delta"), ("steps", "slack", "target_epsilon", "target_delta"), r.dp_routes, r.dp_params,
                  questions.dp_question),
    "group": _Source(("group_size",), ("epsilon", "delta", "target_epsilon", "target_delta"), r.group_routes,
                     r.group_params, questions.group_question),
    "to-replace-one": _Source(("epsilon", "delta"), (), r.converted_routes,
                              lambda values: {name: values[name] for name in ("step_epsilon", "step_delta")},
                              questions.converted_question),
    "outcomes": _Source(("p", "q"), ("steps", "orders", "precision"), r.outcome_routes, r.outcome_params,
                        questions.outcome_question),
    "parts": _Source((), ("tv", "steps", "orders", "precision"), r.part_routes, r.part_params,
                     questions.plain_question),
}


def theorems() -> Iterator[Route]:
    from dpcalc.core.question import Question

    for name, source in _SOURCES.items():
        for asks, steps, slack, delta in product(_ASKED_BY, (1, 2), (None, 0.5), (0.0, 0.5)):
            given = {"from": name, "steps": steps, "slack": slack, "delta": delta, "parts": (), "pairs": (),
                     "points": (), "terms": (((), (), 1),)}
            yield from source.routes(Given(given, frozenset()), Question(asks))


COMMAND = Command(
    "convert",
    "Convert one kind of guarantee to another, or compose several guarantees about the same data.",
    (
        Option(q.FROM, GUARANTEE),
        Option(q.TO, QUESTION),
        Option(q.ALPHAS, GUARANTEE),
        Option(q.RDPS, GUARANTEE),
        Option(q.WEIGHTS, GUARANTEE),
        Option(q.MU, GUARANTEE),
        Option(q.RHO, GUARANTEE),
        Option(q.TV, GUARANTEE),
        Option(q.P, GUARANTEE),
        Option(q.Q, GUARANTEE),
        Option(q.STEPS._replace(help="how often the guarantee is composed with itself"), RUN, default=1),
        Option(q.GROUP_SIZE._replace(help="records in a group, as those of one user; the answer is about such groups, "
                                          "and what is given about one record"), RUN),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours: inputs that do not say it are bound to it, "
                                         "and replace-one converts those for other ones"), RUN),
        Option(q.SLACK, QUESTION),
        Option(q.TARGET_EPSILON, QUESTION),
        Option(q.TARGET_DELTA, QUESTION),
        Option(q.ORDERS, QUESTION),
        Option(q.PRECISION, QUESTION),
        # --target-epsilon and --target-delta, which are ε and δ elsewhere, have a meaning of their own here.
        Option(q.EPSILON._replace(aliases=()), QUESTION),
        Option(q.DELTA._replace(aliases=()), QUESTION),
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
    asks="Say what you have (--from, or JSON results), and ask with --delta (prints ε), --epsilon (prints δ), --alpha "
         "(prints the RDP) or --to. With --from dp, --epsilon and --delta are those of each step: ask with "
         "--target-delta or --target-epsilon.",
    elsewhere={"epochs": "give --steps T, which composes the guarantee T times"},
    usual=("from", "to", "epsilon", "delta", "alpha", "rdp", "mu", "rho", "steps", "target_epsilon",
           "target_delta"),
)
