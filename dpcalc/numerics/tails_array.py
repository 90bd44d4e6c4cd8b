"""Normal tails of whole arrays, to relative 2e-14 of the argument as it is (tests compare with 30 digits).

Q(z) = φ(z)·R(z). R, Mills' ratio, is a Taylor sum about the middle of pieces 1/64 wide: R^{(k)}(z) = (−1)^k ∫ t^k
e^{−zt − t²/2} dt, so that what seven terms leave is at most (1/128)^7/7!·∫ t^7 e^{−zt−t²/2} dt < 2e-17·R. Beyond 38.75,
where Q is no double, it is (1 − 1/z² + 3/z⁴ − …)/z, wrong by less than the first term left out. """

from __future__ import annotations

from functools import lru_cache
from math import factorial, log, pi, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_PER_UNIT, _END, _TERMS = 64, 38.75, 7
_LOG_SQRT_2PI = 0.5 * log(2 * pi)


@lru_cache(maxsize=1)
def _table() -> Array:
    """Row k: Taylor coefficients k of the pieces. Integrals over t by Gauss-Legendre: the integrand is 0 in doubles
    past 9.5."""
    import numpy as np

    from dpcalc.numerics import normal

    z = (np.arange(round(_PER_UNIT * _END)) + 0.5) / _PER_UNIT
    end = np.minimum(9.5, 45 / (z + 1e-300))
    t, w = np.polynomial.legendre.leggauss(60)
    t, w = end[:, None] * (t + 1) / 2, end[:, None] * w / 2
    weight = w * np.exp(-z[:, None] * t - t * t / 2)
    rest = [(-1) ** k / factorial(k) * (weight * t**k).sum(axis=1) for k in range(1, _TERMS)]
    return np.stack([np.array([normal.mills(x) for x in z.tolist()]), *rest])


def mills(z: Array) -> Array:
    """R(z) = Q(z)/φ(z) for z >= 0."""
    import numpy as np

    table = _table()
    piece = np.minimum(z * _PER_UNIT, table.shape[1] - 1).astype(np.intp)
    x = np.minimum(z, _END) - (piece + 0.5) / _PER_UNIT
    total = table[-1].take(piece)
    for row in table[-2::-1]:
        total *= x
        total += row.take(piece)
    if (far := z > _END).any():
        s = 1 / np.maximum(z, _END) ** 2
        total = np.where(far, (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s * (1 - 9 * s * (1 - 11 * s))))))
                         * np.sqrt(s), total)
    return np.asarray(total)


def tail(z: Array) -> Array:
    """Q(z) for z >= 0."""
    import numpy as np

    return np.asarray(np.exp(-0.5 * z * z) * mills(z) / sqrt(2 * pi))


def log_tail(z: Array) -> Array:
    """log Q(z), any sign; infinite arguments too."""
    import numpy as np

    size = np.minimum(np.abs(z), 1e150)
    with np.errstate(divide="ignore"):
        positive = np.log(mills(size)) - size * size / 2 - _LOG_SQRT_2PI
    return np.where(z >= 0, positive, np.log1p(-np.exp(np.minimum(positive, log(0.5)))))
