"""The uses of a mechanism on random batches, as privacy loss distributions in closed form: one function for each way to
form batches, from the parameters of its bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nextafter
from typing import Any

from dpcalc.bounds.sampling import allocation_profile
from dpcalc.core.bound import Params
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT
from dpcalc.numerics.binomial import exact_tails
from dpcalc.numerics.mp.memo import cached_by_precision
from dpcalc.verify import (
    allocation,
    allocation_replaced,
    composition_atoms,
    group_mixture,
    loss_distributions,
    mixture_cells,
    replaced_steps,
    shuffled_attack,
    shuffled_uses,
)
from dpcalc.verify.arb.context import Formula
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.mechanisms import MECHANISMS, gaussian_mu
from dpcalc.verify.unchecked import Unchecked


def _sampled(p: Params, scheme: str) -> Parts:
    part = p["part"]
    use = Use(MECHANISMS[part["name"]].losses(part), scheme, float(p["sampling_rate"]))
    return ((use, int(p["steps"])),)


def _group(p: Params) -> Parts:
    return ((poisson_group(p["part"], float(p["sampling_rate"]), int(p["group_size"])), int(p["steps"])),)


def poisson_group(part: Mapping[str, Any], rate: float, size: int) -> Use:
    """Return the Gaussian mechanism on a Poisson-sampled batch for groups of records."""
    if part["name"] != "gaussian":
        raise Unchecked("groups of records in random batches are covered for Gaussian noise only")
    if rate == 1:
        return Use(MECHANISMS["gaussian"].losses({**part, "group_size": size}))
    return Use(group_mixture.poisson_group(gaussian_mu(part), rate, size))


def _replaced(p: Params) -> Parts:
    size = int(p.get("group_size") or 1)
    return ((replaced_steps.use(_part_of(p), float(p["sampling_rate"]), size), int(p["steps"])),)


def _part_of(p: Params) -> Mapping[str, Any]:
    """Return the mechanism between batches that differ in one record more: Gaussian noise by its noise multiplier."""
    if "step_profile" in p:
        return p["part"]  # type: ignore[no-any-return]
    return {"name": "gaussian", "noise_multiplier": p["noise_multiplier"]}


def _shuffled_as_allocation(p: Params) -> Parts:
    """Return epochs of random allocation in which the record is used with probability 1 − ρ, rounded down: the mixture
    with the data set without it is that of Poisson sampling."""
    from dpcalc.bounds.sampling import shuffle_lower_allocation
    from dpcalc.numerics.rounding import ratio_up

    z = ratio_up((p["sigma"],), (p["sensitivity"],))
    pair = allocation.from_below(z, p["steps_per_epoch"], shuffle_lower_allocation.TAIL)
    use = Use(pair, "poisson", nextafter(1 - p["dropped"], 0.0)) if p["dropped"] else Use(pair)
    return ((use, int(p["whole_epochs"])),)


def _truncated_poisson(p: Params) -> Parts:
    use = truncated_poisson_use(p["n"], p["sampling_rate"], p["max_batch_size"], p["noise_multiplier"], p["replaced"])
    return ((use, int(p["steps"])),)


def truncated_poisson_use(n: int, rate: float, max_batch_size: int, noise_multiplier: float, replaced: bool) -> Use:
    """Return one step on a truncated Poisson batch. The calculator chooses the ε at which the profile is known; any
    choice is valid."""
    from dpcalc.bounds.sampling import truncated_poisson_profile as bound
    from dpcalc.pld.atoms import Atoms

    own = (n, rate, max_batch_size, noise_multiplier, replaced)
    pair = bound.pair(*own)
    if not isinstance(pair, Atoms):  # no batch is truncated
        return _gaussian_use(noise_multiplier, rate, replaced)
    return Use(composition_atoms.convex_minorant_pair(
        pair.losses, lambda mp, e, side: bound.sided_exact(mp, e, side, *own)))


def _gaussian_use(noise_multiplier: float, rate: float, replaced: bool) -> Use:
    """Return one step on a Poisson batch with a record that is zeroed out, or replaced."""
    part = {"name": "gaussian", "noise_multiplier": noise_multiplier}
    return replaced_steps.use(part, rate) if replaced else Use(MECHANISMS["gaussian"].losses(part), "poisson", rate)


def _zero_gradients(p: Params) -> Parts:
    """Return the Poisson batches of the run whose other gradients are 0. The rate is computed again, with more
    digits."""
    from dpcalc.bounds.sampling import truncated_poisson_lower as bound
    from dpcalc.numerics.mp.context import context

    own = (p["n"], p["sampling_rate"], p["max_batch_size"])
    rate = min(bound.kept_rate(*own), float(bound.exact_rate(context(), *own)) * (1 - 2.0**-52))
    return ((_gaussian_use(p["noise_multiplier"], rate, p["replaced"]), int(p["steps"])),)


def wor_zero_out_use(rate: float, noise_multiplier: float) -> Use:
    """Return one step on a batch of fixed size with a record that is zeroed out."""
    from dpcalc.bounds.sampling import wor_zero_out_profile as bound

    own = (rate, noise_multiplier)
    return _minorant_use(bound.pair(*own), lambda mp, e, side: bound.sided_exact(mp, e, side, *own),
                         lambda mp: 1 / mp.mpf(noise_multiplier))


def with_replacement_use(n: int, b: int, noise_multiplier: float, replaced: bool) -> Use:
    """Return one step on a batch of b draws with replacement, with a record that is replaced, or else zeroed out."""
    from dpcalc.bounds.sampling import with_replacement_profile as bound

    own = (n, b, noise_multiplier, replaced)

    @cached_by_precision(inf)
    def delta(mp: Any, e: float, side: int) -> Any:
        return bound.sided_exact(mp, e, side, *own)

    return _minorant_use(bound.pair(*own), lambda mp, e, side: delta(mp, e, 1 if replaced else side),
                         lambda mp: b / mp.mpf(noise_multiplier))


def _minorant_use(pair: Any, delta: Callable[[Any, float, int], Any], mu: Formula) -> Use:
    """Return the pair of the convex minorant of the bounds δ in both directions, at the ε of the calculator's pair; any
    choice is valid. Where every batch is the same, its pair is Gaussian, with this μ."""
    from dpcalc.pld.atoms import Atoms

    if not isinstance(pair, Atoms):
        return Use(loss_distributions.gaussian(mu))
    return Use(composition_atoms.convex_minorant_pair(pair.losses, delta))


def _attained_without_replacement(p: Params) -> Use:
    """Return one step of the run whose other contributions are opposite, with a record that is zeroed out."""
    from dpcalc.bounds.sampling import wor_zero_out_lower as bound

    rate, z = p["sampling_rate"], p["noise_multiplier"]
    if rate == 1:
        return Use(loss_distributions.gaussian(lambda mp: 1 / mp.mpf(z)))

    def weights(mp: Any) -> tuple[mixture_cells.Weights, Any]:
        return ((0, 1 - mp.mpf(rate)), (1, mp.mpf(rate))), mp.mpf(0)

    return Use(mixture_cells.with_draws(z, (2, 1), weights, bound.cuts(rate, z)))


def _attained_with_replacement(p: Params) -> Use:
    """Return one step of the run whose other contributions are opposite, of b draws with replacement."""
    from dpcalc.bounds.sampling import with_replacement_lower as bound
    from dpcalc.bounds.sampling.with_replacement_profile import draws

    n, b, z, replaced = own = (p["n"], p["batch_size"], p["noise_multiplier"], p["replaced"])
    if n == 1:
        return Use(loss_distributions.gaussian(lambda mp: b / mp.mpf(z)))

    def weights(mp: Any) -> tuple[mixture_cells.Weights, Any]:
        rate = 1 / mp.mpf(n)
        found = [(k, mp.binomial(b, k) * rate**k * (1 - rate) ** (b - k)) for k in (0, *draws(n, b).counts)]
        return found, exact_tails(mp, len(found), b, rate)[1]

    return Use(mixture_cells.with_draws(z, (1, 0) if replaced else (2, 1), weights, bound.cuts(*own)))


def _allocation(p: Params, make_pair: Callable[[float, int, float], LossPair]) -> Parts:
    """Return the blocks of steps with one participation each, whose number is that of one epoch times the epochs."""
    steps, rest = divmod(int(p["steps_per_epoch"]), int(p["participations"]))
    blocks = ((steps, p["participations"] - rest), (steps + 1, rest))
    return tuple((Use(make_pair(float(p["noise_multiplier"]), length, float(p["tail"]))), count * int(p["steps"]))
                 for length, count in blocks if count)


# --- mechanisms on random batches in the JSON of a guarantee ----------------------------------------------------------


Described = Callable[[Mapping[str, Any], Mapping[str, Any], int], Use]  # of the mechanism, its sampling, a group's size


def _of_one_record(describe: Callable[[Mapping[str, Any], Mapping[str, Any]], Use]) -> Described:
    """Return the function of a part, its sampling and the size of a group, for a scheme without a theorem for
    groups."""
    def use(part: Mapping[str, Any], sampling: Mapping[str, Any], size: int) -> Use:
        if size > 1:
            raise Unchecked(f"no theorem for groups of records is known with {sampling['scheme']} sampling")
        return describe(part, sampling)

    return use


def _removed(part: Mapping[str, Any], sampling: Mapping[str, Any], size: int) -> Use:
    if size > 1:
        return poisson_group(part, float(sampling["rate"]), size)
    return Use(MECHANISMS[part["name"]].losses(part), "poisson", float(sampling["rate"]))


def _exchanged(part: Mapping[str, Any], sampling: Mapping[str, Any]) -> Use:
    return Use(MECHANISMS[part["name"]].losses(part), "without-replacement", float(sampling["rate"]))


def _truncated(replaced: bool) -> Described:
    return _of_one_record(lambda part, s: truncated_poisson_use(s["n"], s["rate"], s["max_batch_size"],
                                                                part["noise_multiplier"], replaced))


def _with_replacement(replaced: bool) -> Described:
    return _of_one_record(lambda part, s: with_replacement_use(s["n"], s["batch_size"], part["noise_multiplier"],
                                                               replaced))


def _allocated(from_above: Callable[[float, int, float], LossPair]) -> Described:
    return _of_one_record(lambda part, s: Use(from_above(
        float(part["noise_multiplier"]), int(s["steps_per_epoch"]), allocation_profile.DEFAULT_TAIL)))


# By scheme and the relation between neighbouring data sets.
USES: dict[tuple[str, str], Described] = {
    **dict.fromkeys((("poisson", ADD_REMOVE), ("poisson", ZERO_OUT)), _removed),
    ("poisson", REPLACE_ONE): lambda part, sampling, size: replaced_steps.use(part, float(sampling["rate"]), size),
    ("without-replacement", REPLACE_ONE): _of_one_record(_exchanged),
    ("without-replacement", ZERO_OUT): _of_one_record(
        lambda part, sampling: wor_zero_out_use(float(sampling["rate"]), part["noise_multiplier"])),
    ("with-replacement", REPLACE_ONE): _with_replacement(True),
    ("with-replacement", ZERO_OUT): _with_replacement(False),
    ("truncated-poisson", ZERO_OUT): _truncated(False),
    ("truncated-poisson", REPLACE_ONE): _truncated(True),
    **dict.fromkeys((("random-allocation", ADD_REMOVE), ("random-allocation", ZERO_OUT)),
                    _allocated(allocation.from_above)),
    ("shuffle", ZERO_OUT): shuffled_uses.of_epoch(False),
    ("shuffle", REPLACE_ONE): shuffled_uses.of_epoch(True),
    ("shuffle-once", ZERO_OUT): shuffled_uses.of_one_order(False),
    ("shuffle-once", REPLACE_ONE): shuffled_uses.of_one_order(True),
    ("random-allocation", REPLACE_ONE): _allocated(allocation_replaced.from_above),
}

PARTS: dict[str, Callable[[Params], Parts]] = {
    "allocation-profile": lambda p: _allocation(p, allocation.from_above),
    "allocation-lower": lambda p: _allocation(p, allocation.from_below),
    "allocation-replace-one-lower": lambda p: _allocation(p, allocation_replaced.from_below),
    "allocation-replace-one-profile": lambda p: _allocation(p, allocation_replaced.from_above),
    "poisson-group-profile": _group,
    "poisson-replace-one-comonotone": _replaced,
    "poisson-replace-one-profile": _replaced,
    "poisson-profile": lambda p: _sampled(p, "poisson"),
    "shuffle-lower": lambda p: ((Use(shuffled_attack.dominated_pair(p)), int(p["whole_epochs"])),),
    "shuffle-profile": shuffled_uses.left_out,
    "shuffle-profile-used": shuffled_uses.all_used,
    "shuffle-profile-one-order": shuffled_uses.one_order,
    "shuffle-lower-allocation": _shuffled_as_allocation,
    "truncated-poisson-profile": _truncated_poisson,
    "truncated-poisson-lower": _zero_gradients,
    "with-replacement-profile": lambda p: ((with_replacement_use(
        p["n"], p["batch_size"], p["noise_multiplier"], p["replaced"]), int(p["steps"])),),
    "with-replacement-lower": lambda p: ((_attained_with_replacement(p), int(p["steps"])),),
    "wor-profile": lambda p: _sampled(p, "without-replacement"),
    "wor-zero-out-profile": lambda p: ((wor_zero_out_use(p["sampling_rate"], p["noise_multiplier"]), int(p["steps"])),),
    "wor-zero-out-lower": lambda p: ((_attained_without_replacement(p), int(p["steps"])),),
}
