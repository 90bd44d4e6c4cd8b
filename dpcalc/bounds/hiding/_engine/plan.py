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
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary_array import log_sums
from dpcalc.numerics.hockey_stick_array import log_theta, log_theta_to

# Relative margin for the rounding of the sums and exponentials of a plan. The rounding of ε in sums with other
# logarithms (a unit in its last place) is covered by log_theta, which allows for as much in its arguments.
MARGIN = 1e-12
_LEAST_LOG = 1e-9  # smaller −log t and −log π count as 0, so that rounding does not decide which places are early
# The search for Z ends with log F at most 1.9 times this above what is lost by rounding; it costs 1e-8 of log δ.
_TARGET_LOG_F = 1e-8
_UNDERFLOW = 745.0  # e^−745 is about the least double above 0
_MOST_STEPS = 25  # of the search for Z: about 4 are needed, and more where next to ε = 0 no Z has F >= 1
# So many ε are taken at once, the smallest first: their largest array, of which there are a few, has an element for
# every ε and pair of a block that is late and one that is early at some of them.
_AT_ONCE = 16
_SLOPE = 2.0  # log F falls at least twice this with log Z next to the root, so that a first step by it passes the root
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
    candidates = np.nonzero(has_early)[0]
    for k in range(0, len(candidates), _AT_ONCE):
        here = candidates[k : k + _AT_ONCE]
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


class Parts(NamedTuple):
    """What the plans at an array of Z consist of, for every ε (rows)."""

    early: Array  # whether a block is early
    first: int  # the first block that is early at some ε
    log_f: Array  # of every block from `first` on
    log_pi: Array  # of every block that is late at some ε
    log_rest: Array  # log(1 − π), up to the last block in which that is positive at some ε
    log_q: Array  # log(qF) of every block from `first` on
    log_whole: Array  # log F


