"""The uses of a mechanism on random batches as privacy loss distributions, from the parameters of a bound, or from the
JSON of a guarantee.

Profiles of truncated batches, batches of fixed size and batches drawn with replacement are the `exact` of their bounds,
in balls, between ε that the calculator chooses; any choice is valid. An error in such a formula is not found here, but
by tests/soundness/sampling.py, which compares with runs.
"""

from collections.abc import Callable, Mapping
from math import inf, nextafter
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.bounds.sampling import (
    allocation_profile,
    shuffle_lower_allocation,
    truncated_poisson_lower,
    truncated_poisson_profile,
    with_replacement_lower,
    with_replacement_profile,
    wor_zero_out_lower,
    wor_zero_out_profile,
)
from dpcalc.bounds.sampling._engine import repeated_draws
from dpcalc.bounds.sampling.shuffle_profile import in_norms
from dpcalc.core.bound import Params, ProfileBound
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT
from dpcalc.numerics.mp.context import context
from dpcalc.numerics.mp.memo import cached_by_precision
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld.atoms import Atoms
from dpcalc.verify import allocation, allocation_replaced, loss_distributions, shuffled_epochs, shuffled_used
from dpcalc.verify.arb.context import is_ball_context
from dpcalc.verify.composition_atoms import atoms_of, convex_minorant_pair, two_way_pair
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.mechanisms import gaussian_mu, losses, replaced_use
from dpcalc.verify.unchecked import OtherQuestion, Unchecked


def of_steps(use: Callable[[Params], Use]) -> Callable[[Params], Parts]:
    """Return the parts of several uses, from the parameters of the bound."""
    return lambda p: ((use(p), int(p.get("steps", 1))),)


def _group(p: Params) -> Use:
    """Return the Gaussian mechanism on a Poisson-sampled batch for groups of records."""
    part, rate, size = p["part"], float(p["sampling_rate"]), int(p["group_size"])
    if part["name"] != "gaussian":
        raise Unchecked("groups of records in random batches are covered for Gaussian noise only")
    if rate == 1:
        return Use(losses({**part, "group_size": size}))
    return Use(loss_distributions.poisson_group(gaussian_mu(part), rate, size))


def _gaussian(p: Params, rate: float) -> Use:
    """Return one step on a Poisson batch with a record that is zeroed out, or replaced."""
    part = {"name": "gaussian", "noise_multiplier": p["noise_multiplier"]}
    return replaced_use(part, rate) if p["replaced"] else Use(losses(part), "poisson", rate)


def _between_points(bound: ProfileBound, of_equal_batches: Callable[[Params], Use]) -> Callable[[Params], Parts]:
    """Return the parts by the convex minorant of δ of the bound in both directions, at the ε of the calculator's pair.
    Where that is no pair of a minorant, all batches are alike."""
    def use(p: Params) -> Use:
        own = own_params(bound, p)
        pair = bound.pair(**own) if bound.pair else None
        if not isinstance(pair, Atoms):
            return of_equal_batches(p)

        @cached_by_precision(inf)
        def delta(mp: Any, epsilon: float, side: int) -> Any:
            assert bound.directions is not None
            return bound.directions.exact(mp, epsilon, side, **own)

        return Use(convex_minorant_pair(
            pair.losses, lambda mp, e, side: delta(mp, e, 1 if p.get("replaced") else side)))

    return of_steps(use)


def _gaussian_of(draws: Callable[[Params], int]) -> Callable[[Params], Use]:
    """Return Gaussian noise with so many draws of the record in every batch."""
    return lambda p: Use(loss_distributions.gaussian(lambda mp: draws(p) / mp.mpf(p["noise_multiplier"])))


def _zero_gradients(p: Params) -> Use:
    """Return the Poisson batches of the run whose other gradients are 0. The rate is computed again, with more
    digits."""
    own, bound = (p["n"], p["sampling_rate"], p["max_batch_size"]), truncated_poisson_lower
    return _gaussian(p, min(bound.kept_rate(*own), float(bound.exact_rate(context(), *own)) * (1 - 2.0**-52)))


