"""The privacy profile of a shuffled run by a plan: the p and c of the Theorem in shuffled_hiding.py, from one number Z.

The place of a record is the number m of slots after its own; a place is late if m is small, and early if m is large.
With μ_m the Gaussian-DP parameter of one place, μ(m, m′) that of two exchanged ones, θ(ε, μ) = Φ(μ/2 − ε/μ) − e^ε
Φ(−μ/2 − ε/μ), continued to ε < 0 by θ = 1 − e^ε + e^ε θ(−ε, μ), the theorem says

    δ(ε) <= (1/n) Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)),   Σ_m′ p_mm′ = 1 for every m,   Σ_m c_mm′ <= 1 for every
    m′.

The plan at Z. A place is early where μ_m < .6√(2ε) and t_m = e^{μ_m Z − μ_m²/2 − ε} < 1, which holds for the largest m,
as μ_m falls. A late place m has p_mm = π_m = min(1, e^{ε − μ_m(Z − μ̄_m + μ_m) + μ_m²/2}) and c_mm = 1, and distributes
1 − π_m over the early places in parts q_m′: p_mm′ = (1 − π_m)q_m′ and c_mm′ = t_mm′ p_mm′, t_mm′ = e^{μ(m,m′)Z −
μ(m,m′)²/2 − ε}. μ̄_m is the mean of μ(m, m′) over early m′ with the weights f_m′ = 1 − t_m′, and q_m′ = f_m′/(T_m′F),
T_m′ = Σ_m (1 − π_m)t_mm′, where F makes the q add up to 1. An early place has p = 1 with what is left of its column, c
= 1 − q_m′T_m′ = 1 − f_m′/F. So every Z with 1 <= F < ∞ gives a bound, as f < 1 (F is infinite where no π_m is below 1);
the one with F = 1 is nearly the best.

Places are taken in blocks, each with the largest μ of its places.
"""

from collections.abc import Callable
from functools import cached_property
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary_array import log_sums
from dpcalc.numerics.hockey_stick_array import log_theta

# Relative margin for the rounding of the sums and exponentials of a plan. The rounding of ε in sums with other
# logarithms (a unit in its last place) is covered by log_theta, which allows for as much in its arguments.
MARGIN = 1e-12
_LEAST_LOG = 1e-9  # smaller −log t and −log π count as 0, so that rounding does not decide which places are early
_TARGET_LOG_F = 1e-8  # the search for Z ends with log F at most 1.9 times this and above 0; it costs 1e-8 of log δ
_EARLY_RATIO = 0.6  # largest μ/√(2ε) of an early place; any limit is valid; with 1, log δ was up to .3 larger


class Places(NamedTuple):
    """The places of a record in blocks, the latest first; every μ is at least that of all places of its block."""

    lengths: Array  # places in each block
    own: Array  # μ of one place, falling
    pair: Array  # μ of two exchanged places, m in the row's block and m′ > m in the column's; other entries are unused

    @property
    def total(self) -> float:
        return float(self.lengths.sum())