class Plan:
    """The plans for an array of ε > 0; the methods take an array with one Z for each ε."""

    def __init__(self, places: Places, epsilons: Array) -> None:
        self.places, self.e, self.log_lengths = places, epsilons[:, None], np.log(places.lengths)

    def parts(self, z: Array) -> Parts:
        """The parts of the plans at every Z."""
        mu, e, z, lengths = self.places.own, self.e, z[:, None], self.log_lengths
        log_t = np.minimum(mu * z - mu * mu / 2 - e, 0.0)
        early = (mu < _EARLY_RATIO * np.sqrt(2 * e)) & (log_t < -_LEAST_LOG)
        first, late = int(np.append(early.any(axis=0), True).argmax()), int((~early).sum(axis=1).max())
        f = np.where(early, -np.expm1(log_t), 0.0)[:, first:]
        weights = f * self.places.lengths[first:]
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        own = mu[:late]
        log_pi = e - own * (z - weights @ self.places.pair[:late, first:].T + own) + own * own / 2
        log_pi = np.where(early[:, :late] | (log_pi > -_LEAST_LOG), 0.0, log_pi)
        moving = int(np.nonzero((log_pi < 0).any(axis=0))[0].max(initial=-1)) + 1
        rest = -np.expm1(log_pi[:, :moving])
        log_q = np.where(f > 0, np.log(f) - self.log_totals(z, rest, first), -inf)
        return Parts(early, first, np.log(f), log_pi, np.log(rest), log_q, log_sums(log_q + lengths[first:]))

    def log_totals(self, z: Array, rest: Array, first: int) -> Array:
        """log T of every block from `first` on, from the 1 − π of the first blocks, for every Z (a column).

        e^{μZ − μ²/2} is in units of its largest value up to the largest μ of the column, which is that at Z or there.
        """
        moving = rest.shape[1]
        pair = self.places.pair[:moving, first:]
        largest = np.minimum(pair.max(axis=0, initial=0.0), z)
        t = pair - z[:, :, None]
        t *= t
        t -= ((largest - z) ** 2)[:, None, :]
        t *= -0.5
        np.exp(t, out=t)
        total = ((rest * self.places.lengths[:moving])[:, None, :] @ t)[:, 0]
        return np.asarray(np.log(total) + largest * (z - largest / 2) - self.e)

    def rounding(self, z: Array) -> Array:
        """A bound on the relative rounding error of T, and so of the sum of c over the late places: 1e-12 for sums and
        some units in the last place of ε, of Z² and of an exponent that does not underflow, for the exponents."""
        return np.asarray(4 * MARGIN + 2e-15 * (self.e[:, 0] + z * z + 2 * _UNDERFLOW))

    def slope(self, parts: Parts) -> Array:
        """How fast log F falls with Z, as far as it is by the f of the early blocks."""
        share = np.exp(parts.log_q - parts.log_whole[:, None] + self.log_lengths[parts.first:])
        return np.asarray((share * self.places.own[parts.first:] * np.expm1(-parts.log_f)).sum(axis=1))

    def best_z(self) -> Array:
        """Z with F slightly above 1, by regula falsi (the Illinois method), as F falls in Z. Any Z with F >= 1 is
        valid, and `bound` checks that."""
        mu, e = self.places.own, self.e[:, 0]
        found, going = np.zeros(len(e)), np.arange(len(e))
        low, high = np.zeros(len(e)), (e + log(2 * self.places.total) + 1) / mu[0] + 2 * mu[0]
        at_low, at_high, side = np.full(len(e), inf), np.full(len(e), -inf), np.zeros(len(e))
        z = self._guess()
        z = np.where((z > low) & (z < high), z, high / 2)
        for _ in range(_MOST_STEPS):
            plan = Plan(self.places, e[going])
            parts = plan.parts(z)
            value = parts.log_whole - _TARGET_LOG_F - plan.rounding(z)
            up = ~(value < 0)  # where every π is 1, F is infinite and the value may be NaN
            at_high = np.where(up & (side > 0), at_high / 2, at_high)
            at_low = np.where(~up & (side < 0), at_low / 2, at_low)
            low, at_low = np.where(up, z, low), np.where(up, value, at_low)
            high, at_high = np.where(up, high, z), np.where(up, at_high, value)
            done = np.abs(value) < 0.9 * _TARGET_LOG_F
            found[going] = np.where(done, z, low)
            first_step = np.where(up, -np.expm1(-value), value) / (_SLOPE / z + plan.slope(parts))
            z = np.where(at_low - at_high < inf, low + (high - low) * at_low / (at_low - at_high), z + first_step)
            z = np.where((z > low) & (z < high), z, (low + high) / 2)
            wide = ~done & (high - low > 4e-16 * high)
            if not wide.any():
                break
            going, side = going[wide], np.where(up, 1.0, -1.0)[wide]
            low, high, at_low, at_high, z = np.array([low, high, at_low, at_high, z])[:, wide]
        return found

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
        parts, e, lengths, own = self.parts(z), self.e, self.log_lengths, self.places.own
        j, (late, moving) = parts.first, (parts.log_pi.shape[1], parts.log_rest.shape[1])
        valid = (parts.log_whole > MARGIN) & (parts.log_whole < inf)
        log_whole = np.where(valid, parts.log_whole, 0.0)[:, None]
        pair = self.places.pair[:moving, j:]
        exchanged = log_theta_to(z[:, None], pair)  # as ε + log t = μZ − μ²/2
        exchanged += (parts.log_rest + lengths[:moving])[:, :, None]
        exchanged += (parts.log_q - log_whole + MARGIN + lengths[j:])[:, None, :]
        late_own = log_theta(e - parts.log_pi, own[:late]) + parts.log_pi + lengths[:late]
        late_own = np.where(parts.early[:, :late], -inf, late_own)
        log_c = np.log1p(-np.minimum(np.exp(parts.log_f - log_whole) * (1 + self.rounding(z)[:, None]), 1.0))
        early_own = np.where(parts.early[:, j:], _log_theta(e + log_c, own[j:]) + lengths[j:], -inf)
        total = log_sums(np.concatenate([exchanged.reshape(len(z), -1), late_own, early_own], axis=1))
        found: Array = np.where(valid, np.minimum(total - log(self.places.total) + 2 * MARGIN, 0.0), inf)
        return found


def _log_theta(x: Array, mu: Array) -> Array:
    """log θ(x, μ) for every real x, rounded up; log_theta takes x >= 0 only."""
    above = log_theta(np.abs(x), mu)
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
