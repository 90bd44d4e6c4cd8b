"""What is asked about the keys of optimal selection: the probability that a key of so many people is kept, and the
number of people from which on it is kept with a given probability."""

from collections.abc import Mapping
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS, Mechanism
from dpcalc.bounds.mechanisms import key_selection
from dpcalc.commands.asking import read_unknown
from dpcalc.core.bound import Params
from dpcalc.core.command import Command, Given
from dpcalc.core.counts import KEEP_PROBABILITY, MAX_KEYS, PEOPLE, STEP_DELTA
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import human
from dpcalc.core.results import Question, Route
from dpcalc.numerics.rounding import decimal, decimal_down

ROUTE = Route(key_selection.BOUND)
ANSWERS = ("keep_probability", "drop_probability")  # what its questions are about: with --solve, the second one
WAYS_OUT = {STEP_DELTA.name: "it belongs to --mechanism key-selection"}
_PRIVACY = ("epsilon", "delta")
_NOT_POSSIBLE = {"alpha": "Rényi divergence", "rho": "ρ of zCDP", "mu": "μ of Gaussian DP"}
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
            raise DpcalcError("unneeded", f"{option.name.replace('_', ' ')} is asked about --mechanism key-selection "
                              f"alone, and not {given['mechanism']}",
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


def notes(mechanism: Mechanism, options: Mapping[str, Any], question: Question) -> tuple[str, ...]:
    """From how many people on a key is kept nearly surely, where a number of people is asked about."""
    if not mechanism.questions or options["people"] is None or question.unknown:
        return ()
    own = {name: x for name, x in params(options).items() if name != "people"}
    least = key_selection.least_people(decimal_down(1 - decimal(_USUAL)), **own)
    own_key = "" if question.asks in ANSWERS else (
        f"a key of {options['people']} people is kept with probability "
        f"{human(numbers(mechanism, options, question)['keep_probability'])}; ")
    if least is None:
        return (own_key.removesuffix("; "),) if own_key else ()
    return (f"{own_key}a key of {least} or more people is kept with a probability of {100 * _USUAL:g} % or more",)
