"""What a total variation is computed from: for each kind of description its options, routes and record. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.accounting.mechanisms import MECHANISMS, with_steps
from dpcalc.bounds.conversions import composition_optimal, dp_tv, gdp_exact, outcomes, profile_composition
from dpcalc.bounds.total_variation import exact, kl, product
from dpcalc.commands import convert, subsample
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound
from dpcalc.core.command import Given, refuse_unneeded, require
from dpcalc.core.errors import DpcalcError
from dpcalc.core.question import Question
from dpcalc.core.results import Route

Values = Mapping[str, Any]
_SAME: Mapping[str, Bound] = MappingProxyType({})
_ASKS_TV = Question("tv")


class Source(NamedTuple):
    """`routes` depend on whether there are several releases; `profiles` names, for a bound on TV alone, the profile
    that it is the value at 0 of."""

    check: Callable[[Given, str | None], set[str]]  # refuses and requires; the options in use
    routes: Callable[[Given, bool], tuple[Route, ...]]
    derive: Callable[[Values], dict[str, Any]]
    guarantee: Callable[[Values, float], dict[str, Any]]  # (values, TV) → for the next command
    adjacency: Callable[[Values], str] = lambda values: str(values.get("adjacency") or "as in the given guarantee")
    released: str = "as in the given guarantee"
    notes: Callable[[Given, Values], tuple[str, ...]] = lambda given, values: ()
    profiles: Mapping[str, Bound] = _SAME


def _needs(what: str, *names: str, may: tuple[str, ...] = ("steps",)) -> Callable[[Given, str | None], set[str]]:
    def check(given: Given, unknown: str | None) -> set[str]:
        used = {*names, *may}
        refuse_unneeded(given, used, what)
        require(given, names, what, unknown)
        return used

    return check


def _tv_only(values: Values, tv: float) -> dict[str, Any]:
    return {"kind": "tv", "tv": tv}


def _steps(values: Values) -> int:
    return int(values.get("steps") or 1)


# --- a mechanism -----------------------------------------------------------------------------------------------------

def _mechanism(name: str) -> Source:
    mechanism = MECHANISMS[name]

    def derive(values: Values) -> dict[str, Any]:
        params = with_steps(mechanism, values)
        ratio = mechanism.tv.ratio(params)
        return {**params, "mechanism": name, "ratio": ratio, "step_tv": exact.value(name, ratio, 1)["tv"],
                "precision": values.get("precision")}

    def record(values: Values, tv: float) -> dict[str, Any]:
        return {"kind": "mechanisms",
                "mechanisms": [mechanism.as_part(noise_multiplier.with_sigma(values), None, _steps(values))]}

    def check(given: Given, unknown: str | None) -> set[str]:
        required, optional = noise_multiplier.options(mechanism, given, unknown)
        neighbours = ("adjacency",) if noise_multiplier.NAME in required else ()
        return _needs(f"by the {name} mechanism", *required,
                      may=(*optional, "mechanism", "steps", *neighbours, *composed))(given, unknown)

    def adjacency(values: Values) -> str:
        return noise_multiplier.adjacency_of(values) if noise_multiplier.NAME in values else "as --sensitivity defines it"

    def notes(given: Given, values: Values) -> tuple[str, ...]:
        return noise_multiplier.notes(given, values) or (mechanism.noise,)

    composed = ("precision",) if any(route.bound.pair for route in mechanism.tv.often) else ()
    def routes(given: Given, often: bool) -> tuple[Route, ...]:
        return mechanism.tv.often if often else mechanism.tv.once

    return Source(check, routes, derive, record, adjacency, "every output", notes,
                  {exact.BOUND.name: mechanism.tv.profile})


# --- a run on random batches -----------------------------------------------------------------------------------------


def _run_check(given: Given, unknown: str | None) -> set[str]:
    if given["scheme"] == "weighted":
        raise DpcalcError("refused",
                          "weighted sampling has an RDP bound, and no profile to read a total variation from",
                          "--scheme")
    subsample.neighbours(given)
    return subsample.check(given, unknown)


def _run_guarantee(values: Values, tv: float) -> dict[str, Any]:
    return subsample.guarantee(values, subsample.derive(values))


_RUN = Source(_run_check, lambda given, often: subsample.routes(given), subsample.derive, _run_guarantee,
              noise_multiplier.adjacency_of, "every step's output", subsample.notes)


# --- a guarantee -----------------------------------------------------------------------------------------------------


def _gdp(values: Values) -> dict[str, Any]:
    return {"mechanism": "gaussian", "ratio": values["mu"], "mu": values["mu"], "steps": _steps(values)}


def _gdp_guarantee(values: Values, tv: float) -> dict[str, Any]:
    from math import sqrt

    from dpcalc.numerics.rounding import up

    return {"kind": "gdp", "mu": up(values["mu"] * sqrt(_steps(values)), 5e-16)}


def _curve(name: str) -> Callable[[Given, bool], tuple[Route, ...]]:
    return lambda given, often: (Route(kl.BOUND), *convert.curve_routes(given.having({**given.values, "from": name},
                                                                                     inputs=()), _ASKS_TV))


def _rdp(values: Values) -> dict[str, Any]:
    params = convert.rdp_params(values)
    return {**params, "kl": min(params["rdps"])}


def _dp(values: Values) -> dict[str, Any]:
    return {"step_epsilon": values["epsilon"], "step_delta": values["delta"], "steps": _steps(values)}


def _outcome_routes(given: Given, often: bool) -> tuple[Route, ...]:
    return (Route(profile_composition.BOUND if often or convert.uses(given.values) > 1 else outcomes.PROFILE),)


def _outcomes(values: Values) -> dict[str, Any]:
    from dpcalc.pld import atoms

    params = convert.outcome_params(values)
    return {"pairs": ((atoms.outcomes(params["p"], params["q"]), 1),), **params}


def _points(values: Values) -> dict[str, Any]:
    """The profile through (0, TV) and (ε, δ), as a pair."""
    from dpcalc.accounting.guarantee import Sampled
    from dpcalc.accounting.guarantee_pld import of

    return {**_dp(values), "step_tv": values["tv"], "precision": values.get("precision"),
            "pairs": of(Sampled(**_profile(values))),
            "described": (_profile(values),)}


def _profile(values: Values) -> dict[str, Any]:
    return {"kind": "profile", "epsilon": (0.0, values["epsilon"]), "delta": (values["tv"], values["delta"])}


def _points_guarantee(values: Values, tv: float) -> dict[str, Any]:
    if _steps(values) > 1:
        return _tv_only(values, tv)
    return {k: list(v) if isinstance(v, tuple) else v for k, v in _profile(values).items()}


def _point_guarantee(values: Values, tv: float) -> dict[str, Any]:
    return _tv_only(values, tv) if _steps(values) > 1 else {"kind": "dp", "epsilon": values["epsilon"],
                                                            "delta": values["delta"]}


_COMPOSED = ("steps", "precision")
SOURCES: dict[str, Source] = {
    **{name: _mechanism(name) for name in MECHANISMS},
    "run": _RUN,
    "gdp": Source(_needs("with μ", "mu"), lambda given, often: (Route(exact.BOUND),), _gdp, _gdp_guarantee,
                  profiles={"tv-exact": gdp_exact.BOUND}),
    "zcdp": Source(_needs("with ρ", "rho"), _curve("zcdp"),
                   lambda v: {"rho": v["rho"], "kl": v["rho"], "steps": _steps(v)}, _tv_only),
    "rdp": Source(_needs("with an RDP curve", "alpha", "rdp"), _curve("rdp"), _rdp, _tv_only),
    "kl": Source(_needs("with a KL divergence", "kl"), lambda given, often: (Route(kl.BOUND),),
                 lambda v: {"kl": v["kl"], "steps": _steps(v)}, _tv_only),
    "outcomes": Source(_needs("with outcomes", "p", "q", may=_COMPOSED),
                       _outcome_routes, _outcomes, _tv_only),
    "dp": Source(_needs("with ε and δ", "epsilon", "delta"),
                 lambda given, often: (Route(composition_optimal.BOUND if often else dp_tv.BOUND),), _dp,
                 _point_guarantee,
                 profiles={"dp-tv": composition_optimal.BOUND}),
    "tv": Source(_needs("with a total variation", "tv"), lambda given, often: (Route(product.BOUND),),
                 lambda v: {"step_tv": v["tv"], "steps": _steps(v)}, _tv_only),
    "points": Source(_needs("with ε, δ and a total variation", "epsilon", "delta", "tv", may=_COMPOSED),
                     lambda given,
                     often: (Route(profile_composition.BOUND), Route(product.BOUND), Route(composition_optimal.BOUND)),
                     _points, _points_guarantee),
    "parts": Source(_needs("with a guarantee from JSON", may=_COMPOSED), lambda given,
                    often: convert.part_routes(given, _ASKS_TV),
                    convert.part_params, _tv_only),
}
