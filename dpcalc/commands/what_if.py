"""What one more assumption would buy: options that a run does not have, as weak as they can be and still say something.

Where an assumption needs a number that is not known, it is the weakest with an effect: β = 2/η, the least smooth loss
that the last-iterate theorems allow; ρ = 10/(ηT) (at most β and 2L/D), which forgets within a tenth of the run (of a
pass, over shuffled records); a D with the horizon Dn/(Lη) a tenth of the run (over shuffled records, D = ηL√N/b, N
batches in a pass). """

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any, NamedTuple

from dpcalc.commands.comparison import Asked, command_line, headline
from dpcalc.commands.training_run import CONVEX, FIXED, LAST, POISSON, REPLACE_ONE, SHUFFLED, STREAM, WITHOUT, Run, describe, is_scale_free
from dpcalc.core.errors import EveryValueMeets
from dpcalc.core.numbers import human, plain
from dpcalc.core.question import Question
from dpcalc.core.results import Row

_GAIN = 1 - 1e-3  # less is not worth an assumption
_KEPT = ("n", "batches", "batch_size", "steps", "epochs", "release", "index", "adjacency", "sigma", "noise_multiplier",
         "lipschitz",
         "clipping_norm", "smoothness", "strong_convexity", "loss", "learning_rate", "diameter", "epsilon", "delta",
         "solve")


class Assumption(NamedTuple):
    """Options that a run lacks (None where it has them or they mean nothing there), and what they say."""

    options: Callable[[Run, Mapping[str, Any]], dict[str, Any] | None]
    says: Callable[[dict[str, Any]], str]


class WhatIf(NamedTuple):
    assumption: str
    options: dict[str, Any]
    row: Row
    value: float
    command: str


def _released(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    return None if run.release == LAST else {"release": LAST}


def _convex(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    return None if run.strong_convexity is not None else {"loss": CONVEX}


def _unclipped(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"lipschitz": run.lipschitz} if run.clipped and not is_scale_free(values) else None


def _smooth(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The smoothness that η allows; or, of a given one, the η."""
    if run.learning_rate is None:
        return None
    if run.smoothness is None:
        return {"smoothness": _short(2 / run.learning_rate)}
    if run.learning_rate * run.smoothness > 2 * (1 + 1e-15):
        return {"learning_rate": _short(2 / run.smoothness)}
    return None


def _curved(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    if run.strong_convexity or run.learning_rate is None or run.smoothness == 0:
        return None
    most = [10 / (run.learning_rate * (run.in_pass if run.batches == SHUFFLED else run.steps))]
    most += [run.smoothness] if run.smoothness else []
    # gradients that differ by ρD are not both below L
    most += [2 * run.lipschitz / run.diameter] if run.diameter else []
    return {"loss": CONVEX, "strong_convexity": _short(min(most))}


def _held(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    if run.diameter is not None or run.learning_rate is None or is_scale_free(values):
        return None
    reach = run.learning_rate * run.lipschitz
    most = [reach * sqrt(run.in_pass) / run.batch_size if run.batches == SHUFFLED else reach * run.steps / 10 / run.n]
    most += [2 * run.lipschitz / run.strong_convexity] if run.strong_convexity else []
    return {"diameter": _short(min(most))}


def _drawn(run: Run, values: Mapping[str, Any]) -> dict[str, Any] | None:
    other = _BETTER.get((run.batches, run.adjacency))
    return None if other is None else {"batches": other,
                                       **({} if values.keys() & {"steps", "epochs"} else {"epochs": 1}), "index": None}


def _short(x: float) -> float:
    """Three digits, downwards."""
    return float(human(x, 3, upward=False))


_BETTER = {(STREAM, REPLACE_ONE): SHUFFLED, (FIXED, REPLACE_ONE): SHUFFLED, (SHUFFLED, REPLACE_ONE): WITHOUT,
           (POISSON, REPLACE_ONE): WITHOUT}
_ORDERS = {SHUFFLED: "the records are shuffled in secret before every pass",
           WITHOUT: "every batch is drawn afresh, uniformly without replacement"}
STRUCTURE = (
    Assumption(_released, lambda o: "only the last iterate is released"),
    Assumption(_convex, lambda o: "every loss is convex"),
    Assumption(_unclipped, lambda o: "no gradient needs clipping: every loss is L-Lipschitz with L = C"),
    Assumption(_smooth, lambda o: f"every loss is β-smooth with β = 2/η = {plain(o['smoothness'])}" if "smoothness" in o
               else f"the learning rate is at most 2/β = {plain(o['learning_rate'])}"),
)
STRENGTH = (
    Assumption(_curved, lambda o: f"every loss is strongly convex with ρ = {plain(o['strong_convexity'])}"),
    Assumption(_held, lambda o: f"the iterates stay in a convex set of diameter D = {plain(o['diameter'])}"),
)
SAMPLING = Assumption(_drawn, lambda o: _ORDERS[o["batches"]])


def what_if(values: Mapping[str, Any], question: Question, named: tuple[str, ...], base: float,
            asked: Asked) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """The assumptions that lower the headline `base`, and those that, alone, do not. With all that the last-iterate
    theorems need the two that make them strong are tried on top."""
    run = describe(values)
    found: list[WhatIf] = []

    def attempt(options: dict[str, Any], text: str, best: float) -> bool:
        trial = _try(values, options, question, named, asked, text)
        if trial is None or not trial.value < best * _GAIN:
            return False
        found.append(trial)
        return True

    single = [(o, a.says(o)) for a in STRUCTURE if (o := a.options(run, values))]
    idle = [text for options, text in single if not attempt(options, text, base)]
    package: dict[str, Any] = {}
    for options, _ in single:
        package |= options
    together = "; ".join(text for _, text in single)
    if len(single) > 1:
        attempt(package, together, min((w.value for w in found), default=base))
    best, fuller = min((w.value for w in found), default=base), describe({**values, **package})
    for assumption in STRENGTH:
        if extra := assumption.options(fuller, values):
            text = assumption.says(extra)
            others = [t for o, t in single if not o.keys() & extra.keys()]  # strongly convex is convex
            if not attempt({**package, **extra}, "; ".join([*others, text]), best) and not single:
                idle.append(text)
    other = SAMPLING.options(run, values)
    if other and question.unknown is None:  # a profile to solve for from scratch takes too long
        attempt(other, SAMPLING.says(other), base)
    return tuple(found), tuple(idle)


def _try(values: Mapping[str, Any], options: dict[str, Any], question: Question, named: tuple[str, ...], asked: Asked,
         text: str) -> WhatIf | None:
    changed = {k: v for k, v in {**values, **options}.items() if v is not None}
    try:
        row = headline(describe(changed), question, named, asked)
    except EveryValueMeets:
        return None
    if row is None:
        return None
    name = question.unknown.name if question.unknown else question.asks
    line = command_line("compare",
                        {**{k: changed[k] for k in _KEPT if k in changed}, **({"bound": named} if named else {})})
    return WhatIf(text, options, row, row.result[name], line)

