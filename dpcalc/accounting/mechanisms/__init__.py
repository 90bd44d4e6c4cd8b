"""The mechanisms, one record each, by the names that --mechanism takes."""

from dpcalc.accounting.mechanisms import gaussian, laplace, randomized_response
from dpcalc.accounting.mechanisms.record import Mechanism, with_steps

MECHANISMS: dict[str, Mechanism] = {m.name: m
                                    for m in (gaussian.MECHANISM, laplace.MECHANISM, randomized_response.MECHANISM)}

__all__ = ["MECHANISMS", "Mechanism", "with_steps"]
