"""The bounds that can answer dpcalc shuffle-pnsgd."""

from __future__ import annotations

from dpcalc.bounds import hiding as h
from dpcalc.bounds import pnsgd as b
from dpcalc.commands.last_iterate import GAUSSIAN_OR_LAPLACE, Method

_CONVEX = ("lipschitz", "diameter", "learning_rate", "smoothness")
_FREE = ("lipschitz", "learning_rate", "smoothness")


def methods(placed: bool, last_iterate: bool) -> tuple[Method, ...]:
    """The bounds for records in a fixed order, where the place of the record is known (`placed`), or for shuffled
    records; with those for a run that releases only its last iterate where it does."""
    stopped = (Method(b.randomly_stopped.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True),
               Method(b.randomly_stopped_loose.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, usual=False, contracts=True))
    if placed:
        return (
            Method(b.fixed_order_hybrid.BOUND, _CONVEX, contracts=True),
            Method(b.fixed_order.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
            Method(b.fixed_order_iteration.BOUND, _FREE, contracts=True),
            Method(b.fixed_order_iteration_rdp.BOUND, _FREE, contracts=True),
            Method(b.smooth_nonconvex_exact.BOUND, _FREE, family="smooth-nonconvex"),
            Method(b.smooth_nonconvex.BOUND, _FREE),
            *stopped,
            Method(b.output_perturbation_exact.BOUND, _FREE, family="output-perturbation", usual=False),
            Method(b.output_perturbation.BOUND, _FREE, usual=False),
        )
    last = (Method(h.shuffled_hiding_last.BOUND, _FREE, contracts=True),) if last_iterate else ()
    return (
        *last,
        Method(h.shuffled_hiding.BOUND, _FREE, contracts=True),
        Method(h.shuffled_hiding_laplace.BOUND, _CONVEX, ("laplace",), contracts=True),
        Method(b.shuffled_contraction.BOUND, _CONVEX, GAUSSIAN_OR_LAPLACE, contracts=True),
        Method(b.shuffled_iteration.BOUND, _FREE, contracts=True),
        Method(b.shuffled_iteration_rdp.BOUND, _FREE, contracts=True),
        Method(b.shuffled_limit.BOUND, (*_CONVEX, "c1"), GAUSSIAN_OR_LAPLACE, contracts=True),
        Method(h.smooth_nonconvex_shuffled_hiding.BOUND, _FREE, family="smooth-nonconvex"),
        Method(b.smooth_nonconvex_shuffled_exact.BOUND, _FREE, family="smooth-nonconvex"),
        Method(b.smooth_nonconvex_shuffled.BOUND, _FREE, family="smooth-nonconvex"),
        Method(b.smooth_nonconvex_high_noise.BOUND, _FREE, usual=False),
        *stopped,
        Method(h.output_perturbation_shuffled_hiding.BOUND, _FREE, family="output-perturbation", usual=False),
        Method(b.output_perturbation_shuffled_exact.BOUND, _FREE, family="output-perturbation", usual=False),
        Method(b.output_perturbation_shuffled.BOUND, _FREE, family="output-perturbation", usual=False),
    )
