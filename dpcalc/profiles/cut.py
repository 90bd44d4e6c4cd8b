"""The pair that is composed in place of a pair: what hardly matters to δ at an ε counts as infinite, or is raised."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcalc.profiles.law import masses
from dpcalc.profiles.pair import Pair, Piece

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

_LESS = 10.0  # log of how much less than what counts as infinite may be raised, which is for memory only
_MORE = 10.0  # log of how much more than is allowed is no cut: losses that are all the same
_NEARLY_ALL = -1e-9  # log of the mass of all finite losses but few
_MASS = 1e-10  # of the log of what is cut off: its quadrature, and what may lie within rounding of the cut


class Cut(NamedTuple):
    """A worse pair: its largest losses, from `loss` on, count as infinite, and its smallest ones are raised; with both masses."""

    pair: Pair
    log_high: float = -inf
    loss: float = inf
    log_low: float = -inf

    def log_gain(self, epsilon: float) -> float:
        """By how much δ(ε) of T uses grows at most, over T."""
        return float(np.logaddexp(self.log_high + min(0.0, epsilon - self.loss), self.log_low))


def cut(pair: Pair, log_tail: float, epsilon: float = inf) -> Cut:
    """The pair with the largest losses taken to be infinite, so that δ at ε grows by at most e^{log_tail} a use.

    That is so where their mass is not larger. Losses far above ε may have more: with ℓ among them, and S the sum of all other losses, it is
    E(1 − (1 − e^{ε−ℓ−S})₊) <= e^{ε−ℓ}·E e^{−S} <= e^{ε−ℓ}, as E e^{−S} is the mass of S under Q. Atoms below 0 of far less mass are
    raised.
    """
    loss, log_mass, _ = masses(pair, 0.0, 40.0 - log_tail, None)
    order = np.argsort(loss)[::-1]
    beyond = np.logaddexp.accumulate(log_mass[order])
    gain = beyond + np.minimum(epsilon - loss[order], 0.0)
    kept = int(np.searchsorted(gain, log_tail, "right"))
    if not pair.pieces:
        return _cut_atoms(pair, loss[order], beyond, kept % len(order), log_tail)
    if kept == 0 or kept == len(order):
        return Cut(pair)
    # With the loss at the top itself, which may be an atom, and what the law leaves out.
    top = float(loss[order[kept]])
    loss, log_mass, _ = masses(pair, 0.0, 40.0 - log_tail, np.array([top]))
    lost = float(np.logaddexp(float(np.logaddexp.reduce(log_mass[loss >= top])) + _MASS, log_tail - 40))
    if lost > min(_NEARLY_ALL, log_tail + _MORE - min(0.0, epsilon - top)):
        return Cut(pair)
    infinite = float(np.logaddexp(lost, pair.log_infinite))
    near = pair._replace(pieces=tuple(_below(piece, top) for piece in pair.pieces), atoms=tuple(a for a in pair.atoms if a[0] < top),
                         log_infinite=infinite, top=top)
    return Cut(near, lost, top)


def _cut_atoms(pair: Pair, falling: Array, beyond: Array, kept: int, log_tail: float) -> Cut:
    """With so many of the falling losses infinite, but not nearly all of them; the atom at the top stays: it may be all there is."""
    found = _raised(pair, log_tail - _LESS)
    kept = min(kept, int(np.searchsorted(beyond, _NEARLY_ALL, "right")))
    if kept == 0:
        return found
    high = float(beyond[kept - 1]) + 1e-12
    infinite = float(np.logaddexp(high, pair.log_infinite))
    atoms = tuple(a for a in found.pair.atoms if a[0] <= falling[kept])
    return found._replace(pair=found.pair._replace(atoms=atoms, log_infinite=infinite), log_high=high, loss=float(falling[kept - 1]))


def _raised(pair: Pair, log_tail: float) -> Cut:
    """Atoms below 0, together of mass e^{log_tail} at most, raised to the next one."""
    rising = sorted(a for a in pair.atoms if a[0] < 0)
    below = np.logaddexp.accumulate([mass for _, mass in rising] or [0.0])
    few = int(np.searchsorted(below, log_tail, "right"))
    if few == 0:
        return Cut(pair)
    low, (loss, mass) = float(below[few - 1]), rising[few] if few < len(rising) else (0.0, -inf)
    atoms = ((loss, float(np.logaddexp(mass, low))), *rising[few + 1 :], *(a for a in pair.atoms if a[0] >= 0))
    return Cut(pair._replace(atoms=atoms), log_low=low + 1e-12)


def _below(piece: Piece, top: float) -> Piece:
    end = float(piece.at(np.array(top)))

    def reach(tilt: float, k: float) -> tuple[float, float]:
        low, high = piece.reach(tilt, k)
        first, last = (float(x) for x in piece.loss(np.array((low, high))))
        if max(first, last) <= top:
            return low, high
        # Where the tilt lies beyond the cut, the law leans on it.
        least, most = piece.reach(0.0, k)
        return (min(low, max(least, end - k)), end) if first < last else (end, max(high, min(most, end + k)))

    return piece._replace(reach=reach)
