"""The records that tie a published inequality to its code: a theorem, and one kind of bound for what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple

Params = Mapping[str, Any]  # the parameters of a question by name
LARGEST_WHOLE = 100_000  # largest order tried of bounds that are stated for whole orders: their sums have as many terms
Kind = Literal["rdp", "profile", "conversion", "point", "composition"]


class Theorem(NamedTuple):
    """What a person reads about a bound."""

    name: str  # on the command line and in JSON
    statement: str  # the inequality, in words and symbols
    in_words: str  # what it says, when it applies, and where it is false or loose: at most 75 words
    source: str  # paper, version, number
    assumptions: tuple[str, ...]  # what the ranges of the parameters cannot check
    example: str = ""  # the arguments of a call of dpcalc that the bound answers; the tests run it
    status: str = "proven"  # proven | as-published | conjecture | limit | lower | model
    errata: tuple[str, ...] = ()
    released: str = "last iterate"  # which outputs the theorem covers, in words
    scheme: str = ""  # the sampling scheme that it is about, where it answers for runs that are described otherwise too
    noise_on: str = "every gradient"  # of SGD in passes: what the noise is added to, in words
    riskier: tuple[str, ...] = ()  # parameters of which smaller values are safer here, contrary to the usual


class GaussianDp(NamedTuple):
    """The parameter of Gaussian differential privacy, where a profile is that of μ-GDP."""

    mu: Callable[..., float]  # (*params, and what a search found) → μ
    exact: Callable[..., Any] | None = None  # (mp, *params) → the same at high precision


class Directions(NamedTuple):
    """A profile for each direction of a pair (P, Q): side +1 is P against Q, −1 is Q against P."""

    value: Callable[..., float]  # (epsilon, side, *params) → log δ
    exact: Callable[..., Any]  # (mp, epsilon, side, *params) → δ


class Blocks(NamedTuple):
    """How a sum or chain over records is taken in blocks, from above, so that it stays short."""

    beyond: float  # more records than that (from the index on) are taken in blocks, by `exact` too
    # (array of ε, fine, *params) → log δ in blocks of at most 1/fine. It fills the dict `ways` with the `way` for every
    # ε: the number, or list of numbers, that makes `exact` use the same blocks.
    profile: Callable[..., Any] | None = None


class Choices(NamedTuple):
    """The functions that find what a theorem leaves free (a split, R, an order). Any choice is valid, and is
    recorded."""

    # (arguments of value) → choices that value, exact and inverse take; may be rough
    search: Callable[..., dict[str, Any]] | None = None
    # (*params, epsilon or log_delta) → the choices that the value made itself
    trace: Callable[..., dict[str, Any]] | None = None
    # (epsilon, log δ, *params) → the choices that prove a value; many, so they are found where a record is printed only
    witness: Callable[..., dict[str, Any]] | None = None


NO_CHOICES = Choices()


@dataclass(frozen=True, eq=False)
class Bound:
    """What every kind of bound has: a theorem and its functions, which take the quantities named in `params`.

    Every value lies in [exact, exact + rtol·|exact|]: never below the theorem, and as near to it as claimed.
    A theorem that does not cover its arguments raises OutOfScope.
    """

    kind: ClassVar[Kind]
    method: ClassVar[str]  # how a number follows from the theorem, for a statement
    theorem: Theorem
    params: tuple[str, ...]
    value: Callable[..., Any]  # fast and safe, in double precision
    exact: Callable[..., Any]  # (mp, …): the formula as printed, at any precision
    rtol: float  # relative: the error of a value that is claimed and tested
    choices: Choices = NO_CHOICES

    @property
    def name(self) -> str:
        return self.theorem.name

    @property
    def status(self) -> str:
        return self.theorem.status

    @property
    def is_from_below(self) -> bool:
        """Whether its numbers are bounds from below, which are rounded down; a model is one under an assumption."""
        return self.status in ("lower", "model")

    @property
    def source(self) -> str:
        return self.theorem.source

    @property
    def is_of_whole_run(self) -> bool:
        """Whether a value is about all iterations of a run, so that nothing is composed."""
        return "iterations" in self.params

    def is_composed(self, params: Params) -> bool:
        """Whether the privacy loss distributions of several steps are composed to answer."""
        return False

    def is_numerical(self, params: Params) -> bool:
        """Whether an answer is composed numerically, here or within the value, so that it is known to a precision
        only."""
        return self.is_composed(params)

    @property
    def is_closed_form(self) -> bool:
        """Whether a value is one evaluation of a formula, without a search or a sum over records."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class RdpBound(Bound):
    """A Rényi curve. value(alpha, *params) is ε(α) of one use, as is `exact`; the curves of several uses add."""

    kind = "rdp"
    method = "it bounds the Rényi divergence between the outputs on neighbouring data sets"
    coarse: Callable[..., float] | None = None  # (alpha, *params) → about ε(α), faster: for a search over whole orders
    integer_orders: bool = False  # stated for whole α >= 2 only

    @property
    def is_closed_form(self) -> bool:
        return self.coarse is None and self.choices.search is None


