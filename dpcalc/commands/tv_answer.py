"""The answer of tv: the total variation of a mechanism, a run or a guarantee, with what follows for attackers; or the
parameter that meets a budget on the total variation or on the true-positive rate."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import exp, log

from dpcalc.accounting.answer import answer_rows, select
from dpcalc.accounting.attack import meaning, sharpest
from dpcalc.accounting.selection import BOUNDS, is_asked, of_best
from dpcalc.commands import best_of_runs
from dpcalc.commands.asking import lower_end, read_unknown
from dpcalc.commands.convert_answer import SOURCES as CONVERTED
from dpcalc.commands.convert_answer import one_run
from dpcalc.commands.convert_inputs import with_inputs
from dpcalc.commands.tv import COMMAND, SCHEMES
from dpcalc.commands.tv_sources import SOURCES, Source
from dpcalc.core import counts, mechanism_names, noise_multiplier
from dpcalc.core.command import Given, mechanism_options
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Answer, Question, Route
from dpcalc.core.run import Run
from dpcalc.numerics.rounding import ratio_up

_ASKS = frozenset({"fpr", "tpr", "prior", "roc", "loss_range"})  # options that only ask a question
# Option → the kind of description that it belongs to.
_DESCRIBES = {**dict.fromkeys((o.name for o in mechanism_options("")), "mechanism"), counts.TOP_K.name: "mechanism",
              **dict.fromkeys(("scheme", "sampling_rate", "batch_size", "max_batch_size", "bands", "epochs",
                               "steps_per_epoch", "drop_last", "reshuffle", "participations"), "run"),
              **dict.fromkeys(("epsilon", "delta"), "dp"), **dict.fromkeys(("alpha", "rdp"), "rdp"),
              **dict.fromkeys(("p", "q"), "outcomes"),
              "mu": "gdp", "rho": "zcdp", "kl": "kl", "tv": "tv"}
_TOGETHER = {frozenset({"mechanism", "run"}): "run", frozenset({"dp", "tv"}): "points"}


def answer(given: Given) -> Answer:
    question = _question(given)
    given, name = _described(given, question.unknown.name if question.unknown else None)
    source = SOURCES[name]
    run = Run(COMMAND, given, question, source.params)
    promise = source.promise(run)
    run = replace(run, uses=_uses(run, source))
    asked, routes = _asked(run, source, name)
    routes = tuple(r._replace(on_request=False) for r in select(routes, run.bounds))
    searched = tuple(sharpest([source.profile(r) for r in routes])) if question.asks == "tpr" else routes
    rows = answer_rows(asked, searched, ())
    run, asked = run.solved(rows), asked.solved(rows)
    tv_rows = rows if question.asks == "tv" else answer_rows(asked.asking(Question("tv")), routes, ())
    proven = tuple(dict.fromkeys(source.profile(row.route) for row in tv_rows if row.route.bound.status == "proven"))
    head, rates, count, end = tv_rows[0], tuple(run["fpr"] or ()), run["roc"], log(9999.0)
    if count is not None:  # from 1e-4 to 1 − 1e-4, evenly spaced in log odds
        rates = tuple(float(f"{1 / (1 + exp(end * (1 - 2 * k / (count - 1)))):.6g}") for k in range(count))
    unproven = f"{head.route.label} is {head.route.bound.status}, so it says nothing about attacks"
    if not proven and (rates or run["prior"] or run["loss_range"]):
        raise DpcalcError("refused", unproven, "--bound")
    tv = head.result["tv"]
    attacks = meaning(tv, proven, asked.params, rates, run["prior"])
    (stability, stability_note), (one_record, one_record_note) = _stability(run, tv), _one_record(run, tv)
    numbers = {"tv": tv, **attacks.numbers, **stability, **one_record, **source.numbers(run),
               **(lower_end(question, rows) if question.asks == "tv" else {})}
    notes = (*source.notes(run), *(attacks.notes if proven else (unproven,)), *stability_note, *one_record_note)
    found = run.answer(rows, source.guarantee(run, tv), source.adjacency(run), source.released, notes, numbers,
                       warnings=promise.warnings, roc=attacks.roc, scope=source.scope(run), promises=promise.sentences,
                       of_respondents=source.of_respondents or bool(run["respondents"]))
    return best_of_runs.with_selection(found, run, [g.as_json() for g in run.given.inputs])


def _asked(run: Run, source: Source, name: str) -> tuple[Run, tuple[Route, ...]]:
    """The question and its routes: about the given description, or about the best of several runs of an input."""
    if not is_asked(run):
        return run, source.routes(run)
    whole = CONVERTED[name]
    return of_best(replace(run, to_bounds=whole.params), whole.routes)


# --- the question and what it is about -------------------------------------------------------------------------------


def _question(given: Given) -> Question:
    """The question: the total variation, a budget on it, or a budget on the true-positive rate at one false-positive
    rate. Raises DpcalcError for options that do not make one question."""
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
        if kinds:
            raise DpcalcError("contradictory", "not used with an input, which describes the guarantee; drop it",
                              flag(next(iter(kinds.values()))))
        given = with_inputs(given, one_run)
        return given, given["from"]
    names = frozenset(kinds)
    name = _TOGETHER.get(names) or (next(iter(names)) if len(names) == 1 else None if names else "mechanism")
    if name is None:
        *others, last = sorted(kinds.values())
        raise DpcalcError("contradictory",
                          f"does not go with {' and '.join(map(flag, others))}: that is another guarantee; drop one",
                          flag(last))
    if given.has("epochs"):  # they determine the number of steps, so that its default does not count
        values = {k: v for k, v in given.values.items() if k != "steps" or given.has("steps")}
        given = given.replace(values)
    return given, given["mechanism"] if name == "mechanism" else name


def _uses(run: Run, source: Source) -> frozenset[str]:
    """The options that the answer depends on. Raises DpcalcError for a given option that it does not depend on.

    Options of the question are not part of the description that the source checks: besides _ASKS these are --tv, which
    is the budget where --solve is given, and --n, unless batches are given by --batch-size or --max-batch-size."""
    given = run.given
    in_batches = given.has("max_batch_size") or run.sets("batch_size") or run.unknown == "n"
    asks = _ASKS | ({"tv"} if run.unknown else set()) | (set() if in_batches else {"n"})
    described = source.checked(replace(run, given=given.replace(given.values, given.provided - asks)))
    return described.uses | _ASKS | ({"tv"} if run.unknown else set()) | ({"n"} if given.has("n") else set())


# --- what follows from it --------------------------------------------------------------------------------------------


def _one_record(run: Run, tv: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """The total variation of publishing one of the n records, as a companion number and in words, where n is given."""
    if run["n"] is None:
        return {}, ()
    one = 1 / run["n"]
    return {"tv_one_record": one}, (f"publishing one random record in full has total variation 1/n = {one:.6g}; this "
                                    f"is {human(tv / one, 4)} times that",)


def _stability(run: Run, tv: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """How much the mean of a bounded function of the output can change between neighbours, TV·R, as a companion number
    and in words, where --loss-range gives the length R of an interval that holds its values."""
    if run["loss_range"] is None:
        return {}, ()
    stability = ratio_up((tv, run["loss_range"]))
    return {"stability": stability}, (
        f"the mean of a function of the output with values in an interval of length {plain(run['loss_range'])} "
        f"changes by at most {human(stability)} between neighbouring data sets; of a loss, that is uniform stability",)


def theorems() -> Iterator[Route]:
    yield from BOUNDS
    schemes = (*SCHEMES, noise_multiplier.TRUNCATED)
    for (name, source), scheme, mechanism, steps, delta in product(SOURCES.items(), schemes, mechanism_names.ON_BATCHES,
                                                                   (1, 2), (0.0, 0.5)):
        options = {"from": name, "scheme": scheme, "mechanism": mechanism, "delta": delta, "steps": steps, "parts": (),
                   "pairs": ()}
        yield from source.routes(Run(COMMAND, Given(options, frozenset()), Question("tv"), source.params))
        yield from map(Route, source.profiles.values())
