"""A quadrature on [−h, h] with a proven relative error for every Gaussian that occurs in the law of a walk.

Which Gaussians occur. With noise N(0, 1), contraction a (|a| <= 1) and pushes |m|, |m′| <= M, a density after a step is
a mixture of φ(y − u), |u| <= |a|h + M, and the next one is ∫ φ(x − ay − m′)·(density) dy. In y each integrand is a
multiple of G_c(y) = e^{−κ(y−c)²/2}, κ = 1 + a², c = (a(x − m′) + u)/κ. `relative_error` bounds |quadrature − ∫G_c| /
∫G_c over |c| <= h + d, d = 4.5 + 1.62M, which holds every x with |x| <= h + M + 9 (a <= 1; (1 + 2a)/κ < 1.62). Atoms,
the tails from x = h, need x beyond: from any y the tail beyond h + M + 9 is at most e^{−40} of the tail from h, in the
integral and in the sum alike.

Why `relative_error` holds. On a panel [C − s, C + s] let f(z) = G_c(C + sz) = Σ a_k T_k(z). In the ellipse of axes A, B
= (ρ ± 1/ρ)/2 |f| <= e^{m(ρ)}, so |a_k| <= 2e^{m(ρ)}ρ^{−k}. Gauss-Legendre with N nodes is exact to degree 2N − 1 and on
odd functions, its weights are positive with sum 2, and |∫T_k| <= 2/(k² − 1): it is wrong by at most s·Σ_{k = 2N, 2N+2,
…} (2 + 2/15)|a_k|, which is (64/15)s·e^{m(ρ)}ρ^{−2N}/(1 − ρ^{−2}). At z = A cosθ + iB sinθ, with E = |c − C|, log|f| =
−κ/2·((E − sA cosθ)² − s²B² sin²θ), whose maximum over θ is κ/2·B²(s² − E²/(A² + B²)) where E·A <= s(A² + B²), and
−κ/2·(E − sA)² beyond; both fall in E. ∫G_c falls in |c|. So over a cell of centres the least E and the farthest c bound
every ratio; any ρ > 1 will do, and the best of a few is taken per panel. """

from functools import lru_cache
from math import ceil, inf, log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.numerics import legendre, tails_array
from dpcalc.numerics.arrays import Array

NODES = 24  # per panel
_RHO = (1.5, 2.0, 2.6, 3.4, 4.5, 6.0, 8.0, 11.0, 16.0, 30.0, 100.0)  # the ellipses tried; any ρ > 1 proves a bound


class Grid(NamedTuple):
    x: Array
    w: Array
    error: float  # bound on the relative error of the integral of G_c for all |c| <= h + d


@lru_cache(maxsize=32)
def grid(half: float, pull: float, reach: float) -> Grid:
    """A quadrature with a relative error of a step of 1e-12, or nearly, by making its panels smaller; that of a million
    steps is then 1e-6. `reach` is M.

    Panels narrow towards the walls, where G_c is steep if its centre is outside. """
    beyond, kappa = 4.5 + 1.62 * reach, 1 + pull * pull
    shrink = 1.0
    while True:
        _, centres, halves = panels(half, shrink * 6.0, shrink * 16 / (1 + beyond))
        error = relative_error(centres, halves, half, beyond, kappa)
        if error < 1e-12 or shrink < 1e-2:
            break
        shrink *= 0.92
    t, w = legendre.rule(NODES)
    return Grid((centres[:, None] + halves[:, None] * t).ravel(), (halves[:, None] * w).ravel(), error)


def panels(half: float, widest: float, narrowest: float) -> tuple[Array, Array, Array]:
    """The edges of panels on [−half, half], symmetric about 0, with their centres and half-widths: `narrowest` at the
    walls, then each up to twice as wide as the one before, up to `widest`."""
    left, width = [-half], 2 * min(widest, narrowest)
    while left[-1] + 1.5 * width < 0 and width < 2 * widest:
        left.append(left[-1] + width)
        width = min(2 * width, 2 * widest)
    count = ceil(-left[-1] / width)
    left += [left[-1] * (count - k) / count for k in range(1, count)]
    edges = np.array([*left, 0.0, *(-x for x in reversed(left))])
    return edges, (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2


def relative_error(centres: Array, halves: Array, half: float, beyond: float, kappa: float,
                   nodes: int = NODES) -> float:
    """The proven bound on the relative error over all |c| <= half + beyond, for symmetric panels."""
    inside, outside = max(1, ceil(half / 0.25)), ceil(beyond * (1 + beyond) / 2)
    edges = np.concatenate([np.linspace(0, half, inside + 1), np.linspace(half, half + beyond, outside + 1)[1:]])
    low, high = edges[:-1, None], edges[1:, None]
    distance = np.maximum(np.maximum(low - centres, centres - high), 0.0)
    best = np.full(distance.shape, inf)
    for rho in _RHO:
        a, b = (rho + 1 / rho) / 2, (rho - 1 / rho) / 2
        both = a * a + b * b
        top = np.where(distance * a <= halves * both, b * b * (halves * halves - distance * distance / both),
                       -((distance - halves * a) ** 2))
        best = np.minimum(best, kappa / 2 * top - 2 * nodes * log(rho) - log1p(-(rho**-2)))
    best += np.log(halves) + log(64 / 15)
    return float(np.exp(best - _log_integral(edges[1:], half, kappa)[:, None]).sum(axis=1).max()) * (1 + 1e-9)


def _log_integral(c: Array, half: float, kappa: float) -> Array:
    """log ∫G_c over [−half, half] for c >= 0, from below: by tails, or where these cancel by the least value of G_c
    times the length."""
    root = sqrt(kappa)
    larger, smaller = tails_array.log_tail(root * (c - half)), tails_array.log_tail(root * (c + half))
    difference = larger - smaller
    by_tails = larger + np.log1p(-np.exp(-np.maximum(difference, 1e-2))) + 0.5 * log(2 * pi / kappa) - 1e-8
    return np.maximum(log(2 * half) - kappa * (c + half) ** 2 / 2, np.where(difference > 1e-2, by_tails, -inf))
