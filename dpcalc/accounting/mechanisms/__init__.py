"""The mechanisms, one record each, by the names that --mechanism takes."""

from dpcalc.accounting.mechanisms import (
    above_threshold,
    exponential,
    gaussian,
    laplace,
    randomized_response,
    shuffled_ldp,
)
from dpcalc.accounting.mechanisms.record import Mechanism, with_steps

MECHANISMS: dict[str, Mechanism] = {m.name: m for m in (
    gaussian.MECHANISM,
    laplace.MECHANISM,
    randomized_response.MECHANISM,
    exponential.MECHANISM,
    above_threshold.MECHANISM,
    shuffled_ldp.MECHANISM,
)}

__all__ = ["MECHANISMS", "Mechanism", "with_steps"]
