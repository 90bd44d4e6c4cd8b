"""The question of a call: ε at δ, δ at ε, RDP at α, TV or μ; or the parameter that just meets a budget."""

from __future__ import annotations

from math import inf, log, nextafter
from typing import NamedTuple

from dpcalc.core.quantities import Quantity


class Question(NamedTuple):
    """`asks` is epsilon, delta, rdp, tv, tpr (at `fpr`), mu, rho, or guarantee: only the description, for a pipe.

    With an `unknown`, the parameter to solve for, `target` is the budget on the quantity that `asks` names.
    """

    asks: str
    epsilon: float | None = None
    delta: float | None = None
    alpha: float | None = None
    orders: tuple[float, ...] = ()
    unknown: Quantity | None = None
    target: float | None = None
    fpr: float | None = None

    @property
    def log_delta(self) -> float:
        """log δ, rounded down; −∞ where δ is 0 or not given."""
        return nextafter(log(self.delta), -inf) if self.delta else -inf
