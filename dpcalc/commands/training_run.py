"""A training run in one convention, as the options of dpcalc compare describe it together.

Convention. The iterate moves by w ← w − η(g + Z), g the sum of the gradients of a batch divided by b (a fixed number:
the batch size, or its expectation), Z ~ N(0, σ²I). A record's gradient has norm at most L, so that replacing it moves g
by at most 2L/b, adding or removing it by at most L/b. """

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import nextafter
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.numerics.rounding import ratio_up

BATCHES = ("poisson", "without-replacement", "shuffled", "fixed-order", "full", "stream")
POISSON, WITHOUT, SHUFFLED, FIXED, FULL, STREAM = BATCHES
ORDERED = (SHUFFLED, FIXED, STREAM)  # a pass uses every record once
EVERY, EPOCHS, LAST = "every-iterate", "every-epoch", "last-iterate"
ADD_REMOVE, REPLACE_ONE = "add-remove", "replace-one"
ANY, CONVEX = "any", "convex"


class Run(NamedTuple):
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
    def push(self) -> float:
        """2L/b, rounded up: the most that replacing one record moves the gradient of a batch."""
        return ratio_up((2.0, self.lipschitz), (float(self.batch_size),))

    @property
    def removal(self) -> float:
        """L/b, rounded up: the most that adding or removing one record moves the gradient of a batch."""
        return ratio_up((self.lipschitz,), (float(self.batch_size),))

    def multiplier(self, sigma: float) -> float:
        """The noise multiplier Z = bσ/C, rounded up, so that it means no less noise than σ."""
        return ratio_up((sigma, float(self.batch_size)), (self.norm,))


def describe(values: Mapping[str, Any]) -> Run:
    """The run that the options describe. Raises DpcalcError for what is missing or cannot be."""
    for name in ("n", "batches"):
        if values.get(name) is None:
            hint = f": one of {', '.join(BATCHES)}" if name == "batches" else ""
            raise DpcalcError("missing", f"needed to describe a run{hint}", f"--{name}")
    batches, n = values["batches"], values["n"]
    b = _batch_size(values)
    convexity = _convexity(values)
    lipschitz, clipped = _gradients(values)
    norm = float(values.get("clipping_norm") or lipschitz)
    # A batch of n records is the whole data set by every scheme except Poisson sampling.
    batches = FULL if b == n and batches != POISSON else batches
    run = Run(batches, values.get("release") or EVERY, values.get("adjacency")
              or (ADD_REMOVE if batches == POISSON else REPLACE_ONE),
              n, b, _steps(values, b), lipschitz, clipped, norm, _noise(values, norm, b), values.get("learning_rate"),
              values.get("smoothness"), convexity, values.get("diameter"), values.get("index"))
    _check(run)
    return run


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
        raise DpcalcError("out-of-range", f"{multiplier:g}·C/b is below the least positive double",
                          "--noise-multiplier")
    return rounded


def is_scale_free(values: Mapping[str, Any]) -> bool:
    """Whether no norm of a gradient is given: the noise is relative to a clipping norm, which is then the unit of all
    lengths."""
    return values.get("lipschitz") is None and values.get("clipping_norm") is None


def _batch_size(values: Mapping[str, Any]) -> int:
    n, b = values["n"], values.get("batch_size")
    if values["batches"] == FULL:
        if b not in (None, n):
            raise DpcalcError("contradictory", f"{b} < n = {n}, but --batches full uses every record at every step",
                              "--batch-size")
        return int(n)
    if b is None:
        raise DpcalcError("missing", f"needed with --batches {values['batches']}", "--batch-size")
    if b > n:
        raise DpcalcError("out-of-range", f"{b} > n = {n}: a batch cannot exceed the data", "--batch-size")
    return int(b)


def _steps(values: Mapping[str, Any], b: int) -> int:
    """The number of steps T: as given, or of E passes ⌈En/b⌉ for random batches, ⌈E⌊n/b⌋⌉ for ordered ones."""
    n, steps, epochs, batches = values["n"], values.get("steps"), values.get("epochs"), values["batches"]
    if steps is not None and epochs is not None:
        raise DpcalcError("contradictory", "--epochs already says the number of steps", "--steps")
    in_pass = n // b
    if batches == STREAM:
        if (steps or in_pass) > in_pass or (epochs or 1) > 1:
            raise DpcalcError("contradictory",
                              f"a stream is one pass, {in_pass} batches; --batches fixed-order has several",
                              "--steps" if steps is not None else "--epochs")
        epochs = epochs or 1
    if steps is not None:
        return int(steps)
    if epochs is None:
        raise DpcalcError("missing", "needed: the number of iterations, or --epochs", "--steps")
    one_pass = Fraction(in_pass) if batches in ORDERED else Fraction(n, b)
    total = Fraction(epochs) * one_pass
    return max(1, -(-total.numerator // total.denominator))


def _gradients(values: Mapping[str, Any]) -> tuple[float, bool]:
    """(The largest norm of a gradient as it is used, whether clipping may change a gradient)."""
    lipschitz, clip = values.get("lipschitz"), values.get("clipping_norm")
    if is_scale_free(values) and "noise-multiplier" in (values.get("solve"), *(k.replace("_", "-") for k in values)):
        return 1.0, True
    if is_scale_free(values):
        raise DpcalcError("missing", "needed: a bound on every record's gradient, by --lipschitz or --clipping-norm",
                          "--lipschitz")
    if clip is not None and (lipschitz is None or lipschitz > clip):
        return float(clip), True
    assert lipschitz is not None
    return float(lipschitz), False


def _convexity(values: Mapping[str, Any]) -> float | None:
    """The strong convexity ρ: as given, 0 for convex losses, None where the losses may not be convex."""
    rho, loss = values.get("strong_convexity"), values.get("loss")
    if rho is not None and loss == ANY:
        raise DpcalcError("contradictory", f"{rho:g} says that the losses are convex, --loss any that they need not be",
                          "--strong-convexity")
    return rho if rho is not None else 0.0 if loss == CONVEX else None


def _check(run: Run) -> None:
    """Raises DpcalcError for a run that cannot be."""
    rho, beta = run.strong_convexity, run.smoothness
    if rho and beta is not None and rho > beta:
        raise DpcalcError("out-of-range", f"{rho:g} > β = {beta:g}: a loss cannot be more convex than smooth",
                          "--strong-convexity")
    if run.record is not None and run.batches not in (FIXED, STREAM):
        raise DpcalcError("unneeded", f"a record has a place only with --batches {FIXED} or {STREAM}", "--index")
    if run.record is not None and run.record > run.n:
        raise DpcalcError("out-of-range", f"{run.record} > n = {run.n}: there is no such record", "--index")
    if run.position is not None and run.position > run.in_pass:
        raise DpcalcError("out-of-range",
                          f"record {run.record} is never used: a pass is {run.in_pass} batches of {run.batch_size}",
                          "--index")
