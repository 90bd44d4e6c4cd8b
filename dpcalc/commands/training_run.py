"""A training run in one convention, as the options of dpcalc compare describe it together.

Convention. The iterate moves by w ← w − η(g + Z), g the sum of the gradients of a batch divided by b (a fixed number:
the batch size, or its expectation), Z ~ N(0, σ²I). A record's gradient has norm at most L, so that replacing it moves g
by at most 2L/b, adding or removing it by at most L/b. """

from collections.abc import Mapping
from fractions import Fraction
from math import nextafter
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT
from dpcalc.numerics.rounding import quotient_down, ratio_up

BATCHES = ("poisson", "without-replacement", "shuffled", "fixed-order", "full", "stream", "random-allocation")
POISSON, WITHOUT, SHUFFLED, FIXED, FULL, STREAM, ALLOCATION = BATCHES
ORDERED = (SHUFFLED, FIXED, STREAM)  # a pass uses every record once
EVERY, EPOCHS, LAST = "every-iterate", "every-epoch", "last-iterate"
ANY, CONVEX = "any", "convex"


class TrainingRun(NamedTuple):
    """A training run."""

    batches: str
    release: str
    adjacency: str
    n: int
    batch_size: int
    steps: int
    lipschitz: float  # the largest norm of a record's gradient as it is used, after clipping
    clipped: bool  # whether clipping may change a gradient
    norm: float  # a noise multiplier is relative to it: the clipping norm, or L where nothing is clipped
    sigma: float | None  # None where it is solved for
    learning_rate: float | None
    smoothness: float | None
    strong_convexity: float | None  # None where the losses may not be convex
    diameter: float | None
    record: int | None  # its place in a pass, where it is known
    group_size: int = 1  # the number of records that neighbouring data sets differ in
    given_multiplier: float | None = None  # where the noise is given by it
    drop_last: bool = False  # whether shuffled batches leave out the records that do not fill a batch
    scale_free: bool = False  # whether no norm of a gradient is given: the unit of lengths is then the clipping norm
    one_order: bool = False  # whether shuffled batches are cut from one order in all passes

    @property
    def in_pass(self) -> int:
        """The batches of one pass over the records; where b does not divide n, the last records are not used in it."""
        return self.n // self.batch_size

    @property
    def uses(self) -> int:
        """The largest number of times that a record is used, in ordered batches."""
        return -(-self.steps // self.in_pass)

    @property
    def position(self) -> int | None:
        """The batch of a pass that holds the record of --index."""
        return None if self.record is None else -(-self.record // self.batch_size)

    @property
    def removal(self) -> float:
        """L/b, rounded up: the most that adding or removing one record moves the gradient of a batch."""
        return ratio_up((self.lipschitz,), (float(self.batch_size),))

    @property
    def own_multiplier(self) -> float:
        """The standard deviation bσ of the noise on the sum over the largest norm L that a record adds to it, rounded
        down."""
        if self.given_multiplier is not None and self.norm == self.lipschitz:
            return self.given_multiplier
        exact = Fraction(self.sigma or 0.0) * self.batch_size / Fraction(self.lipschitz)
        return quotient_down(exact.numerator, exact.denominator)

    def sigma_of(self, own_multiplier: float) -> float:
        """The σ of such a noise multiplier, rounded up."""
        return ratio_up((own_multiplier, self.lipschitz), (float(self.batch_size),))

    def multiplier(self, sigma: float) -> float:
        """The noise multiplier Z = bσ/C, rounded up, so that it means no less noise than σ."""
        return ratio_up((sigma, float(self.batch_size)), (self.norm,))


def describe(values: Mapping[str, Any]) -> TrainingRun:
    """The run that the options describe. Raises DpcalcError for what is missing or cannot be."""
    if values.get("n") is None:
        raise _missing("the number of records is needed", "--n")
    if values.get("batches") is None:
        raise _missing("which theorem holds depends on how batches are formed: poisson (as Opacus samples), shuffled "
                       "(most data loaders), without-replacement, fixed-order, full, or stream", "--batches")
    batches, n = values["batches"], values["n"]
    for name in {"drop_last", "reshuffle"} & values.keys() if batches != SHUFFLED else ():
        raise DpcalcError("unneeded", f"not used with --batches {batches}; it is about --batches {SHUFFLED}",
                          flag(name))
    b = _batch_size(values)
    steps = _steps(values, b)
    if not values.keys() & {"sigma", "noise_multiplier", "solve"}:
        raise _missing("no noise given: add --noise-multiplier (or --sigma), or --solve noise-multiplier with a budget",
                       "--noise-multiplier")
    rho, loss = values.get("strong_convexity"), values.get("loss")
    if rho is not None and loss == ANY:
        raise DpcalcError("contradictory", f"{rho:g} means convex losses, but --loss any means that they need not be "
                                           "convex; use --loss convex", "--strong-convexity")
    lipschitz, clipped = _gradients(values)
    norm = float(values.get("clipping_norm") or lipschitz)
    # A batch of n records is the whole data set by every scheme except Poisson sampling.
    batches = FULL if b == n and batches != POISSON else batches
    run = TrainingRun(batches, values.get("release") or EVERY, values.get("adjacency") or usual_adjacency(values),
              n, b, steps, lipschitz, clipped, norm, _noise(values, norm, b), values.get("learning_rate"),
              values.get("smoothness"), 0.0 if rho is None and loss == CONVEX else rho, values.get("diameter"),
              values.get("index"), int(values.get("group_size") or 1), values.get("noise_multiplier"),
              bool(values.get("drop_last")), values.get("lipschitz") is None and values.get("clipping_norm") is None,
              values.get("reshuffle") == "once" and steps > n // b)
    _check(run)
    return run


def usual_adjacency(values: Mapping[str, Any]) -> str:
    """The neighbours that are meant where --adjacency is not given: for shuffled batches those of dpcalc subsample,
    except where the release, the smoothness and the learning rate ask for the theorems about the last iterate, which
    are all about replaced records."""
    if values["batches"] in (POISSON, ALLOCATION):
        return ADD_REMOVE
    of_last = (values.get("release") or EVERY) != EVERY and not {"smoothness", "learning_rate"} - values.keys()
    return ZERO_OUT if values["batches"] == SHUFFLED and not of_last else REPLACE_ONE


def _missing(reason: str, option: str) -> DpcalcError:
    """The error for a run that lacks an option, with an example of a whole run."""
    return DpcalcError("missing", f"{reason}; a whole run is, for example, --n 60000 --batches shuffled "
                                  "--batch-size 128 --epochs 10 --noise-multiplier 1 --delta 1e-5", option)


def _noise(values: Mapping[str, Any], norm: float, b: int) -> float | None:
    """σ as given, or from a noise multiplier Z on the sum of the batch: σ = ZC/b, rounded down."""
    multiplier, sigma = values.get("noise_multiplier"), values.get("sigma")
    if multiplier is None:
        return None if sigma is None else float(sigma)
    exact = Fraction(multiplier) * Fraction(norm) / b
    rounded = float(exact)
    if Fraction(rounded) > exact:
        rounded = nextafter(rounded, 0.0)
    if rounded == 0:
        raise DpcalcError("out-of-range", f"{multiplier:g}·C/b is below the smallest positive double",
                          "--noise-multiplier")
    return rounded


def _batch_size(values: Mapping[str, Any]) -> int:
    n, b = values["n"], values.get("batch_size")
    if values["batches"] == FULL:
        if b not in (None, n):
            raise DpcalcError("contradictory", f"{b} is not n = {n}, and --batches full uses all records at every step",
                              "--batch-size")
        return int(n)
    if b is None:
        raise _missing("the number of records in a batch is needed", "--batch-size")
    if b > n:
        raise DpcalcError("out-of-range", f"{b} > n = {n}: a batch cannot have more records than the data set",
                          "--batch-size")
    return int(b)


def _steps(values: Mapping[str, Any], b: int) -> int:
    """The number of steps T: as given, or of E passes ⌈En/b⌉ for batches that are drawn afresh, else ⌈E⌊n/b⌋⌉."""
    n, steps, epochs, batches = values["n"], values.get("steps"), values.get("epochs"), values["batches"]
    if steps is not None and epochs is not None:
        raise DpcalcError("contradictory", "give --epochs or --steps, not both", "--steps")
    in_pass = n // b
    if batches == STREAM:
        if (steps or in_pass) > in_pass or (epochs or 1) > 1:
            raise DpcalcError("contradictory", f"a stream is one pass of {in_pass} batches; for several passes use "
                              "--batches fixed-order", "--steps" if steps is not None else "--epochs")
        epochs = epochs or 1
    if steps is not None:
        return int(steps)
    if epochs is None:
        raise _missing("the number of steps is needed, by --steps or --epochs", "--steps")
    one_pass = Fraction(in_pass) if batches in (*ORDERED, ALLOCATION) else Fraction(n, b)
    total = Fraction(epochs) * one_pass
    return max(1, -(-total.numerator // total.denominator))


def _gradients(values: Mapping[str, Any]) -> tuple[float, bool]:
    """(The largest norm of a gradient as it is used, whether clipping may change a gradient)."""
    lipschitz, clip = values.get("lipschitz"), values.get("clipping_norm")
    if lipschitz is None and clip is None:
        if "noise-multiplier" in (values.get("solve"), *(k.replace("_", "-") for k in values)):
            return 1.0, True
        way_out = "--noise-multiplier in place of --sigma" if values.get("sigma") else "--solve noise-multiplier"
        raise DpcalcError("missing", "σ has the units of a gradient, so that --lipschitz or --clipping-norm is needed; "
                                     f"or use {way_out}", "--lipschitz")
    if clip is not None and (lipschitz is None or lipschitz > clip):
        return float(clip), True
    assert lipschitz is not None
    return float(lipschitz), False


def _check(run: TrainingRun) -> None:
    """Raises DpcalcError for a run that cannot be."""
    rho, beta = run.strong_convexity, run.smoothness
    if rho and beta is not None and rho > beta:
        raise DpcalcError("out-of-range", f"{rho:g} > β = {beta:g}; the strong convexity of a loss is at most its "
                                          "smoothness", "--strong-convexity")
    if run.record is not None and run.batches not in (FIXED, STREAM):
        raise DpcalcError("unneeded", f"a record has a fixed place only with --batches {FIXED} or {STREAM}", "--index")
    if run.record is not None and run.group_size > 1:
        raise DpcalcError("contradictory", "the place of one record says nothing about a group; drop it, or "
                          "--group-size", "--index")
    if run.record is not None and run.record > run.n:
        raise DpcalcError("out-of-range", f"{run.record} > n = {run.n}: there is no such record", "--index")
    if run.position is not None and run.position > run.in_pass:
        raise DpcalcError("out-of-range",
                          f"record {run.record} is never used: a pass is {run.in_pass} batches of {run.batch_size}",
                          "--index")
