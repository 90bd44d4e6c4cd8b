"""Every bound dpcalc knows: a room of this package, a line in its list, a file."""

from importlib import import_module

from dpcalc.bound import Bound

ROOMS = ("mechanisms", "conversions", "sampling", "pnsgd", "online", "noisy_sgd", "noise_feedback", "total_variation")


def all_bounds() -> dict[str, Bound]:
    """Name → bound, over all rooms."""
    rooms = (import_module(f"dpcalc.bounds.{room}") for room in ROOMS)
    return {bound.name: bound for room in rooms for bound in room.BOUNDS}
