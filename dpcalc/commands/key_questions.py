"""What is asked about the keys of optimal selection: the probability that a key of so many people is kept, and the
number of people from which on it is kept with a given probability."""

from collections.abc import Sequence
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS, Mechanism
from dpcalc.bounds.conversions import composition_basic
from dpcalc.bounds.mechanisms import key_selection
from dpcalc.commands.asking import read_unknown
from dpcalc.core.bound import Params
from dpcalc.core.command import Command, Given
from dpcalc.core.counts import KEEP_PROBABILITY, MAX_KEYS, PEOPLE, STEP_DELTA
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import human
from dpcalc.core.quantities import STEP_EPSILON
from dpcalc.core.results import Question, Route, Row
from dpcalc.core.run import Run
from dpcalc.numerics.rounding import decimal, decimal_down

ROUTE = Route(key_selection.BOUND)
ANSWERS = ("keep_probability", "drop_probability")  # what its questions are about: with --solve, the second one
WAYS_OUT = {STEP_DELTA.name: "it belongs to --mechanism key-selection"}
_PRIVACY = ("epsilon", "delta")
_NOT_POSSIBLE = {"alpha": "Rényi divergence", "rho": "ρ of zCDP", "mu": "μ of Gaussian DP"}
_NOTABLE = 0.9  # of the sum of all ε; a composition below it is worth a note
_USUAL = 0.95  # the probability of which a note says how many people have it


def question_of(command: Command, given: Given) -> Question | None:
    """The question about keys, or None where another one is asked. Raises DpcalcError for options that do not make one
    question."""
    mechanism, solves = MECHANISMS[given["mechanism"]], (given["solve"] or "").removeprefix("--").replace("_", "-")
    if PEOPLE.name not in mechanism.questions:
        _refuse_other_mechanism(given, solves)
        return None
    if without := next((name for name in _NOT_POSSIBLE if given.has(name)), None):
        raise DpcalcError("refused", f"key-selection has no {_NOT_POSSIBLE[without]}, as a key that only one person "
                          "has is published with a positive probability; ask with --delta or --epsilon", flag(without))
    if solves == MAX_KEYS.option[2:] or solves in MAX_KEYS.aliases:
        raise DpcalcError("unknown-value", f"{MAX_KEYS.option} changes how often keys are kept, and not the ε of "
                          "key-selection: --step-epsilon and --step-delta are those of all keys of a person", "--solve")
    if given.has(KEEP_PROBABILITY.name):
        return _number_of_people(command, given, solves)
    if solves == PEOPLE.name:
        raise DpcalcError("missing", "needs a budget; add --keep-probability, as in --keep-probability 0.95", "--solve")
    if given["solve"] or any(map(given.has, _PRIVACY)):
        return None
    if given.has(PEOPLE.name):
        return Question("keep_probability")
    if given["format"] not in ("json", "jsonl"):
        raise DpcalcError("missing", "nothing to compute: give --people (prints the probability that a key is kept), "
                          "--delta (prints ε), --epsilon (prints δ), or a budget and --solve")
    return None


def _refuse_other_mechanism(given: Given, solves: str) -> None:
    """Raises DpcalcError where a mechanism that selects no keys is asked about keys."""
    for option in (PEOPLE, KEEP_PROBABILITY):
        if given.has(option.name) or solves == option.name:
            raise DpcalcError("unneeded", f"{option.name.replace('_', ' ')} is for --mechanism key-selection only, and "
                              f"not for {given['mechanism']}",
                              option.option if given.has(option.name) else "--solve")


def _number_of_people(command: Command, given: Given, solves: str) -> Question:
    """The question for the least number of people who have a key that is kept with the given probability."""
    if solves != PEOPLE.name:
        raise DpcalcError("unneeded", "is a budget for --solve people; to print the probability for a number of "
                          "people, give --people and drop it", KEEP_PROBABILITY.option)
    if beside := [name for name in _PRIVACY if given.has(name)]:
        raise DpcalcError("contradictory", "does not go with --solve people, on which no privacy loss depends; drop "
                          "it, and give the number of people that is found as --people", flag(beside[0]))
    left = decimal_down(1 - decimal(given[KEEP_PROBABILITY.name]))
    return Question("drop_probability", unknown=read_unknown(command, given), target=left)


def params(options: Params) -> dict[str, Any]:
    """The parameters of the theorem."""
    return {"step_epsilon": options["step_epsilon"], "step_delta": options["step_delta"],
            "max_keys": int(options["max_keys"] or 1), "people": options["people"]}


def numbers(mechanism: Mechanism, options: Params, question: Question) -> dict[str, float]:
    """The probability that a key is kept, beside a privacy loss, where --people is given."""
    if not mechanism.questions or options["people"] is None or question.asks in ANSWERS:
        return {}
    return {"keep_probability": key_selection.value(**params(options))["keep_probability"]}


def notes(mechanism: Mechanism, run: Run, rows: Sequence[Row]) -> tuple[str, ...]:
    """What an answer about a selection of keys says beside its number."""
    if not mechanism.questions or run.unknown:
        return ()
    return (*_note_on_people(mechanism, run), *_note_on_composition(run, rows))


def _note_on_people(mechanism: Mechanism, run: Run) -> tuple[str, ...]:
    """From how many people on a key is kept nearly surely, where a number of people is asked about."""
    if run["people"] is None:
        return ()
    own = {name: x for name, x in params(run).items() if name != "people"}
    least = key_selection.least_people(decimal_down(1 - decimal(_USUAL)), **own)
    beside = numbers(mechanism, run, run.question)
    own_key = (f"a key of {run['people']} people is kept with probability {human(beside['keep_probability'])}"
               if beside else "")
    usual = (f"a key of {least} or more people is kept with a probability of {100 * _USUAL:g} % or more"
             if least is not None else "")
    text = "; ".join(filter(None, (own_key, usual)))
    return (text,) if text else ()


def _note_on_composition(run: Run, rows: Sequence[Row]) -> tuple[str, ...]:
    """How to use up a budget where the keys of a person lose together less than the sum of their ε."""
    if run.question.asks != "epsilon" or not rows:
        return ()
    if rows[0].result["epsilon"] > _NOTABLE * float(composition_basic.total_epsilon(run.params["points"])):
        return ()
    return (f"the decisions on all keys together lose less than {STEP_EPSILON.option} says; for a budget, --epsilon "
            f"and --delta with --solve {STEP_EPSILON.option[2:]} give the largest one that meets it",)
