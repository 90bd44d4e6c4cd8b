"""A run of a mechanism on random batches: the check of its options, its routes, the parameters of its bounds and its
guarantee. For dpcalc subsample, and for dpcalc tv.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import noise_multiplier
from dpcalc.core.checks import refuse_unneeded, require
from dpcalc.core.command import Given
from dpcalc.core.quantities import PASSES
from dpcalc.core.relations import RELATIONS

if TYPE_CHECKING:
    from dpcalc.accounting.mechanisms import Mechanism
    from dpcalc.accounting.neighbours import Promise
    from dpcalc.accounting.schemes import Scheme
    from dpcalc.core.question import Question
    from dpcalc.core.results import Route

Values = Mapping[str, Any]


# --- options ---------------------------------------------------------------------------------------------------------


def neighbours(values: Values) -> str:
    """The relation of neighbours of the run. Raises DpcalcError where the scheme has no theorem for it."""
    from dpcalc.accounting.schemes import scheme_of

    return scheme_of(values).relation(values)


def between(values: Values) -> str:
    """The relation of two batches that the noise multiplier is about."""
    from dpcalc.accounting.schemes import scheme_of

    return scheme_of(values).base(values).relation


def promise(given: Given, unknown: str | None, is_tv: bool = False) -> Promise:
    """What must hold for the mechanism on a batch, which options or an input describe. Raises DpcalcError where it is
    not what the theorem about its batches needs. `is_tv` says that dpcalc tv asks."""
    from dpcalc.accounting import neighbours
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.schemes import scheme_of

    scheme = scheme_of(given.values)
    if given.inputs:
        return neighbours.as_base(given.inputs[0], scheme, given.values).and_of(scheme)
    mechanism = MECHANISMS[given["mechanism"]]
    if not mechanism.query.not_sampled:
        _refuse_mechanism(given, scheme, mechanism)
    by_multiplier = noise_multiplier.is_used(given, unknown)
    return neighbours.of_run(given, scheme, mechanism, by_multiplier, is_tv).and_of(scheme)


def check(given: Given, unknown: str | None) -> set[str]:
    """The names of the options that the run depends on. Raises DpcalcError for options that are missing, not used or
    contradictory."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.schemes import SCHEMES, scheme_of

    scheme = scheme_of(given.values)
    mechanism = None if "curve" in given.values else MECHANISMS[given["mechanism"]]
    required, optional = noise_multiplier.options(mechanism, given, unknown) if mechanism else ((), ())
    used = {*required, *optional, *scheme.options, "scheme", "adjacency", "group_size", "orders", "mechanism",
            "precision"}
    of_any_scheme = {name for other in SCHEMES.values() for name in other.options}
    refuse_unneeded(given, used | of_any_scheme, f"with --mechanism {given['mechanism']}",
                    mechanism.ways_out if mechanism else {})
    refuse_unneeded(given, used, f"with --scheme {given['scheme']}", scheme.ways_out)
    _refuse_mechanism(given, scheme, mechanism)
    if mechanism:
        require(given, required, f"with --mechanism {given['mechanism']}", unknown)
    scheme.check(given, unknown)
    return used


def _refuse_mechanism(given: Given, scheme: Scheme, mechanism: Mechanism | None) -> None:
    """Raises DpcalcError for a mechanism, or an RDP curve, that no theorem about these batches covers."""
    from dpcalc.core.errors import DpcalcError

    if scheme.only and (mechanism is None or mechanism.name not in scheme.only):
        is_truncated = scheme.name == noise_multiplier.TRUNCATED
        raise DpcalcError("refused",
                          f"the theorem about {scheme.words} is for --mechanism {' or '.join(scheme.only)} only; for "
                          f"others {'drop it' if is_truncated else 'use --scheme poisson'}",
                          "--max-batch-size" if is_truncated else "--scheme")
    if group_size(given.values) > 1:
        _check_group(given)


def group_size(values: Values) -> int:
    """The number of records by which neighbouring data sets differ."""
    return int(values.get("group_size") or 1)


def _check_group(given: Given) -> None:
    """Raises DpcalcError where no theorem covers groups of records."""
    from dpcalc.accounting.schemes import scheme_of
    from dpcalc.core.errors import DpcalcError

    scheme = scheme_of(given.values)
    if not scheme.group_routes:
        raise DpcalcError("refused", f"no theorem for groups of records is known for {scheme.words}; use Poisson "
                          "batches, or the generic bound for an (ε, δ), dpcalc convert --group-size", "--group-size")
    if given["mechanism"] != "gaussian" or "curve" in given.values:
        raise DpcalcError("refused", "groups of records in random batches are supported for --mechanism gaussian only",
                          "--group-size")