def _attained(module: Any, of_equal_batches: Callable[[Params], Use], is_alike: Callable[[Params], bool]) -> Any:
    """Return the parts by the run whose other contributions are opposite, in the cells between cuts, of which any are
    valid. More draws than are listed may be in any cell."""
    def use(p: Params) -> Use:
        own = own_params(module.BOUND, p)

        def atoms(mp: Any) -> list[tuple[float, Any, Any]]:
            cuts, mu, draws, reach = module.exact_step(mp, **own)
            others = mp.between(0, draws.more) if is_ball_context(mp) else mp.mpf(0)
            in_p, in_q = repeated_draws.cells(mp, cuts, mu, draws, reach)
            return atoms_of(mp, [(p + others, q + others) for p, q in zip(in_p, in_q, strict=True)])

        return of_equal_batches(p) if is_alike(p) else Use(two_way_pair(atoms, limit=inf))

    return of_steps(use)


def _allocation(make_pair: Callable[[float, int, float], LossPair]) -> Callable[[Params], Parts]:
    """Return the blocks of steps with one participation each, whose number is that of one epoch times the epochs."""
    def parts(p: Params) -> Parts:
        blocks = allocation_profile.blocks(int(p["steps_per_epoch"]), int(p["participations"]))
        return tuple((Use(make_pair(float(p["noise_multiplier"]), length, float(p["tail"]))), count * int(p["steps"]))
                     for length, count in blocks)

    return parts


def _shuffled_as_allocation(p: Params) -> Parts:
    """Return epochs of random allocation in which the record is used with probability 1 − ρ, rounded down: the mixture
    with the data set without it is that of Poisson sampling."""
    pair = allocation.from_below(ratio_up((p["sigma"],), (p["sensitivity"],)), p["steps_per_epoch"],
                                 shuffle_lower_allocation.TAIL)
    use = Use(pair, "poisson", nextafter(1 - p["dropped"], 0.0)) if p["dropped"] else Use(pair)
    return ((use, int(p["whole_epochs"])),)


def _shuffled(whole: Callable[[Params, int], LossPair]) -> Callable[[Params], Parts]:
    """Return the whole epochs, by a function of the parameters and of the records that they leave out, and the steps of
    an unfinished one, which leave out records."""
    def parts(p: Params) -> Parts:
        n, b, steps = p["n"], p["batch_size"], p["unfinished"]
        _refuse_group_of_shuffled(p)
        found = ((Use(whole(p, n % b if p["drop_last"] else 0)), p["whole_epochs"]),) if p["whole_epochs"] else ()
        return (*found, (Use(_left_out(p, n - steps * b, steps)), 1)) if steps else found

    return parts


def _refuse_group_of_shuffled(p: Params) -> None:
    if int(p["group_size"]) > 1:
        raise Unchecked("the chain of records of a group in shuffled batches is not computed again")


def _left_out(p: Params, rest: int, steps: int | None = None, epochs: int | None = None) -> LossPair:
    return shuffled_epochs.left_out(in_norms(p["noise_of_record"], p["replaced"]), steps or p["n"] // p["batch_size"],
                                    p["batch_size"], rest, p["replaced"], p["tail"], epochs)


def _all_used(p: Params, rest: int) -> LossPair:
    if rest:
        raise OtherQuestion("its epochs leave out records")
    return shuffled_used.all_used(p["noise_of_record"], p["n"], p["batch_size"], p["replaced"], p["clipped"], p["tail"])


def _one_order(p: Params) -> Parts:
    """Return all epochs together, which have the same order."""
    _refuse_group_of_shuffled(p)
    return ((Use(_left_out(p, p["n"] % p["batch_size"] if p["drop_last"] else 0, epochs=p["epochs"])), 1),)


# By the name of the bound, from its parameters.
PARTS: dict[str, Callable[[Params], Parts]] = {
    "allocation-profile": _allocation(allocation.from_above),
    "allocation-lower": _allocation(allocation.from_below),
    "allocation-replace-one-lower": _allocation(allocation_replaced.from_below),
    "allocation-replace-one-profile": _allocation(allocation_replaced.from_above),
    "poisson-group-profile": of_steps(_group),
    "poisson-replace-one-comonotone": of_steps(lambda p: replaced_use(p["part"], float(p["sampling_rate"]))),
    "poisson-replace-one-profile": of_steps(lambda p: replaced_use(
        {"name": "gaussian", "noise_multiplier": p["noise_multiplier"]}, float(p["sampling_rate"]),
        int(p.get("group_size") or 1))),
    "poisson-profile": of_steps(lambda p: Use(losses(p["part"]), "poisson", float(p["sampling_rate"]))),
    "shuffle-lower": lambda p: ((Use(shuffled_epochs.dominated_pair(p)), int(p["whole_epochs"])),),
    "shuffle-profile": _shuffled(_left_out),
    "shuffle-profile-used": _shuffled(_all_used),
    "shuffle-profile-one-order": _one_order,
    "shuffle-lower-allocation": _shuffled_as_allocation,
    "truncated-poisson-profile": _between_points(truncated_poisson_profile.BOUND,
                                                 lambda p: _gaussian(p, p["sampling_rate"])),
    "truncated-poisson-lower": of_steps(_zero_gradients),
    "with-replacement-profile": _between_points(with_replacement_profile.BOUND,
                                                _gaussian_of(lambda p: int(p["batch_size"]))),
    "with-replacement-lower": _attained(with_replacement_lower, _gaussian_of(lambda p: int(p["batch_size"])),
                                        lambda p: bool(p["n"] == 1)),
    "wor-profile": of_steps(lambda p: Use(losses(p["part"]), "without-replacement", float(p["sampling_rate"]))),
    "wor-zero-out-profile": _between_points(wor_zero_out_profile.BOUND, _gaussian_of(lambda p: 1)),
    "wor-zero-out-lower": _attained(wor_zero_out_lower, _gaussian_of(lambda p: 1),
                                    lambda p: bool(p["sampling_rate"] == 1)),
}

