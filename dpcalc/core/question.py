"""What is asked: ε at δ, δ at ε, RDP at α, TV or μ; and with --solve, which parameter just meets a budget."""

from __future__ import annotations

from math import inf, log, nextafter
from typing import NamedTuple

from dpcalc.core.quantities import Quantity


class Question(NamedTuple):
    """asks: epsilon | delta | rdp | tv | tpr (at fpr) | mu | guarantee (nothing but the description, for a pipe). With
    `unknown`, the asked quantity is the budget `target`."""

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
        """log δ, rounded down."""
        return nextafter(log(self.delta), -inf) if self.delta else -inf


