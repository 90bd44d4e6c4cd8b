"""The dominating pairs of guarantees read from JSON. Needs numpy."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf, log, nextafter
from typing import Any

import numpy as np

from dpcalc.accounting import disjoint_parts
from dpcalc.accounting.guarantee import Dp, Gdp, Guarantee, Mechanisms, Outcomes, Parallel, Rdp, Sampled, Tv, Zcdp
from dpcalc.accounting.guarantee_parts import Part
from dpcalc.bounds.conversions import rdp_improved
from dpcalc.core.errors import OutOfScope
from dpcalc.core.relations import RELATIONS
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld import atoms, largest_profile
from dpcalc.pld.pair import Gaussian as GaussianPair
from dpcalc.pld.pair import Pair, not_attained
from dpcalc.pld.pilot import Parts


def dominating_pairs(guarantee: Guarantee) -> Parts:
    """(dominating pair, count) of every part.

    The pair of a guarantee dominates every mechanism that has the guarantee. As the actual mechanism may lose less, the
    pair does not count as attained, so that no lower end is reported.
    """
    pairs = _PARTS[type(guarantee)](guarantee)
    if isinstance(guarantee, Outcomes) or (isinstance(guarantee, Mechanisms) and not guarantee.upper_bound):
        return pairs
    return tuple((not_attained(pair), count) for pair, count in pairs)


def pairs_of_all(guarantees: Sequence[Guarantee]) -> tuple[Parts, ...]:
    """(dominating pair, count) of every part of each of the guarantees, which are composed. Where one of them is about
    a record that is added or removed, it is not known which of its two data sets the probabilities p of an `outcomes`
    guarantee are about, and either order counts."""
    each = [dominating_pairs(g) for g in guarantees]
    if not any(pair.reverse for g, parts in zip(guarantees, each, strict=True) if not isinstance(g, Outcomes)
               for pair, _ in parts):
        return tuple(each)
    return tuple(((atoms.outcomes_in_either_order(g.p, g.q), g.count),) if isinstance(g, Outcomes) else parts
                 for g, parts in zip(guarantees, each, strict=True))


def _part(part: Part, guarantee: Mechanisms) -> Pair:
    size = guarantee.size_of_group
    if part.sampling is None:
        pair: Pair = part.mechanism.profile(part.params(guarantee.adjacency, size)).pair()
        return pair
    scheme = part.sampling.record
    if scheme.pair is None:
        raise OutOfScope("unsupported", f"{scheme.name} sampling has an RDP bound only, and no privacy profile",
                         "--input")
    if size > 1 and not scheme.group_routes:
        raise OutOfScope("refused", f"no theorem for groups of records is known with {scheme.name} sampling",
                         "--input")
    return scheme.pair(part.use(guarantee.adjacency, size))


def _of_orders(orders: Sequence[tuple[float, float]]) -> Parts:
    """The privacy profile that follows from an RDP curve, at samples of ε: δ by about the best of its orders at
    each."""
    return ((atoms.profile_at_points(*profile_samples(orders)), 1),)


def zcdp_orders(rho: float) -> tuple[tuple[float, float], ...]:
    """(α, ρα) of ρ-zCDP at 97 orders, from those that a large δ needs to those that a small δ needs. Any choice of
    orders is valid."""
    return tuple((1 + x, ratio_up((1 + x, rho))) for x in (2 ** (k / 4) / max(1.0, rho) for k in range(-16, 81)))


def profile_samples(orders: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """(ε, log δ) that follow from (α, ε(α)), at 201 values of ε up to where δ is 1e-300 or less."""
    most = min(r - log(1e-300) / (a - 1) for a, r in orders)
    epsilons = [most * (k / 200) ** 2 for k in range(201)]
    best = zip(best_orders(orders, epsilons), epsilons, strict=True)
    return epsilons, [min(0.0, rdp_improved.log_delta(*order, e)) for order, e in best]


def best_orders(orders: Sequence[tuple[float, float]], epsilons: Sequence[float]) -> list[tuple[float, float]]:
    """At each ε the order with about the least δ by the improved conversion; any order is valid."""
    a, r = np.array(orders, dtype=float).T
    gain = a * np.log1p(-1 / a) - np.log(a - 1)
    return [orders[int(np.argmin((a - 1) * (r - e) + gain))] for e in epsilons]


@lru_cache(maxsize=16)  # the running totals of a ledger read the same parts several times
def _disjoint(guarantee: Parallel) -> Parts:
    """The pair of the largest loss of all cases of disjoint parts, or the pairs of the only case."""
    return largest_profile.parts([(pairs_in_either_order(case.members), pairs_in_either_order(case.entered))
                                  for case in disjoint_parts.cases(guarantee)],
                                 RELATIONS[str(guarantee.adjacency)].sensitivity > 1)


def pairs_in_either_order(guarantees: Sequence[Guarantee]) -> Parts:
    """The pairs of releases of which the probabilities p of an `outcomes` guarantee belong to an unknown data set."""
    each = (((atoms.outcomes_in_either_order(g.p, g.q), g.count),) if isinstance(g, Outcomes) else dominating_pairs(g)
            for g in guarantees)
    return tuple(part for parts in each for part in parts)


def _log_up(x: float) -> float:
    return min(0.0, nextafter(log(x), inf)) if x > 0 else -inf


_PARTS: dict[type, Callable[[Any], Parts]] = {
    Mechanisms: lambda g: tuple((_part(part, g), part.count) for part in g.mechanisms),
    Rdp: lambda g: _of_orders(tuple(zip(g.alpha, g.rdp, strict=True))),
    Gdp: lambda g: ((GaussianPair(g.mu), 1),) if g.mu > 0 else (),
    Dp: lambda g: ((atoms.approximate_dp(g.epsilon, _log_up(g.delta)), 1),),
    Zcdp: lambda g: _of_orders(zcdp_orders(g.rho)) if g.rho > 0 else (),
    Outcomes: lambda g: ((atoms.outcomes(g.p, g.q), g.count),),
    Sampled: lambda g: ((atoms.profile_at_points(g.epsilon, [_log_up(d) for d in g.delta]), 1),),
    Parallel: _disjoint,
    Tv: lambda g: ((atoms.approximate_dp(0.0, _log_up(g.tv)), 1),),
}
