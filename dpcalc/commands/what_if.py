"""The improvement of a guarantee by one more assumption about the run. An assumption is a set of options to add.

Where an assumption needs a number that is not known, the number is the weakest one with an effect: β = 2/η, the least
smooth loss that the last-iterate theorems allow; ρ = 10/(ηT) (at most β and 2L/D), with which a step is forgotten
within a tenth of the run (of a pass, over shuffled records); a D with the horizon Dn/(Lη) a tenth of the run (over
shuffled records, D = ηL√N/b for N batches in a pass). Where η is not given either, η = 1 and β = 2: without ρ and D
these theorems depend on the product ηβ alone. """

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

from dpcalc.accounting.schemes.shuffle import size_that_leaves_out
from dpcalc.bounds.sampling.shuffle_profile import leaves_out
from dpcalc.commands.comparison import Answers, command_line, headline
from dpcalc.commands.training_run import (
    ALLOCATION,
    CONVEX,
    FIXED,
    LAST,
    POISSON,
    SHUFFLED,
    STREAM,
    WITHOUT,
    TrainingRun,
    describe,
    usual_adjacency,
)
from dpcalc.core.errors import EveryValueMeets
from dpcalc.core.numbers import human, plain
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT
from dpcalc.core.results import Question, Row
from dpcalc.core.text import options_text

_WORTHWHILE = 1 - 1e-3  # of the headline: an assumption that improves it by less than a thousandth is not shown
_MUCH_BETTER = 0.95  # of the best so far: a reader has little use for more assumptions that gain less than a twentieth
_OPTIONS = ("n", "batches", "batch_size", "drop_last", "reshuffle", "steps", "epochs", "release", "index", "adjacency",
            "group_size", "sigma", "noise_multiplier", "lipschitz", "clipping_norm", "smoothness", "strong_convexity",
            "loss", "learning_rate", "diameter", "epsilon", "delta", "solve")  # in the order of a command line


class Assumption(NamedTuple):
    """One assumption about a run."""

    options: Callable[[TrainingRun], dict[str, Any] | None]  # None where it holds, or cannot hold
    text: Callable[[dict[str, Any]], str]  # the assumption in words, from its options


class WhatIf(NamedTuple):
    """The guarantee of a run under a further assumption."""

    assumption: str
    options: dict[str, Any]
    row: Row
    value: float
    command: str


def _smooth(run: TrainingRun) -> dict[str, Any] | None:
    """The largest smoothness that η allows; or, where the smoothness is given, the largest η that it allows."""
    eta, beta = run.learning_rate, run.smoothness
    if eta is None and (run.diameter is not None or run.strong_convexity):
        return None  # the bounds depend on η itself
    if beta is None:
        largest = _three_digits(2 / (eta or 1.0))
        given = {"smoothness": largest} if eta else {"learning_rate": 1.0, "smoothness": largest}
        return given if (run.strong_convexity or 0.0) <= largest else None
    if beta and (eta is None or eta * beta > 2 * (1 + 1e-15)):
        return {"learning_rate": _three_digits(2 / beta)}
    return {"learning_rate": 1.0} if eta is None else None


def _strongly_convex(run: TrainingRun) -> dict[str, Any] | None:
    if run.strong_convexity or run.learning_rate is None or run.smoothness == 0:
        return None
    limits = [10 / (run.learning_rate * (run.in_pass if run.batches == SHUFFLED else run.steps))]
    limits += [run.smoothness] if run.smoothness else []
    # gradients at distance D differ by ρD or more, and both have a norm of at most L
    limits += [2 * run.lipschitz / run.diameter] if run.diameter else []
    return {"loss": CONVEX, "strong_convexity": _three_digits(min(limits))}


def _constrained(run: TrainingRun) -> dict[str, Any] | None:
    if run.diameter is not None or run.learning_rate is None or run.scale_free:
        return None
    reach = run.learning_rate * run.lipschitz
    limits = [reach * sqrt(run.in_pass) / run.batch_size if run.batches == SHUFFLED else reach * run.steps / 10 / run.n]
    limits += [2 * run.lipschitz / run.strong_convexity] if run.strong_convexity else []
    return {"diameter": _three_digits(min(limits))}


def _leaving_out(run: TrainingRun) -> dict[str, Any] | None:
    """The options of shuffled passes that leave out records, if need be with another batch size."""
    if run.batches != SHUFFLED or run.one_order or leaves_out(run.n, run.batch_size, run.drop_last):
        return None
    size = size_that_leaves_out(run.n, run.batch_size)
    if size is None:
        return None
    return {"drop_last": True, **({} if size == run.batch_size else {"batch_size": size})}


