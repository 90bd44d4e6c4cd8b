"""Total variation in closed form: of single mechanisms, of compositions, and by a Kullback–Leibler divergence."""

from collections.abc import Callable
from math import erf, expm1, log1p, sqrt, tanh
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

# By mechanism: the total variation as a function of the one ratio that its output depends on, in doubles and as printed
CLOSED_FORMS: dict[str, tuple[Callable[[float], float], Callable[[Any, Any], Any]]] = {
    "gaussian": (lambda r: erf(r / sqrt(8.0)), lambda mp, r: mp.erf(r / mp.sqrt(8))),  # of s/σ
    "laplace": (lambda r: -expm1(-r / 2), lambda mp, r: -mp.expm1(-r / 2)),  # of s/v
    "randomized-response": (lambda r: tanh(r / 2), lambda mp, r: mp.tanh(r / 2)),  # of log(p/(1−p))
}


def of_mechanism(mechanism: str, ratio: float, steps: int) -> dict[str, float]:
    """The total variation of T releases, rounded up; T Gaussian ones are like one with the ratio √T times as large.
    Raises OutOfScope for several releases without a closed form."""
    if steps > 1 and mechanism != "gaussian":
        raise OutOfScope("unsupported", f"no closed form is known for {steps} releases with --mechanism {mechanism}",
                         "--steps")
    return {"tv": min(1.0, up(CLOSED_FORMS[mechanism][0](ratio * sqrt(steps)), 2e-15))}


def pinsker(ratio: float, steps: int) -> dict[str, float]:
    """TV <= s√T/(2σ), where that is below 1."""
    return {"tv": min(1.0, up(ratio * sqrt(steps) / 2, 1e-15))}


def laplace_as_published(scale: float, sensitivity: float) -> dict[str, float]:
    """s/(2v²), as printed."""
    return {"tv": min(1.0, up(sensitivity / scale / scale / 2, 1e-15))}


def of_product(step_tv: float, steps: int) -> dict[str, float]:
    """1 − (1 − TV)^T."""
    if step_tv >= 1:
        return {"tv": 1.0}
    return {"tv": min(1.0, up(-expm1(steps * log1p(-step_tv)), 2e-15))}


def exact_of_product(mp: Any, step_tv: float, steps: int) -> Any:
    return {"tv": -mp.expm1(steps * mp.log1p(-mp.mpf(step_tv))) if step_tv < 1 else mp.mpf(1)}


def by_kl(kl: float, steps: int) -> dict[str, float]:
    """min(√(KL/2), √(1 − e^{−KL})), rounded up, with the sum of the divergences of T releases as KL."""
    total = steps * kl
    return {"tv": min(1.0, up(min(sqrt(total) * sqrt(0.5), sqrt(-expm1(-total))), 1e-15))}


def exact_by_kl(mp: Any, kl: float, steps: int) -> Any:
    total = steps * mp.mpf(kl)
    return {"tv": min(mp.sqrt(total / 2), mp.sqrt(-mp.expm1(-total)))}


EXACT = PointBound(
    Theorem(
        name="tv-exact",
        example="tv --mechanism gaussian --sigma 50",
        statement="TV = erf(s√T/(2√2σ)) for T Gaussian releases; 1 − e^(−s/(2v)) for Laplace noise in any dimension; "
                  "|2p − 1| for a randomised bit",
        in_words="The total variation of Gaussian noise, of Laplace noise, or of a randomised bit: the most by which "
                 "an attacker's true-positive rate can exceed the false-positive rate, whatever the attack. It is "
                 "exact where the answers of neighbours differ by s (for Laplace noise in one coordinate); several "
                 "releases have this form for Gaussian noise only.",
        source="δ at ε = 0 of the exact profiles: Balle & Wang 2018, Theorem 8, arXiv:1805.06530v2; Sordello, Bu & "
               "Dong 2021, eq. 5; Warner 1965",
        assumptions=("the query changes by at most s between neighbouring data sets: in ℓ2 for Gaussian, in ℓ1 for "
                     "Laplace",),
    ),
    gives=("tv",), params=("mechanism", "ratio", "steps"), value=of_mechanism,
    exact=lambda mp, mechanism, ratio, steps: {"tv": CLOSED_FORMS[mechanism][1](mp, mp.mpf(ratio) * mp.sqrt(steps))},
    rtol=6e-15)

