"""What dpcalc subsample says beside a guarantee for shuffled batches: the numbers of other ways to form batches, and
why nothing is gained from the shuffling where that is so."""

from typing import Any

from dpcalc.accounting.schemes import scheme_of, shuffle
from dpcalc.bounds.sampling.shuffle_profile import leaves_out
from dpcalc.commands import calculator
from dpcalc.core import noise_multiplier
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.core.run import Run

_POISSON = ("poisson-profile", "poisson-rdp")
_LEFT_OUT, _NO_GAIN = "shuffle-profile", "shuffle-no-amplification"
_OF_QUESTION = ("epsilon", "delta", "solve", "mechanism", "format", "group_size")


def refuse_poisson(run: Run) -> None:
    """Raises DpcalcError where --bound names a bound for Poisson batches, with its number and why it does not apply."""
    named = next((name for name in run.bounds if name in _POISSON), None)
    if run["scheme"] != "shuffle" or named is None:
        return
    poisson = _with_scheme(run, "poisson", bound=(named,))
    number = "" if poisson is None else f", for which it gives {_number(poisson)}"
    without = run.given.replace({**run.given.values, "bound": None}, run.given.provided - {"bound"})
    shuffled = calculator("subsample").answer(without)
    asks, result = shuffled.quantity, {**shuffled.extra, **shuffled.headline.result}
    lower = result.get(f"{asks}_lower")
    true = (f"whose true {symbol(asks)} is between {human(lower, upward=False)} and {human(result[asks])}" if lower else
            f"for which {_number(shuffled)} is proven")
    raise DpcalcError("refused", f"{named} is about Poisson batches{number}; that is no guarantee for shuffled "
                                 f"batches, {true}", "--bound")


def notes(run: Run, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """Why nothing is gained from the shuffling, where that is so, and the ε of epochs that leave out records and of
    random allocation."""
    if run["scheme"] != "shuffle" or run.question.asks != "epsilon" or run.unknown or run.bounds:
        return ()
    reason = _why_nothing_is_gained(run) if rows[0].route.bound.name == _NO_GAIN else ""
    allocated = _with_scheme(run, "random-allocation")
    others = ", and ".join(filter(None, (
        _if_left_out(run, rows[0].result["epsilon"]),
        allocated and f"random allocation of the records (--scheme random-allocation) has {_number(allocated)}")))
    return tuple(filter(None, (reason, f"with the same noise multiplier, {others}" if others else "")))


def _why_nothing_is_gained(run: Run) -> str:
    """The reason why no theorem proves less than one step on all records for every epoch, and the way out."""
    if run["n"] is None:
        return ("every epoch counts as one step on all records; the theorems that prove less need --n and --batch-size "
                "in place of --steps-per-epoch")
    if run["reshuffle"] == "once":
        return ("every epoch counts as one step on all records, as one order for all epochs is proven to gain only "
                "where records are left out and there is much noise; shuffle in every epoch (--reshuffle every-epoch)")
    if run["n"] < 2 * run["batch_size"]:
        return ("every epoch counts as one step on all records, as nothing is proven to be gained with fewer than two "
                "full batches; use smaller batches")
    return ""


def _if_left_out(run: Run, epsilon: float) -> str:
    """The ε of the run if every epoch leaves out records, where that is below this ε."""
    if run["n"] is None or run["reshuffle"] == "once":
        return ""
    n, b = int(run["n"]), int(run["batch_size"])
    size = shuffle.size_that_leaves_out(n, b)
    if size is None or leaves_out(n, b, bool(run["drop_last"])):
        return ""
    other = _with_scheme(run, "shuffle", batch_size=size, drop_last=True, bound=(_LEFT_OUT,))
    if other is None or not other.value < epsilon:
        return ""
    options = "--drop-last" if size == b else f"--drop-last and --batch-size {size}, which does not divide {n}"
    return f"epochs that leave out the records that do not fill a batch ({options}) have {_number(other)}"


def _number(answer: Answer) -> str:
    """The headline as an equation, rounded to the safe side."""
    upward = answer.question.unknown is None or answer.question.unknown.safe_direction > 0
    return f"{symbol(answer.quantity)} = {human(answer.value, upward=upward)}"


def _with_scheme(run: Run, scheme: str, **options: Any) -> Answer | None:
    """The answer for the same number of batches in an epoch, the same number of epochs, the same noise multiplier and
    the same neighbours; None where there is none."""
    own = scheme_of(run)
    multiplier = noise_multiplier.companion(run, own.base(run).relation, not run.given.inputs)
    if run.given.inputs or {"epochs", "steps"} & {str(run["solve"])} or not (multiplier or run["solve"]):
        return None
    params = own.params(own.with_sigma(run))
    batches = {"steps_per_epoch": params["steps_per_epoch"], "epochs": params["epochs"]}
    if scheme != "random-allocation":
        named = {name: run[name] for name in ("n", "batch_size", "epochs", "steps") if run[name] is not None}
        batches = named if "n" in named else {"sampling_rate": 1 / params["steps_per_epoch"],
                                              "steps": params["all_steps"]}
    asked = {name: run[name] for name in _OF_QUESTION if run[name] is not None}
    if "solve" in asked:
        asked["solve"] = "noise-multiplier"
    described = {**asked, **multiplier, **batches, "scheme": scheme, "adjacency": own.relation(run), **options}
    try:
        return calculator("subsample").answer(Given({"sensitivity": 1.0, **described}, frozenset(described)))
    except DpcalcError:
        return None
