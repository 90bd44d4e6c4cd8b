"""Epochs composed numerically: the profile of one epoch by its published formula at the samples of the fast path, joined by chords."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, inf
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd import epochs
from dpcalc.bounds.pnsgd.samples import followed
from dpcalc.orders import own_params
from dpcalc.question import Question
from dpcalc.rows import Row
from dpcalc.verify import grids, lumps
from dpcalc.verify.context import enclosed
from dpcalc.verify.laws import Use

Delta = Callable[[Any, float, float], Any]  # (context, ε, log δ as claimed) → δ


def composed(row: Row, question: Question) -> Delta:
    """The better of two: (ε/E, δ/E) an epoch, and the composition of all of them."""
    from dpcalc.profiles import pairs

    one, own = row.route.bound.one, own_params(row.route.bound, row.params)
    assert one is not None
    steps = int(own.pop("steps"))
    about = question.log_delta if question.delta is not None else float(one.value(question.epsilon or 0.0, **own))
    if question.delta is None and epochs.surely_one(one, about, question.epsilon or 0.0, steps, own):
        return lambda mp, epsilon, log_delta: mp.mpf(1)
    about = float(row.witness.get("followed", about))
    if about == -inf:
        return lambda mp, epsilon, log_delta: steps * one.exact(mp, mp.mpf(epsilon) / steps, **own)
    ways: dict[float, Any] = {}
    bound = one._replace(blocks=partial(one.blocks, ways=ways)) if one.blocks else one
    samples = followed(bound, about, steps, own, question.epsilon or 0.0 if question.delta is None else 0.0)
    at, delta = [e for e, _ in pairs.hull(*samples)], _going(one, own, ways)
    uses = ((Use(lumps.points(at, delta)), steps),)

    def better(mp: Any, epsilon: float, log_delta: float) -> Any:
        basic = steps * enclosed(mp, lambda: one.exact(mp, mp.mpf(epsilon) / steps, **own))
        if float(basic) <= exp(log_delta):
            return basic
        grid = row.witness if "grids" in row.witness else grids.found(((pairs.sampled(*samples), steps),), question)
        return grids.delta(mp, uses, grid, epsilon, log_delta)

    return better


def _going(one: Bound, own: dict[str, Any], ways: dict[float, Any]) -> Callable[[Any, float], Any]:
    """δ of one epoch, in the blocks of the samples; computed once."""
    known: dict[tuple[int, float], Any] = {}

    def delta(mp: Any, epsilon: float) -> Any:
        key, way = (mp.prec, epsilon), {"way": ways[epsilon]} if ways else {}
        if key not in known:
            known[key] = enclosed(mp, lambda: one.exact(mp, epsilon, **own, **way))
        return known[key]

    return delta