# --- mechanisms on random batches in the JSON of a guarantee ----------------------------------------------------------

# By scheme and the relation between neighbouring data sets: the bound of a use.
_BOUNDS = {
    **dict.fromkeys((("poisson", ADD_REMOVE), ("poisson", ZERO_OUT)), "poisson-profile"),
    ("poisson", REPLACE_ONE): "poisson-replace-one-comonotone",
    ("without-replacement", REPLACE_ONE): "wor-profile",
    ("without-replacement", ZERO_OUT): "wor-zero-out-profile",
    **dict.fromkeys((("with-replacement", REPLACE_ONE), ("with-replacement", ZERO_OUT)), "with-replacement-profile"),
    **dict.fromkeys((("truncated-poisson", ZERO_OUT), ("truncated-poisson", REPLACE_ONE)), "truncated-poisson-profile"),
    **dict.fromkeys((("random-allocation", ADD_REMOVE), ("random-allocation", ZERO_OUT)), "allocation-profile"),
    ("random-allocation", REPLACE_ONE): "allocation-replace-one-profile",
    **dict.fromkeys((("shuffle", ZERO_OUT), ("shuffle", REPLACE_ONE)), "shuffle-profile"),
    **dict.fromkeys((("shuffle-once", ZERO_OUT), ("shuffle-once", REPLACE_ONE)), "shuffle-profile-one-order"),
}
_IS_REPLACED = {ADD_REMOVE: False, ZERO_OUT: False, REPLACE_ONE: True}
_OF_GROUPS = {"poisson-profile": "poisson-group-profile",
              "poisson-replace-one-comonotone": "poisson-replace-one-profile"}


def use_of(part: Mapping[str, Any], sampling: Mapping[str, Any], relation: str, size: int) -> Use:
    """Return one use of a mechanism on a batch, or on the batches of an epoch, for data sets that differ in `size`
    records."""
    scheme, is_gaussian = sampling["scheme"], part["name"] == "gaussian"
    name = _BOUNDS.get((scheme, relation))
    if name is None:
        raise Unchecked(f"{scheme} sampling has no profile for {relation} neighbours")
    if size > 1 or (name == "poisson-replace-one-comonotone" and is_gaussian):
        if scheme == "poisson" and not is_gaussian:
            raise Unchecked("groups of records in random batches are covered for Gaussian noise only")
        name = _OF_GROUPS.get(name, name)
    if size > 1 and name not in ("poisson-group-profile", "poisson-replace-one-profile"):
        raise Unchecked(f"no theorem for groups of records is known with {scheme} sampling")
    own = {**sampling, "part": part, "sampling_rate": sampling.get("rate"), "steps": 1, "group_size": size,
           "noise_multiplier": part.get("noise_multiplier"), "noise_of_record": part.get("noise_multiplier"),
           "replaced": _IS_REPLACED[relation], "clipped": bool(part.get("sum")), "participations": 1,
           "tail": allocation_profile.DEFAULT_TAIL, "drop_last": scheme == "shuffle-once"}
    if scheme == "shuffle":  # an epoch of so many steps, which leaves out the other records, or uses all
        leaves_out = sampling["steps"] * sampling["batch_size"] < sampling["n"]
        name = name if leaves_out else "shuffle-profile-used"
        own |= {"whole_epochs": int(not leaves_out), "unfinished": sampling["steps"] if leaves_out else 0}
    ((use, _),) = PARTS[name](own)
    return use
