"""The guarantee of correlated noise with a given sensitivity: exactly μ-GDP, where μ is the sensitivity over σ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up

PARAMS = ("design", "change", "sigma")
SETTING = ("noise C⁻¹z with z ~ N(0, σ²I) is added to the clipped sums of all steps; σ is in clipping norms",
           "a record is used in its own steps only, and changes the sum of each by at most one clipping norm (two "
           "where it is replaced)",
           "the steps of a record are fixed without looking at the data or at outputs; gradients may depend on "
           "earlier outputs")
DENISOV = "Denisov et al. 2022, arXiv:2202.08312"


class Correlated(NamedTuple):
    """Two computations of the sensitivity of a design, one that is fast and one that is exact, and the bound that they
    give."""

    sensitivity: Callable[[Design], float]  # in double precision, rounded up
    square: Callable[[Design, list[int]], int]  # its square from |c_0|, |c_1|, … as whole numbers

    def mu(self, design: Design, change: float, sigma: float) -> float:
        """μ, rounded up."""
        return ratio_up((self.sensitivity(design), change), (sigma,))

    def exact_sensitivity(self, mp: Any, design: Design) -> Any:
        """The sensitivity at the precision of mp, from whole numbers that are rounded up. Raises OutOfScope for too
        many steps."""
        if design.steps > 3_000_000:  # they would take more than 10 s and a gigabyte of memory
            raise OutOfScope("too-large", f"{design.steps} steps are too many for whole numbers; at most 3e+06 are "
                                          "evaluated in them", "--steps")
        # With 64 more bits, rounding up every coefficient costs less than one digit of the working precision.
        bits = int(mp.prec) + 64 + design.strategy.bits_of_first
        return mp.sqrt(mp.mpf(self.square(design, design.magnitudes(bits)))) / mp.mpf(2) ** bits

    def exact_mu(self, mp: Any, design: Design, change: float, sigma: float) -> Any:
        return self.exact_sensitivity(mp, design) * mp.mpf(change) / mp.mpf(sigma)

    def bound(self, theorem: Theorem) -> ProfileBound:
        return gaussian_bound(theorem, PARAMS, self.mu, self.exact_mu, rtol=1e-8)


def square_of_column_sums(c: list[int], n: int, separation: int, count: int) -> int:
    """The squared norm of the sum of `count` columns at 0, b, 2b, …; c_k is 0 beyond the list."""
    found: list[int] = []
    for i in range(n):
        new = c[i] if i < len(c) else 0
        old = c[left] if 0 <= (left := i - count * separation) < len(c) else 0
        found.append(new - old + (found[i - separation] if i >= separation else 0))
    return sum(x * x for x in found)
