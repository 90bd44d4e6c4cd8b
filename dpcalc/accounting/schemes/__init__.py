"""The ways to form batches, one record each, by their names in JSON, which --scheme takes, too: but truncated-poisson
is --scheme poisson with --max-batch-size."""

from dpcalc.accounting.schemes import (
    cyclic_poisson,
    poisson,
    random_allocation,
    shuffle,
    truncated_poisson,
    with_replacement,
    without_replacement,
)
from dpcalc.accounting.schemes.record import Scheme, Values
from dpcalc.core.noise_multiplier import scheme_name

SCHEMES: dict[str, Scheme] = {s.name: s for s in (
    poisson.SCHEME, truncated_poisson.SCHEME, cyclic_poisson.SCHEME, without_replacement.SCHEME,
    without_replacement.WEIGHTED, random_allocation.SCHEME, shuffle.SCHEME, shuffle.ONE_ORDER, with_replacement.SCHEME,
)}


def scheme_of(values: Values) -> Scheme:
    """The scheme that the options of a call describe."""
    return SCHEMES[scheme_name(values)]


__all__ = ["SCHEMES", "Scheme", "scheme_of"]
