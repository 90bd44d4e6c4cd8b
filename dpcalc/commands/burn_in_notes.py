"""What burn-in says beside its numbers: the steps that count, the set or what takes its place, and what each method
assumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import quantities as q
from dpcalc.core.command import Given

if TYPE_CHECKING:
    from dpcalc.core.results import Row

ANY, CONVEX = q.LOSS.choices
_NOISE = "σ is the noise on the mean gradient of a batch: the iterate moves by −η(g + N(0, σ²I)), so its own noise is ησ"
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


def notes(given: Given, values: Mapping[str, Any], found: tuple[Row, ...]) -> tuple[str, ...]:
    """All of it."""
    steps, r = int(values["steps"]), burn_in(values, found[0])
    flat = f"the last R = {r} of T = {steps} steps prove the bound; the earlier ones only set the distance they start from"
    if r == steps:
        flat = f"all T = {steps} steps count"
    return (flat, *_held(given, values), *_assumed(found), _NOISE, *_batches(given, values))


def burn_in(values: Mapping[str, Any], row: Row) -> int:
    """The R of a row's witness; T where every step counts."""
    return int(row.witness.get("r", values["steps"]))


def horizon(values: Mapping[str, Any]) -> int:
    """T̄ = ⌈Dn/(Lη)⌉."""
    from fractions import Fraction
    from math import ceil

    d, lipschitz, eta = (Fraction(values[k]) for k in ("diameter", "lipschitz", "learning_rate"))
    return ceil(d * int(values["n"]) / (lipschitz * eta))


def apart(values: Mapping[str, Any]) -> float:
    """Without a set, how far apart two runs can be."""
    from dpcalc.bounds.noisy_sgd._engine import apart

    own = (int(values["batch_size"]), values["lipschitz"], values["smoothness"], curvature(values))
    if values.get("steps_as_said"):
        return apart.reached_along(values["steps_as_said"], *own)
    steps = int(values["steps"])
    uses = -(-steps // -(-int(values["n"]) // own[0])) if values["order"] == "fixed" else steps
    return apart.reached(*own, values["learning_rate"], steps, uses)


def curvature(values: Mapping[str, Any]) -> float:
    """The least curvature that a loss can have: ρ, or −β where all that is known is that it is smooth."""
    return float(-values["smoothness"] if values["loss"] == ANY else values["strong_convexity"])


def _held(given: Given, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Of the set: the horizon that it gives convex losses on random batches; or what takes the place of its
    diameter."""
    from dpcalc.core.numbers import human_claimed

    rho = curvature(values)
    if not values.get("diameter"):
        step = "by a factor 1 + ηβ, or by 2ηL, at most" if rho < 0 else "by a factor c < 1" if rho > 0 else "no further"
        return (f"without --diameter: two runs that differ in one record, with the same batches and noise, stay within "
                f"{human_claimed(apart(values), 1e-12)} of each other, as a step moves them apart {step}, and by 2ηL/b "
                f"more where it uses "
                "the record; the theorems need no more of D (Altschuler & Talwar 2022, Remark 5.2)",)
    convex = given["order"] == "random" and values["n"] != values["batch_size"] and rho == 0
    return (f"horizon of Altschuler & Talwar 2022: T̄ = ⌈Dn/(Lη)⌉ = {horizon(values)}",) if convex else ()


def _assumed(found: tuple[Row, ...]) -> tuple[str, ...]:
    """What each method assumes beyond the common setting, in short."""
    names = dict.fromkeys(row.route.bound.name for row in found)
    return tuple(f"{name} assumes: {_SHORT[name]}" for name in names if name in _SHORT)


def _batches(given: Given, values: Mapping[str, Any]) -> tuple[str, ...]:
    """What the methods shown assume of the order of batches."""
    if given["schedule"] is not None or values["n"] == values["batch_size"]:
        return ()
    if given["order"] == "random":
        return (_FRESH,)
    which = "the last batch used" if given["index"] is None else f"batch {given['index']} of each pass"
    return (f"the batches come in the same order in every pass; the record is in {which}",)
