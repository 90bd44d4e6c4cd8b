"""Gaussian noise on shuffled batches as privacy loss distributions: by the parameters of a bound, and as JSON describes
it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.bounds.sampling import allocation_profile
from dpcalc.bounds.sampling.shuffle_profile import in_norms
from dpcalc.core.bound import Params
from dpcalc.verify import shuffled_epochs, shuffled_one_order, shuffled_used
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.loss_distributions import LossPair, Use
from dpcalc.verify.unchecked import OtherQuestion, Unchecked

Described = Callable[[Mapping[str, Any], Mapping[str, Any], int], Use]  # of the mechanism, its sampling, a group's size


def _epochs(p: Params, whole: Callable[[], LossPair]) -> Parts:
    """Return the whole epochs, and the steps of an unfinished one, which leave out records."""
    n, b, steps, sigma = p["n"], p["batch_size"], p["unfinished"], in_norms(p["noise_of_record"], p["replaced"])
    _refuse_group(int(p["group_size"]))
    parts = ((Use(whole()), p["whole_epochs"]),) if p["whole_epochs"] else ()
    if not steps:
        return parts
    return (*parts, (Use(shuffled_epochs.left_out(sigma, steps, b, n - steps * b, p["replaced"], p["tail"])), 1))


def _refuse_group(size: int) -> None:
    if size > 1:
        raise Unchecked("the chain of records of a group in shuffled batches is not computed again")


def left_out(p: Params) -> Parts:
    """Return the epochs, each of which leaves out records."""
    n, b, sigma = p["n"], p["batch_size"], in_norms(p["noise_of_record"], p["replaced"])
    rest = n % b if p["drop_last"] else 0
    return _epochs(p, lambda: shuffled_epochs.left_out(sigma, n // b, b, rest, p["replaced"], p["tail"]))


def all_used(p: Params) -> Parts:
    """Return the epochs, whole ones of which use all records."""
    if p["drop_last"] and p["n"] % p["batch_size"]:
        raise OtherQuestion("its epochs leave out records")
    return _epochs(p, lambda: shuffled_used.all_used(p["noise_of_record"], p["n"], p["batch_size"], p["replaced"],
                                                       p["clipped"], p["tail"]))


def one_order(p: Params) -> Parts:
    """Return all epochs together, which have the same order."""
    n, b = p["n"], p["batch_size"]
    _refuse_group(int(p["group_size"]))
    return ((Use(shuffled_one_order.left_out(
        in_norms(p["noise_of_record"], p["replaced"]), n // b, b, n % b if p["drop_last"] else 0, p["replaced"],
        p["epochs"], p["tail"])), 1),)


def of_epoch(replaced: bool) -> Described:
    """Return the function of an epoch of so many steps, in which all records are used, or the others are left out."""
    def use(part: Mapping[str, Any], sampling: Mapping[str, Any], size: int) -> Use:
        _refuse_group(size)
        n, b, steps = sampling["n"], sampling["batch_size"], sampling["steps"]
        noise, tail = float(part["noise_multiplier"]), allocation_profile.DEFAULT_TAIL
        if steps * b < n:
            return Use(shuffled_epochs.left_out(in_norms(noise, replaced), steps, b, n - steps * b, replaced, tail))
        return Use(shuffled_used.all_used(noise, n, b, replaced, bool(part.get("sum")), tail))

    return use


def of_one_order(replaced: bool) -> Described:
    """Return the function of all epochs together, which leave out the records that do not fill a batch."""
    def use(part: Mapping[str, Any], sampling: Mapping[str, Any], size: int) -> Use:
        _refuse_group(size)
        n, b = sampling["n"], sampling["batch_size"]
        return Use(shuffled_one_order.left_out(in_norms(float(part["noise_multiplier"]), replaced), n // b, b, n % b,
                                               replaced, sampling["epochs"], allocation_profile.DEFAULT_TAIL))

    return use
