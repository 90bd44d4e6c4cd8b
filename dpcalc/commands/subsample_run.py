"""A run of a mechanism on random batches: the check of its options, its routes, the parameters of its bounds, its
guarantee and its notes. For dpcalc subsample, and for dpcalc tv."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpcalc.accounting import neighbours
from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.neighbours import Promise
from dpcalc.accounting.schemes import SCHEMES, by_rate, scheme_of
from dpcalc.accounting.schemes.record import Use
from dpcalc.bounds.conversions import composition_basic
from dpcalc.core import noise_multiplier, tries
from dpcalc.core.bound import Params
from dpcalc.core.checks import ALWAYS, check, refuse_unneeded, require
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Question, Route
from dpcalc.core.run import Run

Options = Mapping[str, Any]  # a Run, or the options of one

# --- options ---------------------------------------------------------------------------------------------------------


def between(run: Options) -> str:
    """The relation of two batches that the noise multiplier is about."""
    return scheme_of(run).base(run).relation


def promise(run: Run, is_tv: bool = False) -> Promise:
    """What must hold for the mechanism on a batch, which options or an input describe. Raises DpcalcError where it is
    not what the theorem about its batches needs. `is_tv` says that dpcalc tv asks."""
    scheme = scheme_of(run)
    if run.given.inputs:
        return neighbours.as_base(run.given.inputs[0], scheme, run).and_of(scheme)
    mechanism = MECHANISMS[run["mechanism"]]
    if not mechanism.query.not_sampled:
        _refuse_mechanism(run)
    by_multiplier = noise_multiplier.is_used(run.given, run.unknown)
    return neighbours.of_run(run.given, scheme, mechanism, by_multiplier, is_tv).and_of(scheme)


def checked(run: Run) -> Run:
    """The run with the options that it depends on. Raises DpcalcError for options that are missing, not used or
    contradictory."""
    scheme, mechanism = scheme_of(run), None if "curve" in run else MECHANISMS[run["mechanism"]]
    required, optional = noise_multiplier.options(mechanism, run.given, run.unknown) if mechanism else ((), ())
    uses = frozenset({*required, *optional, *scheme.options, "scheme", "adjacency", "group_size", "orders",
                      "mechanism", "precision", *tries.NAMES})
    with_mechanism = f"with --mechanism {run['mechanism']}"
    if run.given.provided - uses - ALWAYS:  # only then it matters which options all the other schemes have
        of_any_scheme = {name for other in SCHEMES.values() for name in other.options}
        refuse_unneeded(run.given, uses | of_any_scheme, with_mechanism, mechanism.ways_out if mechanism else {})
        refuse_unneeded(run.given, uses, f"with --scheme {run['scheme']}", scheme.ways_out)
    _refuse_mechanism(run)
    if mechanism:
        require(run, required, with_mechanism, run.unknown)
    check(run, *scheme.checks)
    return replace(run, uses=uses)


def _refuse_mechanism(run: Run) -> None:
    """Raises DpcalcError for a mechanism, an RDP curve, or groups of records that no theorem about these batches
    covers."""
    scheme, is_curve = scheme_of(run), "curve" in run
    if scheme.only and (is_curve or run["mechanism"] not in scheme.only):
        is_truncated = scheme.name == noise_multiplier.TRUNCATED
        raise DpcalcError("refused", f"the theorem about {scheme.words} is for --mechanism {' or '.join(scheme.only)} "
                          f"only; for others {'drop it' if is_truncated else 'use --scheme poisson'}",
                          "--max-batch-size" if is_truncated else "--scheme")
    if group_size(run) == 1:
        return
    if not scheme.group_routes:
        raise DpcalcError("refused", f"no theorem for groups of records is known for {scheme.words}; use Poisson "
                          "batches, or the generic bound for an (ε, δ), dpcalc convert --group-size", "--group-size")
    if run["mechanism"] != "gaussian" or is_curve:
        raise DpcalcError("refused", "groups of records in random batches are supported for --mechanism gaussian only",
                          "--group-size")


def group_size(run: Options) -> int:
    """The number of records by which neighbouring data sets differ."""
    return int(run.get("group_size") or 1)


def scope(run: Run) -> str:
    """What stands beside the headline where no steps or epochs are given, so that the number is about one of them."""
    return f"for one {scheme_of(run).unit}" if by_rate.has_no_steps(run) else ""


# --- the bounds ------------------------------------------------------------------------------------------------------


def bound_params(run: Options) -> Params:
    """The parameters of the bounds: those of the scheme, and the mechanism as its RDP curve, its profile and its noise
    multiplier; of a pure mechanism, also the ε of one step after amplification."""
    scheme = scheme_of(run)
    relation, options = scheme.relation(run), scheme.with_sigma(run)
    params = scheme.params(options)
    if "curve" in options:
        return params | {"base": options["curve"]}
    mechanism = MECHANISMS[options["mechanism"]]
    use = Use(mechanism, options, {"rate": params.get("sampling_rate")}, relation, group_size(options),
              options.get(noise_multiplier.NAME) is not None)
    params |= {"base": mechanism.rdp_curve(options), "profile": mechanism.profile(options),
               "part": {"name": mechanism.name, **mechanism.part.write(options)}}
    if options.get("precision"):
        params["precision"] = options["precision"]
    params |= {"group_size": group_size(options), "attained": options.get("attained", True)}
    if use.is_gaussian:
        params["noise_multiplier"] = use.noise_multiplier
    elif mechanism.pure is not None and scheme.pure is not None:
        params |= composition_basic.repeated(scheme.pure(use), 0.0, params["steps"])
    return params | scheme.of_mechanism(use)


def routes(run: Options, question: Question) -> tuple[Route, ...]:
    """The bounds that cover the scheme, the neighbours and the mechanism. No parameter is solved for by a bound from
    below, and none holds for a mechanism that may lose less than its description (`attained` is false)."""
    scheme = scheme_of(run)
    relation = scheme.relation(run)
    found = scheme.group_routes[relation] if group_size(run) > 1 else scheme.routes(run, relation)
    without_lower = question.unknown or not run.get("attained", True)
    return tuple(r for r in found if r.bound.status != "lower") if without_lower else found


def description(run: Run) -> str:
    """What is sampled, in words, where no RDP bound covers it."""
    if group_size(run) > 1:
        return "groups of records in random batches"
    scheme = scheme_of(run)
    return scheme.words if scheme.only else f"subsampled {MECHANISMS[run['mechanism']].words}"


# --- beside the rows -------------------------------------------------------------------------------------------------


def numbers(run: Run) -> dict[str, Any]:
    """The numbers of the run beside an answer: its steps or epochs, its sampling rate and its noise multiplier."""
    # of μ-GDP from JSON the Gaussian mechanism is only the worst case, and σ no noise on a sum
    of_sum = not any(base.kind == "gdp" for base in run.given.inputs)
    return {**{name: run.params[key] for name, key in scheme_of(run).companions.items()},
            **noise_multiplier.companion(run, between(run), of_sum)}


def guarantee(run: Options, params: Params) -> dict[str, Any]:
    """The run for the next command."""
    found = scheme_of(run).guarantee(run, params)
    is_bound = found["kind"] == "mechanisms" and not run.get("attained", True)
    return {**found, "upper_bound": True} if is_bound else found


def notes(run: Run) -> tuple[str, ...]:
    """What a reader must know to use the number."""
    if "curve" in run:
        return ()
    scheme, mechanism = scheme_of(run), MECHANISMS[run["mechanism"]]
    base = scheme.base(run)
    notes = noise_multiplier.notes(run.given, run, base.relation) or mechanism.notes
    doubles = RELATIONS[base.relation].sensitivity > 1
    if mechanism.name == "gaussian" and not run.given.inputs and run["sigma"] is not None and doubles:
        notes += ("replacing a record moves the sum by 2C: with s = 2C, the noise multiplier is 2σ/s",)
    elif mechanism.pure is not None and run["scheme"] == "poisson" and base.relation == scheme.relation(run):
        notes += ("sampling amplifies each step to log(1 + q(e^ε − 1)) (Balle, Barthe & Gaboardi 2018)",)
    return (*notes, *filter(None, (scheme.note,)), *scheme.notes(run))
