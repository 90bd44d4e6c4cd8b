"""What dpcalc knows of a way to form batches, in one record: commands, pipes, statements and JSON read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.curve import Curve
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound, Params

if TYPE_CHECKING:
    from dpcalc.core.command import Given
    from dpcalc.core.results import Route
    from dpcalc.pld.pair import Pair

Values = Mapping[str, Any]  # the options of a command
Sampling = Mapping[str, Any]  # the fields of a scheme in the JSON of a guarantee

NOT_SHUFFLED = "batches cut from shuffled data are not covered."
RATE, COUNT = "rate", "count"  # kinds of fields: a number in (0, 1], and a whole number from 1 on


class Scheme(NamedTuple):
    """A way to form the batches of a run. Which adjacencies it has theorems for stands in core/noise_multiplier.py."""

    name: str  # on the command line and in JSON
    words: str  # in a statement
    refusal: str  # why it has no theorem for another adjacency, in words after "is not supported with --scheme NAME, "
    options: tuple[str, ...]  # of the run, besides --scheme, --adjacency and those of the mechanism
    check: Callable[[Given, str | None], None]  # raises DpcalcError for options that are missing or contradictory
    params: Callable[[Values], dict[str, Any]]  # of its bounds, besides those of the mechanism; with `steps`
    routes: Callable[[Given], tuple[Route, ...]]
    guarantee: Callable[[Values, Params], dict[str, Any]]  # of the run, for the next command
    sentence: Callable[[Mapping[str, str]], str]  # for a statement: how batches are drawn, from the options as text
    fields: Mapping[str, str] = {}  # in JSON, by name: RATE or COUNT
    pair: Callable[[Pair, Sampling], Pair] | None = None  # of one sampled use, from that of one use on all records
    curve: Callable[[Curve, Sampling, Params], Curve] | None = None  # the RDP of one sampled use
    pure: Callable[[float, Sampling], float] | None = None  # the pure ε of one sampled use, from that on all records
    # (fields of the mechanism, sampling, K) → the pair of one sampled use for groups of K records, and the bounds of a
    # run; None where no theorem covers groups
    group_pair: Callable[[Params, Sampling, int], Pair] | None = None
    group_routes: tuple[Route, ...] = ()
    only: tuple[str, ...] = ()  # the mechanisms that it covers; none means all
    note: str = ""  # beside every answer: what a reader may misread
    unit: str = "step"  # what a run without a number of steps or epochs consists of
    # The numbers beside an answer, by name, and the parameters that they are.
    companions: Mapping[str, str] = {"sampling_rate": "sampling_rate", "steps": "steps"}
    notes: Callable[[Values], tuple[str, ...]] = lambda values: ()  # what a reader must know of its numbers

    @property
    def neighbours(self) -> tuple[str, ...]:
        """The adjacencies that it has theorems for, the default first."""
        return noise_multiplier.NEIGHBOURS[self.name]

    @property
    def neighbours_in_json(self) -> tuple[str, ...]:
        """The adjacencies that a part of a guarantee with this scheme is about, the default first: a Poisson run for
        replace-one neighbours is written as one without replacement."""
        return tuple(x for x in self.neighbours if x != "replace-one") or self.neighbours


def mechanisms_guarantee(values: Values, uses: tuple[tuple[dict[str, Any], int], ...]) -> dict[str, Any]:
    """The guarantee of a mechanism that is used on samples: for each part its `sampling` and the number of uses."""
    from dpcalc.accounting.mechanisms import MECHANISMS

    mechanism, values = MECHANISMS[values["mechanism"]], noise_multiplier.with_sigma(values)
    return {"kind": "mechanisms", "mechanisms": [mechanism.as_part(values, sampling, count)
                                                 for sampling, count in uses]}


# Orders at which an RDP curve is handed on. Any list is valid: the next command takes the best of them.
_CURVE_ORDERS = (*range(2, 33), 40, 48, 64, 96, 128, 256)


def curve_guarantee(bound: Bound, params: Params) -> dict[str, Any]:
    """The guarantee of a run whose mechanism is known by its RDP curve alone."""
    from dpcalc.accounting.orders import total_rdp

    curve = total_rdp(bound, params)
    points = [(a, r) for a in _CURVE_ORDERS if (r := curve(float(a))) < float("inf")]
    return {"kind": "rdp", "alpha": [a for a, _ in points], "rdp": [r for _, r in points]}
