"""Random allocation (balls and bins): each record takes part in one step of an epoch, chosen uniformly, independently
of all other records, and afresh in every epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import COUNT, Scheme, Use, Values, mechanisms_guarantee
from dpcalc.bounds.sampling import allocation_profile, allocation_replace_one_profile
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Needed, Rule, Test
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import plain
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

_BOUNDS = {**dict.fromkeys((ADD_REMOVE, ZERO_OUT), allocation_profile.BOUNDS),
           REPLACE_ONE: allocation_replace_one_profile.BOUNDS}
_GIVE = "give --epochs, and --steps-per-epoch (1/q at a sampling rate q) or --n and --batch-size"
_NO_STEPS = "add --steps-per-epoch, or --n and --batch-size, whose ratio it is"


_CHECKS: tuple[Test, ...] = (
    Rule(lambda run: run.sets("steps"), f"not used with --scheme random-allocation, whose theorem is about whole "
         f"epochs: {_GIVE}", "unneeded", "--steps"),
    Check(("unknown",), lambda x: flag(x)[2:] if x in by_rate.BY_SIZE else "", "{it} cannot be solved for with "
          "--scheme random-allocation, whose epochs have whole numbers of steps; solve for noise-multiplier or epochs",
          "unneeded", "--solve"),
    *by_rate.EITHER_STEPS_PER_EPOCH,
    Needed(by_rate.BY_SIZE, "for the steps of an epoch, n/b", by_rate.BY_SIZE),
    by_rate.BATCH_SIZE,
    by_rate.needs_steps(lambda run: run.sets(*by_rate.BY_SIZE), "--epochs (passes over the data)"),
    Rule(lambda run: not run.sets("steps_per_epoch", *by_rate.BY_SIZE), _NO_STEPS, "missing", "--steps-per-epoch"),
    Check(("epochs",), lambda epochs: plain(epochs) if epochs != int(epochs) else "", "{it} is not a whole number, and "
          "the theorem of random allocation is about whole epochs"),
)


def _params(values: Values) -> dict[str, Any]:
    """The steps of an epoch, of which a record takes part in k, and the number of epochs, as what is composed."""
    epochs = int(values.get("epochs") or 1)
    t, k = _steps_per_epoch(values), values.get("participations") or 1
    allocation_profile.blocks(t, k)  # raises where there are fewer steps
    return {"steps_per_epoch": t, "participations": k, "steps": epochs,
            "tail": allocation_profile.tail_of(values.get("delta"), epochs * k)}


def _steps_per_epoch(values: Values) -> int:
    if values.get("steps_per_epoch") is not None:
        return int(values["steps_per_epoch"])
    n, b = values.get("n"), values.get("batch_size")
    if n is None or b is None:
        raise DpcalcError("missing", _NO_STEPS, "--steps-per-epoch")
    if n % b:
        raise DpcalcError("out-of-range",
                          f"n/b = {n}/{b} is not whole, and an epoch has a whole number of steps; give the number of "
                          f"steps that an epoch has, as in --steps-per-epoch {n // b}, in place of --n and "
                          "--batch-size", "--batch-size")
    return int(n // b)


def _routes(run: Values, relation: str) -> tuple[Route, ...]:
    if "curve" in run:
        raise DpcalcError("refused", "random allocation of an RDP curve is not supported; give the noise of the "
                                     "mechanism", "--scheme")
    of_profile, of_lower = _BOUNDS[relation]
    return (Route(of_profile),) if (run.get("participations") or 1) > 1 else (Route(of_profile), Route(of_lower))


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    """Each block of steps with one participation is a separate epoch, which is exact for a single participation."""
    blocks = allocation_profile.blocks(params["steps_per_epoch"], params["participations"])
    found = mechanisms_guarantee(SCHEME, values, tuple(({"scheme": SCHEME.name, "steps_per_epoch": steps},
                                                        count * params["steps"]) for steps, count in blocks))
    return found | ({"upper_bound": True} if params["participations"] > 1 else {})


def _pair(use: Use) -> Pair:
    (pair, _), = _BOUNDS[use.relation][0].value(use.noise_multiplier, use.sampling["steps_per_epoch"], 1,
                                                allocation_profile.DEFAULT_TAIL)
    return pair  # type: ignore[no-any-return]


def _sentence(text: Mapping[str, str]) -> str:
    steps = text.get("steps_per_epoch") or f"{text['n']}/{text['batch_size']}"
    how_many = text.get("participations", "1")
    part = "one" if how_many == "1" else how_many
    return (f"In every epoch each record takes part in {part} of {steps} steps, drawn uniformly, independently of all "
            f"other records and afresh; {_NOT_ONE_ORDER}")


_NOT_ONE_ORDER = "batches cut from one shuffled order of the records are not covered."

SCHEME = Scheme(
    name="random-allocation",
    words="random allocation",
    bases={ADD_REMOVE: Base(ADD_REMOVE), ZERO_OUT: Base(ADD_REMOVE, of_sum=True),
           REPLACE_ONE: Base(ADD_REMOVE, described=True)},
    ways_out={"sampling_rate": _GIVE},
    options=("steps_per_epoch", "participations", "n", "batch_size", "epochs", "steps"),
    checks=_CHECKS,
    params=_params,
    routes=_routes,
    own_guarantee=_guarantee,
    sentence=_sentence,
    fields={"steps_per_epoch": COUNT},
    pair=_pair,
    only=("gaussian",),
    promise=f"each record must draw its step by itself, afresh in every epoch ({_NOT_ONE_ORDER[:-1]})",
    unit="epoch",
    companions={"steps_per_epoch": "steps_per_epoch", "epochs": "steps"},
)
