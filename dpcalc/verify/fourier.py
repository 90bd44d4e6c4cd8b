"""The sum that δ of many steps is read from, by its Fourier series: few frequencies matter where a sum has many terms.

Let a be the weights of one step at whole numbers, c those of T steps, and K >= 0 a function on them. On a window of M numbers, let c̃ be c
folded modulo M: c̃ >= c, so that Σ c·K <= Σ_window c̃·K + max K·(weight of c outside), and with φ(ω) = Σ a_j e^{iωj}, ω_k = 2πk/M,

    Σ_window c̃·K = (1/M) Σ_{k<M} φ(ω_k)^T · Σ_window K(n) e^{−iω_k n}.

(From below, c̃ >= c makes the sum over the window too large, by the weight of c outside at most.)
The inner sum is one of geometric series; the weight outside is bounded by Chernoff's bound, both in ball arithmetic. Frequencies with
|φ|^T < e^{−60} are left out, each at most e^{−60}·ΣK: which these are is seen from a transform in doubles. Every path from a weight to a
coefficient has log2 M butterflies, so that the error is at most that of so many roundings times Σ|a| (as in the proof of Theorem 24.2 of
Higham 2002, which has 7 ulps a butterfly); ten times that is allowed for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.verify.convolution import Sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.verify.context import Context

    Array = NDArray[Any]

FEWEST = 64  # steps
_MOST = 1 << 21  # frequencies looked at
_EACH, _WORK = 0.01, 2.0  # so much more work than this would be more than that of a convolution
_NOTHING, _OUTSIDE = 60.0, 48.0  # logs
_ROUNDING = 1e-14  # of a butterfly
_AT_ONCE = 256  # frequencies
_SPARE = 64  # bits
_TILTS = (10.0, 8.0, 6.0, 4.0, 2.5, 1.5, 1.0, 0.6, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01)  # over the standard deviation

Terms = Sequence[tuple[Sum, int]]


class Kernel(NamedTuple):
    """K(n) = e^{−λx} − e^{−(λ+1)x}, x = start + (n − first)·step, from the number `first` on; else 0."""

    first: int
    start: Any
    step: Any
    tilt: Any


def summed(context: Context, terms: Terms, kernel: Kernel, up: bool = True) -> Any:
    """Not less (or, not `up`, not more) than Σ c(n)K(n) over the sum of all terms, an arb; None where too many frequencies matter."""
    weights = [_floats(one) for one, _ in terms]
    window = _window(terms, weights)
    if window is None:
        return None
    first, size = window
    matter, left = _matter(terms, weights, size)
    if len(matter) * sum(sqrt(len(w)) + _EACH * len(w) for w in weights) > _WORK * size:
        return None
    before, context.prec = context.prec, context.prec + _SPARE
    try:
        return _series(context, terms, kernel, first, size, matter, left, 1 if up else -1)
    finally:
        context.prec = before


def _series(context: Context, terms: Terms, kernel: Kernel, first: int, size: int, matter: list[int], left: float,
            side: int) -> Any:
    """`left`: log of what |φ|^T is at most at the other frequencies."""
    arb = context.arb
    polynomials = [_Polynomial(context, one) for one, _ in terms]
    outside = _beyond(context, terms, polynomials, first, -1) + _beyond(context, terms, polynomials, first + size - 1, +1)
    outside *= (-kernel.tilt * (1 / kernel.tilt).log1p() - kernel.tilt.log1p()).exp()  # the most that K is
    low, high = max(kernel.first, first), first + size
    if low >= high:
        return side * outside
    total = arb(0)
    for some in (matter[j : j + _AT_ONCE] for j in range(0, len(matter), _AT_ONCE)):
        values = [polynomial.at(some, size) for polynomial in polynomials]
        for k, *each in zip(some, *values, strict=True):
            folded = _transform(context, kernel, k, size, low, high)
            for value, (one, times) in zip(each, terms, strict=True):
                folded *= value**times * _turn(context, k * (one.first * times), size)
            total += folded.real if k in (0, size - k) else 2 * folded.real
    rest = arb(left).exp() * _transform(context, kernel, 0, size, low, high).real
    return total / size + (-rest).union(rest) + side * outside


def _turn(context: Context, k: int, size: int) -> Any:
    """e^{2πik/M}."""
    return (context.acb(2 * (k % size)) / size).exp_pi_i()


def _powers(context: Context, k: int, size: int, count: int) -> list[Any]:
    """1, z, z², …, z = e^{2πik/M}, each the product of two of half its degree."""
    found = [context.acb(1), _turn(context, k, size)]
    for j in range(2, count):
        found.append(found[j // 2] * found[j - j // 2])
    return found[:count]


def _transform(context: Context, kernel: Kernel, k: int, size: int, low: int, high: int) -> Any:
    """Σ_{low <= n < high} K(n) e^{−2πikn/M}."""
    total = context.acb(0)
    for sign, slope in ((1, kernel.tilt), (-1, kernel.tilt + 1)):
        ratio = (-slope * kernel.step).exp() * _turn(context, -k, size)
        whole = (-slope * kernel.step * (high - low)).exp() * _turn(context, -k * (high - low), size)
        start = (-slope * (kernel.start + (low - kernel.first) * kernel.step)).exp()
        total += sign * start * (1 - whole) / (1 - ratio)
    return total * _turn(context, -k * low, size)


class _Polynomial:
    """Σ a_j z^j = Σ_m z^{mB} Σ_{j<B} a_{mB+j} z^j. Powers of z are taken each by itself, and the inner sums are products of real matrices:
    the boxes around complex balls would grow by √2 with every product."""

    def __init__(self, context: Context, one: Sum) -> None:
        self.context, self.scale = context, context.arb(1) / (1 << one.bits)
        self.whole = context.flint.arb_poly(context.flint.fmpz_poly(one.weights))
        self.width = isqrt(len(one.weights)) + 1
        rows = [one.weights[k : k + self.width] for k in range(0, len(one.weights), self.width)]
        self.rows = context.flint.arb_mat([[*row, *[0] * (self.width - len(row))] for row in rows])

    def at(self, ks: Sequence[int], size: int) -> list[Any]:
        """At z = e^{2πik/M}."""
        context, matrix = self.context, self.context.flint.arb_mat
        powers = list(zip(*(_powers(context, k, size, self.width) for k in ks), strict=True))
        real = (self.rows * matrix([[z.real for z in row] for row in powers])).transpose().tolist()
        imaginary = (self.rows * matrix([[z.imag for z in row] for row in powers])).transpose().tolist()
        return [self._outer(k, size, *inner) for k, *inner in zip(ks, real, imaginary, strict=True)]

    def _outer(self, k: int, size: int, real: list[Any], imaginary: list[Any]) -> Any:
        total, acb = self.context.acb(0), self.context.acb
        for z, x, y in zip(_powers(self.context, k * self.width, size, len(real)), real, imaginary, strict=True):
            total += acb(x, y) * z
        return total * self.scale

    def moment(self, slope: Any) -> Any:
        """At z = e^slope."""
        return self.whole(slope.exp()) * self.scale


def _beyond(context: Context, terms: Terms, polynomials: Sequence[_Polynomial], end: int, side: int) -> Any:
    """Not less than the weight of the numbers beyond `end` on one side: Chernoff's bound."""
    slope = context.arb(side * _best(terms, [_floats(one) for one, _ in terms], side)[1])
    total = -slope * end
    for polynomial, (one, times) in zip(polynomials, terms, strict=True):
        total += times * (polynomial.moment(slope).log() + slope * one.first)
    return context.arb(0).union(total.exp())


