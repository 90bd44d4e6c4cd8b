"""Dominating pairs of one step on a Poisson-sampled batch in which a record is replaced, with Laplace noise or with
noise on the integers: both distributions are mixtures with the same weights, and the second one is the first one
reflected at 0. So the pair is symmetric, and the loss is an odd and rising function of the outcome. """

from dataclasses import dataclass
from math import expm1, inf, log, log1p

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary_array import log_expm1
from dpcalc.pld.atoms import Atoms, distinct
from dpcalc.pld.pair import Masses, Pair, mixture, of_atom


@dataclass(frozen=True)
class LaplaceReplaced(Pair):
    """(1−q)L(0) + qL(r) against (1−q)L(0) + qL(−r), L(c) the Laplace distribution of scale 1 around c.

    With D = 1 − q + qe^{−r} the loss at an outcome 0 <= x <= r is log((1 − q + qe^{2x−r})/D), and beyond r it is that
    at r. Of a cell from a to b it is that at (a + b)/2. """

    ratio: float
    rate: float
    attained: bool = True

    @property
    def rounding_scale(self) -> float:
        return self.rate * min(self.ratio, 1.0)

    @property
    def largest_loss(self) -> tuple[float, float]:
        return float(self._losses(np.array([self.ratio]))[0]), self._log_tail(+1)

    def masses(self, edges: Array) -> Masses:
        end, r = self.largest_loss[0], self.ratio
        x = np.where(np.abs(edges) >= end, np.sign(edges) * r, self._outcomes(np.clip(edges, -end, end)))
        parts = [self._between(np.maximum(x, 0.0), +1), self._between(np.minimum(x, 0.0), -1)]
        return mixture([*parts, *(of_atom(edges, side * end, self._log_tail(side)) for side in (+1, -1))])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        edges = distinct(self._losses(np.linspace(-self.ratio, self.ratio, cells + 1)))
        return np.append(edges, edges[-1] * (1 + 1e-11) + 1e-300)  # the last cell holds the atom

    def _log_tail(self, side: int) -> float:
        """log of the P-mass of the outcomes above r (side +1), or below −r."""
        r = self.ratio
        far = -r if side > 0 else -2 * r
        near = 0.0 if side > 0 else -r
        return float(np.logaddexp(log1p(-self.rate) - r, log(self.rate) + (near if side > 0 else far))) + log(0.5)

    def _between(self, x: Array, side: int) -> Masses:
        """The masses of the cells between neighbouring outcomes on one side of 0."""
        a, b = (x[:-1], x[1:]) if side > 0 else (-x[1:], -x[:-1])
        loss = self._losses((a + b) / 2)
        with np.errstate(divide="ignore"):
            log_q = log(0.5) - a + np.log(-np.expm1(a - b)) + log1p(self.rate * expm1(-self.ratio))
        return (log_q + loss, loss) if side > 0 else (log_q, -loss)

    def _losses(self, x: Array) -> Array:
        """The losses at −r <= x <= r: log(1 + qe^{−r}(e^{2x} − 1)/D) for x >= 0, and odd."""
        scale = log(self.rate) - self.ratio - log1p(self.rate * expm1(-self.ratio))
        return np.asarray(np.sign(x) * np.logaddexp(0.0, scale + log_expm1(2 * np.abs(x))))

    def _outcomes(self, losses: Array) -> Array:
        """The outcomes with these losses: e^{2x} = 1 + (e^ℓ − 1)De^r/q."""
        scale = log1p(self.rate * expm1(-self.ratio)) + self.ratio - log(self.rate)
        x = np.minimum(np.logaddexp(0.0, scale + log_expm1(np.abs(losses))) / 2, self.ratio)
        return np.asarray(np.sign(losses) * x)


def integers_replaced(log_f: Array, rise: Array, fall: Array, rate: float, log_infinite: float = -inf) -> Atoms:
    """(1−q)F(0) + qF(s) against (1−q)F(0) + qF(−s) for noise F on the integers that is even and log-concave.

    For outcomes, or sets of outcomes with the same loss, in increasing order: the logs of their probabilities under
    F(0), and the logs of the ratios of those under F(s) and F(−s) to them. Outcomes that are left out have at most the
    probability e^log_infinite under the first distribution, and count as infinite losses. """
    log_q = np.logaddexp(log1p(-rate), log(rate) + fall)
    excess = log_expm1(np.abs(rise - fall)) + np.minimum(rise, fall)
    smaller = np.where(rise >= fall, log_q, np.logaddexp(log1p(-rate), log(rate) + rise))
    loss = np.where(rise >= fall, 1.0, -1.0) * np.logaddexp(0.0, log(rate) + excess - smaller)
    return Atoms(tuple(loss.tolist()), tuple((log_f + log_q + loss).tolist()), log_infinite, attained=True,
                 rounding_scale=rate)
