"""The parts that a row composes, as privacy loss distributions in closed form, and the grids of its witness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import groupby
from math import inf, log, nextafter
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.bounds.sampling.allocation_profile import DEFAULT_TAIL
from dpcalc.core.bound import ProfileBound
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Row
from dpcalc.verify import (
    allocation,
    composition_atoms,
    composition_grids,
    epochs,
    group_mixture,
    loss_distributions,
    shuffled,
)
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.epochs import Delta
from dpcalc.verify.formulas import delta_of_row
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.mechanisms import MECHANISMS, gaussian_mu
from dpcalc.verify.unchecked import Unchecked


def composed_delta(row: Row, answer: Answer, side: int = 0) -> Delta:
    """Return the function that bounds δ of a composed row from above: in one direction of the adjacency where
    `side` is +1 or −1, and over both where it is 0."""
    if isinstance(row.route.bound, ProfileBound) and row.route.bound.one is not None:
        return epochs.composed_delta(row)
    if "variation" in row.witness and row.params.get("described"):  # a total variation, which bounds δ at every ε
        (described,) = row.params["described"]
        if described["kind"] != "tv" or int(row.params.get("steps", 1)) != 1:
            raise Unchecked("more than one total variation has no closed form")
        return lambda mp, epsilon, log_delta: mp.mpf(described["tv"])
    if "variation" in row.witness:
        one, steps = delta_of_row(row), int(row.params.get("steps", 1))
        return lambda mp, epsilon, log_delta: 1 - (1 - one(mp, 0.0)) ** steps
    if "all_losses" in row.witness:
        return _delta_above_all_losses(row, answer)
    if side:
        return lambda mp, epsilon, log_delta: _delta_of_one_side(mp, row, answer, epsilon, side)
    uses, witness = parts_and_grids(row, answer)
    return lambda mp, epsilon, log_delta: composition_grids.delta_from_above(mp, uses, witness, epsilon, log_delta)


def _delta_above_all_losses(row: Row, answer: Answer) -> Delta:
    """Return the function that gives δ = 1 − Π(1 − P_i(∞)) at every ε from the sum of the largest losses on. (ε, δ)
    guarantees and profiles state their largest loss as a double."""
    uses = _PARTS_OF_BOUND[row.route.bound.name](row, answer)
    if any(g["kind"] not in ("dp", "tv", "profile") for g in row.params["described"]):
        raise Unchecked("the largest loss of all is checked where each guarantee says its own")
    largest = sum(Fraction(use.pair.largest_loss) * count for use, count in uses)

    def delta(mp: Any, epsilon: float, log_delta: float) -> Any:
        if Fraction(epsilon) >= largest:
            return composition_grids.infinite_mass(mp, uses)
        return composition_grids.delta_from_above(mp, uses, {"sums": 1}, epsilon, log_delta)

    return delta


def _delta_of_one_side(mp: Any, row: Row, answer: Answer, epsilon: float, side: int) -> Any:
    """Return an upper bound of δ in one direction, on the grids of the witness for this ε, or on new ones."""
    from dpcalc.accounting.composition import parts
    from dpcalc.pld.bracket import PRECISION

    witness: Mapping[str, Any] = row.witness
    if abs(float(witness["epsilon"])) != epsilon:
        witness = witness.get("reversed_grid") or {}
    if not {"grids", "sums"} & witness.keys():
        precision = float(row.params.get("precision") or PRECISION)
        witness = composition_grids.compute_grids(parts(row.route, row.params, side), answer.question, epsilon,
                                                  precision, one_sided=True)
    uses = _PARTS_OF_BOUND[row.route.bound.name](row, answer)
    return composition_grids.delta_from_above(mp, uses, witness, epsilon, -inf, side)


def parts_and_grids(row: Row, answer: Answer) -> tuple[Parts, Mapping[str, Any]]:
    """Return the parts that are composed, and a witness with their grids: that of the row, or a new one."""
    at = abs(float(row.witness["epsilon"])) if answer.question.asks == "tpr" else None
    witness = row.witness if "grids" in row.witness else _computed_grids(row, answer.question, at)
    return _PARTS_OF_BOUND[row.route.bound.name](row, answer), witness


def is_composed(row: Row) -> bool:
    """Whether the row's number comes from a numerical composition."""
    bound, p = row.route.bound, row.params
    if bound.name in _PAIRS_OF_BOUND:
        return bool(p["iterations"] > 1)
    return bound.is_numerical(p)


# --- the parts of a bound --------------------------------------------------------------------------------------------


def _described_guarantees(row: Row, answer: Answer) -> Parts:
    """Return the parts of the guarantees, which are sorted; equal ones are composed as one that is used more often."""
    steps = int(row.params.get("steps", 1))
    counted = [(g, len(list(equal))) for g, equal in groupby(row.params["described"])]
    return tuple((use, count * times * steps) for g, times in counted for use, count in _parts_of_guarantee(g))


