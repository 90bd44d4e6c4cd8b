"""The notes on an answer of burn-in: the number of steps that count, the constraint set or the distance in place of its
diameter, and the assumptions of each bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q

if TYPE_CHECKING:
    from dpcalc.core.results import Row

ANY, CONVEX = q.LOSS.choices
_NOISE = ("σ is the noise on the mean gradient of a batch: the iterate moves by −η(g + N(0, σ²I)), so its own noise is "
          "ησ")
_FRESH = "batches are drawn afresh at every step; batches cut from a shuffled epoch are not covered by these theorems"
_RELEASED = "w₀ and K do not depend on the data; only the last iterate is released"
_SMOOTH = f"gradients of at most L, β-Lipschitz (clipped or not); diameter D; {_RELEASED}"
_LAST = f"convex, β-smooth, L-Lipschitz losses, diameter D; {_RELEASED}"
_ALL = "gradients of at most L; all T iterates may be released"
_ORDER, _STEPS = "full batches or a fixed order", "the record's steps are those of the schedule"
_SHORT = {
    "composition": _ALL,
    "composition-profile": _ALL,
    "burn-in-rdp": _LAST,
    "burn-in-profile": _LAST,
    "iteration": f"{_LAST}; {_ORDER}",
    "iteration-schedule": f"{_LAST}; {_STEPS}",
    "burn-in-rdp-nonconvex": _SMOOTH,
    "burn-in-profile-nonconvex": _SMOOTH,
    "iteration-nonconvex": f"{_SMOOTH}; {_ORDER}",
    "iteration-schedule-nonconvex": f"{_SMOOTH}; {_STEPS}",
    "lower-bound": "one linear (or quadratic) instance in one dimension: no theorem can promise less",
}


def notes(values: Mapping[str, Any], found: tuple[Row, ...]) -> tuple[str, ...]:
    """All notes of an answer."""
    steps, r = int(values["steps"]), burn_in_steps(values, found[0])
    counted = (f"the last R = {r} of T = {steps} steps prove the bound; the earlier ones only set the distance they "
               "start from")
    if r == steps:
        counted = f"all T = {steps} steps count"
    assumed = _assumptions(found)
    return (*assumed[:1], *_batches_note(values), counted, *_set_note(values), *assumed[1:], _NOISE)


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


def _set_note(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The horizon that a constraint set gives convex losses on random batches; or, without a set, the distance that
    takes the place of its diameter."""
    from dpcalc.core.numbers import human_claimed

    rho = least_curvature(values)
    if not values.get("diameter"):
        step = "by a factor 1 + ηβ, or by 2ηL, at most" if rho < 0 else "by a factor c < 1" if rho > 0 else "no further"
        return ("without --diameter: two runs that differ in one record, with the same batches and noise, stay within "
                f"{human_claimed(largest_distance(values), 1e-12)} of each other, as a step moves them apart {step}, "
                "and by 2ηL/b more where it uses the record; the theorems need no more of D (Altschuler & Talwar 2022, "
                "Remark 5.2)",)
    convex = values["order"] == "random" and values["n"] != values["batch_size"] and rho == 0
    return (f"horizon of Altschuler & Talwar 2022: T̄ = ⌈Dn/(Lη)⌉ = {horizon(values)}",) if convex else ()


def _assumptions(found: tuple[Row, ...]) -> tuple[str, ...]:
    """The assumptions of the bound of each row, in short."""
    names = dict.fromkeys(row.route.bound.name for row in found)
    return tuple(f"{name} assumes: {_SHORT[name]}" for name in names if name in _SHORT)


def _batches_note(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The assumption of the rows on the order of the batches."""
    if values.get("schedule") is not None or values["n"] == values["batch_size"]:
        return ()
    if values["order"] == "random":
        return (_FRESH,)
    which = "the last batch used" if values.get("index") is None else f"batch {values['index']} of each pass"
    return (f"the batches come in the same order in every pass; the record is in {which}",)
