"""The Gaussian-DP parameters of two shuffled runs that differ in one place of the order, or in two exchanged places.

A record with m later slots moves two runs apart by 2ηL/b there; every slot multiplies their distance by at most c and
adds noise ησ. The shift lemma (Feldman et al. 2018; Altschuler & Talwar 2022) says that the last iterates are μ-GDP
with μ² = (2L/(bσ))²·cost, where cost is the least Σ a_k²/(noise)_k² of shifts a_k that undo every push before the run
ends (bounds/noisy_sgd/_engine/taut.py). In units of one push, and with V(k) = Σ_{j<k} c^{2j} and share(m) =
c^{2m}/V(m+1):

    one push at m:                      share(m)
    two pushes, at m < m′, d = m′ − m:  share(d−1) + share(m), the earlier one undone before the later one comes; or,
                                        only where c^d·V(m+1) >= c^{2m+2}·V(d) (for c = 1: d <= m + 1),
                                        (c^m + c^{m′})²/V(m′+1), both undone together.

Proof. Count pushes and noise at the end of the run: c^{m′} and c^m, and V(m′+1) in all, c^{2m+2}V(d) of it before the
later push. If x is undone before the later push and the rest after it, the cost is at least x²/(c^{2m+2}V(d)) + (c^m +
c^{m′} − x)²/V(m+1) (Cauchy–Schwarz), and shifts in proportion to the noise within both parts attain it; x is at most
c^{m′}, as there is no other push yet. The free minimum over x is both pushes over all noise, (c^m + c^{m′})²/V(m′+1),
and has x <= c^{m′} just where the condition holds; else x = c^{m′} is best.∎
The first form is always valid, as it is the cost of possible shifts; the second one is smaller, and false where the
condition fails. For c = 0 the cost is 1 where m = 0, and else 0.
"""

from functools import cache, lru_cache, partial
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from dpcalc.bounds.hiding._engine.plan import Places, PlacesExact
from dpcalc.bounds.noisy_sgd._engine.taut import not_less
from dpcalc.bounds.pnsgd._engine.family import Family
from dpcalc.bounds.pnsgd._engine.positions import starts
from dpcalc.bounds.pnsgd._engine.shares import Powers, Ratio
from dpcalc.bounds.pnsgd._engine.shares_array import log_shares, scaled_many
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.mp.memo import cached_by_precision


def ratio_of_two(first: float, log_c: float, m: Array, later: Array) -> Array:
    """μ of two exchanged places with m < m′ later slots, rounded up."""
    if log_c == -inf:
        return scaled_many(first, np.where(m == 0, 0.0, -inf))
    d = later - m
    separate = np.logaddexp(log_shares(log_c, d - 1), log_shares(log_c, m))
    with np.errstate(over="ignore", invalid="ignore"):
        together = log_shares(log_c, later) + 2 * np.logaddexp(0.0, -d * log_c if log_c else np.zeros_like(d))
    found: Array = scaled_many(first, np.where(_is_merged(log_c, m, d), np.minimum(together, separate), separate))
    return found


def _is_merged(log_c: float, m: Array, d: Array) -> Array:
    """Whether it is best to undo both pushes together: c^d·V(m+1) >= c^{2m+2}·V(d)."""
    if log_c == 0:
        return m + 1 >= d
    with np.errstate(over="ignore", under="ignore"):
        if log_c < 0:
            merged: Array = -np.expm1(2 * (m + 1) * log_c) * np.exp((d - 2 * m - 2) * log_c) >= -np.expm1(2 * d * log_c)
        else:
            merged = -np.expm1(-2 * (m + 1) * log_c) * np.exp(-d * log_c) >= -np.expm1(-2 * d * log_c)
        return merged


def noise_sum(mp: Any, c: Any, k: int, power: Any) -> Any:
    """V(k) = Σ_{j<k} c^{2j} at high precision, from c^k."""
    return mp.mpf(k) if c == 1 else (1 - power * power) / (1 - c * c)


