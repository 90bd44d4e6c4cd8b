"""Poisson sampling: each record is in the batch with probability q, independently of all others, afresh each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.accounting.schemes import by_rate, without_replacement
from dpcalc.accounting.schemes.record import (
    NOT_SHUFFLED,
    RATE,
    Sampling,
    Scheme,
    Values,
    mechanisms_guarantee,
)
from dpcalc.bounds import curve
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import amplification, poisson_group_profile, poisson_profile, poisson_rdp, wor_profile
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Route

if TYPE_CHECKING:
    from dpcalc.core.command import Given
    from dpcalc.pld.pair import Pair


def _routes(given: Given) -> tuple[Route, ...]:
    if "curve" in given.values:
        raise DpcalcError("refused", "Poisson sampling of an RDP curve is not supported; use --scheme "
                                     "without-replacement, or give the mechanism", "--scheme")
    if given["adjacency"] == "replace-one":
        return (Route(wor_profile.BOUND),)
    pure = PURE_COMPOSITION if MECHANISMS[given["mechanism"]].pure is not None else ()
    rdp = converted(poisson_rdp.BOUND) if given["mechanism"] == "gaussian" else ()
    return (*rdp, *pure, Route(poisson_profile.BOUND))


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    """For replace-one neighbours a Poisson batch is analysed like one without replacement."""
    name = without_replacement.SCHEME.name if values.get("adjacency") == "replace-one" else SCHEME.name
    return mechanisms_guarantee(values, (({"scheme": name, "rate": params["sampling_rate"]}, params["steps"]),))


def _pair(base: Pair, sampling: Sampling) -> Pair:
    from dpcalc.pld import sampled

    return sampled.poisson(base, sampling["rate"])


def _group_pair(fields: Params, sampling: Sampling, size: int) -> Pair:
    if "noise_multiplier" not in fields:
        raise DpcalcError("refused", "groups of records in Poisson batches are supported for Gaussian noise only",
                          "--input")
    return poisson_group_profile.pair(sampling["rate"], fields["noise_multiplier"], size)


def _curve(base: Curve, sampling: Sampling, params: Params) -> Curve:
    if "noise_multiplier" not in params:
        raise DpcalcError("unsupported", "RDP of Poisson sampling is supported for Gaussian noise only; ask with "
                                         "--delta", "--input")
    return curve.of_bound(poisson_rdp.BOUND, noise_multiplier=params["noise_multiplier"],
                          sampling_rate=sampling["rate"])


SCHEME = Scheme(
    name="poisson",
    words="Poisson batches",
    refusal="",
    options=by_rate.OPTIONS,
    check=by_rate.check,
    params=by_rate.params,
    routes=_routes,
    guarantee=_guarantee,
    sentence=lambda text: ("Batches are Poisson samples: each record is in a batch with probability "
                           f"{by_rate.rate_text(text)}, independently; {NOT_SHUFFLED}"),
    fields={"rate": RATE},
    pair=_pair,
    curve=_curve,
    group_pair=_group_pair,
    group_routes=(Route(poisson_group_profile.BOUND),),
    pure=lambda epsilon, sampling: float(amplification.value(epsilon, 0.0, sampling["rate"])["epsilon"]),
)
