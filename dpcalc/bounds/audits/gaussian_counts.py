"""From the counts of an attack to a lower bound on μ, and on the ε of a mechanism whose trade-off curve is Gaussian.

Proof of audit-gdp. With the confidence of audit-counts, TPR >= t and FPR <= f hold at once. A μ-GDP mechanism has TPR
<= Φ(Φ⁻¹(FPR) + μ) (Dong, Roth & Su 2022), so that no μ below Φ⁻¹(t) − Φ⁻¹(f) is true. If the trade-off curve of the
mechanism is that of Gaussian noise, its ε at δ is that of its true μ, which is at least that of the bound on μ; of
other mechanisms the bound on μ says nothing about ε, as they may be more private than μ-GDP says. ∎ """

from __future__ import annotations

from math import log, nextafter
from typing import Any

from dpcalc.bounds.audits import counts
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.core.bound import Params, PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import epsilon_for
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.normal import two_sided_quantile

_QUANTILE = 1e-12  # relative: more than the error of a quantile
_OF_PROFILE = 1e-11  # relative: more than the error of the ε of a Gaussian profile


def quantile(p: float, complement: float) -> float:
    """Φ⁻¹(p), where complement = 1 − p."""
    smaller = min(p, complement)
    z = two_sided_quantile(1 - 2 * smaller, 2 * smaller)
    return z if p > complement else -z


def quantiles(true_positives: int, members: int, false_positives: int, non_members: int, confidence: float,
              tests: int) -> tuple[float, float] | None:
    """(x, y) with Φ(x) <= t and Φ(y) >= f, near to equality; None where t or f is 0 or 1, and shows nothing."""
    found = counts.limits(true_positives, members, false_positives, non_members, confidence, tests)
    if not (found.tpr > 0 and found.missed < 1 and found.spared > 0 and found.fpr < 1):
        return None
    x, y = quantile(found.tpr, found.missed), quantile(found.fpr, found.spared)
    return x - _QUANTILE * max(1e-3, abs(x)), y + _QUANTILE * max(1e-3, abs(y))


def mu_lower(**own: Any) -> float:
    """The bound on μ, rounded down; 0 where the counts show nothing."""
    pair = quantiles(**own)
    return 0.0 if pair is None else max(0.0, nextafter(pair[0] - pair[1], 0.0))


def value(delta: float, **own: Any) -> dict[str, float]:
    if delta == 0:
        raise OutOfScope("unsupported", "Gaussian noise has no ε at δ = 0", "--delta")
    mu = mu_lower(**own)
    if mu == 0:
        return {"epsilon_lower": 0.0, "mu_lower": 0.0}
    epsilon = epsilon_for(log(delta), mu)
    return {"epsilon_lower": counts.lowered(epsilon * (1 - _OF_PROFILE)), "mu_lower": mu}


def exact(mp: Any, delta: float, **own: Any) -> dict[str, Any]:
    known = {name: own[name] for name in counts.PARAMS}
    level = counts.as_mpf(mp, counts.error_probability(own["confidence"], own["tests"]) / 2)
    t, f = counts.exact_rates(mp, level=level, **known)
    near = value(delta, **own)
    if near["mu_lower"] == 0:
        return {"epsilon_lower": mp.mpf(0), "mu_lower": mp.mpf(0)}
    mu = mp.sqrt(2) * (mp.erfinv(2 * t - 1) - mp.erfinv(2 * f - 1))
    if gaussian.theta(mp, 0, mu) <= delta:
        return {"epsilon_lower": mp.mpf(0), "mu_lower": mu}
    guess, width = mp.mpf(near["epsilon_lower"]), mp.mpf("1e-7")
    return {"mu_lower": mu, "epsilon_lower": root(mp, lambda e: mp.mpf(delta) - gaussian.theta(mp, e, mu),
                                                  max(mp.mpf(0), guess - width), guess + width * (1 + guess))}


def condition(mp: Any, claimed: float, delta: float, **own: Any) -> Any:
    """What is at least 0 where the counts show that a Gaussian mechanism has at least the claimed ε at δ."""
    if claimed == 0:
        return mp.mpf(0)
    return min(gaussian.theta(mp, claimed, _mu_of_quantiles(mp, own)) - delta, quantiles_hold(mp, own))


def mu_condition(mp: Any, claimed: float, delta: float, **own: Any) -> Any:
    """What is at least 0 where the counts show the claimed μ."""
    if claimed == 0:
        return mp.mpf(0)
    return min(_mu_of_quantiles(mp, own) - mp.mpf(claimed), quantiles_hold(mp, own))


def _mu_of_quantiles(mp: Any, own: Params) -> Any:
    x, y = quantiles(**own) or (0.0, 0.0)
    return mp.mpf(x) - mp.mpf(y)


def quantiles_hold(mp: Any, own: Params) -> Any:
    """What is at least 0 where the quantiles are on the safe side of limits that hold."""
    found, (x, y) = counts.limits(**own), quantiles(**own) or (0.0, 0.0)
    return min(mp.mpf(found.tpr) - mp.ncdf(mp.mpf(x)), mp.ncdf(mp.mpf(y)) - mp.mpf(found.fpr),
               counts.limits_hold(mp, found, **own))


BOUND = PointBound(
    Theorem(
        name="audit-gdp",
        example="audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5 --bound audit-gdp",
        statement="a μ-GDP program has μ ≥ Φ⁻¹(t) − Φ⁻¹(f) with confidence 1 − a, with t and f of audit-counts; and ε "
                  "≥ ε(δ) of that μ, if its trade-off curve is that of Gaussian noise",
        in_words="This is a lower bound on the true ε at the given δ if the trade-off curve of the program is that of "
                 "Gaussian noise, as for noise on a sum of all records, and else no bound on ε: for DP-SGD on batches "
                 "that curve is an approximation. The lower bound on μ holds for every μ-GDP program, at the "
                 "confidence of audit-counts.",
        source="Nasr et al. 2023, arXiv:2302.07956; Dong, Roth & Su 2022, Definition 2.6, "
               "arXiv:1905.02383v3; proof in dpcalc/bounds/audits/gaussian_counts.py",
        assumptions=("the trade-off curve of the program is that of Gaussian noise", counts.INDEPENDENT, counts.FIXED),
        released="what the attack was given",
        status="model",
    ),
    gives=("epsilon_lower", "mu_lower"), params=(*counts.PARAMS, "delta", "confidence", "tests"), value=value,
    exact=exact, condition=condition, rtol=1e-9)
