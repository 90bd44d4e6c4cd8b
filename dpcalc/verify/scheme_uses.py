"""The uses of a mechanism on random batches, as privacy loss distributions in closed form: one function for each way to
form batches, from the parameters of its bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import nextafter
from typing import Any

from dpcalc.core.bound import Params
from dpcalc.verify import allocation, composition_atoms, group_mixture, loss_distributions, shuffled
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


def _largest_sums(p: Params) -> Parts:
    return ((Use(shuffled.largest_sum_pair(p)), int(p["whole_epochs"])),)


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


def _zero_gradients(p: Params) -> Parts:
    """Return the Poisson batches of the run whose other gradients are 0. The rate is computed again, with more
    digits."""
    from dpcalc.bounds.sampling import truncated_poisson_lower as bound
    from dpcalc.numerics.mp.context import context

    own = (p["n"], p["sampling_rate"], p["max_batch_size"])
    rate = min(bound.kept_rate(*own), float(bound.exact_rate(context(), *own)) * (1 - 2.0**-52))
    use = Use(loss_distributions.gaussian(lambda mp: 1 / mp.mpf(p["noise_multiplier"])), "poisson", rate)
    return ((use, int(p["steps"])),)


def _allocation(p: Params, make_pair: Callable[[float, int, float], LossPair]) -> Parts:
    """Return the blocks of steps with one participation each, whose number is that of one epoch times the epochs."""
    steps, rest = divmod(int(p["steps_per_epoch"]), int(p["participations"]))
    blocks = ((steps, p["participations"] - rest), (steps + 1, rest))
    return tuple((Use(make_pair(float(p["noise_multiplier"]), length, float(p["tail"]))), count * int(p["steps"]))
                 for length, count in blocks if count)


PARTS: dict[str, Callable[[Params], Parts]] = {
    "allocation-profile": lambda p: _allocation(p, allocation.from_above),
    "allocation-lower": lambda p: _allocation(p, allocation.from_below),
    "poisson-group-profile": _group,
    "poisson-profile": lambda p: _sampled(p, "poisson"),
    "shuffle-lower": _largest_sums,
    "shuffle-lower-allocation": _shuffled_as_allocation,
    "truncated-poisson-profile": _truncated_poisson,
    "truncated-poisson-lower": _zero_gradients,
    "wor-profile": lambda p: _sampled(p, "without-replacement"),
}
