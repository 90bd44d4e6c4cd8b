"""The ways to form batches, one record each, by their names in JSON, which --scheme takes, too: but truncated-poisson
is --scheme poisson with --max-batch-size."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from dpcalc.accounting.schemes.record import Scheme, Values
from dpcalc.core.noise_multiplier import ONE_ORDER, TRUNCATED, scheme_name

_RECORDS = {  # name → the module and the name of the record in it
    "poisson": ("poisson", "SCHEME"), TRUNCATED: ("truncated_poisson", "SCHEME"),
    "cyclic-poisson": ("cyclic_poisson", "SCHEME"), "without-replacement": ("without_replacement", "SCHEME"),
    "weighted": ("without_replacement", "WEIGHTED"), "random-allocation": ("random_allocation", "SCHEME"),
    "shuffle": ("shuffle", "SCHEME"), ONE_ORDER: ("shuffle", "ONE_ORDER"),
    "with-replacement": ("with_replacement", "SCHEME"),
}


class _Schemes(Mapping[str, Scheme]):
    """Name → record. A record is imported, with all its bounds, when it is read: most questions need one of them."""

    def __getitem__(self, name: str) -> Scheme:
        module, record = _RECORDS[name]
        scheme: Scheme = getattr(import_module(f"{__name__}.{module}"), record)
        return scheme

    def __contains__(self, name: object) -> bool:
        return name in _RECORDS

    def __iter__(self) -> Iterator[str]:
        return iter(_RECORDS)

    def __len__(self) -> int:
        return len(_RECORDS)


SCHEMES = _Schemes()


def scheme_of(values: Values) -> Scheme:
    """The scheme that the options of a call describe."""
    return SCHEMES[scheme_name(values)]


__all__ = ["SCHEMES", "Scheme", "scheme_of"]
