"""The bounds that can answer dpcalc shuffle-pnsgd."""

from __future__ import annotations

from dpcalc.bounds.hiding import (
    output_perturbation_shuffled_hiding,
    shuffled_hiding,
    shuffled_hiding_laplace,
    shuffled_hiding_last,
    smooth_nonconvex_shuffled_hiding,
)
from dpcalc.bounds.pnsgd import (
    fixed_order,
    fixed_order_hybrid,
    fixed_order_iteration,
    fixed_order_iteration_rdp,
    output_perturbation,
    output_perturbation_exact,
    output_perturbation_shuffled,
    output_perturbation_shuffled_exact,
    randomly_stopped,
    randomly_stopped_loose,
    shuffled_contraction,
    shuffled_iteration,
    shuffled_iteration_rdp,
    shuffled_limit,
    smooth_nonconvex,
    smooth_nonconvex_exact,
    smooth_nonconvex_high_noise,
    smooth_nonconvex_shuffled,
    smooth_nonconvex_shuffled_exact,
)
from dpcalc.commands.last_iterate import GAUSSIAN_OR_LAPLACE, Method

_CONVEX = ("lipschitz", "diameter", "learning_rate", "smoothness")
_FREE = ("lipschitz", "learning_rate", "smoothness")

_STOPPED = (Method(randomly_stopped.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True),
            Method(randomly_stopped_loose.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True))
_FIXED_ORDER = (
    Method(fixed_order_hybrid.BOUND, _CONVEX, contracts=True),
    Method(fixed_order.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(fixed_order_iteration.BOUND, _FREE, contracts=True),
    Method(fixed_order_iteration_rdp.BOUND, _FREE, contracts=True),
    Method(smooth_nonconvex_exact.BOUND, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex.BOUND, _FREE),
    *_STOPPED,
    Method(output_perturbation_exact.BOUND, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation.BOUND, _FREE, usual=False),
)
_SHUFFLED = (
    Method(shuffled_hiding.BOUND, _FREE, contracts=True),
    Method(shuffled_hiding_laplace.BOUND, _CONVEX, ("laplace",), contracts=True),
    Method(shuffled_contraction.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(shuffled_iteration.BOUND, _FREE, contracts=True),
    Method(shuffled_iteration_rdp.BOUND, _FREE, contracts=True),
    Method(shuffled_limit.BOUND, (*_CONVEX, "c1"), GAUSSIAN_OR_LAPLACE, contracts=True),
    Method(smooth_nonconvex_shuffled_hiding.BOUND, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex_shuffled_exact.BOUND, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex_shuffled.BOUND, _FREE, family="smooth-nonconvex"),
    Method(smooth_nonconvex_high_noise.BOUND, _FREE, usual=False),
    *_STOPPED,
    Method(output_perturbation_shuffled_hiding.BOUND, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation_shuffled_exact.BOUND, _FREE, family="output-perturbation", usual=False),
    Method(output_perturbation_shuffled.BOUND, _FREE, family="output-perturbation", usual=False),
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
