"""Composition of Gaussian differential privacy, also with pure differential privacy.

Proof. μ_i-GDP releases are √Σμ_i²-GDP together, also where they are chosen adaptively (Dong, Roth & Su 2022, Corollary
3.3), and an ε-DP release is μ-GDP with μ = −2Φ⁻¹(1/(1+e^ε)) by pure_gdp.py. (The sum of the ε of pure releases gives
more: of 1 and 2 it is 3, and μ = 3.341 in place of 2.661.) """

from fractions import Fraction
from typing import Any

from dpcalc.bounds.conversions import pure_gdp
from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import root_up

Mus = tuple[tuple[float, float, int], ...]  # (numerator, denominator, count): so many releases, μ the quotient


def value(mus: Mus, pure: Points) -> dict[str, float]:
    """μ = √Σμ_i², rounded up; `pure` are (ε, 0, count) of the pure releases."""
    squares = [count * (Fraction(top) / Fraction(bottom)) ** 2 for top, bottom, count in mus]
    squares += [count * Fraction(_mu_of(epsilon)) ** 2 for epsilon, _, count in pure]
    return {"mu": root_up(sum(squares, Fraction(0)))}


def _mu_of(epsilon: float) -> float:
    return pure_gdp.value(epsilon, 1)["mu"]


def exact(mp: Any, mus: Mus, pure: Points) -> Any:
    squares = [count * pure_gdp.exact(mp, epsilon, 1)["mu"] ** 2 for epsilon, _, count in pure]
    return {"mu": mp.sqrt(_squares(mp, mus) + mp.fsum(squares))}


def _squares(mp: Any, mus: Mus) -> Any:
    return mp.fsum(count * (mp.mpf(top) / mp.mpf(bottom)) ** 2 for top, bottom, count in mus)


def condition(mp: Any, claimed: float, mus: Mus, pure: Points) -> Any:
    """The least of: what μ² exceeds Σμ_i² by, and for each pure release the condition that its μ_i is large enough.
    Any μ_i of the pure releases are valid."""
    each = [(_mu_of(epsilon), epsilon, count) for epsilon, _, count in pure]
    squares = mp.fsum(count * mp.mpf(mu) ** 2 for mu, _, count in each)
    return min([mp.mpf(claimed) ** 2 - _squares(mp, mus) - squares,
                *(pure_gdp.condition(mp, mu, epsilon, 1) for mu, epsilon, _ in each)])


BOUND = PointBound(
    Theorem(
        name="gdp-composition",
        example="convert --from gdp --mu 0.5 --steps 4 --to gdp",
        statement="releases that are μ_i-GDP are μ-GDP together with μ = √Σμ_i²; an ε-DP release has μ_i = "
                  "−2Φ⁻¹(1/(1+e^ε))",
        source="Dong, Roth & Su 2022, Corollary 3.3, arXiv:1905.02383v3; of ε-DP releases the proof in "
               "dpcalc/bounds/conversions/pure_gdp.py",
        assumptions=("adaptive composition is allowed",),
    ),
    gives=("mu",),
    params=("mus", "pure"),
    value=value,
    exact=exact,
    condition=condition,
    rtol=5e-12,
)
