"""The parts that a row composes, as privacy loss distributions in closed form, and the grids of its witness."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import groupby
from math import inf
from typing import Any

from dpcalc.accounting.composition import parts as pairs_of_route
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.noisy_sgd import burn_in_profile, nonconvex
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.noisy_sgd.composition import Steps
from dpcalc.core.bound import Bound, Params, ProfileBound
from dpcalc.core.results import Answer, Question, Row
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld.bracket import PRECISION
from dpcalc.verify import (
    composition_atoms,
    composition_grids,
    disjoint_parts,
    epochs,
    loss_distributions,
    mechanisms,
    scheme_uses,
)
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.described_pairs import parts_of_guarantees
from dpcalc.verify.epochs import Delta
from dpcalc.verify.formulas import delta_of_row
from dpcalc.verify.loss_distributions import Use
from dpcalc.verify.scheme_uses import of_steps
from dpcalc.verify.unchecked import Unchecked


def composed_delta(row: Row, answer: Answer, side: int = 0) -> Delta:
    """Return the function that bounds δ of a composed row from above: in one direction of the adjacency where
    `side` is +1 or −1, and over both where it is 0."""
    if isinstance(row.route.bound, ProfileBound) and row.route.bound.one is not None:
        return epochs.composed_delta(row)
    if any(g["kind"] == "parallel" for g in row.params.get("described", ())):
        return disjoint_parts.composed_delta(row, side)
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
    uses = parts_of(row)
    if any(g["kind"] not in ("dp", "tv", "profile") for g in row.params["described"]):
        raise Unchecked("the largest loss of all is checked where each guarantee says its own")

    def delta(mp: Any, epsilon: float, log_delta: float) -> Any:
        if Fraction(epsilon) >= sum(Fraction(use.pair.largest_loss(mp)) * count for use, count in uses):
            return composition_grids.infinite_mass(mp, uses)
        return composition_grids.delta_from_above(mp, uses, {"sums": 1}, epsilon, log_delta)

    return delta


def _delta_of_one_side(mp: Any, row: Row, answer: Answer, epsilon: float, side: int) -> Any:
    """Return an upper bound of δ in one direction, on the grids of the witness for this ε, or on new ones."""
    witness: Mapping[str, Any] = row.witness
    if abs(float(witness["epsilon"])) != epsilon:
        witness = witness.get("reversed_grid") or {}
    if not {"grids", "sums"} & witness.keys():
        witness = _computed_grids(row, answer.question, epsilon, side)
    uses = parts_of(row)
    return composition_grids.delta_from_above(mp, uses, witness, epsilon, -inf, side)


def parts_and_grids(row: Row, answer: Answer) -> tuple[Parts, Mapping[str, Any]]:
    """Return the parts that are composed, and a witness with their grids: that of the row, or a new one."""
    at = abs(float(row.witness["epsilon"])) if answer.question.asks == "tpr" else None
    witness = row.witness if "grids" in row.witness else _computed_grids(row, answer.question, at)
    return parts_of(row), witness


def parts_of(row: Row) -> Parts:
    """Return the parts that are composed. Raises Unchecked for a bound whose parts are not known here."""
    bound = row.route.bound
    if bound.name in _OF_NOISY_SGD:
        return _noisy_sgd(row)
    if not has_parts(bound):
        raise Unchecked(f"the privacy loss distributions that {bound.name} composes are not known here")
    if bound.name in _PARTS:
        return _PARTS[bound.name](row.params)
    assert isinstance(bound, ProfileBound) and bound.outcomes is not None
    pair = composition_atoms.pair_of_outcomes(partial(bound.outcomes, **own_params(bound, row.params)))
    return ((Use(pair), int(row.params.get("steps", 1))),)


def has_parts(bound: Bound) -> bool:
    """Whether the pairs that a bound composes are known here: by its name, or as finitely many outcomes."""
    return bound.name in _PARTS or (isinstance(bound, ProfileBound) and bound.outcomes is not None)


def is_composed(row: Row) -> bool:
    """Whether the row's number comes from a numerical composition."""
    bound, p = row.route.bound, row.params
    if bound.name in _OF_NOISY_SGD:
        return bool(p["iterations"] > 1)
    return bound.is_numerical(p)


_OF_NOISY_SGD = ("composition-profile", "burn-in-profile", "burn-in-profile-nonconvex")  # with numbers of the witness

# --- the parts of a bound --------------------------------------------------------------------------------------------


def _noisy_sgd(row: Row) -> Parts:
    """Return the last R sampled steps, with noise σ2 = √(σ² − σ1²), and one Gaussian use for the position before them,
    which the noise σ1 of these steps hides (see bounds/noisy_sgd/burn_in_profile.py)."""
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


def _described(p: Params) -> Parts:
    """Return the parts of the guarantees, which are sorted; equal ones are composed as one that is used more often."""
    counted = [(g, len(list(equal))) for g, equal in groupby(p["described"])]
    return tuple((use, count * times * int(p.get("steps", 1)))
                 for parts, (_, times) in zip(parts_of_guarantees([g for g, _ in counted]), counted, strict=True)
                 for use, count in parts)


# By the name of the bound, from the parameters of its row; scheme_uses.py has those of random batches.
_PARTS: dict[str, Callable[[Params], Parts]] = {
    **scheme_uses.PARTS,
    "profile-composition": _described,
    "laplace-profile": of_steps(lambda p: Use(loss_distributions.laplace(
        lambda mp: mp.mpf(p["sensitivity"]) / mp.mpf(p["scale"]), p["sensitivity"] / p["scale"]))),
    "exponential-lower": of_steps(lambda p: Use(mechanisms.two_outcomes(p))),
    "exponential-profile": of_steps(lambda p: Use(mechanisms.losses({"name": "exponential", **p}))),
    "noisy-max-profile": of_steps(lambda p: Use(mechanisms.losses({"name": "permute-and-flip", **p}))),
    "shuffled-ldp-lower": of_steps(lambda p: Use(mechanisms.shuffled_responses(p))),
    "threshold-composed": of_steps(lambda p: Use(mechanisms.thresholded_losses(p))),
    "shuffled-ldp-profile": of_steps(lambda p: Use(mechanisms.losses({"name": "shuffled-ldp", **p}))),
}


# --- grids for rows without them -------------------------------------------------------------------------------------


def _computed_grids(row: Row, question: Question, epsilon: float | None, side: int = 0) -> Mapping[str, Any]:
    """Return a witness with new grids, of one direction where `side` is given, for a row whose own has none, because
    the row is part of another search."""
    is_noisy_sgd = row.route.bound.name in _OF_NOISY_SGD
    pairs = _pairs_of_noisy_sgd(row) if is_noisy_sgd else pairs_of_route(row.route, row.params, side)
    return composition_grids.compute_grids(pairs, question, epsilon, float(row.params.get("precision") or PRECISION),
                                           one_sided=side != 0)


def _pairs_of_noisy_sgd(row: Row) -> Any:
    bound, p = row.route.bound, row.params
    if bound.name == "composition-profile":
        return Steps(p["n"], p["batch_size"], p["lipschitz"], p["sigma"], p["iterations"]).pairs()
    own = own_params(bound, p)
    own = own if "strong_convexity" in own else nonconvex.with_curvature(own)
    return burn_in_profile.steps_of(**own, r=int(row.witness.get("r", p["iterations"])),
                                    sigma1=float(row.witness["sigma1"])).pairs()
