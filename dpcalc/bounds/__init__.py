"""Every bound that dpcalc knows: each room of this package lists its bounds, one file each."""

from importlib import import_module

from dpcalc.core.bound import Bound

ROOMS = ("mechanisms", "conversions", "sampling", "pnsgd", "hiding", "online", "noisy_sgd", "noise_feedback",
         "correlated", "total_variation")

# names of bounds of earlier versions, and the bounds that contain them
REPLACED = {"shuffled-hybrid": "shuffled-hiding"}


def replacement_message(name: str) -> str:
    """A message about the name of a bound of an earlier version; empty for other names."""
    old = name.removesuffix("-basic")
    return f"{old} was replaced by {REPLACED[old]}, which contains it" if old in REPLACED else ""


def all_bounds() -> dict[str, Bound]:
    """All bounds of all rooms by name."""
    rooms = (import_module(f"dpcalc.bounds.{room}") for room in ROOMS)
    return {bound.name: bound for room in rooms for bound in room.BOUNDS}
