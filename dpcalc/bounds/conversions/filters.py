"""Privacy filters: the guarantee of releases that were chosen in view of earlier outputs, while their sum stayed within
a budget that was fixed beforehand.

Proof of adaptive-rdp-filter. L_k is the log ratio of the densities of the first k outputs on two neighbouring data
sets, P over Q, and ρ_k the Rényi divergence of order α of release k given the past, which the outputs before it
determine. E_Q[e^{αL_{k+1} − (α−1)Σ_{j≤k+1}ρ_j} | past] ≤ e^{αL_k − (α−1)Σ_{j≤k}ρ_j}, so this is a supermartingale from
1 on. Where the sum is at most B on every path, E_Q e^{αL} ≤ e^{(α−1)B}, also where the number of releases depends on
outputs (Fatou). The other direction likewise. So all outputs together are (α, B)-RDP, which rdp-improved converts. The
order is fixed beforehand: the best order afterwards depends on the outputs.

Proof of adaptive-gdp-filter. By Blackwell's theorem (Dong, Roth & Su 2022, Theorem 2) a release that is μ_t-GDP given
the past is a randomised function of N(0,1) or N(μ_t,1); a last one is added that fills μ². Let W be a Brownian motion
with drift 0 or 1, observed on [0, μ²]. The t-th Gaussian is its increment over the next μ_t² of time, divided by μ_t.
So all outputs are a function of the path, whose log ratio is that of N(0,1) and N(μ,1).

Proof of the part with δ. A release that is (ε_t, δ_t)-DP is a function of "with probability δ_t reveal everything, else
randomised response of ε_t" (Kairouz, Oh & Viswanath 2015). With Σδ_t ≤ δ_r on every path, something is revealed with
probability at most δ_r. Without that, both laws are those of the filter of the pure parts times the same weight
Π(1−δ_t) ≤ 1, a function of the outputs. So what the filter gives at ε is too small by at most δ_r.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, log1p
from typing import Any, NamedTuple

from dpcalc.bounds.conversions import gdp, pure, rdp_curves, rdp_improved
from dpcalc.bounds.curve import Curve
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.root import boundary, bracket
from dpcalc.numerics.rounding import decimal, down, quotient_up, sum_up, up

_UNPROVEN = 1e300  # in place of a μ² that is not proven: above any budget
_SPARE = 1e-12  # relative: of μ, so that μ-GDP in a pipe is (ε, δ), too, where it is computed with other roundings
_DIGITS = 9  # of the order, so that it is the same on every machine


class Charge(NamedTuple):
    """What one use of a release takes from the budget of a filter: at most this, and the formula at high precision."""

    at_most: Fraction
    exact: Callable[[Any], Any]


Charges = tuple[tuple[Charge, int], ...]  # of all releases, and how often each occurs


def total(charges: Charges) -> Fraction:
    """The sum of all charges, exactly."""
    return sum((charge.at_most * count for charge, count in charges), Fraction(0))


def of_number(x: Fraction) -> Charge:
    """A number that is known exactly, as one that was given as a decimal."""
    return Charge(x, lambda mp: mp.mpf(x.numerator) / x.denominator)


def of_curve(curve: Curve, order: float) -> Charge:
    """ε(α) of an RDP curve; of one for whole orders only the chord between its neighbours, by the proof of
    rdp-curve."""
    if not curve.whole or order == int(order):
        return Charge(Fraction(curve.rdp(order)), lambda mp: curve.exact(mp, order))
    orders = tuple(float(a) for a in (int(order), int(order) + 1) if a >= 2)
    value = rdp_curves.value(order, orders, tuple(curve.rdp(a) for a in orders))
    return Charge(Fraction(value), lambda mp: rdp_curves.exact(mp, order, orders, tuple(
        curve.exact(mp, a) for a in orders)))


def of_gaussian(numerator: float, denominator: float) -> Charge:
    """μ² of a release that is μ-GDP, μ being the quotient."""
    return of_number((decimal(numerator) / decimal(denominator)) ** 2)


def of_pure(epsilon: float) -> Charge:
    """μ² of the Gaussian noise that covers an ε-DP release (pure-gdp)."""
    mu = pure.gdp(epsilon, 1)["mu"]

    def exact(mp: Any) -> Any:
        if hasattr(mp, "erfinv"):
            return pure.exact_gdp(mp, epsilon, 1)["mu"] ** 2
        # Ball arithmetic has no such root, and any μ that the condition proves is valid.
        return mp.mpf(mu) ** 2 if pure.gdp_condition(mp, mu, epsilon, 1) >= 0 else mp.mpf(_UNPROVEN)

    return Charge(Fraction(mu) ** 2, exact)


# --- budgets ---------------------------------------------------------------------------------------------------------


def budget(order: float, epsilon: float, log_delta: float) -> float:
    """B = ε − log(1 − 1/α) + (log δ + log α)/(α−1), rounded down: (α, B)-RDP is (ε, δ)-DP by rdp-improved."""
    gain = -log1p(-1 / order) if order > 2 else log(order / (order - 1))
    tail = (log_delta + log(order)) / (order - 1)
    return down(epsilon + gain + tail - 2e-15 * (epsilon + gain + abs(tail)))


def best_order(epsilon: float, log_delta: float) -> float:
    """The order with the largest B/α, through which most zCDP fits: the root of its derivative. Any order that is fixed
    beforehand is valid."""
    def residual(distance: float) -> float:
        order = 1 + distance
        slope = -(log_delta + log(order)) * (order + distance) / distance**2
        return slope + (log1p(-1 / order) if order > 2 else log(distance / order)) - epsilon

    feasible, infeasible = bracket(residual, 1.0, +1, 1e-6, 1e9)
    return float(f"{1 + boundary(residual, feasible, infeasible, 1e-14):.{_DIGITS}g}")


def largest_mu(epsilon: float, log_delta: float) -> float:
    """The largest μ, about, with which μ-GDP is (ε, δ)-DP; rounded down."""
    def residual(mu: float) -> float:
        return gdp.value(epsilon, mu, 1) - log_delta

    feasible, infeasible = bracket(residual, 1.0, -1, 1e-9, 1e9)
    return (1 - _SPARE) * (boundary(residual, feasible, infeasible, 1e-15) if feasible != infeasible else feasible)


# --- the theorems ----------------------------------------------------------------------------------------------------


def _value(most_epsilon: float, log_delta: float, reserve: float, charges: Charges) -> dict[str, float]:
    spent = total(charges)
    return {"epsilon": most_epsilon,
            "delta": sum_up((up(exp(log_delta), 1e-15 * (1 + abs(log_delta))), reserve)),
            "spent": quotient_up(spent.numerator, spent.denominator)}


def rdp_value(most_epsilon: float, order: float, rdp_budget: float, reserve: float,
              charges: Charges) -> dict[str, float]:
    """δ at ε where (α, B)-RDP is kept, and Σρ_t(α)."""
    return _value(most_epsilon, rdp_improved.log_delta(order, rdp_budget, most_epsilon), reserve, charges)


def _spent(mp: Any, charges: Charges) -> Any:
    return mp.fsum(count * charge.exact(mp) for charge, count in charges)


def exact_rdp(mp: Any, most_epsilon: float, order: float, rdp_budget: float, reserve: float, charges: Charges) -> Any:
    a = mp.mpf(order)
    log_delta = (a - 1) * (mp.mpf(rdp_budget) - mp.mpf(most_epsilon)) + a * mp.log(1 - 1 / a) - mp.log(a - 1)
    return {"epsilon": mp.mpf(most_epsilon), "delta": mp.exp(log_delta) + mp.mpf(reserve),
            "spent": _spent(mp, charges)}


def gdp_value(most_epsilon: float, most_mu: float, reserve: float, charges: Charges) -> dict[str, float]:
    """δ at ε where μ-GDP is kept, and Σμ_t²."""
    return _value(most_epsilon, gdp.value(most_epsilon, most_mu, 1), reserve, charges)


def exact_gdp(mp: Any, most_epsilon: float, most_mu: float, reserve: float, charges: Charges) -> Any:
    delta = gdp.exact(mp, most_epsilon, most_mu, 1) + mp.mpf(reserve)
    return {"epsilon": mp.mpf(most_epsilon), "delta": delta, "spent": _spent(mp, charges)}


_ASSUMPTIONS = ("ε, δ, neighbours and the filter are fixed before the first release",
                "a release that would exceed the budget is not made",
                "the guarantee of each release holds for whatever the outputs before it were")

RDP = PointBound(
    Theorem(
        name="adaptive-rdp-filter",
        example="rdp --mechanism laplace --scale 20 --json | dpcalc ledger - --adaptive --epsilon 3 --delta 1e-5",
        statement="releases that are chosen in view of earlier outputs, with Σρ_t(α) ≤ B on every path, are together "
                  "(α, B)-RDP, hence (ε, δ)-DP for B = ε − log(1−1/α) + (log δ + log α)/(α−1); the δ_t of releases "
                  "that are (ε_t, δ_t)-DP add up",
        source="Feldman & Zrnic 2021, Theorem 3.1, arXiv:2008.11193; Canonne, Kamath & Steinke 2020, Proposition 12; "
               "proof in dpcalc/bounds/conversions/filters.py",
        assumptions=(*_ASSUMPTIONS, "the order α is fixed before the first release"),
        in_words="Releases whose noise, kind and number may depend on earlier outputs, as long as their RDP at one "
                 "order adds up to no more than a budget. Order and budget are fixed before the first release, and no "
                 "release exceeds the budget. The guarantee is the whole budget, also where less of it was spent.",
    ),
    gives=("epsilon", "delta", "spent"), params=("most_epsilon", "order", "rdp_budget", "reserve", "charges"),
    value=rdp_value, exact=exact_rdp, rtol=1e-10)

GDP = PointBound(
    Theorem(
        name="adaptive-gdp-filter",
        example="convert --from gdp --mu 0.3 --to gdp --json | dpcalc ledger - --adaptive --filter gdp --epsilon 3 "
                "--delta 1e-5",
        statement="μ_t-GDP releases that are chosen in view of earlier outputs, with Σμ_t² ≤ μ² on every path, are "
                  "together μ-GDP, as releases fixed beforehand are; an ε-DP release has μ_t = −2Φ⁻¹(1/(1+e^ε))",
        source="Smith & Thakurta 2022, arXiv:2210.17520; Koskela, Tobaben & Honkela 2023, arXiv:2209.15596; proof in "
               "dpcalc/bounds/conversions/filters.py",
        assumptions=_ASSUMPTIONS,
        in_words="Releases whose noise and number may depend on earlier outputs, as long as their μ² add up to no "
                 "more than a budget that is fixed before the first release. This costs no more than releases that "
                 "were all fixed beforehand. The guarantee is the whole budget, also where less of it was spent.",
    ),
    gives=("epsilon", "delta", "spent"), params=("most_epsilon", "most_mu", "reserve", "charges"), value=gdp_value,
    exact=exact_gdp, rtol=1e-11)

BOUNDS = (RDP, GDP)
