"""The sources of a total variation: for each kind of description its options, its routes, the parameters of its bounds
and its guarantee."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.accounting import neighbours
from dpcalc.accounting.mechanisms import MECHANISMS, with_steps
from dpcalc.accounting.mechanisms.record import unsampled
from dpcalc.accounting.neighbours import NOTHING, Promise
from dpcalc.accounting.routes import to_total_variation
from dpcalc.accounting.schemes import scheme_of
from dpcalc.bounds.conversions import composition_optimal, gdp, outcomes, profile_composition, rdp_optimal, selection
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.commands import convert_routes
from dpcalc.commands import subsample_run as batches
from dpcalc.commands.convert_inputs import EVERY_OUTPUT, THOSE_OF_INPUT
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound, Params, PointBound
from dpcalc.core.checks import NO_TEXTS, Mode, Texts, check, check_unknown
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import ADD_REMOVE
from dpcalc.core.results import Route
from dpcalc.core.run import Run

_THIS = "on this total variation"  # where a parameter has no effect


class Source(NamedTuple):
    """A kind of description that a total variation can be computed from."""

    checked: Callable[[Run], Run]  # with the options in use; raises DpcalcError for those that are missing or not used
    routes: Callable[[Run], tuple[Route, ...]]
    params: Callable[[Run], Params]
    guarantee: Callable[[Run, float], dict[str, Any]] = lambda run, tv: {"kind": "tv", "tv": tv}  # for the next command
    adjacency: Callable[[Run], str] = lambda run: str(run["adjacency"] or THOSE_OF_INPUT)
    released: str = EVERY_OUTPUT
    notes: Callable[[Run], tuple[str, ...]] = lambda run: ()
    numbers: Callable[[Run], dict[str, Any]] = lambda run: {"steps": run.params.get("steps", 1)}
    # of a bound on the total variation alone: the profile whose value at ε = 0 it is
    profiles: Mapping[str, Bound] = MappingProxyType({})
    promise: Callable[[Run], Promise] = lambda run: run["promise"] or NOTHING  # what must hold
    scope: Callable[[Run], str] = lambda run: ""
    of_respondents: bool = False

    def profile(self, route: Route) -> Route:
        """The route of which the whole profile is known: that of the best (ε, δ) of a curve."""
        if route.bound is selection.TV:
            return Route(selection.PROFILE)
        if isinstance(route.conversion, PointBound):
            return route._replace(conversion=rdp_optimal.BOUND)
        return Route(self.profiles[route.bound.name]) if route.bound.name in self.profiles else route


def _needs(what: str, *names: str, may: tuple[str, ...] = ("steps",),
           ways_out: Texts = NO_TEXTS) -> Callable[[Run], Run]:
    """The check of a description that needs the options `names` and allows `may`; `what` names it in messages, and
    `ways_out` says what to write instead of some options."""
    uses = frozenset({*names, *may, "adjacency"})

    def checked(run: Run) -> Run:
        check(run, Mode(uses, names, what, solving=_THIS, ways_out=ways_out))
        return replace(run, uses=uses)

    return checked


def _steps(run: Run) -> int:
    return int(run["steps"] or 1)


def _several(run: Run) -> bool:
    """Whether there are several releases."""
    return run.unknown in ("steps", "epochs") or _steps(run) > 1


# --- a mechanism -----------------------------------------------------------------------------------------------------


def _mechanism(name: str) -> Source:
    mechanism = MECHANISMS[name]

    def params(run: Run) -> Params:
        params = {**with_steps(mechanism, run), "precision": run["precision"]}
        if mechanism.tv.ratio is None:
            return {**params, "step_tv": mechanism.profile(params).total_variation}
        ratio = mechanism.tv.ratio(params)
        return {**params, "mechanism": name, "ratio": ratio, "step_tv": closed_forms.of_mechanism(name, ratio, 1)["tv"]}

    def checked(run: Run) -> Run:
        required, optional = noise_multiplier.options(mechanism, run.given, run.unknown)
        adjacency(run)  # raises where the mechanism cannot have it
        composed = ("precision",) if any(route.bound.is_composed({"steps": 2}) for route in mechanism.tv.often) else ()
        return _needs(f"with --mechanism {name}", *required, may=(*optional, "mechanism", "steps", "group_size",
                                                                  *composed), ways_out=mechanism.ways_out)(run)

    def adjacency(run: Run) -> str:
        by_multiplier = run[noise_multiplier.NAME] is not None
        return neighbours.of_mechanism(mechanism, run, by_multiplier) or neighbours.UNSTATED

    def notes(run: Run) -> tuple[str, ...]:
        by_multiplier = run[noise_multiplier.NAME] is not None
        return noise_multiplier.notes(run.given, run, adjacency(run)) if by_multiplier else mechanism.notes

    return Source(
        checked, lambda run: mechanism.tv.often if _several(run) else mechanism.tv.once, params,
        lambda run, tv: {"kind": "mechanisms", "mechanisms": [mechanism.as_part(
            unsampled(mechanism, run), None, _steps(run) * mechanism.releases(run))]},
        adjacency, "every output", notes,
        lambda run: {"steps": run.params["steps"], **noise_multiplier.companion(run, ADD_REMOVE, of_sum=False)},
        {closed_forms.EXACT.name: mechanism.tv.profile}, lambda run: NOTHING,
        of_respondents=mechanism.query.of_respondents)


# --- a run on random batches -----------------------------------------------------------------------------------------


def _run_promise(run: Run) -> Promise:
    if run["scheme"] == "weighted":
        raise DpcalcError("refused", "weighted has an RDP bound only, which gives no total variation; use another "
                                     "scheme", "--scheme")
    return batches.promise(run, is_tv=True)


def _run_checked(run: Run) -> Run:
    run = batches.checked(run)
    check_unknown(run.question, run.uses, _THIS)
    return run


# --- a guarantee -----------------------------------------------------------------------------------------------------


def _curve(name: str) -> Callable[[Run], tuple[Route, ...]]:
    return lambda run: (Route(closed_forms.KL), *to_total_variation(convert_routes.CURVES[name]))


def _rdp(run: Run) -> Params:
    params = convert_routes.rdp_params(run)
    return {**params, "kl": min(params["rdps"])}


def _dp(run: Run) -> dict[str, Any]:
    return {"step_epsilon": run["epsilon"], "step_delta": run["delta"], "steps": _steps(run)}


def _outcomes(run: Run) -> Params:
    from dpcalc.pld import atoms  # imports numpy

    params = convert_routes.outcome_params(run)
    return {"pairs": ((atoms.outcomes(params["p"], params["q"]), 1),), **params}


def _points(run: Run) -> Params:
    """The dominating pair of the profile through (0, TV) and (ε, δ), with the point itself."""
    from dpcalc.accounting.guarantee import Sampled  # imports pydantic
    from dpcalc.accounting.guarantee_pld import dominating_pairs

    profile = _profile(run)
    return {**_dp(run), "step_tv": run["tv"], "precision": run["precision"],
            "pairs": dominating_pairs(Sampled(**profile)), "described": (profile,)}


def _profile(run: Run) -> dict[str, Any]:
    return {"kind": "profile", "epsilon": (0.0, run["epsilon"]), "delta": (run["tv"], run["delta"])}


def _unless_several(once: Callable[[Run], dict[str, Any]]) -> Callable[[Run, float], dict[str, Any]]:
    """What is given, for one release; the total variation for several."""
    return lambda run, tv: {"kind": "tv", "tv": tv} if _steps(run) > 1 else once(run)


_COMPOSED = ("steps", "precision")
SOURCES: dict[str, Source] = {
    **{name: _mechanism(name) for name in MECHANISMS},
    "run": Source(_run_checked, lambda run: batches.routes(run, run.question), batches.bound_params,
                  lambda run, tv: batches.guarantee(run, run.params), lambda run: scheme_of(run).relation(run),
                  "every step's output", batches.notes, batches.numbers, promise=_run_promise, scope=batches.scope),
    "gdp": Source(_needs("with --mu", "mu"), lambda run: (Route(closed_forms.EXACT),),
                  lambda run: {"mechanism": "gaussian", "ratio": run["mu"], "mu": run["mu"], "steps": _steps(run)},
                  lambda run, tv: convert_routes.gdp_guarantee(run), profiles={"tv-exact": gdp.EXACT}),
    "zcdp": Source(_needs("with --rho", "rho"), _curve("zcdp"),
                   lambda run: {"rho": run["rho"], "kl": run["rho"], "steps": _steps(run)}),
    "rdp": Source(_needs("with an RDP curve", "alpha", "rdp"), _curve("rdp"), _rdp),
    "kl": Source(_needs("with --kl", "kl"), lambda run: (Route(closed_forms.KL),),
                 lambda run: {"kl": run["kl"], "steps": _steps(run)}),
    "outcomes": Source(_needs("with outcome probabilities", "p", "q", may=_COMPOSED),
                       lambda run: (Route(profile_composition.BOUND if _several(run) or convert_routes.total_count(run)
                                          > 1 else outcomes.PROFILE),), _outcomes),
    "dp": Source(_needs("with an (ε, δ) guarantee", "epsilon", "delta"),
                 lambda run: convert_routes.tv_routes_of_dp(_several(run)), _dp,
                 _unless_several(lambda run: {"kind": "dp", "epsilon": run["epsilon"], "delta": run["delta"]}),
                 profiles={"dp-tv": composition_optimal.BOUND}),
    "tv": Source(_needs("with --tv", "tv"), lambda run: (Route(closed_forms.PRODUCT),),
                 lambda run: {"step_tv": run["tv"], "steps": _steps(run)}),
    "points": Source(_needs("with ε, δ and a total variation", "epsilon", "delta", "tv", may=_COMPOSED),
                     lambda run: (Route(profile_composition.BOUND), Route(closed_forms.PRODUCT),
                                  *convert_routes.tv_routes_of_dp(several=True)), _points,
                     _unless_several(lambda run: {k: list(v) if isinstance(v, tuple) else v
                                                  for k, v in _profile(run).items()})),
    "parts": Source(_needs("with an input", may=_COMPOSED), convert_routes.part_routes, convert_routes.part_params),
}
