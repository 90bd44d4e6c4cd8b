"""The dominating pair of Gaussian noise whose ratio is random and known to the attacker: one that hides a random number
of uses."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.pld.atoms import distinct
from dpcalc.pld.pair import Gaussian, gaussian_masses, mixture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pair import Masses

    Array = NDArray[Any]

_FEWEST_CELLS = 60  # of a pilot, for each number of uses; any cells are valid


@dataclass(frozen=True)
class GaussianOfRandomRatio:
    """δ(ε) = Σ_k p_k θ(ε, k·ratio), where p_1, p_2, … are the given chances, p_0 the rest up to 1, and `log_infinite`
    the log of the chance of more uses, whose loss is infinite."""

    ratio: float
    chances: tuple[float, ...]
    log_infinite: float = -inf
    attained = False
    largest_loss = (inf, -inf)
    rounding_scale = 1.0
    reverse = None

    def masses(self, edges: Array) -> Masses:
        at_zero = (edges[:-1] <= 0) & (edges[1:] > 0)
        rest = 1 - fsum(self.chances) - float(np.exp(self.log_infinite))
        parts = [(np.where(at_zero, log(rest) if rest > 0 else -inf, -inf), np.zeros(len(at_zero)))]
        log_p, loss = gaussian_masses(edges[:, None], self.ratio * np.arange(1, len(self.chances) + 1))
        log_p += np.log(self.chances)
        return mixture([*parts, *zip(log_p.T, loss.T, strict=True)])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        each = max(_FEWEST_CELLS, cells // len(self.chances))
        edges = [Gaussian(k * self.ratio).pilot_edges(log_tail, each) for k in range(1, len(self.chances) + 1)]
        return distinct(np.sort(np.concatenate([[0.0], *edges])))
