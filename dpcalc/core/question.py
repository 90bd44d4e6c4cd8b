"""The question of a call: ε at δ, δ at ε, RDP at α, TV or μ; or the parameter that just meets a budget."""

from __future__ import annotations

from math import inf, log, nextafter
from typing import NamedTuple

from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import Quantity, symbol


class Question(NamedTuple):
    """`asks` is epsilon, delta, rdp, tv, tpr (at `fpr`), mu, rho, or guarantee: only the description, for a pipe.

    With an `unknown`, the parameter to solve for, `target` is the budget on the quantity that `asks` names. A search
    asks for the upper end of a numerical composition only.
    """

    asks: str
    epsilon: float | None = None
    delta: float | None = None
    alpha: float | None = None
    orders: tuple[float, ...] = ()
    unknown: Quantity | None = None
    target: float | None = None
    fpr: float | None = None
    upper_only: bool = False

    @property
    def log_delta(self) -> float:
        """log δ, rounded down; −∞ where δ is 0 or not given."""
        return nextafter(log(self.delta), -inf) if self.delta else -inf


def noun(unknown: Quantity) -> str:
    """A parameter to be solved for in a sentence, for example 'noise multiplier' or 'number of steps'."""
    counted = {"steps": "steps", "epochs": "epochs", "n": "records"}.get(unknown.name)
    return f"number of {counted}" if counted else unknown.name.replace("_", " ")


def budget(question: Question) -> str:
    """The budget of a question in a sentence, for example 'ε ≤ 1 at δ = 1e-05', or 'ε ≤ 1' for pure DP."""
    asks, at = question.asks, ""
    if asks == "epsilon" and question.delta:
        at = f" at δ = {human(question.delta)}"
    elif asks == "rdp":
        at = f" at α = {plain(question.alpha or 0.0)}"
    elif asks == "tpr":
        at = f" at FPR = {plain(question.fpr or 0.0)}"
    return f"{symbol(asks)} ≤ {plain(question.target or 0.0)}{at}"
