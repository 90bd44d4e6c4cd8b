"""Every bound dpcalc knows: a room of this package, a line in its list, a file."""

from importlib import import_module

from dpcalc.core.bound import Bound

ROOMS = ("mechanisms", "conversions", "sampling", "pnsgd", "hiding", "online", "noisy_sgd", "noise_feedback",
         "total_variation")

# names of earlier versions, and the bounds that contain what they said
REPLACED = {"shuffled-hybrid": "shuffled-hiding"}


def replaced(name: str) -> str:
    """What is said of a name of an earlier version; nothing of others."""
    old = name.removesuffix("-basic")
    return f"{old} was replaced by {REPLACED[old]}, which contains it" if old in REPLACED else ""


def all_bounds() -> dict[str, Bound]:
    """Name → bound, over all rooms."""
    rooms = (import_module(f"dpcalc.bounds.{room}") for room in ROOMS)
    return {bound.name: bound for room in rooms for bound in room.BOUNDS}
