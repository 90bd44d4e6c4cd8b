"""The composition of any guarantees that have a dominating pair."""

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import CompositionBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts


def value(pairs: "Parts") -> "Parts":
    """The pairs themselves, whose product dpcalc.pld composes."""
    return pairs


def exact(mp: Any, epsilon: float, pairs: "Parts") -> Any:
    """The larger δ of both directions by the definition, a sum over all sequences of atoms: of discrete pairs only, and
    of a few steps."""
    sides = (pairs, tuple((pair.reverse or pair, count) for pair, count in pairs))
    return max(_delta(mp, mp.mpf(epsilon), side) for side in sides)


def _delta(mp: Any, epsilon: Any, pairs: "Parts") -> Any:
    """E_{e^ε} of the product of the pairs, from the masses of their total loss; losses are summed as fractions, so that
    equal ones are one."""
    from dpcalc.pld.atoms import Atoms

    mass_of_loss, finite = {Fraction(0): mp.mpf(1)}, mp.mpf(1)
    for pair, count in pairs:
        assert isinstance(pair, Atoms)
        atoms = [(Fraction(loss), mp.exp(mp.mpf(log_mass)))
                 for loss, log_mass in zip(pair.losses, pair.log_p, strict=True) if log_mass > -inf]
        for _ in range(count):
            finite *= 1 - mp.exp(mp.mpf(pair.log_infinite))
            composed: dict[Fraction, Any] = {}
            for total, mass in mass_of_loss.items():
                for loss, factor in atoms:
                    composed[total + loss] = composed.get(total + loss, 0) + mass * factor
            mass_of_loss = composed
    losses = ((mp.mpf(total.numerator) / total.denominator, mass) for total, mass in mass_of_loss.items())
    return 1 - finite + mp.fsum(mass * (1 - mp.exp(epsilon - loss)) for loss, mass in losses if loss > epsilon)


BOUND = CompositionBound(
    Theorem(
        name="profile-composition",
        example="subsample --sampling-rate 0.01 --sigma 1 --steps 100 --json | dpcalc convert - --delta 1e-5",
        statement="δ(ε) of the product of the dominating pairs of all parts; an upper and a lower value, computed "
                  "numerically",
        in_words="Mechanisms of several kinds together, such as DP-SGD and a noisy histogram: their dominating pairs "
                 "are composed numerically, with an upper and a lower value. A part may be chosen in view of earlier "
                 "outputs. It is false where the parameters or the number of the parts depend on these outputs; "
                 "dpcalc ledger --adaptive is for such releases.",
        source="Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4; Doroshenko, Ghazi, Kamath, Kumar & Manurangsi "
               "2022, arXiv:2207.04380v3 (connect the dots)",
        assumptions=("the parts are used one after the other on the same data, each chosen in view of the outputs "
                     "before it", "the privacy parameters and the number of the parts do not depend on these outputs"),
    ),
    params=("pairs",), value=value, exact=exact, rtol=1e-9)
