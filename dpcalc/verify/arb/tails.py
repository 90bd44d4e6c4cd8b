"""The tail of the normal law at many neighbouring places, by Taylor series: a function of error at every one would take
most of the time.

Q(c + x) = Σ a_k x^k with a_0 = Q(c) and a_{k+1} = −φ(c)b_k/(k+1), where φ(c + x) = φ(c)Σ b_k x^k, φ′ = −(c + x)φ. As
|φ(t + iy)| is e^{y²/2}φ(t), |Q| is at most M = e^{1/8}Q(c − 1/2) within 1/2 of c, and by Cauchy's estimate the terms
from n on add up to at most M(2|x|)^n/(1 − 2|x|). """

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context

FARTHEST = 200  # where a function of error itself takes less time
_NEAR = 7  # the series serves to 2^−7 of its centre: six bits a term


class Series(NamedTuple):
    """About one centre, with the bound on what is left out."""

    centre: Any
    terms: Any
    rest: Any
    bits: int

    def serves(self, x: Any, bits: int) -> bool:
        return bits == self.bits and bool(abs(x - self.centre) < 2.0**-_NEAR)

    def at(self, x: Any) -> Any:
        return self.terms(x - self.centre) + self.rest


def series(context: Context, x: Any) -> Series:
    """About the middle of x."""
    arb, c = context.arb, x.mid()
    count = (context.prec + 60 + max(0, int(float(c)))) // (_NEAR - 1) + 2
    root = arb(2).sqrt()
    density = (-c * c / 2).exp() / (2 * arb.pi()).sqrt()
    terms, before, b = [(c / root).erfc() / 2], arb(0), arb(1)
    for k in range(count - 1):
        terms.append(-density * b / (k + 1))
        before, b = b, -(c * b + before) / (k + 1)
    most = (arb(1) / 8).exp() * ((c - arb(1) / 2) / root).erfc() / 2
    left = most * arb(2) ** (-(_NEAR - 1) * count) / (1 - arb(2) ** (1 - _NEAR))
    return Series(c, context.flint.arb_poly(terms), (-left).union(left), context.prec)
