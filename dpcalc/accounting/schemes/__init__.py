"""The ways to form batches, one record each, by the names that --scheme takes."""

from dpcalc.accounting.schemes import poisson, weighted, without_replacement
from dpcalc.accounting.schemes.record import Scheme, Values

SCHEMES: dict[str, Scheme] = {s.name: s for s in (poisson.SCHEME, without_replacement.SCHEME, weighted.SCHEME)}


def scheme_of(values: Values) -> Scheme:
    """The scheme that the options of a call describe."""
    return SCHEMES[values["scheme"]]


__all__ = ["SCHEMES", "Scheme", "scheme_of"]