def profile(places: Places, epsilons: Array) -> tuple[Array, Array]:
    """Upper bounds on log δ at every ε >= 0, and the Z of each proof, which is NaN where p = c = 1 on the diagonal
    gives the smaller bound."""
    places = places._replace(own=np.maximum.accumulate(places.own[::-1])[::-1])  # falling in spite of rounding
    bound, found = alone(places, epsilons), np.full(len(epsilons), np.nan)
    has_early = (epsilons > 0) & (places.own[-1] < _EARLY_RATIO * np.sqrt(2 * epsilons)) & (len(places.own) > 1)
    # The largest array of a plan has an element for every ε and pair of blocks: ε are taken in chunks, of 1.6 MB.
    candidates, rows = np.nonzero(has_early)[0], max(1, 200_000 // places.pair.size)
    for k in range(0, len(candidates), rows):
        here = candidates[k : k + rows]
        with np.errstate(all="ignore"):  # logarithms of 0, and bounds that are infinite where F is
            plan = Plan(places, epsilons[here])
            z = plan.best_z()
            value = plan.bound(z)
        smaller = value < bound[here]
        bound[here[smaller]], found[here[smaller]] = value[smaller], z[smaller]
    return bound, found


def alone(places: Places, epsilons: Array) -> Array:
    """log of (1/n) Σ_m θ(ε, μ_m), rounded up: the bound with p = c = 1 on the diagonal."""
    logs = log_theta(epsilons[:, None], places.own) + np.log(places.lengths)
    found: Array = np.minimum(log_sums(logs) - log(places.total) + MARGIN, 0.0)
    return found


class Plan:
    """The plans for an array of ε > 0; the methods take an array with one Z for each ε."""

    def __init__(self, places: Places, epsilons: Array) -> None:
        self.places, self.e = places, epsilons[:, None]
        self.log_lengths = np.log(places.lengths)
        self.may_be_early = places.own < _EARLY_RATIO * np.sqrt(2 * self.e)

    @cached_property
    def first(self) -> int:
        """The first block that may be early at some ε."""
        return int(self.may_be_early.any(axis=0).argmax())

    def shares(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """For every Z (rows): which blocks are early, log f of the early blocks, log π of the late ones, and log t of
        the pairs."""
        mu, e, z = self.places.own, self.e, z[:, None]
        log_t = np.minimum(mu * z - mu * mu / 2 - e, 0.0)
        early = self.may_be_early & (log_t < -_LEAST_LOG)
        f = np.where(early, -np.expm1(log_t), 0.0)
        weights = f * self.places.lengths
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        late, j = int((~early).sum(axis=1).max()), self.first  # the numbers of blocks that are late at some ε
        pair = self.places.pair[:late, j:]
        mean = weights[:, j:] @ pair.T
        own = mu[:late]
        log_pi = e - own * (z - mean + own) + own * own / 2
        log_pi = np.where(early[:, :late] | (log_pi > -_LEAST_LOG), 0.0, log_pi)
        return early, np.log(f[:, j:]), log_pi, pair * z[:, :, None] - pair * pair / 2 - e[:, :, None]

    def parts(self, z: Array) -> tuple[Array, Array, Array, tuple[Array, Array, Array, Array]]:
        """log F, log(qF), log(1 − π), and the result of `shares`."""
        _, log_f, log_pi, log_t = shares = self.shares(z)
        log_rest, lengths = np.log(-np.expm1(log_pi)), self.log_lengths
        log_total = log_sums(log_t + (log_rest + lengths[: log_pi.shape[1]])[:, :, None])
        log_q = np.where(np.isneginf(log_f), -inf, log_f - log_total)
        return log_sums(log_q + lengths[self.first :]), log_q, log_rest, shares

    def best_z(self) -> Array:
        """Z with F slightly above 1, by regula falsi (the Illinois method), as F falls in Z. Any Z with F >= 1 is
        valid, and `bound` checks that."""
        mu, e = self.places.own, self.e[:, 0]
        low: Array = np.zeros(len(e))
        high: Array = (e + log(2 * self.places.total) + 1) / mu[0] + 2 * mu[0]
        at_low, at_high = np.full(len(e), inf), np.full(len(e), -inf)
        z, side = self._guess(), np.zeros(len(e))
        z = np.where((z > low) & (z < high), z, high / 2)
        for _ in range(60):  # about 8 are needed
            value = self.parts(z)[0] - _TARGET_LOG_F
            up = ~(value < 0)  # where every π is 1, F is infinite and the value may be NaN
            at_high = np.where(up & (side > 0), at_high / 2, at_high)
            at_low = np.where(~up & (side < 0), at_low / 2, at_low)
            low, at_low = np.where(up, z, low), np.where(up, value, at_low)
            high, at_high = np.where(up, high, z), np.where(up, at_high, value)
            side = np.where(up, 1.0, -1.0)
            done = np.abs(value) < 0.9 * _TARGET_LOG_F
            low = np.where(done, z, low)
            if (done | (high - low <= 4e-16 * high)).all():
                break
            z_next = low + (high - low) * at_low / (at_low - at_high)
            z = np.where(done, z, np.where((z_next > low) & (z_next < high), z_next, (low + high) / 2))
        return low

    def _guess(self) -> Array:
        """A Z near the root: where the mean of e^{μ_m Z − μ_m²/2} over all places is e^ε, by Newton's method from
        above."""
        mu, e = self.places.own, self.e[:, 0]
        z: Array = np.sqrt(2 * log(max(self.places.total, 3))) + e / mu[0] + mu[0] / 2
        for _ in range(8):
            y = mu * z[:, None] - mu * mu / 2 + self.log_lengths
            total = log_sums(y)
            z = z - (total - log(self.places.total) - e) / (np.exp(y - total[:, None]) @ mu)
        return z

    def bound(self, z: Array) -> Array:
        """Upper bounds on log δ; inf where F < 1. The margins make the rows of p add up to slightly more than 1, and
        the columns of c to slightly less, as the theorem allows."""
        log_whole, log_q, log_rest, (early, log_f, log_pi, log_t) = self.parts(z)
        valid = (log_whole > MARGIN) & (log_whole < inf)
        log_q = log_q - np.where(valid, log_whole, 0.0)[:, None] + MARGIN
        e, lengths, late, j = self.e, self.log_lengths, log_pi.shape[1], self.first
        pair, own = self.places.pair[:late, j:], self.places.own
        exchanged = _log_theta(log_t + e[:, :, None], pair)
        exchanged = exchanged + (log_rest + lengths[:late])[:, :, None] + (log_q + lengths[j:])[:, None, :]
        late_own = np.where(early[:, :late], -inf, log_theta(e - log_pi, own[:late]) + log_pi + lengths[:late])
        log_c = np.log1p(-np.minimum(np.exp(log_f - np.where(valid, log_whole, 0.0)[:, None]) * (1 + 4 * MARGIN), 1.0))
        early_own = np.where(early[:, j:], _log_theta(e + log_c, own[j:]) + lengths[j:], -inf)
        total = log_sums(np.concatenate([exchanged.reshape(len(z), -1), late_own, early_own], axis=1))
        found: Array = np.where(valid, np.minimum(total - log(self.places.total) + 2 * MARGIN, 0.0), inf)
        return found


def _log_theta(x: Array, mu: Array) -> Array:
    """log θ(x, μ) for every real x, rounded up; log_theta takes x >= 0 only."""
    above = log_theta(np.abs(x).reshape(-1, mu.shape[-1]),
                      np.broadcast_to(mu, x.shape).reshape(-1, mu.shape[-1])).reshape(x.shape)
    if (x >= 0).all():
        return above
    below = np.minimum(x, 0.0)
    other = np.log(-np.expm1(below) + np.exp(below + above)) + MARGIN
    return np.where(x >= 0, above, np.minimum(other, 0.0))


# --- at high precision -----------------------------------------------------------------------------------------------


class PlacesExact(NamedTuple):
    """The blocks of `Places` at high precision: their lengths, and μ as functions of block indices."""

    lengths: list[int]
    own: Callable[[int], Any]
    pair: Callable[[int, int], Any]


def exact(mp: Any, places: PlacesExact, epsilon: Any, z: float | None) -> Any:
    """The bound δ at ε at high precision, by the plan at Z, in blocks; without Z by p = c = 1 on the diagonal.

    Where F < 1, the rows of p add up to less than 1, and the missing mass is added to δ. """
    e, lengths = mp.mpf(epsilon), places.lengths
    own = [places.own(j) for j in range(len(lengths))]
    n, zed = sum(lengths), mp.mpf(z or 0)

    def ratio(mu: Any) -> Any:
        """log t of a place or a pair with this μ."""
        return mu * zed - mu * mu / 2 - e

    early = [k for k, mu in enumerate(own) if z and float(mu) ** 2 < _EARLY_RATIO**2 * 2 * float(e)
             and float(ratio(mu)) < -_LEAST_LOG]
    late = range(early[0]) if early else range(len(own))
    f = {k: -mp.expm1(ratio(own[k])) for k in early}
    weight = mp.fsum(f[k] * lengths[k] for k in early)
    pairs = {(m, k): places.pair(m, k) for m in late for k in early}
    means = [mp.fsum(f[k] * lengths[k] * pairs[m, k] for k in early) / weight if early else own[m] for m in late]
    log_pi = [e - own[m] * (zed - means[m] + own[m]) + own[m] ** 2 / 2 for m in late]
    # The blocks of late places with π < 1, each with the sum of 1 − π over its places.
    moving = {m: -mp.expm1(log_pi[m]) * lengths[m] for m in late if early and float(log_pi[m]) < -_LEAST_LOG}
    if not moving:
        return mp.fsum(size * _theta_exact(mp, e, mu) for size, mu in zip(lengths, own, strict=True)) / n
    log_t = {(m, k): ratio(pairs[m, k]) for m in moving for k in early}
    q = {k: f[k] / mp.fsum(moving[m] * mp.exp(log_t[m, k]) for m in moving) for k in early}
    whole = mp.fsum(q[k] * lengths[k] for k in early)
    scale = whole if float(whole) >= 1 else mp.mpf(1)
    exchanged = mp.fsum(moving[m] * q[k] * lengths[k] / scale * _theta_exact(mp, log_t[m, k] + e, pairs[m, k])
                        for m in moving for k in early)
    late_own = mp.fsum(lengths[m] * (mp.exp(log_pi[m]) * _theta_exact(mp, e - log_pi[m], own[m]) if m in moving
                                     else _theta_exact(mp, e, own[m])) for m in late)
    early_own = mp.fsum(lengths[k] * _theta_exact(mp, e + mp.log(1 - f[k] / scale), own[k]) for k in early)
    lacking = (1 - whole / scale) * mp.fsum(moving.values())
    return (exchanged + late_own + early_own + lacking) / n


def _theta_exact(mp: Any, x: Any, mu: Any) -> Any:
    """θ(x, μ) at high precision for every real x."""
    try:
        return theta(mp, x, mu) if float(x) >= 0 else -mp.expm1(x) + mp.exp(x) * theta(mp, -x, mu)
    except OverflowError:  # x/μ is too large for the erfc of mpmath
        return mp.mpf(10) ** -100_000 if float(x) >= 0 else -mp.expm1(x)