def _repeated_laplace(row: Row, answer: Answer) -> Parts:
    p = row.params
    pair = loss_distributions.laplace(lambda mp: mp.mpf(p["sensitivity"]) / mp.mpf(p["scale"]),
                                      p["sensitivity"] / p["scale"])
    return ((Use(pair), int(p["steps"])),)


def _repeated(name: str) -> Callable[[Row, Answer], Parts]:
    """Return the parts of several uses of a mechanism whose bound has the parameters that its JSON has."""
    def parts(row: Row, answer: Answer) -> Parts:
        p = row.params
        part = {**p, "sensitivity": int(p["sensitivity"])} if "sensitivity" in p else p
        return ((Use(MECHANISMS[name].losses(part)), int(p["steps"])),)

    return parts


def _sampled(row: Row, scheme: str) -> Parts:
    """Return the sampled mechanism of the row itself: in a comparison, rows have mechanisms of their own."""
    part = row.params["part"]
    use = Use(MECHANISMS[part["name"]].losses(part), scheme, float(row.params["sampling_rate"]))
    return ((use, int(row.params["steps"])),)


def _group(row: Row, answer: Answer) -> Parts:
    p = row.params
    return ((_poisson_group(p["part"], float(p["sampling_rate"]), int(p["group_size"])), int(p["steps"])),)


def _poisson_group(part: Mapping[str, Any], rate: float, size: int) -> Use:
    """Return the Gaussian mechanism on a Poisson-sampled batch for groups of records."""
    if part["name"] != "gaussian":
        raise Unchecked("groups of records in random batches are covered for Gaussian noise only")
    if rate == 1:
        return Use(MECHANISMS["gaussian"].losses({**part, "group_size": size}))
    return Use(group_mixture.poisson_group(gaussian_mu(part), rate, size))


def _largest_sums(row: Row, answer: Answer) -> Parts:
    return ((Use(shuffled.largest_sum_pair(row.params)), int(row.params["whole_epochs"])),)


def _shuffled_as_allocation(row: Row, answer: Answer) -> Parts:
    """Return epochs of random allocation in which the record is used with probability 1 − ρ, rounded down: the mixture
    with the data set without it is that of Poisson sampling."""
    from dpcalc.bounds.sampling import shuffle_lower_allocation
    from dpcalc.numerics.rounding import ratio_up

    p = row.params
    z = ratio_up((p["sigma"],), (p["sensitivity"],))
    pair = allocation.from_below(z, p["steps_per_epoch"], shuffle_lower_allocation.TAIL)
    use = Use(pair, "poisson", nextafter(1 - p["dropped"], 0.0)) if p["dropped"] else Use(pair)
    return ((use, int(p["whole_epochs"])),)


def _noisy_sgd(row: Row, answer: Answer) -> Parts:
    """Return the last R sampled steps, with noise σ2 = √(σ² − σ1²), and one Gaussian use for the position before them,
    which the noise σ1 of these steps hides (see bounds/noisy_sgd/burn_in_profile.py)."""
    from dpcalc.bounds.noisy_sgd._engine import contraction
    from dpcalc.numerics.rounding import ratio_up

    p, n, b = row.params, row.params["n"], row.params["batch_size"]
    r, sigma1 = int(row.witness.get("r", p["iterations"])), float(row.witness.get("sigma1", 0.0))
    curvature = p["strong_convexity"] if "strong_convexity" in row.route.bound.params else -p["smoothness"]

    def mu_of_step(mp: Any) -> Any:
        return 2 * mp.mpf(p["lipschitz"]) / (b * mp.sqrt(mp.mpf(p["sigma"]) ** 2 - mp.mpf(sigma1) ** 2))

    def mu_of_position(mp: Any) -> Any:
        eta = mp.mpf(p["learning_rate"])
        g = contraction.exact_gap(mp, p["learning_rate"], p["smoothness"], curvature)
        reached = contraction.exact_reached(mp, g, p["iterations"] - r, 2 * eta * mp.mpf(p["lipschitz"]) / b)
        d = min(mp.mpf(p["diameter"]), reached)
        return d * mp.sqrt(contraction.exact_weight(mp, g, r)) / (eta * mp.mpf(sigma1))

    step = Use(loss_distributions.gaussian(mu_of_step))
    if b < n:
        step = step._replace(scheme="without-replacement", rate=ratio_up((b,), (n,)))
    if sigma1 and r < p["iterations"]:
        return (step, r), (Use(loss_distributions.gaussian(mu_of_position)), 1)
    return ((step, r),)


def _truncated_poisson(row: Row, answer: Answer) -> Parts:
    p = row.params
    use = truncated_poisson_use(p["n"], p["sampling_rate"], p["max_batch_size"], p["noise_multiplier"])
    return ((use, int(p["steps"])),)


