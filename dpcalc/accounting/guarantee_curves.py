"""The RDP curves of guarantees read from JSON."""

from __future__ import annotations

from dpcalc.accounting.guarantee import Dp, Gdp, Guarantee, Mechanisms, Outcomes, Rdp, Sampled, Tv, Zcdp
from dpcalc.accounting.guarantee_parts import Part
from dpcalc.bounds import curve
from dpcalc.bounds.conversions import gdp, outcomes, pure, rdp_curves, zcdp
from dpcalc.bounds.curve import Curve
from dpcalc.core.errors import DpcalcError


def _part_curve(part: Part, guarantee: Mechanisms) -> Curve:
    size = guarantee.size_of_group
    if part.sampling is None:
        return part.mechanism.rdp_curve(part.params(guarantee.adjacency, size))
    scheme = part.sampling.record
    if scheme.curve is None or size > 1:
        of_groups = " for groups of records" if size > 1 else ""
        raise DpcalcError("unsupported", f"{scheme.name} sampling has no RDP bound{of_groups} here; ask with --delta",
                          "--input")
    return scheme.curve(part.use(guarantee.adjacency))


def curves(guarantee: Guarantee) -> tuple[tuple[Curve, int], ...]:
    """(curve, count) of every part. Raises DpcalcError where a guarantee has no RDP curve."""
    if isinstance(guarantee, Mechanisms):
        return tuple((_part_curve(part, guarantee), part.count) for part in guarantee.mechanisms)
    if isinstance(guarantee, Rdp):
        given = curve.of_bound(rdp_curves.CURVE, alphas=guarantee.alpha, rdps=guarantee.rdp)
        return ((given._replace(rdp=rdp_curves.follow(guarantee.alpha, guarantee.rdp)), 1),)
    if isinstance(guarantee, Gdp):
        return ((curve.of_bound(gdp.RDP, mu=guarantee.mu), 1),) if guarantee.mu > 0 else ()
    if isinstance(guarantee, Zcdp):
        return ((curve.of_bound(zcdp.RDP, rho=guarantee.rho), 1),) if guarantee.rho > 0 else ()
    if isinstance(guarantee, Outcomes):
        return ((curve.of_bound(outcomes.RDP, outcomes.pure(guarantee.p, guarantee.q), p=guarantee.p, q=guarantee.q),
                 guarantee.count),)
    if isinstance(guarantee, Dp) and guarantee.delta == 0:
        return ((curve.of_bound(pure.RDP, guarantee.epsilon, step_epsilon=guarantee.epsilon), 1),)
    if isinstance(guarantee, Tv):
        raise DpcalcError("refused", "a total variation alone is (0, TV)-DP, which implies no RDP; ask with --delta or "
                                     "--epsilon", "--input")
    if isinstance(guarantee, Sampled):
        raise DpcalcError("refused", "a profile whose last δ is above 0 implies no RDP; ask with --delta or --epsilon",
                          "--input")
    raise DpcalcError("refused",
                      "an (ε, δ) guarantee with δ > 0 implies no RDP (Mironov 2017, Prop. 3, has no converse)",
                      "--input")
