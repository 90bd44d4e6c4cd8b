"""The record that ties one published inequality to its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

Params = Mapping[str, Any]  # the parameters of a question by name
LARGEST_WHOLE = 100_000  # of the orders of bounds that are stated for whole ones: sums of as many terms


class Bound(NamedTuple):
    """A theorem. It answers one kind of question, and its functions take the quantities named in `params`.

    kind        value(…)                                                   exact(mp, …), as printed
    rdp         (alpha, *params) → ε(α) of one use; uses add               the same
    profile     (epsilon, *params) → log δ; compositions are inside        δ
    conversion  (alpha, rdp, log_delta) → ε, and `log_delta` its inverse   ε
    point       (*params) → {quantity: value}                              the same
    composition (*params) → ((pair, count), …), whose composition is taken  δ by the definition

    A profile with a `pair` is of one use, and is composed numerically over more steps: that result is an upper bound
    too, with a lower one that says how tight it is.

    Every value lies in [exact, exact + rtol·|exact|]: never below the theorem, and as near to it as claimed. For a
    profile that is rtol·max(1, |log δ|) in log δ, at an ε that may be off by rtol itself;
    for a conversion it is relative to its largest term, ε(α) + log(1/δ)/(α−1).
    A theorem that does not cover its arguments raises OutOfScope.
    """

    name: str  # on the command line and in JSON
    kind: str
    statement: str  # the inequality, in words and symbols
    source: str  # paper, version, number
    assumptions: tuple[str, ...]  # what the ranges of the parameters cannot check
    params: tuple[str, ...]
    value: Callable[..., Any]
    exact: Callable[..., Any]
    rtol: float
    example: str = ""  # the arguments of a call of dpcalc that the bound answers; the tests run it
    status: str = "proven"  # proven | as-published | conjecture | limit | lower
    errata: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()  # point: the quantities of its value
    pure: Callable[..., float] | None = None  # profile: the least ε with δ = 0, where there is one
    inverse: Callable[..., float] | None = None  # profile: ε from log δ, where a closed form is better than a search
    pair: Callable[..., Any] | None = None  # profile: (*params) → the dominating pair of one use
    # profile: (epsilon, side, *params) → log δ of one direction, +1 of P against Q, −1 of Q against P, where these
    # differ; `exact` likewise
    sided: Callable[..., float] | None = None
    sided_exact: Callable[..., Any] | None = None
    rdp: Callable[..., float] | None = None  # profile: (alpha, *params) → ε(α) of one use, exact or by its integral
    log_delta: Callable[..., float] | None = None  # conversion: (alpha, rdp, epsilon) → log δ
    default: bool = False  # conversion: the one that ends a curve named alone
    rough: Bound | None = None  # conversion: a cheaper one with nearly the same best order
    exact_steps: float = inf  # up to this many steps the printed form can be evaluated
    # Beyond so many records (from the index on) the printed sum or chain over them is taken in blocks, from above, by
    # `exact` too.
    in_blocks_beyond: float = inf
    # profile: (array of ε, fine, *params) → log δ from above, in blocks of at most 1/fine; `ways`, a dict, takes in for
    # every ε a number or a list of numbers: the `way` that `exact` takes to go the same way
    blocks: Callable[..., Any] | None = None
    # profile: (*params, epsilon or log_delta) → the choices that its value made
    trace: Callable[..., dict[str, Any]] | None = None
    # profile: (epsilon, log δ, *params) → the choices that prove it, many: found where a record is printed only
    choices: Callable[..., dict[str, Any]] | None = None
    one: Bound | None = None  # profile over epochs, composed numerically: the bound of one epoch
    # rdp: (alpha, *params) → about ε(α), faster: where whole orders are searched for
    coarse: Callable[..., float] | None = None
    # If `exact` is a root: what is >= 0 where (ε, δ) follows (conversion), or where the claimed value, its first
    # argument, holds (point)
    condition: Callable[..., Any] | None = None
    integer_orders: bool = False  # rdp: stated for whole α >= 2 only
    released: str = "last iterate"  # what the theorem is about, in words
    in_words: str = ""  # what the theorem says to a practitioner, where its statement does not say it
    riskier: tuple[str, ...] = ()  # parameters whose smaller values are the safer ones here, other than usual
    # profile: (*params, and what `search` found) → μ, where it is that of Gaussian DP
    mu: Callable[..., float] | None = None
    mu_exact: Callable[..., Any] | None = None  # (mp, *params) → the same at high precision
    # The theorem's free choices (R, a split, …) at these arguments; `value`, `exact` and `inverse` take them too. It
    # may be rough.
    search: Callable[..., dict[str, Any]] | None = None

    @property
    def is_of_whole_run(self) -> bool:
        """Whether a value is about all iterations of a run, so that nothing is composed."""
        return "iterations" in self.params

    @property
    def is_closed_form(self) -> bool:
        """Whether a value is one evaluation of a formula, without a search or a sum over records."""
        return self.coarse is None and self.search is None and self.blocks is None and self.one is None
