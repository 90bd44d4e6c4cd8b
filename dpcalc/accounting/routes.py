"""Which bounds speak about which mechanism. Names only become code here, in tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dpcalc.bounds import curve
from dpcalc.bounds.conversions import (
    composition_advanced,
    composition_basic,
    composition_optimal,
    rdp_improved,
    rdp_mironov,
    rdp_optimal,
)
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.mechanisms import (
    gaussian_classic,
    gaussian_exact,
    gaussian_rdp,
    laplace_exact,
    laplace_profile,
    laplace_rdp,
    randomized_response_exact,
    randomized_response_rdp,
)
from dpcalc.bounds.profile import Profile
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_down

Params = Mapping[str, Any]


def converted(bound: Bound, by_conversion: bool = False) -> tuple[Route, ...]:
    """An RDP bound, through each conversion."""
    return (
        Route(bound, rdp_optimal.BOUND, by_conversion=by_conversion),
        Route(bound, rdp_improved.BOUND, by_conversion=by_conversion),
        Route(bound, rdp_mironov.BOUND, on_request=not by_conversion, by_conversion=by_conversion),
    )


COMPOSITION = (Route(composition_optimal.BOUND), Route(composition_advanced.BOUND), Route(composition_basic.BOUND))
PURE_COMPOSITION = (Route(composition_optimal.BOUND), Route(composition_basic.BOUND))


class Mechanism(NamedTuple):
    """A mechanism: its options, the routes for one and for many releases, its curve, its record in a guarantee."""

    options: tuple[str, ...]  # required
    once: tuple[Route, ...]
    often: tuple[Route, ...]
    curve: Callable[[Params], Curve]
    profile: Callable[[Params], Profile]
    pure: Callable[[Params], float] | None
    record: Callable[[Params], dict[str, Any]]
    noise: str
    optional: tuple[str, ...] = ()


def _gaussian_record(p: Params) -> dict[str, Any]:
    return {"name": "gaussian", "noise_multiplier": ratio_down(p["sigma"], p["sensitivity"])}


def _pure_laplace(p: Params) -> float:
    return laplace_exact.pure(p["scale"], p["sensitivity"])


def _pure_response(p: Params) -> float:
    return randomized_response_exact.pure(p["probability"], 1)


def _gaussian_profile(p: Params) -> Profile:
    def pair() -> Any:
        from dpcalc.pld.pair import Gaussian

        return Gaussian(gaussian_exact.ratio(p["sigma"], p["sensitivity"], 1))

    own = (p["sigma"], p["sensitivity"], 1)
    return Profile(lambda e: gaussian_exact.value(e, *own), lambda mp, e: gaussian_exact.exact(mp, e, *own), pair)


def _laplace_profile(p: Params) -> Profile:
    def pair() -> Any:
        from dpcalc.pld.pair import Laplace

        return Laplace(_pure_laplace(p))

    own = (p["scale"], p["sensitivity"])
    return Profile(lambda e: laplace_exact.value(e, *own), lambda mp, e: laplace_exact.exact(mp, e, *own), pair)


def _response_profile(p: Params) -> Profile:
    def pair() -> Any:
        from dpcalc.pld.atoms import approximate_dp

        return approximate_dp(_pure_response(p))

    own = (p["probability"], 1)
    return Profile(lambda e: randomized_response_exact.value(e, *own), lambda mp, e: randomized_response_exact.exact(mp, e, *own), pair)


MECHANISMS = {
    "gaussian": Mechanism(
        ("sigma",),
        (Route(gaussian_exact.BOUND), *converted(gaussian_rdp.BOUND), Route(gaussian_classic.BOUND)),
        (Route(gaussian_exact.BOUND), *converted(gaussian_rdp.BOUND), Route(gaussian_classic.BOUND)),
        lambda p: curve.of(gaussian_rdp.BOUND, sigma=p["sigma"], sensitivity=p["sensitivity"]),
        _gaussian_profile,
        None,
        _gaussian_record,
        "σ is the standard deviation of the noise in the units of the sensitivity",
        ("sensitivity",),
    ),
    "laplace": Mechanism(
        ("scale",),
        (Route(laplace_exact.BOUND), *converted(laplace_rdp.BOUND)),
        (*PURE_COMPOSITION, *converted(laplace_rdp.BOUND), Route(laplace_profile.BOUND, guide=(laplace_rdp.BOUND, rdp_improved.BOUND))),
        lambda p: curve.of(laplace_rdp.BOUND, _pure_laplace(p), scale=p["scale"], sensitivity=p["sensitivity"]),
        _laplace_profile,
        _pure_laplace,
        lambda p: {"name": "laplace", "scale": ratio_down(p["scale"], p["sensitivity"])},
        "v is the scale of Laplace noise (standard deviation v√2) in the units of the sensitivity",
        ("sensitivity",),
    ),
    "randomized-response": Mechanism(
        ("probability",),
        (Route(randomized_response_exact.BOUND), *converted(randomized_response_rdp.BOUND)),
        (Route(randomized_response_exact.BOUND), *converted(randomized_response_rdp.BOUND)),
        lambda p: curve.of(randomized_response_rdp.BOUND, _pure_response(p), probability=p["probability"]),
        _response_profile,
        _pure_response,
        lambda p: {"name": "randomized-response", "probability": p["probability"]},
        "p is the probability that the answer is the true bit",
    ),
}


def with_steps(mechanism: Mechanism, values: Params) -> dict[str, Any]:
    """The parameters that the routes of a mechanism read."""
    values = noise_multiplier.with_sigma(values)
    params = {name: values[name] for name in mechanism.options + mechanism.optional}
    params["steps"] = int(values.get("steps") or 1)
    if mechanism.pure is not None:
        params |= composition_basic.repeated(mechanism.pure(params), 0.0, params["steps"])
    return params
