"""Epochs composed numerically: the profile of one epoch by its published formula at samples, joined by chords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpcalc.accounting import breakpoints
from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Bound
from dpcalc.core.results import Row
from dpcalc.verify import composition_atoms, composition_grids
from dpcalc.verify.arb.context import enclosed
from dpcalc.verify.loss_laws import Use
from dpcalc.verify.unchecked import Unchecked

Delta = Callable[[Any, float, float], Any]  # (context, ε, log δ as claimed) → δ


def composed(row: Row) -> Delta:
    """(ε/E, δ/E) an epoch, or the composition of all of them, as the witness tells."""
    one, own = row.route.bound.one, own_params(row.route.bound, row.params)
    assert one is not None
    steps = int(own.pop("steps"))
    if "each" in row.witness:
        told = row.witness["each"]
        if not isinstance(told, Mapping):
            raise ValueError("its way of each epoch is none")
        way = breakpoints.way(one.name, row.params, told)
        own |= {} if way is None else {"way": way}
        return lambda mp, epsilon, log_delta: steps * enclosed(mp,
                                                               lambda: one.exact(mp, mp.mpf(epsilon) / steps, **own))
    if "epoch" in row.witness:
        epoch = breakpoints.epoch(row.witness["epoch"])
        return _on_grid(epoch.epsilons, _going(one, own, epoch.ways), steps, row.witness)
    if not row.witness:  # nothing was composed, as δ is 1
        return lambda mp, epsilon, log_delta: mp.mpf(1)
    raise Unchecked("its witness does not tell at which ε one epoch is taken: it is of an earlier version, or "
                    "incomplete")


def _on_grid(epsilons: Sequence[float], going: Callable[[Any, float], Any], steps: int,
             grid: Mapping[str, Any]) -> Delta:
    """On the grids that a witness tells of."""
    uses = ((Use(composition_atoms.points(epsilons, going)), steps),)
    return lambda mp, epsilon, log_delta: composition_grids.delta(mp, uses, grid, epsilon, log_delta)


def _going(one: Bound, own: dict[str, Any], ways: Mapping[float, Any]) -> Callable[[Any, float], Any]:
    """δ of one epoch, in the ways of the samples; computed once."""
    known: dict[tuple[int, float], Any] = {}

    def delta(mp: Any, epsilon: float) -> Any:
        key, way = (mp.prec, epsilon), {"way": ways[epsilon]} if ways else {}
        if key not in known:
            known[key] = enclosed(mp, lambda: one.exact(mp, epsilon, **own, **way))
        return known[key]

    return delta
