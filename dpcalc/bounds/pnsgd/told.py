"""What a witness tells of epochs: the ε at which one epoch's profile is taken, and the way of its bound at each (Bound.blocks).

Any such ε, and any ways, are a proof. Told are the corners of the samples' hull, the only ones that count.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.pnsgd.epochs import an_epoch, surely_one
from dpcalc.bounds.pnsgd.samples import Samples, blocks_of, followed

if TYPE_CHECKING:
    from dpcalc.bound import Bound
    from dpcalc.question import Question


def choices(one: Bound, question: Question, result: Mapping[str, float], witness: Mapping[str, Any], steps: int,
            own: dict[str, Any]) -> dict[str, Any]:
    """Of a composed row: `epoch`, or where its witness has no grid `each`: (ε/E, δ/E) an epoch proves it."""
    epsilon = result.get("epsilon", question.epsilon or 0.0)
    by_delta = question.delta is not None
    about = question.log_delta if by_delta else _followed(one, epsilon, witness, own)
    asked = 0.0 if by_delta or witness.get("by_delta") else epsilon
    if "grids" in witness:
        return _epoch(followed(one, about, steps, own, asked), blocks_of(one, about, steps, own, asked))
    if question.delta is None and surely_one(one, about, epsilon, steps, own):
        return {}
    return {"each": each(one, epsilon, steps, own)}


def each(one: Bound, epsilon: float, steps: int, own: dict[str, Any]) -> dict[str, Any]:
    """How one epoch is bounded where basic composition is by (ε/E, δ/E) each."""
    return one.choices(an_epoch(epsilon, steps), -inf, **own) if one.choices else {}


def _followed(one: Bound, epsilon: float, witness: Mapping[str, Any], own: dict[str, Any]) -> float:
    """The log δ that the profile was followed to."""
    return float(witness["followed"]) if "followed" in witness else float(one.value(epsilon, **own))


def _epoch(samples: Samples, ways: Mapping[float, Any]) -> dict[str, Any]:
    from dpcalc.profiles import pairs

    corners = [e for e, _ in pairs.hull(*samples)]
    return {"epoch": {"epsilon": corners, **({"ways": [ways[e] for e in corners]} if ways else {})}}
