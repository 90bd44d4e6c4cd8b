"""The RDP curves of guarantees read from JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcalc.accounting.guarantee import Dp, Gdp, Guarantee, Mechanisms, Outcomes, Part, Rdp, Sampled, Tv, Zcdp
from dpcalc.bounds import curve
from dpcalc.bounds.conversions import gdp_rdp, outcomes, pure_rdp, rdp_curve, zcdp_rdp
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import poisson_rdp, weighted_rdp, wor_rdp
from dpcalc.core.errors import DpcalcError


def _part_curve(part: Part) -> Curve:
    base = part.mechanism.curve(part.params)
    return base if part.sampling is None else sampled(base, part.sampling.scheme, part.sampling.rate, part.params)


def _poisson(base: Curve, rate: float, values: dict[str, Any]) -> Curve:
    if "noise_multiplier" not in values:
        raise DpcalcError("unsupported", "RDP of Poisson sampling is supported for Gaussian noise only; ask with "
                                         "--delta", "--input")
    return curve.of_bound(poisson_rdp.BOUND, noise_multiplier=values["noise_multiplier"], sampling_rate=rate)


_SCHEMES: dict[str, Callable[[Curve, float, dict[str, Any]], Curve]] = {
    "poisson": _poisson,
    "without-replacement": lambda base, rate, _: curve.of_bound(wor_rdp.BOUND, sampling_rate=rate, base=base),
    "weighted": lambda base, rate, _: curve.of_bound(weighted_rdp.BOUND, max_weight=rate, base=base),
}


def sampled(base: Curve, scheme: str, rate: float, values: dict[str, Any]) -> Curve:
    """The curve of one use on a sample that `scheme` draws at this rate; `values` are the parameters of the base."""
    return _SCHEMES[scheme](base, rate, values)


def curves(guarantee: Guarantee) -> tuple[tuple[Curve, int], ...]:
    """(curve, count) of every part. Raises DpcalcError where a guarantee has no RDP curve."""
    if isinstance(guarantee, Mechanisms):
        return tuple((_part_curve(part), part.count) for part in guarantee.mechanisms)
    if isinstance(guarantee, Rdp):
        given = curve.of_bound(rdp_curve.BOUND, alphas=guarantee.alpha, rdps=guarantee.rdp)
        return ((given._replace(rdp=rdp_curve.follow(guarantee.alpha, guarantee.rdp)), 1),)
    if isinstance(guarantee, Gdp):
        return ((curve.of_bound(gdp_rdp.BOUND, mu=guarantee.mu), 1),) if guarantee.mu > 0 else ()
    if isinstance(guarantee, Zcdp):
        return ((curve.of_bound(zcdp_rdp.BOUND, rho=guarantee.rho), 1),) if guarantee.rho > 0 else ()
    if isinstance(guarantee, Outcomes):
        return ((curve.of_bound(outcomes.RDP, outcomes.pure(guarantee.p, guarantee.q), p=guarantee.p, q=guarantee.q),
                 guarantee.count),)
    if isinstance(guarantee, Dp) and guarantee.delta == 0:
        return ((curve.of_bound(pure_rdp.BOUND, guarantee.epsilon, step_epsilon=guarantee.epsilon), 1),)
    if isinstance(guarantee, Tv):
        raise DpcalcError("refused", "a total variation alone is (0, TV)-DP, which implies no RDP; ask with --delta or "
                                     "--epsilon", "--input")
    if isinstance(guarantee, Sampled):
        raise DpcalcError("refused", "a profile whose last δ is above 0 implies no RDP; ask with --delta or --epsilon",
                          "--input")
    raise DpcalcError("refused",
                      "an (ε, δ) guarantee with δ > 0 implies no RDP (Mironov 2017, Prop. 3, has no converse)",
                      "--input")
