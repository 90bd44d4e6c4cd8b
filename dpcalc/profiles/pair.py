"""A dominating pair (P, Q): the law under P of the privacy loss log dP/dQ, in smooth pieces and atoms.

Every guarantee has one, and the composition of guarantees is dominated by the product of their pairs (Zhu, Dong & Wang
2022, Theorem 10, arXiv:2106.08567v4).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Piece(NamedTuple):
    """A smooth part of a pair: a parameter t with a density under P, and a loss that is monotone in t.

    `reach(λ, k)` is a range of t outside which at most e^{−k²/2} of the law tilted by e^{λ·loss} (λ >= −1) is left,
    `scale` a length in t over which density and loss change little.
    """

    loss: Callable[[Array], Array]
    at: Callable[[Array], Array]  # the t of a loss, NaN or infinite where there is none
    log_density: Callable[[Array], Array]
    reach: Callable[[float, float], tuple[float, float]]
    scale: float


class Pair(NamedTuple):
    """`atoms` are (loss, log P-mass), `log_infinite` is log P(dP/dQ = ∞), and `rest`, where given, is the loss that holds
    the mass that is left over. `twin` is the pair of the other direction (add for remove), None for a symmetric guarantee."""

    pieces: tuple[Piece, ...] = ()
    atoms: tuple[tuple[float, float], ...] = ()
    log_infinite: float = -inf
    rest: float | None = None
    twin: Pair | None = None
    top: float = inf  # larger losses were taken to be infinite
    # Whether P and Q are the outputs of the mechanism itself on two neighbouring data sets: only then is a lower value of a divergence
    # of their product one of what the mechanism loses. A pair that merely dominates says nothing about that.
    attained: bool = False
