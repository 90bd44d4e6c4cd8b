"""The privacy profile of a shuffled run in a convex set of diameter D, where every block of later slots contracts the
divergence.

    δ(ε) <= (1/n)[Σ_{m<a} θ(ε, μ_m) + (1 + B + … + B^{J−1}) Σ_{a<=m<a+k} θ(ε, μ_m)],   J = ⌈(n − a)/k⌉,
    B = θ(log(1 + (e^ε − 1)/d), κ_k),   d = θ(ε, μ_a),   κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^{2j}),   for whole 0 <= a < n, k
    >= 1 and c <= 1.

Where d = 0, all places from a on have no divergence, and B = 0 is valid.
Proof. Fix the order. A place m >= a is m = a′ + jk with a <= a′ < a + k. With a′ later slots the divergence is at most
θ(ε, μ_a′) <= d (bounds/pnsgd/_engine/shares.py), as μ falls for c <= 1, and each of the j blocks of k slots after
them brings a divergence x <= d to at most x·θ(log(1 + (e^ε − 1)/x), κ_k) <= xB (bounds/pnsgd/_engine/hybrid.py), as θ
falls in its first argument. So it is at most θ(ε, μ_a′)B^j; j < J. The mean over orders, and so over places, is joint
convexity. ∎

With a = 0, k = 1 the bound is not above shuffled-contraction (Gaussian noise). Places are taken in blocks, each with
the largest μ of its places, so a and a + k must be starts of blocks (or a + k the end): then no block is partly in one
sum."""

from collections.abc import Callable
from itertools import accumulate
from math import log
from typing import Any

import numpy as np

from dpcalc.bounds.hiding._engine.plan import MARGIN, Places, PlacesExact
from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick_array import log_theta


def profile(places: Places, epsilons: Array, reach: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """Upper bounds on log δ at every ε, each with the a and a + k of its proof; `reach` maps k to an upper bound on
    κ_k."""
    n = places.total
    begins = np.cumsum(places.lengths) - places.lengths
    i, j = np.triu_indices(len(begins), 1)
    k = begins[j] - begins[i]
    kappa = reach(k)
    # Any a and k are valid. A block with a larger κ hardly contracts (the best κ is about 2), and one with a smaller κ
    # is longer than needed.
    tried = (kappa <= 4) & (kappa >= 0.3) | (j == i + 1)
    i, j, k, kappa = i[tried], j[tried], k[tried], kappa[tried]
    logs = log_theta(epsilons[:, None], places.own)
    if not len(i):
        return logs[:, 0], np.zeros(len(epsilons)), np.zeros(len(epsilons))
    height = np.exp(logs - logs[:, :1]) * places.lengths
    before = np.cumsum(height, axis=1) - height
    blocks = np.ceil((n - begins[i]) / k)
    with np.errstate(all="ignore"):
        log_b = log_theta(_inner_epsilons(epsilons, logs)[:, i], kappa)
        powers = np.where(log_b == 0, blocks, np.expm1(blocks * log_b) / np.expm1(log_b))
    total = before[:, i] + (before[:, j] - before[:, i]) * powers
    best = total.argmin(axis=1)
    found = logs[:, 0] + np.log(total[np.arange(len(epsilons)), best]) - log(n) + 10 * MARGIN
    return np.minimum(found, 0.0), begins[i[best]], begins[j[best]]


def _inner_epsilons(epsilons: Array, logs: Array) -> Array:
    """log(1 + (e^ε − 1)/d), rounded down, for log d in `logs`; never below ε, and large where d = 0."""
    e = epsilons[:, None]
    log_odds = np.where(e < 600, np.log(np.expm1(np.minimum(e, 600.0))), e)
    inner = np.where(np.isneginf(logs), 1e300, np.where(e == 0, 0.0, np.logaddexp(0.0, log_odds - logs) * (1 - 1e-14)))
    found: Array = np.maximum(inner, e)
    return found


def exact(mp: Any, places: PlacesExact, epsilon: Any, a: int, s: int, reach: Callable[[int], Any]) -> Any:
    """The bound δ at high precision, by the blocks of `places`. Raises ValueError where a and s = a + k are not starts
    of blocks."""
    e, n, boundaries = mp.mpf(epsilon), sum(places.lengths), [0, *accumulate(places.lengths)]
    if not (a < s and a in boundaries[:-1] and s in boundaries[1:]):
        raise ValueError(f"no blocks of places are those from {a} to {s}")
    first, second, d = mp.mpf(0), mp.mpf(0), None
    for j, (begin, size) in enumerate(zip(boundaries, places.lengths, strict=False)):
        if begin >= s:
            break
        value = theta(mp, e, places.own(j))
        if begin < a:
            first += size * value
        else:
            second += size * value
            d = value if d is None else d
    if not float(d or 0) > 0:
        return first / n
    b = theta(mp, mp.log1p(mp.expm1(e) / d), reach(s - a))
    count = -(-(n - a) // (s - a))
    return (first + second * (1 - b**count) / (1 - b)) / n
