"""Pairs whose privacy losses are atoms: (ε, δ) guarantees, finite mechanisms, and profiles known at points.

An atom is stored at the double nearest to its loss. The double only decides between which two points of a grid the atom
is split; the split preserves the exact masses under P and under Q, whichever two points around the loss are chosen. If
a rounding error leaves the exact loss outside of the two points, one of its shares is negative, and is rounded up to 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf, log
from typing import Any

from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context
from dpcalc.verify.loss_distributions import LossPair, Masses

Atoms = list[tuple[float, Any, Any]]  # (loss, mass under P, mass under Q)


def atomic_pair(atoms: Callable[[Any], Atoms], infinite_mass: Formula, largest_loss: float) -> LossPair:
    """Return the pair with these atoms. It has no `reverse`, and so counts as symmetric unless the caller adds one."""
    table = compute_once(lambda mp: _cumulative_masses(mp, sorted(atoms(mp), key=lambda atom: atom[0])))

    def masses_above(mp: Any, w: Any, closed: bool) -> Masses:
        losses, from_above, _ = table(mp)
        return from_above[(bisect_left if closed else bisect_right)(losses, float(w))]  # type: ignore[no-any-return]

    def masses_below(mp: Any, w: Any, closed: bool) -> Masses:
        losses, _, from_below = table(mp)
        return from_below[(bisect_right if closed else bisect_left)(losses, float(w))]  # type: ignore[no-any-return]

    return LossPair(masses_above, masses_below, infinite_mass, largest_loss, compute_once(atoms))


def _cumulative_masses(mp: Any, atoms: Atoms) -> tuple[list[float], list[Masses], list[Masses]]:
    """Return the losses, and for each index k the masses of the losses from k on, and of those before k."""
    from_above, from_below = [(mp.mpf(0), mp.mpf(0))], [(mp.mpf(0), mp.mpf(0))]
    for _, p, q in atoms:
        from_below.append((from_below[-1][0] + p, from_below[-1][1] + q))
    for _, p, q in reversed(atoms):
        from_above.append((from_above[-1][0] + p, from_above[-1][1] + q))
    return [loss for loss, _, _ in atoms], from_above[::-1], from_below


def approximate_dp_pair(epsilon: Formula, delta: float, largest_loss: float) -> LossPair:
    """Return the dominating pair of (ε, δ)-DP, with losses ±ε and ∞ (Kairouz, Oh & Viswanath 2015, Theorem 3.1)."""

    def atoms(mp: Any) -> Atoms:
        e, finite = epsilon(mp), 1 - mp.mpf(delta)
        if not float(e):
            return [(0.0, finite, finite)]
        high, low = finite / (1 + mp.exp(-e)), finite / (1 + mp.exp(e))
        return [(float(e), high, low), (-float(e), low, high)]

    return atomic_pair(atoms, lambda mp: mp.mpf(delta), largest_loss)


def finite_pair(p: Sequence[float], q: Sequence[float]) -> LossPair:
    """Return the pair of two distributions on the same finite set."""
    return _one_direction(p, q)._replace(reverse=_one_direction(q, p))


def _one_direction(p: Sequence[float], q: Sequence[float]) -> LossPair:
    """Return the pair (P, Q) without its reverse. Its largest loss has a margin for the rounding of the logarithms."""
    finite = [(log(a) - log(b), a, b) for a, b in zip(p, q, strict=True) if a > 0 and b > 0]
    infinite = [a for a, b in zip(p, q, strict=True) if b == 0]
    return atomic_pair(lambda mp: [(loss, mp.mpf(a), mp.mpf(b)) for loss, a, b in finite],
                       lambda mp: mp.fsum(mp.mpf(a) for a in infinite),
                       max((loss + 1e-14 * (1 + abs(loss)) for loss, _, _ in finite), default=-inf))


def profile_pair(epsilons: Sequence[float], delta: Callable[[Any, float], Any]) -> LossPair:
    """Return the dominating pair of a profile known at these ε >= 0, and by symmetry at −ε.

    The pair has the profile that is linear in e^ε between these points. As privacy profiles are convex in e^ε, it is
    nowhere below the true one. Its atoms are at the points: the mass under Q is the change of slope, and the mass under
    P is e^ε times that (Doroshenko et al. 2022, Theorem 3.3). A negative change of slope, which only values that are
    not convex have, counts as 0; that can only make the pair less private.
    """
    return atomic_pair(lambda mp: _corners(mp, epsilons, delta), lambda mp: delta(mp, epsilons[-1]), epsilons[-1])


def _corners(mp: Any, epsilons: Sequence[float], delta: Callable[[Any, float], Any]) -> Atoms:
    """Return the atoms of `profile_pair`, at the corners of the piecewise linear profile."""
    corners = [(mp.exp(mp.mpf(e)), delta(mp, e)) for e in epsilons]
    slopes = [(corners[0][1] - 1) / (1 + corners[0][0]), *((d - c) / (h - g) for (g, c), (h, d) in pairwise(corners)),
              mp.mpf(0)]
    atoms: Atoms = []
    for e, (e_to_e, _), (left, right) in zip(epsilons, corners, pairwise(slopes), strict=True):
        if e > 0:
            bend = positive_part(mp, right - left)
            atoms += [(e, e_to_e * bend, bend), (-e, bend, e_to_e * bend)]
    if epsilons[0] == 0:
        rest = positive_part(mp, 1 - corners[-1][1] - mp.fsum(p for _, p, _ in atoms))
        atoms.append((0.0, rest, rest))
    return atoms


def convex_minorant_pair(losses: Sequence[float], delta: Callable[[Any, float, int], Any]) -> LossPair:
    """Return the dominating pair, and its reverse, of a profile that is bounded from above in both directions: δ of
    (P, Q) at ε >= 0 for side +1, and of (Q, P) for side −1.

    The pair has the profile of (P, Q) that is linear in γ = e^ε between the bounds at these losses, where the bound at
    a loss −ε < 0 is 1 − γ + γ·δ of (Q, P) at ε. As the true profile is convex in γ, it is nowhere above that. The atoms
    are at the points, as in `profile_pair`.
    """
    losses = sorted(losses)

    @compute_once
    def atoms(mp: Any) -> Atoms:
        return _atoms_of_bends(mp, losses, [_both_ways(mp, e, delta) for e in losses])

    def reversed_atoms(mp: Any) -> Atoms:
        return [(-loss, q, p) for loss, p, q in reversed(atoms(mp))]

    added = atomic_pair(reversed_atoms, lambda mp: delta(mp, max(-losses[0], 0.0), -1), -losses[0])
    return atomic_pair(atoms, lambda mp: delta(mp, max(losses[-1], 0.0), 1), losses[-1])._replace(reverse=added)


def _both_ways(mp: Any, loss: float, delta: Callable[[Any, float, int], Any]) -> tuple[Any, Any]:
    """Return the bounds on δ of (P, Q) at γ and of (Q, P) at 1/γ, each from the direction in which ε >= 0."""
    e, side = mp.mpf(abs(loss)), 1 if loss >= 0 else -1
    own = delta(mp, abs(loss), side)
    other = mp.exp(-e) * own - mp.expm1(-e)
    return (own, other) if side > 0 else (other, own)


def _atoms_of_bends(mp: Any, losses: Sequence[float], bounds: Sequence[tuple[Any, Any]]) -> Atoms:
    """Return an atom for each loss: γ times the change of slope of the profile of (P, Q) is its mass under P; of a
    negative loss, 1/γ times that of the profile of (Q, P) is its mass under Q."""
    one = mp.mpf(1)
    # 1 − γ_a/γ_b, and the falls of (P, Q) forwards and of (Q, P) backwards; both profiles are 1 at γ = 0
    gaps = [one, *(-mp.expm1(mp.mpf(a) - mp.mpf(b)) for a, b in pairwise(losses)), one]
    falls = [(1 - bounds[0][0], bounds[0][1]), *((a[0] - b[0], b[1] - a[1]) for a, b in pairwise(bounds)),
             (bounds[-1][0], 1 - bounds[-1][1])]
    atoms: Atoms = []
    for k, loss in enumerate(losses):
        e = mp.exp(mp.mpf(loss))
        if loss >= 0:  # the fall after the last point is at γ = ∞
            p = positive_part(mp, falls[k][0] / gaps[k] - falls[k + 1][0] * (1 - gaps[k + 1]) / gaps[k + 1])
            atoms.append((loss, p, p / e))
        else:
            q = positive_part(mp, falls[k + 1][1] / gaps[k + 1] - falls[k][1] * (1 - gaps[k]) / gaps[k])
            atoms.append((loss, q * e, q))
    return atoms


def positive_part(mp: Any, x: Any) -> Any:
    """Return max(x, 0) without a comparison, which a ball around 0 would leave undecided. A ball that is surely
    positive is returned unchanged, with its relative accuracy: atoms at large ε have masses below the smallest
    double."""
    if not is_ball_context(mp):
        return max(x, mp.mpf(0))
    return x if x.surely_positive() else mp.mpf(0) if (-x).surely_at_least(0) else mp.between(0, x)