PINSKER = PointBound(
    Theorem(
        name="tv-pinsker",
        example="tv --mechanism gaussian --sigma 50",
        statement="TV ≤ s√T/(2σ): the root of the sum of the squares over the releases; 25 % more noise than the "
                  "exact value needs",
        in_words="An upper bound of the total variation of T releases with Gaussian noise, by Pinsker's inequality. "
                 "It is loose: where it is small, it is a fourth above the exact value, tv-exact, which is as easy to "
                 "compute. It serves to reproduce the numbers of papers that use it.",
        source="Berthier 2019, Proposition 2.5 and its composition rule in §2.4.2",
        assumptions=("the query changes by at most s in ℓ2 between neighbouring data sets", "noise N(0, σ²I)"),
    ),
    gives=("tv",), params=("ratio", "steps"), value=pinsker,
    exact=lambda mp, ratio, steps: {"tv": min(mp.mpf(ratio) * mp.sqrt(steps) / 2, mp.mpf(1))}, rtol=4e-15)

LAPLACE_AS_PUBLISHED = PointBound(
    Theorem(
        name="tv-laplace-as-published",
        example="tv --mechanism laplace --scale 50 --bound tv-laplace-as-published",
        statement="TV ≤ s/(2v²), from v = √(s/(2·TV)): FALSE, the exact value is 1 − e^(−s/(2v))",
        in_words="This is no guarantee, but a formula for the total variation of Laplace noise as its paper prints "
                 "it, and it is false: with the scale that it asks for at TV = 0.01 and s = 1, the true value is "
                 "0.0683. Use tv-exact, which has a closed form as well.",
        source="Berthier 2019, Proposition 2.4",
        assumptions=("noise Laplace(0, v) per coordinate",),
        status="as-published",
        errata=("The proof of Berthier 2019, Proposition 2.4, bounds a difference of densities at a point instead of "
                "its integral. At s = 1 the scale for TV = 0.01 has TV = 0.0683 (6.8 times), the one for 1e-5 has "
                "0.00223 (223 times).",),
    ),
    gives=("tv",), params=("scale", "sensitivity"), value=laplace_as_published,
    exact=lambda mp, scale, sensitivity: {"tv": min(mp.mpf(sensitivity) / (2 * mp.mpf(scale) ** 2), mp.mpf(1))},
    rtol=4e-15)

PRODUCT = PointBound(
    Theorem(
        name="tv-product",
        example="tv --tv 0.01 --steps 50",
        statement="TV of T releases is at most 1 − (1 − TV)^T, which some mechanism reaches; never above the sum T·TV",
        in_words="The total variation of several releases, each with at most the given total variation whatever the "
                 "outputs before it were. It is never above their sum, and tight: some mechanism reaches it. For "
                 "Gaussian noise it is loose, as T releases together have a total variation that grows like √T only, "
                 "as tv-exact shows.",
        source="the composition of (0, TV)-DP: Kairouz, Oh & Viswanath 2015, Theorem 3.3 at ε = 0, arXiv:1311.0776v4 "
               "(Berthier 2019, Theorem 2.2, has the sum)",
        assumptions=("every release has at most this total variation, whatever the releases before it were",),
    ),
    gives=("tv",), params=("step_tv", "steps"), value=of_product, exact=exact_of_product, rtol=6e-15)

KL = PointBound(
    Theorem(
        name="tv-kl",
        example="tv --kl 0.02 --steps 4",
        statement="TV ≤ min( √(KL/2), √(1 − e^(−KL)) ); KL is at most the RDP at any order, and at most ρ under "
                  "ρ-zCDP",
        in_words="The total variation that a Kullback–Leibler divergence implies, by Pinsker's inequality or by that "
                 "of Bretagnolle and Huber, whichever is smaller; the divergences of several releases add up. It "
                 "holds for every mechanism. It is loose where the mechanism is known: for Gaussian noise it is a "
                 "fourth above the exact value where that is small.",
        source="Pinsker's inequality, and Bretagnolle & Huber 1979; Tsybakov 2009, Lemmas 2.5 and 2.6 (the second in "
               "its sharper form)",
        assumptions=("the divergence holds for both orders of the neighbours, whatever the releases before were",),
    ),
    gives=("tv",), params=("kl", "steps"), value=by_kl, exact=exact_by_kl, rtol=4e-15)

BOUNDS = (EXACT, PINSKER, LAPLACE_AS_PUBLISHED, PRODUCT, KL)
