"""The tail of the normal distribution at many neighbouring points, by Taylor series.

The composition grids need tails at hundreds of thousands of points, and Arb's error function at each of them would
take most of the time.

Q(c + x) = Σ a_k x^k with a_0 = Q(c) and a_{k+1} = −φ(c)b_k/(k+1), where φ(c + x) = φ(c)Σ b_k x^k, φ′ = −(c + x)φ. As
|φ(t + iy)| is e^{y²/2}φ(t), |Q| is at most M = e^{1/8}Q(c − 1/2) within 1/2 of c, and by Cauchy's estimate the terms
from n on add up to at most M(2|x|)^n/(1 − 2|x|).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context

MAX_CENTRE = 200  # standard deviations; beyond, Arb's error function takes less time than a series
_RADIUS_BITS = 7  # a series is used up to 2^−7 from its centre, where each term adds six bits


class TailSeries(NamedTuple):
    """The Taylor polynomial of Q around `centre`, and a ball `remainder` that contains what it leaves out."""

    centre: Any
    terms: Any
    remainder: Any
    bits: int

    def serves(self, x: Any, bits: int) -> bool:
        """Whether the series is valid at x, and accurate enough for this precision."""
        return bits == self.bits and bool(abs(x - self.centre) < 2.0**-_RADIUS_BITS)

    def at(self, x: Any) -> Any:
        return self.terms(x - self.centre) + self.remainder


def tail_series(context: Context, x: Any) -> TailSeries:
    """Compute the series around the midpoint of x."""
    arb, c = context.arb, x.mid()
    count = (context.prec + 60 + max(0, int(float(c)))) // (_RADIUS_BITS - 1) + 2
    root = arb(2).sqrt()
    density = (-c * c / 2).exp() / (2 * arb.pi()).sqrt()
    terms, previous, b = [(c / root).erfc() / 2], arb(0), arb(1)
    for k in range(count - 1):
        terms.append(-density * b / (k + 1))
        previous, b = b, -(c * b + previous) / (k + 1)
    largest = (arb(1) / 8).exp() * ((c - arb(1) / 2) / root).erfc() / 2
    left_out = largest * arb(2) ** (-(_RADIUS_BITS - 1) * count) / (1 - arb(2) ** (1 - _RADIUS_BITS))
    return TailSeries(c, context.flint.arb_poly(terms), (-left_out).union(left_out), context.prec)


class TailNear:
    """P(N(0,1) > x) at points that follow each other closely, by one series after the other."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.series: TailSeries | None = None

    def at(self, x: Any) -> Any:
        if self.series is None or not self.series.serves(x, self.context.prec):
            if not abs(x) < MAX_CENTRE:
                return (x / self.context.arb(2).sqrt()).erfc() / 2
            self.series = tail_series(self.context, x)
        return self.series.at(x)
