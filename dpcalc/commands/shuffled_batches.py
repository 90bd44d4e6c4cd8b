"""What dpcalc subsample says beside a guarantee for shuffled batches: the numbers of other ways to form batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.core import noise_multiplier
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Row

_POISSON = ("poisson-profile", "poisson-rdp")
_OF_QUESTION = ("epsilon", "delta", "solve", "mechanism", "format", "group_size")


def refuse_poisson(given: Given) -> None:
    """Raises DpcalcError where --bound names a bound for Poisson batches, with its number and why it does not apply."""
    from dpcalc.commands import calculator

    named = next((name for name in given["bound"] or () if name in _POISSON), None)
    if given["scheme"] != "shuffle" or named is None:
        return
    poisson = _with_scheme(given, given.values, "poisson", bound=(named,))
    number = "" if poisson is None else f", for which it gives {_number(poisson)}"
    without = given.replace({**given.values, "bound": None}, given.provided - {"bound"})
    shuffled = calculator("subsample").answer(without)
    asks, result = shuffled.quantity, {**shuffled.extra, **shuffled.headline.result}
    lower = result.get(f"{asks}_lower")
    true = (f"whose true {symbol(asks)} is between {human(lower, upward=False)} and {human(result[asks])}" if lower else
            f"for which {_number(shuffled)} is proven")
    raise DpcalcError("refused", f"{named} is about Poisson batches{number}; that is no guarantee for shuffled "
                                 f"batches, {true}", "--bound")


def notes(given: Given, question: Question, found: tuple[Row, ...]) -> tuple[str, ...]:
    """The note that no theorem proves less than the headline, with what another way to form batches would give."""
    if given["scheme"] != "shuffle" or question.asks != "epsilon" or question.unknown or given["bound"]:
        return ()
    other = _with_scheme(given, given.values, "random-allocation")
    if other is None:
        return ()
    return (f"no theorem in dpcalc proves less than ε = {human(found[0].result['epsilon'])} here; random "
            f"allocation of the records (--scheme random-allocation) with the same noise multiplier has "
            f"{_number(other)}, for {other.adjacency} neighbours",)


def _number(answer: Answer) -> str:
    upward = answer.question.unknown is None or answer.question.unknown.safe_direction > 0
    return f"{symbol(answer.quantity)} = {human(answer.value, upward=upward)}"


def _with_scheme(given: Given, values: dict[str, Any], scheme: str, **options: Any) -> Answer | None:
    """The answer for the same number of batches in an epoch, the same number of epochs, the same noise multiplier and
    the same neighbours; None where there is none."""
    from dpcalc.accounting.schemes import scheme_of
    from dpcalc.commands import calculator

    scheme_of_run = scheme_of(values)
    multiplier = noise_multiplier.companion(values, scheme_of_run.base(values).relation, not given.inputs)
    unknown = {"epochs", "steps"} & {str(given["solve"])}
    if given.inputs or unknown or not (multiplier or given["solve"]):
        return None
    run = scheme_of_run.params(scheme_of_run.with_sigma(values))
    batches = {"steps_per_epoch": run["steps_per_epoch"], "epochs": run["epochs"]}
    if scheme == "poisson":
        named = {name: values[name] for name in ("n", "batch_size", "epochs", "steps") if values.get(name) is not None}
        batches = named if "n" in named else {"sampling_rate": 1 / run["steps_per_epoch"], "steps": run["all_steps"]}
    asked = {name: values[name] for name in _OF_QUESTION if values.get(name) is not None}
    if "solve" in asked:
        asked["solve"] = "noise-multiplier"
    described = {**asked, **multiplier, **batches, "scheme": scheme, "adjacency": scheme_of_run.relation(values),
                 **options}
    try:
        return calculator("subsample").answer(Given({"sensitivity": 1.0, **described}, frozenset(described)))
    except DpcalcError:
        return None
