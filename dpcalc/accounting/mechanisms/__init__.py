"""The mechanisms, one record each, by the names that --mechanism takes; each has the module of its name."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from dpcalc.accounting.mechanisms.record import Mechanism, with_steps
from dpcalc.core import quantities


class _Mechanisms(Mapping[str, Mechanism]):
    """Name → record. A record is imported, with all its bounds, when it is read: most commands need one of them."""

    def __getitem__(self, name: str) -> Mechanism:
        if name not in quantities.MECHANISM.choices:
            raise KeyError(name)
        record: Mechanism = import_module(f"{__name__}.{name.replace('-', '_')}").MECHANISM
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(quantities.MECHANISM.choices)

    def __len__(self) -> int:
        return len(quantities.MECHANISM.choices)


MECHANISMS = _Mechanisms()

__all__ = ["MECHANISMS", "Mechanism", "with_steps"]
