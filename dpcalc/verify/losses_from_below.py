"""The pairs of mechanisms whose losses are bounds from below for a whole class of mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.bounds.mechanisms import exponential, shuffled_ldp_lower
from dpcalc.verify import composition_atoms
from dpcalc.verify.composition_atoms import Atoms
from dpcalc.verify.loss_distributions import LossPair


def two_outcomes(part: Mapping[str, Any]) -> LossPair:
    """Return the pair of a selection with the losses t and t − η (see bounds/mechanisms/exponential.py)."""
    eta = float(part["step_epsilon"])
    t = exponential.largest_loss(eta, int(part["steps"]))

    def atoms(mp: Any) -> Atoms:
        p = mp.expm1(mp.mpf(t) - mp.mpf(eta)) / mp.expm1(-mp.mpf(eta))
        q = p * mp.exp(-mp.mpf(t))
        return [(t, p, q), (t - eta, 1 - p, 1 - q)]

    return _both_directions(atoms, eta)


def shuffled_responses(part: Mapping[str, Any]) -> LossPair:
    """Return the pair of a round of randomised response (see bounds/mechanisms/shuffled_ldp_lower.py)."""
    n, e0 = int(part["n"]), float(part["step_epsilon"])

    def atoms(mp: Any) -> Atoms:
        return [(float(mp.log(p / q)), p, q) for p, q in shuffled_ldp_lower.exact_groups(mp, n, e0)]

    return _both_directions(atoms, e0)


def _both_directions(atoms: Callable[[Any], Atoms], largest: float) -> LossPair:
    """Return the pair with these atoms, and its reverse; no loss is larger than `largest` in either of them."""
    reverse = composition_atoms.atomic_pair(lambda mp: [(-loss, q, p) for loss, p, q in atoms(mp)],
                                            lambda mp: mp.mpf(0), largest)
    return composition_atoms.atomic_pair(atoms, lambda mp: mp.mpf(0), largest)._replace(reverse=reverse)
