"""The notes on an answer of burn-in: the number of steps that count, the noise, the assumptions of the headline, and
the distance in place of a missing diameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q

if TYPE_CHECKING:
    from dpcalc.core.results import Row

ANY, CONVEX = q.LOSS.choices
_NOISE = "σ is the noise on the mean gradient of a batch; the noise on the iterate is ησ"
_START = "w₀ and K do not depend on the data"
_SMOOTH = f"β-Lipschitz gradients of norm at most L; {_START}"
_CONVEX = f"convex, β-smooth, L-Lipschitz losses; {_START}"
_ALL = "gradients of norm at most L; all iterates may be released"
_ASSUMES = {
    "composition": _ALL,
    "composition-profile": _ALL,
    **dict.fromkeys(("burn-in-rdp", "burn-in-profile", "burn-in-contraction", "iteration", "iteration-schedule"),
                    _CONVEX),
    **dict.fromkeys(("burn-in-rdp-nonconvex", "burn-in-profile-nonconvex", "iteration-nonconvex",
                     "iteration-schedule-nonconvex"), _SMOOTH),
}


def notes(values: Mapping[str, Any], found: tuple[Row, ...]) -> tuple[str, ...]:
    """All notes of an answer: the steps that count, the noise, the assumptions of the headline, and a missing set."""
    steps, r = int(values["steps"]), burn_in_steps(values, found[0])
    counted = f"the bound depends on all T = {steps} steps"
    if r < steps:
        counted = f"the bound depends on the last R = {r} of T = {steps} steps{_horizon_in_words(values)}"
    name = found[0].route.bound.name
    assumed = (f"the bound assumes {_ASSUMES[name]}{_batches(values)}",) if name in _ASSUMES else ()
    return (*assumed, *_distance_note(values), _NOISE, counted)


def burn_in_steps(values: Mapping[str, Any], row: Row) -> int:
    """The number R of last steps that prove a row: that of its witness, or T where every step counts."""
    return int(row.witness.get("r", values["steps"]))


def horizon(values: Mapping[str, Any]) -> int:
    """The horizon T̄ = ⌈Dn/(Lη)⌉ of Altschuler & Talwar 2022, computed exactly."""
    from fractions import Fraction
    from math import ceil

    d, lipschitz, eta = (Fraction(values[k]) for k in ("diameter", "lipschitz", "learning_rate"))
    return ceil(d * int(values["n"]) / (lipschitz * eta))


def largest_distance(values: Mapping[str, Any]) -> float:
    """A bound on the distance between the iterates of two runs on neighbouring data sets with equal noise, for runs
    without a constraint set."""
    from dpcalc.bounds.noisy_sgd._engine import apart

    own = (int(values["batch_size"]), values["lipschitz"], values["smoothness"], least_curvature(values))
    if values.get("step_by_step"):
        return apart.reached_along(values["step_by_step"], *own)
    steps = int(values["steps"])
    uses = -(-steps // -(-int(values["n"]) // own[0])) if values["order"] == "fixed" else steps
    return apart.reached(*own, values["learning_rate"], steps, uses)


def least_curvature(values: Mapping[str, Any]) -> float:
    """The least curvature that a loss can have: ρ, or −β where it is only known to be smooth."""
    return float(-values["smoothness"] if values["loss"] == ANY else values["strong_convexity"])


def _horizon_in_words(values: Mapping[str, Any]) -> str:
    """The horizon that a constraint set gives convex losses on random batches, or nothing."""
    is_convex = values["order"] == "random" and values["n"] != values["batch_size"] and least_curvature(values) == 0
    if not is_convex or not values.get("diameter"):
        return ""
    return f"; the horizon of Altschuler & Talwar 2022 is T̄ = {horizon(values)}"


def _distance_note(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The distance that takes the place of the diameter of a constraint set, where none is given."""
    from dpcalc.core.numbers import human_claimed

    if values.get("diameter"):
        return ()
    return ("without --diameter, D is the largest distance between two runs, "
            f"{human_claimed(largest_distance(values), 1e-12)} "
            "(Altschuler & Talwar 2022, Remark 5.2)",)


def _batches(values: Mapping[str, Any]) -> str:
    """The assumption on the order of the batches."""
    if values.get("schedule") is not None or values["n"] == values["batch_size"]:
        return ""
    if values["order"] == "random":
        return "; batches are drawn afresh at every step"
    which = "the last batch used" if values.get("index") is None else f"batch {values['index']} of each pass"
    return f"; every pass has the same order, and the record is in {which}"