def truncated_poisson_use(n: int, rate: float, max_batch_size: int, noise_multiplier: float) -> Use:
    """Return one step on a truncated Poisson batch. The calculator chooses the ε at which the profile is known; any
    choice is valid."""
    from dpcalc.bounds.sampling import truncated_poisson_profile as bound
    from dpcalc.pld.atoms import Atoms

    own = (n, rate, max_batch_size, noise_multiplier)
    pair = bound.pair(*own)
    if not isinstance(pair, Atoms):  # no batch is truncated
        return Use(loss_distributions.gaussian(lambda mp: 1 / mp.mpf(noise_multiplier)), "poisson", rate)
    return Use(composition_atoms.convex_minorant_pair(
        pair.losses, lambda mp, e, side: bound.sided_exact(mp, e, side, *own)))


def _zero_gradients(row: Row, answer: Answer) -> Parts:
    """Return the Poisson batches of the run whose other gradients are 0. The rate is computed again, with more
    digits."""
    from dpcalc.bounds.sampling import truncated_poisson_lower as bound
    from dpcalc.numerics.mp.context import context

    p = row.params
    own = (p["n"], p["sampling_rate"], p["max_batch_size"])
    rate = min(bound.kept_rate(*own), float(bound.exact_rate(context(), *own)) * (1 - 2.0**-52))
    use = Use(loss_distributions.gaussian(lambda mp: 1 / mp.mpf(p["noise_multiplier"])), "poisson", rate)
    return ((use, int(p["steps"])),)


def _allocation(row: Row, make_pair: Callable[[float, int, float], LossPair]) -> Parts:
    """Return the blocks of steps with one participation each, whose number is that of one epoch times the epochs."""
    p = row.params
    steps, rest = divmod(int(p["steps_per_epoch"]), int(p["participations"]))
    blocks = ((steps, p["participations"] - rest), (steps + 1, rest))
    return tuple((Use(make_pair(float(p["noise_multiplier"]), length, float(p["tail"]))), count * int(p["steps"]))
                 for length, count in blocks if count)


_PARTS_OF_BOUND: dict[str, Callable[[Row, Answer], Parts]] = {
    "allocation-profile": lambda row, answer: _allocation(row, allocation.from_above),
    "allocation-lower": lambda row, answer: _allocation(row, allocation.from_below),
    "burn-in-profile": _noisy_sgd,
    "burn-in-profile-nonconvex": _noisy_sgd,
    "composition-profile": _noisy_sgd,
    "profile-composition": _described_guarantees,
    "poisson-group-profile": _group,
    "poisson-profile": lambda row, answer: _sampled(row, "poisson"),
    "truncated-poisson-profile": _truncated_poisson,
    "truncated-poisson-lower": _zero_gradients,
    "wor-profile": lambda row, answer: _sampled(row, "without-replacement"),
    "laplace-profile": _repeated_laplace,
    **{f"{name}-exact": _repeated(name) for name in ("discrete-gaussian", "discrete-laplace", "k-randomized-response",
                                                     "unary")},
    "shuffle-lower": _largest_sums,
    "shuffle-lower-allocation": _shuffled_as_allocation,
}


# --- guarantees in JSON ----------------------------------------------------------------------------------------------


def _parts_of_guarantee(g: Mapping[str, Any]) -> Parts:
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
        return _poisson_group(part, float(sampling["rate"]), group_size)
    if sampling["scheme"] == "truncated-poisson":
        return truncated_poisson_use(sampling["n"], sampling["rate"], sampling["max_batch_size"],
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


# --- grids for rows without them -------------------------------------------------------------------------------------


def _computed_grids(row: Row, question: Question, epsilon: float | None) -> Mapping[str, Any]:
    """Return a witness with new grids for a row whose own has none, because the row is part of another search."""
    from dpcalc.accounting.composition import parts
    from dpcalc.pld.bracket import PRECISION

    pairs = _PAIRS_OF_BOUND.get(row.route.bound.name)
    if pairs is not None:
        return composition_grids.compute_grids(pairs(row), question, epsilon)
    return composition_grids.compute_grids(parts(row.route, row.params), question, epsilon,
                                           float(row.params.get("precision") or PRECISION))


def _pairs_of_composition(row: Row) -> Any:
    from dpcalc.bounds.noisy_sgd import burn_in_profile

    p = row.params
    return burn_in_profile.parts_of(p["n"], p["batch_size"], p["lipschitz"], p["sigma"], p["iterations"], 0.0)


def _pairs_of_burn_in(row: Row) -> Any:
    from dpcalc.bounds.noisy_sgd import burn_in_profile
    from dpcalc.bounds.noisy_sgd._engine import without_convexity

    own, r = own_params(row.route.bound, row.params), int(row.witness.get("r", row.params["iterations"]))
    own = own if "strong_convexity" in own else without_convexity.with_curvature(own)
    return burn_in_profile.parts_at(**own, r=r, sigma1=float(row.witness["sigma1"]))


_PAIRS_OF_BOUND: dict[str, Callable[[Row], Any]] = {"composition-profile": _pairs_of_composition,
                                                    "burn-in-profile": _pairs_of_burn_in,
                                                    "burn-in-profile-nonconvex": _pairs_of_burn_in}
