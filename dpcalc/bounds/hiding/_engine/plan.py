"""The profile of a run whose record hides among all the others: one plan for many ε, from one number Z (proof:
shuffled_plan.py).

The number m of slots after a record's own is its place. With μ_m the Gaussian-DP parameter of one place, μ(m, m′) that
of two exchanged ones, θ(ε, μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), continued to ε < 0 by θ = 1 − e^ε + e^ε θ(−ε, μ), the
theorem says

    δ(ε) <= (1/n) Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)),   Σ_m′ p_mm′ = 1 for every m,   Σ_m c_mm′ <= 1 for every
    m′.

The plan at Z. A place is far where μ_m < .6√(2ε) and t_m = e^{μ_m Z − μ_m²/2 − ε} < 1; far places are those with the
most later slots, as μ_m falls. A place m before them keeps the share π_m = min(1, e^{ε − μ_m(Z − μ̄_m + μ_m) +
μ_m²/2}), with c_mm = 1, and spreads 1 − π_m over the far places in the parts q_m′: p_mm′ = (1 − π_m)q_m′ and c_mm′ =
t_mm′ p_mm′, t_mm′ = e^{μ(m,m′)Z − μ(m,m′)²/2 − ε}. μ̄_m is the mean of μ(m, m′) over far m′ by f_m′ = 1 − t_m′, and
q_m′ = f_m′/(T_m′F), T_m′ = Σ_m (1 − π_m)t_mm′, where F makes them add up to 1. A far place keeps p = 1 with what is
left of its column, c = 1 − q_m′T_m′ = 1 − f_m′/F. So every Z with 1 <= F < ∞ gives a bound, as f < 1 (F is infinite
where no place has to move); the one with F = 1 is nearly the best.

Places are taken in blocks, each as if all of it were at the end where μ is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.numerics.hockey_stick_array import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# Relative: more than the sums and exponentials of a plan are rounded by. What ε itself is rounded by in sums with other
# logarithms (a unit in its last place) is covered by log_theta, which allows for as much in its arguments.
SURE = 1e-12
# log t of far places and log π of those that move are at least as far below 0: no rounding decides which ones are
_APART = 1e-9
# log F where the search for Z ends: to have the bound as smooth as other numbers, and above 0 for sure
_AIM, _CLOSE = 1e-8, 9e-9
# μ of a far place over √(2ε), at most: any limit below 1 is valid; at 1, log δ was up to .3 larger and could rise with
# ε
_FAR = 0.6
_STEPS = 60  # of that search, which takes about 8
_CELLS = 200_000  # numbers at a time: ε times pairs of blocks


class Places(NamedTuple):
    """The places of a record in blocks, the last slots first; every μ is that of the worst places of its blocks, or
    larger."""

    lengths: Array  # places in each block
    own: Array  # μ of one place, falling
    pair: Array  # μ of two exchanged places: block of m (rows) before block of m′ (columns); the rest is not read

    @property
    def total(self) -> float:
        return float(self.lengths.sum())


def profile(places: Places, epsilons: Array) -> tuple[Array, Array]:
    """log δ at every ε >= 0, from above, and the Z that proves it; NaN where that is the plan in which every place
    keeps to itself."""
    places = places._replace(own=np.maximum.accumulate(places.own[::-1])[::-1])  # falling in spite of rounding
    bound, found = alone(places, epsilons), np.full(len(epsilons), np.nan)
    able = (epsilons > 0) & (places.own[-1] < _FAR * np.sqrt(2 * epsilons)) & (len(places.own) > 1)
    able_ones, rows = np.nonzero(able)[0], max(1, _CELLS // places.pair.size)
    for k in range(0, len(able_ones), rows):
        here = able_ones[k : k + rows]
        with np.errstate(all="ignore"):  # logarithms of 0, and bounds that are infinite where F is
            plan = Plan(places, epsilons[here])
            z = plan.best()
            value = plan.bound(z)
        better = value < bound[here]
        bound[here[better]], found[here[better]] = value[better], z[better]
    return bound, found


def alone(places: Places, epsilons: Array) -> Array:
    """log of (1/n) Σ_m θ(ε, μ_m)."""
    return _log_mean(log_theta(epsilons[:, None], places.own), np.log(places.lengths), places.total)


def _log_mean(logs: Array, log_weights: Array, count: float) -> Array:
    """log of (1/n) Σ weight·e^log along the rows, rounded up."""
    found: Array = np.minimum(log_sum(logs + log_weights) - log(count) + SURE, 0.0)
    return found


def log_sum(logs: Array) -> Array:
    """log Σ e^log along axis 1."""
    top = logs.max(axis=1, keepdims=True, initial=-1e300)
    with np.errstate(divide="ignore"):
        found: Array = np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0]
    return found


class Plan:
    """The plan for some ε > 0, as functions of one Z for each."""

    def __init__(self, places: Places, epsilons: Array) -> None:
        self.places, self.e = places, epsilons[:, None]
        self.log_lengths = np.log(places.lengths)
        self.rising = places.own < _FAR * np.sqrt(2 * self.e)

    @cached_property
    def first(self) -> int:
        """The first block that is far at some ε, at the least Z."""
        return int(self.rising.any(axis=0).argmax())

    def shares(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """At every Z (rows): which blocks are far, log f of them, log π of the others, and log t of pairs."""
        mu, e, z = self.places.own, self.e, z[:, None]
        log_t = np.minimum(mu * z - mu * mu / 2 - e, 0.0)
        far = self.rising & (log_t < -_APART)
        f = np.where(far, -np.expm1(log_t), 0.0)
        weights = f * self.places.lengths
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        late, j = self._late(far), self.first
        pair = self.places.pair[:late, j:]
        mean = weights[:, j:] @ pair.T
        own = mu[:late]
        kept = e - own * (z - mean + own) + own * own / 2
        log_pi = np.where(far[:, :late] | (kept > -_APART), 0.0, kept)
        return far, np.log(f[:, j:]), log_pi, pair * z[:, :, None] - pair * pair / 2 - e[:, :, None]

    @staticmethod
    def _late(far: Array) -> int:
        """How many blocks are not far at some ε."""
        return int((~far).sum(axis=1).max())

    def shares_given(self, z: Array) -> tuple[Array, Array, Array, tuple[Array, Array, Array, Array]]:
        """log F, log q, the log of 1 − π, and the shares."""
        _, log_f, log_pi, log_t = shares = self.shares(z)
        log_rest, lengths = np.log(-np.expm1(log_pi)), self.log_lengths
        log_total = log_sum(log_t + (log_rest + lengths[: log_pi.shape[1]])[:, :, None])
        log_q = np.where(np.isneginf(log_f), -inf, log_f - log_total)
        return log_sum(log_q + lengths[self.first :]), log_q, log_rest, shares

    def best(self) -> Array:
        """A Z with F a little above 1, as F falls: by secants within a bracket. Any Z with F >= 1 is valid, and `bound`
        looks at that."""
        mu, e = self.places.own, self.e[:, 0]
        low: Array = np.zeros(len(e))
        high: Array = (e + log(2 * self.places.total) + 1) / mu[0] + 2 * mu[0]
        at_low, at_high = np.full(len(e), inf), np.full(len(e), -inf)
        z, side = self._guess(), np.zeros(len(e))
        z = np.where((z > low) & (z < high), z, high / 2)
        for _ in range(_STEPS):
            value = self.shares_given(z)[0] - _AIM
            up = ~(value < 0)  # where no place before the far ones has to move, F is infinite: not a number
            at_high, at_low = np.where(up & (side > 0), at_high / 2, at_high), np.where(~up & (side < 0), at_low / 2,
                                                                                        at_low)
            low, at_low = np.where(up, z, low), np.where(up, value, at_low)
            high, at_high = np.where(up, high, z), np.where(up, at_high, value)
            side = np.where(up, 1.0, -1.0)
            done = np.abs(value) < _CLOSE
            low = np.where(done, z, low)
            if (done | (high - low <= 4e-16 * high)).all():
                break
            z_next = low + (high - low) * at_low / (at_low - at_high)
            z = np.where(done, z, np.where((z_next > low) & (z_next < high), z_next, (low + high) / 2))
        return low

    def _guess(self) -> Array:
        """About the root: where the mean of e^{μ_m Z − μ_m²/2} over all places is e^ε, by Newton's method from
        above."""
        mu, e = self.places.own, self.e[:, 0]
        z: Array = np.sqrt(2 * log(max(self.places.total, 3))) + e / mu[0] + mu[0] / 2
        for _ in range(8):
            y = mu * z[:, None] - mu * mu / 2 + self.log_lengths
            total = log_sum(y)
            z = z - (total - log(self.places.total) - e) / (np.exp(y - total[:, None]) @ mu)
        return z

    def bound(self, z: Array) -> Array:
        """log δ, from above; inf where F < 1. Rows of p add up to a little more than 1, and columns of c to a little
        less."""
        log_whole, log_q, log_rest, (far, log_f, log_pi, log_t) = self.shares_given(z)
        valid = (log_whole > SURE) & (log_whole < inf)
        log_q = log_q - np.where(valid, log_whole, 0.0)[:, None] + SURE
        e, lengths, late, j = self.e, self.log_lengths, log_pi.shape[1], self.first
        pair, own = self.places.pair[:late, j:], self.places.own
        parts = _log_theta(log_t + e[:, :, None],
                           pair) + (log_rest + lengths[:late])[:, :, None] + (log_q + lengths[j:])[:, None, :]
        kept = np.where(far[:, :late], -inf, log_theta(e - log_pi, own[:late]) + log_pi + lengths[:late])
        left = np.log1p(-np.minimum(np.exp(log_f - np.where(valid, log_whole, 0.0)[:, None]) * (1 + 4 * SURE), 1.0))
        hidden = np.where(far[:, j:], _log_theta(e + left, own[j:]) + lengths[j:], -inf)
        total = log_sum(np.concatenate([parts.reshape(len(z), -1), kept, hidden], axis=1))
        found: Array = np.where(valid, np.minimum(total - log(self.places.total) + 2 * SURE, 0.0), inf)
        return found


def _log_theta(x: Array, mu: Array) -> Array:
    """log θ(x, μ) for every real x, from above."""
    above = log_theta(np.abs(x).reshape(-1, mu.shape[-1]),
                      np.broadcast_to(mu, x.shape).reshape(-1, mu.shape[-1])).reshape(x.shape)
    if (x >= 0).all():
        return above
    below = np.minimum(x, 0.0)
    other = np.log(-np.expm1(below) + np.exp(below + above)) + SURE
    return np.where(x >= 0, above, np.minimum(other, 0.0))


# --- at high precision -----------------------------------------------------------------------------------------------


class PlacesExact(NamedTuple):
    """The same blocks: their lengths, and μ of them as functions of their numbers."""

    lengths: list[int]
    own: Callable[[int], Any]
    pair: Callable[[int, int], Any]


def exact(mp: Any, places: PlacesExact, epsilon: Any, z: float | None, theta: Callable[[Any, Any, Any], Any]) -> Any:
    """δ at ε by the plan at Z as it stands above, in blocks; without Z every place keeps to itself. Where F < 1, what
    the rows lack counts whole."""
    e, lengths = mp.mpf(epsilon), places.lengths
    own = [places.own(j) for j in range(len(lengths))]
    n, zed = sum(lengths), mp.mpf(z or 0)

    def ratio(mu: Any) -> Any:
        """log t."""
        return mu * zed - mu * mu / 2 - e

    def at(x: Any, mu: Any) -> Any:
        try:
            return theta(mp, x, mu) if float(x) >= 0 else -mp.expm1(x) + mp.exp(x) * theta(mp, -x, mu)
        except OverflowError:  # x/μ is too large for the erfc of mpmath
            return mp.mpf(10) ** -100_000 if float(x) >= 0 else -mp.expm1(x)

    far = [k for k, mu in enumerate(own) if z and float(mu) ** 2 < _FAR * _FAR * 2 * float(e)
           and float(ratio(mu)) < -_APART]
    late = range(far[0]) if far else range(len(own))
    f = {k: -mp.expm1(ratio(own[k])) for k in far}
    weight = mp.fsum(f[k] * lengths[k] for k in far)
    pairs = {(m, k): places.pair(m, k) for m in late for k in far}
    means = [mp.fsum(f[k] * lengths[k] * pairs[m, k] for k in far) / weight if far else own[m] for m in late]
    log_pi = [e - own[m] * (zed - means[m] + own[m]) + own[m] ** 2 / 2 for m in late]
    moving = {m: -mp.expm1(log_pi[m]) * lengths[m] for m in late if far and float(log_pi[m]) < -_APART}
    if not moving:
        return mp.fsum(size * at(e, mu) for size, mu in zip(lengths, own, strict=True)) / n
    log_t = {(m, k): ratio(pairs[m, k]) for m in moving for k in far}
    q = {k: f[k] / mp.fsum(moving[m] * mp.exp(log_t[m, k]) for m in moving) for k in far}
    whole = mp.fsum(q[k] * lengths[k] for k in far)
    scale = whole if float(whole) >= 1 else mp.mpf(1)
    moved = mp.fsum(moving[m] * q[k] * lengths[k] / scale * at(log_t[m, k] + e, pairs[m, k]) for m in moving
                    for k in far)
    kept = mp.fsum(lengths[m] * (mp.exp(log_pi[m]) * at(e - log_pi[m], own[m]) if m in moving else at(e, own[m]))
                   for m in late)
    hidden = mp.fsum(lengths[k] * at(e + mp.log(1 - f[k] / scale), own[k]) for k in far)
    lacking = (1 - whole / scale) * mp.fsum(moving.values())
    return (moved + kept + hidden + lacking) / n

