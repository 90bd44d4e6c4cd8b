"""What dpcalc knows of a way to form batches, in one record: commands, pipes, statements and JSON read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.mechanisms.record import Mechanism
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import amplification
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound, Params
from dpcalc.core.checks import Test
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import RELATIONS, Base
from dpcalc.numerics.rounding import ratio_down

if TYPE_CHECKING:
    from dpcalc.core.results import Route
    from dpcalc.pld.pair import Pair

Values = Mapping[str, Any]  # the options of a command
Sampling = Mapping[str, Any]  # the fields of a scheme in the JSON of a guarantee

NOT_SHUFFLED = "batches cut from shuffled data are not covered."
POISSON_ONLY = ("batches must be Poisson samples (for a loader that shuffles, ask subsample --scheme shuffle or "
                "compare --batches shuffled)")
RATE, COUNT = "rate", "count"  # kinds of fields: a number in (0, 1], and a whole number from 1 on


class Use(NamedTuple):
    """One use of a mechanism on a random batch."""

    mechanism: Mechanism
    params: Params  # of the mechanism between two batches that differ in one record as the scheme's theorem needs it
    sampling: Sampling
    relation: str  # of the neighbouring data sets of the run
    group_size: int = 1  # the number of records in which these differ
    of_sum: bool = False  # whether the noise is relative to the clipping norm of a sum

    @property
    def noise_multiplier(self) -> float:
        """σ over the sensitivity between two batches, of Gaussian noise, rounded down."""
        return ratio_down((self.params["sigma"],), (self.params["sensitivity"],))

    @property
    def is_gaussian(self) -> bool:
        return self.mechanism.name == "gaussian"

    @property
    def is_replaced(self) -> bool:
        """Whether a record is replaced by another one, so that a sum may change by what two records add."""
        return RELATIONS[self.relation].sensitivity > 1

    def amplified(self) -> float:
        """The pure ε of a mechanism on a sample of records with the rate, rounded up."""
        assert self.mechanism.pure is not None
        return float(amplification.value(self.mechanism.pure(self.params), 0.0, self.sampling["rate"])["epsilon"])


class Scheme(NamedTuple):
    """A way to form the batches of a run."""

    name: str  # on the command line and in JSON
    words: str  # in a statement
    # Relation between neighbouring data sets that it has a theorem for → what that needs between two batches. The first
    # one is meant where none is given.
    bases: Mapping[str, Base]
    options: tuple[str, ...]  # of the run, besides --scheme, --adjacency and those of the mechanism
    checks: tuple[Test, ...]  # of the options of the run
    params: Callable[[Values], dict[str, Any]]  # of its bounds, besides those of the mechanism; with `steps`
    routes: Callable[[Values, str], tuple[Route, ...]]  # from the options and the relation of neighbours
    sentence: Callable[[Mapping[str, str]], str]  # for a statement: how batches are drawn, from the options as text
    refusal: str = ""  # why it has no theorem for some relation, in words after "is not supported with --scheme NAME, "
    fields: Mapping[str, str] = {}  # in JSON, by name: RATE or COUNT
    own_guarantee: Callable[[Values, Params], dict[str, Any]] | None = None  # of the run, where it has several parts
    rdp_bound: Bound | None = None  # of a mechanism that is known by its RDP curve alone
    pair: Callable[[Use], Pair] | None = None  # the dominating pair of one use
    curve: Callable[[Use], Curve] | None = None  # the RDP of one use
    pure: Callable[[Use], float] | None = None  # the pure ε of one use of a mechanism that has one
    of_mechanism: Callable[[Use], dict[str, Any]] = lambda use: {}  # further parameters of its bounds
    group_routes: Mapping[str, tuple[Route, ...]] = {}  # relation → the bounds of a run for groups of records
    only: tuple[str, ...] = ()  # the mechanisms that it covers; none means all
    ways_out: Mapping[str, str] = {}  # options of other schemes that are none of its: what to write instead
    note: str = ""  # beside every answer: what a reader may misread
    promise: str = ""  # what must hold of the loader: beside every answer, and handed on with its guarantee
    unit: str = "step"  # what a run without a number of steps or epochs consists of
    # The numbers beside an answer, by name, and the parameters that they are.
    companions: Mapping[str, str] = {"sampling_rate": "sampling_rate", "steps": "steps"}
    notes: Callable[[Values], tuple[str, ...]] = lambda values: ()  # what a reader must know of its numbers

    @property
    def neighbours(self) -> tuple[str, ...]:
        """The relations that it has theorems for, the default first."""
        return tuple(self.bases)

    def relation(self, values: Values) -> str:
        """The relation between neighbouring data sets: as --adjacency sets it, else the usual one. Raises DpcalcError
        where the scheme has no theorem for it."""
        wanted = str(values.get("adjacency") or self.neighbours[0])
        if wanted not in self.bases:
            raise DpcalcError("refused", f"{wanted} is not supported with --scheme {values['scheme']}, {self.refusal}; "
                              f"use --adjacency {' or '.join(self.neighbours)}", "--adjacency")
        return wanted

    def base(self, values: Values) -> Base:
        """What the theorem needs between two batches."""
        return self.bases[self.relation(values)]

    def is_replaced(self, values: Values) -> bool:
        """Whether neighbouring data sets differ in a record that is replaced by another one."""
        return RELATIONS[self.relation(values)].sensitivity > 1

    def guarantee(self, values: Values, params: Params) -> dict[str, Any]:
        """The guarantee of a run, for the next command: that of a mechanism on a sample, as often as there are steps,
        where the scheme says no other one."""
        if self.own_guarantee is not None:
            return self.own_guarantee(values, params)
        if "curve" in values and self.rdp_bound is not None:
            return curve_guarantee(self.rdp_bound, params)
        rate = self.companions.get("sampling_rate", "")
        numbers = {name: params[rate if kind == RATE else name] for name, kind in self.fields.items()}
        return mechanisms_guarantee(self, values, (({"scheme": self.name, **numbers}, params["steps"]),))

    def with_sigma(self, values: Values) -> Values:
        """The options, with a noise multiplier as σ and the sensitivity of a sum between two batches."""
        return noise_multiplier.with_sigma(values, self.base(values).relation)


def mechanisms_guarantee(scheme: Scheme, values: Values, uses: tuple[tuple[dict[str, Any], int], ...],
                         says_sum: bool = False) -> dict[str, Any]:
    """The guarantee of a mechanism that is used on samples: for each part its `sampling` and the number of uses.

    Where the theorem needs another relation between batches than the one of the run, a part says both that and whether
    its noise multiplier is the one of a sum, in clipping norms; the latter also where `says_sum` asks for it. """
    mechanism, base, relation = MECHANISMS[values["mechanism"]], scheme.base(values), scheme.relation(values)
    more: dict[str, Any] = {}
    with_sigma = scheme.with_sigma(values)
    if base.relation != relation and not base.of_sum:
        more, says_sum = {"between": base.relation}, True
    if says_sum and values.get(noise_multiplier.NAME):
        more["sum"] = True
        with_sigma = {**with_sigma, "sensitivity": 1.0}
    return {"kind": "mechanisms", "adjacency": relation,
            "mechanisms": [mechanism.as_part(with_sigma, sampling, count, **more) for sampling, count in uses]}


# Orders at which an RDP curve is handed on. Any list is valid: the next command takes the best of them.
_CURVE_ORDERS = (*range(2, 33), 40, 48, 64, 96, 128, 256)


def curve_guarantee(bound: Bound, params: Params) -> dict[str, Any]:
    """The guarantee of a run whose mechanism is known by its RDP curve alone."""
    from dpcalc.accounting.orders import total_rdp

    curve = total_rdp(bound, params)
    points = [(a, r) for a in _CURVE_ORDERS if (r := curve(float(a))) < float("inf")]
    return {"kind": "rdp", "alpha": [a for a, _ in points], "rdp": [r for _, r in points]}
