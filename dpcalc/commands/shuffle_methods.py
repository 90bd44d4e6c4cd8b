"""The bounds that can answer dpcalc shuffle-pnsgd."""

from dpcalc.bounds.hiding import (
    output_perturbation_shuffled_hiding,
    shuffled_hiding,
    shuffled_hiding_laplace,
    shuffled_hiding_last,
    smooth_nonconvex_shuffled_hiding,
)
from dpcalc.bounds.pnsgd import contraction, fixed_order_hybrid, iteration, output_perturbation, smooth_nonconvex
from dpcalc.commands.last_iterate import GAUSSIAN_OR_LAPLACE, Method

_CONVEX = ("lipschitz", "diameter", "learning_rate", "smoothness")
_FREE = ("lipschitz", "learning_rate", "smoothness")

_STOPPED = (Method(contraction.STOPPED, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True),
            Method(contraction.STOPPED_LOOSE, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True))
_FIXED_ORDER = (
    Method(fixed_order_hybrid.BOUND, _CONVEX, contracts=True),
    Method(contraction.FIXED, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(iteration.FIXED, _FREE, contracts=True),
    Method(iteration.FIXED_RDP, _FREE, contracts=True),
    Method(smooth_nonconvex.FIXED, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.FIXED_RDP, _FREE),
    *_STOPPED,
    Method(output_perturbation.FIXED, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.FIXED_RDP, _FREE, usual=False),
)
_SHUFFLED = (
    Method(shuffled_hiding.BOUND, _FREE, contracts=True),
    Method(shuffled_hiding_laplace.BOUND, _CONVEX, ("laplace",), contracts=True),
    Method(contraction.SHUFFLED, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(iteration.SHUFFLED, _FREE, contracts=True),
    Method(iteration.SHUFFLED_RDP, _FREE, contracts=True),
    Method(contraction.SHUFFLED_LIMIT, (*_CONVEX, "c1"), GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(smooth_nonconvex_shuffled_hiding.BOUND, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.SHUFFLED, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.SHUFFLED_RDP, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.HIGH_NOISE, _FREE, usual=False),
    *_STOPPED,
    Method(output_perturbation_shuffled_hiding.BOUND, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.SHUFFLED, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.SHUFFLED_RDP, _FREE, family="output-perturbation", usual=False),
)


def methods(placed: bool, last_iterate: bool, all_computed: bool = False) -> tuple[Method, ...]:
    """The bounds for records in a fixed order, where the place of the record is known (`placed`), or for shuffled
    records; with those for a run that releases only its last iterate where it does. `all_computed` says that no bound
    is named: then numpy is imported here."""
    if placed:
        return _FIXED_ORDER
    if all_computed:
        # Some of the bounds for shuffled records use arrays. Where numpy is first imported in the middle of a search,
        # its import takes 15 ms longer: loops in it call functions across the end of a piece of CPython's stack of
        # frames, and each of those calls allocates the next piece, 16 kB, anew.
        import numpy  # noqa: F401
    return (Method(shuffled_hiding_last.BOUND, _FREE, contracts=True), *_SHUFFLED) if last_iterate else _SHUFFLED
