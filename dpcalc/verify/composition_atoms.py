"""Pairs whose privacy losses are atoms: (ε, δ) guarantees, finite mechanisms, and profiles known at points.

An atom is stored at the double nearest to its loss. The double only decides between which two points of a grid the atom
is split; the split preserves the exact masses under P and under Q, whichever two points around the loss are chosen. If
a rounding error leaves the exact loss outside of the two points, one of its shares is negative, and is rounded up to 0.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import comb
from typing import Any

from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context
from dpcalc.verify.loss_distributions import LossPair, Masses, Use, infinite_mass
from dpcalc.verify.unchecked import TooLong

Atoms = list[tuple[float, Any, Any]]  # (loss, mass under P, mass under Q)
_MAX_SUMS = 500_000  # sums of losses: this many take about ten seconds
Outcome = tuple[Any, Any]  # its masses under P and Q


def no_mass(mp: Any) -> Any:
    return mp.mpf(0)


def atomic_pair(atoms: Callable[[Any], Atoms], infinite_mass: Formula = no_mass,
                limit: float | None = None) -> LossPair:
    """Return the pair with these atoms; the limit of their losses is that of the atoms unless one is given. It has no
    `reverse`, and so counts as symmetric unless the caller adds one."""
    atoms = compute_once(atoms)
    table = compute_once(lambda mp: _cumulative_masses(mp, sorted(atoms(mp), key=lambda atom: atom[0])))

    def masses_above(mp: Any, w: Any, closed: bool) -> Masses:
        losses, from_above, _ = table(mp)
        return from_above[(bisect_left if closed else bisect_right)(losses, float(w))]  # type: ignore[no-any-return]

    def masses_below(mp: Any, w: Any, closed: bool) -> Masses:
        losses, _, from_below = table(mp)
        return from_below[(bisect_right if closed else bisect_left)(losses, float(w))]  # type: ignore[no-any-return]

    return LossPair(masses_above, masses_below, infinite_mass, limit, atoms)


def two_way_pair(atoms: Callable[[Any], Atoms], infinite_mass: Formula = no_mass,
                 infinite_in_q: Formula = no_mass, limit: float | None = None) -> LossPair:
    """Return the pair with these atoms, and its reverse."""
    atoms = compute_once(atoms)
    reverse = atomic_pair(lambda mp: [(-loss, q, p) for loss, p, q in atoms(mp)], infinite_in_q, limit)
    return atomic_pair(atoms, infinite_mass, limit)._replace(reverse=reverse)


def pair_of_outcomes(outcomes: Callable[[Any], tuple[Sequence[tuple[Any, Any]], Any]]) -> LossPair:
    """Return the symmetric pair of outcomes (mass under P, mass under Q) that a bound lists, and at most the mass of
    others, whose losses may be infinite."""
    outcomes = compute_once(outcomes)

    def others(mp: Any) -> Any:
        return mp.between(0, outcomes(mp)[1]) if is_ball_context(mp) else outcomes(mp)[1]

    return atomic_pair(lambda mp: atoms_of(mp, outcomes(mp)[0]), others)


def atoms_of(mp: Any, masses: Sequence[tuple[Any, Any]]) -> Atoms:
    """Return the atoms of outcomes with these masses under P and Q."""
    return [(float(mp.log(p / q)), p, q) for p, q in masses if float(p) > 0 and float(q) > 0]


def _cumulative_masses(mp: Any, atoms: Atoms) -> tuple[list[float], list[Masses], list[Masses]]:
    """Return the losses, and for each index k the masses of the losses from k on, and of those before k."""
    from_above, from_below = [(mp.mpf(0), mp.mpf(0))], [(mp.mpf(0), mp.mpf(0))]
    for _, p, q in atoms:
        from_below.append((from_below[-1][0] + p, from_below[-1][1] + q))
    for _, p, q in reversed(atoms):
        from_above.append((from_above[-1][0] + p, from_above[-1][1] + q))
    return [loss for loss, _, _ in atoms], from_above[::-1], from_below


def approximate_dp_pair(epsilon: Formula, delta: float) -> LossPair:
    """Return the dominating pair of (ε, δ)-DP, with losses ±ε and ∞ (Kairouz, Oh & Viswanath 2015, Theorem 3.1)."""

    def atoms(mp: Any) -> Atoms:
        e, finite = epsilon(mp), 1 - mp.mpf(delta)
        if not float(e):
            return [(0.0, finite, finite)]
        high, low = finite / (1 + mp.exp(-e)), finite / (1 + mp.exp(e))
        return [(float(e), high, low), (-float(e), low, high)]

    return atomic_pair(atoms, lambda mp: mp.mpf(delta))


def finite_pair(p: Sequence[float], q: Sequence[float]) -> LossPair:
    """Return the pair of two distributions on the same finite set."""
    both = list(zip(p, q, strict=True))
    return two_way_pair(lambda mp: atoms_of(mp, [(mp.mpf(a), mp.mpf(b)) for a, b in both]),
                        lambda mp: mp.fsum(mp.mpf(a) for a, b in both if b == 0),
                        lambda mp: mp.fsum(mp.mpf(b) for a, b in both if a == 0))


def profile_pair(epsilons: Sequence[float], delta: Callable[[Any, float], Any]) -> LossPair:
    """Return the dominating pair of a profile known at these ε >= 0, and by symmetry at −ε: that of
    `convex_minorant_pair` with the same bounds in both directions, without a reverse."""
    def atoms(mp: Any) -> Atoms:
        known = {e: delta(mp, e) for e in epsilons}
        losses = sorted({side * e for e in epsilons for side in (1, -1)})
        return _atoms_of_bends(mp, losses, [_both_ways(mp, x, lambda mp, e, side: known[e]) for x in losses])

    return atomic_pair(atoms, lambda mp: delta(mp, epsilons[-1]))


def convex_minorant_pair(losses: Sequence[float], delta: Callable[[Any, float, int], Any]) -> LossPair:
    """Return the dominating pair, and its reverse, of a profile that is bounded from above in both directions: δ of
    (P, Q) at ε >= 0 for side +1, and of (Q, P) for side −1.

    The pair has the profile of (P, Q) that is linear in γ = e^ε between the bounds at these losses, where the bound at
    a loss −ε < 0 is 1 − γ + γ·δ of (Q, P) at ε. As the true profile is convex in γ, it is nowhere above that. The atoms
    are at the points: the mass under Q is the change of slope, and the mass under P is e^ε times that (Doroshenko et
    al. 2022, Theorem 3.3). A negative change of slope, which only values that are not convex have, counts as 0; that
    can only make the pair less private.
    """
    losses = sorted(losses)
    return two_way_pair(lambda mp: _atoms_of_bends(mp, losses, [_both_ways(mp, e, delta) for e in losses]),
                        lambda mp: delta(mp, max(losses[-1], 0.0), 1), lambda mp: delta(mp, max(-losses[0], 0.0), -1))


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


# --- compositions of finitely many outcomes: Σ (P − e^ε Q)₊ + P(∞) over all sums of losses ----------------------------


def delta_of_sums(mp: Any, parts: Sequence[tuple[Use, int]], epsilon: float) -> Any:
    """Return δ at ε >= 0 in the direction of `parts`. Raises ValueError where a loss distribution is continuous."""
    sums, e_to_epsilon, log_finite = [(mp.mpf(1), mp.mpf(1))], mp.exp(mp.mpf(epsilon)), mp.mpf(0)
    for use, count in parts:
        found = outcomes(mp, use)
        if len(sums) * comb(count + len(found) - 1, count) > _MAX_SUMS:
            raise TooLong(f"it has more than {_MAX_SUMS} sums of losses")
        repeated = _repeat(mp, found, count)
        sums = [(p * a, q * b) for p, q in sums for a, b in repeated]
        log_finite = log_finite + count * mp.log1p(-infinite_mass(use, mp))
    return mp.fsum(positive_part(mp, p - e_to_epsilon * q) for p, q in sums) - mp.expm1(log_finite)


def outcomes(mp: Any, use: Use) -> list[Outcome]:
    """Return the outcomes of one use that have a finite loss."""
    pair = use.unsampled or use.pair
    if pair.atoms is None:
        raise ValueError("not all of its losses are finitely many")
    atoms = pair.atoms(mp)
    masses = [(p, q) for _, p, q in atoms]
    if use.unsampled is not None:
        return masses
    rate, infinite = mp.mpf(use.rate), pair.infinite_mass(mp)
    if use.scheme == "poisson":  # by symmetry, Q has the same mass where P has none
        at_minus_infinity = [(mp.mpf(0), infinite)] if float(infinite) else []
        mixed = [((1 - rate) * q + rate * p, q) for p, q in [*masses, *at_minus_infinity]]
        return [(q, p) for p, q in mixed] if use.added else mixed
    larger = [((1 - rate) * q + rate * p, q) for loss, p, q in atoms if loss > 0]
    rest = 1 - infinite_mass(use, mp) - mp.fsum(p + q for p, q in larger)
    return [*larger, *((q, p) for p, q in larger), (rest, rest)]


def _repeat(mp: Any, outcomes: list[Outcome], count: int) -> list[Outcome]:
    """Return the masses of `count` uses, one for each multiset of their outcomes, summed over the orders of the
    uses."""
    finished = list[Outcome]()
    unfinished = [(count, mp.mpf(1), mp.mpf(1))]  # number of uses without an outcome so far, and masses of the others
    for k, (p, q) in enumerate(outcomes):
        longer = []
        for left, in_p, in_q in unfinished:
            if k + 1 == len(outcomes):
                finished.append((in_p * p**left, in_q * q**left))
                continue
            orders = 1
            for uses in range(left):
                longer.append((left - uses, orders * in_p, orders * in_q))
                orders, in_p, in_q = orders * (left - uses) // (uses + 1), in_p * p, in_q * q
            finished.append((in_p, in_q))
        unfinished = longer
    return finished