def _other_batches(run: TrainingRun, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of runs whose batches are formed otherwise, with which less privacy is lost."""
    one_pass = {} if values.keys() & {"steps", "epochs"} else {"epochs": 1}

    def neighbours(batches: str, adjacency: str) -> dict[str, Any]:
        meant = values.get("adjacency") or usual_adjacency({**values, "batches": batches})
        return {} if adjacency == meant else {"adjacency": adjacency}

    return [{"batches": other[0], **neighbours(*other), **one_pass, "index": None, "drop_last": None, "reshuffle": None}
            for other in _LESS_LOSS.get((run.batches, run.adjacency), ())]


def _three_digits(x: float) -> float:
    """x rounded down to three digits."""
    return float(human(x, 3, upward=False))


# (batches, adjacency) → others that lose less
_LESS_LOSS = {
    (STREAM, REPLACE_ONE): ((SHUFFLED, REPLACE_ONE),), (FIXED, REPLACE_ONE): ((SHUFFLED, REPLACE_ONE),),
    (SHUFFLED, REPLACE_ONE): ((WITHOUT, REPLACE_ONE), (POISSON, REPLACE_ONE), (ALLOCATION, REPLACE_ONE)),
    (SHUFFLED, ZERO_OUT): ((WITHOUT, ZERO_OUT), (POISSON, ZERO_OUT), (ALLOCATION, ZERO_OUT)),
    (WITHOUT, REPLACE_ONE): ((POISSON, REPLACE_ONE), (ALLOCATION, REPLACE_ONE)),
    (WITHOUT, ZERO_OUT): ((POISSON, ZERO_OUT), (ALLOCATION, ZERO_OUT)),
}
_ORDERS = {SHUFFLED: "the records are shuffled in secret before every pass",
           WITHOUT: "every batch is drawn afresh without replacement",
           POISSON: "every batch is a Poisson sample",
           ALLOCATION: "every record draws its own batch in every pass"}


STRUCTURE = (
    Assumption(lambda run: None if run.release == LAST else {"release": LAST},
               lambda o: "only the last iterate is released"),
    Assumption(lambda run: None if run.strong_convexity is not None else {"loss": CONVEX},
               lambda o: "every loss is convex"),
    Assumption(lambda run: {"lipschitz": run.lipschitz} if run.clipped else None,
               lambda o: "no gradient needs clipping"),
    Assumption(_smooth, lambda o: f"every loss is β-smooth with β = 2/η = {plain(o['smoothness'])}"
               if "smoothness" in o else "the learning rate η is at most 2/β"),
)
SHUFFLING = (
    Assumption(_leaving_out, lambda o: "the loader leaves out the records of each pass that do not fill a batch"),
    Assumption(lambda run: {"reshuffle": "every-epoch"} if run.one_order else None,
               lambda o: "the records are shuffled anew before every pass"),
)
STRENGTH = (
    Assumption(_strongly_convex, lambda o: f"every loss is strongly convex with ρ = {plain(o['strong_convexity'])}"),
    Assumption(_constrained, lambda o: f"the iterates stay in a convex set of diameter D = {plain(o['diameter'])}"),
)


def what_if(values: Mapping[str, Any], question: Question, named: tuple[str, ...], base: float,
            answers: Answers) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """The assumptions that lower the headline `base`, and the options of those that do not lower it by themselves.

    The assumptions that the last-iterate theorems need are tried alone and together; with all of them, strong convexity
    and a constraint set, which make these theorems sharper, are tried on top."""
    run = describe(values)
    found: list[WhatIf] = []

    def attempt(options: dict[str, Any], text: str, best: float) -> bool:
        trial = _try(values, options, question, named, answers, text)
        if trial is None or not trial.value < best * _WORTHWHILE:
            return False
        found.append(trial)
        return True

    single = [(o, a.text(o)) for a in STRUCTURE if (o := a.options(run))]
    idle = [options_text(options) for options, text in single if not attempt(options, text, base)]
    package: dict[str, Any] = {}
    for options, _ in single:
        package |= options
    together = "; ".join(text for _, text in single)
    if len(single) > 1:
        attempt(package, together, _to_beat(found, base))
    best, fuller = _to_beat(found, base), describe({**values, **package})
    fuller = fuller._replace(scale_free=run.scale_free)  # an assumed norm gives no unit to a diameter
    for assumption in STRENGTH if run.learning_rate is not None else ():
        if extra := assumption.options(fuller):
            text = assumption.text(extra)
            others = [t for o, t in single if not o.keys() & extra.keys()]  # strongly convex is convex
            if not attempt({**package, **extra}, "; ".join([*others, text]), best) and not single:
                idle.append(options_text(extra))
    for assumption in SHUFFLING:
        if order := assumption.options(run):
            attempt(order, assumption.text(order), base)
    # Solving for a parameter with other batches takes seconds.
    for other in _other_batches(run, values) if question.unknown is None else ():
        attempt(other, _ORDERS[other["batches"]], base)
    return tuple(found), tuple(idle)


def _to_beat(found: Sequence[WhatIf], base: float) -> float:
    """The number that a longer list of assumptions must beat to be shown."""
    return min((w.value * _MUCH_BETTER for w in found), default=base)


def _try(values: Mapping[str, Any], options: dict[str, Any], question: Question, named: tuple[str, ...],
         answers: Answers, text: str) -> WhatIf | None:
    """The headline of the run with these options; None where there is none."""
    changed = {k: v for k, v in {**values, **options}.items() if v is not None}
    run, known = describe(changed), describe(values)
    if run.adjacency != known.adjacency:
        options, changed = ({**given, "adjacency": run.adjacency} for given in (options, changed))
        text += f"; the number is about {run.adjacency} neighbours"
    try:
        row = headline(run, question, named, answers, known)
    except EveryValueMeets:
        return None
    if row is None:
        return None
    if run.record is not None and " --index " in row.context["command"]:
        text += f"; the guarantee is for record {run.record} alone"
    name = question.unknown.name if question.unknown else question.asks
    options_of_line = {**{k: changed[k] for k in _OPTIONS if k in changed}, **({"bound": named} if named else {})}
    line = command_line("compare", options_of_line)
    added = {k: v for k, v in options.items() if values.get(k) != v}
    return WhatIf(text, added, row, row.result[name], line)
