"""δ of a composition of uses with finitely many outcomes, exactly: Σ (P − e^ε Q)₊ + P(∞) over all sums of losses."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from dpcalc.verify import loss_distributions
from dpcalc.verify.composition_atoms import positive_part
from dpcalc.verify.loss_distributions import Use
from dpcalc.verify.unchecked import TooLong

_MAX_SUMS = 500_000  # sums of losses: this many take about ten seconds
Outcome = tuple[Any, Any]  # its masses under P and Q


def delta(mp: Any, parts: Sequence[tuple[Use, int]], epsilon: float) -> Any:
    """Return δ at ε >= 0 in the direction of `parts`. Raises ValueError where a loss distribution is continuous."""
    sums, e_to_epsilon, log_finite = [(mp.mpf(1), mp.mpf(1))], mp.exp(mp.mpf(epsilon)), mp.mpf(0)
    for use, count in parts:
        found = outcomes(mp, use)
        if len(sums) * comb(count + len(found) - 1, count) > _MAX_SUMS:
            raise TooLong(f"it has more than {_MAX_SUMS} sums of losses")
        repeated = _repeat(mp, found, count)
        sums = [(p * a, q * b) for p, q in sums for a, b in repeated]
        log_finite = log_finite + count * mp.log1p(-loss_distributions.infinite_mass(use, mp))
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
    rest = 1 - loss_distributions.infinite_mass(use, mp) - mp.fsum(p + q for p, q in larger)
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