def scope(given: Given, unknown: str | None) -> str:
    """What stands beside the headline where no steps or epochs are given, so that the number is about one of them."""
    from dpcalc.accounting.schemes import by_rate, scheme_of

    return f"for one {scheme_of(given.values).unit}" if by_rate.has_no_steps(given, unknown) else ""


# --- the bounds ------------------------------------------------------------------------------------------------------


def bound_params(values: Values) -> dict[str, Any]:
    """The parameters of the bounds: those of the scheme, and the mechanism as its RDP curve, its profile and its noise
    multiplier; of a pure mechanism, also the ε of one step after amplification."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.schemes import scheme_of
    from dpcalc.accounting.schemes.record import Use
    from dpcalc.bounds.conversions import composition_basic

    scheme = scheme_of(values)
    relation, values = scheme.relation(values), scheme.with_sigma(values)
    params = scheme.params(values)
    if "curve" in values:
        return params | {"base": values["curve"]}
    mechanism = MECHANISMS[values["mechanism"]]
    use = Use(mechanism, values, {"rate": params.get("sampling_rate")}, relation, group_size(values),
              values.get(noise_multiplier.NAME) is not None)
    params |= {"base": mechanism.rdp_curve(values), "profile": mechanism.profile(values),
               "part": {"name": mechanism.name, **mechanism.part.write(values)}}
    if values.get("precision"):
        params["precision"] = values["precision"]
    params |= {"group_size": group_size(values), "attained": values.get("attained", True)}
    if use.is_gaussian:
        params["noise_multiplier"] = use.noise_multiplier
    elif mechanism.pure is not None and scheme.pure is not None:
        params |= composition_basic.repeated(scheme.pure(use), 0.0, params["steps"])
    return params | scheme.of_mechanism(use)


def routes(given: Given, question: Question) -> tuple[Route, ...]:
    """The bounds that cover the scheme, the neighbours and the mechanism. No parameter is solved for by a bound from
    below, and none holds for a mechanism that may lose less than its description (`attained` is false)."""
    from dpcalc.accounting.schemes import scheme_of

    scheme, relation = scheme_of(given.values), neighbours(given.values)
    found = scheme.group_routes[relation] if group_size(given.values) > 1 else scheme.routes(given, relation)
    without_lower = question.unknown or not given.values.get("attained", True)
    return tuple(r for r in found if r.bound.status != "lower") if without_lower else found


def in_whole_epochs(given: Given, question: Question) -> Question:
    """The question, in which a number of epochs that is solved for is whole where the scheme needs that."""
    from dpcalc.accounting.schemes import scheme_of

    if scheme_of(given.values).unit != "epoch" or not question.unknown or question.unknown.name != PASSES.name:
        return question
    return question._replace(unknown=PASSES)


def run_numbers(values: Values, params: Values) -> dict[str, Any]:
    """The numbers of the run beside an answer: its steps or epochs, and its sampling rate."""
    from dpcalc.accounting.schemes import scheme_of

    return {name: params[key] for name, key in scheme_of(values).companions.items()}


def description(given: Given) -> str:
    """What is sampled, in words, where no RDP bound covers it."""
    if group_size(given.values) > 1:
        return "groups of records in random batches"
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.schemes import scheme_of

    if (scheme := scheme_of(given.values)).only:
        return scheme.words
    return f"subsampled {MECHANISMS[given['mechanism']].words}"


# --- the guarantee and the notes -------------------------------------------------------------------------------------


def guarantee(values: Values, params: Values) -> dict[str, Any]:
    """The run for the next command."""
    from dpcalc.accounting.schemes import scheme_of

    found = scheme_of(values).guarantee(values, params)
    is_bound = found["kind"] == "mechanisms" and not values.get("attained", True)
    return {**found, "upper_bound": True} if is_bound else found


def notes(given: Given, values: Values) -> tuple[str, ...]:
    """What a reader must know to use the number; `values` are the parameters with the solution."""
    if "curve" in given.values:
        return ()
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.schemes import scheme_of

    scheme, mechanism = scheme_of(values), MECHANISMS[given["mechanism"]]
    base = scheme.base(values)
    notes = noise_multiplier.notes(given, values, base.relation) or mechanism.notes
    doubles = RELATIONS[base.relation].sensitivity > 1
    if given["mechanism"] == "gaussian" and not given.inputs and values.get("sigma") is not None and doubles:
        notes += ("replacing a record moves the sum by 2C: with s = 2C, the noise multiplier is 2σ/s",)
    elif mechanism.pure is not None and given["scheme"] == "poisson" and base.relation == scheme.relation(values):
        notes += ("sampling amplifies each step to log(1 + q(e^ε − 1)) (Balle, Barthe & Gaboardi 2018)",)
    if note := scheme.note:
        notes += (note,)
    return (*notes, *scheme.notes(values))
