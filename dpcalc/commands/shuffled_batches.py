"""What dpcalc subsample says beside a guarantee for shuffled batches: the numbers of other ways to form batches, and
why nothing is gained from the shuffling where that is so."""

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
_LEFT_OUT, _NO_GAIN = "shuffle-profile", "shuffle-no-amplification"
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
    """Why nothing is gained from the shuffling, where that is so, and the ε of epochs that leave out records and of
    random allocation."""
    if given["scheme"] != "shuffle" or question.asks != "epsilon" or question.unknown or given["bound"]:
        return ()
    head = found[0]
    reason = _why_nothing_is_gained(given) if head.route.bound.name == _NO_GAIN else ""
    others = ", and ".join(filter(None, (_if_left_out(given, head.result["epsilon"]), _if_allocated(given))))
    return tuple(filter(None, (reason, f"with the same noise multiplier, {others}" if others else "")))


def _why_nothing_is_gained(given: Given) -> str:
    """The reason why no theorem proves less than one step on all records for every epoch, and the way out."""
    if given["n"] is None:
        return ("every epoch counts as one step on all records; the theorems that prove less need --n and --batch-size "
                "in place of --steps-per-epoch")
    if given["reshuffle"] == "once":
        return ("every epoch counts as one step on all records, as one order for all epochs is proven to gain only "
                "where records are left out and there is much noise; shuffle in every epoch (--reshuffle every-epoch)")
    if given["n"] < 2 * given["batch_size"]:
        return ("every epoch counts as one step on all records, as nothing is proven to be gained with fewer than two "
                "full batches; use smaller batches")
    return ""


def _if_left_out(given: Given, epsilon: float) -> str:
    """The ε of the run if every epoch leaves out records, where that is below this ε."""
    from dpcalc.accounting.schemes import shuffle
    from dpcalc.bounds.sampling.shuffle_profile import leaves_out

    if given["n"] is None or given["reshuffle"] == "once":
        return ""
    n, b = int(given["n"]), int(given["batch_size"])
    size = shuffle.size_that_leaves_out(n, b)
    if size is None or leaves_out(n, b, bool(given["drop_last"])):
        return ""
    other = _with_scheme(given, given.values, "shuffle", batch_size=size, drop_last=True, bound=(_LEFT_OUT,))
    if other is None or not other.value < epsilon:
        return ""
    options = "--drop-last" if size == b else f"--drop-last and --batch-size {size}, which does not divide {n}"
    return f"epochs that leave out the records that do not fill a batch ({options}) have {_number(other)}"


def _if_allocated(given: Given) -> str:
    """The ε of random allocation."""
    other = _with_scheme(given, given.values, "random-allocation")
    return "" if other is None else (
        f"random allocation of the records (--scheme random-allocation) has {_number(other)}")


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
    if scheme != "random-allocation":
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
