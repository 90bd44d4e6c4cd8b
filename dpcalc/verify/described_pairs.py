"""The privacy loss distributions of guarantees in JSON, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log
from typing import Any

from dpcalc.bounds.sampling.allocation_profile import DEFAULT_TAIL
from dpcalc.verify import allocation, composition_atoms, loss_distributions, scheme_uses
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.mechanisms import MECHANISMS
from dpcalc.verify.unchecked import Unchecked


def parts_of_guarantee(g: Mapping[str, Any]) -> Parts:
    """Return the uses of a guarantee, with their counts."""
    if g["kind"] == "mechanisms":
        size = int(g.get("group_size") or 1)
        return tuple((_use_of_mechanism(part, size), int(part.get("count", 1))) for part in g["mechanisms"])
    return ((Use(_PAIR_OF_KIND[g["kind"]](g)), int(g.get("count", 1))),)


def _use_of_mechanism(part: Mapping[str, Any], group_size: int) -> Use:
    sampling = part.get("sampling")
    if sampling is None:
        return Use(MECHANISMS[part["name"]].losses({**part, "group_size": group_size}))
    if group_size > 1:
        if sampling["scheme"] != "poisson":
            raise Unchecked(f"no theorem for groups of records is known with {sampling['scheme']} sampling")
        return scheme_uses.poisson_group(part, float(sampling["rate"]), group_size)
    if sampling["scheme"] == "truncated-poisson":
        return scheme_uses.truncated_poisson_use(sampling["n"], sampling["rate"], sampling["max_batch_size"],
                                     part["noise_multiplier"])
    if sampling["scheme"] == "random-allocation":
        return Use(allocation.from_above(float(part["noise_multiplier"]), int(sampling["steps_per_epoch"]),
                                         DEFAULT_TAIL))
    pair = MECHANISMS[part["name"]].losses(part)
    if sampling["scheme"] not in ("poisson", "without-replacement"):
        raise Unchecked("weighted sampling has no profile")
    return Use(pair, sampling["scheme"], float(sampling["rate"]))


def _pair_of_profile(g: Mapping[str, Any]) -> LossPair:
    from dpcalc.pld.atoms import hull

    given = dict(zip(g["epsilon"], g["delta"], strict=True))
    corners = hull(g["epsilon"], [log(d) if d > 0 else -inf for d in g["delta"]])
    return composition_atoms.profile_pair([e for e, _ in corners], lambda mp, e: mp.mpf(given[e]))


def _pair_of_rdp(g: Mapping[str, Any]) -> LossPair:
    """Return the dominating pair of the profile that an RDP curve implies. The calculator chooses the ε at which the
    profile is known, and the order at each of them; any choice is valid."""
    from dpcalc.accounting.guarantee_pld import best_orders, profile_samples
    from dpcalc.pld.atoms import hull

    orders = tuple(zip(g["alpha"], g["rdp"], strict=True))
    corners = [e for e, _ in hull(*profile_samples(orders))]
    best = dict(zip(corners, best_orders(orders, corners), strict=True))
    return composition_atoms.profile_pair(corners, lambda mp, e: _delta_by_order(mp, *best[e], e))


def _pair_of_zcdp(g: Mapping[str, Any]) -> LossPair:
    from dpcalc.accounting.guarantee_pld import zcdp_orders

    alphas, rdps = zip(*zcdp_orders(g["rho"]), strict=True)
    return _pair_of_rdp({"alpha": alphas, "rdp": rdps})


def _delta_by_order(mp: Any, alpha: float, rdp: float, epsilon: float) -> Any:
    """Return δ at ε from the RDP at one order, by the conversion rdp-improved."""
    a = mp.mpf(alpha)
    delta = mp.exp((a - 1) * (mp.mpf(rdp) - mp.mpf(epsilon))) * (1 - 1 / a) ** a / (a - 1)
    return delta if float(delta) < 1 else mp.mpf(1)


_PAIR_OF_KIND: dict[str, Callable[[Mapping[str, Any]], LossPair]] = {
    "gdp": lambda g: loss_distributions.gaussian(lambda mp: mp.mpf(g["mu"])),
    "dp": lambda g: composition_atoms.approximate_dp_pair(lambda mp: mp.mpf(g["epsilon"]), g["delta"], g["epsilon"]),
    "tv": lambda g: composition_atoms.approximate_dp_pair(lambda mp: mp.mpf(0), g["tv"], 0.0),
    "profile": _pair_of_profile,
    "rdp": _pair_of_rdp,
    "zcdp": _pair_of_zcdp,
    "outcomes": lambda g: composition_atoms.finite_pair(g["p"], g["q"]),
}
