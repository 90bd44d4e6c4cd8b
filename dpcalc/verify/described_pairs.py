"""The privacy loss distributions of guarantees in JSON, in closed form."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, log
from typing import Any

from dpcalc.accounting.guarantee import Selected, read
from dpcalc.accounting.guarantee_pld import best_orders, profile_samples, zcdp_orders
from dpcalc.accounting.schemes import SCHEMES
from dpcalc.bounds.conversions import selection
from dpcalc.commands.convert_answer import one_run
from dpcalc.commands.selected_inputs import law_of, profile
from dpcalc.core.relations import RELATIONS
from dpcalc.pld.atoms import either_order_points, hull
from dpcalc.verify import composition_atoms, loss_distributions, scheme_uses
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.mechanisms import losses
from dpcalc.verify.unchecked import Unchecked


def parts_of_guarantees(guarantees: Sequence[Mapping[str, Any]]) -> list[Parts]:
    """Return the uses of each guarantee, with their counts. Beside a mechanism whose two directions differ, the two
    probability distributions of `outcomes` count in either order."""
    each = [parts_of_guarantee(g) for g in guarantees]
    if all(use.symmetric for g, parts in zip(guarantees, each, strict=True) if g["kind"] != "outcomes"
           for use, _ in parts):
        return each
    return [uses_of(g, True) for g in guarantees]


def uses_of(g: Mapping[str, Any], either_order: bool) -> Parts:
    """Return the uses of a guarantee, with their counts; of `outcomes` in either order where that is wanted."""
    if either_order and g["kind"] == "outcomes":
        return ((Use(_in_either_order(g["p"], g["q"])), int(g.get("count", 1))),)
    return parts_of_guarantee(g)


def _in_either_order(p: Sequence[float], q: Sequence[float]) -> LossPair:
    """Return the pair whose profile is the larger δ of both orders, linear in e^ε between the points that the
    calculator chooses; any choice is valid."""
    def delta(mp: Any, epsilon: float) -> Any:
        factor = mp.exp(mp.mpf(epsilon))
        return max((mp.fsum(composition_atoms.positive_part(mp, mp.mpf(a) - factor * mp.mpf(b))
                            for a, b in zip(*pair, strict=True)) for pair in ((p, q), (q, p))), key=float)

    return composition_atoms.profile_pair(either_order_points(p, q), delta)


def parts_of_guarantee(g: Mapping[str, Any]) -> Parts:
    """Return the uses of a guarantee, with their counts."""
    if g["kind"] == "mechanisms":
        size, relation = int(g.get("group_size") or 1), g.get("adjacency")
        return tuple((_use_of_mechanism(part, relation, size), int(part.get("count", 1))) for part in g["mechanisms"])
    return ((Use(_PAIR_OF_KIND[g["kind"]](g)), int(g.get("count", 1))),)


def _use_of_mechanism(part: Mapping[str, Any], relation: str | None, group_size: int) -> Use:
    sampling = part.get("sampling")
    if sampling is None:
        own = _between(part, part.get("between") or relation)
        return Use(losses({**own, "group_size": group_size}))
    bases = SCHEMES[sampling["scheme"]].bases
    relation = relation or next(iter(bases))
    own = _between(part, part.get("between") or bases[relation].relation)
    return scheme_uses.use_of(own, sampling, relation, group_size)


def _between(part: Mapping[str, Any], relation: str | None) -> Mapping[str, Any]:
    """Return the part with its noise relative to the sensitivity between two batches, or data sets, of this
    relation."""
    if not part.get("sum") or relation is None:
        return part
    return {**part, "noise_multiplier": part["noise_multiplier"] / RELATIONS[relation].sensitivity}


def _pair_of_profile(g: Mapping[str, Any]) -> LossPair:
    given = dict(zip(g["epsilon"], g["delta"], strict=True))
    corners = hull(g["epsilon"], [log(d) if d > 0 else -inf for d in g["delta"]])
    return composition_atoms.profile_pair([e for e, _ in corners], lambda mp, e: mp.mpf(given[e]))


def _pair_of_orders(orders: Sequence[tuple[float, float]]) -> LossPair:
    """Return the dominating pair of the profile that an RDP curve implies at these orders. The calculator chooses the ε
    at which the profile is known, and the order at each of them; any choice is valid."""
    corners = [e for e, _ in hull(*profile_samples(orders))]
    best = dict(zip(corners, best_orders(orders, corners), strict=True))
    return composition_atoms.profile_pair(corners, lambda mp, e: _delta_by_order(mp, *best[e], e))


def _delta_by_order(mp: Any, alpha: float, rdp: float, epsilon: float) -> Any:
    """Return δ at ε from the RDP at one order, by the conversion rdp-improved."""
    a = mp.mpf(alpha)
    delta = mp.exp((a - 1) * (mp.mpf(rdp) - mp.mpf(epsilon))) * (1 - 1 / a) ** a / (a - 1)
    return delta if float(delta) < 1 else mp.mpf(1)


def _pair_of_selected(g: Mapping[str, Any]) -> LossPair:
    """Return the pair of the best of several runs, by its profile at the points that the calculator chooses, as the
    theorem prints it. Raises Unchecked where the profile of one run has no closed form."""
    selected = read(dict(g), "an input")
    assert isinstance(selected, Selected)
    one, law = one_run(selected.of_one_run), law_of(selected)
    if one.is_numerical or one.at(1.0).route.bound.kind != "profile":
        raise Unchecked("the profile of the best of several runs is proven here where that of one run is a closed form")
    found, c_from = profile(selected, one), selection.search(one, law)

    def delta(mp: Any, epsilon: float) -> Any:
        if "log_r" in c_from and law.gamma and law.gamma < 1:
            x, gamma = c_from["log_r"], mp.mpf(law.gamma)
            if not float(gamma * mp.expm1(mp.mpf(x)) - (1 - gamma) * one.exact_delta(mp, x)) >= 0:
                raise Unchecked("log r does not meet its condition")
        return selection.exact(mp, epsilon, one, law, **c_from)

    return composition_atoms.profile_pair(
        [e for e, _ in hull(found.epsilon, [log(d) if d > 0 else -inf for d in found.delta])], delta)


_PAIR_OF_KIND: dict[str, Callable[[Mapping[str, Any]], LossPair]] = {
    "gdp": lambda g: loss_distributions.gaussian(lambda mp: mp.mpf(g["mu"])),
    "dp": lambda g: composition_atoms.approximate_dp_pair(lambda mp: mp.mpf(g["epsilon"]), g["delta"]),
    "tv": lambda g: composition_atoms.approximate_dp_pair(lambda mp: mp.mpf(0), g["tv"]),
    "profile": _pair_of_profile,
    "rdp": lambda g: _pair_of_orders(tuple(zip(g["alpha"], g["rdp"], strict=True))),
    "zcdp": lambda g: _pair_of_orders(zcdp_orders(g["rho"])),
    "selected": _pair_of_selected,
    "outcomes": lambda g: composition_atoms.finite_pair(g["p"], g["q"]),
}
