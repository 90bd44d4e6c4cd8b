"""Every bound that dpcalc knows: each room of this package lists its modules, one file for each bound or few of a kind.

The lists hold names, so that a command which uses one bound of a room does not import all of them.
"""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from dpcalc.core.bound import Bound

# Room → what its bounds are about.
ROOMS = {
    "mechanisms": "Mechanisms, used once or many times",
    "conversions": "Conversions and composition",
    "sampling": "Training on random batches",
    "pnsgd": "Last iterate: shuffled or ordered records",
    "hiding": "Last iterate: hiding among the other records",
    "online": "Last iterate: a stream with decaying noise",
    "noisy_sgd": "Last iterate: fresh random batches",
    "noise_feedback": "Last iterate: noise feedback",
    "correlated": "Correlated noise: every step is released",
    "total_variation": "Total variation",
    "audits": "Audits: lower bounds from attacks",
}

# names of bounds of earlier versions, and the bounds that contain them
REPLACED = {"shuffled-hybrid": "shuffled-hiding"}


def replacement_message(name: str) -> str:
    """A message about the name of a bound of an earlier version; empty for other names."""
    old = name.removesuffix("-basic")
    return f"{old} was replaced by {REPLACED[old]}, which contains it" if old in REPLACED else ""


def modules_of(room: str) -> Iterator[ModuleType]:
    """The modules of a room that define bounds, in the order of its list."""
    return (import_module(f"dpcalc.bounds.{room}.{name}") for name in import_module(f"dpcalc.bounds.{room}").MODULES)


def bounds_in(module: ModuleType) -> tuple[Bound, ...]:
    """The bounds that a module defines: BOUNDS, or BOUND alone."""
    bounds: tuple[Bound, ...] = module.BOUNDS if hasattr(module, "BOUNDS") else (module.BOUND,)
    return bounds


def all_bounds() -> dict[str, Bound]:
    """All bounds of all rooms by name."""
    return {bound.name: bound for room in ROOMS for module in modules_of(room) for bound in bounds_in(module)}
