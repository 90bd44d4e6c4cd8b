"""A shuffled record whose divergence is brought down by every block of later slots, as a convex set keeps two runs within D.

    δ(ε) <= (1/n)[Σ_{m<a} θ(ε, μ_m) + (1 + B + … + B^{J−1}) Σ_{a<=m<a+k} θ(ε, μ_m)],   J = ⌈(n − a)/k⌉,
    B = θ(log(1 + (e^ε − 1)/d), κ_k),   d = θ(ε, μ_a),   κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^{2j}),   for all whole a >= 0 and k >= 1.

Proof. A place m >= a is m = a′ + jk with a <= a′ < a + k. With a′ later slots the divergence is at most θ(ε, μ_a′) <= d (iteration.py), and
each of the j blocks of k slots after them brings a divergence x <= d to at most x·θ(log(1 + (e^ε − 1)/x), κ_k) <= xB (chain.py), as θ
falls in its first argument. So it is at most θ(ε, μ_a′)B^j; j < J. The mean over places is joint convexity. ∎

With a = 0, k = 1 that is not above shuffled-contraction (Gaussian noise), and with a = n it is shuffled-iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.pnsgd.hiding import SURE, PlacesExact
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.bounds.pnsgd.hiding import Places

    Array = NDArray[Any]

_USEFUL = 0.3, 12.0  # κ of the blocks that are tried: a larger one hardly contracts, and a smaller one is as good as two blocks


def profile(places: Places, epsilons: Array, reach: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """log δ at every ε, from above, and the a and a + k that prove it, which are starts of blocks. `reach` is k → κ_k, from above."""
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
    with np.errstate(over="ignore", divide="ignore"):
        level = np.log1p(np.exp(np.log(np.expm1(np.minimum(epsilons, 600.0)))[:, None] - logs)) * (1 - 1e-14)
        log_b = np.minimum(log_theta(np.maximum(level, epsilons[:, None])[:, i], kappa), -1e-18)
    blocks = np.ceil((n - at[i]) / k)
    total = before[:, i] + (before[:, j] - before[:, i]) * np.expm1(blocks * log_b) / np.expm1(log_b)
    best = total.argmin(axis=1)
    found = logs[:, 0] + np.log(total[np.arange(len(epsilons)), best]) - log(n) + 10 * SURE
    return np.minimum(found, 0.0), at[i[best]], at[j[best]]


def exact(mp: Any, places: PlacesExact, epsilon: Any, a: int, s: int, reach: Callable[[int], Any],
          theta: Callable[[Any, Any, Any], Any]) -> Any:
    """δ at high precision, in the same blocks; a and s = a + k are starts of some."""
    e, n = mp.mpf(epsilon), sum(places.lengths)
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
    b = theta(mp, mp.log1p(mp.expm1(e) / d), reach(s - a))
    count = -(-(n - a) // (s - a))
    return (first + second * (1 - b**count) / (1 - b)) / n
