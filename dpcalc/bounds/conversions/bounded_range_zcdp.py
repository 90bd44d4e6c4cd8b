"""Zero-concentrated differential privacy of mechanisms whose privacy loss has a bounded range.

A mechanism has range ε (is ε-bounded-range) if its privacy loss lies in an interval of length ε, which may differ from
one pair of neighbouring data sets to another. The exponential mechanism that is ε-DP by its usual calibration is one;
an ε-DP mechanism as such has range 2ε only.

Proof. Let L = log dP/dQ lie in an interval of length ε and K(t) = log E_Q e^{tL}, so that K(0) = K(1) = 0 and D_α(P‖Q)
= K(α)/(α−1). K″(t) is the variance of L under a law on that interval, hence at most ε²/4. So K(t) − ε²t(t−1)/8 is
concave and 0 at 0 and 1, thus at most 0 beyond 1: D_α <= ε²α/8. The reverse pair has the range of −L, the same; and ρ
adds up over adaptive composition. """

from typing import Any

from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.conversions.pure_zcdp import share_of_squares
from dpcalc.core.bound import PointBound, Theorem


def value(points: Points) -> dict[str, float]:
    """ρ = Σε_i²/8, rounded up exactly."""
    return {"rho": share_of_squares(points, 8)}


def exact(mp: Any, points: Points) -> Any:
    return {"rho": mp.fsum(count * mp.mpf(epsilon) ** 2 for epsilon, _, count in points) / 8}


BOUND = PointBound(
    Theorem(
        name="bounded-range-zcdp",
        example="convert --from dp --epsilon 1 --delta 0 --to zcdp --bound bounded-range-zcdp",
        statement="releases whose privacy losses have ranges of length ε_i are ρ-zCDP together with ρ = Σε_i²/8",
        source="Cesar & Rogers 2021, arXiv:2004.07223; Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range); "
               "proof in dpcalc/bounds/conversions/bounded_range_zcdp.py",
        assumptions=("the privacy loss of each release lies in an interval of length ε, as that of the ε-DP "
                     "exponential "
                     "mechanism does; not every ε-DP mechanism is of this kind",),
    ),
    gives=("rho",),
    params=("points",),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
