"""A shuffled record whose divergence is brought down by every block of later slots, as a convex set keeps two runs
within D.

    δ(ε) <= (1/n)[Σ_{m<a} θ(ε, μ_m) + (1 + B + … + B^{J−1}) Σ_{a<=m<a+k} θ(ε, μ_m)],   J = ⌈(n − a)/k⌉,
    B = θ(log(1 + (e^ε − 1)/d), κ_k),   d = θ(ε, μ_a),   κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^{2j}),   for whole 0 <= a < n, k
    >= 1 and c <= 1.

Where d = 0, all places from a on have no divergence and B = 0 will do.
Proof. Fix the order. A place m >= a is m = a′ + jk with a <= a′ < a + k. With a′ later slots the divergence is at most
θ(ε, μ_a′) <= d (bounds/pnsgd/_engine/positions.py), as μ falls for c <= 1, and each of the j blocks of k slots after
them brings a divergence x <= d to at most x·θ(log(1 + (e^ε − 1)/x), κ_k) <= xB (bounds/pnsgd/_engine/hybrid.py), as θ
falls in its first argument. So it is at most θ(ε, μ_a′)B^j; j < J. The mean over orders, and so over places, is joint
convexity. ∎

With a = 0, k = 1 that is not above shuffled-contraction (Gaussian noise). Places are taken in blocks, each as if all of
it were at its last slots, so a and a + k must be starts of blocks (or a + k the end): then no block is partly in one
sum. """

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.hiding._engine.plan import SURE, PlacesExact
from dpcalc.numerics.hockey_stick_array import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.bounds.hiding._engine.plan import Places

    Array = NDArray[Any]

# range of κ that is tried: a block with a larger one hardly contracts, one with a smaller one is longer than needed
_USEFUL = 0.3, 12.0
_LARGE = 600.0  # an ε: e^ε − 1 is e^ε


def profile(places: Places, epsilons: Array, reach: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """log δ at every ε, from above, and the a and a + k that prove it, which are starts of blocks. `reach` is k → κ_k,
    from above."""
    n = places.total
    at = np.cumsum(places.lengths) - places.lengths
    i, j = np.triu_indices(len(at), 1)
    k = at[j] - at[i]
    kappa = reach(k)
    tried = (kappa <= _USEFUL[1]) & (kappa >= _USEFUL[0]) | (j == i + 1)
    i, j, k, kappa = i[tried], j[tried], k[tried], kappa[tried]
    logs = log_theta(epsilons[:, None], places.own)
    if not len(i):
        return logs[:, 0], np.zeros(len(epsilons)), np.zeros(len(epsilons))
    height = np.exp(logs - logs[:, :1]) * places.lengths
    before = np.cumsum(height, axis=1) - height
    blocks = np.ceil((n - at[i]) / k)
    with np.errstate(all="ignore"):
        log_b = log_theta(_levels(epsilons, logs)[:, i], kappa)
        powers = np.where(log_b == 0, blocks, np.expm1(blocks * log_b) / np.expm1(log_b))
    total = before[:, i] + (before[:, j] - before[:, i]) * powers
    best = total.argmin(axis=1)
    found = logs[:, 0] + np.log(total[np.arange(len(epsilons)), best]) - log(n) + 10 * SURE
    return np.minimum(found, 0.0), at[i[best]], at[j[best]]


def _levels(epsilons: Array, logs: Array) -> Array:
    """log(1 + (e^ε − 1)/d), rounded down; never below ε; large where d = 0."""
    e = epsilons[:, None]
    log_gap = np.where(e < _LARGE, np.log(np.expm1(np.minimum(e, _LARGE))), e)
    level = np.where(np.isneginf(logs), 1e300, np.where(e == 0, 0.0, np.logaddexp(0.0, log_gap - logs) * (1 - 1e-14)))
    found: Array = np.maximum(level, e)
    return found


def exact(mp: Any, places: PlacesExact, epsilon: Any, a: int, s: int, reach: Callable[[int], Any],
          theta: Callable[[Any, Any, Any], Any]) -> Any:
    """δ at high precision, in the same blocks. Raises ValueError where a and s = a + k are not starts of some."""
    e, n, ends = mp.mpf(epsilon), sum(places.lengths), [0, *accumulate(places.lengths)]
    if not (a < s and a in ends[:-1] and s in ends[1:]):
        raise ValueError(f"no blocks of places are those from {a} to {s}")
    first, second, d, at = mp.mpf(0), mp.mpf(0), None, 0
    for j, size in enumerate(places.lengths):
        if at >= s:
            break
        value = size * theta(mp, e, places.own(j))
        if at < a:
            first += value
        else:
            second += value
            d = value / size if d is None else d
        at += size
    if not float(d or 0) > 0:
        return first / n
    b = theta(mp, mp.log1p(mp.expm1(e) / d), reach(s - a))
    count = -(-(n - a) // (s - a))
    return (first + second * (1 - b**count) / (1 - b)) / n
