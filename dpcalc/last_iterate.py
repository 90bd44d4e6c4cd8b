"""Which bounds speak about the last iterate of noisy SGD, by noise, order and question. Names only become code in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dpcalc.answer import Route
from dpcalc.bound import Bound
from dpcalc.errors import DpcalcError, flag
from dpcalc.routes import converted

Params = Mapping[str, Any]
BOTH, GAUSSIAN = ("gaussian", "laplace"), ("gaussian",)


class Entry(NamedTuple):
    """A bound: the name it also answers to, the options it needs beyond noise and n, the noises it covers, and whether it
    is about the run that the command describes (others are shown when named)."""

    bound: Bound
    needs: tuple[str, ...]
    noises: tuple[str, ...] = GAUSSIAN
    family: str = ""
    usual: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return (self.bound.name, self.family)


def chosen(entries: Sequence[Entry], given: Params, noise: str, named: Sequence[str], unknown: str | None) -> tuple[Entry, ...]:
    """The entries that --bound names, or else the usual ones whose options are there. Raises DpcalcError for what is missing."""
    fit = [e for e in entries if noise in e.noises]
    if named:
        known = sorted({n for e in fit for n in e.names if n} | {"rdp-improved", "rdp-mironov", "rdp-optimal"})
        for name in named:
            if name not in known:
                from dpcalc.params import near

                raise DpcalcError("unknown-value", f"{name!r} is not a bound for this question ({noise} noise); it can be "
                                  f"{', '.join(known)}{near(name, tuple(known))}", "--bound")
        fit = [e for e in fit if set(e.names) & set(named)] or [e for e in fit if e.usual]
        for e in fit:
            _require(e, given, unknown)
        return tuple(fit)
    fit = [e for e in fit if e.usual]
    there = [e for e in fit if not _missing(e, given, unknown)]
    if not any(e.bound.status == "proven" for e in there):
        _require(fit[0], given, unknown)
    return tuple(there)


def _missing(entry: Entry, given: Params, unknown: str | None) -> list[str]:
    return [n for n in entry.needs if given.get(n) is None and n != unknown]


def _require(entry: Entry, given: Params, unknown: str | None) -> None:
    for name in _missing(entry, given, unknown):
        raise DpcalcError("missing", f"needed by {entry.bound.name}", flag(name))


def routes(entries: Sequence[Entry], asks: str, named: bool) -> tuple[Route, ...]:
    """How the entries answer: an RDP curve by a conversion, and then only when named (its exact profile is never larger)."""
    found: list[Route] = []
    for e in entries:
        if e.bound.kind != "rdp":
            found += [Route(e.bound)] if asks != "rdp" else []
        elif asks == "rdp":
            found.append(Route(e.bound))
        elif named:
            found += converted(e.bound)
    return tuple(found)


def expanded(named: Sequence[str], entries: Sequence[Entry], ways: Sequence[Route]) -> tuple[str, ...]:
    """The bounds that the names and families of --bound mean, among those that can answer; conversions stay."""
    able = {r.bound.name for r in ways}
    meant = (n for name in named for n in [e.bound.name for e in entries if name in e.names and e.bound.name in able] or [name])
    return tuple(dict.fromkeys(meant))
