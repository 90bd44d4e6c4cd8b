"""Gaussian differential privacy: the privacy profile, Rényi DP and zCDP of μ-GDP, and its composition, also with pure
differential privacy.

Proof of gdp-composition. μ_i-GDP releases are √Σμ_i²-GDP together, also where they are chosen adaptively (Dong, Roth &
Su 2022, Corollary 3.3), and an ε-DP release is μ-GDP with μ = −2Φ⁻¹(1/(1+e^ε)) by pure.py. Gaussian noise on a Poisson
batch is μ-GDP with the μ without sampling, as δ(ε) is jointly convex in the laws of the outputs (see zcdp.py).
(The sum of the ε of pure releases gives more: of 1 and 2 it is 3, and μ = 3.341 in place of 2.661.)
"""

from fractions import Fraction
from typing import Any

from dpcalc.bounds.conversions import pure as pure_dp
from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.core.bound import PointBound, ProfileBound, RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_up, root_up

Mus = tuple[tuple[float, float, int], ...]  # (numerator, denominator, count): so many releases, μ the quotient


def value(epsilon: float, mu: float, steps: int) -> float:
    return gaussian.value(epsilon, 1.0, mu, steps)


def inverse(log_delta: float, mu: float, steps: int) -> float:
    return gaussian.inverse(log_delta, 1.0, mu, steps)


def exact(mp: Any, epsilon: float, mu: float, steps: int) -> Any:
    return gaussian.theta(mp, epsilon, mp.mpf(mu) * mp.sqrt(steps))


def rdp(alpha: float, mu: float) -> float:
    """ε(α) = αμ²/2, rounded up exactly."""
    return ratio_up((alpha, mu, mu), (2.0,))


def composition(mus: Mus, pure: Points) -> dict[str, float]:
    """μ = √Σμ_i², rounded up; `pure` are (ε, 0, count) of the pure releases."""
    return {"mu": root_up(total_square(mus, pure))}


def total_square(mus: Mus, pure: Points) -> Fraction:
    """Σμ_i², exactly."""
    squares = [count * (Fraction(top) / Fraction(bottom)) ** 2 for top, bottom, count in mus]
    squares += [count * Fraction(_mu_of(epsilon)) ** 2 for epsilon, _, count in pure]
    return sum(squares, Fraction(0))


def _mu_of(epsilon: float) -> float:
    return pure_dp.gdp(epsilon, 1)["mu"]


def exact_composition(mp: Any, mus: Mus, pure: Points) -> Any:
    squares = [count * pure_dp.exact_gdp(mp, epsilon, 1)["mu"] ** 2 for epsilon, _, count in pure]
    return {"mu": mp.sqrt(_squares(mp, mus) + mp.fsum(squares))}


def _squares(mp: Any, mus: Mus) -> Any:
    return mp.fsum(count * (mp.mpf(top) / mp.mpf(bottom)) ** 2 for top, bottom, count in mus)


def condition(mp: Any, claimed: float, mus: Mus, pure: Points) -> Any:
    """The least of: what μ² exceeds Σμ_i² by, and for each pure release the condition that its μ_i is large enough.
    Any μ_i of the pure releases are valid."""
    each = [(_mu_of(epsilon), epsilon, count) for epsilon, _, count in pure]
    squares = mp.fsum(count * mp.mpf(mu) ** 2 for mu, _, count in each)
    return min([mp.mpf(claimed) ** 2 - _squares(mp, mus) - squares,
                *(pure_dp.gdp_condition(mp, mu, epsilon, 1) for mu, epsilon, _ in each)])


EXACT = ProfileBound(
    Theorem(
        name="gdp-exact",
        example="convert --from gdp --mu 1 --delta 1e-5",
        statement="μ-GDP is (ε, θ(ε, μ))-DP for every ε, and T of them compose to μ√T",
        in_words="The privacy profile of μ-GDP, which is that of one Gaussian release whose sensitivity is μ standard "
                 "deviations; T releases together have √T times the μ, also where they are chosen in view of earlier "
                 "outputs. It is tight for Gaussian noise: no smaller δ is true. Other μ-GDP mechanisms may lose "
                 "less.",
        source="Dong, Roth & Su 2022, Corollaries 2.13 and 3.3, arXiv:1905.02383v3",
        assumptions=(),
    ),
    params=("mu", "steps"), value=value, exact=exact, rtol=2e-12, inverse=inverse)

RDP = RdpBound(
    Theorem(
        name="gdp-rdp",
        example="convert --from gdp --mu 1 --alpha 4",
        statement="μ-GDP is (α, αμ²/2)-RDP for every α",
        in_words="The Rényi curve that follows from μ-GDP: it is that of Gaussian noise, which attains it. The curve "
                 "alone says less than μ, as μ-GDP does not follow from it, and the ε to which it is converted is "
                 "never below that of gdp-exact.",
        source="Dong, Roth & Su 2022, Corollary B.6, arXiv:1905.02383v3",
        assumptions=(),
    ),
    params=("mu",), value=rdp, exact=lambda mp, alpha, mu: mp.mpf(alpha) * mp.mpf(mu) ** 2 / 2, rtol=2.3e-16)

ZCDP = PointBound(
    Theorem(
        name="gdp-zcdp",
        example="convert --from gdp --mu 1 --to zcdp",
        statement="T releases that are μ-GDP each are ρ-zCDP together with ρ = Tμ²/2",
        in_words="The zCDP that follows from T releases that are μ-GDP each. Gaussian noise attains it. It holds in "
                 "this direction only: ρ-zCDP does not imply Gaussian DP, and an ε that is computed from ρ is never "
                 "below the one that is computed from μ.",
        source="Dong, Roth & Su 2022, Corollary B.6, arXiv:1905.02383v3; Bun & Steinke 2016, Lemma 1.7, "
               "arXiv:1605.02065v1",
        assumptions=(),
    ),
    gives=("rho",), params=("mu", "steps"), value=lambda mu, steps: {"rho": ratio_up((mu, mu, steps), (2.0,))},
    exact=lambda mp, mu, steps: {"rho": mp.mpf(mu) ** 2 * steps / 2}, rtol=2.3e-16)

COMPOSITION = PointBound(
    Theorem(
        name="gdp-composition",
        example="convert --from gdp --mu 0.5 --steps 4 --to gdp",
        statement="releases that are μ_i-GDP are μ-GDP together with μ = √Σμ_i²; an ε-DP release has μ_i = "
                  "−2Φ⁻¹(1/(1+e^ε))",
        in_words="The Gaussian DP of several releases together: the squares of their μ add up, and a release with pure "
                 "ε-DP counts as the μ of randomised response, its worst case. It is tight for Gaussian noise. Where "
                 "pure releases are many, their exact composition may give a smaller ε. From (ε, δ) with δ above 0 "
                 "alone, no μ follows.",
        source="Dong, Roth & Su 2022, Corollary 3.3, arXiv:1905.02383v3; of ε-DP releases the proof in "
               "dpcalc/bounds/conversions/pure.py",
        assumptions=("the guarantee of each release holds whatever the outputs before it were",),
    ),
    gives=("mu",), params=("mus", "pure"), value=composition, exact=exact_composition, condition=condition, rtol=5e-12)

BOUNDS = (EXACT, RDP, ZCDP, COMPOSITION)
