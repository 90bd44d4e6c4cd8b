"""What a composition is answered with."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from dpcalc.profiles.rounding import Rounded
from dpcalc.profiles.tilt import Cumulants, Parts


class Bracket(NamedTuple):
    """upper is a guarantee; no number below lower is one (−inf where it was not asked for). ε or log δ."""

    upper: float
    lower: float
    witness: dict[str, Any]


def witness(parts: Parts, c: Cumulants, rounded: Rounded) -> dict[str, Any]:
    """The free choices behind an upper value: the tilt; of each part the grid (offset, first point, points) that its losses are rounded
    to, with their step, and the loss above which they count as infinite; the blocks that are composed first, if any: of each part how
    many, the step that they are rounded to, and the offsets of their grids."""
    grids = [[g.offset, g.first, len(g.weight), g.step, pair.top] for (g, _), (pair, _) in zip(rounded.single, parts, strict=True)]
    found = {"tilt": c.tilt, "grids": [[x if x < inf else "inf" for x in g] for g in grids]}
    if rounded.levels:
        found |= {"levels": [[[level.block, level.step, *level.offsets] for level in levels] for levels in rounded.levels]}
    return found