def cost_of_two_exact(mp: Any, c: Any, m: int, later: int, powers: tuple[Any, Any] | None = None) -> Any:
    """The cost of two exchanged places, m < m′, at high precision; `powers` may give c^m and c^m′."""
    if c == 0:
        return mp.mpf(m == 0)
    at_m, at_later = powers or (c**m, c**later)
    d, ratio = later - m, at_later / at_m  # c^d
    after, between = noise_sum(mp, c, m + 1, c * at_m), noise_sum(mp, c, d, ratio)
    left, right = ratio * after, (c * at_m) ** 2 * between  # whether c^d·V(m+1) >= c^{2m+2}·V(d)
    if c > 1:  # both sides are divided by numbers that may be very large
        left, right = (1 - (c * at_m) ** -2) / ratio, 1 - ratio**-2
    if not_less(left, right):
        return (at_m + at_later) ** 2 / noise_sum(mp, c, later + 1, c * at_later)
    return (ratio / c) ** 2 / between + at_m**2 / after


# --- the places of a shuffled pass, in blocks -------------------------------------------------------------------------

# So many first places are blocks of one place each, as μ changes most there; with 8, δ in coarse blocks is 2 % larger.
SINGLE_PLACES = 16


def _begins(mu: Ratio, n: int, fine: int) -> list[int]:
    """The first places of the blocks; the last one holds all places with the same μ in doubles (for c > 1 many)."""
    found = starts(n, fine, SINGLE_PLACES)
    own = mu.many(np.array(found, float))
    return found[: int((own <= own[-1]).argmax()) + 1]


@lru_cache(maxsize=8)
def places(mu: Ratio, n: int, fine: int) -> Places:
    """The places of a pass of n slots in blocks, each with the largest μ of its places.

    Without noise in the steps μ(m, m′) = μ_m + μ_m′, and both fall (output_perturbation_shuffled_hiding.py). With noise
    and c <= 1 the largest μ is that of the last slots, as μ falls in both places: where a push comes one slot earlier,
    shift nothing of it before its original slot; by then it has contracted to at most c <= 1 pushes, and the original
    shifts, reduced where less remains to be undone, undo it. For c > 1 the cost of one place falls too. The cost of two
    is continuous in real m and m′, as both forms agree where the condition changes. In m′ both forms fall:
    share(m′−m−1), and (1 + c^{m−m′})²·share(m′). In m the pushes are undone together from some m on, as log((c^{2m+2} −
    1)/(c^m(c^{2m′} − c^{2m}))) rises, by at least log c; before, the cost share(m′−m−1) + share(m) is convex, as share
    is (c² − 1)/(c² − c^{−2m}), and after it rises. So the largest cost in a block of m is that of its first or its last
    place, and the larger of the two is taken. """
    begins = np.array(_begins(mu, n, fine), float)
    lengths, own, (first, log_c) = np.diff(np.append(begins, n)), mu.many(begins), mu
    if isinstance(mu, Powers):
        return Places(lengths, own, (own[:, None] + own) * (1 + 4e-16))
    columns, largest_row = np.maximum(begins, 1) + 0 * begins[:, None], np.maximum(begins - 1, 0)
    pair = ratio_of_two(first, log_c, np.minimum(begins[:, None], largest_row), columns)
    if log_c > 0:
        last_places = begins + lengths - 1
        pair = np.maximum(pair, ratio_of_two(first, log_c, np.minimum(last_places[:, None], largest_row), columns))
    return Places(lengths, own, pair)


@cached_by_precision()
def places_exact(mp: Any, family: Family, n: int, fine: int, **p: float) -> PlacesExact:
    """The blocks of `places` at high precision. They do not depend on ε, and with them every μ is cached."""
    begins = _begins(family.ratios(**p), n, fine)
    lengths = [b - a for a, b in pairwise([*begins, n])]
    (first, c), own = family.start_exact(mp, **p), family.ratios_exact(mp, **p)

    def cost(m: int, later: int) -> Any:
        return cost_of_two_exact(mp, c, m, later, (power(m), power(later)))

    @cache
    def power(m: int) -> Any:
        return c**m

    @cached_by_precision(inf)
    def pair(mp: Any, i: int, j: int) -> Any:
        if family.kind is Powers:
            return own(begins[i]) + own(begins[j])
        found = cost(begins[i], begins[j])
        if c > 1 and lengths[i] > 1:
            other = cost(begins[i] + lengths[i] - 1, begins[j])
            found = (found + other + abs(found - other)) / 2  # the larger one: balls that overlap have no order
        return first * mp.sqrt(found)

    return PlacesExact(lengths, lambda j: own(begins[j]), partial(pair, mp))
