"""From data sets that differ by one record more to data sets that differ in the value of one record.

Theorem. Let P, Q and R be the laws of the outputs on three data sets, the second of which lacks the record (or has it
zeroed out) in which the first and the third differ. For all a, b >= 0

    E_{e^{a+b}}(P ‖ R) <= E_{e^a}(P ‖ Q) + e^a E_{e^b}(Q ‖ R).

Proof. For every event S, P(S) <= e^a Q(S) + E_{e^a}(P‖Q) and Q(S) <= e^b R(S) + E_{e^b}(Q‖R); put the second into the
first. ∎ With a = b = ε an (ε, δ) guarantee, in both orders, for records that are added or removed (or zeroed out) is
(2ε, (1 + e^ε)δ) for records that are replaced. In the same way, by group privacy for two records, μ-GDP becomes 2μ-GDP
(Dong, Roth & Su 2022, arXiv:1905.02383v3, section on group privacy), ρ-zCDP becomes 4ρ-zCDP (Bun & Steinke 2016,
Proposition 27, arXiv:1605.02065v1), and the sensitivity of a query at most doubles. From data sets of the same size
nothing follows for data sets of different sizes. """

from math import exp, inf
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import ratio_up, sum_up, up


def value(step_epsilon: float, step_delta: float) -> dict[str, float]:
    """2ε and (1 + e^ε)δ, rounded up; δ may exceed 1, and then says nothing."""
    return {"epsilon": 2 * step_epsilon, "delta": of_two_steps(step_epsilon, step_delta, step_delta)}


def of_two_steps(a: float, first: float, second: float) -> float:
    """δ + e^a·δ′ for the first and the second step, rounded up; inf where that is beyond the doubles."""
    if not second:
        return first
    return sum_up((first, ratio_up((up(exp(a), 2e-16), second)))) if a < 700 else inf  # e^709 is the largest double


def exact(mp: Any, step_epsilon: float, step_delta: float) -> Any:
    e = mp.mpf(step_epsilon)
    return {"epsilon": 2 * e, "delta": (1 + mp.exp(e)) * mp.mpf(step_delta)}


BOUND = PointBound(
    Theorem(
        name="to-replace-one",
        example="subsample --sampling-rate 0.1 --epsilon 1 --delta 1e-6 --json | dpcalc convert - --adjacency "
                "replace-one",
        statement="an (ε, δ) guarantee for records that are added or removed, or zeroed out, is (2ε, (1 + e^ε)δ) for "
                  "records that are replaced; δ′(a + b) ≤ δ(a) + e^a δ(b) for profiles, 2μ for μ-GDP, 4ρ for ρ-zCDP, "
                  "twice the sensitivity",
        in_words="From a guarantee for records that are added or removed, or zeroed out, to one for records that are "
                 "replaced, which is one removal and one addition: ε and μ double, ρ is four times as large. It holds "
                 "for every mechanism; where the mechanism is known, its bound for replaced records may be smaller. "
                 "For added or removed records nothing follows from replaced ones.",
        source="Bun & Steinke 2016, Proposition 27, arXiv:1605.02065v1 (zCDP); Dong, Roth & Su 2022, group privacy, "
               "arXiv:1905.02383v3 (GDP); proof in dpcalc/bounds/conversions/to_replace_one.py",
        assumptions=("the given guarantee holds for every two data sets of which one lacks one record of the other, or "
                     "has it zeroed out",),
        released="whatever the given guarantee covers",
    ),
    gives=("epsilon", "delta"), params=("step_epsilon", "step_delta"), value=value, exact=exact, rtol=1e-15)
