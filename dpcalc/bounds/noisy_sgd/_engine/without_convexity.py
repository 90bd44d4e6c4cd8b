"""Bounds of noisy SGD without convexity: a step may take two runs apart by a factor c = 1 + ηβ.

Proof. The proofs of this family use convexity in one place only: it makes a step w ↦ w − ηg(w) contract. Where every
record's gradient, clipped or not, changes by at most β|w − w′|, so does the mean g of a batch of them, and |w − ηg(w) −
w′ + ηg(w′)| <= (1 + ηβ)|w − w′|. (Clipping to a fixed norm is a projection on a ball, which brings no two gradients
further apart.) What else the proofs use holds for every c: two records' gradients differ by 2L at most at one point, a
projection on a convex set brings no two points further apart, and a Gaussian that hides a shift of a has the ratio
a/(ησ), wherever it starts from. ηβ may be any number. ∎

In the formulas this is the curvature ρ = −β, which is the least that a β-smooth loss can have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from dpcalc.bounds.noisy_sgd.composition import PLAIN
from dpcalc.bounds.start import START
from dpcalc.core.bound import Bound, Choices, GaussianDp, ProfileBound

Kind = TypeVar("Kind", bound=Bound)

SETTING = (
    "each record's gradient, as it is used (clipped to a fixed norm, perhaps), is at most L and β-Lipschitz in w, as "
    "that of a β-smooth loss is, clipped or not; the loss need not be convex",
    "neighbours differ by replacing one record",
    START,
    PLAIN,
)


def without_convexity(bound: Kind, name: str, example: str, statement: str, assumptions: tuple[str, ...],
                      source: str) -> Kind:
    """The bound for smooth losses made from one for convex losses, where both formulas are the same function of c."""
    theorem = bound.theorem._replace(name=name, example=example, statement=statement, assumptions=assumptions,
                                     source=source, errata=())
    smooth = replace(bound, theorem=theorem, params=tuple(p for p in bound.params if p != "strong_convexity"),
                     value=_at_least_curvature(bound.value), exact=_at_least_curvature(bound.exact),
                     choices=Choices(*(function and _at_least_curvature(function) for function in bound.choices)))
    if not isinstance(smooth, ProfileBound):
        return smooth
    return replace(smooth, inverse=smooth.inverse and _at_least_curvature(smooth.inverse),
                   rdp=smooth.rdp and _at_least_curvature(smooth.rdp),
                   mu=smooth.mu and GaussianDp(_at_least_curvature(smooth.mu.mu)))


def _at_least_curvature(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the parameters without ρ that is `function` at ρ = −β."""
    def at_least_curvature(*args: Any, **params: Any) -> Any:
        return function(*args, **with_curvature(params))

    return at_least_curvature


def with_curvature(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a formula in ρ, with ρ = −β."""
    return {**params, "strong_convexity": -params["smoothness"]}
