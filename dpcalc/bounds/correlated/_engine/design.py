"""What a guarantee of correlated noise depends on, but for the amount of noise: the strategy, and who takes part
when."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from dpcalc.bounds.correlated._engine.strategies import Strategy, magnitudes

if TYPE_CHECKING:
    from dpcalc.bounds.correlated._engine.coefficients_array import Coefficients, Errors


class Design:
    """A strategy over `steps` steps, and the steps in which one record may take part.

    `order` is once; separated (at most `participations` times, in steps i and j with |j − i| ≥ `separation`); or
    cyclic (at most so many times, in some of the steps i, i + b, i + 2b, …, where b is the separation).
    """

    def __init__(self, strategy: Strategy, steps: int, order: str = "once", separation: int = 1,
                 participations: int | None = None) -> None:
        self.strategy, self.steps, self.order = strategy, steps, order
        self.separation = steps if order == "once" else separation
        self.most = -(-steps // self.separation)  # participations that there is room for
        self.participations = min(participations or self.most, self.most)
        self._sensitivities: dict[Callable[[Design], float], float] = {}

    @property
    def is_banded(self) -> bool:
        """Whether columns of C at a distance of the separation have no row in common."""
        return self.strategy.bands(self.steps) <= self.separation

    @cached_property
    def columns(self) -> Coefficients:
        """The first column of C."""
        from dpcalc.bounds.correlated._engine.coefficients_array import strategy_coefficients

        return strategy_coefficients(self.strategy, self.steps)

    @cached_property
    def errors(self) -> Errors:
        """The errors of prefix sums at σ = 1."""
        from dpcalc.bounds.correlated._engine.coefficients_array import errors

        return errors(self.strategy, self.steps)

    def sensitivity(self, function: Callable[[Design], float]) -> float:
        """The sensitivity that this function gives, which is computed once."""
        if function not in self._sensitivities:
            self._sensitivities[function] = function(self)
        return self._sensitivities[function]

    def magnitudes(self, bits: int) -> list[int]:
        """|c_0|, |c_1|, … in units of 2^−bits, rounded up."""
        return magnitudes(self.strategy, self.steps, bits)
