"""δ of a composition of uses with finitely many outcomes, by listing all sums of losses: Σ (P − e^ε Q)₊ + P(∞)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from dpcalc.verify import loss_laws
from dpcalc.verify.composition_atoms import positive
from dpcalc.verify.loss_laws import Use
from dpcalc.verify.unchecked import TooLong

MOST_SUMS = 100_000  # they take a few seconds
Outcome = tuple[Any, Any]  # its masses under P and Q


def delta(mp: Any, parts: Sequence[tuple[Use, int]], epsilon: float) -> Any:
    """δ at ε >= 0 of this direction. Raises ValueError where an outcome is continuous."""
    sums, scale, finite = [(mp.mpf(1), mp.mpf(1))], mp.exp(mp.mpf(epsilon)), mp.mpf(0)
    for use, count in parts:
        outcomes = _outcomes(mp, use)
        if len(sums) * comb(count + len(outcomes) - 1, count) > MOST_SUMS:
            raise TooLong(f"it has more than {MOST_SUMS} sums of losses")
        uses = _of_one_part(mp, outcomes, count)
        sums = [(p * a, q * b) for p, q in sums for a, b in uses]
        finite = finite + count * mp.log1p(-loss_laws.infinite(use, mp))
    return mp.fsum(positive(mp, p - scale * q) for p, q in sums) - mp.expm1(finite)


def _outcomes(mp: Any, use: Use) -> list[Outcome]:
    """Of one use, but for what is infinite."""
    base = use.whole or use.base
    if base.atoms is None:
        raise ValueError("not all of its losses are finitely many")
    atoms = base.atoms(mp)
    masses = [(p, q) for _, p, q in atoms]
    if use.whole is not None:
        return masses
    rate, lost = mp.mpf(use.rate), base.infinite(mp)
    if use.scheme == "poisson":  # by symmetry, Q has there what P has at the infinite loss
        mixed = [((1 - rate) * q + rate * p, q) for p, q in [*masses, *([(mp.mpf(0), lost)] if float(lost) else [])]]
        return [(q, p) for p, q in mixed] if use.added else mixed
    larger = [((1 - rate) * q + rate * p, q) for loss, p, q in atoms if loss > 0]
    rest = 1 - loss_laws.infinite(use, mp) - mp.fsum(p + q for p, q in larger)
    return [*larger, *((q, p) for p, q in larger), (rest, rest)]


def _of_one_part(mp: Any, outcomes: list[Outcome], count: int) -> list[Outcome]:
    """Of each way to share the uses among the outcomes, the masses of all its orders together."""
    # how many uses are left, and the masses of the others
    found, unfinished = list[Outcome](), [(count, mp.mpf(1), mp.mpf(1))]
    for k, (p, q) in enumerate(outcomes):
        more = []
        for left, in_p, in_q in unfinished:
            if k + 1 == len(outcomes):
                found.append((in_p * p**left, in_q * q**left))
                continue
            orders = 1
            for uses in range(left):
                more.append((left - uses, orders * in_p, orders * in_q))
                orders, in_p, in_q = orders * (left - uses) // (uses + 1), in_p * p, in_q * q
            found.append((in_p, in_q))
        unfinished = more
    return found
