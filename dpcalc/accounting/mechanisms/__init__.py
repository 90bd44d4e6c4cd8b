"""The mechanisms, one record each, by the names that --mechanism takes."""

from dpcalc.accounting.mechanisms import (
    above_threshold,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    k_randomized_response,
    laplace,
    randomized_response,
    shuffled_ldp,
    unary,
)
from dpcalc.accounting.mechanisms.record import Mechanism, with_steps

MECHANISMS: dict[str, Mechanism] = {m.name: m for m in (
    gaussian.MECHANISM,
    laplace.MECHANISM,
    randomized_response.MECHANISM,
    discrete_gaussian.MECHANISM,
    discrete_laplace.MECHANISM,
    k_randomized_response.MECHANISM,
    unary.MECHANISM,
    unary.OPTIMIZED,
    exponential.MECHANISM,
    above_threshold.MECHANISM,
    shuffled_ldp.MECHANISM,
)}

__all__ = ["MECHANISMS", "Mechanism", "with_steps"]