# --- in doubles: where to look ---------------------------------------------------------------------------------------


def _floats(one: Sum) -> Array:
    import numpy as np

    scale = 1 << one.bits
    return np.array([w / scale for w in one.weights])


def _window(terms: Terms, weights: Sequence[Array]) -> tuple[int, int] | None:
    """First number and length, a power of 2, of a window outside which next to nothing is."""
    low, high = (-_best(terms, weights, -1)[0], _best(terms, weights, +1)[0])
    if not high - low < _MOST - 4:
        return None
    size = 1 << max(6, (int(high - low) + 3).bit_length())
    return (int(low) - 1, size) if size <= _MOST else None


def _best(terms: Terms, weights: Sequence[Array], side: int) -> tuple[float, float]:
    """side·(the farthest number that matters on that side), and the tilt that shows it."""
    mean, variance = 0.0, 0.0
    for (one, times), w in zip(terms, weights, strict=True):
        m, v = _moments(w)
        mean, variance = mean + times * (one.first + m), variance + times * v
    scale = max(sqrt(variance), 1.0)
    return min((_reach(terms, weights, side, tilt / scale), tilt / scale) for tilt in _TILTS)


def _moments(w: Array) -> tuple[float, float]:
    import numpy as np

    x, total = np.arange(len(w)), float(w.sum())
    mean = float((w * x).sum()) / total
    return mean, float((w * (x - mean) ** 2).sum()) / total


def _reach(terms: Terms, weights: Sequence[Array], side: int, slope: float) -> float:
    """A number beyond which e^{−48} of the weight is left, as this slope shows."""
    import numpy as np

    total = _OUTSIDE
    for (one, times), w in zip(terms, weights, strict=True):
        some = np.flatnonzero(w)
        x = side * slope * (one.first + some) + np.log(w[some])  # the largest may be of weights that times e^−745 are none
        top = float(x.max())
        total += times * (top + log(float(np.exp(x - top).sum())))
    return total / slope


def _matter(terms: Terms, weights: Sequence[Array], size: int) -> tuple[list[int], float]:
    """The frequencies k <= M/2 with |φ|^T >= e^{−60}φ(0)^T, and perhaps more; and the log of what it is at most at the others."""
    import numpy as np

    logs = np.zeros(size // 2 + 1)
    for (_, times), w in zip(terms, weights, strict=True):
        folded = np.bincount(np.arange(len(w)) % size, w, size)
        error = size.bit_length() * _ROUNDING * float(folded.sum())
        logs += times * np.log(np.abs(np.fft.rfft(folded)) + error)
    least = float(logs[0]) - _NOTHING
    return [int(k) for k in np.flatnonzero(logs > least)], least + 1