@dataclass(frozen=True, eq=False, kw_only=True)
class ProfileBound(Bound):
    """A privacy profile. value(epsilon, *params) is log δ, and `exact` is δ; where steps are among the
    parameters, both are of the whole composition.

    rtol is relative to max(1, |log δ|), at an ε that may be off by rtol itself. A profile with a `pair` is of one use
    and is composed numerically over more steps: that result is an upper bound too, with a lower one that shows how
    tight it is.
    """

    kind = "profile"
    method = "it gives δ as a function of ε"
    exact_steps: float = inf  # up to this many steps the printed form can be evaluated
    pure: Callable[..., float] | None = None  # the least ε with δ = 0, where there is one
    inverse: Callable[..., float] | None = None  # (log_delta, *params) → ε, where it is better than a search
    rdp: Callable[..., float] | None = None  # (alpha, *params) → ε(α) of one use, exact or by its integral
    pair: Callable[..., Any] | None = None  # (*params) → the dominating pair of one use
    # (mp, *params) → the (P-mass, Q-mass) of all outcomes of one use that differ in their loss, and an upper bound of
    # the mass of those that are left out, at high precision; of pairs with so few outcomes
    outcomes: Callable[..., tuple[list[tuple[Any, Any]], Any]] | None = None
    one: ProfileBound | None = None  # of a profile over epochs that is composed numerically: the bound of one epoch
    mu: GaussianDp | None = None
    directions: Directions | None = None  # where they differ
    blocks: Blocks | None = None
    estimate: ProfileBound | None = None  # about the same numbers, faster and without proof: where a search starts

    def is_composed(self, params: Params) -> bool:
        return self.pair is not None and params.get("steps", 1) > 1

    def is_numerical(self, params: Params) -> bool:
        return self.is_composed(params) or (self.one is not None and params.get("steps", 1) > 1)

    @property
    def is_closed_form(self) -> bool:
        return self.choices.search is None and self.one is None and (self.blocks is None or self.blocks.profile is None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Conversion(Bound):
    """From a Rényi curve to (ε, δ). value(alpha, rdp, log_delta) is ε, as is `exact`; rtol is relative to its largest
    term, ε(α) + log(1/δ)/(α−1)."""

    kind = "conversion"
    method = "it converts a bound on the Rényi divergence to (ε, δ)"
    log_delta: Callable[..., float]  # (alpha, rdp, epsilon) → log δ, its inverse
    default: bool = False  # the one that is used where --bound names a curve alone
    estimate: Conversion | None = None  # about the same numbers, faster and without proof: for searches
    condition: Callable[..., Any] | None = None  # where `exact` is a root: what is >= 0 where (ε, δ) follows


@dataclass(frozen=True, eq=False, kw_only=True)
class PointBound(Bound):
    """Numbers that hold at once. value(*params) is {quantity: value}, as is `exact`."""

    kind = "point"
    method = "it gives the number as one formula"
    gives: tuple[str, ...]  # the quantities of the value
    condition: Callable[..., Any] | None = None  # where `exact` is a root: what is >= 0 where its first argument holds


@dataclass(frozen=True, eq=False, kw_only=True)
class CompositionBound(Bound):
    """A numerical composition. value(*params) is ((pair, count), …), and `exact` is δ by the definition."""

    kind = "composition"
    method = "the privacy loss distributions of all steps are composed numerically, with every error on the safe side"
    estimate: CompositionBound | None = None  # about the same numbers, faster and without proof: where a search starts

    def is_composed(self, params: Params) -> bool:
        return True
