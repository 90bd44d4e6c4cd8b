"""What dpcalc knows of a mechanism, in one record: commands, pipes, total variation and JSON read it."""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any, NamedTuple

from dpcalc.accounting import contributions
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds.conversions import composition_basic, composition_optimal
from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.curve import Curve, of_bound
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Bound, Params, ProfileBound, RdpBound
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import ADD_REMOVE
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_up


class Query(NamedTuple):
    """What a mechanism answers, from which it follows which neighbouring data sets its numbers can be about."""

    about: str  # the number that is about some neighbouring data sets
    not_sampled: str = ""  # why no batches can be drawn for it, in words after the name of the mechanism
    # Whether it is about reports that people give by themselves, so that neighbouring data sets differ in one person's
    # answer
    of_respondents: bool = False


NUMBER = Query("the sensitivity")
SELECTION = Query("the range of the privacy loss of a selection")
THRESHOLD = Query("the sensitivity of the queries")
REPORT = Query("a respondent's answer", "is a report that each respondent gives, and whoever sees the reports sees who "
               "was asked: sampling does not lower its ε", of_respondents=True)
SHUFFLED_REPORTS = Query("a respondent's answer", "needs a report of every one of the n people in each round, so that "
                         "none of them is sampled", of_respondents=True)
KEYS = Query("the (ε, δ) of a key", "counts everybody who has a key; for a Poisson sample of people amplify the (ε, δ) "
             "of a selection: use dpcalc subsample --epsilon 1 --delta 1e-5 --sampling-rate 0.01")


class Number(NamedTuple):
    """A positive number in JSON, below a limit if there is one; or a whole number from `least` to `most`."""

    below: float | None = None
    description: str | None = None
    least: int | None = None
    most: int = 2**53


class Part(NamedTuple):
    """The mechanism as a part of a guarantee in JSON."""

    fields: Mapping[str, Number]
    # parameters of a command → the fields, and back, where they are not those of the same names; a field is about a
    # query whose sensitivity is 1, unless the sensitivity is a field
    as_fields: Callable[[Params], dict[str, Any]] | None = None
    read: Callable[[Params], dict[str, Any]] = dict

    def write(self, params: Params) -> dict[str, Any]:
        """The fields of a use with these parameters."""
        if self.as_fields:
            return self.as_fields(params)
        return {name: params[name] if number.least is None else int(params[name])
                for name, number in self.fields.items()}


class TotalVariation(NamedTuple):
    """The bounds on the total variation of one release and of many, and the profile that is it at ε = 0 for one."""

    once: tuple[Route, ...]
    often: tuple[Route, ...]
    profile: Bound
    # The argument of the closed form in bounds/total_variation/closed_forms.py; None where that has none, and the
    # profile itself is the bound.
    ratio: Callable[[Params], float] | None = None


class Mechanism(NamedTuple):
    """A mechanism. `curve`, `profile` and `pure` describe one use; `pure` is None where no pure ε exists."""

    name: str
    words: str  # in a sentence about a use of it
    sentence: Callable[[Callable[[str], str]], str]  # for a statement: the noise, from the function option → its text
    query: Query
    options: tuple[str, ...]  # required, by the names of core/quantities.py; the first one says how much noise there is
    once: tuple[Route, ...]  # the bounds of one release
    often: tuple[Route, ...]  # and of many
    curve: Callable[[Params], Curve] | None  # None where no RDP curve is computed
    profile: Callable[[Params], Profile]
    pure: Callable[[Params], float] | None
    part: Part
    tv: TotalVariation
    optional: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # beside every answer: what the parameter of the noise means, where it may be misread
    # (parameters of one use, K) → those of one use for data sets that differ in K records; None where no pair of
    # distributions of one use covers such groups exactly
    group: Callable[[Params, int], Params] | None = None
    # parameters of one use → (numerators, denominators) of its ρ of zCDP; None where only its pure ε gives one
    zcdp: Callable[[Params], tuple[tuple[float, ...], tuple[float, ...]]] | None = None
    bound_params: Callable[[Params], dict[str, Any]] = dict  # from its options to the parameters of its bounds
    whole_sensitivity: bool = False  # the query has integer values
    noise: str = ""  # of additive noise: its name in bounds/mechanisms/noise_accuracy.py
    in_l2: bool = False  # noise on a vector, of which only the ℓ2 norm of its change counts
    # options → the number of uses that one release consists of: of noise, one on each value that a person moves
    releases: Callable[[Params], int] = contributions.number_of_values
    # Whether it is about records that are added or removed, unless --adjacency says something else
    states_relation: bool = False
    # of a mechanism whose fields in JSON say it: how many people have contributed to only one of two neighbours, 1 or 2
    contributors: Callable[[Params], int] | None = None
    ways_out: Mapping[str, str] = {}  # options of other mechanisms that are none of its: what to write instead
    # (parameters of one use where a record is added or removed, sampling rate) → the profile of one use on a Poisson
    # batch where a record is replaced; None of Gaussian noise, whose pair is known exactly
    replaced: Callable[[Params, float], Profile] | None = None
    # the same options, or the parameters of one use → (ε, δ) of one release, and how often that counts, where its δ is
    # positive
    points: Callable[[Params], Points] | None = None
    questions: tuple[str, ...] = ()  # options that ask about it, besides those of its privacy

    def rdp_curve(self, params: Params) -> Curve:
        """The RDP curve of one use. Raises DpcalcError where none is computed."""
        if self.curve is None:
            raise DpcalcError("unsupported", f"no RDP curve of {self.words} is computed; ask with --delta or --epsilon",
                              "--mechanism")
        return self.curve(params)

    def as_part(self, params: Params, sampling: Mapping[str, Any] | None, count: int, **more: Any) -> dict[str, Any]:
        """`count` uses, each on the whole data or on a sample, as a part of a guarantee in JSON; with `more` fields."""
        return {"name": self.name, **self.part.write(params), **more, "sampling": sampling, "count": count}

    def of_part(self, fields: Params) -> dict[str, Any]:
        """The parameters of one use from the fields of a part."""
        return {"sensitivity": 1.0, **self.part.read({name: fields[name] for name in self.part.fields})}

    def of_group(self, params: Params, size: int) -> Params:
        """The parameters of one use for data sets that differ in `size` records. Raises DpcalcError where no parameters
        describe that."""
        if size == 1:
            return params
        if self.group is None:
            raise DpcalcError("refused", f"not supported for {self.name}, of which one use has no theorem for groups; "
                              "dpcalc convert --group-size gives the generic bound for an (ε, δ) of it, with --from dp",
                              "--group-size")
        return self.group(params, size)


