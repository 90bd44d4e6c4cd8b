"""The common part of the commands about the last iterate of noisy SGD: a record that defines such a command, the code
that answers by the record, and the choice among its bounds by noise, order and question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.accounting.routes import converted
from dpcalc.core.bound import ProfileBound, RdpBound
from dpcalc.core.command import Command, Given, missing
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope, flag
from dpcalc.core.one_record import OneRecord
from dpcalc.core.quantities import Quantity
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Route, Row

Values = Mapping[str, Any]
Searches = Sequence[tuple[Question, tuple[Route, ...]]]
GAUSSIAN = ("gaussian",)
GAUSSIAN_OR_LAPLACE = ("gaussian", "laplace")
_CONVERSIONS = {"rdp-improved", "rdp-mironov", "rdp-optimal"}


# --- a command and its answer ----------------------------------------------------------------------------------------


class Companions(NamedTuple):
    """The parts of an answer besides its rows: the guarantee for the next command, notes, companion numbers, whether
    the numbers hold for one record only, and options that replace given ones in the record."""

    guarantee: dict[str, Any]
    notes: tuple[str, ...]
    numbers: dict[str, float]
    only: OneRecord | None
    released: str = "last iterate"
    options: Mapping[str, Any] = MappingProxyType({})


class Setting(NamedTuple):
    """The definition of one command about the last iterate."""

    # The call, completed where one option implies another; the question with the range of its unknown; and the options
    # that the answer shows beside those of the question. Raises DpcalcError for options that are missing or not used.
    check: Callable[[Given, Question], tuple[Given, Question, set[str]]]
    # The searches, each with its routes and its range of the unknown; and the names of the bounds that --bound selects.
    searches: Callable[[Given, Question], tuple[Searches, tuple[str, ...]]]
    bound_params: Callable[[Values], dict[str, Any]]  # the parameters of the bounds, from the options
    companions: Callable[[Values, dict[str, Any], Question, tuple[Row, ...]], Companions]  # (options, parameters, …)
    # Where no search finds a solution: rows that answer all the same, or none.
    fallback: Callable[[Given, Question], tuple[Row, ...]] = lambda given, question: ()
    # The rows that are printed, where they are more than those found.
    completed: Callable[[Given, Question, tuple[Row, ...]], tuple[Row, ...]] = lambda given, question, rows: rows


def answer(command: Command, setting: Setting, given: Given) -> Answer:
    """The answer of a command: ε, δ or RDP of the last iterate, or the parameter that meets a budget."""
    from dpcalc.commands.asking import read_question, shown, with_solution

    given, question, used = setting.check(given, read_question(command, given))
    rows = setting.completed(given, question, _rows(setting, given, question))
    values = with_solution(given, question, rows)
    beside = setting.companions(values, setting.bound_params(values), question, rows)
    return Answer(command.name, question, shown(given, used), rows, beside.guarantee, "replace-one", beside.released,
                  beside.notes, beside.numbers, only=beside.only, options=beside.options)


def _rows(setting: Setting, given: Given, question: Question) -> tuple[Row, ...]:
    """The rows of the first search that answers, or else of the fallback. Raises the error of the first search."""
    from dpcalc.accounting.answer import rows

    searches, names = setting.searches(given, question)
    bounds, reasons = {r.bound.name for _, routes in searches for r in routes}, list[DpcalcError]()
    every = bounds | {r.conversion.name for _, routes in searches for r in routes if r.conversion}
    for searched, routes in searches:
        own = {r.bound.name for r in routes}
        known = own | {r.conversion.name for r in routes if r.conversion}
        meant = tuple(name for name in names if name in known or name not in every)
        only_others_named = bounds & set(names) and not own & set(names)
        if only_others_named or (not meant if names else all(r.on_request for r in routes)):
            continue
        try:
            return rows(routes, given, setting.bound_params, searched, meant)
        except EveryValueMeets:
            raise
        except (OutOfScope, NoSolution) as reason:
            reasons.append(reason)
    if question.unknown and (found := setting.fallback(given, question)):
        return found
    raise reasons[0]


# --- the choice of bounds --------------------------------------------------------------------------------------------


class Method(NamedTuple):
    """A bound that can answer a command."""

    bound: RdpBound | ProfileBound
    needs: tuple[str, ...]  # options that it needs, besides the noise and n
    noises: tuple[str, ...] = GAUSSIAN
    family: str = ""  # a name for several bounds, which --bound takes too
    usual: bool = True  # whether it covers the usual run of the command; others answer only when named
    contracts: bool = False  # whether it needs η <= 2/(β+ρ)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.bound.name, self.family)


def searches_by(every: Sequence[Method], given: Given, question: Question, epochs: bool = False,
                check: Callable[[tuple[Method, ...]], None] = lambda methods: None) -> tuple[Searches, tuple[str, ...]]:
    """The searches by the methods that the call chooses, after these have passed `check`; and the names of the bounds
    that --bound selects. With `epochs`, profiles are composed over epochs."""
    unknown, named = question.unknown.name if question.unknown else None, tuple(given["bound"] or ())
    methods = _chosen(every, given.values, given["noise"], named, unknown)
    check(methods)
    _check_step_size(given.values, methods, unknown, every)
    curves = [m.bound.name for m in every if m.bound.kind == "rdp" and given["noise"] in m.noises and m.usual]
    routes = routes_of(methods, question.asks, bool(named), epochs, unknown is not None, curves)
    return _by_direction(question, given, routes), _expanded(named, methods, routes)


def _chosen(methods: Sequence[Method], given: Values, noise: str, named: Sequence[str],
            unknown: str | None) -> tuple[Method, ...]:
    """The methods that --bound names, or else the usual ones whose options are given. Raises DpcalcError for a name
    that is not known, and for options that are missing."""
    fit = [m for m in methods if noise in m.noises]
    if not named:
        fit = [m for m in fit if m.usual]
        applicable = [m for m in fit if not _missing(m, given, unknown)]
        if not any(m.bound.status == "proven" for m in applicable):
            _require(fit[0], given, unknown)
        return tuple(applicable)
    has_curves = any(m.bound.kind == "rdp" for m in fit)
    known = sorted({n for m in fit for n in m.names if n} | (_CONVERSIONS if has_curves else set()))
    for name in named:
        if name.removesuffix("-basic") not in known:
            raise _unknown_bound(name, tuple(known), noise)
    usual = [m for m in fit if m.usual]
    # The RDP curves answer where --bound names only conversions.
    curves = [m for m in usual if m.bound.kind == "rdp" and not _missing(m, given, unknown)]
    fit = [m for m in fit if set(m.names) & {n.removesuffix("-basic") for n in named}] or curves or usual
    for m in fit:
        _require(m, given, unknown)
    return tuple(fit)


def _unknown_bound(name: str, known: tuple[str, ...], noise: str) -> DpcalcError:
    from dpcalc.bounds import replacement_message
    from dpcalc.core.validate import near

    others = f"; choose from {', '.join(known)}{near(name, known)}" if known else ""
    return DpcalcError("unknown-value", replacement_message(name)
                       or f"{name!r} is not a bound for this question ({noise} noise){others}", "--bound")


def _missing(method: Method, given: Values, unknown: str | None) -> list[str]:
    return [n for n in method.needs if given.get(n) is None and n != unknown]


def _require(method: Method, given: Values, unknown: str | None) -> None:
    missing(_missing(method, given, unknown), f"by {method.bound.name}")


def routes_of(methods: Sequence[Method], asks: str, named: bool, epochs: bool = False, solving: bool = False,
              curves: Sequence[str] = ()) -> tuple[Route, ...]:
    """The routes by which the methods answer.

    An RDP curve answers by a conversion only when it is named, since its exact profile is never larger. Over epochs a
    profile answers by its composition, and by basic composition. Solving for a parameter of several epochs needs a
    composition for every trial value: then only the first method answers, and others when named. `curves` are the names
    of the RDP curves that a message can point to. Raises DpcalcError where no method answers."""
    found: list[Route] = []
    for m in methods:
        if isinstance(m.bound, RdpBound):
            found += [Route(m.bound)] if asks == "rdp" else converted(m.bound) if named else []
        elif m.bound.is_of_whole_run or (asks == "rdp" and m.bound.rdp is not None):
            found.append(Route(m.bound))
        elif asks != "rdp" and epochs and m.bound.status == "proven":
            from dpcalc.bounds.pnsgd._engine import gaussian_epochs
            from dpcalc.bounds.pnsgd._engine.epochs import basic, composed

            later, compose = solving and bool(found), gaussian_epochs.composed if m.bound.mu else composed
            found += [Route(compose(m.bound), on_request=later and compose is composed),
                      Route(basic(m.bound), on_request=later)]
        elif asks != "rdp" and not epochs:
            found.append(Route(m.bound))
    if found:
        return tuple(found)
    if asks != "rdp":
        names = " and ".join(dict.fromkeys(m.bound.name for m in methods))
        raise DpcalcError("refused", f"{names} is not a guarantee, and only guarantees compose over epochs; use "
                                     "another bound",
                          "--bound")
    or_curve = f", or name an RDP bound: --bound {' or '.join(curves)}" if curves else ""
    raise DpcalcError("refused",
                      "these bounds give (ε, δ), which implies no RDP (Mironov 2017, Prop. 3, has no converse); ask "
                      "with "
                      f"--epsilon or --delta{or_curve}", "--alpha")


def _expanded(named: Sequence[str], methods: Sequence[Method], routes: Sequence[Route]) -> tuple[str, ...]:
    """The bounds that the names and families of --bound mean, among those that can answer; conversions stay."""
    answering = {r.bound.name for r in routes}
    family = {n: m.family for m in methods for n in (m.bound.name, f"{m.bound.name}-basic") if n in answering}
    meant = (n for name in named
             for n in [b for b in family if name in (b, b.removesuffix("-basic"), family[b])] or [name])
    return tuple(dict.fromkeys(meant))


# --- the range of the unknown ----------------------------------------------------------------------------------------


def _by_direction(question: Question, given: Given, routes: tuple[Route, ...]) -> Searches:
    """The searches for the unknown, each with its range and its routes. A learning rate is searched for upwards by the
    bounds that lose less with larger steps, and then downwards by the others; under a schedule, whose noise falls with
    the steps, downwards by all."""
    unknown = question.unknown
    if unknown is None:
        return ((question, routes),)
    ranged = _in_range(unknown, given)
    if unknown.name != "learning_rate":
        return ((question._replace(unknown=ranged), routes),)
    riskier = {r: unknown.name in r.bound.theorem.riskier for r in routes}
    down = ranged._replace(
        search=unknown.search if all(riskier.values()) else ranged.search, safe_direction=-1,
        # With strong convexity a longer step also contracts a shift more, so the privacy loss need not be monotone.
        non_monotone=given["c1"] is not None and given["strong_convexity"] > 0)
    groups = ((ranged, False), (down, True))
    return tuple((question._replace(unknown=u), group) for u, is_down in groups
                 if (group := tuple(r for r in routes if (riskier[r] or given["c1"] is not None) == is_down)))


def _in_range(unknown: Quantity, given: Given) -> Quantity:
    """The unknown with the range in which a solution can lie: n from the index on; η up to 2/(β+ρ); C1 up to where the
    Laplace noise log(j/C1 + C2) of a schedule has its pole, if it has one."""
    low, high = unknown.search
    if unknown.name == "n":
        return unknown._replace(kind="count", search=(float(given["index"] or low), high))
    if unknown.name == "learning_rate":
        total = (given["smoothness"] or 0.0) + given["strong_convexity"]
        return unknown._replace(search=(low, min(high, 2 / total))) if total > 0 else unknown
    if unknown.name == "c1":
        from dpcalc.bounds.pnsgd._engine.schedules import most_scale

        log_j = log(given["n"]) if given["decay"] is None else given["decay"] * log(given["index"])
        return unknown._replace(search=(low, min(high, most_scale(given["noise"], log_j, given["c2"]))))
    return unknown


# --- checks ----------------------------------------------------------------------------------------------------------


def _check_step_size(given: Values, methods: Sequence[Method], unknown: str | None, every: Sequence[Method]) -> None:
    """Raises DpcalcError where a method in use needs η <= 2/(β+ρ) and η is larger; the message names those of `every`
    that need no such condition."""
    from dpcalc.bounds.pnsgd._engine.step import check_step_size

    if unknown == "learning_rate" or not any(m.contracts for m in methods):
        return
    try:
        check_step_size(given["learning_rate"], given["smoothness"], given["strong_convexity"])
    except OutOfScope as reason:  # an error of the run itself, not of one of several bounds
        free = [m for m in every if m.usual and not m.contracts and given["noise"] in m.noises
                and not _missing(m, given, unknown)]
        names = dict.fromkeys(m.family or m.bound.name for m in free)
        has_hint = names and reason.option == "--learning-rate"
        hint = f"; --bound {' or '.join(names)} holds for every η" if has_hint else ""
        raise DpcalcError(reason.code, reason.message + hint, reason.option) from None


def level_option(given: Given, scheduled: bool, names: Mapping[str, str], extra: str = "") -> str:
    """The option that gives the noise level (`names`: noise → option). Raises DpcalcError for the option of the other
    noise, and for a level beside a schedule."""
    noise = given["noise"]
    own = names[noise]
    for other in names.values():
        if other != own and given.has(other):
            raise DpcalcError("unneeded", f"not used with --noise {noise}; give {flag(own)} instead", flag(other))
    if scheduled and given.has(own):
        raise DpcalcError("contradictory", f"give {flag(own)}, or --c1 with --c2{extra}, not both", flag(own))
    return own


def check_place(given: Given) -> None:
    """Raises DpcalcError where the index is beyond the records, or the dimension is not 1."""
    if given["index"] is not None and given["n"] is not None and given["index"] > given["n"]:
        raise DpcalcError("out-of-range", f"{given['index']} is above n = {given['n']}, the number of records",
                          "--index")
    if (given["dimension"] or 1) > 1:
        raise DpcalcError("out-of-range",
                          f"{given['dimension']} is not 1; Theorem 1 (Sordello et al. 2021) covers Laplace noise in "
                          "dimension 1 only", "--dimension")
