"""Privacy losses that are atoms: (ε, δ) guarantees, finite mechanisms, and profiles known at points.

An atom counts as lying where the double next to its loss lies. That decides only between which two points of a grid it
is split, and a split that keeps the masses under P and under Q is exact for any two points next to it; a share below 0,
of an atom that is a rounding error outside them, is rounded up to 0. """

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from dpcalc.verify.arb.context import Formula, once
from dpcalc.verify.loss_laws import Base, Masses

Atoms = list[tuple[float, Any, Any]]  # (loss, mass under P, mass under Q)


def lumps(atoms: Callable[[Any], Atoms], infinite: Formula, most: float) -> Base:
    """A law of atoms, symmetric unless a twin is added."""
    table = once(lambda mp: _sums(mp, sorted(atoms(mp), key=lambda atom: atom[0])))

    def above(mp: Any, w: Any, closed: bool) -> Masses:
        losses, upper, _ = table(mp)
        return upper[(bisect_left if closed else bisect_right)(losses, float(w))]  # type: ignore[no-any-return]

    def below(mp: Any, w: Any, closed: bool) -> Masses:
        losses, _, lower = table(mp)
        return lower[(bisect_right if closed else bisect_left)(losses, float(w))]  # type: ignore[no-any-return]

    return Base(above, below, infinite, most, once(atoms))


def _sums(mp: Any, atoms: Atoms) -> tuple[list[float], list[Masses], list[Masses]]:
    """The losses, and the masses from each of them on, and before each of them."""
    upper, lower = [(mp.mpf(0), mp.mpf(0))], [(mp.mpf(0), mp.mpf(0))]
    for _, p, q in atoms:
        lower.append((lower[-1][0] + p, lower[-1][1] + q))
    for _, p, q in reversed(atoms):
        upper.append((upper[-1][0] + p, upper[-1][1] + q))
    return [loss for loss, _, _ in atoms], upper[::-1], lower


def binary(epsilon: Formula, delta: float, most: float) -> Base:
    """(ε, δ)-DP: losses ±ε (Kairouz, Oh & Viswanath 2015, Theorem 3.1)."""

    def atoms(mp: Any) -> Atoms:
        e, left = epsilon(mp), 1 - mp.mpf(delta)
        if not float(e):
            return [(0.0, left, left)]
        high, low = left / (1 + mp.exp(-e)), left / (1 + mp.exp(e))
        return [(float(e), high, low), (-float(e), low, high)]

    return lumps(atoms, lambda mp: mp.mpf(delta), most)


def outcomes(p: Sequence[float], q: Sequence[float]) -> Base:
    """Two distributions on the same finite set."""
    return _finite(p, q)._replace(twin=_finite(q, p))


def _finite(p: Sequence[float], q: Sequence[float]) -> Base:
    from math import inf, log

    held = [(log(a) - log(b), a, b) for a, b in zip(p, q, strict=True) if a > 0 and b > 0]
    lost = [a for a, b in zip(p, q, strict=True) if b == 0]
    return lumps(lambda mp: [(loss, mp.mpf(a), mp.mpf(b)) for loss, a, b in held],
                 lambda mp: mp.fsum(mp.mpf(a) for a in lost),
                 max((loss + 1e-14 * (1 + abs(loss)) for loss, _, _ in held), default=-inf))


def points(epsilons: Sequence[float], delta: Callable[[Any, float], Any]) -> Base:
    """The profile that joins δ at these ε >= 0, and their mirror images, by chords in e^ε: not below a convex profile
    that it meets there.

    Its pair has atoms at the corners, whose masses under Q are the bends and under P e^ε times those (Doroshenko et al.
    2022, Theorem 3.3). A bend below 0 counts as 0, which is a worse pair. """

    return lumps(lambda mp: _corners(mp, epsilons, delta), lambda mp: delta(mp, epsilons[-1]), epsilons[-1])


def _corners(mp: Any, epsilons: Sequence[float], delta: Callable[[Any, float], Any]) -> Atoms:
    corners = [(mp.exp(mp.mpf(e)), delta(mp, e)) for e in epsilons]
    slopes = [(corners[0][1] - 1) / (1 + corners[0][0]), *((d - c) / (h - g) for (g, c), (h, d) in pairwise(corners)),
              mp.mpf(0)]
    found: Atoms = []
    for e, (grown, _), (left, right) in zip(epsilons, corners, pairwise(slopes), strict=True):
        if e > 0:
            bend = positive(mp, right - left)
            found += [(e, grown * bend, bend), (-e, bend, grown * bend)]
    if epsilons[0] == 0:
        rest = positive(mp, 1 - corners[-1][1] - mp.fsum(p for _, p, _ in found))
        found.append((0.0, rest, rest))
    return found


def positive(mp: Any, x: Any) -> Any:
    """max(x, 0), from above. A bend between corners far out is below all doubles."""
    if not hasattr(mp, "between"):
        return max(x, mp.mpf(0))
    return x if x.surely_positive() else mp.mpf(0) if (-x).surely_at_least(0) else mp.between(0, x)
