"""dpcalc tv: the total variation, and the largest success of any attacker."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from dpcalc.commands.mechanism_options import mechanism_options
from dpcalc.core import noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.command import ATTACK, GUARANTEE, QUESTION, RUN, Command, Given, Option
from dpcalc.core.errors import DpcalcError, flag

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route

_ASKS = frozenset({"fpr", "tpr", "prior", "roc", "loss_range"})  # options of the question, which no description has
# Option → the kind of description that it belongs to.
_DESCRIBES = {**dict.fromkeys((o.name for o in mechanism_options("")), "mechanism"),
              **dict.fromkeys(("scheme", "sampling_rate", "batch_size", "max_batch_size", "bands", "epochs",
                               "steps_per_epoch", "drop_last", "reshuffle", "participations"), "run"),
              **dict.fromkeys(("epsilon", "delta"), "dp"), **dict.fromkeys(("alpha", "rdp"), "rdp"),
              **dict.fromkeys(("p", "q"), "outcomes"),
              "mu": "gdp", "rho": "zcdp", "kl": "kl", "tv": "tv"}
_TOGETHER = {frozenset({"mechanism", "run"}): "run", frozenset({"dp", "tv"}): "points"}


def answer(given: Given) -> Answer:
    """The total variation of a mechanism, a run or a guarantee, with what follows for attackers; or the parameter that
    meets a budget on the total variation or on the true-positive rate."""
    from dpcalc.accounting.answer import rows, select
    from dpcalc.accounting.attack import meaning, sharpest
    from dpcalc.bounds.conversions import rdp_optimal
    from dpcalc.commands.asking import lower_end, with_solution
    from dpcalc.commands.subsample_run import between, run_numbers, scope
    from dpcalc.commands.tv_sources import SOURCES
    from dpcalc.core.bound import PointBound
    from dpcalc.core.question import Question
    from dpcalc.core.relations import ADD_REMOVE
    from dpcalc.core.results import Answer, Route

    question = _question(given)
    unknown = question.unknown.name if question.unknown else None
    given, name = _described(given, unknown)
    source = SOURCES[name]
    promise = source.promise(given, unknown)
    used = source.check(_without_question(given, unknown), unknown)
    if unknown and unknown not in used:
        raise DpcalcError("unknown-value", f"{flag(unknown)} has no effect on this total variation; solve for another "
                                           "option", "--solve")
    named = given["bound"] or ()
    several = unknown in ("steps", "epochs") or int(given["steps"] or 1) > 1
    routes = tuple(r._replace(on_request=False) for r in select(source.routes(given, several), named))

    def profile(route: Route) -> Route:
        """The route of which the whole profile is known: that of the best (ε, δ) of a curve."""
        if isinstance(route.conversion, PointBound):
            return route._replace(conversion=rdp_optimal.BOUND)
        return Route(source.profiles[route.bound.name]) if route.bound.name in source.profiles else route

    searched = tuple(sharpest([profile(r) for r in routes])) if question.asks == "tpr" else routes
    found = rows(searched, given, source.bound_params, question, ())
    values = with_solution(given, question, found)
    tv_rows = found
    if question.asks != "tv":
        tv_rows = rows(routes, given.replace(values), source.bound_params, Question("tv"), ())
    proven = tuple(dict.fromkeys(profile(row.route) for row in tv_rows if row.route.bound.status == "proven"))
    head, rates = tv_rows[0], _rates(given)
    unproven = f"{head.route.label} is {head.route.bound.status}, so it says nothing about attacks"
    if not proven and (rates or given["prior"] or given["loss_range"]):
        raise DpcalcError("refused", unproven, "--bound")
    params, tv = source.bound_params(values), head.result["tv"]
    attacks = meaning(tv, proven, params, rates, given["prior"])
    one_record, one_record_note = _one_record(given, tv)
    stability, stability_note = _stability(given, tv)
    shown = used | _ASKS | ({"tv"} if unknown else set()) | ({"n"} if one_record else set())
    composed = run_numbers(values, params) if name == "run" else {"steps": params.get("steps", 1)}
    numbers = {"tv": tv, **attacks.numbers, **stability, **one_record, **composed,
               **noise_multiplier.companion(values, between(values) if name == "run" else ADD_REMOVE, name == "run"),
               **(lower_end(question, found) if question.asks == "tv" else {})}
    notes = (*source.notes(given, values), *(attacks.notes if proven else (unproven,)), *stability_note,
             *one_record_note)
    return Answer("tv", question, {k: v for k, v in values.items() if k in shown}, found,
                  source.guarantee(values, tv), source.adjacency(values), source.released, notes, numbers,
                  promise.warnings, roc=attacks.roc, scope=scope(given, unknown) if name == "run" else "",
                  promises=promise.sentences, of_respondents=source.of_respondents or bool(values.get("respondents")))


def _question(given: Given) -> Question:
    """The question: the total variation, a budget on it, or a budget on the true-positive rate at one false-positive
    rate. Raises DpcalcError for options that do not make one question."""
    from dpcalc.commands.asking import read_unknown
    from dpcalc.core.question import Question

    unknown = read_unknown(COMMAND, given)
    if given.has("roc") and given.has("fpr"):
        raise DpcalcError("contradictory", "give --fpr or --roc, not both", "--roc")
    if unknown is None:
        if given.has("tpr"):
            raise DpcalcError("unneeded", "not used without --solve; to print the true-positive rate, give --fpr alone",
                              "--tpr")
        return Question("tv")
    if given.has("tv") and given.has("tpr"):
        raise DpcalcError("contradictory", "give one budget: --tv, or --tpr with --fpr", "--tpr")
    if not given.has("tv") and not given.has("tpr"):
        raise DpcalcError("missing", "needs a budget; add --tv, or --tpr with --fpr", "--solve")
    if given.has("tv"):
        return Question("tv", unknown=unknown, target=given["tv"])
    if len(given["fpr"] or ()) != 1:
        raise DpcalcError("missing", "give one false-positive rate; the budget --tpr holds there", "--fpr")
    return Question("tpr", unknown=unknown, target=given["tpr"], fpr=given["fpr"][0])


def _described(given: Given, unknown: str | None) -> tuple[Given, str]:
    """The call, and the name of the source of the total variation: a mechanism, a run, or a kind of guarantee, which
    the options determine. Raises DpcalcError for options that describe several of them."""
    described_by = given.provided | ({unknown} if unknown else set())
    kinds = {_DESCRIBES[n]: n for n in sorted(described_by) if n in _DESCRIBES and not (n == "tv" and unknown)}
    if given.inputs:
        from dpcalc.commands.convert_inputs import with_inputs

        if kinds:
            raise DpcalcError("contradictory", "not used with an input, which describes the guarantee; drop it",
                              flag(next(iter(kinds.values()))))
        given = with_inputs(given)
        return given, given["from"]
    names = frozenset(kinds)
    name = _TOGETHER.get(names) or (next(iter(names)) if len(names) == 1 else None if names else "mechanism")
    if name is None:
        *others, last = sorted(kinds.values())
        raise DpcalcError("contradictory",
                          f"does not go with {' and '.join(map(flag, others))}: that is another guarantee; drop one",
                          flag(last))
    if given.has("epochs"):  # they say the steps
        values = {k: v for k, v in given.values.items() if k != "steps" or given.has("steps")}
        given = given.replace(values)
    return given, given["mechanism"] if name == "mechanism" else name


def _without_question(given: Given, unknown: str | None) -> Given:
    """The call with the options that describe, without those that ask: --n describes batches only beside --batch-size
    or --max-batch-size, and --tv is the budget beside --solve."""
    drop = _ASKS | ({"tv"} if unknown else set()) | (set() if _in_batches(given, unknown) else {"n"})
    return given.replace(given.values, given.provided - drop)


def _in_batches(given: Given, unknown: str | None) -> bool:
    return given.has("batch_size") or given.has("max_batch_size") or unknown in ("batch_size", "n")


def _rates(given: Given) -> tuple[float, ...]:
    """The false-positive rates of --fpr; or as many as --roc gives, from 1e-4 to 1 − 1e-4, evenly spaced in log
    odds."""
    from math import exp, log

    if not given.has("roc"):
        return tuple(given["fpr"] or ())
    end = log(9999.0)
    return tuple(float(f"{1 / (1 + exp(end * (1 - 2 * k / (given['roc'] - 1)))):.6g}") for k in range(given["roc"]))


def _one_record(given: Given, tv: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """The total variation of publishing one of the n records, as a companion number and in words, where n is given."""
    from dpcalc.core.numbers import human

    if not given.has("n"):
        return {}, ()
    one = 1 / given["n"]
    return {"tv_one_record": one}, (f"publishing one random record in full has total variation 1/n = {one:.6g}; this "
                                    f"is {human(tv / one, 4)} times that",)


def _stability(given: Given, tv: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """How much the mean of a bounded function of the output can change between neighbours, TV·R, as a companion number
    and in words, where --loss-range gives the length R of an interval that holds its values."""
    from dpcalc.core.numbers import human, plain
    from dpcalc.numerics.rounding import ratio_up

    if not given.has("loss_range"):
        return {}, ()
    stability = ratio_up((tv, given["loss_range"]))
    return {"stability": stability}, (
        f"the mean of a function of the output with values in an interval of length {plain(given['loss_range'])} "
        f"changes by at most {human(stability)} between neighbouring data sets; of a loss, that is uniform stability",)


def theorems() -> Iterator[Route]:
    from dpcalc.commands.tv_sources import SOURCES
    from dpcalc.core.results import Route

    schemes = (*_SCHEMES, noise_multiplier.TRUNCATED)
    for (name, source), scheme, mechanism, often, delta in product(SOURCES.items(), schemes, q.MECHANISM.choices,
                                                                   (False, True), (0.0, 0.5)):
        given = Given({"from": name, "scheme": scheme, "mechanism": mechanism, "delta": delta, "parts": (),
                       "pairs": ()}, frozenset())
        yield from source.routes(given, often)
        yield from map(Route, source.profiles.values())


_SCHEMES = tuple(name for name in q.SCHEME.choices if name != "weighted")

COMMAND = Command(
    "tv",
    "What any attacker can do: total variation and true-positive rates of a mechanism, a training run or a guarantee.",
    (
        *mechanism_options("standard deviation of the noise on the query (in a run, on the sum of a batch)"),
        Option(q.STEPS, RUN, default=1),
        Option(q.SCHEME, RUN, default="poisson", choices=_SCHEMES),
        Option(q.SAMPLING_RATE, RUN),
        Option(q.N, RUN),
        Option(q.BATCH_SIZE, RUN),
        Option(q.MAX_BATCH_SIZE, RUN),
        Option(q.BANDS, RUN),
        Option(q.EPOCHS, RUN),
        Option(q.STEPS_PER_EPOCH, RUN),
        Option(q.DROP_LAST, RUN),
        Option(q.RESHUFFLE, RUN),
        Option(q.PARTICIPATIONS, RUN),
        Option(q.ADJACENCY, RUN),
        Option(q.GROUP_SIZE, RUN),
        Option(q.EPSILON, GUARANTEE),
        Option(q.DELTA, GUARANTEE),
        Option(q.TV._replace(help="total variation of each release; with --solve, the budget"), GUARANTEE),
        Option(q.MU, GUARANTEE),
        Option(q.RHO, GUARANTEE),
        Option(q.ALPHAS, GUARANTEE),
        Option(q.RDPS, GUARANTEE),
        Option(q.KL, GUARANTEE),
        Option(q.P, GUARANTEE),
        Option(q.Q, GUARANTEE),
        Option(q.FPR, ATTACK),
        Option(q.ROC, ATTACK),
        Option(q.TPR, ATTACK),
        Option(q.PRIOR, ATTACK),
        Option(q.LOSS_RANGE, ATTACK),
        Option(q.PRECISION, QUESTION),
    ),
    answer,
    (
        ("tv --mechanism gaussian --sigma 50", "TV = 0.00797872"),
        ("tv --mechanism laplace --tv 0.01 --solve scale", "v = 49.7496"),
        ("tv --fpr 0.1 --tpr 0.2 --solve sigma", "σ = 2.27309"),
        ("tv --sampling-rate 0.01 --sigma 1 --steps 1000 --fpr 0.001,0.01,0.1", "TV = 0.161027"),
        ("tv --epsilon 0.5 --delta 0 --tv 0.05 --steps 50", "TV = 0.565636"),
        ("tv --epsilon 0.5 --delta 0 --tv 0.05 --json | dpcalc convert - --steps 50 --delta 1e-6", "ε = 8.61952"),
    ),
    inputs=True,
    theorems=theorems,
    elsewhere=noise_multiplier.PARTS_OF_BATCHES,
    asks="Prints the total variation; --fpr or --roc adds true-positive rates. With --solve, give a budget: --tv, or "
         "--tpr at --fpr.",
    usual=("solve", "fpr", "tpr", "epsilon", "delta", "tv", "mechanism", "sigma", "noise_multiplier", "n",
           "batch_size", "epochs", "steps"),
)