def of_bounds(exact: ProfileBound, rdp: RdpBound | None, composed: ProfileBound | None = None,
              pair: Callable[[Params], Any] | None = None, bound_params: Callable[[Params], dict[str, Any]] = dict,
              **own: Any) -> Mechanism:
    """The record of a mechanism with these bounds, in which everything is as usual that `own` does not say.

    `exact` is the profile of one use, or of any number of them where the steps are among its parameters. Without a
    closed form for many uses, that of `composed` (or `exact` itself) is composed numerically. `pair` is the dominating
    pair of one use where neither of these has it.
    """
    numerical = composed or exact

    def of(bound: Bound, params: Params) -> dict[str, Any]:
        """The parameters of a bound for one use."""
        values = bound_params(params)
        return {name: 1 if name == "steps" else values[name] for name in bound.params}

    def pure(params: Params) -> float:
        return float(exact.pure(**of(exact, params)))  # type: ignore[misc]

    def profile(params: Params) -> Profile:
        values = of(exact, params)
        make_pair = partial(pair, params) if pair else lambda: numerical.pair(**of(numerical, params))  # type: ignore
        return Profile(lambda e: exact.value(e, **values), lambda mp, e: exact.exact(mp, e, **values), make_pair)

    by_rdp = converted(rdp) if rdp else ()
    once = (Route(exact), *by_rdp)
    has_often = exact.pure is None or "steps" in exact.params
    several = (composed, closed_forms.PRODUCT, composition_optimal.BOUND) if composed else (exact, closed_forms.PRODUCT)
    usual = {
        "once": once, "often": once if has_often else (*PURE_COMPOSITION, *by_rdp, Route(numerical)),
        "profile": profile, "pure": pure if exact.pure else None,
        "curve": (lambda p: of_bound(rdp, pure(p) if exact.pure else inf, **of(rdp, p))) if rdp else None,
        "tv": TotalVariation((Route(exact),), tuple(map(Route, several)), exact),
        "group": of_larger_sensitivity if "sensitivity" in own.get("optional", ()) else None,
    }
    return Mechanism(bound_params=bound_params, **{**usual, **own})


def of_larger_sensitivity(params: Params, size: int) -> Params:
    """The parameters of one use for groups, where each of `size` records moves the query by at most the sensitivity s,
    so that all together move it by at most K·s (rounded up), which records with equal contributions attain."""
    return {**params, "sensitivity": ratio_up((float(size), params["sensitivity"]))}


def zcdp_of_noise(params: Params) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """ρ = s²/(2σ²) of Gaussian and of discrete Gaussian noise, as (numerators, denominators)."""
    sigma, sensitivity = float(params["sigma"]), float(params["sensitivity"])
    return (sensitivity, sensitivity), (2.0, sigma, sigma)


def unsampled(mechanism: Mechanism, values: Params) -> Params:
    """The options of a mechanism on all records, with a noise multiplier as σ and a sensitivity, and contributions by
    key as a sensitivity."""
    with_sigma = noise_multiplier.with_sigma(values, values.get("adjacency") or ADD_REMOVE)
    return contributions.with_sensitivity(with_sigma, mechanism.in_l2)


def with_steps(mechanism: Mechanism, values: Params) -> dict[str, Any]:
    """The parameters of the bounds of a mechanism, from the options of a command."""
    values = unsampled(mechanism, values)
    names = (*mechanism.options, *mechanism.optional, *(("adjacency",) if mechanism.contributors else ()))
    own = {name: values.get(name) for name in names}
    params = mechanism.bound_params(mechanism.of_group(own, int(values.get("group_size") or 1)))
    releases = int(values.get("steps") or 1)
    params["steps"] = releases * mechanism.releases(values)
    if mechanism.points is not None:
        params["points"] = tuple((e, d, count * releases) for e, d, count in mechanism.points(values))
    if mechanism.pure is not None:
        params |= composition_basic.repeated(mechanism.pure(params), 0.0, params["steps"])
    return params
