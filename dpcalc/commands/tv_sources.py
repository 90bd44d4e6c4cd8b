"""The sources of a total variation: for each kind of description its options, its routes, the parameters of its bounds
and its guarantee. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.accounting import neighbours
from dpcalc.accounting.mechanisms import MECHANISMS, with_steps
from dpcalc.accounting.mechanisms.record import unsampled
from dpcalc.accounting.neighbours import NOTHING, Promise
from dpcalc.bounds.conversions import composition_optimal, gdp, outcomes, profile_composition
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.commands import convert_routes, subsample_run
from dpcalc.commands.convert_inputs import EVERY_OUTPUT, THOSE_OF_INPUT
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound
from dpcalc.core.command import Given, refuse_unneeded, require
from dpcalc.core.errors import DpcalcError
from dpcalc.core.question import Question
from dpcalc.core.results import Route

Values = Mapping[str, Any]
_ASKS_TV = Question("tv")


class Source(NamedTuple):
    """A kind of description that a total variation can be computed from."""

    check: Callable[[Given, str | None], set[str]]  # the options in use; raises DpcalcError as subsample_run.check does
    routes: Callable[[Given, bool], tuple[Route, ...]]  # (call, whether there are several releases)
    bound_params: Callable[[Values], dict[str, Any]]
    guarantee: Callable[[Values, float], dict[str, Any]]  # (values, TV) → for the next command
    adjacency: Callable[[Values], str] = lambda values: str(values.get("adjacency") or THOSE_OF_INPUT)
    released: str = EVERY_OUTPUT
    notes: Callable[[Given, Values], tuple[str, ...]] = lambda given, values: ()
    # of a bound on the total variation alone: the profile whose value at ε = 0 it is
    profiles: Mapping[str, Bound] = MappingProxyType({})
    # (call, name of the unknown) → what must hold
    promise: Callable[[Given, str | None], Promise] = lambda given, unknown: given["promise"] or NOTHING
    of_respondents: bool = False


def _needs(what: str, *names: str, may: tuple[str, ...] = ("steps",),
           ways_out: Mapping[str, str] = MappingProxyType({})) -> Callable[[Given, str | None], set[str]]:
    """The check of a description that needs the options `names` and allows `may`; `what` names it in messages, and
    `ways_out` says what to write instead of some options."""
    def check(given: Given, unknown: str | None) -> set[str]:
        used = {*names, *may, "adjacency"}
        refuse_unneeded(given, used, what, ways_out)
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

    def bound_params(values: Values) -> dict[str, Any]:
        params = with_steps(mechanism, values)
        params["precision"] = values.get("precision")
        if mechanism.tv.ratio is None:
            return {**params, "step_tv": mechanism.profile(params).total_variation}
        ratio = mechanism.tv.ratio(params)
        return {**params, "mechanism": name, "ratio": ratio, "step_tv": closed_forms.of_mechanism(name, ratio, 1)["tv"]}

    def record(values: Values, tv: float) -> dict[str, Any]:
        return {"kind": "mechanisms",
                "mechanisms": [mechanism.as_part(unsampled(values), None, _steps(values))]}

    def check(given: Given, unknown: str | None) -> set[str]:
        required, optional = noise_multiplier.options(mechanism, given, unknown)
        adjacency(given.values)  # raises where the mechanism cannot have it
        composed = ("precision",) if any(route.bound.is_composed({"steps": 2}) for route in mechanism.tv.often) else ()
        return _needs(f"with --mechanism {name}", *required,
                      may=(*optional, "mechanism", "steps", "group_size", *composed),
                      ways_out=mechanism.ways_out)(given, unknown)

    def adjacency(values: Values) -> str:
        by_multiplier = values.get(noise_multiplier.NAME) is not None
        return neighbours.of_mechanism(mechanism, values, by_multiplier) or neighbours.UNSTATED

    def notes(given: Given, values: Values) -> tuple[str, ...]:
        by_multiplier = values.get(noise_multiplier.NAME) is not None
        return noise_multiplier.notes(given, values, adjacency(values)) if by_multiplier else mechanism.notes

    def routes(given: Given, several: bool) -> tuple[Route, ...]:
        return mechanism.tv.often if several else mechanism.tv.once

    return Source(check, routes, bound_params, record, adjacency, "every output", notes,
                  {closed_forms.EXACT.name: mechanism.tv.profile}, lambda given, unknown: NOTHING,
                  bool(mechanism.query.not_sampled))


# --- a run on random batches -----------------------------------------------------------------------------------------


def _run_promise(given: Given, unknown: str | None) -> Promise:
    if given["scheme"] == "weighted":
        raise DpcalcError("refused",
                          "weighted has an RDP bound only, which gives no total variation; use another scheme",
                          "--scheme")
    return subsample_run.promise(given, unknown, is_tv=True)


def _run_guarantee(values: Values, tv: float) -> dict[str, Any]:
    return subsample_run.guarantee(values, subsample_run.bound_params(values))


def _run_routes(given: Given, several: bool) -> tuple[Route, ...]:
    """The bounds of a run; no parameter is solved for by a bound from below."""
    found = subsample_run.routes(given, _ASKS_TV)
    return tuple(r for r in found if r.bound.status != "lower") if given.has("solve") else found


_RUN = Source(subsample_run.check, _run_routes, subsample_run.bound_params, _run_guarantee, subsample_run.neighbours,
              "every step's output", subsample_run.notes, promise=_run_promise)


# --- a guarantee -----------------------------------------------------------------------------------------------------


def _gdp(values: Values) -> dict[str, Any]:
    return {"mechanism": "gaussian", "ratio": values["mu"], "mu": values["mu"], "steps": _steps(values)}


def _curve(name: str) -> Callable[[Given, bool], tuple[Route, ...]]:
    def routes(given: Given, several: bool) -> tuple[Route, ...]:
        given = given.replace({**given.values, "from": name}, inputs=())
        return (Route(closed_forms.KL), *convert_routes.curve_routes(given, _ASKS_TV))

    return routes


def _rdp(values: Values) -> dict[str, Any]:
    params = convert_routes.rdp_params(values)
    return {**params, "kl": min(params["rdps"])}


def _dp(values: Values) -> dict[str, Any]:
    return {"step_epsilon": values["epsilon"], "step_delta": values["delta"], "steps": _steps(values)}


def _outcome_routes(given: Given, several: bool) -> tuple[Route, ...]:
    several = several or convert_routes.total_count(given.values) > 1
    return (Route(profile_composition.BOUND if several else outcomes.PROFILE),)


def _outcomes(values: Values) -> dict[str, Any]:
    from dpcalc.pld import atoms

    params = convert_routes.outcome_params(values)
    return {"pairs": ((atoms.outcomes(params["p"], params["q"]), 1),), **params}


def _points(values: Values) -> dict[str, Any]:
    """The dominating pair of the profile through (0, TV) and (ε, δ), with the point itself."""
    from dpcalc.accounting.guarantee import Sampled
    from dpcalc.accounting.guarantee_pld import dominating_pairs

    return {**_dp(values), "step_tv": values["tv"], "precision": values.get("precision"),
            "pairs": dominating_pairs(Sampled(**_profile(values))),
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
    "gdp": Source(_needs("with --mu", "mu"), lambda given, several: (Route(closed_forms.EXACT),), _gdp,
                  lambda values, tv: convert_routes.gdp_guarantee(values), profiles={"tv-exact": gdp.EXACT}),
    "zcdp": Source(_needs("with --rho", "rho"), _curve("zcdp"),
                   lambda v: {"rho": v["rho"], "kl": v["rho"], "steps": _steps(v)}, _tv_only),
    "rdp": Source(_needs("with an RDP curve", "alpha", "rdp"), _curve("rdp"), _rdp, _tv_only),
    "kl": Source(_needs("with --kl", "kl"), lambda given, several: (Route(closed_forms.KL),),
                 lambda v: {"kl": v["kl"], "steps": _steps(v)}, _tv_only),
    "outcomes": Source(_needs("with outcome probabilities", "p", "q", may=_COMPOSED),
                       _outcome_routes, _outcomes, _tv_only),
    "dp": Source(_needs("with an (ε, δ) guarantee", "epsilon", "delta"),
                 lambda given, several: convert_routes.tv_routes_of_dp(several), _dp, _point_guarantee,
                 profiles={"dp-tv": composition_optimal.BOUND}),
    "tv": Source(_needs("with --tv", "tv"), lambda given, several: (Route(closed_forms.PRODUCT),),
                 lambda v: {"step_tv": v["tv"], "steps": _steps(v)}, _tv_only),
    "points": Source(_needs("with ε, δ and a total variation", "epsilon", "delta", "tv", may=_COMPOSED),
                     lambda given, several: (Route(profile_composition.BOUND), Route(closed_forms.PRODUCT),
                                             *convert_routes.tv_routes_of_dp(several=True)),
                     _points, _points_guarantee),
    "parts": Source(_needs("with an input", may=_COMPOSED),
                    lambda given, several: convert_routes.part_routes(given, _ASKS_TV),
                    convert_routes.part_params, _tv_only),
}
