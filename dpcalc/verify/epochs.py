"""Epochs composed numerically: the profile of one epoch by its published formula at samples, joined by chords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, inf
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd import epochs
from dpcalc.bounds.pnsgd.samples import blocks_of, followed
from dpcalc.orders import own_params
from dpcalc.question import Question
from dpcalc.rows import Row
from dpcalc.verify import grids, links, lumps
from dpcalc.verify.context import enclosed
from dpcalc.verify.laws import Use

Delta = Callable[[Any, float, float], Any]  # (context, ε, log δ as claimed) → δ


def composed(row: Row, question: Question) -> Delta:
    """(ε/E, δ/E) an epoch, or the composition of all of them, as the witness tells; an older one that does not, the better of the two."""
    one, own = row.route.bound.one, own_params(row.route.bound, row.params)
    assert one is not None
    steps = int(own.pop("steps"))
    if "each" in row.witness:
        told = row.witness["each"]
        if not isinstance(told, Mapping):
            raise ValueError("its way of each epoch is none")
        way = links.way(one.name, row.params, told)
        return _basic(one, steps, own, {} if way is None else {"way": way})
    if "epoch" in row.witness:
        epoch = links.epoch(row.witness["epoch"])
        return _on_grid(epoch.epsilons, _going(one, own, epoch.ways), steps, row.witness)
    return _found(row, question, one, steps, own)


def _on_grid(epsilons: Sequence[float], going: Callable[[Any, float], Any], steps: int, grid: Mapping[str, Any]) -> Delta:
    """As the grid tells, of one epoch as it is or taken apart."""
    bases = lumps.points_apart(epsilons, going, float(grid["apart"])) if "apart" in grid else (lumps.points(epsilons, going),)
    uses = tuple((Use(base), steps) for base in bases)
    return lambda mp, epsilon, log_delta: grids.delta(mp, uses, grid, epsilon, log_delta)


def _basic(one: Bound, steps: int, own: dict[str, Any], way: Mapping[str, Any]) -> Delta:
    return lambda mp, epsilon, log_delta: steps * enclosed(mp, lambda: one.exact(mp, mp.mpf(epsilon) / steps, **own, **way))


def _found(row: Row, question: Question, one: Bound, steps: int, own: dict[str, Any]) -> Delta:
    """With samples and blocks that are looked for anew."""
    from dpcalc.profiles import pairs

    about = question.log_delta if question.delta is not None else float(one.value(question.epsilon or 0.0, **own))
    if question.delta is None and epochs.surely_one(one, about, question.epsilon or 0.0, steps, own):
        return lambda mp, epsilon, log_delta: mp.mpf(1)
    basic = _basic(one, steps, own, {})
    about = float(row.witness.get("followed", about))
    if about == -inf:
        return basic
    asked = 0.0 if question.delta is not None or row.witness.get("by_delta") else question.epsilon or 0.0
    samples = followed(one, about, steps, own, asked)
    ways = blocks_of(one, about, steps, own, asked)
    corners, going = [e for e, _ in pairs.hull(*samples)], _going(one, own, ways)

    def better(mp: Any, epsilon: float, log_delta: float) -> Any:
        simple = basic(mp, epsilon, log_delta)
        if float(simple) <= exp(log_delta):
            return simple
        grid = row.witness if "grids" in row.witness else grids.found(((pairs.sampled(*samples), steps),), question)
        return _on_grid(corners, going, steps, grid)(mp, epsilon, log_delta)

    return better


def _going(one: Bound, own: dict[str, Any], ways: Mapping[float, Any]) -> Callable[[Any, float], Any]:
    """δ of one epoch, in the blocks of the samples; computed once."""
    known: dict[tuple[int, float], Any] = {}

    def delta(mp: Any, epsilon: float) -> Any:
        key, way = (mp.prec, epsilon), {"way": ways[epsilon]} if ways else {}
        if key not in known:
            known[key] = enclosed(mp, lambda: one.exact(mp, epsilon, **own, **way))
        return known[key]

    return delta
